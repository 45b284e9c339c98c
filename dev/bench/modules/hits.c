// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hit costs, and what it costs to register a probe.
 *
 * To be run under QEMU's -icount shift=0 with one CPU: the time stamp counter
 * counts instructions then, and step calibrate says whether it does.  A hit is
 * what one call of the probed function costs, less what it costs without a probe.
 *
 * What is counted lies between two marks: reads of an address that is not
 * mapped, which QEMU's log of exceptions shows.  The marks bear the number of the
 * step that the script gave.
 */
#include "bench.h"

#include <linux/irqflags.h>
#include <linux/linkage.h>

#define CALLS	1000

/* Reading there is a fault and nothing else: a hole of the address space. */
#define MARK_BASE	0xffffe90000000000UL

unsigned long hits_plain(unsigned long x);
unsigned long hits_jcc(unsigned long x);
unsigned long hits_call(unsigned long x);
unsigned long hits_five(unsigned long x);
unsigned long hits_fixed(unsigned long x);

/*
 * hits_plain: at PLAIN_AT two instructions that a jump can replace.
 * hits_jcc:   at JCC_AT a conditional jump, taken in every second call.
 * hits_call:  at CALL_AT a call.
 * hits_five:  at FIVE_AT one instruction of five bytes.
 * hits_fixed: at FIXED_AT instructions that cannot be replaced, as the second
 *             is jumped to.
 */
asm(
"	.pushsection .text\n"
"	.macro hits_function name\n"
"	.balign 16\n"
"	.type \\name, @function\n"
"\\name:\n"
"	" ASM_ENDBR
"	.endm\n"
"	.macro hits_end name\n"
"	" ASM_RET
"	.size \\name, .-\\name\n"
"	.endm\n"

"	hits_function hits_plain\n"
"	mov %rdi, %rax\n"
"	lea 1(%rax), %rdx\n"
"	add %rdx, %rax\n"
"	nop\n"
"	hits_end hits_plain\n"

"	hits_function hits_jcc\n"
"	mov %rdi, %rax\n"
"	test $1, %al\n"
"	jz 1f\n"
"	nop\n"
"1:	nop\n"
"	hits_end hits_jcc\n"

"	hits_function hits_call\n"
"	mov %rdi, %rax\n"
"	call 2f\n"
"	nop\n"
"	hits_end hits_call\n"
"	.type hits_leaf, @function\n"
"hits_leaf:\n"
"2:	inc %rax\n"
"	hits_end hits_leaf\n"

"	hits_function hits_five\n"
"	mov %rdi, %rax\n"
"	mov $0x12345678, %edx\n"
"	add %rdx, %rax\n"
"	hits_end hits_five\n"

"	hits_function hits_fixed\n"
"	mov %rdi, %rax\n"
"	mov $2, %ecx\n"
"	mov %rax, %rdx\n"
"3:	add %rdx, %rax\n"
"	dec %ecx\n"
"	jnz 3b\n"
"	hits_end hits_fixed\n"
"	.popsection\n"
);

#define PLAIN_AT	(PAD_SIZE + 3)
#define JCC_AT		(PAD_SIZE + 5)
#define CALL_AT		(PAD_SIZE + 3)
#define FIVE_AT		(PAD_SIZE + 3)
#define FIXED_AT	(PAD_SIZE + 8)

typedef unsigned long (*target_fn)(unsigned long x);

static noinline unsigned long hits_traced(unsigned long x)
{
	return x * 5 + 3;
}

static void mark(long nr, int end)
{
	u8 byte;

	copy_from_kernel_nofault(&byte, (void *)(MARK_BASE + nr * 2 + end), 1);
}

/* The same instructions for all that is measured, but for what @fn does. */
static noinline u64 call_often(target_fn fn, long nr)
{
	u64 start, end;
	int i;

	guard(irqsave)();
	mark(nr, 0);
	start = get_cycles();
	for (i = 0; i < CALLS; i++)
		fn(i);
	end = get_cycles();
	mark(nr, 1);
	return end - start;
}

/* Twice as many instructions as rounds, and a few. */
static int calibrate(long rounds)
{
	unsigned long left = rounds;
	u64 start, end;

	scoped_guard(irqsave) {
		start = get_cycles();
		asm volatile("1: dec %0; jnz 1b" : "+r" (left) : : "cc");
		end = get_cycles();
	}
	bench_result("calibrate-expected", 2 * rounds);
	bench_result("calibrate-counted", end - start);
	return 0;
}

/* Hits of what is armed at @fn, of which @bare was measured before. */
static void tell_hits(const char *key, target_fn fn, u64 bare, long nr)
{
	u64 all = call_often(fn, nr);

	bench_result(key, div_s64(all - bare + CALLS / 2, CALLS));
}

static int hits_at(const char *key, target_fn fn, int at, u8 byte, int users,
		   kprobe_post_handler_t post, long nr)
{
	void *addr = bench_place(fn, at);
	u8 before = bench_byte(addr);
	struct kprobe kp[2] = {};
	u64 bare = call_often(fn, 0);
	int i, err;

	for (i = 0; i < users; i++) {
		kp[i].addr = addr;
		kp[i].pre_handler = bench_pre;
		kp[i].post_handler = post;
		err = register_kprobe(&kp[i]);
		if (err)
			goto out;
	}
	err = bench_wait_byte(addr, byte);
	if (!err)
		tell_hits(key, fn, bare, nr);
out:
	while (--i >= 0) {
		if (kp[i].nmissed)
			err = -EIO;
		unregister_kprobe(&kp[i]);
	}
	/* The text may be put back some time after the probe is gone. */
	return err ?: bench_wait_byte(addr, before);
}

