// SPDX-License-Identifier: GPL-2.0-only
/*
 * From instruction bytes to a class, or to the one reason why not.
 *
 * The decoder measures; what an opcode means to a probe stands in three small
 * tables: the one-byte opcodes, the opcodes behind 0f, and the register forms
 * of 0f 01.  An opcode that no table names is ordinary: its effect does not
 * depend on where it stands, so that a copy of it may be followed by a jump
 * back (BOOST).
 *
 * What is known to be special has a class of its own or is refused.  What is
 * left is a form that the decoder can measure, but to which no manual gives a
 * meaning.  Nothing is known about it, so nothing is assumed: its copy is run
 * with a trap behind it (STEP), and it is never made part of a detour.
 *
 * In this order: tables, forms that ModRM or a prefix decide, operands,
 * prefixes of branches, the entry points.
 */
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "insn.h"

/* One byte a table entry: a class or a refusal, and what to check besides. */
#define VERDICT_MASK	0x0f
#define VERDICT_REFUSED	0x10	/* the verdict is a refusal, not a class */
#define VERDICT_LOOK	0x20	/* ModRM or a prefix decides */
#define VERDICT_NOT_64	0x40	/* no such instruction in 64-bit mode */
#define VERDICT_BARE	0x80	/* stands without ModRM in a map of ModRMs */

#define REFUSE(name)	(VERDICT_REFUSED | KPROBE_INSN_##name)
#define RUN_AS(name)	(KPROBE_INSN_##name)

/* SDM volume 2, appendix A, table A-2. */
static const u8 one_byte[256] = {
	[0x06 ... 0x07] = VERDICT_NOT_64,		/* push, pop es */
	[0x0e] = VERDICT_NOT_64,			/* push cs */
	[0x16] = VERDICT_NOT_64,			/* push ss */
	[0x17] = VERDICT_NOT_64 | REFUSE(MASKING),	/* pop ss */
	[0x1e ... 0x1f] = VERDICT_NOT_64,		/* push, pop ds */
	[0x27] = VERDICT_NOT_64,			/* daa */
	[0x2f] = VERDICT_NOT_64,			/* das */
	[0x37] = VERDICT_NOT_64,			/* aaa */
	[0x3f] = VERDICT_NOT_64,			/* aas */
	[0x60 ... 0x61] = VERDICT_NOT_64,		/* pusha, popa */
	[0x70 ... 0x7f] = RUN_AS(JCC),
	[0x82] = VERDICT_NOT_64,			/* alias of 80 */
	[0x8e] = VERDICT_LOOK,				/* mov to segment */
	[0x8f] = VERDICT_LOOK,				/* pop, XOP prefix */
	[0x9a] = VERDICT_NOT_64 | REFUSE(FAR),		/* call ptr16:32 */
	[0x9c] = RUN_AS(PUSHF),
	[0x9d] = RUN_AS(POPF),
	[0xc2 ... 0xc3] = RUN_AS(RET),
	[0xc6 ... 0xc7] = VERDICT_LOOK,			/* mov, xabort, xbegin */
	[0xca ... 0xcb] = REFUSE(FAR),			/* lret */
	[0xcc ... 0xcd] = REFUSE(TRAP),			/* int3, int n */
	[0xce] = VERDICT_NOT_64 | REFUSE(TRAP),		/* into */
	[0xcf] = REFUSE(FAR),				/* iret */
	[0xd4 ... 0xd5] = VERDICT_NOT_64,		/* aam, aad */
	[0xd6] = REFUSE(UNDECODABLE),
	[0xe0 ... 0xe3] = RUN_AS(LOOP),
	[0xe8] = RUN_AS(CALL),
	[0xe9] = RUN_AS(JMP),
	[0xea] = VERDICT_NOT_64 | REFUSE(FAR),		/* jmp ptr16:32 */
	[0xeb] = RUN_AS(JMP),
	[0xf1] = REFUSE(TRAP),				/* int1 */
	[0xf4] = REFUSE(WAIT),				/* hlt */
	[0xfa] = RUN_AS(CLI),
	[0xfb] = RUN_AS(STI),
	[0xfe ... 0xff] = VERDICT_LOOK,			/* groups 4 and 5 */
};

