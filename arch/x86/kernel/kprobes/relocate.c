// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same effect at another address.
 *
 * Two jobs that differ in what surrounds the code:
 *
 *   kprobe_insn_relocate() copies one instruction, so that it computes the same
 *   addresses where it now stands.  What follows the copy is the caller's.
 *
 *   kprobe_insn_displace() writes code for the inside of a detour, where every
 *   register, the flags and the stack are as at the original place.  It changes
 *   none of them but as the instruction itself does, and leaves by jumps to
 *   where the instruction would have gone.
 *
 * All displacements are 32 bits wide and sign-extended.  On 64-bit a target
 * that this does not reach is -ERANGE; on 32-bit everything is in reach.
 */
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "insn.h"

#define OPCODE_TWO_BYTE		0x0f
#define OPCODE_JCC_REL32	0x80	/* second byte, condition in the low bits */
#define OPCODE_PUSH_IMM32	0x68
#define OPCODE_LOOPNE		0xe0	/* the first of four */
#define OPCODE_GROUP_5		0xff
#define GROUP_5_JMP		4

#define PREFIX_ADDRESS_SIZE	0x67
#define PREFIX_NOTRACK		0x3e

#define JCC32_SIZE		6
#define PUSH_IMM32_SIZE		5
#define REG_SP			4	/* number of the stack pointer */
#define RM_SIB			4	/* ModRM.rm: a SIB byte follows */
#define RM_IP			5	/* ModRM.rm with mod 0: rip-relative */
#define MOD_MASK		0xc0
#define MOD_NO_DISP		0x00
#define MOD_DISP8		0x40
#define MOD_DISP32		0x80

static bool fits_s32(unsigned long value)
{
	return (unsigned long)(long)(s32)value == value;
}

/*
 * Write @target - @next, the form of all relative operands.  memcpy(), because
 * operands are not aligned.
 */
static int put_rel32(u8 *dst, unsigned long next, unsigned long target)
{
	unsigned long distance = target - next;
	s32 rel = distance;

	if (!fits_s32(distance))
		return -ERANGE;
	memcpy(dst, &rel, sizeof(rel));
	return 0;
}

/* An opcode byte and the distance from behind both to @target. */
static int encode_branch(u8 *dst, u8 opcode, unsigned long at,
			 unsigned long target)
{
	dst[0] = opcode;
	return put_rel32(dst + 1, at + JMP32_INSN_SIZE, target) ?: JMP32_INSN_SIZE;
}

/**
 * kprobe_encode_jmp() - encode a near jump
 * @dst:	where the 5 bytes go
 * @at:		address at which they will stand
 * @target:	address to jump to
 *
 * Return: 5, or -ERANGE if @target is more than 2 GB away.  Then @dst is not
 * to be used.
 */
int kprobe_encode_jmp(u8 *dst, unsigned long at, unsigned long target)
{
	return encode_branch(dst, JMP32_INSN_OPCODE, at, target);
}

/**
 * kprobe_encode_call() - encode a near call
 * @dst:	where the 5 bytes go
 * @at:		address at which they will stand
 * @target:	address to call
 *
 * Return: 5, or -ERANGE if @target is more than 2 GB away.  Then @dst is not
 * to be used.
 */
int kprobe_encode_call(u8 *dst, unsigned long at, unsigned long target)
{
	return encode_branch(dst, CALL_INSN_OPCODE, at, target);
}

/**
 * kprobe_insn_relocate() - copy an instruction to another address
 * @dst:	where the copy goes: @insn->size bytes
 * @src:	the original bytes
 * @insn:	what kprobe_insn_classify() said about them
 * @from:	address of the original
 * @to:		address at which the copy will run
 *
 * A rip-relative operand (SDM volume 2, 2.2.1.6) is corrected, so that it names
 * the same place.  A relative branch is copied as it is and would go astray: it
 * is always emulated, or displaced, and its copy never runs.
 *
 * Return: bytes written, or -ERANGE if the operand is out of reach from @to.
 */
int kprobe_insn_relocate(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
			 unsigned long from, unsigned long to)
{
	s32 disp;

	memcpy(dst, src, insn->size);
	if (!insn->rip_disp)
		return insn->size;

	memcpy(&disp, src + insn->rip_disp, sizeof(disp));
	return put_rel32(dst + insn->rip_disp, to, from + (long)disp) ?: insn->size;
}

static int displace_jcc(u8 *dst, u8 cond, unsigned long to, unsigned long target)
{
	dst[0] = OPCODE_TWO_BYTE;
	dst[1] = OPCODE_JCC_REL32 | cond;
	return put_rel32(dst + 2, to + JCC32_SIZE, target) ?: JCC32_SIZE;
}

/*
 * There is no long form: hop over a jump around the long jump.
 *
 *	loop	1f
 *	jmp	2f
 * 1:	jmp	target
 * 2:
 */
static int displace_loop(u8 *dst, const struct kprobe_operands *op,
			 unsigned long to, unsigned long target)
{
	int n = 0;
	int jmp;

	if (op->addr_bytes != sizeof(long))
		dst[n++] = PREFIX_ADDRESS_SIZE;
	dst[n++] = OPCODE_LOOPNE | op->cond;
	dst[n++] = JMP8_INSN_SIZE;
	dst[n++] = JMP8_INSN_OPCODE;
	dst[n++] = JMP32_INSN_SIZE;
	jmp = kprobe_encode_jmp(dst + n, to + n, target);
	return jmp < 0 ? jmp : n + jmp;
}

