// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: hits that come by a trap.
 *
 * On each CPU a hit goes through
 *
 *   IDLE -> ACTIVE -> carried out in one of four ways -> DONE -> IDLE
 *
 *   detour    in the detour, from its copies on: the site has, or waits for, a
 *             jump
 *   boosted   in the copy that jumps back: there is no post_handler
 *   emulated  here, on the saved registers
 *   stepped   in the copy that is followed by a trap, with interrupts off
 *
 * A hit amid another one, in a handler or by an NMI, calls no handler.  It needs
 * to be remembered only if it is stepped; hit_push() and hit_pop() do that.
 * hit_begin() and hit_end() are the only others that write the state.
 *
 * Interrupts are off from the trap to its return, and during a step.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kdebug.h>
#include <linux/percpu.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "common.h"

DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/*
 * State
 */

static nokprobe_inline void hit_begin(struct kprobe *p,
				      struct kprobe_ctlblk *kcb)
{
	__this_cpu_write(current_kprobe, p);
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
}

static nokprobe_inline void hit_end(void)
{
	reset_current_kprobe();
}

static nokprobe_inline bool hit_stepping(struct kprobe_ctlblk *kcb)
{
	return kprobe_running() && (kcb->kprobe_status == KPROBE_HIT_SS ||
				    kcb->kprobe_status == KPROBE_REENTER);
}

/* Remember the hit that is under way while another one is stepped. */
static void hit_push(struct kprobe *p, struct kprobe_ctlblk *kcb)
{
	struct prev_kprobe *prev = &kcb->prev[kcb->depth];

	if (kcb->depth == ARRAY_SIZE(kcb->prev)) {
		pr_err("hits nest too deep\n");
		dump_kprobe(p);
		BUG();
	}
	kcb->depth++;
	prev->kp = kprobe_running();
	prev->status = kcb->kprobe_status;
	prev->saved_flags = kcb->kprobe_saved_flags;
	__this_cpu_write(current_kprobe, p);
	kcb->kprobe_status = KPROBE_REENTER;
}
NOKPROBE_SYMBOL(hit_push);

static void hit_pop(struct kprobe_ctlblk *kcb)
{
	struct prev_kprobe *prev = &kcb->prev[--kcb->depth];

	__this_cpu_write(current_kprobe, prev->kp);
	kcb->kprobe_status = prev->status;
	kcb->kprobe_saved_flags = prev->saved_flags;
}
NOKPROBE_SYMBOL(hit_pop);

/*
 * Carrying the instruction out
 */

static void hit_done(struct kprobe *p, struct pt_regs *regs,
		     struct kprobe_ctlblk *kcb)
{
	kprobe_post_handler_t post = READ_ONCE(p->post_handler);

	if (post) {
		kcb->kprobe_status = KPROBE_HIT_SSDONE;
		post(p, regs, 0);
	}
	hit_end();
}
NOKPROBE_SYMBOL(hit_done);

/* Go on where no second trap is needed; 0 if there is no such place. */
static unsigned long copy_without_trap(struct kprobe *p)
{
	if (kprobe_optimized(p))
		return kprobe_detour_copy(p);
	if (p->ainsn.boostable && !READ_ONCE(p->post_handler))
		return (unsigned long)p->ainsn.insn;
	return 0;
}
NOKPROBE_SYMBOL(copy_without_trap);

static bool emulate(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.ops->emulate &&
	       p->ainsn.ops->emulate(&p->ainsn.operands, regs,
				     (unsigned long)p->addr);
}
NOKPROBE_SYMBOL(emulate);

static void step_begin(struct kprobe *p, struct pt_regs *regs,
		       struct kprobe_ctlblk *kcb)
{
	kcb->kprobe_saved_flags = regs->flags & X86_EFLAGS_IF;
	regs->flags &= ~X86_EFLAGS_IF;
	regs->ip = (unsigned long)kprobe_step_copy(p);
}
NOKPROBE_SYMBOL(step_begin);

static void carry_out(struct kprobe *p, struct pt_regs *regs,
		      struct kprobe_ctlblk *kcb)
{
	unsigned long copy = copy_without_trap(p);

