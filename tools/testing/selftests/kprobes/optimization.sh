#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# sysctl debug.kprobes-optimization: whether breakpoints may become jumps.

# shellcheck source=functions.sh
. "$(dirname "$0")/functions.sh"

allow()
{
	echo "$1" >$SYSCTL
}

finish()
{
	allow 1
	remove_events
}

# takes(text, value) - whether the text is accepted and means the value
takes()
{
	gives ok errno_of $SYSCTL "$1" && gives "$2" cat $SYSCTL
}

takes_all()
{
	takes 0 0 && takes 0 0 && takes 1 1 && takes 1 1 && takes 0 0 && takes 1 1
}

# refuses(value) - what is neither 0 nor 1, while the value is set
refuses()
{
	allow "$1"
	for text in 2 -1 10 x 0x 99999999999; do
		gives "Invalid argument" errno_of $SYSCTL "$text" || return 1
		gives "$1" cat $SYSCTL || return 1
	done
}

# optimizable() - choose an OFFSET at which a probe is optimized
optimizable()
{
	OFFSET=9
	while [ $OFFSET -lt 64 ]; do
		if add_event probe "$FUNCTION+$OFFSET"; then
			switch_event probe 1
			listed '\[OPTIMIZED\]' && return
			switch_event probe 0
			remove_event probe
		fi
		OFFSET=$((OFFSET + 1))
	done
	return 1
}

# No waiting here: when the write returns every jump is gone.
none_after_zero()
{
	allow 0
	not listed '\[OPTIMIZED\]'
}

back_after_one()
{
	allow 1
	wait_until listed '\[OPTIMIZED\]'
}

require_kprobes
require_file $SYSCTL
require_events
gives 1 cat $SYSCTL || skip_all "optimization is switched off already"
trap finish EXIT
ktap_set_plan 9

result "0 and 1 are taken" takes_all
result "anything else is an invalid argument while it is 1" refuses 1
result "and while it is 0" refuses 0
allow 1
if ! optimizable; then
	for what in "an optimized probe is hit" "0 takes every jump away" "its breakpoint is hit" \
		"1 brings the jump back" "it is hit then" "a probe made under 0 has no jump"; do
		ktap_test_skip "$what"
	done
	ktap_finished
fi
result "an optimized probe is hit" hit_again probe
result "0 takes every jump away" none_after_zero
result "its breakpoint is hit" hit_again probe
result "1 brings the jump back" back_after_one
result "it is hit then" hit_again probe
switch_event probe 0
remove_event probe
allow 0
add_event probe "$FUNCTION+$OFFSET"
switch_event probe 1
result "a probe made under 0 has no jump" not listed '\[OPTIMIZED\]'
ktap_finished
