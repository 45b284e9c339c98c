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
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
}
NOKPROBE_SYMBOL(call_post_handler);

/*
 * Handlers see what they would see at a breakpoint: before the instruction, the
 * address behind the breakpoint's byte; after it, the next instruction.
 */
static nokprobe_inline void ftrace_hit(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long back = regs->ip;

	__this_cpu_write(current_kprobe, p);
	regs->ip = (unsigned long)p->addr + INT3_INSN_SIZE;
	if (!kprobe_site_pre_handler(p, regs)) {
		call_post_handler(p, regs);
		regs->ip = back;
	}
	reset_current_kprobe();
}

static nokprobe_inline void entry_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (!p || kprobe_disabled(p) || kprobe_ftrace_disabled)
		return;
	if (!kprobe_running())
		ftrace_hit(p, regs);
	else
		kprobes_inc_nmissed_count(p);
}

/**
 * kprobe_ftrace_handler() - ftrace calls from a probed function
 * @ip:		address of the call, which is what is probed
 * @parent_ip:	where the function was called from
 * @ops:	one of the two filters in kernel/kprobes/ftrace.c
 * @fregs:	registers at the call
 *
 * No other guard against recursion is needed than that against a hit amid a hit:
 * until that works nothing is called that can be probed.
 *
 * Context: ftrace callback.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	preempt_disable_notrace();
	entry_hit(get_kprobe((void *)ip), ftrace_get_regs(fregs));
	/* What preempt_enable_notrace() calls could be probed. */
	preempt_enable_no_resched_notrace();
	preempt_check_resched();
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