/*
 * SDM volume 2, appendix A, table A-3.  The decoder gives no ModRM to what its
 * own map leaves empty, and then its length is too short: only the opcodes
 * marked BARE are to be believed without one.
 */
static const u8 two_byte[256] = {
	[0x00] = VERDICT_LOOK,				/* group 6 */
	[0x01] = VERDICT_LOOK,				/* group 7 */
	[0x05] = VERDICT_BARE | REFUSE(FAR),		/* syscall */
	[0x06] = VERDICT_BARE,				/* clts */
	[0x07] = VERDICT_BARE | REFUSE(FAR),		/* sysret */
	[0x08 ... 0x09] = VERDICT_BARE,			/* invd, wbinvd */
	[0x0b] = VERDICT_BARE | REFUSE(TRAP),		/* ud2 */
	[0x0e] = VERDICT_BARE,				/* femms */
	[0x20 ... 0x23] = VERDICT_LOOK,			/* mov cr, mov dr */
	[0x30 ... 0x33] = VERDICT_BARE,			/* msr, tsc, pmc */
	[0x34 ... 0x35] = VERDICT_BARE | REFUSE(FAR),	/* sysenter, sysexit */
	[0x37] = VERDICT_BARE | REFUSE(VIRT),		/* getsec */
	[0x77] = VERDICT_BARE,				/* emms */
	[0x80 ... 0x8f] = VERDICT_BARE | RUN_AS(JCC),
	[0xa0 ... 0xa2] = VERDICT_BARE,			/* push, pop fs; cpuid */
	[0xa8] = VERDICT_BARE,				/* push gs */
	[0xa9] = VERDICT_BARE | VERDICT_LOOK,		/* pop gs */
	[0xaa] = VERDICT_BARE | REFUSE(FAR),		/* rsm */
	[0xae] = VERDICT_LOOK,				/* group 15 */
	[0xb5] = VERDICT_LOOK,				/* lgs */
	[0xb9] = REFUSE(TRAP),				/* ud1 */
	[0xba] = VERDICT_LOOK,				/* group 8 */
	[0xc7] = VERDICT_LOOK,				/* group 9 */
	[0xc8 ... 0xcf] = VERDICT_BARE,			/* bswap */
	[0xff] = VERDICT_BARE | REFUSE(TRAP),		/* ud0 */
};

/*
 * 0f 01 with a register form, by the low six bits of ModRM.  What leaves the
 * processor's present world (for a guest, a host, a measured environment) does
 * not come back to the copy, or finds the host's registers exchanged.
 */
static const u8 group7_register[64] = {
	[0x01 ... 0x04] = REFUSE(VIRT),			/* vmcall to vmxoff */
	[0x09] = REFUSE(WAIT),				/* mwait */
	[0x0a] = VERDICT_LOOK,				/* clac, erets, eretu */
	[0x0c ... 0x0f] = VERDICT_LOOK,			/* encls, tdcall, ... */
	[0x12 ... 0x13] = VERDICT_LOOK,			/* not assigned */
	[0x14] = REFUSE(VIRT),				/* vmfunc */
	[0x18 ... 0x1e] = REFUSE(VIRT),			/* vmrun to skinit */
	[0x2b] = VERDICT_LOOK,				/* not assigned */
	[0x2c] = VERDICT_LOOK,				/* uiret */
	[0x38] = VERDICT_LOOK,				/* swapgs */
	[0x3b] = REFUSE(WAIT),				/* mwaitx */
};

#define PREFIX_OPERAND_SIZE	0x66
#define PREFIX_ADDRESS_SIZE	0x67
#define PREFIX_FS		0x64
#define PREFIX_GS		0x65
#define PREFIX_LOCK		0xf0
#define PREFIX_REPNE		0xf2
#define PREFIX_REP		0xf3

static bool has_prefix(const struct insn *raw, u8 prefix)
{
	return memchr(raw->prefixes.bytes, prefix, sizeof(raw->prefixes.bytes));
}

/* A form to which the manuals give no meaning. */
static u8 defined(bool known)
{
	return known ? RUN_AS(BOOST) : RUN_AS(STEP);
}

