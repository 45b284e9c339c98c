#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest.sh
#
# Runs in the guest, as root, with /modules/stress.ko, /modules/victim.ko and
# /settings (SEED, SECONDS_EACH): stress.ko, and beside it what only user space
# can do. Two rounds: in the first hits must add up, in the second the debugfs
# switch is flipped as well. One line of result an invariant and round.

# shellcheck disable=SC2086,SC2317 # words wanted; commands called by name

# shellcheck source=/dev/null
. /settings
SYSCTL=/proc/sys/debug/kprobes-optimization
KPROBES=/sys/kernel/debug/kprobes
TRACING=/sys/kernel/tracing
FAILSLAB=/sys/kernel/debug/failslab
KMEMLEAK=/sys/kernel/debug/kmemleak
GO=/tmp/go

# put(file, text) - where the file is there
put()
{
	if [ -w "$1" ]; then
		echo "$2" >"$1" 2>/dev/null
	fi
}

flip_sysctl()
{
	put $SYSCTL 0
	put $SYSCTL 1
}

flip_switch()
{
	put $KPROBES/enabled 0
	put $KPROBES/enabled 1
}

flip_tracer()
{
	put $TRACING/set_ftrace_filter traced
	put $TRACING/current_tracer function
	put $TRACING/current_tracer nop
	put $TRACING/set_ftrace_filter ''
}

# flip_cpu(number)
flip_cpu()
{
	put "/sys/devices/system/cpu/cpu$1/online" 0
	put "/sys/devices/system/cpu/cpu$1/online" 1
}

# remove_module(name) - a visitor may hold it for a moment
remove_module()
{
	until rmmod "$1" 2>/dev/null; do
		grep -q "^$1 " /proc/modules || return
		sleep 0.05
	done
}

# The events outlive the module, as they may.
flip_module()
{
	insmod /modules/victim.ko 2>/dev/null || return
	put $TRACING/kprobe_events 'p:stress/plain victim:victim_plain'
	put $TRACING/kprobe_events 'r:stress/traced victim:victim_traced'
	put $TRACING/events/stress/enable 1
	sleep 0.05
	remove_module victim
	put $TRACING/events/stress/enable 0
	put $TRACING/kprobe_events '-:stress/plain'
	put $TRACING/kprobe_events '-:stress/traced'
}

# Read while it changes.
read_lists()
{
	cat $KPROBES/list $KPROBES/optimization $KPROBES/blacklist /proc/kallsyms >/dev/null
}

# Only the tasks that ask for it get their allocations refused.
arm_failslab()
{
	put $FAILSLAB/ignore-gfp-wait N
	put $FAILSLAB/verbose 0
}

# again_and_again(command...) - in the background, while $GO is there
again_and_again()
{
	while [ -e $GO ]; do
		"$@"
		sleep 0.1
	done &
}

# result(name, why) - a line of result: what went wrong, or nothing
result()
{
	if [ -z "$2" ]; then
		echo "ok $ROUND.$1"
	else
		echo "not ok $ROUND.$1 - $2"
	fi
}

# verdicts() - what stress.ko said since the round began
verdicts()
{
	dmesg | sed "1,/stress: round $ROUND /d" >/tmp/said
	sed -n "s/.*stress: CASE \([a-z]*\) ok\$/ok $ROUND.\1/p
		s/.*stress: CASE \([a-z]*\) FAIL \(.*\)/not ok $ROUND.\1 - \2/p" /tmp/said
	grep -q 'CASE text' /tmp/said || result verdicts "stress.ko said none"
	sed -n 's/.*stress: /# /p' /tmp/said
}

# One page of each kind is kept for the next probe.
slots_left()
{
	grep -oE 'kprobe_(opt)?insn_page' /proc/kallsyms | sort | uniq -c | awk '$1 > 1 { print $1, $2 }'
}

# saved() - whether stress.ko has taken its copy of the text
saved()
{
	dmesg | sed "1,/stress: round $ROUND /d" | grep -q 'stress: text saved'
}

# wait_saved() - nothing may change text before; up to 20 s
wait_saved()
{
	tries=200
	until saved || [ $tries = 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
}

# round(name, strict, commands...) - each command in a loop of its own
round()
{
	ROUND=$1
	strict=$2
	shift 2
	echo "stress: round $ROUND begins" >/dev/kmsg
	insmod /modules/stress.ko "seed=$SEED" "seconds=$SECONDS_EACH" "strict=$strict" &
	child=$!
	wait_saved
	: >$GO
	for command; do
		again_and_again $command
	done
	wait $child || result insmod "status $?"
	rm $GO
	wait
	rmmod stress || result rmmod "status $?"
	verdicts
	result list "$(cat $KPROBES/list)"
	result slots "$(slots_left)"
}

# Twice: what is found the first time may be on its way.
find_leaks()
{
	[ -w $KMEMLEAK ] || return
	ROUND=end
	for _ in 1 2; do
		sleep 6
		put $KMEMLEAK scan
	done
	result kmemleak "$(grep -c '^unreferenced' $KMEMLEAK | grep -v '^0$')"
	cat $KMEMLEAK
}

# Text that changes with the first use of a thing, and only then.
warm_up()
{
	flip_tracer
	flip_module
	flip_sysctl
	for cpu in 1 2 3; do
		flip_cpu $cpu
	done
}

put /proc/sys/kernel/hung_task_timeout_secs 60
warm_up
put $KMEMLEAK clear
arm_failslab
round counted 1 flip_sysctl flip_tracer flip_module read_lists 'flip_cpu 1' 'flip_cpu 2'
round switched 0 flip_sysctl flip_switch flip_tracer flip_module 'flip_cpu 1' 'flip_cpu 3'
echo "# stale: $(cat /sys/kernel/debug/kprobes/stale_hits) hits"
find_leaks
exit 0
