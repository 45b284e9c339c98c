#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: probe the sample while something runs, then say what came of it.

( while :; do
	ls -lR /proc/1 /sys/kernel >/dev/null 2>&1
	md5sum /proc/meminfo /proc/kallsyms >/dev/null
done ) &
why=/sys/kernel/debug/kprobes/optimization
echo 1 >/proc/sys/kernel/printk
insmod /sample.ko batch=20000 wait_ms=20000 hold_ms=20000 &
job=$!
# The sites are to be looked at while they are kept.
tries=0
while [ -e $why ] && [ $tries -lt 100 ] && ! grep -q ' jump ' $why; do
	tries=$((tries + 1))
	sleep 0.2
done
sleep 12
[ -e $why ] && awk '!/^#/ { r = $4; for (i = 6; i <= NF; i++) r = r " " $i; n[r]++ }
	END { for (r in n) print "SAMPLE state", n[r], r }' $why
wait $job
dmesg | sed -n 's/.*\(SAMPLE .*\)/\1/p'
