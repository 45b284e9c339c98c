# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest for dev/suites/cases: loads and unloads what /loads says.

failed=0
fail()
{
	echo "LOAD-FAILED $1 $2"
	failed=1
}

while read -r module args; do
	echo "loading $module $args" | tee /dev/kmsg
	# shellcheck disable=SC2086 # words wanted
	if ! insmod "/modules/$module.ko" $args 2>/tmp/err; then
		fail "$module" "insmod $args: $(tail -n 1 /tmp/err)"
		continue
	fi
	rmmod "$module" 2>/tmp/err || fail "$module" "rmmod: $(tail -n 1 /tmp/err)"
done </loads
exit $failed
