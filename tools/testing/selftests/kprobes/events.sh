#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tracefs kprobe_events: lines that must be refused, each with its errno, and
# random ones that must do no harm. SEED=number repeats a run.

# shellcheck source=functions.sh
. "$(dirname "$0")/functions.sh"

EVENTS=$TRACING/kprobe_events
LINES=${LINES_TRIED:-300}
SEED=${SEED:-$(awk '{ print int($1 * 100) }' /proc/uptime)}

# One row a line: errno in words | the line.
refusals()
{
	cat <<-END
	Invalid argument|q:kst/probe $FUNCTION
	Invalid argument|p:kst/probe
	Invalid argument|r:kst/probe
	Invalid argument|p1:kst/probe $FUNCTION
	Invalid argument|r0:kst/probe $FUNCTION
	Invalid argument|r99999999:kst/probe $FUNCTION
	Invalid argument|p:kst/pro-be $FUNCTION
	Invalid argument|p:1kst/probe $FUNCTION
	Invalid argument|p:/probe $FUNCTION
	Invalid argument|p:kst/probe no_function_has_this_name
	Invalid argument|p:kst/probe $FUNCTION+
	Invalid argument|p:kst/probe $FUNCTION+x
	Invalid argument|p:kst/probe $FUNCTION-1
	Invalid argument|p:kst/probe $FUNCTION+4294967296
	Invalid argument|p:kst/probe $FUNCTION%nothing
	Invalid argument|r:kst/probe $FUNCTION+$OFFSET
	Invalid argument|p:kst/probe $FUNCTION+$OFFSET%return
	Invalid argument|p:kst/probe $FUNCTION \$nothing
	Invalid argument|p:kst/probe $FUNCTION %nothing
	Invalid argument|p:kst/probe $FUNCTION @nothing+
	Invalid argument|p:kst/probe $FUNCTION +0(
	Invalid argument|p:kst/probe $FUNCTION a=\$stack:u128
	Invalid argument|p:kst/probe $FUNCTION a=
	No such file or directory|-:kst/nothing
	Invalid argument|p:kst/probe exc_int3
	END
	# The same event once more, and its name for another kind.
	cat <<-END
	File exists|p:kst/taken $FUNCTION
	File exists|r:kst/taken $FUNCTION
	END
}

# Each row is a result of its own.
refuse_all()
{
	refusals | while IFS='|' read -r errno line; do
		got=$(errno_of $EVENTS "$line")
		if [ "$got" != "$errno" ]; then
			echo "$line: $got instead of $errno"
			[ "$got" != ok ] || remove_event probe
		fi
	done >"$SCRATCH"
	[ ! -s "$SCRATCH" ] && return
	while read -r line; do
		ktap_print_msg "$line"
	done <"$SCRATCH"
	return 1
}

# Only what was there before is there afterwards.
only_taken_left()
{
	gives 1 grep -c . $EVENTS && grep -q '^p:kst/taken ' $EVENTS
}

# At every byte of the first instructions: taken, or refused for one of two reasons.
every_offset()
{
	i=0
	while [ $i -lt 48 ]; do
		got=$(errno_of $EVENTS "p:kst/probe $FUNCTION+$i")
		case $got in
		ok) remove_event probe || return 1 ;;
		*"multibyte or wide character" | "Illegal byte sequence") ;;
		"Invalid argument") ;;
		*) ktap_print_msg "offset $i: $got"; return 1 ;;
		esac
		i=$((i + 1))
	done
}

# Lines put together from what a line is made of, and from what it is not.
random_lines()
{
	awk -v seed="$SEED" -v n="$LINES" -v f="$FUNCTION" '
	function any(list,  words, count) {
		count = split(list, words, " ")
		return words[1 + int(rand() * count)]
	}
	BEGIN {
		srand(seed)
		places = f " " f "+4 " f "+1 :" f " [x] " f "%return schedule+"
		places = places " 0x0 -1 ffffffff 0xffffffffffffffff"
		arguments = "$stack $retval %ax %di @jiffies @0 +8(%sp) -4( ) a=b :u8 $comm"
		arguments = arguments " +u4($arg1) $arg* x=$stack0:x64[3]"
		for (i = 0; i < n; i++) {
			line = any("p r p r x - p9 r5 r-1 P :") any(": :: / =")
			line = line any("kst/ kst kst// k.s/") any("probe 9 $ a/b/c")
			line = line " " any(places)
			for (j = int(rand() * 4); j > 0; j--)
				line = line " " any(arguments)
			print line
		}
	}'
}

survive_random_lines()
{
	ktap_print_msg "SEED=$SEED, $LINES lines"
	random_lines | while read -r line; do
		errno_of $EVENTS "$line" >/dev/null
	done
	remove_events
	still_works
}

still_works()
{
	add_event probe "$FUNCTION" && switch_event probe 1 && hit_again probe
}

finish()
{
	remove_events
	rm -f "$SCRATCH"
}

require_kprobes
require_events
SCRATCH=$(mktemp) || skip_all "no temporary file"
trap finish EXIT
choose_offset || skip_all "no second instruction found in $FUNCTION"
ktap_set_plan 5

result "a good line is taken" add_event taken "$FUNCTION"
result "malformed lines are refused with their errno" refuse_all
result "and leave nothing" only_taken_left
remove_events
result "any offset is taken or refused" every_offset
result "random lines do no harm" survive_random_lines
ktap_finished
