#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debugfs kprobes/enabled: one switch for all probes.

# shellcheck source=functions.sh
. "$(dirname "$0")/functions.sh"

ENABLED=$KPROBES/enabled

switch_all()
{
	echo "$1" >$ENABLED
}

finish()
{
	switch_all 1
	remove_events
}

# takes(text, value) - whether the text is accepted and means the value
takes()
{
	gives ok errno_of $ENABLED "$1" && gives "$2" cat $ENABLED
}

takes_all()
{
	takes 0 0 && takes 1 1 && takes n 0 && takes y 1 && takes N 0 && takes Y 1 &&
		takes off 0 && takes on 1 && takes 0 0 && takes 0 0 && takes 1 1 && takes 1 1
}

refuses()
{
	for text in 2 -1 x maybe ' 1'; do
		gives "Invalid argument" errno_of $ENABLED "$text" || return 1
		gives 1 cat $ENABLED || return 1
	done
}

require_kprobes
require_file $ENABLED
require_events
gives 1 cat $ENABLED || skip_all "the probes are switched off already"
trap finish EXIT
choose_offset || skip_all "no second instruction found in $FUNCTION"
ktap_set_plan 8

result "what means a truth value is taken" takes_all
result "anything else is an invalid argument and changes nothing" refuses
add_event entry "$FUNCTION"
add_event inside "$FUNCTION+$OFFSET"
switch_event entry 1
switch_event inside 1
result "probes are hit while it is on" hit_again inside
switch_all 0
result "a trapping or jumping one is not hit while it is off" not hit_again inside
result "one on ftrace is not hit either" not hit_again entry
add_event late "$FUNCTION+$OFFSET"
switch_event late 1
result "nor is one that is made meanwhile" not hit_again late
switch_all 1
result "all are hit when it is on again" hit_again inside
result "the late one, too" hit_again late
ktap_finished
