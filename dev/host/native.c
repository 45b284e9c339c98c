// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU as the oracle.
 *
 * An arena of executable memory holds one site.  The instruction under test
 * stands there between landing pads: one behind it, one on either side in reach
 * of a short branch, and more for indirect branches.  Whoever reaches a pad
 * leaves its number, and a common tail stores all registers and flags.
 *
 * The same registers, flags, stack and data are then given to what is tested:
 * to the emulation, or to the displaced code at another place of the arena.  All
 * of it must agree with what the CPU made of the instruction in its own place.
 */
#define _GNU_SOURCE
#include <linux/errno.h>
#include <sys/mman.h>

#include <asm/insn.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "host.h"

#define NREGS	(BITS == 64 ? 16 : 8)
#define SP	4
#define WORD	((int)sizeof(long))

enum { PAD_FALL, PAD_AHEAD, PAD_BEHIND, PAD_FIRST_FREE, PAD_NR = 8 };

/* All that the running code sees, at the start of the arena. */
struct machine {
	unsigned long in[16], out[16];
	unsigned long in_flags, out_flags;
	unsigned long entry, host_sp;
	u32 landing;
};

#define ARENA		0x40000
#define STUBS		0x1000
#define PADS		0x2000
#define SITE		0x8000
#define DETOUR		0x18000
#define STACK		0x20000		/* 4 KB */
#define DATA		0x21000		/* 4 KB, behind the stack */
#define MEMORY		0x2000
#define HOP		0x50		/* from the site to the near pads */

#define FLAGS_FIXED	0x202		/* bit 1, and interrupts on */
#define ARITHMETIC	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | \
			 X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_OF)
/* What user space may change, but for TF, which would trap, AC, which might, and
 * NT, which does not survive an interrupt under every hypervisor.
 */
#define FREE_FLAGS	(ARITHMETIC | X86_EFLAGS_DF | X86_EFLAGS_ID)

static u8 *arena;
static struct machine *m;

static unsigned long at(int offset)
{
	return (unsigned long)arena + offset;
}

static unsigned long pad(int n)
{
	return at(PADS + 16 * n);
}

/* A little assembler. */
static u8 *pc;

static void byte(u8 b)
{
	*pc++ = b;
}

static void word32(u32 v)
{
	memcpy(pc, &v, 4);
	pc += 4;
}

/* ModRM with an absolute address, rip-relative on 64-bit, @imm bytes to follow. */
static void operand(int reg, const void *addr, int imm)
{
	byte(0x05 | (reg & 7) << 3);
	word32((unsigned long)addr - (BITS == 64 ? (unsigned long)pc + 4 + imm : 0));
}

static void move(u8 opcode, int reg, const void *addr)
{
	if (BITS == 64)
		byte(reg & 8 ? 0x4c : 0x48);
	byte(opcode);
	operand(reg, addr, 0);
}

static void load(int reg, const void *addr)
{
	move(0x8b, reg, addr);
}

static void store(int reg, const void *addr)
{
	move(0x89, reg, addr);
}

static void jump(unsigned long target)
{
	pc += kprobe_encode_jmp(pc, (unsigned long)pc, target);
}

static void push_pop_saved(bool push)
{
	static const u8 saved64[] = { 3, 5, 12, 13, 14, 15 }, saved32[] = { 3, 5, 6, 7 };
	const u8 *saved = BITS == 64 ? saved64 : saved32;
	int n = BITS == 64 ? sizeof(saved64) : sizeof(saved32);

	for (int i = 0; i < n; i++) {
		int reg = saved[push ? i : n - 1 - i];

		if (reg & 8)
			byte(0x41);
		byte((push ? 0x50 : 0x58) | (reg & 7));
	}
}

/* Load everything from m->in and go to m->entry. */
static void make_entry(void)
{
	pc = arena + STUBS;
	push_pop_saved(true);
	store(SP, &m->host_sp);
	byte(0xff);			/* push in_flags */
	operand(6, &m->in_flags, 0);
	byte(0x9d);			/* popf */
	byte(0xf3);			/* movdqu in, %xmm0 */
	byte(0x0f);
	byte(0x6f);
	operand(0, m->in, 0);
	for (int i = 0; i < NREGS; i++)
		if (i != SP)
			load(i, &m->in[i]);
	load(SP, &m->in[SP]);
	byte(0xff);			/* jmp *entry */
	operand(4, &m->entry, 0);
}

