// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions moved to another address: bytes in, bytes out.
 */
#include <kunit/test.h>

#include "relocate_rows.h"

static const void *relocate_row_gen_params(const void *prev, char *desc);
static const void *displace_row_gen_params(const void *prev, char *desc);

static void test_relocate_row(struct kunit *test);
static void test_relocate_there_and_back(struct kunit *test);
static void test_displace_row(struct kunit *test);
static void test_displaced_code_is_whole(struct kunit *test);
static void test_encoders(struct kunit *test);
static void test_every_class_was_displaced(struct kunit *test);
static void test_every_error_occurs(struct kunit *test);

static struct kunit_case relocate_cases[] = {
	KUNIT_CASE_PARAM(test_relocate_row, relocate_row_gen_params),
	KUNIT_CASE_PARAM(test_relocate_there_and_back, relocate_row_gen_params),
	KUNIT_CASE_PARAM(test_displace_row, displace_row_gen_params),
	KUNIT_CASE_PARAM(test_displaced_code_is_whole, displace_row_gen_params),
	KUNIT_CASE(test_encoders),
	KUNIT_CASE(test_every_class_was_displaced),
	KUNIT_CASE(test_every_error_occurs),
	{}
};

static void relocate_row_desc(const struct relocate_row *row, char *desc)
{
	strscpy(desc, row->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(relocate_row, relocate_rows, relocate_row_desc);
KUNIT_ARRAY_PARAM(displace_row, displace_rows, relocate_row_desc);

/* Behind the bytes that may be written stands what must stay. */
struct guarded {
	u8 code[KPROBE_DISPLACED_MAX];
	u8 guard[8];
};

static void guarded_init(struct guarded *g)
{
	memset(g, 0xa5, sizeof(*g));
}

static void guarded_expect(struct kunit *test, const struct guarded *g,
			   const struct relocate_row *row, int ret)
{
	struct guarded untouched;

	guarded_init(&untouched);
	KUNIT_EXPECT_EQ(test, ret, row->ret);
	if (ret > 0 && ret == row->ret)
		KUNIT_EXPECT_MEMEQ(test, g->code, row->want, ret);
	KUNIT_EXPECT_MEMEQ(test, g->guard, untouched.guard, sizeof(g->guard));
}

static void classify(const struct relocate_row *row, struct kprobe_insn *insn)
{
	kprobe_insn_classify(insn, row->bytes, sizeof(row->bytes));
}

static void test_relocate_row(struct kunit *test)
{
	const struct relocate_row *row = test->param_value;
	struct kprobe_insn insn;
	struct guarded g;

	guarded_init(&g);
	classify(row, &insn);
	guarded_expect(test, &g, row, kprobe_insn_relocate(g.code, row->bytes, &insn,
							   row->from, row->to));
}

static void test_relocate_there_and_back(struct kunit *test)
{
	const struct relocate_row *row = test->param_value;
	u8 back[MAX_INSN_SIZE];
	struct kprobe_insn insn;

	if (row->ret < 0)
		return;
	classify(row, &insn);
	KUNIT_EXPECT_EQ(test, kprobe_insn_relocate(back, row->want, &insn, row->to, row->from),
			row->ret);
	KUNIT_EXPECT_MEMEQ(test, back, row->bytes, row->ret);
}

static void test_displace_row(struct kunit *test)
{
	const struct relocate_row *row = test->param_value;
	struct kprobe_insn insn;
	struct guarded g;

	guarded_init(&g);
	classify(row, &insn);
	guarded_expect(test, &g, row, kprobe_insn_displace(g.code, row->bytes, &insn,
							   row->from, row->to));
}

/* What was emitted decodes to exactly its end. */
static void test_displaced_code_is_whole(struct kunit *test)
{
	const struct relocate_row *row = test->param_value;
	int n;

	for (n = 0; n < row->ret; ) {
		struct insn raw;

		KUNIT_ASSERT_EQ(test, 0, insn_decode(&raw, row->want + n, row->ret - n,
						     INSN_MODE_KERN));
		n += raw.length;
	}
}

static void test_encoders(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(encode_rows); i++) {
		const struct encode_row *row = &encode_rows[i];
		u8 want[JMP32_INSN_SIZE] = { JMP32_INSN_OPCODE };
		u8 code[JMP32_INSN_SIZE];

		memcpy(want + 1, &row->rel, sizeof(row->rel));
		KUNIT_EXPECT_EQ(test, row->ret, kprobe_encode_jmp(code, row->at, row->target));
		if (row->ret > 0)
			KUNIT_EXPECT_MEMEQ(test, code, want, row->ret);

		want[0] = CALL_INSN_OPCODE;
		KUNIT_EXPECT_EQ(test, row->ret, kprobe_encode_call(code, row->at, row->target));
		if (row->ret > 0)
			KUNIT_EXPECT_MEMEQ(test, code, want, row->ret);
	}
}

static void test_every_class_was_displaced(struct kunit *test)
{
	unsigned long classes = 0;
	struct kprobe_insn insn;
	int i;

	for (i = 0; i < ARRAY_SIZE(displace_rows); i++) {
		classify(&displace_rows[i], &insn);
		if (insn.refusal == KPROBE_INSN_OK)
			classes |= BIT(insn.class);
	}
	for (i = 0; i < KPROBE_INSN_NR; i++)
		KUNIT_EXPECT_TRUE_MSG(test, classes & BIT(i), "no row of class %s",
				      kprobe_insn_ops[i].name);
}

static void test_every_error_occurs(struct kunit *test)
{
	bool range = false;
	bool opnotsupp = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(displace_rows); i++) {
		range |= displace_rows[i].ret == -ERANGE;
		opnotsupp |= displace_rows[i].ret == -EOPNOTSUPP;
	}
	KUNIT_EXPECT_TRUE(test, range);
	KUNIT_EXPECT_TRUE(test, opnotsupp);
}

static struct kunit_suite relocate_suite = {
	.name = "kprobes_x86_relocate",
	.test_cases = relocate_cases,
};

kunit_test_suite(relocate_suite);

MODULE_DESCRIPTION("KUnit tests of moving x86 instructions for kprobes");
MODULE_LICENSE("GPL");
