// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the landing map: what an instruction makes reachable, the
 * closure of that over a text, and the map of the running kernel.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/string.h>
#include <asm/asm.h>
#include <asm/nops.h>

#include "../landing.h"
#include "../landing_scan.h"

/* Where the text of these tests pretends to be: fits a sign-extended imm32. */
#define FAKE	((unsigned long)(s32)0x91000000)
#define AT(off)	(FAKE + (off))

/* --- One instruction ------------------------------------------------------- */

struct decode_row {
	const char *name;
	u8 len;
	u8 bytes[15];
	u8 size;
	u8 nr;
	unsigned long ref[2];
};

#define INSN(...)	.len = sizeof((u8[]){ __VA_ARGS__ }), .bytes = { __VA_ARGS__ }
#define REFS(n, ...)	.nr = (n), .ref = { __VA_ARGS__ }

/* All stand at FAKE + 0x100. */
static const struct decode_row decode_rows[] = {
	{ "nop", INSN(0x90), .size = 1 },
	{ "int3", INSN(0xcc), .size = 1 },
	{ "mov reg", INSN(0x89, 0xf8), .size = 2 },
	{ "ret", INSN(0xc3), .size = 1 },
	{ "undecodable", INSN(0xc5, 0xf8, 0x05), .size = 1 },
	{ "cut short", INSN(0xe8, 0x00, 0x00), .size = 1 },
	{ "jmp rel8 back", INSN(0xeb, 0xfe), .size = 2, REFS(1, AT(0x100)) },
	{ "jmp rel32", INSN(0xe9, 0x10, 0, 0, 0), .size = 5, REFS(1, AT(0x115)) },
	{ "jmp rel32 back", INSN(0xe9, 0xfb, 0xfe, 0xff, 0xff), .size = 5, REFS(1, AT(0)) },
	{ "jcc rel8", INSN(0x74, 0x7f), .size = 2, REFS(1, AT(0x181)) },
	{ "jcc rel32", INSN(0x0f, 0x85, 0, 1, 0, 0), .size = 6, REFS(1, AT(0x206)) },
	{ "loop", INSN(0xe2, 0x80), .size = 2, REFS(1, AT(0x82)) },
	{ "jcxz", INSN(0xe3, 0x01), .size = 2, REFS(1, AT(0x103)) },
	{ "xbegin", INSN(0xc7, 0xf8, 0x04, 0, 0, 0), .size = 6, REFS(1, AT(0x10a)) },
	{ "call", INSN(0xe8, 0x20, 0, 0, 0), .size = 5, REFS(2, AT(0x125), AT(0x105)) },
	{ "call reg", INSN(0xff, 0xd0), .size = 2, REFS(1, AT(0x102)) },
	{ "call mem", INSN(0xff, 0x50, 0x08), .size = 3, REFS(1, AT(0x103)) },
	{ "far call mem", INSN(0xff, 0x18), .size = 2, REFS(1, AT(0x102)) },
	{ "jmp reg", INSN(0xff, 0xe0), .size = 2 },
	{ "push mem", INSN(0xff, 0x30), .size = 2 },
	{ "ud2", INSN(0x0f, 0x0b), .size = 2, REFS(1, AT(0x102)) },
	{ "endbr64", INSN(0xf3, 0x0f, 0x1e, 0xfa), .size = 4, REFS(1, AT(0x100)) },
	{ "endbr32", INSN(0xf3, 0x0f, 0x1e, 0xfb), .size = 4, REFS(1, AT(0x100)) },
	{ "push imm32", INSN(0x68, 0x44, 0x01, 0, 0x91), .size = 5, REFS(1, AT(0x144)) },
	{ "mov imm32", INSN(0xc7, 0xc0, 0x44, 0x01, 0, 0x91), .size = 6, REFS(1, AT(0x144)) },
	{ "vpcmpeqb is no je", INSN(0xc5, 0xf9, 0x74, 0xc0), .size = 4 },
#ifdef CONFIG_X86_64
	{ "mov imm64", INSN(0x48, 0xb8, 0x44, 0x01, 0, 0x91, 0xff, 0xff, 0xff, 0xff),
	  .size = 10, REFS(1, AT(0x144)) },
	{ "lea rip", INSN(0x48, 0x8d, 0x05, 0x10, 0, 0, 0), .size = 7, REFS(1, AT(0x117)) },
	{ "mov disp32", INSN(0x8b, 0x04, 0x25, 0x44, 0x01, 0, 0x91), .size = 7,
	  REFS(1, AT(0x144)) },
	{ "fentry nop", INSN(0x0f, 0x1f, 0x44, 0, 0), .size = 5, REFS(1, AT(0x105)) },
#else
	{ "far call", INSN(0x9a, 0x44, 0x01, 0, 0x91, 0x60, 0), .size = 7,
	  REFS(2, AT(0x107), AT(0x144)) },
	{ "mov disp32", INSN(0x8b, 0x05, 0x44, 0x01, 0, 0x91), .size = 6, REFS(1, AT(0x144)) },
	{ "fentry nop", INSN(0x3e, 0x8d, 0x74, 0x26, 0), .size = 5, REFS(1, AT(0x105)) },
#endif
};

