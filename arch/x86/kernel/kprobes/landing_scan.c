// SPDX-License-Identifier: GPL-2.0-only
/*
 * Landings: which addresses does code make reachable?
 *
 * PURE: knows no probe, no lock, no allocator.
 *
 * No branch is missed, even where text holds data or overlapping instructions.
 * Let L be the landings and S the addresses an instruction was decoded from.
 * The scan ends only when
 *
 *   - every member of L that lies in the text is in S, and
 *   - with an address, S holds the one behind the instruction decoded there,
 *     up to the end of the text.
 *
 * A CPU gets to an instruction by a landing or by falling through from another
 * one.  So by induction S holds every instruction that can run, at its true
 * boundary, and whatever these refer to is in L.  This asks nothing of the
 * bytes in between: starting from the first byte of the text as well only adds
 * code that nothing was found to lead to, and decoding data adds noise, which
 * costs an optimization here and there but never hides a branch.
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/insn.h>
#include <asm/nops.h>

#include "landing_scan.h"

static void landing_add(struct kprobe_landing_insn *ref, unsigned long addr)
{
	ref->ref[ref->nr++] = addr;
}

/* Does it go on at the distance that its immediate gives? */
static bool landing_is_branch(const struct insn *insn)
{
	const u8 *op = insn->opcode.bytes;

	switch (op[0]) {
	case 0x0f:
		return (op[1] & 0xf0) == 0x80;		/* jcc rel32 */
	case 0x70 ... 0x7f:				/* jcc rel8 */
	case 0xe0 ... 0xe3:				/* loop, jcxz */
	case 0xe8:					/* call */
	case 0xe9:					/* jmp rel32 */
	case 0xeb:					/* jmp rel8 */
		return true;
	case 0xc7:					/* xbegin */
		return insn->modrm.bytes[0] == 0xf8;
	default:
		return false;
	}
}

/* Does it push the address of the instruction behind it for a later return? */
static bool landing_is_call(const struct insn *insn)
{
	unsigned int reg = X86_MODRM_REG(insn->modrm.bytes[0]);

	switch (insn->opcode.bytes[0]) {
	case 0xe8:					/* call rel32 */
	case 0x9a:					/* far call */
		return true;
	case 0xff:					/* indirect, far too */
		return reg == 2 || reg == 3;
	default:
		return false;
	}
}

/* ud2 of WARN() and of CFI checks: the handler may continue behind it. */
static bool landing_is_ud2(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0x0f && insn->opcode.bytes[1] == 0x0b;
}

/* endbr64 or endbr32: somebody wants to come here indirectly. */
static bool landing_is_endbr(const u8 *bytes, int avail)
{
	return avail >= 4 && bytes[0] == 0xf3 && bytes[1] == 0x0f &&
	       bytes[2] == 0x1e && (bytes[3] & 0xfe) == 0xfa;
}

/*
 * The no-op that ftrace and static calls leave in the place of a call.  Later
 * it may be a call again, from which control then returns.
 */
static bool landing_is_patch_nop(const u8 *bytes, int avail)
{
	static const u8 nop[] = { BYTES_NOP5 };

	return avail >= sizeof(nop) && !memcmp(bytes, nop, sizeof(nop));
}

/*
 * Label addresses made by an operand.  Every 32-bit constant counts, not only
 * those of mov, push and lea: `cmp $label` or a displacement added to an index
 * costs little, and there is no saying how else an address may be put together.
 */
static void landing_operands(struct kprobe_landing_insn *ref, struct insn *insn,
			     unsigned long next)
{
	const struct insn_field *imm = &insn->immediate1;

	if (insn->displacement.nbytes == 4) {
		long disp = insn->displacement.value;

		if (insn_rip_relative(insn))
			disp += next;
		landing_add(ref, disp);
		if (insn_rip_relative(insn) && insn->opcode.bytes[0] == 0x8d)
			ref->table = disp;		/* lea */
	}

	if (imm->nbytes != 4 || landing_is_branch(insn))
		return;
	if (IS_ENABLED(CONFIG_X86_64) && insn->immediate2.nbytes == 4)
		landing_add(ref, (u64)(u32)insn->immediate2.value << 32 |
				 (u32)imm->value);
	else
		landing_add(ref, imm->value);
}

