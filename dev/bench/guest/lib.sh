# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# In the guest: what the scripts of the benchmark share. They print lines "RESULT key
# number".

SWITCH=/proc/sys/debug/kprobes-optimization

result()
{
	echo "RESULT $1 $2"
}

# load MODULE: insert it
load()
{
	echo 4 >/proc/sys/kernel/printk
	insmod "/modules/$1.ko" || exit 1
	dmesg -c >/dev/null
}

# do_step MODULE STEP NUMBER [PREFIX]: run a step of a module, print what it found
do_step()
{
	if ! echo "$2 $3" 2>/dev/null >"/sys/module/$1/parameters/do"; then
		echo "FAILED $1 $2 $3"
		dmesg | tail -n 5
		return 1
	fi
	dmesg -c | sed -n "s/.*RESULT /RESULT ${4:-}/p"
}

# step: as do_step, but without it nothing that follows makes sense
step()
{
	do_step "$@" || exit 1
}

optimize()
{
	echo "$1" >$SWITCH || exit 1
}

# What kprobes makes once, for the first probe and for the first jump
warm_up()
{
	optimize 1
	step many register 1
	step many jumps 60
	step many remove 1
	step many traps 60
	sleep 2
}
