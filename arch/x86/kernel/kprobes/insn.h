/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kprobes knows about x86 instructions.
 *
 * Everything declared here is pure: bytes, registers and addresses in, bytes,
 * registers or a refusal out.  No probe, no lock, no allocator.  The three
 * source files also build in user space (see dev/host).
 *
 *   classify.c   bytes -> struct kprobe_insn: class and operands, or why not
 *   relocate.c   the same effect at another address; jump and call encoders
 *   emulate.c    one short function per class on struct pt_regs
 */
#ifndef _X86_KERNEL_KPROBES_INSN_H
#define _X86_KERNEL_KPROBES_INSN_H

#include <linux/types.h>
#include <asm/kprobe_operands.h>
#include <asm/kprobes.h>

struct pt_regs;

/*
 * How an instruction is carried out once its probe was hit.  Every probeable
 * instruction has exactly one class.
 */
enum kprobe_insn_class {
	KPROBE_INSN_STEP,	/* run a copy, trap behind it */
	KPROBE_INSN_BOOST,	/* run a copy that jumps back by itself */
	KPROBE_INSN_CLI,
	KPROBE_INSN_STI,
	KPROBE_INSN_PUSHF,
	KPROBE_INSN_POPF,
	KPROBE_INSN_RET,	/* near return, with or without imm16 */
	KPROBE_INSN_CALL,	/* near relative call */
	KPROBE_INSN_JMP,	/* near or short relative jump */
	KPROBE_INSN_JCC,	/* conditional jump on flags */
	KPROBE_INSN_LOOP,	/* loop, loope, loopne, jcxz by any width */
	KPROBE_INSN_CALL_IND,	/* near call through register or memory */
	KPROBE_INSN_JMP_IND,	/* near jump through register or memory */
	KPROBE_INSN_NR
};

/* Why an instruction cannot be probed.  One value per cause. */
enum kprobe_insn_refusal {
	KPROBE_INSN_OK,
	KPROBE_INSN_UNDECODABLE,	/* no valid instruction, or cut short */
	KPROBE_INSN_TRAP,		/* int3, int n, into, int1, ud0, ud1, ud2 */
	KPROBE_INSN_FORCED_EMULATION,	/* hypervisor's forced-emulation prefix */
	KPROBE_INSN_MASKING,		/* mov/pop to ss: holds off the next trap */
	KPROBE_INSN_FAR,		/* whatever loads cs: far call, jump and
					 * return, iret, syscall, sysret, rsm
					 */
	KPROBE_INSN_VIRT,		/* vmcall, vmlaunch and their kin */
	KPROBE_INSN_ADDR_SIZE,		/* branch, pushf or popf with an address
					 * or operand size not the kernel's own
					 */
	KPROBE_INSN_SEGMENT,		/* indirect branch through fs: or gs: */
	KPROBE_INSN_GS_BASE,		/* replaces the GS base under the feet of
					 * the next exception (64-bit only)
					 */
	KPROBE_INSN_WAIT,		/* hlt, mwait, and sti in front of them:
					 * a trap between would lose a wake-up
					 */
	KPROBE_INSN_TRANSACTION,	/* xbegin: the next trap aborts it */
	KPROBE_INSN_REFUSAL_NR
};

/**
 * struct kprobe_insn - one classified instruction
 * @class:	how it is carried out, valid if @refusal is KPROBE_INSN_OK;
 *		what kind of branch was refused for ADDR_SIZE and SEGMENT
 * @refusal:	KPROBE_INSN_OK or the one reason why it cannot be probed
 * @size:	length in bytes; 0 if it could not be decoded
 * @rip_disp:	offset of a rip-relative 32-bit displacement, or 0
 * @modrm:	offset of the ModRM byte, or 0 if there is none
 * @operands:	what emulation needs
 *
 * @size is set for every refusal but KPROBE_INSN_UNDECODABLE; @rip_disp and
 * @modrm only if there is no refusal.
 */
struct kprobe_insn {
	enum kprobe_insn_class class;
	enum kprobe_insn_refusal refusal;
	u8 size;
	u8 rip_disp;
	u8 modrm;
	struct kprobe_operands operands;
};

/**
 * struct kprobe_insn_ops - what may be done with an instruction of one class
 * @name:	name of the class, for messages
 * @emulate:	carry the instruction out on @regs.  On entry regs->ip is not
 *		looked at; on return it is where execution goes on.  Returns
 *		false, with @regs unchanged, if the CPU would fault, because a
 *		memory operand cannot be read or the target is not canonical:
 *		then the out-of-line copy must be run so that the fault is the
 *		instruction's own.  Never false for a relative branch.  NULL
 *		where the copy is always run.
 * @falls_through: false if control never reaches the following instruction
 *		without having left (ret, jmp)
 */
struct kprobe_insn_ops {
	const char *name;
	bool (*emulate)(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip);
	bool falls_through;
};

/* classify.c */
void kprobe_insn_classify(struct kprobe_insn *insn, const u8 *bytes, int avail);
const char *kprobe_insn_refusal_name(enum kprobe_insn_refusal refusal);
bool kprobe_insn_branches(const struct kprobe_insn *insn, unsigned long ip,
			  unsigned long *target);

/* relocate.c */
int kprobe_encode_jmp(u8 *dst, unsigned long at, unsigned long target);
int kprobe_encode_call(u8 *dst, unsigned long at, unsigned long target);
int kprobe_insn_relocate(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
			 unsigned long from, unsigned long to);

/* The longest code that kprobe_insn_displace() emits for one instruction. */
#define KPROBE_DISPLACED_MAX	(MAX_INSN_SIZE + 8)

int kprobe_insn_displace(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
			 unsigned long from, unsigned long to);

/* emulate.c */
extern const struct kprobe_insn_ops kprobe_insn_ops[KPROBE_INSN_NR];

#endif /* _X86_KERNEL_KPROBES_INSN_H */
