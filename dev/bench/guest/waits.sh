#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: how long it takes until a probe is a jump, and what others wait while the
# optimizer waits for a grace period, which takes as long as it does when nothing
# is going on, then 5 s.

# shellcheck source=dev/bench/guest/lib.sh
. /lib.sh

load hits
step hits latency 0
load waits
step waits warm 0
for op in register unregister key offline; do
	for hold in 0 5000; do
		step waits $op $hold
	done
done
