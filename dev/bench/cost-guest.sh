#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: with optimization, then without.

echo 1 >/proc/sys/kernel/printk
for on in 1 0; do
	echo $on >/proc/sys/debug/kprobes-optimization
	dmesg -c >/dev/null
	insmod /cost.ko
	dmesg | sed -n "s/.*\(COST\)/\1 optimization $on:/p"
	rmmod cost
done
