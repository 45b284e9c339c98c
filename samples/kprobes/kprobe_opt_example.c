// SPDX-License-Identifier: GPL-2.0-only
/*
 * By what is a probe hit, and does that change?
 *
 *	insmod kprobe_opt_example.ko [post=1] [symbol=NAME] [offset=BYTES]
 *
 * A probe on an instruction begins as a breakpoint, and soon becomes a jump
 * where that is possible.  At first a function of this module is probed.  It is
 * called a hundred times at once, and a hundred times more when there is a jump
 * or two seconds have passed.  The log then has
 *
 *	kprobe_opt_example: probing opt_target+0x4/0x20 [kprobe_opt_example], now a breakpoint
 *	kprobe_opt_example: after 20 ms a jump
 *	kprobe_opt_example: hits: 100 by a trap, 100 without
 *
 * With post=1 the probe has a post_handler, and stays a breakpoint:
 *
 *	kprobe_opt_example: after 2000 ms still a breakpoint
 *	kprobe_opt_example: hits: 200 by a trap, 0 without
 *
 * The reason is in /sys/kernel/debug/kprobes/optimization, in the line of the
 * probed address, until the module is removed.  With symbol= that can be seen
 * for any place of the kernel; removing the module tells the hits.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

static char *symbol;
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to probe instead of this module's own");

static unsigned int offset;
module_param(offset, uint, 0444);
MODULE_PARM_DESC(offset, "bytes from its start to the probed instruction");

static bool post;
module_param(post, bool, 0444);
MODULE_PARM_DESC(post, "have a post_handler");

#define CALLS		100
#define WAIT_MS		2000
#define POLL_MS		20

static atomic_long_t by_trap = ATOMIC_LONG_INIT(0);
static atomic_long_t without_trap = ATOMIC_LONG_INIT(0);

/* notrace: otherwise ftrace would call the handler, and nothing would change. */
static noinline notrace void opt_target(unsigned long x)
{
	static unsigned long result;

	WRITE_ONCE(result, (x ^ 0x12345678) * 10007);
}

/* The trap of a breakpoint in the kernel is handled as if it were an NMI. */
static int before(struct kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(in_nmi() ? &by_trap : &without_trap);
	return 0;
}

static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = before,
};

/* What the CPU finds at the probed address. */
static const char *looks_like(void)
{
	u8 byte;

	if (kprobe_ftrace(&probe))
		return "a call from ftrace";
	if (get_kernel_nofault(byte, probe.addr))
		return "gone";
	if (byte == INT3_INSN_OPCODE)
		return "a breakpoint";
	return byte == JMP32_INSN_OPCODE ? "a jump" : "something else";
}

static bool is_breakpoint(void)
{
	return !strcmp(looks_like(), "a breakpoint");
}

static void call_target(void)
{
	unsigned long x;

	if (symbol)
		return;
	for (x = 0; x < CALLS; x++)
		opt_target(x);
}

static void tell_hits(void)
{
	pr_info("hits: %ld by a trap, %ld without\n", atomic_long_read(&by_trap),
		atomic_long_read(&without_trap));
}

static void watch(void)
{
	unsigned int ms = 0;

	pr_info("probing %pS, now %s\n", probe.addr, looks_like());
	call_target();
	for (; is_breakpoint() && ms < WAIT_MS; ms += POLL_MS)
		msleep(POLL_MS);
	pr_info("after %u ms %s%s\n", ms, is_breakpoint() ? "still " : "",
		looks_like());
	call_target();
	tell_hits();
}

static int __init kprobe_opt_example_init(void)
{
	int err;

	if (symbol)
		probe.symbol_name = symbol;
	else
		probe.addr = (kprobe_opcode_t *)opt_target;
	probe.offset = offset;
	if (post)
		probe.post_handler = after;
	err = register_kprobe(&probe);
	if (err) {
		pr_err("cannot probe %s+0x%x: %d\n", symbol ?: "opt_target", offset,
		       err);
		return err;
	}
	watch();
	return 0;
}
module_init(kprobe_opt_example_init);

static void __exit kprobe_opt_example_exit(void)
{
	unregister_kprobe(&probe);
	tell_hits();
}
module_exit(kprobe_opt_example_exit);

MODULE_DESCRIPTION("Sample of a kprobe that becomes a jump");
MODULE_LICENSE("GPL");
