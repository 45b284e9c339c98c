/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of x86 kprobes share, and the register frame that rethook's
 * trampoline builds.
 */
#ifndef __X86_KERNEL_KPROBES_COMMON_H
#define __X86_KERNEL_KPROBES_COMMON_H

#include <linux/kprobes.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/insn.h>

#include "insn.h"

/*
 * Save and restore the part of struct pt_regs below flags, for code that has
 * pushed ss, sp and flags.  What lies between flags and the general registers
 * is skipped.
 */
#ifdef CONFIG_X86_64
#define SAVE_REGS_STRING						\
	"	subq $24, %rsp\n"					\
	"	.irp r, di, si, dx, cx, ax, 8, 9, 10, 11, bx, bp, 12, 13, 14, 15\n" \
	"	pushq %r\\r\n"						\
	"	.endr\n"						\
	ENCODE_FRAME_POINTER
#define RESTORE_REGS_STRING						\
	"	.irp r, 15, 14, 13, 12, bp, bx, 11, 10, 9, 8, ax, cx, dx, si, di\n" \
	"	popq %r\\r\n"						\
	"	.endr\n"						\
	"	addq $24, %rsp\n"
#else
#define SAVE_REGS_STRING						\
	"	subl $16, %esp\n"					\
	"	.irp r, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx\n" \
	"	pushl %\\r\n"						\
	"	.endr\n"						\
	ENCODE_FRAME_POINTER
#define RESTORE_REGS_STRING						\
	"	.irp r, ebx, ecx, edx, esi, edi, ebp, eax\n"		\
	"	popl %\\r\n"						\
	"	.endr\n"						\
	"	addl $28, %esp\n"
#endif

/* core.c */
int kprobe_read_text(u8 *dst, unsigned long addr, size_t len);
int kprobe_read_insn(struct kprobe_insn *insn, u8 *bytes, unsigned long addr);
bool kprobe_alternatives_reserved(const u8 *bytes, unsigned long addr);

/* The copy of an instruction with a trap behind it; nonsense without a slot. */
static nokprobe_inline unsigned long kprobe_step_copy(const struct kprobe *p)
{
	unsigned long slot = (unsigned long)p->ainsn.insn;

	if (!p->ainsn.boostable)
		return slot;
	return slot + p->ainsn.operands.size + JMP32_INSN_SIZE;
}

/* opt.c */
#ifdef CONFIG_OPTPROBES
unsigned long kprobe_detour_copy(struct kprobe *p);
#else
static inline unsigned long kprobe_detour_copy(struct kprobe *p)
{
	return 0;
}
#endif

#endif /* __X86_KERNEL_KPROBES_COMMON_H */
