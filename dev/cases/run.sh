#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh [LIST]
#
# Runs the loads of LIST (default: list beside this script) on the machine it
# is started on, as root, with the modules in /modules; for use by hand. In a
# guest of "make test" dev/cases-guest.sh does the same. Prints the CASE lines
# of the kernel log; exit status 1 when one failed or a module did not load.

list=${1:-$(dirname "$0")/list}
failed=0

# load MODULE ARGS...: in and out again
load()
{
	module=$1
	shift
	if ! insmod "/modules/$module.ko" "$@"; then
		echo "CASE load-$module FAIL insmod $*"
		failed=1
		return
	fi
	if ! rmmod "$module"; then
		echo "CASE unload-$module FAIL rmmod"
		failed=1
	fi
}

while read -r module args; do
	case $module in
	'' | '#'*) continue ;;
	alone)
		module=${args%% *}
		args=${args#"$module"}
		;;
	esac
	# shellcheck disable=SC2086 # words wanted
	load "$module" $args </dev/null
done <"$list"

results=$(dmesg | sed -n 's/^.*\(CASE [^ ]* \(ok\|FAIL\|SKIP\).*\)$/\1/p')
echo "$results"
case $results in
*' FAIL '*) failed=1 ;;
esac
exit $failed
