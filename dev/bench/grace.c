// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has to wait while the optimizer waits for a grace period?
 *
 * A thread that does not schedule voluntarily holds up RCU tasks for some
 * seconds.  Meanwhile a probe is queued for optimization, and the time is taken
 * of what other users of the same locks do.  Prints lines "GRACE what ms".
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>

static int hold_ms = 5000;
module_param(hold_ms, int, 0444);
MODULE_PARM_DESC(hold_ms, "how long the grace period is held up, in ms");

static DEFINE_STATIC_KEY_FALSE(grace_key);

static noinline notrace int grace_target(int x)
{
	int y = x * 3;

	if (static_branch_unlikely(&grace_key))
		y++;
	return y + 7;
}

static noinline notrace int grace_other(int x)
{
	return x * 5 + 3;
}

static int grace_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe queued = {
	.addr = (kprobe_opcode_t *)grace_target,
	.pre_handler = grace_pre,
};

static struct kprobe other = {
	.addr = (kprobe_opcode_t *)grace_other,
	.pre_handler = grace_pre,
};

static int hold(void *unused)
{
	unsigned long end = jiffies + msecs_to_jiffies(hold_ms);

	while (time_before(jiffies, end))
		cpu_relax();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void tell(const char *what, ktime_t since)
{
	pr_info("GRACE %s %lld\n", what, ktime_ms_delta(ktime_get(), since));
}

static void measure(void)
{
	ktime_t t = ktime_get();
	int err = register_kprobe(&other);

	tell("register", t);
	if (!err) {
		t = ktime_get();
		unregister_kprobe(&other);
		tell("unregister", t);
	}
	t = ktime_get();
	static_branch_enable(&grace_key);
	tell("static-key", t);
	t = ktime_get();
	err = remove_cpu(num_online_cpus() - 1);
	tell(err ? "cpu-offline-failed" : "cpu-offline", t);
}

/* The first optimization of all may take long; it is not what is measured. */
static int warm_up(void)
{
	int waited, err = register_kprobe(&queued);

	if (err)
		return err;
	for (waited = 0; waited < 60000 && *queued.addr == 0xcc; waited += 50)
		msleep(50);
	pr_info("GRACE warm %d\n", *queued.addr != 0xcc);
	unregister_kprobe(&queued);
	msleep(500);
	return 0;
}

static int __init grace_init(void)
{
	struct task_struct *holder;
	int err = warm_up();

	if (err)
		return err;
	holder = kthread_run(hold, NULL, "holder");
	if (IS_ERR(holder))
		return PTR_ERR(holder);
	msleep(100);
	err = register_kprobe(&queued);
	if (!err) {
		/* Let the optimizer begin to wait. */
		msleep(500);
		measure();
		unregister_kprobe(&queued);
	}
	kthread_stop(holder);
	pr_info("GRACE results %d\n", grace_target(1) + grace_other(1));
	return err;
}
module_init(grace_init);

static void __exit grace_exit(void)
{
}
module_exit(grace_exit);

MODULE_DESCRIPTION("What waits while kprobes waits for a grace period");
MODULE_LICENSE("GPL");
