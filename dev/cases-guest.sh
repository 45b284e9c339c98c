# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest for dev/suites/cases: loads and unloads what /loads says.

failed=0
fail()
{
	echo "LOAD-FAILED $1 $2"
	failed=1
}

load()
{
	module=$1
	shift
	if ! insmod "/modules/$module.ko" "$@" 2>/tmp/err; then
		fail "$module" "insmod $*: $(tail -n 1 /tmp/err)"
	elif ! rmmod "$module" 2>/tmp/err; then
		fail "$module" "rmmod: $(tail -n 1 /tmp/err)"
	fi
}

while read -r line; do
	echo "loading $line" | tee /dev/kmsg
	# shellcheck disable=SC2086 # words wanted
	load $line
	echo "END $line"
done </loads
exit $failed
