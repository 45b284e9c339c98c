// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of the KUnit suites, in user space: here every byte offered stands in
 * memory of exactly its size, so that the sanitizer sees one read too many.
 */
#include "host.h"
#include "../../arch/x86/kernel/kprobes/tests/insn_rows.h"
#include "../../arch/x86/kernel/kprobes/tests/relocate_rows.h"

static void test_classify_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(classify_rows); i++) {
		const struct classify_row *row = &classify_rows[i];
		int avail = classify_row_avail(row);
		u8 *bytes = malloc(avail);
		struct kprobe_insn insn;
		const char *differs;

		memcpy(bytes, row->bytes, avail);
		kprobe_insn_classify(&insn, bytes, avail);
		differs = classify_row_differs(row, &insn);
		check(!differs, "%s: %s", row->text, differs);
		free(bytes);
	}
}

typedef int (*move_fn)(u8 *dst, const u8 *src, const struct kprobe_insn *insn,
		       unsigned long from, unsigned long to);

static void test_move_rows(const struct relocate_row *rows, size_t n, move_fn move)
{
	for (size_t i = 0; i < n; i++) {
		const struct relocate_row *row = &rows[i];
		u8 *dst = malloc(KPROBE_DISPLACED_MAX);
		struct kprobe_insn insn;
		int ret;

		kprobe_insn_classify(&insn, row->bytes, sizeof(row->bytes));
		ret = move(dst, row->bytes, &insn, row->from, row->to);
		check(ret == row->ret, "%s: %d, not %d", row->text, ret, row->ret);
		if (ret > 0)
			check(!memcmp(dst, row->want, ret), "%s: %s, not %s",
			      row->text, hex(dst, ret), hex(row->want, ret));
		free(dst);
	}
}

static void test_encode_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(encode_rows); i++) {
		const struct encode_row *row = &encode_rows[i];
		u8 want[5] = { 0xe9 };
		u8 *dst = malloc(sizeof(want));
		int jmp, call;

		memcpy(want + 1, &row->rel, sizeof(row->rel));
		jmp = kprobe_encode_jmp(dst, row->at, row->target);
		check(jmp == row->ret && (jmp < 0 || !memcmp(dst, want, jmp)),
		      "jmp %lx to %lx: %d", row->at, row->target, jmp);
		want[0] = 0xe8;
		call = kprobe_encode_call(dst, row->at, row->target);
		check(call == row->ret && (call < 0 || !memcmp(dst, want, call)),
		      "call %lx to %lx: %d", row->at, row->target, call);
		free(dst);
	}
}

void test_rows(void)
{
	test_classify_rows();
	test_move_rows(relocate_rows, ARRAY_SIZE(relocate_rows), kprobe_insn_relocate);
	test_move_rows(displace_rows, ARRAY_SIZE(displace_rows), kprobe_insn_displace);
	test_encode_rows();
}