/*
 * While the kernel runs, exceptions find per-CPU data through the GS base and
 * do not load it anew.  32-bit kernels load FS on each entry and leave GS to
 * user space.
 */
static u8 replaces_gs_base(bool yes)
{
	return yes && IS_ENABLED(CONFIG_X86_64) ? REFUSE(GS_BASE) : RUN_AS(BOOST);
}

static u8 look_at_mov_to_segment(u8 segment)
{
	switch (segment) {
	case 0: /* es */
	case 3: /* ds */
	case 4: /* fs */
		return RUN_AS(BOOST);
	case 2: /* ss */
		return REFUSE(MASKING);
	case 5: /* gs */
		return replaces_gs_base(true);
	default:
		return RUN_AS(STEP);
	}
}

static u8 look_at_group_5(u8 reg)
{
	switch (reg) {
	case 2:
		return RUN_AS(CALL_IND);
	case 3: /* far call */
	case 5: /* far jump */
		return REFUSE(FAR);
	case 4:
		return RUN_AS(JMP_IND);
	default:
		return defined(reg != 7);
	}
}

/* The one-byte opcodes with VERDICT_LOOK. */
static u8 look_at_one_byte(const struct insn *raw)
{
	u8 modrm = raw->modrm.bytes[0];
	u8 reg = X86_MODRM_REG(modrm);

	switch (raw->opcode.bytes[0]) {
	case 0x8e:
		return look_at_mov_to_segment(reg);
	case 0x8f: /* other than pop it is the XOP prefix, unknown to the decoder */
		return reg ? REFUSE(UNDECODABLE) : RUN_AS(BOOST);
	case 0xc6:
		return defined(reg == 0 || modrm == 0xf8);
	case 0xc7:
		return modrm == 0xf8 ? REFUSE(TRANSACTION) : defined(reg == 0);
	case 0xfe:
		return defined(reg <= 1);
	default: /* 0xff */
		return look_at_group_5(reg);
	}
}

/* 0f 01 and a register form with VERDICT_LOOK; SDM volume 2, table A-6. */
static u8 look_at_group_7_register(const struct insn *raw)
{
	bool rep = has_prefix(raw, PREFIX_REP);

	switch (raw->modrm.bytes[0]) {
	case 0xca: /* clac; with a prefix erets and eretu */
		return rep || has_prefix(raw, PREFIX_REPNE) ?
			REFUSE(FAR) : RUN_AS(BOOST);
	case 0xcc ... 0xce: /* tdcall, seamret, seamops */
		return has_prefix(raw, PREFIX_OPERAND_SIZE) ?
			REFUSE(VIRT) : RUN_AS(STEP);
	case 0xcf: /* encls; with a prefix seamcall */
		return has_prefix(raw, PREFIX_OPERAND_SIZE) ?
			REFUSE(VIRT) : RUN_AS(BOOST);
	case 0xec: /* uiret */
		return rep ? REFUSE(FAR) : RUN_AS(STEP);
	case 0xf8: /* swapgs */
		return replaces_gs_base(true);
	default:
		return RUN_AS(STEP);
	}
}

static u8 look_at_group_7(const struct insn *raw)
{
	u8 modrm = raw->modrm.bytes[0];
	u8 verdict;

	if (X86_MODRM_MOD(modrm) != 3)
		return defined(X86_MODRM_REG(modrm) != 5 ||
			       has_prefix(raw, PREFIX_REP));

	verdict = group7_register[modrm & 0x3f];
	if (verdict & VERDICT_LOOK)
		return look_at_group_7_register(raw);
	return verdict ?: RUN_AS(BOOST);
}

static u8 look_at_group_15(const struct insn *raw)
{
	u8 reg = X86_MODRM_REG(raw->modrm.bytes[0]);

	if (X86_MODRM_MOD(raw->modrm.bytes[0]) != 3)
		return RUN_AS(BOOST);
	if (has_prefix(raw, PREFIX_REP))
		return replaces_gs_base(reg == 3);
	return defined(reg >= 5);
}

