/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of bytes and of what must come out of them, for the KUnit suites and for
 * dev/host.  Data, and the comparison of one row, nothing else.
 *
 * The text of a row is what the bytes mean to an assembler, with "." for the
 * address of the instruction.
 */
#ifndef _X86_KERNEL_KPROBES_TESTS_INSN_ROWS_H
#define _X86_KERNEL_KPROBES_TESTS_INSN_ROWS_H

#include "../insn.h"

/**
 * struct classify_row - an instruction and how it must be classified
 * @text:	for people
 * @bytes:	the instruction; zero bytes behind it take part
 * @avail:	bytes to offer, if not all of @bytes
 * @size:	length expected
 * @rip_disp:	offset expected of a rip-relative displacement
 * @class:	class expected, if nothing is to be refused
 * @refusal:	refusal expected
 * @op:		operands expected, as far as the class has them
 */
struct classify_row {
	const char *text;
	u8 bytes[MAX_INSN_SIZE + 1];
	u8 avail;
	u8 size;
	u8 rip_disp;
	enum kprobe_insn_class class;
	enum kprobe_insn_refusal refusal;
	struct kprobe_operands op;
};

static const struct classify_row classify_rows[] = {
	/* Ordinary instructions, one or more of each map and prefix. */
	{ "nop", { 0x90 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "pause", { 0xf3, 0x90 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "nopw 0x0(%ax,%ax,1)", { 0x66, 0x0f, 0x1f, 0x44 },
	  .size = 6, .class = KPROBE_INSN_BOOST },
	{ "add %al,(%ax)", { 0x00, 0x00 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "push %bp", { 0x55 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "mov %esp,%ebp", { 0x89, 0xe5 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "mov $0x1,%eax", { 0xb8, 0x01 }, .size = 5, .class = KPROBE_INSN_BOOST },
	{ "lock incl (%ax)", { 0xf0, 0xff, 0x00 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "push (%ax)", { 0xff, 0x30 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "pop (%ax)", { 0x8f, 0x00 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "incb (%ax)", { 0xfe, 0x00 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "rep stos %eax,(%di)", { 0xf3, 0xab }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "enter $0x10,$0x0", { 0xc8, 0x10 }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "leave", { 0xc9 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "movl $0x0,(%ax)", { 0xc7, 0x00 }, .size = 6, .class = KPROBE_INSN_BOOST },
	{ "xabort $0x1", { 0xc6, 0xf8, 0x01 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "fldz", { 0xd9, 0xee }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "in (%dx),%al", { 0xec }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "out %al,(%dx)", { 0xee }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "std", { 0xfd }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "mov %es,%eax", { 0x8c, 0xc0 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "mov %eax,%es", { 0x8e, 0xc0 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "mov %eax,%fs", { 0x8e, 0xe0 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "setne %al", { 0x0f, 0x95, 0xc0 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "cmove %eax,%ecx", { 0x0f, 0x44, 0xc8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "bswap %eax", { 0x0f, 0xc8 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "bts $0x1,%eax", { 0x0f, 0xba, 0xe8, 0x01 }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "cpuid", { 0x0f, 0xa2 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "rdtsc", { 0x0f, 0x31 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "rdmsr", { 0x0f, 0x32 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "wrmsr", { 0x0f, 0x30 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "rdpmc", { 0x0f, 0x33 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "wbinvd", { 0x0f, 0x09 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "emms", { 0x0f, 0x77 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "push %fs", { 0x0f, 0xa0 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "mov %cr3,%ax", { 0x0f, 0x20, 0xd8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "mov %ax,%cr3", { 0x0f, 0x22, 0xd8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "lgdt (%ax)", { 0x0f, 0x01, 0x10 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "ltr %ax", { 0x0f, 0x00, 0xd8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "verw (%ax)", { 0x0f, 0x00, 0x28 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "invlpg (%ax)", { 0x0f, 0x01, 0x38 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "rdtscp", { 0x0f, 0x01, 0xf9 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "stac", { 0x0f, 0x01, 0xcb }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "clac", { 0x0f, 0x01, 0xca }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "monitor", { 0x0f, 0x01, 0xc8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "encls", { 0x0f, 0x01, 0xcf }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "xend", { 0x0f, 0x01, 0xd5 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "lfence", { 0x0f, 0xae, 0xe8 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "clflush (%ax)", { 0x0f, 0xae, 0x38 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "cmpxchg8b (%ax)", { 0x0f, 0xc7, 0x08 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "rdrand %eax", { 0x0f, 0xc7, 0xf0 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "vmread %ax,%ax", { 0x0f, 0x78, 0xc0 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "lss (%ax),%eax", { 0x0f, 0xb2, 0x00 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "femms", { 0x0f, 0x0e }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "pi2fd (%ax),%mm0", { 0x0f, 0x0f, 0x00, 0x0d }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "pshufb (%ax),%mm0", { 0x0f, 0x38, 0x00, 0x00 }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "crc32b %al,%eax", { 0xf2, 0x0f, 0x38, 0xf0, 0xc0 },
	  .size = 5, .class = KPROBE_INSN_BOOST },
	{ "palignr $0x1,(%ax),%mm0", { 0x0f, 0x3a, 0x0f, 0x00, 0x01 },
	  .size = 5, .class = KPROBE_INSN_BOOST },
	{ "vzeroupper", { 0xc5, 0xf8, 0x77 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "vpxor %xmm0,%xmm0,%xmm0", { 0xc5, 0xf9, 0xef, 0xc0 },
	  .size = 4, .class = KPROBE_INSN_BOOST },
	{ "vpxord %zmm0,%zmm0,%zmm0", { 0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0 },
	  .size = 6, .class = KPROBE_INSN_BOOST },
	{ "vaddps (VEX opcode 58 is not pop)", { 0xc5, 0xf8, 0x58, 0xc0 },
	  .size = 4, .class = KPROBE_INSN_BOOST },
	{ "kmovw %k0,(%ax) (VEX opcode 91 is not xchg)", { 0xc5, 0xf8, 0x91, 0x00 },
	  .size = 4, .class = KPROBE_INSN_BOOST },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "endbr32", { 0xf3, 0x0f, 0x1e, 0xfb }, .size = 4, .class = KPROBE_INSN_BOOST },

	/* Measured, but with no meaning that anyone knows of. */
	{ "group 5 /7", { 0xff, 0xf8 }, .size = 2, .class = KPROBE_INSN_STEP },
	{ "group 4 /2", { 0xfe, 0xd0 }, .size = 2, .class = KPROBE_INSN_STEP },
	{ "group 11 /1", { 0xc7, 0xc8 }, .size = 6, .class = KPROBE_INSN_STEP },
	{ "group 11 byte /1", { 0xc6, 0xc8 }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 8 /0", { 0x0f, 0xba, 0xc0 }, .size = 4, .class = KPROBE_INSN_STEP },
	{ "group 6 /7", { 0x0f, 0x00, 0xf8 }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 7 d2", { 0x0f, 0x01, 0xd2 }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 7 cc", { 0x0f, 0x01, 0xcc }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 7 ec", { 0x0f, 0x01, 0xec }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 7 /5 in memory", { 0x0f, 0x01, 0x28 }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 9 /0", { 0x0f, 0xc7, 0x00 }, .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 9 /1 in a register", { 0x0f, 0xc7, 0xc8 },
	  .size = 3, .class = KPROBE_INSN_STEP },
	{ "group 15 /0 in a register", { 0x0f, 0xae, 0xc0 },
	  .size = 3, .class = KPROBE_INSN_STEP },
	{ "mov %eax,%cs", { 0x8e, 0xc8 }, .size = 2, .class = KPROBE_INSN_STEP },

	/* Flags. */
	{ "cli", { 0xfa }, .size = 1, .class = KPROBE_INSN_CLI },
	{ "sti", { 0xfb }, .size = 1, .class = KPROBE_INSN_STI },
	{ "sti, the rest out of sight", { 0xfb, 0xf4 }, .avail = 1,
	  .size = 1, .class = KPROBE_INSN_STI },
	{ "sti; clac", { 0xfb, 0x0f, 0x01, 0xca }, .size = 1, .class = KPROBE_INSN_STI },
	{ "sti; cut short", { 0xfb, 0x0f, 0x01, 0xc9 }, .avail = 3,
	  .size = 1, .class = KPROBE_INSN_STI },
	{ "pushf", { 0x9c }, .size = 1, .class = KPROBE_INSN_PUSHF },
	{ "popf", { 0x9d }, .size = 1, .class = KPROBE_INSN_POPF },

	/* Returns. */
	{ "ret", { 0xc3 }, .size = 1, .class = KPROBE_INSN_RET },
	{ "ret $0x8", { 0xc2, 0x08, 0x00 }, .size = 3, .class = KPROBE_INSN_RET, .op.pop = 8 },
	{ "ret $0xfff8", { 0xc2, 0xf8, 0xff },
	  .size = 3, .class = KPROBE_INSN_RET, .op.pop = 0xfff8 },
	{ "repz ret", { 0xf3, 0xc3 }, .size = 2, .class = KPROBE_INSN_RET },
	{ "bnd ret", { 0xf2, 0xc3 }, .size = 2, .class = KPROBE_INSN_RET },

	/* Direct branches. */
	{ "call .+0x1234567d", { 0xe8, 0x78, 0x56, 0x34, 0x12 },
	  .size = 5, .class = KPROBE_INSN_CALL, .op.disp = 0x12345678 },
	{ "call .", { 0xe8, 0xfb, 0xff, 0xff, 0xff },
	  .size = 5, .class = KPROBE_INSN_CALL, .op.disp = -5 },
	{ "cs call .+6", { 0x2e, 0xe8 }, .size = 6, .class = KPROBE_INSN_CALL },
	{ "addr32 call .+6", { 0x67, 0xe8 }, .size = 6, .class = KPROBE_INSN_CALL },
	{ "jmp .+0x12", { 0xeb, 0x10 }, .size = 2, .class = KPROBE_INSN_JMP, .op.disp = 0x10 },
	{ "jmp .", { 0xeb, 0xfe }, .size = 2, .class = KPROBE_INSN_JMP, .op.disp = -2 },
	{ "jmp .-0x7ffffffb", { 0xe9, 0x00, 0x00, 0x00, 0x80 },
	  .size = 5, .class = KPROBE_INSN_JMP, .op.disp = S32_MIN },
	{ "bnd jmp .+6", { 0xf2, 0xe9 }, .size = 6, .class = KPROBE_INSN_JMP },
	{ "jo .+0x81", { 0x70, 0x7f },
	  .size = 2, .class = KPROBE_INSN_JCC, .op = { .disp = 0x7f, .cond = 0 } },
	{ "jg .-0x7e", { 0x7f, 0x80 },
	  .size = 2, .class = KPROBE_INSN_JCC, .op = { .disp = -0x80, .cond = 15 } },
	{ "jne,pt .+3", { 0x3e, 0x75 }, .size = 3, .class = KPROBE_INSN_JCC, .op.cond = 5 },
	{ "jb .+0x7", { 0x0f, 0x82, 0x01 },
	  .size = 6, .class = KPROBE_INSN_JCC, .op = { .disp = 1, .cond = 2 } },
	{ "jle .+0x6", { 0x0f, 0x8e }, .size = 6, .class = KPROBE_INSN_JCC, .op.cond = 14 },
	{ "loopne .", { 0xe0, 0xfe }, .size = 2, .class = KPROBE_INSN_LOOP,
	  .op = { .disp = -2, .cond = 0, .addr_bytes = sizeof(long) } },
	{ "loope .", { 0xe1, 0xfe }, .size = 2, .class = KPROBE_INSN_LOOP,
	  .op = { .disp = -2, .cond = 1, .addr_bytes = sizeof(long) } },
	{ "loop .", { 0xe2, 0xfe }, .size = 2, .class = KPROBE_INSN_LOOP,
	  .op = { .disp = -2, .cond = 2, .addr_bytes = sizeof(long) } },
	{ "jcxz .", { 0xe3, 0xfe }, .size = 2, .class = KPROBE_INSN_LOOP,
	  .op = { .disp = -2, .cond = 3, .addr_bytes = sizeof(long) } },
	{ "loop . with half the counter", { 0x67, 0xe2, 0xfd }, .size = 3,
	  .class = KPROBE_INSN_LOOP,
	  .op = { .disp = -3, .cond = 2, .addr_bytes = sizeof(long) / 2 } },

	/* Indirect branches. */
	{ "call *%eax", { 0xff, 0xd0 }, .size = 2, .class = KPROBE_INSN_CALL_IND,
	  .op = { .base = 0, .index = KPROBE_NO_REG } },
	{ "call *%sp", { 0xff, 0xd4 }, .size = 2, .class = KPROBE_INSN_CALL_IND,
	  .op = { .base = 4, .index = KPROBE_NO_REG } },
	{ "jmp *%dx", { 0xff, 0xe2 }, .size = 2, .class = KPROBE_INSN_JMP_IND,
	  .op = { .base = 2, .index = KPROBE_NO_REG } },
	{ "notrack jmp *%ax", { 0x3e, 0xff, 0xe0 }, .size = 3, .class = KPROBE_INSN_JMP_IND,
	  .op = { .base = 0, .index = KPROBE_NO_REG } },
	{ "bnd call *%ax", { 0xf2, 0xff, 0xd0 }, .size = 3, .class = KPROBE_INSN_CALL_IND,
	  .op = { .base = 0, .index = KPROBE_NO_REG } },
	{ "addr32 jmp *%ax", { 0x67, 0xff, 0xe0 }, .size = 3, .class = KPROBE_INSN_JMP_IND,
	  .op = { .base = 0, .index = KPROBE_NO_REG } },
	{ "gs jmp *%ax", { 0x65, 0xff, 0xe0 }, .size = 3, .class = KPROBE_INSN_JMP_IND,
	  .op = { .base = 0, .index = KPROBE_NO_REG } },
	{ "call *(%bx)", { 0xff, 0x13 }, .size = 2, .class = KPROBE_INSN_CALL_IND,
	  .op = { .memory = 1, .base = 3, .index = KPROBE_NO_REG } },
	{ "call *-0x8(%bp)", { 0xff, 0x55, 0xf8 }, .size = 3, .class = KPROBE_INSN_CALL_IND,
	  .op = { .memory = 1, .base = 5, .index = KPROBE_NO_REG, .disp = -8 } },
	{ "call *0x12345678(%cx)", { 0xff, 0x91, 0x78, 0x56, 0x34, 0x12 },
	  .size = 6, .class = KPROBE_INSN_CALL_IND,
	  .op = { .memory = 1, .base = 1, .index = KPROBE_NO_REG, .disp = 0x12345678 } },
	{ "jmp *0x10(%sp)", { 0xff, 0x64, 0x24, 0x10 }, .size = 4, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = 4, .index = KPROBE_NO_REG, .disp = 0x10 } },
	{ "jmp *(%ax,%cx,8)", { 0xff, 0x24, 0xc8 }, .size = 3, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = 0, .index = 1, .scale = 3 } },
	{ "jmp *-0x80(,%bx,4)", { 0xff, 0x24, 0x9d, 0x80, 0xff, 0xff, 0xff },
	  .size = 7, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = KPROBE_NO_REG, .index = 3, .scale = 2, .disp = -0x80 } },
	{ "jmp *0x10 by SIB", { 0xff, 0x24, 0x25, 0x10 },
	  .size = 7, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = KPROBE_NO_REG, .index = KPROBE_NO_REG, .disp = 0x10 } },

	/* Refusals, each cause. */
	{ "nothing", { 0x90 }, .avail = 0xff, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "mov $imm32 cut short", { 0xb8, 0x01 }, .avail = 4,
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "16 prefixes", { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			   0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66 },
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "five kinds of prefix", { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x90 },
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "d6", { 0xd6 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "0f 04", { 0x0f, 0x04 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "0f 19 (the decoder misses its ModRM)", { 0x0f, 0x19 },
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "0f b8 without rep", { 0x0f, 0xb8 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "0f 38 20 without 66", { 0x0f, 0x38, 0x20 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "mov %cr with mod 0", { 0x0f, 0x20, 0x05 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "XOP prefix", { 0x8f, 0xe8, 0x78, 0xc0 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "lock ret", { 0xf0, 0xc3 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "lock cli", { 0xf0, 0xfa }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "VEX of what has none", { 0xc5, 0xf8, 0x01, 0xc0 },
	  .refusal = KPROBE_INSN_UNDECODABLE },

	{ "int3", { 0xcc }, .size = 1, .refusal = KPROBE_INSN_TRAP },
	{ "int $0x80", { 0xcd, 0x80 }, .size = 2, .refusal = KPROBE_INSN_TRAP },
	{ "int1", { 0xf1 }, .size = 1, .refusal = KPROBE_INSN_TRAP },
	{ "ud2", { 0x0f, 0x0b }, .size = 2, .refusal = KPROBE_INSN_TRAP },
	{ "ud1 (%ax),%eax", { 0x0f, 0xb9, 0x00 }, .size = 3, .refusal = KPROBE_INSN_TRAP },
	{ "ud0", { 0x0f, 0xff }, .size = 2, .refusal = KPROBE_INSN_TRAP },

	{ "Xen's prefix, cpuid", { 0x0f, 0x0b, 0x78, 0x65, 0x6e, 0x0f, 0xa2 },
	  .size = 7, .refusal = KPROBE_INSN_FORCED_EMULATION },
	{ "KVM's prefix, nop", { 0x0f, 0x0b, 0x6b, 0x76, 0x6d, 0x90 },
	  .size = 6, .refusal = KPROBE_INSN_FORCED_EMULATION },

	{ "mov %eax,%ss", { 0x8e, 0xd0 }, .size = 2, .refusal = KPROBE_INSN_MASKING },
	{ "mov (%ax),%ss", { 0x8e, 0x10 }, .size = 2, .refusal = KPROBE_INSN_MASKING },

	{ "lret", { 0xcb }, .size = 1, .refusal = KPROBE_INSN_FAR },
	{ "lret $0x8", { 0xca, 0x08 }, .size = 3, .refusal = KPROBE_INSN_FAR },
	{ "iret", { 0xcf }, .size = 1, .refusal = KPROBE_INSN_FAR },
	{ "lcall *(%ax)", { 0xff, 0x18 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "ljmp *(%ax)", { 0xff, 0x28 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "syscall", { 0x0f, 0x05 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "sysret", { 0x0f, 0x07 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "sysenter", { 0x0f, 0x34 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "sysexit", { 0x0f, 0x35 }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "rsm", { 0x0f, 0xaa }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "erets", { 0xf2, 0x0f, 0x01, 0xca }, .size = 4, .refusal = KPROBE_INSN_FAR },
	{ "eretu", { 0xf3, 0x0f, 0x01, 0xca }, .size = 4, .refusal = KPROBE_INSN_FAR },
	{ "uiret", { 0xf3, 0x0f, 0x01, 0xec }, .size = 4, .refusal = KPROBE_INSN_FAR },

	{ "vmcall", { 0x0f, 0x01, 0xc1 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmlaunch", { 0x0f, 0x01, 0xc2 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmresume", { 0x0f, 0x01, 0xc3 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmxoff", { 0x0f, 0x01, 0xc4 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmfunc", { 0x0f, 0x01, 0xd4 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmrun", { 0x0f, 0x01, 0xd8 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmmcall", { 0x0f, 0x01, 0xd9 }, .size = 3, .refusal = KPROBE_INSN_VIRT },
	{ "vmgexit", { 0xf3, 0x0f, 0x01, 0xd9 }, .size = 4, .refusal = KPROBE_INSN_VIRT },
	{ "tdcall", { 0x66, 0x0f, 0x01, 0xcc }, .size = 4, .refusal = KPROBE_INSN_VIRT },
	{ "seamcall", { 0x66, 0x0f, 0x01, 0xcf }, .size = 4, .refusal = KPROBE_INSN_VIRT },
	{ "getsec", { 0x0f, 0x37 }, .size = 2, .refusal = KPROBE_INSN_VIRT },

	{ "data16 ret", { 0x66, 0xc3 }, .size = 2, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "data16 jne", { 0x66, 0x75, 0x00 }, .size = 3, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "data16 loop", { 0x66, 0xe2, 0x00 }, .size = 3, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "data16 jmp *%ax", { 0x66, 0xff, 0xe0 }, .size = 3,
	  .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "pushfw", { 0x66, 0x9c }, .size = 2, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "popfw", { 0x66, 0x9d }, .size = 2, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "jmp through an address of half the width", { 0x67, 0xff, 0x20 }, .size = 3,
	  .refusal = KPROBE_INSN_ADDR_SIZE },

	{ "jmp *%fs:(%ax)", { 0x64, 0xff, 0x20 }, .size = 3, .refusal = KPROBE_INSN_SEGMENT },
	{ "call *%gs:(%ax)", { 0x65, 0xff, 0x10 }, .size = 3, .refusal = KPROBE_INSN_SEGMENT },

	{ "hlt", { 0xf4 }, .size = 1, .refusal = KPROBE_INSN_WAIT },
	{ "mwait", { 0x0f, 0x01, 0xc9 }, .size = 3, .refusal = KPROBE_INSN_WAIT },
	{ "mwaitx", { 0x0f, 0x01, 0xfb }, .size = 3, .refusal = KPROBE_INSN_WAIT },
	{ "sti; hlt", { 0xfb, 0xf4 }, .size = 1, .refusal = KPROBE_INSN_WAIT },
	{ "sti; mwait", { 0xfb, 0x0f, 0x01, 0xc9 }, .size = 1, .refusal = KPROBE_INSN_WAIT },

	{ "xbegin .+0x16", { 0xc7, 0xf8, 0x10 }, .size = 6,
	  .refusal = KPROBE_INSN_TRANSACTION },

#ifdef CONFIG_X86_64
	{ "push %r12", { 0x41, 0x54 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "movabs $imm64,%rax", { 0x48, 0xb8 }, .size = 10, .class = KPROBE_INSN_BOOST },
	{ "movabs 0x0,%al", { 0xa0 }, .size = 9, .class = KPROBE_INSN_BOOST },
	{ "addr32 movabs 0x0,%al", { 0x67, 0xa0 }, .size = 6, .class = KPROBE_INSN_BOOST },
	{ "movslq %eax,%rax", { 0x48, 0x63, 0xc0 }, .size = 3, .class = KPROBE_INSN_BOOST },
	{ "mov %gs:0x0,%rax", { 0x65, 0x48, 0x8b, 0x04, 0x25 },
	  .size = 9, .class = KPROBE_INSN_BOOST },
	{ "mov 0x10(%rip),%eax", { 0x8b, 0x05, 0x10 },
	  .size = 6, .class = KPROBE_INSN_BOOST, .rip_disp = 2 },
	{ "mov 0x10(%eip),%eax", { 0x67, 0x8b, 0x05, 0x10 },
	  .size = 7, .class = KPROBE_INSN_BOOST, .rip_disp = 3 },
	{ "cmpl $0x1,0x10(%rip)", { 0x83, 0x3d, 0x10, 0x00, 0x00, 0x00, 0x01 },
	  .size = 7, .class = KPROBE_INSN_BOOST, .rip_disp = 2 },
	{ "vmovdqa 0x10(%rip),%ymm0", { 0xc5, 0xfd, 0x6f, 0x05, 0x10 },
	  .size = 8, .class = KPROBE_INSN_BOOST, .rip_disp = 4 },
	{ "vpshufb 0x10(%rip),%ymm9,%ymm8", { 0xc4, 0x62, 0x35, 0x00, 0x05, 0x10 },
	  .size = 9, .class = KPROBE_INSN_BOOST, .rip_disp = 5 },
	{ "vpxord 0x10(%rip),%zmm0,%zmm0", { 0x62, 0xf1, 0x7d, 0x48, 0xef, 0x05, 0x10 },
	  .size = 10, .class = KPROBE_INSN_BOOST, .rip_disp = 6 },
	{ "lkgs %ax", { 0xf2, 0x0f, 0x00, 0xf0 }, .size = 4, .class = KPROBE_INSN_BOOST },
	{ "rdgsbase %rax", { 0xf3, 0x48, 0x0f, 0xae, 0xc8 },
	  .size = 5, .class = KPROBE_INSN_BOOST },
	{ "rex.W call .+6", { 0x48, 0xe8 }, .size = 6, .class = KPROBE_INSN_CALL },
	{ "rex.W ret", { 0x48, 0xc3 }, .size = 2, .class = KPROBE_INSN_RET },
	{ "jmp *%r12", { 0x41, 0xff, 0xe4 }, .size = 3, .class = KPROBE_INSN_JMP_IND,
	  .op = { .base = 12, .index = KPROBE_NO_REG } },
	{ "notrack call *%r11", { 0x3e, 0x41, 0xff, 0xd3 },
	  .size = 4, .class = KPROBE_INSN_CALL_IND,
	  .op = { .base = 11, .index = KPROBE_NO_REG } },
	{ "call *0x10(%rip)", { 0xff, 0x15, 0x10 },
	  .size = 6, .class = KPROBE_INSN_CALL_IND, .rip_disp = 2,
	  .op = { .memory = 1, .base = KPROBE_REG_IP, .index = KPROBE_NO_REG, .disp = 0x10 } },
	{ "jmp *0x10(%rip) with REX.B", { 0x41, 0xff, 0x25, 0x10 },
	  .size = 7, .class = KPROBE_INSN_JMP_IND, .rip_disp = 3,
	  .op = { .memory = 1, .base = KPROBE_REG_IP, .index = KPROBE_NO_REG, .disp = 0x10 } },
	{ "call *0x8(%r12)", { 0x41, 0xff, 0x54, 0x24, 0x08 },
	  .size = 5, .class = KPROBE_INSN_CALL_IND,
	  .op = { .memory = 1, .base = 12, .index = KPROBE_NO_REG, .disp = 8 } },
	{ "jmp *0x0(%r13,%r12,2)", { 0x43, 0xff, 0x64, 0x65, 0x00 },
	  .size = 5, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = 13, .index = 12, .scale = 1 } },
	{ "jmp *0x0(,%r12,8) with REX.B", { 0x43, 0xff, 0x24, 0xe5 },
	  .size = 8, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = KPROBE_NO_REG, .index = 12, .scale = 3 } },
	{ "push %es", { 0x06 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "pusha", { 0x60 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "ljmp $0x0,$0x0", { 0xea }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "REX before a legacy prefix", { 0x48, 0x66, 0x90 },
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "two REX", { 0x48, 0x48, 0x90 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "APX: jmpabs", { 0xd5, 0x00, 0xa1 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "APX: push %r16", { 0xd5, 0x10, 0x50 }, .refusal = KPROBE_INSN_UNDECODABLE },
	{ "APX: add with new destination", { 0x62, 0xf4, 0x7c, 0x18, 0x01, 0xc0 },
	  .refusal = KPROBE_INSN_UNDECODABLE },
	{ "iretq", { 0x48, 0xcf }, .size = 2, .refusal = KPROBE_INSN_FAR },
	{ "sysretq", { 0x48, 0x0f, 0x07 }, .size = 3, .refusal = KPROBE_INSN_FAR },
	{ "data16 call", { 0x66, 0xe8 }, .size = 6, .refusal = KPROBE_INSN_ADDR_SIZE },
	{ "swapgs", { 0x0f, 0x01, 0xf8 }, .size = 3, .refusal = KPROBE_INSN_GS_BASE },
	{ "mov %eax,%gs", { 0x8e, 0xe8 }, .size = 2, .refusal = KPROBE_INSN_GS_BASE },
	{ "pop %gs", { 0x0f, 0xa9 }, .size = 2, .refusal = KPROBE_INSN_GS_BASE },
	{ "lgs (%rax),%eax", { 0x0f, 0xb5, 0x00 }, .size = 3, .refusal = KPROBE_INSN_GS_BASE },
	{ "wrgsbase %rax", { 0xf3, 0x48, 0x0f, 0xae, 0xd8 },
	  .size = 5, .refusal = KPROBE_INSN_GS_BASE },
#else
	{ "inc %eax", { 0x40 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "pusha", { 0x60 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "pop %ds", { 0x1f }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "aaa", { 0x37 }, .size = 1, .class = KPROBE_INSN_BOOST },
	{ "aad", { 0xd5, 0x0a }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "bound %eax,(%eax)", { 0x62, 0x00 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "lds (%eax),%eax", { 0xc5, 0x00 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "mov 0x10,%eax", { 0x8b, 0x05, 0x10 }, .size = 6, .class = KPROBE_INSN_BOOST },
	{ "mov %eax,%gs", { 0x8e, 0xe8 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "pop %gs", { 0x0f, 0xa9 }, .size = 2, .class = KPROBE_INSN_BOOST },
	{ "jmp *0x10", { 0xff, 0x25, 0x10 }, .size = 6, .class = KPROBE_INSN_JMP_IND,
	  .op = { .memory = 1, .base = KPROBE_NO_REG, .index = KPROBE_NO_REG, .disp = 0x10 } },
	{ "into", { 0xce }, .size = 1, .refusal = KPROBE_INSN_TRAP },
	{ "pop %ss", { 0x17 }, .size = 1, .refusal = KPROBE_INSN_MASKING },
	{ "lcall $0x0,$0x0", { 0x9a }, .size = 7, .refusal = KPROBE_INSN_FAR },
	{ "ljmp $0x0,$0x0", { 0xea }, .size = 7, .refusal = KPROBE_INSN_FAR },
	{ "data16 call", { 0x66, 0xe8 }, .size = 4, .refusal = KPROBE_INSN_ADDR_SIZE },
#endif
};

/* A row with .avail 0xff offers nothing at all. */
static inline int classify_row_avail(const struct classify_row *row)
{
	if (row->avail == 0xff)
		return 0;
	return row->avail ?: (int)sizeof(row->bytes);
}

static inline const char *classify_row_operands(const struct kprobe_operands *want,
						const struct kprobe_insn *got)
{
	const struct kprobe_operands *op = &got->operands;
	bool indirect = got->class == KPROBE_INSN_CALL_IND ||
			got->class == KPROBE_INSN_JMP_IND;

	if (op->size != got->size)
		return "operands.size";
	if (op->disp != want->disp)
		return "operands.disp";
	if (op->pop != want->pop)
		return "operands.pop";
	if (op->cond != want->cond)
		return "operands.cond";
	if (op->memory != want->memory)
		return "operands.memory";
	if (op->scale != want->scale)
		return "operands.scale";
	if (indirect && op->base != want->base)
		return "operands.base";
	if (indirect && op->index != want->index)
		return "operands.index";
	if (got->class == KPROBE_INSN_LOOP && op->addr_bytes != want->addr_bytes)
		return "operands.addr_bytes";
	return NULL;
}

/* Returns the name of what is not as the row wants it, or NULL. */
static inline const char *classify_row_differs(const struct classify_row *row,
					       const struct kprobe_insn *got)
{
	if (got->refusal != row->refusal)
		return "refusal";
	if (got->size != row->size)
		return "size";
	if (row->refusal != KPROBE_INSN_OK)
		return NULL;
	if (got->class != row->class)
		return "class";
	if (got->rip_disp != row->rip_disp)
		return "rip_disp";
	return classify_row_operands(&row->op, got);
}

#endif /* _X86_KERNEL_KPROBES_TESTS_INSN_ROWS_H */
