#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: guest.sh
#
# Runs in the guest, as root: what became of an event made at boot, the programs,
# then a probe and a return probe on every function of the file system's core
# while it is busy.
# shellcheck disable=SC2086 # words wanted

# shellcheck source=/dev/null
. /settings
TRACING=/sys/kernel/tracing
LIST=/sys/kernel/debug/kprobes/list
PREFIXES='vfs_|d_|__d_|dput|dget|lookup_|path_|link_path|filename_|inode_|i[pg]et|simple_|shmem_|do_filp|getname|namei|step_into|walk_|mnt_|iterate_|generic_file|notify_change|setattr_|touch_atime|file_'

functions()
{
	grep -E "^[^ ]+ [tT] ($PREFIXES)[a-z0-9_]*\$" /proc/kallsyms | awk '{ print $3 }' | sort -u
}

# The same result each time, with or without probes.
workload()
{
	rm -rf /tmp/busy
	mkdir /tmp/busy
	cp /bin/busybox /tmp/busy/a
	for i in 1 2 3 4 5 6 7 8; do
		mkdir /tmp/busy/$i
		head -c $((i * 70000)) /tmp/busy/a >/tmp/busy/$i/part
		ln -s ../a /tmp/busy/$i/link
		mv /tmp/busy/$i/part /tmp/busy/$i/moved
	done
	find /tmp/busy -exec stat -c '%n %s %A' {} + | sort
	find /tmp/busy -type f -exec md5sum {} +
	rm -rf /tmp/busy
}

# result(name, why) - what went wrong, or nothing
result()
{
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		echo "not ok $1 - $2"
	fi
}

# kprobe_event= has put it on a function of the init text, which ran and is gone.
boot_event()
{
	hit=$(awk '$1 == "at_boot" { print $2 }' $TRACING/kprobe_profile)
	result boot.hit "$([ "$hit" = 1 ] || echo "hits: ${hit:-no such event}")"
	result boot.gone "$(grep -q 'GONE' $LIST || cat $LIST)"
	echo 0 >$TRACING/events/kprobes/at_boot/enable
	result boot.removed "$(echo -:at_boot 2>&1 >>$TRACING/kprobe_events; cat $LIST)"
}

# add_all() - prints how many were taken
add_all()
{
	for f in $(functions); do
		if echo "p:sub/p_$f $f" >>$TRACING/kprobe_events; then
			echo taken
		fi
		if echo "r:sub/r_$f $f" >>$TRACING/kprobe_events; then
			echo taken
		fi
	done 2>/dev/null | wc -l
}

hits()
{
	awk '{ sum += $2 } END { print sum + 0 }' $TRACING/kprobe_profile
}

missed()
{
	awk '$1 ~ /^p_/ { sum += $3 } END { print sum + 0 }' $TRACING/kprobe_profile
}

every_function()
{
	workload >/tmp/without
	taken=$(add_all)
	result subsystem.taken "$([ "$taken" -ge 200 ] || echo "only $taken probes")"
	echo 1 >$TRACING/events/sub/enable
	for _ in 1 2 3; do
		workload >/tmp/with
		result subsystem.unchanged "$(cmp /tmp/without /tmp/with 2>&1)"
	done
	echo "# $taken probes, $(hits) hits, $(missed) missed"
	result subsystem.hit "$([ "$(hits)" -ge 10000 ] || echo "only $(hits) hits")"
	echo 0 >$TRACING/events/sub/enable
	: >$TRACING/kprobe_events
	result subsystem.removed "$(head -n 3 $LIST)"
	workload >/tmp/with
	result subsystem.afterwards "$(cmp /tmp/without /tmp/with 2>&1)"
}

boot_event
/user/bpf
/user/lines "$SEED" "$LINES"
every_function
exit 0
