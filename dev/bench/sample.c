// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe a sample of the kernel's instructions, and count what becomes of them.
 *
 * dev/bench/sample-list has chosen the addresses from a disassembly (sample.h).
 * They are registered in batches, waited for, counted by what their text has
 * become, and removed.  Only the public API is used, so that any kernel's
 * kprobes can be measured.
 *
 * Prints lines "SAMPLE key value".
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sample.h"

static int batch = 500;
module_param(batch, int, 0444);
MODULE_PARM_DESC(batch, "probes registered at a time");

static int wait_ms = 3000;
module_param(wait_ms, int, 0444);
MODULE_PARM_DESC(wait_ms, "longest time to wait for a batch, in ms");

static int hold_ms;
module_param(hold_ms, int, 0444);
MODULE_PARM_DESC(hold_ms, "time to keep a batch, so that it can be looked at, in ms");

#define NR_ERRNOS	200

static unsigned long refused[NR_ERRNOS];
static unsigned long nr_int3, nr_jump, nr_ftrace, nr_changed;
static unsigned long __percpu *hits;

static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	this_cpu_inc(*hits);
	return 0;
}
NOKPROBE_SYMBOL(count_hit);

static u8 text_at(struct kprobe *p)
{
	u8 byte = 0;

	copy_from_kernel_nofault(&byte, p->addr, 1);
	return byte;
}

static int count_jumps(struct kprobe **kps, int nr)
{
	int i, jumps = 0;

	for (i = 0; i < nr; i++)
		jumps += !(kps[i]->flags & KPROBE_FLAG_FTRACE) &&
			 text_at(kps[i]) != 0xcc;
	return jumps;
}

/* Until nothing has changed for a while. */
static void wait_for_jumps(struct kprobe **kps, int nr)
{
	int waited, jumps, last = -1, calm = 0;

	for (waited = 0; waited < wait_ms && calm < 8; waited += 50) {
		msleep(50);
		jumps = count_jumps(kps, nr);
		calm = jumps == last && jumps ? calm + 1 : 0;
		last = jumps;
	}
}

static void count_batch(struct kprobe **kps, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (kps[i]->flags & KPROBE_FLAG_FTRACE)
			nr_ftrace++;
		else if (text_at(kps[i]) == 0xcc)
			nr_int3++;
		else
			nr_jump++;
	}
	if (hold_ms)
		msleep(hold_ms);
}

static int count_changed(struct kprobe **kps, const u8 *before, int nr)
{
	int i, changed = 0;

	for (i = 0; i < nr; i++)
		changed += !(kps[i]->flags & KPROBE_FLAG_FTRACE) &&
			   text_at(kps[i]) != before[i];
	return changed;
}

/* Text must be as it was, once the probes have gone; at once or soon after. */
static void check_restored(struct kprobe **kps, const u8 *before, int nr)
{
	int waited;

	for (waited = 0; waited < wait_ms; waited += 50) {
		if (!count_changed(kps, before, nr))
			return;
		msleep(50);
	}
	nr_changed += count_changed(kps, before, nr);
}

static void sample_batch(struct kprobe *kp, struct kprobe **kps, u8 *before,
			 const unsigned long *addr, int nr)
{
	int i, err, done = 0;

	memset(kp, 0, nr * sizeof(*kp));
	for (i = 0; i < nr; i++) {
		kp[i].addr = (kprobe_opcode_t *)addr[i];
		kp[i].pre_handler = count_hit;
		before[i] = text_at(&kp[i]);
	}
	for (i = 0; i < nr; i++) {
		err = register_kprobe(&kp[i]);
		if (err) {
			refused[min(-err, NR_ERRNOS - 1)]++;
			continue;
		}
		before[done] = before[i];
		kps[done++] = &kp[i];
	}
	if (!done)
		return;
	wait_for_jumps(kps, done);
	count_batch(kps, done);
	unregister_kprobes(kps, done);
	check_restored(kps, before, done);
}

static void report(void)
{
	unsigned long total = 0;
	int i, cpu;

	for_each_possible_cpu(cpu)
		total += *per_cpu_ptr(hits, cpu);
	for (i = 0; i < NR_ERRNOS; i++) {
		if (refused[i])
			pr_info("SAMPLE errno-%d %lu\n", i, refused[i]);
	}
	pr_info("SAMPLE ftrace %lu\n", nr_ftrace);
	pr_info("SAMPLE int3 %lu\n", nr_int3);
	pr_info("SAMPLE jump %lu\n", nr_jump);
	pr_info("SAMPLE hits %lu\n", total);
	pr_info("SAMPLE changed %lu\n", nr_changed);
}

static int __init sample_init(void)
{
	struct kprobe *kp = kvcalloc(batch, sizeof(*kp), GFP_KERNEL);
	struct kprobe **kps = kvcalloc(batch, sizeof(*kps), GFP_KERNEL);
	u8 *before = kvcalloc(batch, 1, GFP_KERNEL);
	int i;

	hits = alloc_percpu(unsigned long);
	if (kp && kps && before && hits) {
		for (i = 0; i < (int)ARRAY_SIZE(sample); i += batch)
			sample_batch(kp, kps, before, sample + i,
				     min_t(int, batch, ARRAY_SIZE(sample) - i));
		report();
	}
	free_percpu(hits);
	kvfree(before);
	kvfree(kps);
	kvfree(kp);
	return 0;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Count what becomes of probes on a sample of the kernel");
MODULE_LICENSE("GPL");