/* The opcodes behind 0f with VERDICT_LOOK. */
static u8 look_at_two_byte(const struct insn *raw)
{
	u8 modrm = raw->modrm.bytes[0];
	u8 reg = X86_MODRM_REG(modrm);
	bool is_register = X86_MODRM_MOD(modrm) == 3;

	switch (raw->opcode.bytes[1]) {
	case 0x00:
		return defined(reg < 6 ||
			       (reg == 6 && has_prefix(raw, PREFIX_REPNE)));
	case 0x01:
		return look_at_group_7(raw);
	case 0x20 ... 0x23: /* always a register, whatever the mod bits say */
		return is_register ? RUN_AS(BOOST) : REFUSE(UNDECODABLE);
	case 0xae:
		return look_at_group_15(raw);
	case 0xba:
		return defined(reg >= 4);
	case 0xc7:
		return defined(reg >= 6 || (!is_register && reg != 0 && reg != 2));
	default: /* pop gs, lgs */
		return replaces_gs_base(true);
	}
}

/*
 * REX2 and the EVEX forms of ordinary instructions belong to APX, which this
 * kernel never enables: to the CPU these are not instructions.
 */
static bool is_apx(struct insn *raw)
{
	return insn_is_rex2(raw) ||
	       (insn_is_evex(raw) && insn_vex_m_bits(raw) == 4);
}

/*
 * What the decoder took for the opcode is one more prefix: a legacy prefix
 * behind REX, two REX, or more prefixes than it counts.  Its length is that of
 * a part of the instruction.
 */
static bool ends_in_prefix(const struct insn *raw)
{
	insn_attr_t attr = inat_get_opcode_attribute(raw->opcode.bytes[0]);

	if (inat_is_legacy_prefix(attr))
		return true;
	return IS_ENABLED(CONFIG_X86_64) && !raw->vex_prefix.nbytes &&
	       (inat_is_rex_prefix(attr) || inat_is_rex2_prefix(attr) ||
		inat_is_vex_prefix(attr));
}

static u8 judge_one_byte(const struct insn *raw)
{
	u8 verdict = one_byte[raw->opcode.bytes[0]];

	if (IS_ENABLED(CONFIG_X86_64) && (verdict & VERDICT_NOT_64))
		return REFUSE(UNDECODABLE);
	if (verdict & VERDICT_LOOK)
		return look_at_one_byte(raw);
	return verdict & ~VERDICT_NOT_64 ?: RUN_AS(BOOST);
}

static u8 judge_escaped(const struct insn *raw)
{
	u8 escape = raw->opcode.bytes[1];
	u8 verdict = two_byte[escape];

	if (!raw->modrm.nbytes && !(verdict & VERDICT_BARE))
		return REFUSE(UNDECODABLE);
	if (verdict & VERDICT_LOOK)
		return look_at_two_byte(raw);
	return verdict & ~VERDICT_BARE ?: RUN_AS(BOOST);
}

/* Class or refusal of a decoded instruction, its prefixes not yet judged. */
static u8 judge(struct insn *raw)
{
	if (insn_has_emulate_prefix(raw))
		return REFUSE(FORCED_EMULATION);
	if (is_apx(raw))
		return REFUSE(UNDECODABLE);
	if (insn_is_avx(raw))
		return RUN_AS(BOOST);
	if (ends_in_prefix(raw))
		return REFUSE(UNDECODABLE);
	return raw->opcode.nbytes == 1 ? judge_one_byte(raw) : judge_escaped(raw);
}

/* The operand of an indirect branch, as ModRM and SIB give it. */
static void set_indirect(struct kprobe_operands *op, const struct insn *raw)
{
	u8 modrm = raw->modrm.bytes[0];
	u8 sib = raw->sib.bytes[0];
	u8 rex = raw->rex_prefix.bytes[0];
	u8 extend_base = X86_REX_B(rex) ? 8 : 0;
	u8 extend_index = X86_REX_X(rex) ? 8 : 0;

	op->memory = X86_MODRM_MOD(modrm) != 3;
	op->disp = raw->displacement.value;
	op->base = X86_MODRM_RM(modrm) | extend_base;
	if (!op->memory)
		return;

	if (raw->sib.nbytes) {
		op->base = X86_SIB_BASE(sib) | extend_base;
		op->index = X86_SIB_INDEX(sib) | extend_index;
		op->scale = X86_SIB_SCALE(sib);
		/* No register can be an index in place of the stack pointer. */
		if (op->index == 4)
			op->index = KPROBE_NO_REG;
	}
	if (X86_MODRM_MOD(modrm) == 0 && (op->base & 7) == 5)
		op->base = IS_ENABLED(CONFIG_X86_64) && !raw->sib.nbytes ?
			KPROBE_REG_IP : KPROBE_NO_REG;
}