static void decode_desc(const struct decode_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(decode, decode_rows, decode_desc);

static void landing_test_decode(struct kunit *test)
{
	const struct decode_row *row = test->param_value;
	struct kprobe_landing_insn ref;
	int i;

	kprobe_landing_decode(&ref, row->bytes, row->len, AT(0x100));
	KUNIT_EXPECT_EQ(test, ref.size, row->size);
	KUNIT_ASSERT_EQ(test, ref.nr, row->nr);
	for (i = 0; i < row->nr; i++)
		KUNIT_EXPECT_EQ(test, ref.ref[i], row->ref[i]);
}

static void landing_test_decode_table(struct kunit *test)
{
	static const u8 lea[] = { 0x48, 0x8d, 0x05, 0xf9, 0x0f, 0, 0 };
	static const u8 mov[] = { 0x48, 0x8b, 0x05, 0xf9, 0x0f, 0, 0 };
	struct kprobe_landing_insn ref;

	if (!IS_ENABLED(CONFIG_X86_64))
		kunit_skip(test, "no rip-relative operands");
	kprobe_landing_decode(&ref, lea, sizeof(lea), AT(0));
	KUNIT_EXPECT_EQ(test, ref.table, AT(0x1000));
	kprobe_landing_decode(&ref, mov, sizeof(mov), AT(0));
	KUNIT_EXPECT_EQ(test, ref.table, 0);
}

/* --- The closure ----------------------------------------------------------- */

#define FAKE_SIZE	(3 * KPROBE_LANDING_WINDOW)

/* A text, its landings, and what was reported outside of it. */
static struct fake {
	u8 bytes[FAKE_SIZE];
	DECLARE_BITMAP(bits, FAKE_SIZE);
	DECLARE_BITMAP(seen, FAKE_SIZE);
	struct kprobe_landing_text text;
	struct kprobe_landing_scan scan;
	unsigned long outside;
	unsigned long unreadable;
} fake;

static int fake_read(u8 *dst, unsigned long addr, size_t len)
{
	if (addr < FAKE || addr + len > AT(FAKE_SIZE) ||
	    (addr <= fake.unreadable && fake.unreadable < addr + len))
		return -EFAULT;
	memcpy(dst, fake.bytes + (addr - FAKE), len);
	return 0;
}

static void fake_mark(unsigned long addr)
{
	if (addr - FAKE < FAKE_SIZE)
		__set_bit(addr - FAKE, fake.bits);
	else
		fake.outside = addr;
}

static void fake_table(const struct kprobe_landing_text *text, unsigned long addr)
{
}

static int landing_test_init(struct kunit *test)
{
	memset(&fake, 0, sizeof(fake));
	memset(fake.bytes, 0xcc, sizeof(fake.bytes));
	fake.text.start = FAKE;
	fake.text.end = AT(FAKE_SIZE);
	fake.text.bits = fake.bits;
	fake.text.seen = fake.seen;
	fake.scan.read = fake_read;
	fake.scan.mark = fake_mark;
	fake.scan.table = fake_table;
	return 0;
}

static void put(unsigned int off, const u8 *bytes, size_t len)
{
	memcpy(fake.bytes + off, bytes, len);
}

#define PUT(off, ...)	\
	put(off, (u8[]){ __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ }))

