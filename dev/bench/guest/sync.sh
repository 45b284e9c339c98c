#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest, with 4 CPUs: how long does it take to register and to remove one by one, and
# how often do all CPUs have to take part? An interrupt to each other CPU counts
# as one synchronisation; /proc/interrupts counts them as CAL.

# shellcheck source=dev/bench/guest/lib.sh
. /lib.sh

ALL=10000
BATCH=1000
SOME=500

calls()
{
	awk '/CAL:/ { for (i = 2; i <= 5; i++) n += $i; print n }' /proc/interrupts
}

# syncs KEY COMMAND...: the interrupts that it takes, and what it puts off
syncs()
{
	key=$1
	shift
	before=$(calls)
	"$@"
	sleep 1
	result "calls-$key" $(($(calls) - before))
}

all_jumps()
{
	optimize 1
	step many jumps 600
}

all_traps()
{
	optimize 0
	step many traps 600
}

load many
warm_up
optimize 0
syncs nothing true
syncs register step many register $BATCH
step many remove $BATCH
optimize 1
step many register-each $ALL
step many jumps 600
syncs unoptimize all_traps
step many remove-each $SOME int3-
step many register $SOME
syncs optimize all_jumps
step many remove-each $SOME jump-
step many register $SOME
step many jumps 600
syncs remove step many remove $ALL
