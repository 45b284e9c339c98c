#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debugfs kprobes/list: one line a probe, in a form that tools parse.

# shellcheck source=functions.sh
. "$(dirname "$0")/functions.sh"

FLAGS='(\[GONE\]|\[DISABLED\])?(\[OPTIMIZED\])?(\[FTRACE\])?'
LINE="^[0-9a-f]+  [kr]  [^ ]+(\\+0x[0-9a-f]+)?  ([^ ]+| ) $FLAGS\$"

# where(type, offset) - the beginning of the line of a probe on FUNCTION
where()
{
	printf '^[0-9a-f]+  %s  %s\\+0x%s  ' "$1" "$FUNCTION" "$2"
}

all_lines_well_formed()
{
	grep -q . $KPROBES/list || return 1
	! grep -vE "$LINE" $KPROBES/list
}

readable_by_root_only()
{
	gives 400 stat -c %a $KPROBES/list
}

# In one line, at most one of the two.
never_optimized_on_ftrace()
{
	! listed '\[OPTIMIZED\].*\[FTRACE\]'
}

# How many traps came too late is a number of its own.
counts_stale_hits()
{
	grep -qxE '[0-9]+' $KPROBES/stale_hits
}

require_kprobes
require_events
choose_offset || skip_all "no second instruction found in $FUNCTION"
ktap_set_plan 11

add_event entry "$FUNCTION"
add_event inside "$FUNCTION+$OFFSET"
add_event return "$FUNCTION" r
hex=$(printf %x $OFFSET)

result "every line is well formed" all_lines_well_formed
result "the file is root's to read" readable_by_root_only
result "stale hits are counted" counts_stale_hits
result "a new event is disabled" listed "$(where k "$hex").*\\[DISABLED\\]"
result "a return probe is an r" listed "$(where r '[0-9a-f]+').*\\[DISABLED\\]"
switch_event inside 1
switch_event entry 1
result "an enabled one is not" not listed "$(where k "$hex").*\\[DISABLED\\]"
result "but it is listed" listed "$(where k "$hex")"
if [ -e $TRACING/available_filter_functions ] &&
   grep -qx "$FUNCTION" $TRACING/available_filter_functions; then
	result "a traced function's entry is on ftrace" \
		listed "$(where k '[0-9a-f]+').*\\[FTRACE\\]"
else
	ktap_test_skip "a traced function's entry is on ftrace"
fi
result "a probe behind it is not" not listed "$(where k "$hex").*\\[FTRACE\\]"
result "ftrace and jump exclude each other" never_optimized_on_ftrace
remove_events
result "removed probes are not listed" not listed "$(where '[kr]' '[0-9a-f]+')"
ktap_finished
