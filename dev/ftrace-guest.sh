# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest for dev/ftrace-run: each test by itself, its log on failure.

verdict()
{
	for word in failed undefined unresolved untested unsupported xfailed passed; do
		if grep -q "^# of $word: *[1-9]" "$1"; then
			echo "$word"
			return
		fi
	done
	echo none
}

cd /ftrace || exit 2
for t in test.d/kprobe/*.tc test.d/dynevent/*kprobe*.tc; do
	rm -rf /tmp/logs
	./ftracetest -v -l /tmp/logs "$t" >/tmp/out 2>&1
	v=$(verdict /tmp/out)
	[ "$v" = passed ] || cat /tmp/out
	echo "RESULT ${t#test.d/} $v"
done
exit 0
