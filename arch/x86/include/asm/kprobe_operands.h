/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 data of kprobes: what is kept of an instruction in order to emulate it.
 */
#ifndef _ASM_X86_KPROBE_OPERANDS_H
#define _ASM_X86_KPROBE_OPERANDS_H

#include <linux/types.h>

/* No register: the operand has no base, or no index. */
#define KPROBE_NO_REG		0xff
/* The base is the address of the next instruction. */
#define KPROBE_REG_IP		0xfe

/**
 * struct kprobe_operands - what emulating one instruction needs
 * @disp:	branch displacement from the end of the instruction, or the
 *		displacement of a memory operand
 * @pop:	bytes that a near return drops from the stack besides the address
 * @size:	length of the instruction in bytes
 * @cond:	condition code 0..15 (JCC); low opcode bits 0..3 (LOOP: loopne,
 *		loope, loop, jcxz)
 * @base:	register number 0..15 in encoding order of a register operand or
 *		of a memory operand's base; KPROBE_NO_REG, KPROBE_REG_IP
 * @index:	register number of a memory operand's index, or KPROBE_NO_REG
 * @scale:	shift of the index, 0..3
 * @memory:	the operand is in memory, not in a register
 * @addr_bytes:	width of the address, and of the counter of LOOP: 2, 4 or 8
 */
struct kprobe_operands {
	s32 disp;
	u16 pop;
	u8 size;
	u8 cond;
	u8 base;
	u8 index;
	u8 scale : 2;
	u8 memory : 1;
	u8 addr_bytes;
};

#endif /* _ASM_X86_KPROBE_OPERANDS_H */
