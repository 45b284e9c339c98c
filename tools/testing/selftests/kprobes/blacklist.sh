#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debugfs kprobes/blacklist: ranges that take no probe, one a line.

# shellcheck source=functions.sh
. "$(dirname "$0")/functions.sh"

LINE='^0x[0-9a-f]+-0x[0-9a-f]+	[^ ]+( \[[^ ]+\])?$'
SAMPLE=40

all_lines_well_formed()
{
	grep -q . $KPROBES/blacklist || return 1
	! grep -vE "$LINE" $KPROBES/blacklist
}

# Addresses have one width, so that their order is that of their texts.
ranges_not_backwards()
{
	! sed 's/^0x\([0-9a-f]*\)-0x\([0-9a-f]*\).*/\1 \2/' $KPROBES/blacklist |
		awk '("x" $1) > ("x" $2)' | grep .
}

readable_by_root_only()
{
	gives 400 stat -c %a $KPROBES/blacklist
}

# has(name) - whether a function that the kernel has is in the list
has()
{
	grep -q " [tT] $1\$" /proc/kallsyms || return 0
	grep -q "	$1\$" $KPROBES/blacklist
}

own_entry_listed()
{
	has exc_int3 && has get_kprobe && has kprobe_int3_handler
}

# Every SAMPLE-th range: its start takes no probe.
listed_ranges_refuse()
{
	accepted=
	# shellcheck disable=SC2013 # one word a line
	for address in $(awk -F- -v n="$SAMPLE" 'NR % n == 1 { print $1 }' "$KPROBES/blacklist"); do
		[ "$(errno_of $TRACING/kprobe_events "p:kst/probe $address")" = ok ] || continue
		accepted="$accepted $address"
		remove_event probe
	done
	[ -z "$accepted" ] && return
	ktap_print_msg "took a probe:$accepted"
	return 1
}

require_kprobes
require_file $KPROBES/blacklist
ktap_set_plan 5
result "every line is well formed" all_lines_well_formed
result "no range runs backwards" ranges_not_backwards
result "the file is root's to read" readable_by_root_only
result "the functions of the breakpoint's own way are listed" own_entry_listed
require_events
result "listed ranges take no probe" listed_ranges_refuse
ktap_finished
