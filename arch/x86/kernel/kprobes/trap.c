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
 * to be remembered only if it is stepped; hit_push() and hit_pop() do that.  The
 * functions of that name, hit_..., are the only ones that write the state.
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

static nokprobe_inline void hit_begin(struct kprobe *p)
{
	__this_cpu_write(current_kprobe, p);
}

static nokprobe_inline void hit_end(void)
{
	reset_current_kprobe();
}

/* KPROBE_HIT_ACTIVE, or nothing, unless a step or a post_handler is under way. */
static nokprobe_inline void hit_status(unsigned long status)
{
	__this_cpu_write(kprobe_ctlblk.kprobe_status, status);
}

/* The end of a hit after which the status may be another. */
static nokprobe_inline void hit_end_late(void)
{
	hit_status(KPROBE_HIT_ACTIVE);
	hit_end();
}

/* The probe whose instruction is being stepped on this CPU, or NULL. */
static nokprobe_inline struct kprobe *hit_stepping(void)
{
	unsigned long status = __this_cpu_read(kprobe_ctlblk.kprobe_status);

	if (likely(!(status & (KPROBE_HIT_SS | KPROBE_REENTER))))
		return NULL;
	return kprobe_running();
}

/* Remember the hit that is under way while another one is stepped. */
static void hit_push(struct kprobe *p)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	struct prev_kprobe *prev = &kcb->prev[kcb->depth];

	if (kcb->depth == ARRAY_SIZE(kcb->prev)) {
		pr_err("hits nest too deep\n");
		dump_kprobe(p);
		BUG();
	}
	kcb->depth++;
	barrier();
	prev->kp = kprobe_running();
	prev->status = kcb->kprobe_status;
	prev->saved_flags = kcb->kprobe_saved_flags;
	__this_cpu_write(current_kprobe, p);
}
NOKPROBE_SYMBOL(hit_push);

/* An NMI's hit takes the place above the depth: it is given up last. */
static void hit_pop(void)
{
	struct kprobe_ctlblk *kcb = get_kprobe_ctlblk();
	struct prev_kprobe *prev = &kcb->prev[kcb->depth - 1];

	__this_cpu_write(current_kprobe, prev->kp);
	kcb->kprobe_status = prev->status;
	kcb->kprobe_saved_flags = prev->saved_flags;
	barrier();
	kcb->depth--;
}
NOKPROBE_SYMBOL(hit_pop);

/**
 * arch_kprobe_forget_hit() - the hits under way on this CPU will not go on
 *
 * Context: oops, preemption off.
 */
void arch_kprobe_forget_hit(void)
{
	__this_cpu_write(kprobe_ctlblk.depth, 0);
	hit_status(KPROBE_HIT_ACTIVE);
}
NOKPROBE_SYMBOL(arch_kprobe_forget_hit);

/*
 * Carrying the instruction out
 */

static nokprobe_inline void hit_done(struct kprobe *p, struct pt_regs *regs)
{
	kprobe_post_handler_t post = READ_ONCE(p->post_handler);

	if (post) {
		hit_status(KPROBE_HIT_SSDONE);
		post(p, regs, 0);
	}
	hit_end_late();
}

/* Go on where no second trap is needed; 0 if there is no such place. */
static nokprobe_inline unsigned long copy_without_trap(struct kprobe *p)
{
	if (kprobe_optimized(p))
		return kprobe_detour_copy(p);
	if (p->ainsn.boostable && !(p->flags & KPROBE_FLAG_POST_HANDLER))
		return (unsigned long)p->ainsn.insn;
	return 0;
}

static nokprobe_inline bool emulate(struct kprobe *p, struct pt_regs *regs)
{
	return p->ainsn.ops->emulate &&
	       p->ainsn.ops->emulate(&p->ainsn.operands, regs,
				     (unsigned long)p->addr);
}

static nokprobe_inline void step_begin(struct kprobe *p, struct pt_regs *regs,
				       unsigned long status)
{
	__this_cpu_write(kprobe_ctlblk.kprobe_saved_flags,
			 regs->flags & X86_EFLAGS_IF);
	hit_status(status);
	regs->flags &= ~X86_EFLAGS_IF;
	regs->ip = kprobe_step_copy(p);
}