/* Store everything in m->out and return to C. */
static unsigned long make_tail(void)
{
	unsigned long tail = (unsigned long)pc;

	for (int i = 0; i < NREGS; i++)
		store(i, &m->out[i]);
	load(SP, &m->host_sp);
	byte(0x9c);			/* pushf */
	byte(0x8f);			/* pop out_flags */
	operand(0, &m->out_flags, 0);
	byte(0x68);			/* push FLAGS_FIXED; popf */
	word32(FLAGS_FIXED);
	byte(0x9d);
	push_pop_saved(false);
	byte(0xc3);
	return tail;
}

static void make_pads(unsigned long tail)
{
	for (int i = 0; i < PAD_NR; i++) {
		pc = (u8 *)pad(i);
		byte(0xc7);		/* movl $i, landing */
		operand(0, &m->landing, 4);
		word32(i);
		jump(tail);
	}
	pc = arena + SITE + HOP;
	jump(pad(PAD_AHEAD));
	pc = arena + SITE - HOP;
	jump(pad(PAD_BEHIND));
}

static void make_arena(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

#ifdef MAP_32BIT
	flags |= MAP_32BIT;	/* return addresses must fit a push */
#endif
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
	if (arena == MAP_FAILED) {
		perror("host: mmap");
		exit(2);
	}
	m = (struct machine *)arena;
	memset(arena + STUBS, 0xcc, ARENA - STUBS);
	make_entry();
	make_pads(make_tail());
}

/* Where emulation says that control goes. */
static int landing_of(unsigned long ip, int size)
{
	if (ip == at(SITE + size))
		return PAD_FALL;
	if (ip == at(SITE + HOP))
		return PAD_AHEAD;
	if (ip == at(SITE - HOP))
		return PAD_BEHIND;
	for (int i = 0; i < PAD_NR; i++)
		if (ip == pad(i))
			return i;
	return -1;
}

/* One experiment: code, registers, flags and memory before it. */
struct trial {
	u8 code[64];
	int size;
	unsigned long reg[16];
	unsigned long flags;
	u8 memory[MEMORY];
};

struct result {
	unsigned long reg[16];
	unsigned long flags;
	int landing;
	u8 memory[MEMORY];
};

static struct trial t;
static struct result want, got;
static u8 noise[MEMORY + 512];		/* what memory is filled with */

static void run_native(struct result *r, unsigned long entry)
{
	memcpy(arena + STACK, t.memory, MEMORY);
	memcpy(m->in, t.reg, sizeof(m->in));
	m->in_flags = t.flags | FLAGS_FIXED;
	m->entry = entry;
	m->landing = -1;
	((void (*)(void))at(STUBS))();
	memcpy(r->reg, m->out, sizeof(r->reg));
	r->flags = m->out_flags;
	r->landing = m->landing;
	memcpy(r->memory, arena + STACK, MEMORY);
}

static void place_site(void)
{
	pc = arena + SITE;
	memcpy(pc, t.code, t.size);
	pc += t.size;
	jump(pad(PAD_FALL));
}

static void compare(const char *what)
{
	for (int i = 0; i < NREGS; i++)
		check(want.reg[i] == got.reg[i], "%s %s: register %d is %lx, not %lx",
		      what, hex(t.code, t.size), i, got.reg[i], want.reg[i]);
	check(want.flags == got.flags, "%s %s: flags %lx, not %lx", what,
	      hex(t.code, t.size), got.flags, want.flags);
	check(want.landing == got.landing, "%s %s: goes to %d, not %d", what,
	      hex(t.code, t.size), got.landing, want.landing);
	check(!memcmp(want.memory, got.memory, MEMORY), "%s %s: memory", what,
	      hex(t.code, t.size));
}

static void try_emulate(const struct kprobe_insn *insn)
{
	struct pt_regs regs = { 0 };
	bool done;

	memcpy(arena + STACK, t.memory, MEMORY);
	memcpy(&regs, t.reg, NREGS * sizeof(long));
	regs.flags = t.flags | FLAGS_FIXED;
	done = kprobe_insn_ops[insn->class].emulate(&insn->operands, &regs, at(SITE));
	if (!check(done, "%s: not emulated", hex(t.code, t.size)))
		return;
	memcpy(got.reg, &regs, NREGS * sizeof(long));
	got.flags = regs.flags;
	got.landing = landing_of(regs.ip, t.size);
	memcpy(got.memory, arena + STACK, MEMORY);
	compare("emulated");
}

