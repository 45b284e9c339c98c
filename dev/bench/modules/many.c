// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes by the thousand, on code made for them.
 *
 * 1,000 functions with ten places each.  A place is two instructions, of three
 * and four bytes: enough for a jump, and any kprobes that optimizes at all can
 * optimize it.  Nothing calls the functions but step hits.
 *
 * Probes are registered from the first place on and removed from the last.
 */
#include "bench.h"

#include <linux/irqflags.h>
#include <linux/linkage.h>
#include <linux/vmalloc.h>

#define NR_FUNCTIONS	1000
#define PER_FUNCTION	10
#define NR_PLACES	(NR_FUNCTIONS * PER_FUNCTION)
#define PLACE_SIZE	7

extern const unsigned long many_functions[];

asm(
"	.macro many_function\n"
"	.pushsection .text\n"
"	.balign 16\n"
"	.type many_\\@, @function\n"
"many_\\@:\n"
"	" ASM_ENDBR
"	.rept " __stringify(PER_FUNCTION) "\n"
"	mov %rdi, %rax\n"
"	lea 1(%rax), %rdi\n"
"	.endr\n"
"	" ASM_RET
"	.size many_\\@, .-many_\\@\n"
"	.popsection\n"
"	.pushsection .rodata\n"
"	.quad many_\\@\n"
"	.popsection\n"
"	.endm\n"

"	.pushsection .rodata\n"
"	.balign 8\n"
"many_functions:\n"
"	.popsection\n"
"	.rept " __stringify(NR_FUNCTIONS) "\n"
"	many_function\n"
"	.endr\n"
);

static struct kprobe *probes, **list;
static u32 bare[NR_FUNCTIONS];
static int nr_probes;

static void aim(int i)
{
	unsigned long at = i % PER_FUNCTION * PLACE_SIZE;

	memset(&probes[i], 0, sizeof(probes[i]));
	probes[i].addr = (void *)many_functions[i / PER_FUNCTION] + PAD_SIZE + at;
	probes[i].pre_handler = bench_pre;
}

static int check_count(long nr)
{
	return nr < 0 || nr_probes + nr > NR_PLACES ? -EINVAL : 0;
}

static int step_register_each(long nr)
{
	ktime_t start = ktime_get();
	int end = nr_probes + nr, err = check_count(nr);

	while (!err && nr_probes < end) {
		aim(nr_probes);
		err = register_kprobe(&probes[nr_probes]);
		if (!err)
			nr_probes++;
	}
	if (!err)
		bench_result("register-each-ns", ktime_to_ns(ktime_sub(ktime_get(), start)));
	return err;
}

static int step_register(long nr)
{
	int i, err = check_count(nr);

	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		aim(nr_probes + i);
		list[i] = &probes[nr_probes + i];
	}
	err = register_kprobes(list, nr);
	if (!err)
		nr_probes += nr;
	return err;
}

static int step_remove_each(long nr)
{
	ktime_t start = ktime_get();
	int i;

	if (nr > nr_probes)
		return -EINVAL;
	for (i = 0; i < nr; i++)
		unregister_kprobe(&probes[--nr_probes]);
	bench_result("remove-each-ns", ktime_to_ns(ktime_sub(ktime_get(), start)));
	return 0;
}

static int step_remove(long nr)
{
	int i;

	if (nr > nr_probes)
		return -EINVAL;
	for (i = 0; i < nr; i++)
		list[i] = &probes[--nr_probes];
	unregister_kprobes(list, nr);
	return 0;
}

static int count_jumps(void)
{
	int i, jumps = 0;

	for (i = 0; i < nr_probes; i++)
		jumps += bench_byte(probes[i].addr) == JUMP_OPCODE;
	return jumps;
}

/* Until all probes are jumps, or none; at most @seconds. */
static int wait_jumps(int wanted, long seconds)
{
	ktime_t end = ktime_add_ms(ktime_get(), seconds * 1000);

	while (count_jumps() != wanted) {
		if (ktime_after(ktime_get(), end)) {
			bench_result("jumps-missing", wanted - count_jumps());
			return -ETIME;
		}
		msleep(50);
	}
	return 0;
}

static int step_jumps(long seconds)
{
	return wait_jumps(nr_probes, seconds);
}

static int step_traps(long seconds)
{
	return wait_jumps(0, seconds);
}

static u32 call_function(int i)
{
	unsigned long (*fn)(unsigned long x) = (void *)many_functions[i];
	u64 start, end;

	guard(irqsave)();
	start = get_cycles();
	fn(i);
	end = get_cycles();
	return end - start;
}

/* The mean over one hit of each probe, in hundredths of an instruction. */
static int step_hits(long unused)
{
	int i, used = DIV_ROUND_UP(nr_probes, PER_FUNCTION);
	s64 sum = 0;

	if (!nr_probes)
		return -EINVAL;
	for (i = 0; i < used; i++)
		sum += (s64)call_function(i) - bare[i];
	for (i = 0; i < nr_probes; i++) {
		if (probes[i].nmissed)
			return -EIO;
	}
	bench_result("mean-hit-x100", div_s64(sum * 100, nr_probes));
	return 0;
}

static const struct bench_step bench_steps[] = {
	{ "register-each", step_register_each },
	{ "register", step_register },
	{ "remove-each", step_remove_each },
	{ "remove", step_remove },
	{ "jumps", step_jumps },
	{ "traps", step_traps },
	{ "hits", step_hits },
	{}
};

static int __init many_init(void)
{
	int i;

	probes = vzalloc(array_size(NR_PLACES, sizeof(*probes)));
	list = vzalloc(array_size(NR_PLACES, sizeof(*list)));
	if (!probes || !list) {
		vfree(list);
		vfree(probes);
		return -ENOMEM;
	}
	for (i = 0; i < NR_FUNCTIONS; i++)
		bare[i] = call_function(i);
	return 0;
}
module_init(many_init);

static void __exit many_exit(void)
{
	if (nr_probes)
		step_remove(nr_probes);
	vfree(list);
	vfree(probes);
}
module_exit(many_exit);

MODULE_DESCRIPTION("What thousands of probes cost");