	if (copy) {
		regs->ip = copy;
		hit_end();
	} else if (emulate(p, regs)) {
		hit_done(p, regs, kcb);
	} else {
		kcb->kprobe_status = KPROBE_HIT_SS;
		step_begin(p, regs, kcb);
	}
}
NOKPROBE_SYMBOL(carry_out);

static void carry_out_nested(struct kprobe *p, struct pt_regs *regs,
			     struct kprobe_ctlblk *kcb)
{
	unsigned long copy = copy_without_trap(p);

	kprobes_inc_nmissed_count(p);
	if (copy) {
		regs->ip = copy;
	} else if (!emulate(p, regs)) {
		hit_push(p, kcb);
		step_begin(p, regs, kcb);
	}
}
NOKPROBE_SYMBOL(carry_out_nested);

/* Back from a step: the registers go on as if it had been made in place. */
static void step_end(struct kprobe *p, struct pt_regs *regs,
		     struct kprobe_ctlblk *kcb)
{
	regs->flags |= kcb->kprobe_saved_flags;
	regs->ip = (unsigned long)p->addr + p->ainsn.operands.size;
	if (kcb->kprobe_status == KPROBE_REENTER)
		hit_pop(kcb);
	else
		hit_done(p, regs, kcb);
}
NOKPROBE_SYMBOL(step_end);

/*
 * Entry
 */

static void handle_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();

	if (kprobe_running()) {
		carry_out_nested(p, regs, kcb);
		return;
	}
	hit_begin(p, kcb);
	/* A handler that takes over has set regs->ip. */
	if (p->pre_handler(p, regs))
		hit_end();
	else
		carry_out(p, regs, kcb);
}
NOKPROBE_SYMBOL(handle_hit);

static bool handle_step(struct pt_regs *regs, unsigned long addr)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	struct kprobe *p = kprobe_running();

	if (!hit_stepping(kcb) ||
	    addr != (unsigned long)kprobe_step_copy(p) + p->ainsn.operands.size)
		return false;
	step_end(p, regs, kcb);
	return true;
}
NOKPROBE_SYMBOL(handle_step);

/*
 * The trap was taken, but meanwhile the breakpoint went away and its site with
 * it.  Where another CPU's trap is delivered late this does happen; the
 * instruction that is there now is the one to execute.
 */
static bool handle_stale(struct pt_regs *regs, unsigned long addr)
{
	u8 byte;

	if (get_kernel_nofault(byte, (u8 *)addr) || byte == INT3_INSN_OPCODE)
		return false;
	regs->ip = addr;
	return true;
}
NOKPROBE_SYMBOL(handle_stale);

/**
 * kprobe_int3_handler() - is this breakpoint trap ours?
 * @regs:	registers at the trap
 *
 * Context: trap, interrupts off.
 * Return: 1 if it was, and @regs is where to go on; 0 if not.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;
	struct kprobe *p;

	if (user_mode(regs))
		return 0;
	p = get_kprobe((void *)addr);
	/* A breakpoint at an address that ftrace hits is ftrace's. */
	if (p && !kprobe_ftrace(p)) {
		handle_hit(p, regs);
		return 1;
	}
	return handle_step(regs, addr) || handle_stale(regs, addr);
}
NOKPROBE_SYMBOL(kprobe_int3_handler);

/**
 * kprobe_fault_handler() - a fault while a hit is under way
 * @regs:	registers at the fault
 * @trapnr:	vector
 *
 * If the copy that is stepped has faulted, make it look as if the probed
 * instruction had: the exception tables, and whoever reads an oops, know that.
 * The hit is over; should the instruction be restarted there will be another.
 *
 * Context: fault, preemption off, kprobe_running() is not NULL.
 * Return: 0, as the fault is still to be handled.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	struct kprobe *p = kprobe_running();

	if (!hit_stepping(kcb) || regs->ip != (unsigned long)kprobe_step_copy(p))
		return 0;
	regs->ip = (unsigned long)p->addr;
	regs->flags |= kcb->kprobe_saved_flags;
	if (kcb->kprobe_status == KPROBE_REENTER)
		hit_pop(kcb);
	else
		hit_end();
	return 0;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);