/* Put displaced code of all instructions at the site into the detour. */
static bool place_displaced(void)
{
	unsigned long from = at(SITE);
	int ret;

	pc = arena + DETOUR + below(16);
	m->entry = (unsigned long)pc;
	for (int n = 0; n < t.size; n += ret) {
		struct kprobe_insn insn;

		kprobe_insn_classify(&insn, t.code + n, t.size - n);
		if (!check(insn.refusal == KPROBE_INSN_OK, "%s: refused", hex(t.code, t.size)))
			return false;
		ret = kprobe_insn_displace(pc, t.code + n, &insn, from + n,
					   (unsigned long)pc);
		if (ret == -EOPNOTSUPP)
			return false;
		if (!check(ret > 0, "%s: %d", hex(t.code, t.size), ret))
			return false;
		pc += ret;
		ret = insn.size;
	}
	jump(from + t.size);
	return true;
}

static void try_displaced(void)
{
	if (!place_displaced())
		return;
	run_native(&got, m->entry);
	compare("displaced");
}

/* Run the trial in place, then emulated if it is one instruction, then moved. */
static void try_all(void)
{
	struct kprobe_insn insn;

	place_site();
	run_native(&want, at(SITE));
	check(want.landing >= 0, "%s: lost", hex(t.code, t.size));
	kprobe_insn_classify(&insn, t.code, t.size);
	if (insn.size == t.size && kprobe_insn_ops[insn.class].emulate &&
	    insn.class != KPROBE_INSN_CLI && insn.class != KPROBE_INSN_STI)
		try_emulate(&insn);
	try_displaced();
}

static unsigned long random_pad(void)
{
	return pad(PAD_FIRST_FREE + below(PAD_NR - PAD_FIRST_FREE));
}

/* Random registers and memory, the stack pointer in the middle of the stack. */
static void new_trial(void)
{
	t.size = 0;
	for (int i = 0; i < NREGS; i++)
		t.reg[i] = rnd();
	memcpy(t.memory, noise + 8 * below(64), MEMORY);
	t.reg[SP] = at(STACK + 0x800);
	t.flags = rnd() & ARITHMETIC;
}

static void code(int n, const u8 *bytes)
{
	memcpy(t.code + t.size, bytes, n);
	t.size += n;
}

#define CODE(...) code(sizeof((u8[]){ __VA_ARGS__ }), (u8[]){ __VA_ARGS__ })

/* The end of a branch: a displacement of @n bytes to a pad near the site. */
static void near_disp(int n)
{
	s32 disp = (below(2) ? HOP : -HOP) - (t.size + n);

	code(n, (u8 *)&disp);
}

static void far_disp(void)
{
	s32 disp = random_pad() - at(SITE + t.size + 4);

	code(4, (u8 *)&disp);
}

static unsigned long spread_flags(int n)
{
	static const unsigned long bits[] = {
		X86_EFLAGS_CF, X86_EFLAGS_PF, X86_EFLAGS_AF,
		X86_EFLAGS_ZF, X86_EFLAGS_SF, X86_EFLAGS_OF,
	};
	unsigned long flags = 0;

	for (int i = 0; i < 6; i++)
		if (n & 1 << i)
			flags |= bits[i];
	return flags;
}

/* Every condition with every set of the six arithmetic flags, both lengths. */
static void test_jcc(void)
{
	for (int n = 0; n < 16 * 64 * 2; n++) {
		int cond = n & 15;

		new_trial();
		t.flags = spread_flags(n >> 4 & 63);
		if (n & 1024) {
			CODE(0x0f, 0x80 | cond);
			far_disp();
		} else {
			CODE(0x70 | cond);
			near_disp(1);
		}
		try_all();
	}
}

/* Every member of the family around the ends of every width of counter. */
static void test_loop(void)
{
	/* On 32-bit the last ones repeat the first. */
	static const u64 counts[] = {
		0, 1, 2, 3, 0xffff, 0x10000, 0x10001, 0x10002, ~0ULL, 0xffffffff,
		1ULL << 32, 1ULL << 32 | 1, ~0ULL << 32, ~0ULL << 32 | 1,
	};

	for (int n = 0; n < 4 * 2 * 2; n++) {
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
			new_trial();
			t.reg[1] = counts[i];
			t.flags = n & 8 ? X86_EFLAGS_ZF : 0;
			if (n & 4)
				CODE(0x67);
			CODE(0xe0 | (n & 3));
			near_disp(1);
			try_all();
		}
	}
}

