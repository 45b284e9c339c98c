// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random bytes, half of them uniform, half in the shape of instructions; and for
 * each four of these a row of the KUnit suites, as it is or with a byte changed:
 * the rows are of every class and refusal, so that no seed leaves one out, however
 * rare its bytes are by chance.  What must hold for any input: no access outside
 * the buffers (the sanitizer's part), an answer of the promised form, the same
 * answer whatever follows, none for less than the whole instruction; copies that
 * name the same operands; displaced code that decodes to its end and leaves by
 * the right address; emulation that touches nothing it should not.
 */
#include <linux/errno.h>
#include <asm/insn.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "host.h"
#include "../../arch/x86/kernel/kprobes/tests/insn_rows.h"

static const u8 prefixes[] = {
	0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65,
	0x40, 0x41, 0x48, 0x4f, 0xc4, 0xc5, 0x62, 0xd5,
};

static const u8 branches[] = {
	0xe8, 0xe9, 0xeb, 0xe0, 0xe1, 0xe2, 0xe3, 0xc2, 0xc3, 0x70, 0x75, 0x7f,
	0x9c, 0x9d, 0xfa, 0xfb, 0xff, 0xff, 0xff, 0xff,
};

static unsigned long seen_class[KPROBE_INSN_NR];
static unsigned long seen_refusal[KPROBE_INSN_REFUSAL_NR];

static void make_bytes(u8 *bytes, int n)
{
	int i;

	for (i = 0; i < n; i++)
		bytes[i] = rnd();
	if (below(2))
		return;

	i = 0;
	while (below(2) && i < n)
		bytes[i++] = prefixes[below(sizeof(prefixes))];
	if (below(3) && i + 1 < n)
		bytes[i] = 0x0f;
	else if (below(2) && i < n)
		bytes[i] = branches[below(sizeof(branches))];
}

static void make_row(u8 *bytes, int n)
{
	const struct classify_row *row = &classify_rows[below(ARRAY_SIZE(classify_rows))];
	int avail = classify_row_avail(row);

	for (int i = 0; i < n; i++)
		bytes[i] = i < avail ? row->bytes[i] : rnd();
	if (n && below(2))
		bytes[below(n)] = rnd();
}

static bool same(const struct kprobe_insn *a, const struct kprobe_insn *b)
{
	return a->class == b->class && a->refusal == b->refusal &&
	       a->size == b->size && a->rip_disp == b->rip_disp &&
	       a->modrm == b->modrm && a->operands.disp == b->operands.disp &&
	       a->operands.base == b->operands.base &&
	       a->operands.index == b->operands.index;
}

static void check_form(const struct kprobe_insn *insn, const u8 *bytes, int n)
{
	check(insn->class < KPROBE_INSN_NR && insn->refusal < KPROBE_INSN_REFUSAL_NR,
	      "%s: class %d refusal %d", hex(bytes, n), insn->class, insn->refusal);
	check(insn->size <= n && insn->size <= MAX_INSN_SIZE,
	      "%s: size %d", hex(bytes, n), insn->size);
	check((insn->size == 0) == (insn->refusal == KPROBE_INSN_UNDECODABLE),
	      "%s: size %d, refusal %d", hex(bytes, n), insn->size, insn->refusal);
	check(!insn->rip_disp || insn->rip_disp + 4 <= insn->size,
	      "%s: rip_disp %d", hex(bytes, n), insn->rip_disp);
	check(kprobe_insn_refusal_name(insn->refusal), "no name");
}

/* One byte less must not do; bytes behind must not matter. */
static void check_borders(const struct kprobe_insn *insn, const u8 *bytes, int n)
{
	struct kprobe_insn again;
	u8 *exact;

	if (!insn->size || insn->refusal == KPROBE_INSN_WAIT)
		return;
	exact = malloc(insn->size);
	memcpy(exact, bytes, insn->size);
	kprobe_insn_classify(&again, exact, insn->size);
	check(same(&again, insn), "%s: depends on what follows", hex(bytes, n));
	free(exact);

	exact = malloc(insn->size - 1);
	memcpy(exact, bytes, insn->size - 1);
	kprobe_insn_classify(&again, exact, insn->size - 1);
	check(again.refusal == KPROBE_INSN_UNDECODABLE,
	      "%s: cut short and still size %d", hex(bytes, n), again.size);
	free(exact);
}

static unsigned long random_address(void)
{
	unsigned long base = rnd();

	if (BITS == 64 && below(4))
		base = 0xffffffff80000000 + (base & 0x7fffffff);
	return base;
}

static unsigned long operand_address(const u8 *bytes, int rip_disp, int size,
				     unsigned long at)
{
	s32 disp;

	memcpy(&disp, bytes + rip_disp, sizeof(disp));
	return at + size + (long)disp;
}

static void check_relocate(const struct kprobe_insn *insn, const u8 *bytes)
{
	unsigned long from = random_address(), to = random_address();
	u8 *copy = malloc(insn->size), *back = malloc(insn->size);
	int ret = kprobe_insn_relocate(copy, bytes, insn, from, to);

	if (!insn->rip_disp) {
		check(ret == insn->size && !memcmp(copy, bytes, ret),
		      "%s: not copied", hex(bytes, insn->size));
	} else if (ret > 0) {
		check(operand_address(bytes, insn->rip_disp, insn->size, from) ==
		      operand_address(copy, insn->rip_disp, insn->size, to),
		      "%s: another operand", hex(bytes, insn->size));
		ret = kprobe_insn_relocate(back, copy, insn, to, from);
		check(ret == insn->size && !memcmp(back, bytes, ret),
		      "%s: not the same on return", hex(bytes, insn->size));
	} else {
		long far = operand_address(bytes, insn->rip_disp, insn->size, from) -
			   (to + insn->size);

		check(ret == -ERANGE && far != (s32)far, "%s: %d, distance %lx",
		      hex(bytes, insn->size), ret, far);
	}
	free(copy);
	free(back);
}

/* The code must decode to its end, and a branch's last jump be right. */
static void check_displace(const struct kprobe_insn *insn, const u8 *bytes)
{
	unsigned long from = random_address(), to = random_address(), target;
	u8 *dst = malloc(KPROBE_DISPLACED_MAX);
	int ret, n, len;

	if (BITS == 64 && below(8))
		to = from + (s32)rnd();
	ret = kprobe_insn_displace(dst, bytes, insn, from, to);
	if (insn->refusal != KPROBE_INSN_OK || insn->class == KPROBE_INSN_STEP)
		check(ret == -EOPNOTSUPP, "%s: %d", hex(bytes, insn->size), ret);
	if (ret < 0) {
		check(ret == -ERANGE || ret == -EOPNOTSUPP, "%d", ret);
		free(dst);
		return;
	}

	for (n = 0; n < ret; n += len) {
		len = decoded_length(dst + n, ret - n);
		if (!check(len, "%s: became %s", hex(bytes, insn->size), hex(dst, ret)))
			break;
	}
	if (kprobe_insn_branches(insn, from, &target))
		check(operand_address(dst, ret - 4, 4, to + ret - 4) == target,
		      "%s: goes elsewhere: %s", hex(bytes, insn->size), hex(dst, ret));
	free(dst);
}

static void check_emulate(const struct kprobe_insn *insn, const u8 *bytes)
{
	const struct kprobe_insn_ops *ops = &kprobe_insn_ops[insn->class];
	unsigned long *stack = malloc(3 * sizeof(long));
	struct pt_regs regs, before;
	bool done;

	for (size_t i = 0; i < sizeof(regs) / sizeof(long); i++)
		((unsigned long *)&regs)[i] = rnd();
	stack[1] = random_address();
	regs.sp = (unsigned long)(stack + 1);
	before = regs;
	done = ops->emulate(&insn->operands, &regs, random_address());
	if (!done)
		check(!memcmp(&regs, &before, sizeof(regs)), "%s: not done, but changed",
		      hex(bytes, insn->size));
	check((regs.flags ^ before.flags) == 0 || insn->class == KPROBE_INSN_CLI ||
	      insn->class == KPROBE_INSN_STI || insn->class == KPROBE_INSN_POPF,
	      "%s: flags", hex(bytes, insn->size));
	check(regs.cx == before.cx || insn->class == KPROBE_INSN_LOOP,
	      "%s: cx", hex(bytes, insn->size));
	free(stack);
}

static void one(void (*make)(u8 *bytes, int n))
{
	int n = below(18);
	u8 *bytes = malloc(n);
	struct kprobe_insn insn;

	make(bytes, n);
	kprobe_insn_classify(&insn, bytes, n);
	check_form(&insn, bytes, n);
	check_borders(&insn, bytes, n);
	seen_refusal[insn.refusal]++;
	if (insn.refusal == KPROBE_INSN_OK) {
		seen_class[insn.class]++;
		check_relocate(&insn, bytes);
		if (kprobe_insn_ops[insn.class].emulate && !insn.operands.memory)
			check_emulate(&insn, bytes);
	}
	check_displace(&insn, bytes);
	free(bytes);
}

void test_random(unsigned long iterations)
{
	for (unsigned long i = 0; i < iterations; i++) {
		one(make_bytes);
		if (i % 4 == 0)
			one(make_row);
	}

	for (int i = 0; i < KPROBE_INSN_NR; i++)
		check(seen_class[i] || iterations < 1000000, "class %s never occurred",
		      kprobe_insn_ops[i].name);
	for (int i = 0; i < KPROBE_INSN_REFUSAL_NR; i++)
		check(seen_refusal[i] || iterations < 1000000 ||
		      (i == KPROBE_INSN_GS_BASE && BITS == 32),
		      "refusal '%s' never occurred", kprobe_insn_refusal_name(i));
}