/* Close; the landings must be @nr, these ones. */
static void expect_landings(struct kunit *test, int nr, const unsigned int *offs)
{
	int i;

	KUNIT_ASSERT_EQ(test, kprobe_landing_close(&fake.scan, &fake.text), 1);
	KUNIT_EXPECT_EQ(test, bitmap_weight(fake.bits, FAKE_SIZE), nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_TRUE_MSG(test, test_bit(offs[i], fake.bits), "offset %#x", offs[i]);
	KUNIT_EXPECT_EQ(test, kprobe_landing_close(&fake.scan, &fake.text), 0);
}

#define EXPECT_LANDINGS(test, ...)						\
	expect_landings(test, sizeof((unsigned int[]){ __VA_ARGS__ }) / sizeof(int),	\
			(unsigned int[]){ __VA_ARGS__ })

static void landing_test_plain(struct kunit *test)
{
	expect_landings(test, 0, NULL);
}

static void landing_test_linear(struct kunit *test)
{
	PUT(0x00, 0x74, 0x0e);			/* je 0x10 */
	PUT(0x10, 0xe8, 0xeb, 0x0f, 0, 0);	/* call 0x1000 */
	PUT(0x20, 0xe9, 0xdb, 0xff, 0xff, 0xff);/* jmp 0 */
	EXPECT_LANDINGS(test, 0x10, 0x1000, 0x15, 0x00);
}

/* Data in text swallows the start of a branch that somebody jumps to. */
static void landing_test_behind_data(struct kunit *test)
{
	PUT(0x00, 0xeb, 0x0a);			/* jmp 0xc */
	PUT(0x0a, 0x81, 0xc0);			/* data: add $imm32, %eax ... */
	PUT(0x0c, 0x74, 0x20);			/* ... really je 0x2e */
	EXPECT_LANDINGS(test, 0x0c, 0x2e);
}

/* The second byte of an instruction starts another one. */
static void landing_test_overlap(struct kunit *test)
{
	PUT(0x00, 0xb8, 0xeb, 0x20, 0, 0);	/* mov $0x20eb, %eax */
	PUT(0x08, 0xeb, 0xf7);			/* jmp 1: there, jmp 0x23 */
	EXPECT_LANDINGS(test, 0x01, 0x23);
}

static void landing_test_undecodable(struct kunit *test)
{
	PUT(0x00, 0xc5, 0xf8, 0x05);		/* no VEX form of that opcode */
	PUT(0x10, 0x75, 0x0e);			/* jne 0x20 */
	EXPECT_LANDINGS(test, 0x20);
}

/* A landing known beforehand is followed as well. */
static void landing_test_given(struct kunit *test)
{
	PUT(0x40, 0x81, 0xc0);			/* looks like add $imm32, %eax */
	PUT(0x42, 0xeb, 0x0c);			/* jmp 0x50 */
	fake_mark(AT(0x42));
	EXPECT_LANDINGS(test, 0x42, 0x50);
}

static void landing_test_window(struct kunit *test)
{
	unsigned int at;

	/* One jump across each place where a copy may end. */
	for (at = 61; at < FAKE_SIZE - 0x80; at += 64)
		PUT(at, 0xe9, 0x02, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, kprobe_landing_close(&fake.scan, &fake.text), 1);
	for (at = 61; at < FAKE_SIZE - 0x80; at += 64)
		KUNIT_EXPECT_TRUE_MSG(test, test_bit(at + 7, fake.bits), "offset %#x", at);
}

static void landing_test_end(struct kunit *test)
{
	/* The last instruction is cut off by the end of the text. */
	PUT(FAKE_SIZE - 2, 0xe8, 0x00);
	expect_landings(test, 0, NULL);
}

static void landing_test_outside(struct kunit *test)
{
	PUT(0x00, 0xe9, 0xfb, 0xff, 0x0f, 0);	/* jmp +1 MiB */
	expect_landings(test, 0, NULL);
	KUNIT_EXPECT_EQ(test, fake.outside, AT(0x100000));
}

static void landing_test_unreadable(struct kunit *test)
{
	fake.unreadable = AT(0x1800);
	KUNIT_EXPECT_EQ(test, kprobe_landing_close(&fake.scan, &fake.text), -EFAULT);
}

/* --- The map of this kernel ------------------------------------------------ */

static __used DEFINE_STATIC_KEY_FALSE(landing_test_key_off);

/*
 * Functions whose first 7 bytes are three instructions.  Control may arrive at
 * the second one, two bytes in, in the way the function is named after.  The
 * labels there are no symbols: these would be landings by themselves.
 *
 * There are two of each.  Any word of the kernel may look by chance like the
 * address of another of these bytes, which makes a landing of it: not in both.
 */
#define LANDING_TEST_FUNC(name, tail)				\
	"	.balign 16\n"					\
	"	.type landing_test_" #name "_\\copy, @function\n" \
	"	.globl landing_test_" #name "_\\copy\n"		\
	"landing_test_" #name "_\\copy:\n"			\
	ANNOTATE_NOENDBR					\
	"	mov %edi, %eax\n"				\
	".L_landing_mid_" #name "_\\copy:\n"			\
	ANNOTATE_NOENDBR					\
	"	add %edi, %eax\n"				\
	"	add $5, %eax\n"					\
	tail							\
	"	" ASM_RET					\
	"	.size landing_test_" #name "_\\copy, . - landing_test_" #name "_\\copy\n"

/* Who goes to the middle of these, in another symbol.  Never runs. */
#define LANDING_TEST_TO_COLD(name)				\
	"	js landing_test_" #name "_\\copy\\().cold\n"

#define LANDING_TEST_COLD(name, insn)				\
	"	.type landing_test_" #name "_\\copy\\().cold, @function\n" \
	"landing_test_" #name "_\\copy\\().cold:\n"			\
	"	" insn						\
	"	" ASM_RET					\
	"	.size landing_test_" #name "_\\copy\\().cold, "	\
	". - landing_test_" #name "_\\copy\\().cold\n"

#define MID_OFFSET	2
#define REGION_SIZE	7

asm("	.irp copy, a, b\n"
	"	.pushsection .text, \"ax\"\n"
	LANDING_TEST_FUNC(none, "")
	LANDING_TEST_FUNC(branch, LANDING_TEST_TO_COLD(branch))
	LANDING_TEST_FUNC(key, LANDING_TEST_TO_COLD(key))
	LANDING_TEST_FUNC(fixup, LANDING_TEST_TO_COLD(fixup))
	LANDING_TEST_FUNC(word, "")
	LANDING_TEST_FUNC(operand, LANDING_TEST_TO_COLD(operand))

	LANDING_TEST_COLD(branch, "js .L_landing_mid_branch_\\copy\n")
	LANDING_TEST_COLD(key, "1: .byte " __stringify(BYTES_NOP5) "\n")
	LANDING_TEST_COLD(fixup, "2: mov (%" _ASM_DX "), %eax\n")
	LANDING_TEST_COLD(operand, _ASM_MOV " $.L_landing_mid_operand_\\copy, %" _ASM_AX "\n")
	"	.popsection\n"

#ifdef CONFIG_JUMP_LABEL
	"	.pushsection __jump_table, \"aw\"\n"
	"	" _ASM_ALIGN "\n"
	"	.long 1b - ., .L_landing_mid_key_\\copy - .\n"
	"	" _ASM_PTR " landing_test_key_off - .\n"
	"	.popsection\n"
#endif
	"	.pushsection .rodata, \"a\"\n"
	"	" _ASM_ALIGN "\n"
	"	" _ASM_PTR " .L_landing_mid_word_\\copy\n"
	"	.popsection\n"
	_ASM_EXTABLE(2b, .L_landing_mid_fixup_\\copy)
	"	.endr\n"
);

#define LANDING_TEST_DECLARE(name)				\
	asmlinkage void landing_test_##name##_a(void);		\
	asmlinkage void landing_test_##name##_b(void)

LANDING_TEST_DECLARE(none);
LANDING_TEST_DECLARE(branch);
LANDING_TEST_DECLARE(key);
LANDING_TEST_DECLARE(fixup);
LANDING_TEST_DECLARE(word);
LANDING_TEST_DECLARE(operand);

#define REGION(name, way, want)					\
	{ name, { (unsigned long)landing_test_##way##_a,	\
		  (unsigned long)landing_test_##way##_b }, want }

static const struct region_row {
	const char *name;
	unsigned long code[2];
	enum kprobe_landing want;
} region_rows[] = {
	REGION("none", none, KPROBE_LANDING_NONE),
	REGION("branch from another symbol", branch, KPROBE_LANDING_INSIDE),
#ifdef CONFIG_JUMP_LABEL
	REGION("static key that is off", key, KPROBE_LANDING_INSIDE),
#endif
	REGION("fixup of another symbol", fixup, KPROBE_LANDING_INSIDE),
	REGION("label in data", word, KPROBE_LANDING_INSIDE),
	REGION("label as operand", operand, KPROBE_LANDING_INSIDE),
};

static void region_desc(const struct region_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(region, region_rows, region_desc);

/* The map is made when a probe first wants a jump: want one. */
static void want_map(struct kunit *test)
{
	struct kprobe probe = { .addr = (kprobe_opcode_t *)landing_test_none_a };
	int i;

	if (kprobe_landing_ready())
		return;
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	wait_for_kprobe_optimizer();
	for (i = 0; i < 600 && !kprobe_landing_ready(); i++)
		msleep(50);
	unregister_kprobe(&probe);
	if (!kprobe_landing_ready())
		kunit_skip(test, "no map: optimization is off");
}

/* At the first byte and behind the last one it is harmless. */
static bool exact(unsigned long start, enum kprobe_landing want)
{
	unsigned long mid = start + MID_OFFSET, end = start + REGION_SIZE;

	return kprobe_landing_query(start, end) == want &&
	       kprobe_landing_query(start, mid + 1) == want &&
	       kprobe_landing_query(mid, end) == KPROBE_LANDING_NONE &&
	       kprobe_landing_query(start, mid) == KPROBE_LANDING_NONE;
}

static void landing_test_region(struct kunit *test)
{
	const struct region_row *row = test->param_value;
	int i;

	want_map(test);
	for (i = 0; row->want == KPROBE_LANDING_INSIDE && i < ARRAY_SIZE(row->code); i++)
		KUNIT_EXPECT_EQ(test, row->want,
				kprobe_landing_query(row->code[i], row->code[i] + MID_OFFSET + 1));
	KUNIT_EXPECT_TRUE(test,
			  exact(row->code[0], row->want) || exact(row->code[1], row->want));
}

static void landing_test_symbol(struct kunit *test)
{
	unsigned long start = (unsigned long)landing_test_branch_a;

	want_map(test);
	/* As a constant, start + 1 would be a landing itself. */
	OPTIMIZER_HIDE_VAR(start);
	KUNIT_EXPECT_EQ(test, kprobe_landing_query(start - 1, start + 1),
			KPROBE_LANDING_INSIDE);
}

static void landing_test_no_map(struct kunit *test)
{
	unsigned long start = (unsigned long)landing_test_none_a;

	want_map(test);
	KUNIT_EXPECT_EQ(test, kprobe_landing_query((unsigned long)&fake, (unsigned long)&fake + 5),
			KPROBE_LANDING_NO_MAP);
	KUNIT_EXPECT_EQ(test, kprobe_landing_query(0, 5), KPROBE_LANDING_NO_MAP);
	KUNIT_EXPECT_EQ(test, kprobe_landing_query(start, start), KPROBE_LANDING_NO_MAP);
}

static struct kunit_case landing_test_cases[] = {
	KUNIT_CASE_PARAM(landing_test_decode, decode_gen_params),
	KUNIT_CASE(landing_test_decode_table),
	KUNIT_CASE(landing_test_plain),
	KUNIT_CASE(landing_test_linear),
	KUNIT_CASE(landing_test_behind_data),
	KUNIT_CASE(landing_test_overlap),
	KUNIT_CASE(landing_test_undecodable),
	KUNIT_CASE(landing_test_given),
	KUNIT_CASE(landing_test_window),
	KUNIT_CASE(landing_test_end),
	KUNIT_CASE(landing_test_outside),
	KUNIT_CASE(landing_test_unreadable),
	KUNIT_CASE_PARAM(landing_test_region, region_gen_params),
	KUNIT_CASE(landing_test_symbol),
	KUNIT_CASE(landing_test_no_map),
	{}
};

static struct kunit_suite landing_test_suite = {
	.name = "kprobes_x86_landing",
	.init = landing_test_init,
	.test_cases = landing_test_cases,
};

kunit_test_suite(landing_test_suite);

MODULE_DESCRIPTION("KUnit tests of the kprobes landing map");
MODULE_LICENSE("GPL");
