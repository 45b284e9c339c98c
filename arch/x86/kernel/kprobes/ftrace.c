// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: hits that come from ftrace.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <asm/text-patching.h>

/*
 * Handlers see what they would see at a breakpoint: before the instruction, the
 * address behind the breakpoint's byte; after it, the next instruction.
 */
static void ftrace_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	unsigned long addr = (unsigned long)p->addr, ip = regs->ip;
	kprobe_post_handler_t post;

	__this_cpu_write(current_kprobe, p);
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
	regs->ip = addr + INT3_INSN_SIZE;
	if (!p->pre_handler(p, regs)) {
		post = READ_ONCE(p->post_handler);
		if (post) {
			regs->ip = addr + MCOUNT_INSN_SIZE;
			kcb->kprobe_status = KPROBE_HIT_SSDONE;
			post(p, regs, 0);
		}
		regs->ip = ip;
	}
	reset_current_kprobe();
}
NOKPROBE_SYMBOL(ftrace_hit);

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
	struct pt_regs *regs = ftrace_get_regs(fregs);
	struct kprobe *p;
	int bit;

	if (unlikely(kprobe_ftrace_disabled))
		return;
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	p = get_kprobe((void *)ip);
	if (p && !kprobe_disabled(p)) {
		if (kprobe_running())
			kprobes_inc_nmissed_count(p);
		else
			ftrace_hit(p, regs);
	}
	ftrace_test_recursion_unlock(bit);
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
