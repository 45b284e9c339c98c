#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: probe the sample batch by batch while something runs, and say after each
# what came of it. bench.first and bench.last on the kernel's command line tell which
# batches, bench.size how large they are.

# shellcheck source=dev/bench/guest/lib.sh
. /lib.sh

WHY=/sys/kernel/debug/kprobes/optimization

option()
{
	sed -n "s/.*bench\.$1=\([0-9]*\).*/\1/p" /proc/cmdline
}

work()
{
	while :; do
		ls -lR /proc/1 /sys/kernel >/dev/null 2>&1
		cat /proc/[0-9]*/stat /proc/[0-9]*/maps /proc/interrupts >/dev/null 2>&1
		md5sum /proc/meminfo /proc/kallsyms >/dev/null
		mkdir -p /tmp/work
		mount -t tmpfs none /tmp/work
		dd if=/dev/zero of=/tmp/work/file bs=4k count=200 2>/dev/null
		sort /proc/kallsyms 2>/dev/null | head -n 1000 | gzip -c >/tmp/work/sorted
		ln -s file /tmp/work/link
		rm -rf /tmp/work/*
		umount /tmp/work
		(trap : USR1; kill -USR1 $$) 2>/dev/null
		sleep 0.01
	done
}

# Lines "REASON number state reason..." for what is registered
reasons()
{
	[ -e $WHY ] || return 0
	awk '!/^#/ { r = $4; for (i = 6; i <= NF; i++) r = r " " $i; n[r]++ }
		END { for (r in n) print "REASON", n[r], r }' $WHY
}

trap : USR1
# The first jump of all takes longest.
load hits
optimize 1
step hits first 0
load sample
step sample size "$(option size)"
work &
batch=$(option first)
while [ "$batch" -le "$(option last)" ]; do
	echo "BATCH $batch"
	optimize 0
	step sample arm "$batch"
	optimize 1
	step sample settle 20
	sleep 1
	reasons
	step sample count 0
	step sample disarm 20
	echo "DONE $batch"
	batch=$((batch + 1))
done