static void landing_control(struct kprobe_landing_insn *ref, struct insn *insn,
			    unsigned long next)
{
	/* With a VEX prefix the same opcode bytes mean something else. */
	if (insn_is_avx(insn))
		return;
	if (landing_is_branch(insn))
		landing_add(ref, next + insn->immediate.value);
	if (landing_is_call(insn) || landing_is_ud2(insn))
		landing_add(ref, next);
}

/**
 * kprobe_landing_decode() - where may control arrive because of an instruction?
 * @ref:	filled in
 * @bytes:	the instruction
 * @avail:	how many bytes may be read, more than 0
 * @ip:		where it runs
 *
 * That are its target if it branches, the address behind it if something
 * returns there, itself if it is an ENDBR, and every address that it forms.
 */
void kprobe_landing_decode(struct kprobe_landing_insn *ref, const u8 *bytes,
			   int avail, unsigned long ip)
{
	struct insn insn;
	unsigned long next;

	ref->size = 1;
	ref->nr = 0;
	ref->table = 0;

	/* Padding comes in megabytes: spare it the decoder. */
	if (bytes[0] == 0xcc || bytes[0] == 0x90)
		return;
	if (insn_decode(&insn, bytes, avail, INSN_MODE_KERN))
		return;

	ref->size = insn.length;
	next = ip + insn.length;
	if (landing_is_endbr(bytes, avail))
		landing_add(ref, ip);
	if (landing_is_patch_nop(bytes, avail))
		landing_add(ref, next);
	landing_control(ref, &insn, next);
	landing_operands(ref, &insn, next);
}

/*
 * Make the window hold the whole instruction at @ip.  An instruction is always
 * decoded from one copy, so it cannot be half of what a patcher wrote.
 */
static int landing_fetch(struct kprobe_landing_scan *scan, unsigned long ip)
{
	unsigned long left = scan->text->end - ip;
	unsigned long need = min_t(unsigned long, left, MAX_INSN_SIZE);
	int err;

	if (ip >= scan->base && ip + need <= scan->base + scan->len)
		return 0;

	scan->base = ip;
	scan->len = min(left, scan->ahead);
	scan->ahead = min(2 * scan->ahead, sizeof(scan->window));
	err = scan->read(scan->window, ip, scan->len);
	if (err)
		scan->len = 0;
	return err;
}

/* Decode from @ip on until that was done before. */
static int landing_sweep(struct kprobe_landing_scan *scan, unsigned long ip)
{
	const struct kprobe_landing_text *text = scan->text;
	struct kprobe_landing_insn ref;
	int i, err;

	/* Most sweeps end after a few instructions: begin with a small copy. */
	scan->ahead = 64;

	while (ip < text->end && !test_bit(ip - text->start, text->seen)) {
		err = landing_fetch(scan, ip);
		if (err)
			return err;
		__set_bit(ip - text->start, text->seen);
		kprobe_landing_decode(&ref, scan->window + (ip - scan->base),
				      scan->base + scan->len - ip, ip);
		for (i = 0; i < ref.nr; i++)
			scan->mark(ref.ref[i]);
		if (ref.table)
			scan->table(text, ref.table);
		ip += ref.size;
	}
	return 0;
}

/**
 * kprobe_landing_close() - decode what the landings of a text lead to
 * @scan:	how to read and whom to tell; its window is overwritten
 * @text:	the text; landings that are known beforehand are marked in it
 *
 * Marks made in other texts meanwhile must be followed by closing these again,
 * until no text has anything new.
 *
 * Return: 1 if something was decoded that was not before, 0 if there was
 * nothing left, or the error of @scan->read.
 */
int kprobe_landing_close(struct kprobe_landing_scan *scan,
			 const struct kprobe_landing_text *text)
{
	unsigned long size = text->end - text->start;
	unsigned long bit = 0;
	int err, found = 0;

	scan->text = text;
	scan->len = 0;

	if (test_bit(0, text->seen))
		bit = find_next_andnot_bit(text->bits, text->seen, size, 0);
	while (bit < size) {
		err = landing_sweep(scan, text->start + bit);
		if (err)
			return err;
		found = 1;
		bit = find_next_andnot_bit(text->bits, text->seen, size, bit);
		/* A sweep may have marked what lies before it. */
		if (bit >= size)
			bit = find_next_andnot_bit(text->bits, text->seen, size, 0);
	}
	return found;
}