static int step_int3(long nr)
{
	return hits_at("int3", hits_plain, PLAIN_AT, TRAP_OPCODE, 1, NULL, nr);
}

static int step_post(long nr)
{
	return hits_at("post", hits_plain, PLAIN_AT, TRAP_OPCODE, 1, bench_post,
		       nr);
}

static int step_jcc(long nr)
{
	return hits_at("jcc", hits_jcc, JCC_AT, TRAP_OPCODE, 1, NULL, nr);
}

static int step_call(long nr)
{
	return hits_at("call", hits_call, CALL_AT, TRAP_OPCODE, 1, NULL, nr);
}

static int step_jump(long nr)
{
	return hits_at("jump", hits_plain, PLAIN_AT, JUMP_OPCODE, 1, NULL, nr);
}

static int step_jump2(long nr)
{
	return hits_at("jump2", hits_plain, PLAIN_AT, JUMP_OPCODE, 2, NULL, nr);
}

static int step_ftrace(long nr)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)hits_traced,
		.pre_handler = bench_pre,
	};
	u64 bare = call_often(hits_traced, 0);
	int err = register_kprobe(&kp);

	if (err)
		return err;
	if (kp.flags & KPROBE_FLAG_FTRACE)
		tell_hits("ftrace", hits_traced, bare, nr);
	else
		err = -ENXIO;
	unregister_kprobe(&kp);
	return err;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int step_return(long nr)
{
	struct kretprobe rp = {
		.kp.addr = (kprobe_opcode_t *)hits_plain,
		.handler = returned,
		.maxactive = 8,
	};
	u8 before = bench_byte(bench_place(hits_plain, PAD_SIZE));
	u64 bare = call_often(hits_plain, 0);
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	err = bench_wait_byte(rp.kp.addr, JUMP_OPCODE);
	if (!err)
		tell_hits("return", hits_plain, bare, nr);
	if (rp.nmissed)
		err = -EIO;
	unregister_kretprobe(&rp);
	return err ?: bench_wait_byte(rp.kp.addr, before);
}

/* The cost of registering at @addr, in instructions, and of what follows. */
static int register_at(const char *key, void *fn, int at)
{
	struct kprobe kp = {
		.addr = bench_place(fn, at),
		.pre_handler = bench_pre,
	};
	u64 start, end;
	int err;

	start = get_cycles();
	err = register_kprobe(&kp);
	end = get_cycles();
	if (err)
		return err;
	bench_result(key, end - start);
	unregister_kprobe(&kp);
	msleep(200);
	return 0;
}

/*
 * Both must have been registered once, so that what is built with the first
 * probe is there.  Ticks may come meanwhile: the median of some tries counts.
 */
static int step_register(long unused)
{
	int i, err = 0;

	for (i = 0; i < 9 && !err; i++)
		err = register_at("register-fixed", hits_fixed, FIXED_AT);
	for (i = 0; i < 9 && !err; i++)
		err = register_at("register-free", hits_plain, PLAIN_AT);
	return err;
}

static int step_register_on(long unused)
{
	int i, err = 0;

	for (i = 0; i < 9 && !err; i++)
		err = register_at("register-on", hits_plain, PLAIN_AT);
	return err;
}

static int until_jump(const char *key, void *fn, int at)
{
	struct kprobe kp = {
		.addr = bench_place(fn, at),
		.pre_handler = bench_pre,
	};
	ktime_t start = ktime_get();
	int err = register_kprobe(&kp);

	if (err)
		return err;
	err = bench_wait_byte(kp.addr, JUMP_OPCODE);
	if (!err)
		bench_result(key, ktime_us_delta(ktime_get(), start));
	unregister_kprobe(&kp);
	msleep(200);
	return err;
}

/* The first of all probes, and the first jump. */
static int step_first(long unused)
{
	int err = register_at("first-register", hits_fixed, FIXED_AT);

	return err ?: until_jump("first-jump-us", hits_plain, PLAIN_AT);
}

static int step_latency(long unused)
{
	int i, err = 0;

	for (i = 0; i < 5 && !err; i++)
		err = until_jump("five-jump-us", hits_five, FIVE_AT);
	for (i = 0; i < 5 && !err; i++)
		err = until_jump("two-jump-us", hits_plain, PLAIN_AT);
	return err;
}

static const struct bench_step bench_steps[] = {
	{ "calibrate", calibrate },
	{ "first", step_first },
	{ "int3", step_int3 },
	{ "post", step_post },
	{ "jcc", step_jcc },
	{ "call", step_call },
	{ "jump", step_jump },
	{ "jump2", step_jump2 },
	{ "ftrace", step_ftrace },
	{ "return", step_return },
	{ "register", step_register },
	{ "register-on", step_register_on },
	{ "latency", step_latency },
	{}
};

static int __init hits_init(void)
{
	return 0;
}
module_init(hits_init);

static void __exit hits_exit(void)
{
}
module_exit(hits_exit);

MODULE_DESCRIPTION("What a hit of a probe costs");
