// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes in, class and operands or the reason of a refusal out.
 */
#include <kunit/test.h>

#include "insn_rows.h"

static const void *classify_row_gen_params(const void *prev, char *desc);

static void test_row(struct kunit *test);
static void test_row_cut_short(struct kunit *test);
static void test_every_class_and_refusal_occurs(struct kunit *test);
static void test_every_refusal_has_a_name(struct kunit *test);
static void test_every_class_has_its_operations(struct kunit *test);
static void test_direct_branches_name_their_target(struct kunit *test);
static void test_other_instructions_name_no_target(struct kunit *test);

static struct kunit_case classify_cases[] = {
	KUNIT_CASE_PARAM(test_row, classify_row_gen_params),
	KUNIT_CASE_PARAM(test_row_cut_short, classify_row_gen_params),
	KUNIT_CASE(test_every_class_and_refusal_occurs),
	KUNIT_CASE(test_every_refusal_has_a_name),
	KUNIT_CASE(test_every_class_has_its_operations),
	KUNIT_CASE(test_direct_branches_name_their_target),
	KUNIT_CASE(test_other_instructions_name_no_target),
	{}
};

static void classify_row_desc(const struct classify_row *row, char *desc)
{
	strscpy(desc, row->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(classify_row, classify_rows, classify_row_desc);

static void test_row(struct kunit *test)
{
	const struct classify_row *row = test->param_value;
	struct kprobe_insn insn;
	const char *differs;

	kprobe_insn_classify(&insn, row->bytes, classify_row_avail(row));
	differs = classify_row_differs(row, &insn);
	KUNIT_EXPECT_NULL_MSG(test, differs, "%s is not as listed: class %d, refusal %d, size %d",
			      differs, insn.class, insn.refusal, insn.size);
}

/* No part of an instruction passes for a whole one. */
static void test_row_cut_short(struct kunit *test)
{
	const struct classify_row *row = test->param_value;
	struct kprobe_insn insn;
	int avail;

	for (avail = 0; avail < row->size; avail++) {
		kprobe_insn_classify(&insn, row->bytes, avail);
		KUNIT_EXPECT_TRUE_MSG(test, insn.size <= avail, "%d bytes are %d", avail,
				      insn.size);
		/* What the prefix of forced emulation begins with is ud2. */
		if (row->refusal != KPROBE_INSN_FORCED_EMULATION)
			KUNIT_EXPECT_EQ(test, insn.refusal, KPROBE_INSN_UNDECODABLE);
	}
}

static void test_every_class_and_refusal_occurs(struct kunit *test)
{
	unsigned long classes = 0;
	unsigned long refusals = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(classify_rows); i++) {
		refusals |= BIT(classify_rows[i].refusal);
		if (classify_rows[i].refusal == KPROBE_INSN_OK)
			classes |= BIT(classify_rows[i].class);
	}
	/* 32-bit exceptions do not depend on GS. */
	if (IS_ENABLED(CONFIG_X86_32))
		refusals |= BIT(KPROBE_INSN_GS_BASE);

	for (i = 0; i < KPROBE_INSN_NR; i++)
		KUNIT_EXPECT_TRUE_MSG(test, classes & BIT(i), "no row of class %s",
				      kprobe_insn_ops[i].name);
	for (i = 0; i < KPROBE_INSN_REFUSAL_NR; i++)
		KUNIT_EXPECT_TRUE_MSG(test, refusals & BIT(i), "no row refused because: %s",
				      kprobe_insn_refusal_name(i));
}

static void test_every_refusal_has_a_name(struct kunit *test)
{
	int i, k;

	for (i = 0; i < KPROBE_INSN_REFUSAL_NR; i++) {
		KUNIT_ASSERT_NOT_NULL(test, kprobe_insn_refusal_name(i));
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, kprobe_insn_refusal_name(i),
					    kprobe_insn_refusal_name(k));
	}
}

static void test_every_class_has_its_operations(struct kunit *test)
{
	int i;

	for (i = 0; i < KPROBE_INSN_NR; i++) {
		const struct kprobe_insn_ops *ops = &kprobe_insn_ops[i];
		bool copied = i == KPROBE_INSN_STEP || i == KPROBE_INSN_BOOST;
		bool leaves = i == KPROBE_INSN_RET || i == KPROBE_INSN_JMP ||
			      i == KPROBE_INSN_JMP_IND;

		KUNIT_ASSERT_NOT_NULL(test, ops->name);
		KUNIT_EXPECT_EQ_MSG(test, !ops->emulate, copied, "%s", ops->name);
		KUNIT_EXPECT_EQ_MSG(test, ops->falls_through, !leaves, "%s", ops->name);
	}
}

static bool branch_of(struct kunit *test, unsigned long ip, unsigned long *target,
		      const u8 *bytes, int avail)
{
	struct kprobe_insn insn;

	kprobe_insn_classify(&insn, bytes, avail);
	KUNIT_EXPECT_NE(test, insn.refusal, KPROBE_INSN_UNDECODABLE);
	return kprobe_insn_branches(&insn, ip, target);
}

static void test_direct_branches_name_their_target(struct kunit *test)
{
	static const struct {
		u8 bytes[6];
		u8 size;
		long distance;
	} rows[] = {
		{ { 0xe8, 0x00, 0x10, 0x00, 0x00 }, 5, 0x1005 },
		{ { 0xe9, 0xfb, 0xef, 0xff, 0xff }, 5, -0x1000 },
		{ { 0xeb, 0x7f }, 2, 0x81 },
		{ { 0x74, 0x80 }, 2, -0x7e },
		{ { 0x0f, 0x84, 0x00, 0x01, 0x00, 0x00 }, 6, 0x106 },
		{ { 0xe2, 0xfe }, 2, 0 },
		{ { 0xe3, 0x10 }, 2, 0x12 },
		{ { 0xc7, 0xf8, 0x00, 0x01, 0x00, 0x00 }, 6, 0x106 },
	};
	const unsigned long ip = (unsigned long)&branch_of;
	unsigned long target;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_TRUE(test, branch_of(test, ip, &target, rows[i].bytes,
						  rows[i].size));
		KUNIT_EXPECT_EQ(test, target, ip + rows[i].distance);
	}
}

static void test_other_instructions_name_no_target(struct kunit *test)
{
	static const u8 rows[][2] = {
		{ 0x90 }, { 0xc3 }, { 0xff, 0xe0 }, { 0xff, 0xd0 }, { 0xcc }, { 0xcd, 0x80 },
		{ 0xc9 }, { 0x0f, 0x05 }, { 0xcf },
	};
	unsigned long target = 1;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_FALSE(test, branch_of(test, 0x1000, &target, rows[i],
						   sizeof(rows[i])));
	KUNIT_EXPECT_EQ(test, target, 1);
}

static struct kunit_suite classify_suite = {
	.name = "kprobes_x86_classify",
	.test_cases = classify_cases,
};

kunit_test_suite(classify_suite);

MODULE_DESCRIPTION("KUnit tests of the classification of x86 instructions for kprobes");
MODULE_LICENSE("GPL");
