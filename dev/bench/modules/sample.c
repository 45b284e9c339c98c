// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe a sample of the kernel's instructions, and count what becomes of them.
 *
 * dev/bench/sample-list has chosen the addresses from a disassembly (sample.h).
 * A batch of them is registered, waited for, counted by what its text has become,
 * and removed; the guest's script gives the steps, and switches optimization on
 * only when all are registered, so that no registration waits for another's.
 */
#include "bench.h"

#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "sample.h"

#define MAX_BATCH	2000
#define NR_ERRNOS	134

static struct kprobe *probes, *armed[MAX_BATCH];
static u8 before[MAX_BATCH];
static int nr_armed;
static unsigned long __percpu *hits;

static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	this_cpu_inc(*hits);
	return 0;
}
NOKPROBE_SYMBOL(count_hit);

static void tell_errnos(const unsigned int *refused)
{
	int i;

	for (i = 0; i < NR_ERRNOS; i++) {
		if (refused[i])
			pr_info("RESULT refused-%d %u\n", i, refused[i]);
	}
}

static int register_at(int from, int nr)
{
	static unsigned int refused[NR_ERRNOS];
	int i, err;

	memset(refused, 0, sizeof(refused));
	for (i = 0; i < nr; i++) {
		struct kprobe *kp = &probes[i];

		*kp = (struct kprobe) {
			.addr = (kprobe_opcode_t *)sample[from + i],
			.pre_handler = count_hit,
		};
		before[nr_armed] = bench_byte(kp->addr);
		err = register_kprobe(kp);
		if (err)
			refused[min(-err, NR_ERRNOS - 1)]++;
		else
			armed[nr_armed++] = kp;
	}
	tell_errnos(refused);
	return 0;
}

static int batch_size = 500;

static int step_size(long nr)
{
	if (nr < 1 || nr > MAX_BATCH)
		return -EINVAL;
	batch_size = nr;
	return 0;
}

/* Register batch @nr; -ENOENT behind the last. */
static int step_arm(long nr)
{
	int from = nr * batch_size;

	if (nr_armed)
		return -EBUSY;
	if (nr < 0 || from >= ARRAY_SIZE(sample))
		return -ENOENT;
	return register_at(from, min_t(int, batch_size, ARRAY_SIZE(sample) - from));
}

static bool is_trap(int i)
{
	return !(armed[i]->flags & KPROBE_FLAG_FTRACE) &&
	       bench_byte(armed[i]->addr) == TRAP_OPCODE;
}

static int count_traps(void)
{
	int i, traps = 0;

	for (i = 0; i < nr_armed; i++)
		traps += is_trap(i);
	return traps;
}

/* Until nothing has changed for a second; at most @seconds. */
static int step_settle(long seconds)
{
	ktime_t end = ktime_add_ms(ktime_get(), seconds * 1000);
	int traps, last = -1, calm = 0;

	while (calm < 10 && ktime_before(ktime_get(), end)) {
		msleep(100);
		traps = count_traps();
		calm = traps == last ? calm + 1 : 0;
		last = traps;
	}
	return 0;
}

static int step_count(long unused)
{
	int i, ftrace = 0, traps = count_traps();

	for (i = 0; i < nr_armed; i++)
		ftrace += !!(armed[i]->flags & KPROBE_FLAG_FTRACE);
	bench_result("ftrace", ftrace);
	bench_result("int3", traps);
	bench_result("jump", nr_armed - ftrace - traps);
	return 0;
}

static int count_changed(void)
{
	int i, changed = 0;

	for (i = 0; i < nr_armed; i++)
		changed += !(armed[i]->flags & KPROBE_FLAG_FTRACE) &&
			   bench_byte(armed[i]->addr) != before[i];
	return changed;
}

static void tell_hits(void)
{
	unsigned long total = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		total += *per_cpu_ptr(hits, cpu);
		*per_cpu_ptr(hits, cpu) = 0;
	}
	bench_result("hits", total);
}

/* Text must be as it was when the probes have gone, at once or soon after. */
static int step_disarm(long seconds)
{
	ktime_t end = ktime_add_ms(ktime_get(), seconds * 1000);

	if (nr_armed)
		unregister_kprobes(armed, nr_armed);
	while (count_changed() && ktime_before(ktime_get(), end))
		msleep(50);
	bench_result("changed", count_changed());
	nr_armed = 0;
	tell_hits();
	return 0;
}

static const struct bench_step bench_steps[] = {
	{ "size", step_size },
	{ "arm", step_arm },
	{ "settle", step_settle },
	{ "count", step_count },
	{ "disarm", step_disarm },
	{}
};

static int __init sample_init(void)
{
	probes = vzalloc(array_size(MAX_BATCH, sizeof(*probes)));
	hits = alloc_percpu(unsigned long);
	if (probes && hits)
		return 0;
	free_percpu(hits);
	vfree(probes);
	return -ENOMEM;
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	if (nr_armed)
		unregister_kprobes(armed, nr_armed);
	free_percpu(hits);
	vfree(probes);
}
module_exit(sample_exit);

MODULE_DESCRIPTION("Count what becomes of probes on a sample of the kernel");
