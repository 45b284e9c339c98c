// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: hits that come from ftrace.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <asm/text-patching.h>

/* After the instruction, which is the nop that ftrace calls from. */
static void call_post_handler(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(p->post_handler);

	if (!post)
		return;
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_SSDONE;
	regs->ip = (unsigned long)p->addr + MCOUNT_INSN_SIZE;
	post(p, regs, 0);
}
NOKPROBE_SYMBOL(call_post_handler);

/*
 * Handlers see what they would see at a breakpoint: before the instruction, the
 * address behind the breakpoint's byte; after it, the next instruction.
 */
static void ftrace_hit(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long back = regs->ip;

	__this_cpu_write(current_kprobe, p);
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
	regs->ip = (unsigned long)p->addr + INT3_INSN_SIZE;
	if (!p->pre_handler(p, regs)) {
		call_post_handler(p, regs);
		regs->ip = back;
	}
	reset_current_kprobe();
}
NOKPROBE_SYMBOL(ftrace_hit);

static void entry_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (!p || kprobe_disabled(p) || kprobe_ftrace_disabled)
		return;
	if (!kprobe_running())
		ftrace_hit(p, regs);
	else
		kprobes_inc_nmissed_count(p);
}
NOKPROBE_SYMBOL(entry_hit);

/**
 * kprobe_ftrace_handler() - ftrace calls from a probed function
 * @ip:		address of the call, which is what is probed
 * @parent_ip:	where the function was called from
 * @ops:	one of the two filters in kernel/kprobes/ftrace.c
 * @fregs:	registers at the call
 *
 * Context: ftrace callback, preemption off.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit >= 0) {
		entry_hit(get_kprobe((void *)ip), ftrace_get_regs(fregs));
		ftrace_test_recursion_unlock(bit);
	}
}
NOKPROBE_SYMBOL(kprobe_ftrace_handler);

/**
 * arch_prepare_kprobe_ftrace() - make an ftrace-based site fit to be hit
 * @p:		the site's struct kprobe
 *
 * Context: process context.
 * Return: 0, as nothing is to be copied.
 */
int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	p->ainsn.insn = NULL;
	return 0;
}
