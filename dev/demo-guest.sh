# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest for dev/run: kprobes at work on functions of the running
# kernel, told for somebody who sees them for the first time.

T=/sys/kernel/tracing
D=/sys/kernel/debug/kprobes
bad=0

say() { printf '\n== %s\n' "$*"; }
show() { sed 's/^/   | /'; }

# check TEXT COMMAND...
check()
{
	text=$1
	shift
	if "$@" 2>/dev/null; then
		echo "   ok: $text"
	else
		echo "   NOT AS IT SHOULD BE: $text"
		bad=1
	fi
}

# define EVENT...: one line for tracefs, as anybody would type it
define()
{
	echo "   echo '$*' >> kprobe_events"
	echo "$*" >>$T/kprobe_events || bad=1
}

# the first address past the entry of function $1 where an instruction starts
middle_of()
{
	off=12
	while [ $off -lt 64 ]; do
		if echo "p:probing $1+$off" 2>/dev/null >>$T/kprobe_events; then
			echo "-:probing" >>$T/kprobe_events
			echo $off
			return
		fi
		off=$((off + 1))
	done
}

hits() { awk -v n="$1" '$1 == n { print $2 }' $T/kprobe_profile; }

# shellcheck disable=SC2016 # $arg3 and $retval are for the kernel
tell_probes()
{
	say "A probe on a function's entry: vfs_read(), with its third argument"
	define 'p:entry vfs_read bytes=$arg3'
	say "A return probe: what vfs_read() gives back"
	define 'r:ret vfs_read result=$retval'
	off=$(middle_of do_sys_openat2)
	say "A probe in the middle of a function: do_sys_openat2(), $off bytes in"
	define "p:middle do_sys_openat2+$off"
	say "A second probe on that very address"
	define "p:twin do_sys_openat2+$off"
}

# until the optimizer has had its say, 20 s at most
settle()
{
	n=0
	while [ $n -lt 20 ] && grep -q 'still being examined\| queued ' $D/optimization 2>/dev/null; do
		sleep 1
		n=$((n + 1))
	done
}

tell_workload()
{
	say "Switched on; the work: three files are opened and read"
	echo 1 >$T/events/kprobes/enable
	wc -c /proc/version /proc/uptime /proc/loadavg >/dev/null
	sleep 1
	settle
	wc -c /proc/version /proc/uptime /proc/loadavg >/dev/null
	[ ! -r $D/optimization ] || sed 's/^/   | /' $D/optimization >/tmp/optimization
	echo "   debugfs kprobes/list (address, kind: k probe or r return, symbol, state):"
	show <$D/list
	echo 0 >$T/events/kprobes/enable
	echo "   the first lines of the trace:"
	grep -v '^#' $T/trace | head -n 8 | show
}

tell_hits()
{
	say "Hits of each probe (kprobe_profile: name, hits, missed)"
	show <$T/kprobe_profile
	for e in entry ret middle twin; do
		check "$e was hit" [ "$(hits $e)" -gt 0 ]
	done
	check "both probes on one address saw the same hits" [ "$(hits middle)" = "$(hits twin)" ]
}

tell_optimization()
{
	[ -s /tmp/optimization ] || return 0
	say "How control reaches each probe while it is armed (kprobes/optimization)"
	cat /tmp/optimization
}

# refused WHY MESSAGE EVENT: MESSAGE is how the shell words the errno
refused()
{
	echo "   echo '$3' >> kprobe_events"
	if err=$(sh -c "echo '$3' >>$T/kprobe_events" 2>&1); then
		echo "   NOT AS IT SHOULD BE: accepted"
		bad=1
		return
	fi
	echo "   refused, ${err##*: }"
	echo "     $1"
	case $err in
	*"$2"*) ;;
	*) echo "   NOT AS IT SHOULD BE: expected '$2'"; bad=1 ;;
	esac
}

tell_refusals()
{
	say "What may not be probed is refused, and the errno says why"
	refused "EILSEQ: an instruction starts at +4, none at +6" \
		multibyte 'p:no do_sys_openat2+6'
	refused "EINVAL: on the blacklist, kprobes itself runs it" \
		"Invalid argument" 'p:no kprobe_int3_handler'
	refused "EINVAL: that is data, not code" \
		"Invalid argument" 'p:no init_task'
}

tell_blacklist()
{
	say "Functions that kprobes itself stands on may not be probed: kprobes/blacklist"
	echo "   $(wc -l <$D/blacklist) entries, the first ones:"
	head -n 5 $D/blacklist | show
}

cd $T || exit 1
echo "Linux $(uname -r), $(nproc) CPUs, $(wc -l <$D/list) probes at the start"
tell_probes
tell_workload
tell_hits
tell_optimization
tell_refusals
tell_blacklist
echo >$T/kprobe_events
say "All probes removed"
check "the list is empty again" [ "$(wc -l <$D/list)" = 0 ]
exit $bad