static void set_operands(struct kprobe_insn *insn, const struct insn *raw)
{
	struct kprobe_operands *op = &insn->operands;

	op->size = raw->length;
	op->addr_bytes = raw->addr_bytes;
	op->base = KPROBE_NO_REG;
	op->index = KPROBE_NO_REG;

	switch (insn->class) {
	case KPROBE_INSN_RET:
		op->pop = raw->immediate.value;
		break;
	case KPROBE_INSN_JCC:
		op->cond = raw->opcode.bytes[raw->opcode.nbytes - 1] & 0xf;
		op->disp = raw->immediate.value;
		break;
	case KPROBE_INSN_LOOP:
		op->cond = raw->opcode.bytes[0] & 0x3;
		op->disp = raw->immediate.value;
		break;
	case KPROBE_INSN_CALL:
	case KPROBE_INSN_JMP:
		op->disp = raw->immediate.value;
		break;
	case KPROBE_INSN_CALL_IND:
	case KPROBE_INSN_JMP_IND:
		set_indirect(op, raw);
		break;
	default:
		if (insn->refusal == KPROBE_INSN_TRANSACTION)
			op->disp = raw->immediate.value;
		break;
	}
}

/*
 * Prefixes of what is emulated.  An operand size of 16 bits means one thing to
 * Intel's processors and another to AMD's (SDM volume 2, "JMP"; APM volume 3,
 * "Near Branches in 64-Bit Mode").  bnd, rep, notrack, branch hints, REX.W and
 * the address size of a branch without memory operand change nothing.
 */
static enum kprobe_insn_refusal judge_prefixes(const struct kprobe_insn *insn,
					       const struct insn *raw)
{
	if (insn->class == KPROBE_INSN_STEP || insn->class == KPROBE_INSN_BOOST)
		return KPROBE_INSN_OK;
	if (has_prefix(raw, PREFIX_LOCK))
		return KPROBE_INSN_UNDECODABLE;
	if (insn->class == KPROBE_INSN_CLI || insn->class == KPROBE_INSN_STI)
		return KPROBE_INSN_OK;
	if (has_prefix(raw, PREFIX_OPERAND_SIZE))
		return KPROBE_INSN_ADDR_SIZE;
	if (!insn->operands.memory)
		return KPROBE_INSN_OK;
	if (has_prefix(raw, PREFIX_ADDRESS_SIZE))
		return KPROBE_INSN_ADDR_SIZE;
	if (has_prefix(raw, PREFIX_FS) || has_prefix(raw, PREFIX_GS))
		return KPROBE_INSN_SEGMENT;
	return KPROBE_INSN_OK;
}

/* Interrupts stay off for one instruction after sti (SDM volume 2, "STI"). */
static bool shadow_covers_wait(const u8 *next, int avail)
{
	static const u8 mwait[] = { 0x0f, 0x01, 0xc9 };

	if (avail >= 1 && next[0] == 0xf4)
		return true;
	return avail >= (int)sizeof(mwait) && !memcmp(next, mwait, sizeof(mwait));
}

static void set_verdict(struct kprobe_insn *insn, u8 verdict)
{
	if (verdict & VERDICT_REFUSED)
		insn->refusal = verdict & VERDICT_MASK;
	else
		insn->class = verdict & VERDICT_MASK;
}