static void test_direct(void)
{
	static const u8 prefixes[] = { 0x2e, 0x3e, 0xf2, 0xf3, 0x48 };

	for (int n = 0; n < 2000; n++) {
		new_trial();
		if (below(2)) {
			u8 prefix = prefixes[below(BITS == 64 ? 5 : 4)];

			CODE(prefix);
		}
		switch (n % 4) {
		case 0:
			CODE(0xeb);
			near_disp(1);
			break;
		case 1:
			CODE(0xe9);
			far_disp();
			break;
		default:
			CODE(0xe8);
			far_disp();
			break;
		}
		try_all();
	}
}

static void test_ret(void)
{
	static const u16 pops[] = { 0, 1, 4, 8, 16, 0x100, 0x400 };

	for (int n = 0; n < 200; n++) {
		unsigned long target;
		u16 pop = pops[below(ARRAY_SIZE(pops))];

		new_trial();
		target = random_pad();
		memcpy(t.memory + 0x800, &target, WORD);
		if (n % 3 == 0)
			CODE(0xc3);
		else if (n % 3 == 1)
			CODE(0xf3, 0xc3);
		else
			CODE(0xc2, pop & 0xff, pop >> 8);
		try_all();
	}
}

static void test_flags(void)
{
	for (int n = 0; n < 2000; n++) {
		unsigned long image;

		new_trial();
		t.flags = rnd() & FREE_FLAGS;
		image = (rnd() & FREE_FLAGS) | FLAGS_FIXED;
		if (BITS == 64)	/* what popf does not load does not matter */
			image |= rnd() << 32;
		memcpy(t.memory + 0x800, &image, WORD);
		if (n & 1)
			CODE(0x9c);
		else
			CODE(0x9d);
		try_all();
	}
}

static void test_indirect_register(void)
{
	for (int n = 0; n < 2 * NREGS * 8; n++) {
		int reg = n / 2 % NREGS;

		if (reg == SP)
			continue;
		new_trial();
		t.reg[reg] = random_pad();
		if (below(2))
			CODE(0x3e);
		if (reg & 8)
			CODE(0x41);
		CODE(0xff, (n & 1 ? 0xd0 : 0xe0) | (reg & 7));
		try_all();
	}
}

/* Make the operand's address lie in memory, and put a pad's address there. */
static bool aim(const struct kprobe_insn *insn)
{
	const struct kprobe_operands *op = &insn->operands;
	unsigned long addr = at(DATA + 0x800) + 8 * below(16);
	unsigned long target = random_pad(), index = 8 * below(16), ea = op->disp;
	long offset;

	if (op->base == SP)
		addr = t.reg[SP] + op->disp;
	if (op->index != KPROBE_NO_REG) {
		if (op->index == op->base)
			index = (addr - op->disp) / (1 + (1 << op->scale));
		t.reg[op->index] = index;
	}
	if (op->base < NREGS && op->base != SP && op->base != op->index)
		t.reg[op->base] = addr - op->disp - (op->index == KPROBE_NO_REG ? 0 :
						     index << op->scale);

	if (op->base == KPROBE_REG_IP)
		ea += at(SITE + insn->size);
	else if (op->base != KPROBE_NO_REG)
		ea += t.reg[op->base];
	if (op->index != KPROBE_NO_REG)
		ea += t.reg[op->index] << op->scale;
	offset = ea - at(STACK);
	if (offset < 0 || offset > MEMORY - WORD)
		return false;
	/* What lies under the stack pointer, or on the pushed word, is not ours. */
	if (op->base == SP && op->disp < 0)
		return false;
	memcpy(t.memory + offset, &target, WORD);
	return true;
}

