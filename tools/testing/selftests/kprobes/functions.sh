# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the kprobes selftests share. A test sources this file, calls
# require_... for what it cannot do without, declares its plan and says a
# result for every line of it. Probes are made through tracefs and are removed
# when the test ends, whatever ends it.

DIR=$(dirname "$(readlink -f "$0")")
# shellcheck disable=SC1091 # only there in the kernel tree
. "$DIR/../kselftest/ktap_helpers.sh"

KPROBES=/sys/kernel/debug/kprobes
# shellcheck disable=SC2034 # for those who source this
SYSCTL=/proc/sys/debug/kprobes-optimization
TRACING=/sys/kernel/tracing
WAIT_SECONDS=10

# skip_all(why) - nothing can be tested here
skip_all()
{
	ktap_skip_all "$1"
	exit "$KSFT_SKIP"
}

# mount_if_missing(type, folder) - debugfs and tracefs may not be mounted yet
mount_if_missing()
{
	grep -q " $2 $1 " /proc/mounts || mount -t "$1" "$1" "$2" 2>/dev/null
}

# require_kprobes() - root, and the debugfs folder
require_kprobes()
{
	ktap_print_header
	[ "$(id -u)" = 0 ] || skip_all "root is needed"
	mount_if_missing debugfs /sys/kernel/debug
	[ -r $KPROBES/list ] || skip_all "no $KPROBES: kernel without kprobes or debugfs"
}

# require_events() - kprobe events, none of them in use
require_events()
{
	mount_if_missing tracefs $TRACING
	[ -w $TRACING/kprobe_events ] || skip_all "no $TRACING/kprobe_events"
	! grep -q . $TRACING/kprobe_events || skip_all "kprobe events are in use"
	choose_function
	trap remove_events EXIT
	trap 'exit 1' INT TERM
}

# require_file(file) - a file of the kernel
require_file()
{
	[ -e "$1" ] || skip_all "no $1"
}

# errno_of(file, text) - write text in one write, say the error in words or "ok"
errno_of()
{
	if error=$(printf '%s\n' "$2" | dd of="$1" bs=8192 conv=notrunc 2>&1 >/dev/null); then
		echo ok
	else
		echo "$error" | sed -n "1s/.*: //p"
	fi
}

# wait_until(command...) - until it succeeds, up to WAIT_SECONDS
wait_until()
{
	end=$(($(cut -d. -f1 /proc/uptime) + WAIT_SECONDS))
	while ! "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -le "$end" ] || return 1
		sleep 0.05
	done
}

# not(command...) - for wait_until
not()
{
	! "$@"
}

# choose_function() - FUNCTION: one that is there, can be probed and is easily called
choose_function()
{
	for FUNCTION in vfs_read ksys_read kernel_clone; do
		[ "$(errno_of $TRACING/kprobe_events "p:kst/probe $FUNCTION")" = ok ] || continue
		remove_events
		return
	done
	skip_all "none of the usual functions can be probed"
}

# call_function() - make the kernel run it
call_function()
{
	for _ in 1 2 3 4 5; do
		cat /proc/version >/dev/null
	done
}

# choose_offset() - OFFSET: an instruction of FUNCTION behind its entry, as FUNCTION+0x..
choose_offset()
{
	OFFSET=9
	while [ $OFFSET -lt 64 ]; do
		err=$(errno_of "$TRACING/kprobe_events" "p:kst/probe $FUNCTION+$OFFSET")
		if [ "$err" = ok ]; then
			remove_event probe
			return
		fi
		OFFSET=$((OFFSET + 1))
	done
	return 1
}

# add_event(name, place, [type]) - a disabled event
add_event()
{
	[ "$(errno_of $TRACING/kprobe_events "${3:-p}:kst/$1 $2")" = ok ]
}

# remove_event(name)
remove_event()
{
	[ "$(errno_of $TRACING/kprobe_events "-:kst/$1")" = ok ]
}

# switch_event(name, 0|1)
switch_event()
{
	echo "$2" >"$TRACING/events/kst/$1/enable"
}

# remove_events() - all that a test may have made
remove_events()
{
	for switch in "$TRACING"/events/kst/*/enable; do
		[ ! -e "$switch" ] || echo 0 >"$switch"
	done
	sed -n 's|^[pr][0-9]*:\(kst/[^ ]*\).*|-:\1|p' $TRACING/kprobe_events |
	while read -r line; do
		errno_of $TRACING/kprobe_events "$line" >/dev/null
	done
}

# hits(name) - of an event, by kprobe_profile
hits()
{
	awk -v name="$1" '$1 == name { print $2 }' $TRACING/kprobe_profile
}

# hit_again(name) - whether calls make its hits more
hit_again()
{
	before=$(hits "$1")
	call_function
	[ "$(hits "$1")" -gt "$before" ]
}

# listed(pattern) - whether a line of the list matches
listed()
{
	grep -qE -- "$1" $KPROBES/list
}

# result(description, command...) - say whether the command succeeds
result()
{
	description=$1
	shift
	if "$@"; then
		ktap_test_pass "$description"
	else
		ktap_test_fail "$description"
	fi
}

# gives(wanted, command...) - whether the command prints what is wanted
gives()
{
	wanted=$1
	shift
	got=$("$@")
	[ "$got" = "$wanted" ] && return
	ktap_print_msg "$*: '$got' instead of '$wanted'"
	return 1
}
