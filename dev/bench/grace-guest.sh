#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: first with hardly any grace period to wait for, then with a long
# one. The state of the probe that is queued meanwhile is shown.

echo 1 >/proc/sys/kernel/printk
why=/sys/kernel/debug/kprobes/optimization
for hold in 10 5000; do
	dmesg -c >/dev/null
	insmod /grace.ko hold_ms=$hold &
	job=$!
	tries=0
	while [ -e $why ] && [ $tries -lt 900 ] && ! grep -q 'grace_target.* queued ' $why; do
		tries=$((tries + 1))
		usleep 100000
		[ -d /proc/$job ] || break
	done
	[ -e $why ] && grep grace_target $why | sed 's/^/GRACE state /'
	wait $job
	dmesg | sed -n "s/.*\(GRACE\)/\1 hold $hold:/p"
	rmmod grace
	for cpu in /sys/devices/system/cpu/cpu*/online; do
		echo 1 >"$cpu"
	done
done
