// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a probe costs, in guest instructions.
 *
 * To be run under QEMU's -icount shift=0, where the time stamp counter counts
 * them.  Prints lines "COST what number"; hits are for one call of the probed
 * function, less what the call costs without a probe.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <asm/ibt.h>
#include <asm/msr.h>

unsigned long cost_target(unsigned long x);

/* The second instruction behind the landing pad is one that a jump replaces. */
asm(
"	.pushsection .text\n"
"	.balign 16\n"
"	.type cost_target, @function\n"
"cost_target:\n"
"	" ASM_ENDBR
"	mov %rdi, %rax\n"
"	nop\n"
"	add $0x12345678, %rax\n"
"	nop\n"
"	" ASM_RET
"	.size cost_target, .-cost_target\n"
"	.popsection\n"
);

#define AT	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 8 : 4)
#define CALLS	1000

static int cost_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static void cost_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
}

static u64 call_target(void)
{
	u64 start;
	int i;

	guard(preempt)();
	start = rdtsc();
	for (i = 0; i < CALLS; i++)
		cost_target(i);
	return rdtsc() - start;
}

static int measure(const char *what, kprobe_post_handler_t post, u64 bare)
{
	struct kprobe kp = {
		.pre_handler = cost_pre,
		.post_handler = post,
	};
	u64 start;
	int err;

	kp.addr = (kprobe_opcode_t *)cost_target + AT;
	start = rdtsc();
	err = register_kprobe(&kp);
	if (err)
		return err;
	pr_info("COST register-%s %llu\n", what, rdtsc() - start);
	/* Time for the optimizer, had it anything to do. */
	msleep(1000);
	pr_info("COST hit-%s-%s %llu\n", what,
		*kp.addr == 0xcc ? "breakpoint" : "jump",
		(call_target() - bare) / CALLS);
	unregister_kprobe(&kp);
	msleep(1000);
	return 0;
}

static int __init cost_init(void)
{
	u64 bare;
	int err, i;

	call_target();
	bare = call_target();
	/* The first makes the indexes. */
	for (i = 0, err = 0; i < 3 && !err; i++)
		err = measure("plain", NULL, bare);
	return err ?: measure("post", cost_post, bare);
}
module_init(cost_init);

static void __exit cost_exit(void)
{
}
module_exit(cost_exit);

MODULE_DESCRIPTION("What a probe costs, in guest instructions");
MODULE_LICENSE("GPL");
