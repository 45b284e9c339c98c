// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long does a function take?  A return probe measures each of its calls.
 *
 *	insmod kretprobe_example.ko [symbol=NAME] [maxactive=CALLS]
 *
 * At first vfs_read() is measured.  The log says so,
 *
 *	kretprobe_example: measuring vfs_read
 *
 * and when the module is removed, in nanoseconds and with what the last call
 * returned, as a number:
 *
 *	kretprobe_example: vfs_read: 126 calls, min 310, mean 5240, max 88120 ns
 *	kretprobe_example: 0 calls missed, the last returned 512
 *
 * Calls that still go on when the module is removed are not counted.  Missed
 * are those that began while maxactive others went on; maxactive=0, as it is at
 * first, leaves the number to the kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>

static char *symbol = "vfs_read";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to measure");

static int maxactive;
module_param(maxactive, int, 0444);
MODULE_PARM_DESC(maxactive, "calls that are measured at a time");

/* Handlers do not nest on a CPU, so that these need neither lock nor atomic. */
struct stats {
	u64 calls;
	u64 sum;
	u64 min;
	u64 max;
};

static DEFINE_PER_CPU(struct stats, stats);
static unsigned long last_value;

/* What is kept of a call from its beginning to its end. */
struct call {
	u64 start;
};

/* As a hit may come in any context, so must the clock be fit for any. */
static int entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	call->start = ktime_get_mono_fast_ns();
	return 0;
}

static void add(struct stats *to, const struct stats *more)
{
	if (!more->calls)
		return;
	to->min = to->calls ? min(to->min, more->min) : more->min;
	to->max = max(to->max, more->max);
	to->sum += more->sum;
	to->calls += more->calls;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	u64 ns = ktime_get_mono_fast_ns() - call->start;
	struct stats one = { .calls = 1, .sum = ns, .min = ns, .max = ns };

	add(this_cpu_ptr(&stats), &one);
	WRITE_ONCE(last_value, regs_return_value(regs));
	return 0;
}

static struct kretprobe probe = {
	.entry_handler = entered,
	.handler = returned,
	.data_size = sizeof(struct call),
};

static int __init kretprobe_example_init(void)
{
	int err;

	probe.kp.symbol_name = symbol;
	probe.maxactive = maxactive;
	err = register_kretprobe(&probe);
	if (!err)
		pr_info("measuring %s\n", symbol);
	else
		pr_err("cannot measure %s: %d\n", symbol, err);
	return err;
}
module_init(kretprobe_example_init);

static void __exit kretprobe_example_exit(void)
{
	struct stats all = {};
	int cpu;

	unregister_kretprobe(&probe);
	for_each_possible_cpu(cpu)
		add(&all, per_cpu_ptr(&stats, cpu));
	pr_info("%s: %llu calls, min %llu, mean %llu, max %llu ns\n", symbol,
		all.calls, all.min, div64_u64(all.sum, max(all.calls, 1ULL)),
		all.max);
	pr_info("%d calls missed, the last returned %ld\n", probe.nmissed,
		(long)last_value);
}
module_exit(kretprobe_example_exit);

MODULE_DESCRIPTION("Sample of a kretprobe: latency of a function");
MODULE_LICENSE("GPL");