/* Random addressing forms of all kinds. */
static void test_indirect_memory(void)
{
	unsigned int forms = 0;

	for (int n = 0; n < 15000; n++) {
		u8 rex = 0x40 | below(16), modrm = below(3) << 6 | (n & 1 ? 0x10 : 0x20) | below(8);
		struct kprobe_insn insn;
		s32 disp = (s32)rnd() >> below(30);
		u8 sib = rnd();

		new_trial();
		if (below(4) == 0)
			CODE(0x3e);
		if (BITS == 64 && below(2))
			code(1, &rex);
		CODE(0xff, modrm);
		if ((modrm & 7) == 4)
			code(1, &sib);
		if ((modrm & 0xc7) == 5 || ((modrm & 0xc7) == 4 && (sib & 7) == 5)) {
			disp = at(DATA + 0x400) + 8 * below(16);
			if ((modrm & 7) == 5 && BITS == 64)
				disp -= at(SITE + t.size + 4);
			code(4, (u8 *)&disp);
		} else if (modrm >> 6 == 1) {
			code(1, (u8 *)&disp);
		} else if (modrm >> 6 == 2) {
			code(4, (u8 *)&disp);
		}
		kprobe_insn_classify(&insn, t.code, t.size);
		check(insn.size == t.size && insn.refusal == KPROBE_INSN_OK,
		      "%s: refused", hex(t.code, t.size));
		if (!aim(&insn))
			continue;
		forms |= 1 << (modrm >> 6) << ((modrm & 7) == 4 ? 3 : (modrm & 7) == 5 ? 6 : 0);
		try_all();
	}
	check(forms == 0x1ff, "addressing forms left out: %x", forms ^ 0x1ff);
}

/* Where the CPU would fault nothing is done. */
static void test_not_canonical(void)
{
#ifdef CONFIG_X86_64
	static const u8 insns[][4] = { { 0xc3 }, { 0xff, 0xd0 }, { 0xff, 0xe0 }, { 0xff, 0x20 } };
	const unsigned long bad = 0x8000000000000000;

	for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
		unsigned long stack[2] = { 0, bad };
		struct pt_regs regs = { .ax = bad, .sp = (unsigned long)(stack + 1) };
		struct pt_regs before;
		struct kprobe_insn insn;

		if (i == 3)
			regs.ax = (unsigned long)(stack + 1);
		before = regs;
		kprobe_insn_classify(&insn, insns[i], 4);
		check(!kprobe_insn_ops[insn.class].emulate(&insn.operands, &regs, 0x1000),
		      "%zu: done", i);
		check(!memcmp(&regs, &before, sizeof(regs)) && stack[0] == 0 && stack[1] == bad,
		      "%zu: changed", i);
	}
#endif
}

/*
 * Ordinary instructions.  The displacement of those that have one goes to the
 * data.
 */