static nokprobe_inline void carry_out(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long copy = copy_without_trap(p);

	if (copy) {
		regs->ip = copy;
		hit_end();
	} else if (emulate(p, regs)) {
		hit_done(p, regs);
	} else {
		step_begin(p, regs, KPROBE_HIT_SS);
	}
}

static void carry_out_nested(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long copy = copy_without_trap(p);

	kprobes_inc_nmissed_count(p);
	if (copy) {
		regs->ip = copy;
	} else if (!emulate(p, regs)) {
		hit_push(p);
		step_begin(p, regs, KPROBE_REENTER);
	}
}
NOKPROBE_SYMBOL(carry_out_nested);

static nokprobe_inline void restore_flags(struct pt_regs *regs)
{
	regs->flags |= __this_cpu_read(kprobe_ctlblk.kprobe_saved_flags);
}

static nokprobe_inline bool step_is_nested(void)
{
	return __this_cpu_read(kprobe_ctlblk.kprobe_status) == KPROBE_REENTER;
}

/* Back from a step: the registers go on as if it had been made in place. */
static nokprobe_inline void step_end(struct kprobe *p, struct pt_regs *regs)
{
	restore_flags(regs);
	regs->ip = (unsigned long)p->addr + p->ainsn.operands.size;
	if (step_is_nested())
		hit_pop();
	else
		hit_done(p, regs);
}

/*
 * Entry
 */

static nokprobe_inline void handle_hit(struct kprobe *p, struct pt_regs *regs)
{
	if (unlikely(kprobe_running())) {
		carry_out_nested(p, regs);
		return;
	}
	hit_begin(p);
	/* A handler that takes over has set regs->ip. */
	if (kprobe_site_pre_handler(p, regs))
		hit_end();
	else
		carry_out(p, regs);
}

/*
 * The trap was taken, but meanwhile the breakpoint went away and its site with
 * it.  Where another CPU's trap is delivered late this does happen; the
 * instruction that is there now is the one to execute.
 *
 * It is resumed as behind a fault: a debugger's breakpoint on it has been seen.
 * An emulator that has kept its translation of the int3 has another one for the
 * resume flag; with the kept one this would come back for ever.
 */
static bool handle_stale(struct pt_regs *regs, unsigned long addr)
{
	u8 byte;

	if (get_kernel_nofault(byte, (u8 *)addr))
		return false;
	/* Another patcher may have come since it was asked; it waits for this CPU. */
	if (byte == INT3_INSN_OPCODE)
		return poke_int3_handler(regs);
	this_cpu_inc(kprobe_stale_hits);
	regs->ip = addr;
	regs->flags |= X86_EFLAGS_RF;
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
	p = hit_stepping();
	if (p && addr == kprobe_step_copy(p) + p->ainsn.operands.size) {
		step_end(p, regs);
		return 1;
	}
	p = get_kprobe((void *)addr);
	/* A breakpoint at an address that ftrace hits is ftrace's. */
	if (p && !kprobe_ftrace(p)) {
		handle_hit(p, regs);
		return 1;
	}
	return handle_stale(regs, addr);
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
	struct kprobe *p = hit_stepping();

	if (!p || regs->ip != kprobe_step_copy(p))
		return 0;
	regs->ip = (unsigned long)p->addr;
	restore_flags(regs);
	if (step_is_nested())
		hit_pop();
	else
		hit_end_late();
	return 0;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);

/**
 * kprobe_exceptions_notify() - a trap that has no direct call is about to be handled
 * @self:	the notifier block
 * @val:	enum die_val
 * @data:	struct die_args
 *
 * Page faults and general protection faults call kprobe_fault_handler() before
 * they look for a fixup; invalid opcodes and others have a die notification there.
 *
 * Context: trap.
 * Return: NOTIFY_DONE.
 */
int kprobe_exceptions_notify(struct notifier_block *self, unsigned long val,
			     void *data)
{
	struct die_args *args = data;

	if (val == DIE_TRAP && args->regs && !user_mode(args->regs) &&
	    !preemptible() && kprobe_running())
		kprobe_fault_handler(args->regs, args->trapnr);
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(kprobe_exceptions_notify);