/* Push what the call at its original place would have pushed. */
static int push_return_address(u8 *dst, unsigned long return_address)
{
	s32 imm = return_address;

	if (!fits_s32(return_address))
		return -ERANGE;
	dst[0] = OPCODE_PUSH_IMM32;
	memcpy(dst + 1, &imm, sizeof(imm));
	return PUSH_IMM32_SIZE;
}

static int displace_call(u8 *dst, unsigned long return_address,
			 unsigned long to, unsigned long target)
{
	int push = push_return_address(dst, return_address);
	int jmp;

	if (push < 0)
		return push;
	jmp = kprobe_encode_jmp(dst + push, to + push, target);
	return jmp < 0 ? jmp : push + jmp;
}

/*
 * The displacement of a memory operand, @size bytes behind the ModRM byte at
 * @dst, in the form that fits, with ModRM.mod to match.
 */
static int put_disp(u8 *dst, int size, s32 disp)
{
	dst[0] &= ~MOD_MASK;
	if (disp == (s8)disp) {
		dst[0] |= MOD_DISP8;
		dst[size] = disp;
		return size + 1;
	}
	dst[0] |= MOD_DISP32;
	memcpy(dst + size, &disp, sizeof(disp));
	return size + sizeof(disp);
}

/*
 * An operand that the stack pointer addresses, one word after it was pushed
 * down.  An operand below the stack pointer would have been overwritten.
 */
static int put_stack_operand(u8 *dst, const u8 *modrm, s32 disp)
{
	if (disp < 0)
		return -EOPNOTSUPP;
	if (disp > S32_MAX - (s32)sizeof(long))
		return -ERANGE;
	dst[1] = modrm[1];
	return put_disp(dst, 2, disp + sizeof(long));
}

/*
 * ModRM and what follows it of "jmp operand", where @modrm points to those of
 * "call operand" and the return address was already pushed.  @at is the address
 * of the ModRM byte.
 */
static int put_jmp_operand(u8 *dst, const u8 *modrm, const struct kprobe_insn *insn,
			   unsigned long from, unsigned long at)
{
	const struct kprobe_operands *op = &insn->operands;
	int size = insn->size - insn->modrm;

	memcpy(dst, modrm, size);
	dst[0] = (dst[0] & ~0x38) | GROUP_5_JMP << 3;

	if (!op->memory)
		return op->base == REG_SP ? -EOPNOTSUPP : size;
	if (op->base == REG_SP)
		return put_stack_operand(dst, modrm, op->disp);
	if (op->base == KPROBE_REG_IP)
		return put_rel32(dst + 1, at + size,
				 from + insn->size + (long)op->disp) ?: size;
	return size;
}

/* A REX prefix stands directly in front of the opcode. */
static u8 rex_of(const u8 *src, int opcode)
{
	u8 rex = opcode ? src[opcode - 1] : 0;

	return IS_ENABLED(CONFIG_X86_64) && (rex & 0xf0) == 0x40 ? rex : 0;
}

/*
 * Push the return address and jump through the call's operand.  notrack stays:
 * without it the jump would ask for endbr where the call did not.
 */
static int displace_call_ind(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
			     unsigned long from, unsigned long to)
{
	int opcode = insn->modrm - 1;
	u8 rex = rex_of(src, opcode);
	int n = push_return_address(dst, from + insn->size);
	int operand;

	if (n < 0)
		return n;
	if (memchr(src, PREFIX_NOTRACK, opcode))
		dst[n++] = PREFIX_NOTRACK;
	if (rex)
		dst[n++] = rex;
	dst[n++] = OPCODE_GROUP_5;
	operand = put_jmp_operand(dst + n, src + insn->modrm, insn, from, to + n);
	return operand < 0 ? operand : n + operand;
}

/**
 * kprobe_insn_displace() - code with an instruction's effect, for a detour
 * @dst:	where the code goes: at most KPROBE_DISPLACED_MAX bytes
 * @src:	the original bytes
 * @insn:	what kprobe_insn_classify() said about them
 * @from:	address of the original
 * @to:		address at which the code will run
 *
 * Control leaves the code at its end, if it would have gone on behind the
 * original, or by a jump to where the original would have gone.  A call pushes
 * the original's return address: the callee, and whoever unwinds the stack,
 * sees no difference, and returns past the detour.
 *
 * Return: bytes written, -ERANGE if a target, an operand or the return address
 * is out of reach, or -EOPNOTSUPP if there is no such code: for a refused
 * instruction, one of class STEP, and calls that use the stack pointer itself
 * or what lies below it.  If negative, @dst is not to be used.
 */
int kprobe_insn_displace(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
			 unsigned long from, unsigned long to)
{
	unsigned long next = from + insn->size;
	unsigned long target = next + (long)insn->operands.disp;

	if (insn->refusal != KPROBE_INSN_OK)
		return -EOPNOTSUPP;

	switch (insn->class) {
	case KPROBE_INSN_STEP:
		return -EOPNOTSUPP;
	case KPROBE_INSN_CALL:
		return displace_call(dst, next, to, target);
	case KPROBE_INSN_JMP:
		return kprobe_encode_jmp(dst, to, target);
	case KPROBE_INSN_JCC:
		return displace_jcc(dst, insn->operands.cond, to, target);
	case KPROBE_INSN_LOOP:
		return displace_loop(dst, &insn->operands, to, target);
	case KPROBE_INSN_CALL_IND:
		return displace_call_ind(dst, src, insn, from, to);
	default:
		return kprobe_insn_relocate(dst, src, insn, from, to);
	}
}