/**
 * kprobe_insn_classify() - find out how an instruction can be probed
 * @insn:	where the answer goes; all of it is written
 * @bytes:	the instruction as it stands in memory without any breakpoint
 * @avail:	bytes that may be read at @bytes, in no need to be limited
 *
 * The decoding mode is that of the kernel.  If the bytes behind sti can be
 * read, they take part: sti in front of hlt or mwait opens no window in which
 * an interrupt could come too early, and a trap between the two would.
 *
 * Rules: SDM volume 2, appendix A, for the maps; volume 3, 6.8.3, for the loads
 * of SS that hold off a trap; volume 3, 2.8, for system instructions.
 *
 * Context: any; touches nothing but its arguments.
 */
void kprobe_insn_classify(struct kprobe_insn *insn, const u8 *bytes, int avail)
{
	struct insn raw;

	memset(insn, 0, sizeof(*insn));
	insn->refusal = KPROBE_INSN_UNDECODABLE;
	if (insn_decode(&raw, bytes, avail, INSN_MODE_KERN))
		return;

	insn->refusal = KPROBE_INSN_OK;
	set_verdict(insn, judge(&raw));
	if (insn->refusal != KPROBE_INSN_UNDECODABLE) {
		set_operands(insn, &raw);
		if (insn->refusal == KPROBE_INSN_OK)
			insn->refusal = judge_prefixes(insn, &raw);
	}
	if (insn->refusal == KPROBE_INSN_UNDECODABLE)
		return;

	insn->size = raw.length;
	if (insn->refusal != KPROBE_INSN_OK)
		return;
	if (raw.modrm.nbytes)
		insn->modrm = insn_offset_modrm(&raw);
	if (insn_rip_relative(&raw))
		insn->rip_disp = insn_offset_displacement(&raw);
	if (insn->class == KPROBE_INSN_STI &&
	    shadow_covers_wait(bytes + insn->size, avail - insn->size))
		insn->refusal = KPROBE_INSN_WAIT;
}

/**
 * kprobe_insn_refusal_name() - a refusal in words
 * @refusal:	the refusal
 *
 * Return: a phrase for messages, without full stop.
 */
const char *kprobe_insn_refusal_name(enum kprobe_insn_refusal refusal)
{
	static const char * const names[KPROBE_INSN_REFUSAL_NR] = {
		[KPROBE_INSN_OK] = "can be probed",
		[KPROBE_INSN_UNDECODABLE] = "not a whole valid instruction",
		[KPROBE_INSN_TRAP] = "traps by design",
		[KPROBE_INSN_FORCED_EMULATION] = "has a forced-emulation prefix",
		[KPROBE_INSN_MASKING] = "loads ss, which holds off the next trap",
		[KPROBE_INSN_FAR] = "transfers control to another code segment",
		[KPROBE_INSN_VIRT] = "leaves to a hypervisor, guest or enclave",
		[KPROBE_INSN_ADDR_SIZE] = "branch or flags with an odd operand or address size",
		[KPROBE_INSN_SEGMENT] = "indirect branch through fs or gs",
		[KPROBE_INSN_GS_BASE] = "replaces the gs base that exceptions rely on",
		[KPROBE_INSN_WAIT] = "waits for an interrupt",
		[KPROBE_INSN_TRANSACTION] = "starts a transaction that a trap aborts",
	};

	return names[refusal];
}

/**
 * kprobe_insn_branches() - where a direct branch goes
 * @insn:	a classified instruction, probeable or not
 * @ip:		its address
 * @target:	set to the address it names, if it names one
 *
 * Direct branches are near and short jumps and calls, conditional or not, the
 * loop family, and xbegin, whose operand is where an aborted transaction goes
 * on.
 *
 * Return: true if @insn is a direct branch.
 */
bool kprobe_insn_branches(const struct kprobe_insn *insn, unsigned long ip,
			  unsigned long *target)
{
	switch (insn->class) {
	case KPROBE_INSN_CALL:
	case KPROBE_INSN_JMP:
	case KPROBE_INSN_JCC:
	case KPROBE_INSN_LOOP:
		break;
	default:
		if (insn->refusal != KPROBE_INSN_TRANSACTION)
			return false;
	}
	if (insn->refusal == KPROBE_INSN_UNDECODABLE)
		return false;

	*target = ip + insn->size + (long)insn->operands.disp;
	return true;
}