static const struct piece {
	u8 n, w, disp;		/* bytes, REX.W wanted, offset of displacement */
	u8 bytes[12];
} pieces[] = {
	{ 6, 1, 2, { 0x8b, 0x05 } },			/* mov data,%ax */
	{ 6, 1, 2, { 0x89, 0x1d } },			/* mov %bx,data */
	{ 6, 1, 2, { 0x8d, 0x0d } },			/* lea data,%cx */
	{ 6, 1, 2, { 0x03, 0x15 } },			/* add data,%dx */
	{ 6, 1, 2, { 0x13, 0x2d } },			/* adc data,%bp */
	{ 6, 0, 2, { 0x38, 0x0d } },			/* cmp %cl,data */
	{ 7, 1, 2, { 0x83, 0x2d, 0, 0, 0, 0, 0x07 } },	/* sub $7,data */
	{ 10, 0, 2, { 0xc7, 0x05, 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12 } },
	{ 10, 1, 2, { 0x81, 0x0d, 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12 } },
	{ 8, 0, 4, { 0xf0, 0x0f, 0xc1, 0x05 } },	/* lock xadd %eax,data */
	{ 7, 1, 3, { 0x0f, 0xb6, 0x05 } },		/* movzbl data,%ax */
	{ 7, 1, 3, { 0x0f, 0x44, 0x35 } },		/* cmove data,%si */
	{ 7, 0, 3, { 0x0f, 0x95, 0x05 } },		/* setne data */
	{ 8, 1, 3, { 0x0f, 0xba, 0x2d, 0, 0, 0, 0, 0x03 } },	/* bts $3,data */
	{ 6, 0, 2, { 0xff, 0x35 } },			/* push data */
	{ 6, 0, 2, { 0x8f, 0x05 } },			/* pop data */
	{ 8, 0, 4, { 0xf3, 0x0f, 0x6f, 0x05 } },	/* movdqu data,%xmm0 */
	{ 8, 0, 4, { 0xf3, 0x0f, 0x7f, 0x05 } },	/* movdqu %xmm0,data */
	{ 9, 0, 5, { 0xf2, 0x0f, 0x38, 0xf1, 0x0d } },	/* crc32 data,%ecx */
	{ 2, 1, 0, { 0x01, 0xd8 } },			/* add %bx,%ax */
	{ 2, 1, 0, { 0x19, 0xd1 } },			/* sbb %dx,%cx */
	{ 2, 1, 0, { 0xd1, 0xd8 } },			/* rcr %ax */
	{ 3, 1, 0, { 0xc1, 0xe2, 0x05 } },		/* shl $5,%dx */
	{ 3, 1, 0, { 0x0f, 0xaf, 0xc3 } },		/* imul %bx,%ax */
	{ 2, 1, 0, { 0x0f, 0xc8 } },			/* bswap %ax */
	{ 3, 1, 0, { 0x0f, 0x4c, 0xc3 } },		/* cmovl %bx,%ax */
	{ 3, 0, 0, { 0x0f, 0x9f, 0xc0 } },		/* setg %al */
	{ 1, 0, 0, { 0x50 } },				/* push %ax */
	{ 1, 0, 0, { 0x5b } },				/* pop %bx */
	{ 1, 0, 0, { 0x54 } },				/* push %sp */
	{ 2, 0, 0, { 0x6a, 0x80 } },			/* push $-128 */
	{ 1, 0, 0, { 0x9c } },				/* pushf */
	{ 2, 0, 0, { 0x9c, 0x9d } },			/* pushf; popf */
	{ 1, 0, 0, { 0xf9 } },				/* stc */
	{ 1, 0, 0, { 0xf5 } },				/* cmc */
	{ 1, 0, 0, { 0x9e } },				/* sahf */
	{ 1, 0, 0, { 0x9f } },				/* lahf */
	{ 1, 0, 0, { 0x98 } },				/* cwde */
	{ 4, 1, 0, { 0x8d, 0x64, 0x24, 0x08 } },	/* lea 8(%sp),%sp */
	{ 2, 0, 0, { 0xf3, 0xa4 } },			/* rep movsb */
	{ 2, 0, 0, { 0xf3, 0xaa } },			/* rep stosb */
	{ 4, 0, 0, { 0x0f, 0x1f, 0x40, 0x00 } },	/* nopl */
	{ 3, 0, 0, { 0x0f, 0xae, 0xe8 } },		/* lfence */
};

static void add_piece(const struct piece *p)
{
	u8 bytes[12];
	int start = t.size, disp = p->disp;

	memcpy(bytes, p->bytes, sizeof(bytes));
	if (BITS == 64 && p->w && below(2)) {
		CODE(0x48);
		start++;
	}
	code(p->n, bytes);
	if (disp) {
		s32 rel = at(DATA + 8 * below(64)) - (BITS == 64 ? at(SITE + t.size) : 0);

		memcpy(t.code + start + disp, &rel, 4);
	}
}

/* One to four ordinary instructions, perhaps with a branch behind them. */
static void test_regions(void)
{
	for (int n = 0; n < 10000; n++) {
		new_trial();
		t.reg[1] = below(16);			/* rep */
		t.reg[6] = at(DATA + 0x400);
		t.reg[7] = at(DATA + 0x800);
		for (int i = below(4); i >= 0; i--) {
			const struct piece *p = &pieces[below(ARRAY_SIZE(pieces))];

			/* Once rcx was written, rep is unbounded. */
			if (p->bytes[0] == 0xf3 && p->n == 2 && t.size)
				continue;
			add_piece(p);
		}
		switch (below(5)) {
		case 0:
			CODE(0x70 | below(16));
			near_disp(1);
			break;
		case 1:
			CODE(0xe8);
			far_disp();
			break;
		case 2:
			CODE(0xe2);
			near_disp(1);
			break;
		}
		if (t.size)
			try_all();
	}
}

void test_native(void)
{
	make_arena();
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = rnd();
	test_jcc();
	test_loop();
	test_direct();
	test_ret();
	test_flags();
	test_indirect_register();
	test_indirect_memory();
	test_not_canonical();
	test_regions();
}
