# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317 # called by check()
# Runs in the guest for dev/suites/samples: loads each sample, checks that the
# log has what its comment promises, unloads it.

K=/sys/kernel/debug/kprobes
SYSCTL=/proc/sys/debug/kprobes-optimization
failed=0

# check NAME COMMAND...
check()
{
	name=$1
	shift
	if "$@"; then
		echo "ok $name"
	else
		echo "not ok $name - $(dmesg | tail -n 3 | tr '\n' '|')"
		failed=1
	fi
}

# load MODULE [PARAMETER...], with a log that begins here
load()
{
	module=$1
	shift
	dmesg -c >/dev/null
	insmod "/modules/$module.ko" "$@" 2>/dev/null
}

# said PATTERN: the module has said it since it was loaded
said()
{
	dmesg | grep -qE "\] $module: $1\$"
}

# number PATTERN: the first number in the line that the pattern finds
number()
{
	dmesg | sed -n "s/.*\] $module: $1.*/\1/p" | tail -n 1
}

# refused MODULE ERRNO PARAMETER...: insmod fails, and the log has the errno
refused()
{
	errno=$2
	module=$1
	shift 2
	! load "$module" "$@" && said "cannot .*: $errno"
}

open_files()
{
	for _ in 1 2 3 4 5; do
		wc -c /proc/version /proc/uptime
	done >/dev/null
}

# settled: the optimizer is done, waited for 30 s at most
settled()
{
	n=0
	while grep -qE ' queued |still being examined' "$K"/optimization; do
		n=$((n + 1))
		[ "$n" -lt 30 ] || return 1
		sleep 1
	done
}

first()
{
	check first.loads load first
	open_files
	check first.unloads rmmod first
	opened=$(dmesg | sed -n 's/.*\] \([0-9]*\) files were opened$/\1/p')
	check first.counts [ "${opened:-0}" -ge 10 ]
}

kprobe()
{
	check kprobe.loads load kprobe_example
	check kprobe.where said 'probing do_filp_open\+0x[0-9a-f]+/0x[0-9a-f]+'
	open_files
	check kprobe.arguments \
		said 'do_filp_open\+0x[^ ]*: 0x(f{8})?ffffff9c 0x[0-9a-f]{16} 0x[0-9a-f]{16}'
	check kprobe.unloads rmmod kprobe_example
	hits=$(number '\([0-9]*\) hits, 0 missed')
	check kprobe.hits [ "${hits:-0}" -ge 10 ]
}

kprobe_inside()
{
	check kprobe.no-symbol refused kprobe_example -2 symbol=no_such_function
	# Behind the landing pad are the five bytes of ftrace's call.
	check kprobe.no-instruction refused kprobe_example -84 offset=5
	check kprobe.blacklist refused kprobe_example -22 symbol=get_kprobe
	check kprobe.inside load kprobe_example offset=9
	check kprobe.optimized settled
	open_files
	check kprobe.inside-jump grep -q ' do_filp_open+0x9 - jump ' "$K"/optimization
	check kprobe.inside-unloads rmmod kprobe_example
	hits=$(number '\([0-9]*\) hits, 0 missed')
	check kprobe.inside-hits [ "${hits:-0}" -ge 10 ]
}

# ordered MIN MEAN MAX
ordered()
{
	[ $# = 3 ] && [ "$1" -gt 0 ] && [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

kretprobe()
{
	check kretprobe.loads load kretprobe_example
	check kretprobe.what said 'measuring vfs_read'
	open_files
	check kretprobe.unloads rmmod kretprobe_example
	calls=$(number 'vfs_read: \([0-9]*\) calls')
	check kretprobe.calls [ "${calls:-0}" -ge 10 ]
	# shellcheck disable=SC2046 # words wanted
	check kretprobe.ordered ordered \
		$(number 'vfs_read: .*, min \([0-9]*\),') $(number '.*, mean \([0-9]*\),') \
		$(number '.*, max \([0-9]*\) ns')
	check kretprobe.value said '[0-9]+ calls missed, the last returned -?[0-9]+'
}

# Two sleeps at a time, of which one can be followed.
kretprobe_sleep()
{
	check kretprobe.sleep-loads load kretprobe_example symbol=hrtimer_nanosleep maxactive=1
	sleep 0.3 &
	sleep 0.3 &
	wait
	check kretprobe.sleep-unloads rmmod kretprobe_example
	longest=$(number 'hrtimer_nanosleep: .*, max \([0-9]*\) ns')
	check kretprobe.sleep-latency [ "${longest:-0}" -ge 300000000 ]
	check kretprobe.sleep-missed said '1 calls missed, the last returned 0'
	check kretprobe.no-return refused kretprobe_example -22 symbol=__switch_to
}

# hits NUMBER NUMBER: the two add up to all calls, the second is the least wanted
hits()
{
	trap=$(number 'hits: \([0-9]*\) by a trap')
	none=$(number 'hits: .* trap, \([0-9]*\) without')
	[ $((trap + none)) = "$1" ] && [ "$none" -ge "$2" ]
}

line() { grep -q " opt_target+0x[0-9a-f]* kprobe_opt_example $1\$" "$K"/optimization; }

opt()
{
	check opt.loads load kprobe_opt_example
	check opt.where said 'probing opt_target\+0x[^ ]* \[kprobe_opt_example\], now a (breakpoint|jump)'
	check opt.jump said 'after [0-9]+ ms a jump'
	check opt.hits hits 200 100
	check opt.file line 'jump [0-9]* -'
	check opt.off eval "echo 0 >$SYSCTL"
	check opt.off-reason line 'int3 0 debug.kprobes-optimization is 0'
	check opt.on eval "echo 1 >$SYSCTL"
	check opt.unloads rmmod kprobe_opt_example
}

opt_not()
{
	check opt.post-loads load kprobe_opt_example post=1
	check opt.post-stays said 'after [0-9]+ ms still a breakpoint'
	check opt.post-hits said 'hits: 200 by a trap, 0 without'
	check opt.post-reason line 'int3 0 a probe has a post_handler'
	check opt.post-unloads rmmod kprobe_opt_example
	check opt.ftrace-loads load kprobe_opt_example symbol=do_filp_open
	check opt.ftrace said 'probing do_filp_open\+0x[^ ]*, now a call from ftrace'
	open_files
	check opt.ftrace-unloads rmmod kprobe_opt_example
	check opt.ftrace-hits said 'hits: 0 by a trap, [1-9][0-9]* without'
	check opt.no-symbol refused kprobe_opt_example -2 symbol=no_such_function
}

first
kprobe
kprobe_inside
kretprobe
kretprobe_sleep
opt
opt_not
exit $failed
