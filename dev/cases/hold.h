/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make grace periods of RCU tasks last, so that jumps stay queued.
 */
#ifndef _DEV_CASES_HOLD_H
#define _DEV_CASES_HOLD_H

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#define HOLD_MS	1500

static bool let_go;

/* Runs all the time, so that RCU tasks has to wait for it. */
static int hold(void *unused)
{
	unsigned long end = jiffies + msecs_to_jiffies(HOLD_MS);

	while (time_before(jiffies, end) && !READ_ONCE(let_go))
		cpu_relax();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static struct task_struct *hold_up(void)
{
	struct task_struct *task;

	WRITE_ONCE(let_go, false);
	task = kthread_run(hold, NULL, "holder");
	msleep(50);
	return IS_ERR(task) ? NULL : task;
}

static void release(struct task_struct *task)
{
	WRITE_ONCE(let_go, true);
	if (task)
		kthread_stop(task);
}

#endif /* _DEV_CASES_HOLD_H */
