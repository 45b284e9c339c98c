/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What emulate_kunit.c and emulate_stubs.S share: the layout of the machine
 * state that a stub starts with and leaves behind.
 */
#ifndef _X86_KERNEL_KPROBES_TESTS_EMULATE_STUBS_H
#define _X86_KERNEL_KPROBES_TESTS_EMULATE_STUBS_H

#ifdef CONFIG_X86_64
#define EMU_NR_REGS		16
#define EMU_WORD		8
#else
#define EMU_NR_REGS		8
#define EMU_WORD		4
#endif

#define EMU_STACK_BYTES		256
#define EMU_DATA_BYTES		64

/* Offsets in struct emu_machine. */
#define EMU_IN_REGS		0
#define EMU_OUT_REGS		(EMU_IN_REGS + EMU_NR_REGS * EMU_WORD)
#define EMU_IN_FLAGS		(EMU_OUT_REGS + EMU_NR_REGS * EMU_WORD)
#define EMU_OUT_FLAGS		(EMU_IN_FLAGS + EMU_WORD)
#define EMU_HOST_FLAGS		(EMU_OUT_FLAGS + EMU_WORD)
#define EMU_HOST_SP		(EMU_HOST_FLAGS + EMU_WORD)
#define EMU_ENTRY		(EMU_HOST_SP + EMU_WORD)
#define EMU_LANDING		(EMU_ENTRY + EMU_WORD)
#define EMU_SLOTS		(EMU_LANDING + EMU_WORD)
#define EMU_DATA		(EMU_SLOTS + 4 * EMU_WORD)
#define EMU_IN_STACK		(EMU_DATA + EMU_DATA_BYTES)
#define EMU_OUT_STACK		(EMU_IN_STACK + EMU_STACK_BYTES)

/* Where a stub can be left. */
#define EMU_FALL_THROUGH	0
#define EMU_AHEAD		1
#define EMU_BEHIND		2
#define EMU_FAR			3
#define EMU_INDIRECT		4
#define EMU_RETURN		5

/* What a stub needs besides the usual patterns. */
#define EMU_PLAIN		0
#define EMU_STRING		1	/* si and di point to data */
#define EMU_POPS_FLAGS		2	/* flags on top of the stack */
#define EMU_NEEDS_LAHF		3	/* on 64-bit CPUs not always there */

#ifndef __ASSEMBLY__

#include <linux/types.h>

/**
 * struct emu_machine - what a stub starts with and what it leaves
 * @in_regs:	registers in the order of their numbers; the stack pointer's is
 *		set by emu_enter()
 * @out_regs:	what became of them
 * @in_flags:	flags at the start
 * @out_flags:	flags at the end
 * @host_flags:	the caller's flags
 * @host_sp:	the caller's stack pointer
 * @entry:	the stub
 * @landing:	where it was left
 * @slots:	operands of indirect branches in memory
 * @data:	operands of other instructions
 * @in_stack:	a stretch of stack; the stack pointer is in its middle
 * @out_stack:	what became of it
 */
struct emu_machine {
	unsigned long in_regs[EMU_NR_REGS];
	unsigned long out_regs[EMU_NR_REGS];
	unsigned long in_flags;
	unsigned long out_flags;
	unsigned long host_flags;
	unsigned long host_sp;
	unsigned long entry;
	unsigned long landing;
	unsigned long slots[4];
	u8 data[EMU_DATA_BYTES];
	u8 in_stack[EMU_STACK_BYTES];
	u8 out_stack[EMU_STACK_BYTES];
};

/**
 * struct emu_stub - one instruction
 * @name:	for people
 * @entry:	where to start
 * @insn:	the instruction itself
 * @kind:	EMU_PLAIN, EMU_STRING, EMU_POPS_FLAGS, EMU_NEEDS_LAHF
 */
struct emu_stub {
	const char *name;
	unsigned long entry;
	unsigned long insn;
	unsigned long kind;
};

extern struct emu_machine emu_machine;
extern const struct emu_stub emu_stubs[], emu_stubs_end[];

void emu_enter(void);
void emu_left_indirect(void);
void emu_left_return(void);

#endif /* !__ASSEMBLY__ */
#endif /* _X86_KERNEL_KPROBES_TESTS_EMULATE_STUBS_H */
