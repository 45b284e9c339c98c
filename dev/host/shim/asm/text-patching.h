/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _HOST_ASM_TEXT_PATCHING_H
#define _HOST_ASM_TEXT_PATCHING_H

#include <linux/ptrace.h>

#define INT3_INSN_OPCODE	0xcc
#define CALL_INSN_OPCODE	0xe8
#define JMP32_INSN_OPCODE	0xe9
#define JMP32_INSN_SIZE		5
#define JMP8_INSN_OPCODE	0xeb
#define JMP8_INSN_SIZE		2
#define DISP32_SIZE		4

static inline void int3_emulate_push(struct pt_regs *regs, unsigned long val)
{
	regs->sp -= sizeof(val);
	*(unsigned long *)regs->sp = val;
}

static inline unsigned long int3_emulate_pop(struct pt_regs *regs)
{
	unsigned long val = *(unsigned long *)regs->sp;

	regs->sp += sizeof(val);
	return val;
}

#endif
