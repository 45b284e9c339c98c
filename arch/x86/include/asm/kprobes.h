/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 data of kprobes: what the generic core keeps for us in each probe, in
 * each detour and on each CPU.  The code is in arch/x86/kernel/kprobes/.
 */
#ifndef _ASM_X86_KPROBES_H
#define _ASM_X86_KPROBES_H

#include <asm-generic/kprobes.h>

#ifdef CONFIG_KPROBES

#include <linux/types.h>
#include <linux/ptrace.h>
#include <linux/percpu.h>
#include <asm/kprobe_operands.h>
#include <asm/text-patching.h>
#include <asm/insn.h>

#define __ARCH_WANT_KPROBES_INSN_SLOT

struct kprobe;
struct pt_regs;
struct kprobe_insn_ops;

typedef u8 kprobe_opcode_t;

/**
 * struct arch_specific_insn - how a hit carries out the probed instruction
 * @insn:	its copy in an executable slot, or NULL for a ftrace-based probe
 * @ops:	its class
 * @operands:	for emulation
 * @boostable:	the copy ends in a jump back to the next instruction
 * @tp_len:	bytes written into the slot
 */
struct arch_specific_insn {
	kprobe_opcode_t *insn;
	const struct kprobe_insn_ops *ops;
	struct kprobe_operands operands;
	u8 boostable;
	u8 tp_len;
};

/* A body of detours (detour.S) calls the handlers of that many users at most. */
#define KPROBE_BODY_USERS	2

/**
 * struct arch_optimized_insn - the detour of a jump-optimized probe
 * @copied_insn: the original bytes 1..4 that the jump's displacement overwrites
 * @reason:	why there is no detour (enum kprobe_opt_reason), or 0
 * @size:	bytes of text that the jump takes the place of; 0 without detour
 * @single:	the jump takes the place of one instruction
 * @live:	the jump was in the text, so that the detour may be executing
 * @len:	bytes written into the slot
 * @calls:	number of the body that the detour calls
 * @body:	element n is the body for n + 1 users, once one was chosen, or 0
 * @insn:	the detour in an executable slot, or NULL
 * @first:	element n is the first user while there are exactly n + 1, all of
 *		them to be called; else one whose pre_handler is no body's
 */
struct arch_optimized_insn {
	kprobe_opcode_t copied_insn[DISP32_SIZE];
	u8 reason;
	u8 size;
	u8 single : 1;
	u8 live : 1;
	u8 len;
	u8 calls;
	u8 body[KPROBE_BODY_USERS];
	kprobe_opcode_t *insn;
	struct kprobe __rcu *first[KPROBE_BODY_USERS];
};

static inline int arch_prepared_optinsn(struct arch_optimized_insn *optinsn)
{
	return optinsn->size;
}

/* A hit that another one interrupted, to be resumed when that is done. */
struct prev_kprobe {
	struct kprobe *kp;
	unsigned long status;
	unsigned long saved_flags;
};

/*
 * Per CPU, touched only by its own CPU with preemption off (trap.c).  A probe in
 * a handler nests once; an NMI may nest in that, and an NMI's handler again.
 */
struct kprobe_ctlblk {
	unsigned long kprobe_status;
	unsigned long kprobe_saved_flags;
	unsigned int depth;
	struct prev_kprobe prev[4];
};

extern const int kretprobe_blacklist_size;

/* The longest region: four bytes of it, then the longest instruction. */
#define MAX_OPTIMIZED_LENGTH	(DISP32_SIZE + MAX_INSN_SIZE)

/* Room for the longest detour. */
#define MAX_OPTINSN_SIZE	248

void arch_remove_kprobe(struct kprobe *p);
int kprobe_fault_handler(struct pt_regs *regs, int trapnr);
int kprobe_int3_handler(struct pt_regs *regs);

#else /* !CONFIG_KPROBES */

static inline int kprobe_debug_handler(struct pt_regs *regs)
{
	return 0;
}

#endif /* CONFIG_KPROBES */
#endif /* _ASM_X86_KPROBES_H */
