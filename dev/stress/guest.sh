#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest.sh [SEED [SECONDS]]
#
# Runs in the guest, as root, with /modules/stress.ko and /modules/victim.ko:
# stress.ko, and beside it what only user space can do. Two rounds: in the
# first hits must add up, in the second the debugfs switch is flipped as well.
# Exit status 1 when a round failed.

SEED=${1:-$(awk '{ print int($1 * 100) }' /proc/uptime)}
SECONDS_EACH=${2:-15}
SYSCTL=/proc/sys/debug/kprobes-optimization
SWITCH=/sys/kernel/debug/kprobes/enabled
TRACING=/sys/kernel/tracing

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
	put $SWITCH 0
	put $SWITCH 1
}

flip_tracer()
{
	put $TRACING/set_ftrace_filter 'traced'
	put $TRACING/current_tracer function
	put $TRACING/current_tracer nop
	put $TRACING/set_ftrace_filter ''
}

flip_cpu()
{
	cpu=/sys/devices/system/cpu/cpu$1/online
	put "$cpu" 0
	put "$cpu" 1
}

flip_module()
{
	insmod /modules/victim.ko 2>/dev/null && rmmod victim
}

# saved() - how often stress.ko has taken its copy of the text
saved()
{
	dmesg | grep -c 'stress: text saved'
}

# wait_saved(count) - until there is one more, up to 10 s: nothing may flip before
wait_saved()
{
	tries=100
	while [ "$(saved)" -le "$1" ] && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
}

# beside(pid, commands...) - one after the other until the process ends
beside()
{
	pid=$1
	shift
	while kill -0 "$pid" 2>/dev/null; do
		for command; do
			$command
		done
		sleep 0.1
	done
}

# round(strict, commands...)
round()
{
	strict=$1
	shift
	before=$(saved)
	insmod /modules/stress.ko "seed=$SEED" "seconds=$SECONDS_EACH" "strict=$strict" &
	child=$!
	wait_saved "$before"
	beside $child "$@"
	wait $child || return 1
	rmmod stress || return 1
	if grep -q . /sys/kernel/debug/kprobes/list; then
		echo "probes are left:"
		cat /sys/kernel/debug/kprobes/list
		return 1
	fi
	dmesg | grep -o 'CASE stress .*' | tail -n 1 | grep -q ' ok$'
}

# Text that changes with the first use of a thing, and only then.
warm_up()
{
	flip_tracer
	flip_module
	flip_cpu 1
	flip_cpu 2
}

echo "seed $SEED"
warm_up
failed=0
round 1 flip_sysctl flip_tracer flip_module 'flip_cpu 1' 'flip_cpu 2' || failed=1
round 0 flip_sysctl flip_switch flip_tracer flip_module 'flip_cpu 1' || failed=1
dmesg | grep 'stress: '
exit $failed
