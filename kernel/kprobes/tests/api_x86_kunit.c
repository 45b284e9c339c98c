// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_api_x86: where the interface shows the machine. Which
 * registers a handler sees and what it may do to them, what stands in the
 * text, and which places are no instructions or somebody else's.
 *
 * The stubs use encodings that 32- and 64-bit mode share.
 */
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stacktrace.h>

#include <asm/alternative.h>
#include <asm/asm.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "../../debug/debug_core.h"
#include "../internal.h"
#include "fixture.h"

/* --- Stubs ------------------------------------------------------------------ */

#define STUB(name)				\
	"	.balign 16\n"			\
	"	.globl " #name "\n"		\
	"	.type " #name ", @function\n"	\
	#name ":\n"				\
	"	" ASM_ENDBR

#define STUB_END(name)				\
	"	" ASM_RET			\
	"	.size " #name ", . - " #name "\n"

asm(
"	.pushsection .text\n"
/* The same five-byte instruction under two sets of flags; returns the stack pointer. */
STUB(stub_carry)
"	movl $1, %eax\n"
"	cmp $2, %eax\n"
"	" ANNOTATE_NOENDBR
"	movl $0x1234, %edx\n"
"	" ANNOTATE_NOENDBR
"	mov %" _ASM_SP ", %" _ASM_AX "\n"
STUB_END(stub_carry)
STUB(stub_zero)
"	xor %eax, %eax\n"
"	" ANNOTATE_NOENDBR
"	movl $0x1234, %edx\n"
"	" ANNOTATE_NOENDBR
"	mov %" _ASM_SP ", %" _ASM_AX "\n"
STUB_END(stub_zero)
/* Two instructions that a jump replaces together, then one to skip: 2 + 3 + 30. */
STUB(stub_pair)
"	" ANNOTATE_NOENDBR
"	movl $2, %eax\n"
"	" ANNOTATE_NOENDBR
"	mov %eax, %edx\n"
"	" ANNOTATE_NOENDBR
"	add $3, %edx\n"
"	add $30, %edx\n"
"	" ANNOTATE_NOENDBR
"	mov %edx, %eax\n"
STUB_END(stub_pair)
/* Returns the flags behind an instruction that changes none. */
STUB(stub_flags)
"	movl $1, %eax\n"
"	cmp $2, %eax\n"
"	" ANNOTATE_NOENDBR
"	movl $0x1234, %edx\n"
"	pushf\n"
"	pop %" _ASM_AX "\n"
STUB_END(stub_flags)
/* A jump over two traps, which nothing reaches, though objtool thinks so. */
STUB(stub_jumps)
"	movl $6, %eax\n"
"	test %eax, %eax\n"
"	jz 1f\n"
"	" ANNOTATE_NOENDBR
"	jmp 2f\n"
"1:	" ANNOTATE_NOENDBR
"	ud2\n"
"	" ANNOTATE_NOENDBR
"	int3\n"
"2:	" ANNOTATE_NOENDBR
STUB_END(stub_jumps)
/* Loads from where ERR_PTR() points, which faults; returns that address then. */
STUB(stub_fixup)
"	push $-16\n"
"	pop %" _ASM_AX "\n"
"3:	" ANNOTATE_NOENDBR
"	movl (%" _ASM_AX "), %eax\n"
"4:\n"
STUB_END(stub_fixup)
_ASM_EXTABLE(3b, 4b)
/* What no CPU does that is no hypervisor: an invalid opcode, and 1 behind it. */
STUB(stub_invalid)
"	xor %eax, %eax\n"
"	" ANNOTATE_NOENDBR
"5:	vmread %" _ASM_CX ", %" _ASM_DX "\n"
"	inc %eax\n"
"6:	inc %eax\n"
STUB_END(stub_invalid)
_ASM_EXTABLE(5b, 6b)
/* Not executed: an ENDBR, a lock prefix, an operand at the end of what is in reach. */
STUB(stub_places)
"	movl $1, %eax\n"
"	.byte 0xf3, 0x0f, 0x1e, 0xfa\n"
"	" ANNOTATE_NOENDBR
"	" LOCK_PREFIX_HERE "\n"
"	lock\n"
"	incl (%" _ASM_DX ")\n"
"	" ANNOTATE_NOENDBR
"	.byte 0x48, 0x8d, 0x05\n"		/* lea into rax; dec eax, and lea */
"	.long -0x7ffffff0\n"
STUB_END(stub_places)
"	.popsection\n"
);

unsigned long stub_carry(void);
unsigned long stub_zero(void);
unsigned long stub_pair(void);
unsigned long stub_flags(void);
unsigned long stub_jumps(void);
unsigned long stub_fixup(void);
unsigned long stub_invalid(void);
unsigned long stub_places(void);

/*
 * Addresses inside of stubs, counted from behind the ENDBR. A label would be a
 * symbol, and what follows it a function of its own.
 */
#define ENDBR_BYTES	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)
#define IN_STUB(stub, offset)	((u8 *)(stub) + ENDBR_BYTES + (offset))

#define CARRY_AT	IN_STUB(stub_carry, 8)
#define ZERO_AT		IN_STUB(stub_zero, 2)
#define FLAGS_AT	IN_STUB(stub_flags, 8)
#define JUMPS_AT	IN_STUB(stub_jumps, 9)
#define JUMPS_UD2	IN_STUB(stub_jumps, 11)
#define JUMPS_INT3	IN_STUB(stub_jumps, 13)
#define JUMPS_TO	IN_STUB(stub_jumps, 14)
#define FIXUP_AT	IN_STUB(stub_fixup, 3)
#define INVALID_AT	IN_STUB(stub_invalid, 2)
#define PLACES_ENDBR	IN_STUB(stub_places, 5)
#define PLACES_LOCK	IN_STUB(stub_places, 9)
#define PLACES_FAR	IN_STUB(stub_places, 12)

/*
 * These are replaced by a jump, so no constant in the text or data may give
 * their addresses: control might come from there, for all anybody knows.
 */
static u8 *in_pair(int offset)
{
	u8 *stub = (u8 *)stub_pair;

	OPTIMIZER_HIDE_VAR(stub);
	return stub + ENDBR_BYTES + offset;
}

#define PAIR_AT		in_pair(5)
#define PAIR_INSIDE	in_pair(7)
#define PAIR_END	in_pair(13)

#define PAIR_RESULT	35

static int sink;

static noinline notrace int x86_trap_target(int x)
{
	WRITE_ONCE(sink, x);
	return 5 * x + 2;
}

static noinline notrace int x86_jump_target(int x)
{
	WRITE_ONCE(sink, x);
	return 5 * x + 2;
}

static noinline int x86_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return 5 * x + 2;
}

static noinline notrace int x86_other(int x)
{
	return x + 1000;
}

typedef int (*x86_fn)(int x);

static noinline notrace int x86_call(x86_fn fn, int x)
{
	int ret = READ_ONCE(fn)(x);

	/* Not a tail call. */
	OPTIMIZER_HIDE_VAR(ret);
	return ret;
}

struct x86_kind {
	const char *name;
	x86_fn target;
	bool trap;
};

static const struct x86_kind x86_kinds[] = {
	{ "trap", x86_trap_target, true },
	{ "jump", x86_jump_target, false },
	{ "ftrace", x86_ftrace_target, false },
};

KUNIT_ARRAY_PARAM_DESC(x86_kind, x86_kinds, name);

/* A post_handler keeps @w on its breakpoint. */
static void register_as(struct kunit *test, struct watch *w, bool trap)
{
	if (trap)
		w->kp.post_handler = watch_post;
	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
}

static void skip_without_jumps(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jump optimization");
}

static bool is_jump(void *addr)
{
	return *(u8 *)addr == JMP32_INSN_OPCODE;
}

static bool is_int3(void *addr)
{
	return *(u8 *)addr == INT3_INSN_OPCODE;
}

/* --- What a handler sees ------------------------------------------------------ */

static unsigned long top_of_stack;

static int note_top_of_stack(struct kprobe *kp, struct pt_regs *regs)
{
	top_of_stack = *(unsigned long *)kernel_stack_pointer(regs);
	return watch_pre(kp, regs);
}
NOKPROBE_SYMBOL(note_top_of_stack);

static bool within(unsigned long addr, void *fn)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) &&
	       addr - offset == (unsigned long)fn;
}

/* At a function's entry the return address is on top of the stack, whatever the kind. */
static void test_entry_regs(struct kunit *test)
{
	const struct x86_kind *kind = test->param_value;
	struct watch *w = watch_new(test, kind->target);

	w->kp.pre_handler = note_top_of_stack;
	register_as(test, w, kind->trap);
	KUNIT_EXPECT_EQ(test, x86_call(kind->target, 8), 42);
	KUNIT_ASSERT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->regs.ip, (unsigned long)w->kp.addr + 1);
	KUNIT_EXPECT_EQ(test, (int)regs_get_kernel_argument(&w->regs, 0), 8);
	KUNIT_EXPECT_FALSE(test, user_mode(&w->regs));
	KUNIT_EXPECT_TRUE(test, within(top_of_stack, x86_call));
}

struct flags_row {
	const char *name;
	unsigned long (*stub)(void);
	u8 *at;
	unsigned long flags;
	bool trap;
	bool irqs_off;
};

#define ARITH_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_ZF | X86_EFLAGS_PF)

static const struct flags_row flags_rows[] = {
	{ "carry, trap", stub_carry, CARRY_AT, X86_EFLAGS_CF | X86_EFLAGS_PF, true, false },
	{ "carry, jump", stub_carry, CARRY_AT, X86_EFLAGS_CF | X86_EFLAGS_PF, false, false },
	{ "zero, trap", stub_zero, ZERO_AT, X86_EFLAGS_ZF | X86_EFLAGS_PF, true, false },
	{ "zero, jump", stub_zero, ZERO_AT, X86_EFLAGS_ZF | X86_EFLAGS_PF, false, false },
	{ "interrupts off, trap", stub_zero, ZERO_AT,
	  X86_EFLAGS_ZF | X86_EFLAGS_PF, true, true },
	{ "interrupts off, jump", stub_zero, ZERO_AT,
	  X86_EFLAGS_ZF | X86_EFLAGS_PF, false, true },
};

KUNIT_ARRAY_PARAM_DESC(flags_row, flags_rows, name);

static unsigned long run_flags_row(const struct flags_row *row, bool *irqs_stayed)
{
	unsigned long flags, sp;

	if (!row->irqs_off) {
		sp = row->stub();
		*irqs_stayed = !irqs_disabled();
		return sp;
	}
	local_irq_save(flags);
	sp = row->stub();
	*irqs_stayed = irqs_disabled();
	local_irq_restore(flags);
	return sp;
}

static void test_flags_and_stack(struct kunit *test)
{
	const struct flags_row *row = test->param_value;
	struct watch *w = watch_new(test, row->at);
	unsigned long sp;
	bool irqs_stayed;

	if (!row->trap)
		skip_without_jumps(test);
	register_as(test, w, row->trap);
	KUNIT_EXPECT_EQ(test, is_jump(row->at), !row->trap);
	sp = run_flags_row(row, &irqs_stayed);
	KUNIT_EXPECT_TRUE(test, irqs_stayed);
	KUNIT_ASSERT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, kernel_stack_pointer(&w->regs), sp);
	KUNIT_EXPECT_EQ(test, w->regs.ip, (unsigned long)row->at + 1);
	KUNIT_EXPECT_EQ(test, w->regs.flags & ARITH_FLAGS, row->flags);
	KUNIT_EXPECT_EQ(test, !(w->regs.flags & X86_EFLAGS_IF), row->irqs_off);
	KUNIT_EXPECT_FALSE(test, w->regs.flags & X86_EFLAGS_TF);
}

static void test_post_handler_ip(struct kunit *test)
{
	struct watch *straight = watch_new(test, CARRY_AT);
	struct watch *jump = watch_new(test, JUMPS_AT);
	struct watch *entry = watch_new(test, x86_ftrace_target);

	register_as(test, straight, true);
	register_as(test, jump, true);
	register_as(test, entry, true);
	stub_carry();
	KUNIT_EXPECT_EQ(test, stub_jumps(), 6);
	x86_call(x86_ftrace_target, 1);
	KUNIT_EXPECT_EQ(test, straight->post_ip, (unsigned long)CARRY_AT + 5);
	KUNIT_EXPECT_EQ(test, jump->post_ip, (unsigned long)JUMPS_TO);
	if (kprobe_ftrace(&entry->kp))
		KUNIT_EXPECT_EQ(test, entry->post_ip,
				(unsigned long)entry->kp.addr + CALL_INSN_SIZE);
}

/* --- What a handler may do ------------------------------------------------------ */

static int set_argument(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
#ifdef CONFIG_X86_64
	regs->di = 20;
#else
	regs->ax = 20;
#endif
	return 0;
}
NOKPROBE_SYMBOL(set_argument);

static void test_change_argument(struct kunit *test)
{
	const struct x86_kind *kind = test->param_value;
	struct watch *w = watch_new(test, kind->target);

	w->kp.pre_handler = set_argument;
	register_as(test, w, kind->trap);
	KUNIT_EXPECT_EQ(test, x86_call(kind->target, 8), 102);
}

static int go_elsewhere(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	instruction_pointer_set(regs, (unsigned long)x86_other);
	return 1;
}
NOKPROBE_SYMBOL(go_elsewhere);

static void test_redirect_entry(struct kunit *test)
{
	const struct x86_kind *kind = test->param_value;
	struct watch *w = watch_new(test, kind->target);

	w->kp.pre_handler = go_elsewhere;
	register_as(test, w, kind->trap);
	KUNIT_EXPECT_EQ(test, x86_call(kind->target, 8), 1008);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->post, 0);
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

static int skip_three(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	regs->dx = 77;
	instruction_pointer_set(regs, (unsigned long)PAIR_END);
	return 1;
}
NOKPROBE_SYMBOL(skip_three);

/* From the middle of a function, out of a trap and out of a jump. */
static void expect_redirect(struct kunit *test, kprobe_pre_handler_t handler,
			    unsigned long result)
{
	struct watch *w = watch_new(test, PAIR_AT);
	int trap;

	for (trap = 1; trap >= 0; trap--) {
		watch_init(w, PAIR_AT);
		w->kp.pre_handler = handler;
		register_as(test, w, trap);
		KUNIT_EXPECT_EQ_MSG(test, stub_pair(), result, "trap %d", trap);
		KUNIT_EXPECT_EQ(test, w->pre, 1);
		fixture_release(test, &w->kp);
		wait_for_kprobe_optimizer();
	}
	KUNIT_EXPECT_EQ(test, stub_pair(), PAIR_RESULT);
}

static void test_redirect_inside(struct kunit *test)
{
	expect_redirect(test, skip_three, 77);
}

static noinline notrace void x86_nothing(void)
{
	barrier();
}

/* Two of the three are skipped by what is called in their place. */
static int call_instead(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	regs->dx = 77;
	int3_emulate_call(regs, (unsigned long)x86_nothing);
	return 1;
}
NOKPROBE_SYMBOL(call_instead);

static void test_redirect_by_call(struct kunit *test)
{
	expect_redirect(test, call_instead, 77 + 30);
}

static int claim_redirect(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	return 1;
}
NOKPROBE_SYMBOL(claim_redirect);

/* A handler that returns non-zero but leaves regs->ip alone redirects nothing. */
static void test_empty_redirect(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_AT);

	skip_without_jumps(test);
	w->kp.pre_handler = claim_redirect;
	register_as(test, w, false);
	KUNIT_ASSERT_TRUE(test, is_jump(PAIR_AT));
	KUNIT_EXPECT_EQ(test, stub_pair(), PAIR_RESULT);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

/* --- Users of a jump -------------------------------------------------------------- */

static int watch_another(struct kprobe *kp, struct pt_regs *regs)
{
	return watch_pre(kp, regs);
}
NOKPROBE_SYMBOL(watch_another);

/* Three calls: whoever is on gets three hits, the newest first. */
static void expect_users(struct kunit *test, struct watch **w, const char *on)
{
	unsigned int before[3], turns = 0, i, expected;
	size_t nr = strlen(on);

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		before[i] = w[i]->pre;
		w[i]->turns = &turns;
	}
	for (i = 0; i < 3; i++, turns = 0)
		KUNIT_EXPECT_EQ(test, stub_pair(), PAIR_RESULT);
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		const char *at = strchr(on, 'a' + i);

		expected = at ? nr - (at - on) : 0;
		KUNIT_EXPECT_EQ_MSG(test, w[i]->pre - before[i], at ? 3 : 0,
				    "%c with \"%s\"", 'a' + i, on);
		if (at)
			KUNIT_EXPECT_EQ_MSG(test, w[i]->turn, expected,
					    "%c with \"%s\"", 'a' + i, on);
	}
	KUNIT_EXPECT_TRUE_MSG(test, is_jump(PAIR_AT), "\"%s\"", on);
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

/*
 * The users of a jump come, go, and are switched, with the same handler and with
 * another; the jump stays.  Letters are users in the order that they came in.
 */
static void test_jump_users(struct kunit *test)
{
	struct watch *w[3];
	int i;

	skip_without_jumps(test);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		w[i] = watch_new(test, PAIR_AT);
	w[2]->kp.pre_handler = watch_another;
	register_as(test, w[0], false);
	expect_users(test, w, "a");
	fixture_register(test, &w[1]->kp);
	expect_users(test, w, "ab");
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w[0]->kp), 0);
	expect_users(test, w, "b");
	fixture_register(test, &w[2]->kp);
	expect_users(test, w, "bc");
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w[0]->kp), 0);
	expect_users(test, w, "abc");
	fixture_release(test, &w[1]->kp);
	expect_users(test, w, "ac");
	fixture_release(test, &w[0]->kp);
	expect_users(test, w, "c");
	fixture_register(test, &w[1]->kp);
	expect_users(test, w, "cb");
	fixture_release(test, &w[2]->kp);
	expect_users(test, w, "b");
}

/* The first of two users takes over, or only says so. */
static void test_jump_redirect_of_two(struct kunit *test)
{
	struct watch *old = watch_new(test, PAIR_AT);
	struct watch *new = watch_new(test, PAIR_AT);

	skip_without_jumps(test);
	register_as(test, old, false);
	new->kp.pre_handler = claim_redirect;
	fixture_register(test, &new->kp);
	KUNIT_EXPECT_EQ(test, stub_pair(), PAIR_RESULT);
	KUNIT_EXPECT_EQ(test, new->pre, 1);
	KUNIT_EXPECT_EQ(test, old->pre, 1);
	fixture_release(test, &new->kp);

	new->kp.pre_handler = skip_three;
	fixture_register(test, &new->kp);
	KUNIT_EXPECT_EQ(test, stub_pair(), 77);
	KUNIT_EXPECT_EQ(test, new->pre, 2);
	KUNIT_EXPECT_EQ(test, old->pre, 1);
	KUNIT_EXPECT_TRUE(test, is_jump(PAIR_AT));
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

#define CHANGED_FLAGS	(X86_EFLAGS_CF | X86_EFLAGS_OF)

static int change_flags(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	regs->flags ^= CHANGED_FLAGS;
	return 0;
}
NOKPROBE_SYMBOL(change_flags);

/* Flags that a handler changes are those that the function goes on with. */
static void test_change_flags(struct kunit *test)
{
	struct watch *w = watch_new(test, FLAGS_AT);
	unsigned long before = stub_flags();
	int trap;

	for (trap = 1; trap >= 0; trap--) {
		watch_init(w, FLAGS_AT);
		w->kp.pre_handler = change_flags;
		register_as(test, w, trap);
		KUNIT_EXPECT_EQ_MSG(test, stub_flags() ^ before, CHANGED_FLAGS,
				    "trap %d", trap);
		fixture_release(test, &w->kp);
		wait_for_kprobe_optimizer();
	}
}

static unsigned long trace[16];
static unsigned int trace_len;

static int save_trace(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	trace_len = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
	return 0;
}
NOKPROBE_SYMBOL(save_trace);

static bool traced(void *fn)
{
	unsigned long start = (unsigned long)fn, size, offset;
	unsigned int i;

	if (!kallsyms_lookup_size_offset(start, &size, &offset))
		return false;
	for (i = 0; i < trace_len; i++) {
		if (trace[i] - start < size)
			return true;
	}
	return false;
}

static noinline int call_pair(void)
{
	int ret = stub_pair();

	barrier();
	return ret;
}

/* A stack trace in a handler leads to the probed function and its caller. */
static void test_stack_trace(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_AT);
	int trap;

	if (!IS_ENABLED(CONFIG_UNWINDER_ORC))
		kunit_skip(test, "no unwinder that understands registers on the stack");
	for (trap = 1; trap >= 0; trap--) {
		watch_init(w, PAIR_AT);
		w->kp.pre_handler = save_trace;
		register_as(test, w, trap);
		KUNIT_EXPECT_EQ(test, call_pair(), PAIR_RESULT);
		KUNIT_EXPECT_EQ(test, w->pre, 1);
		KUNIT_EXPECT_TRUE_MSG(test, traced(stub_pair), "trap %d", trap);
		KUNIT_EXPECT_TRUE_MSG(test, traced(call_pair), "trap %d", trap);
		fixture_release(test, &w->kp);
		wait_for_kprobe_optimizer();
	}
}

/* --- Text and neighbours ----------------------------------------------------------- */

static void test_text_bytes(struct kunit *test)
{
	struct watch *w = watch_new(test, CARRY_AT);
	u8 before = *CARRY_AT;

	register_as(test, w, true);
	KUNIT_EXPECT_TRUE(test, is_int3(CARRY_AT));
	KUNIT_EXPECT_EQ(test, w->kp.opcode, before);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, *CARRY_AT, before);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_TRUE(test, is_int3(CARRY_AT));
	fixture_release(test, &w->kp);
	KUNIT_EXPECT_EQ(test, *CARRY_AT, before);
}

static void expect_pair(struct kunit *test, struct watch *w, unsigned int pre)
{
	KUNIT_EXPECT_EQ(test, stub_pair(), PAIR_RESULT);
	KUNIT_EXPECT_EQ(test, w->pre, pre);
}

/* A probe inside the bytes of a jump sends the jump away, and lets it come back. */
static void test_neighbour_removed(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_AT);
	struct watch *inside = watch_new(test, PAIR_INSIDE);

	skip_without_jumps(test);
	register_as(test, w, false);
	KUNIT_ASSERT_TRUE(test, is_jump(PAIR_AT));
	fixture_register(test, &inside->kp);
	KUNIT_EXPECT_TRUE(test, is_int3(PAIR_AT));
	expect_pair(test, w, 1);
	KUNIT_EXPECT_EQ(test, inside->pre, 1);

	fixture_release(test, &inside->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_jump(PAIR_AT));
	expect_pair(test, w, 2);
	KUNIT_EXPECT_EQ(test, inside->pre, 1);
}

static void test_neighbour_disabled(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_AT);
	struct watch *inside = watch_new(test, PAIR_INSIDE);

	skip_without_jumps(test);
	inside->kp.flags = KPROBE_FLAG_DISABLED;
	fixture_register(test, &inside->kp);
	register_as(test, w, false);
	KUNIT_EXPECT_TRUE(test, is_jump(PAIR_AT));

	KUNIT_EXPECT_EQ(test, enable_kprobe(&inside->kp), 0);
	KUNIT_EXPECT_TRUE(test, is_int3(PAIR_AT));
	expect_pair(test, w, 1);
	KUNIT_EXPECT_EQ(test, inside->pre, 1);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&inside->kp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_jump(PAIR_AT));
	expect_pair(test, w, 2);
	KUNIT_EXPECT_EQ(test, inside->pre, 1);
}

/* The neighbour is there first, so there is no jump until it goes. */
static void test_neighbour_first(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_AT);
	struct watch *inside = watch_new(test, PAIR_INSIDE);

	skip_without_jumps(test);
	inside->kp.post_handler = watch_post;
	fixture_register(test, &inside->kp);
	register_as(test, w, false);
	KUNIT_EXPECT_TRUE(test, is_int3(PAIR_AT));
	expect_pair(test, w, 1);
	KUNIT_EXPECT_EQ(test, inside->post, 1);

	fixture_release(test, &inside->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_jump(PAIR_AT));
	expect_pair(test, w, 2);
}

/* --- Places ------------------------------------------------------------------------- */

struct place {
	const char *name;
	u8 *at;
	unsigned int offset;
	int error;
};

static const struct place places[] = {
	{ "1 byte into an instruction", CARRY_AT, 1, -EILSEQ },
	{ "2 bytes into an instruction", CARRY_AT, 2, -EILSEQ },
	{ "3 bytes into an instruction", CARRY_AT, 3, -EILSEQ },
	{ "4 bytes into an instruction", CARRY_AT, 4, -EILSEQ },
	{ "behind the instruction", CARRY_AT, 5, 0 },
	{ "ud2 of nobody", JUMPS_UD2, 0, -EILSEQ },
	{ "int3 of nobody", JUMPS_INT3, 0, -EILSEQ },
	{ "ENDBR in a function", PLACES_ENDBR, 0,
	  IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? -EILSEQ : 0 },
	{ "operand out of the copy's reach", PLACES_FAR, 0,
	  IS_ENABLED(CONFIG_X86_64) ? -EINVAL : 0 },
};

KUNIT_ARRAY_PARAM_DESC(place, places, name);

static void expect_place(struct kunit *test, const struct place *place, const char *when)
{
	struct watch *w = watch_new(test, place->at);
	u8 before[WATCHED_TEXT], after[WATCHED_TEXT];
	int ret;

	w->kp.offset = place->offset;
	KUNIT_ASSERT_TRUE(test, fixture_read_text(before, place->at));
	ret = register_kprobe(&w->kp);
	if (!ret)
		unregister_kprobe(&w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ_MSG(test, ret, place->error, "%s", when);
	KUNIT_ASSERT_TRUE(test, fixture_read_text(after, place->at));
	KUNIT_EXPECT_MEMEQ(test, before, after, WATCHED_TEXT);
}

static void test_place(struct kunit *test)
{
	expect_place(test, test->param_value, "unprobed");
}

/* A breakpoint or jump that is already there changes no answer. */
static void test_place_beside_probe(struct kunit *test)
{
	struct watch *w = watch_new(test, CARRY_AT);

	register_as(test, w, true);
	expect_place(test, test->param_value, "trap");
	fixture_release(test, &w->kp);

	watch_init(w, CARRY_AT);
	register_as(test, w, false);
	expect_place(test, test->param_value, "jump");
}

/*
 * When a kernel starts on one CPU lock prefixes are patched away, and back if
 * there can be another one. Under a breakpoint that would be forgotten.
 */
static void test_lock_prefix(struct kunit *test)
{
	struct place place = { .at = PLACES_LOCK };

	if (num_possible_cpus() > 1 && *PLACES_LOCK == 0x3e)
		place.error = -EINVAL;
	expect_place(test, &place, "lock");
}

/*
 * Another CPU took the breakpoint away. The instruction is resumed, so that not
 * even an emulator with a stale copy of the text comes back for ever.
 */
static void test_stale_trap(struct kunit *test)
{
	struct pt_regs regs = {
		.ip = (unsigned long)PLACES_LOCK + INT3_INSN_SIZE,
		.cs = __KERNEL_CS,
	};
	unsigned long before, after;
	int handled;

	preempt_disable();
	before = __this_cpu_read(kprobe_stale_hits);
	handled = kprobe_int3_handler(&regs);
	after = __this_cpu_read(kprobe_stale_hits);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, handled, 1);
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)PLACES_LOCK);
	KUNIT_EXPECT_EQ(test, regs.flags, X86_EFLAGS_RF);
	KUNIT_EXPECT_EQ(test, after - before, 1);
}

#ifdef CONFIG_KGDB
static void remove_breakpoint(void *addr)
{
	dbg_deactivate_sw_breakpoints();
	dbg_remove_sw_break((unsigned long)addr);
}

/* A debugger's breakpoint hides an instruction; where probes may not be it may not. */
static void test_debugger(struct kunit *test)
{
	struct watch *w = watch_new(test, CARRY_AT);

	KUNIT_ASSERT_EQ(test, dbg_set_sw_break((unsigned long)CARRY_AT), 0);
	KUNIT_ASSERT_EQ(test, dbg_activate_sw_breakpoints(), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_breakpoint, CARRY_AT), 0);
	KUNIT_EXPECT_TRUE(test, is_int3(CARRY_AT));
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EILSEQ);
	watch_init(w, CARRY_AT + 5);
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EILSEQ);
	kunit_release_action(test, remove_breakpoint, CARRY_AT);

	KUNIT_EXPECT_FALSE(test, is_int3(CARRY_AT));
	watch_init(w, CARRY_AT + 5);
	fixture_register(test, &w->kp);
	if (IS_ENABLED(CONFIG_KGDB_HONOUR_BLOCKLIST))
		KUNIT_EXPECT_EQ(test, dbg_set_sw_break((unsigned long)watch_pre), -EINVAL);
}
#endif

/* Returns amid a hit may go through any of them. */
static void test_return_thunks(struct kunit *test)
{
	static const char * const names[] = {
		"__x86_return_thunk", "retbleed_return_thunk", "srso_return_thunk",
		"srso_safe_ret", "srso_alias_return_thunk", "srso_alias_safe_ret",
		"call_depth_return_thunk",
	};
	struct watch *w = watch_new(test, NULL);
	int i;

	if (!IS_ENABLED(CONFIG_MITIGATION_RETHUNK))
		kunit_skip(test, "returns are returns in this kernel");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		watch_init(w, NULL);
		w->kp.symbol_name = names[i];
		if (kprobe_lookup_name(names[i], 0))
			KUNIT_EXPECT_EQ_MSG(test, register_kprobe(&w->kp), -EINVAL,
					    "%s", names[i]);
	}
}

static void test_exception_entry(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	w->kp.symbol_name = "asm_exc_int3";
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EINVAL);
}

/* An offset past the symbol names the next one: kallsyms decides, not the name given. */
static void test_offset_into_next_symbol(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	w->kp.symbol_name = "stub_carry";
	w->kp.offset = (char *)stub_zero - (char *)stub_carry;
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_TRUE(test, w->kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY);
	stub_carry();
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	stub_zero();
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

static noinline void *first_insn(void *fn)
{
	return is_endbr(*(u32 *)fn) ? fn + 4 : fn;
}

static void test_inside_is_not_entry(struct kunit *test)
{
	struct watch *w = watch_new(test, PAIR_INSIDE);

	fixture_register(test, &w->kp);
	stub_pair();
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_FALSE(test, w->running_flags & KPROBE_FLAG_ON_FUNC_ENTRY);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry((void *)PAIR_INSIDE, NULL, 0), -EINVAL);
}

/* Offset 0 and, with IBT, offset 4 are the entry and end up behind the ENDBR. */
static void test_endbr_is_skipped(struct kunit *test)
{
	struct watch *w = watch_new(test, stub_pair);
	void *entry = first_insn(stub_pair);

	fixture_register(test, &w->kp);
	KUNIT_EXPECT_PTR_EQ(test, (void *)w->kp.addr, entry);
	KUNIT_EXPECT_TRUE(test, w->kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY);
	fixture_release(test, &w->kp);

	watch_init(w, entry);
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_PTR_EQ(test, (void *)w->kp.addr, entry);
	KUNIT_EXPECT_TRUE(test, w->kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY);
}

#ifdef CONFIG_KPROBES_ON_FTRACE
static void test_ftrace_site(struct kunit *test)
{
	void *site = first_insn(x86_ftrace_target);
	struct watch *w = watch_new(test, x86_ftrace_target);
	struct watch *behind = watch_new(test, site + MCOUNT_INSN_SIZE);
	int i;

	KUNIT_ASSERT_EQ(test, ftrace_location((unsigned long)site), (unsigned long)site);
	for (i = 1; i < MCOUNT_INSN_SIZE; i++) {
		watch_init(w, site + i);
		KUNIT_EXPECT_EQ_MSG(test, register_kprobe(&w->kp), -EILSEQ, "byte %d", i);
	}
	watch_init(w, x86_ftrace_target);
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_PTR_EQ(test, (void *)w->kp.addr, site);
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&w->kp));
	fixture_register(test, &behind->kp);
	KUNIT_EXPECT_FALSE(test, kprobe_ftrace(&behind->kp));
	KUNIT_EXPECT_EQ(test, x86_call(x86_ftrace_target, 8), 42);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, behind->pre, 1);
}
#endif

#ifdef CONFIG_KPROBES_ON_FTRACE
static void notrace take_over(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
}

static struct ftrace_ops patcher = {
	.func = take_over,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void remove_patcher(void *ops)
{
	unregister_ftrace_function(ops);
}

/* Beside somebody who may change the instruction pointer it stays disabled. */
static void test_enable_refused_by_ftrace(struct kunit *test)
{
	struct watch *w = watch_new(test, x86_ftrace_target);

	w->kp.flags = KPROBE_FLAG_DISABLED;
	w->kp.post_handler = watch_post;
	fixture_register(test, &w->kp);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&patcher, (unsigned long)w->kp.addr, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&patcher), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_patcher, &patcher), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), -EBUSY);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
	x86_call(x86_ftrace_target, 8);
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	kunit_release_action(test, remove_patcher, &patcher);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	x86_call(x86_ftrace_target, 8);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->post, 1);
}
#endif

#define FIXUP_RESULT	-16UL

static int pre_has_a_fault(struct kprobe *kp, struct pt_regs *regs)
{
	to_watch(kp)->pre += stub_fixup() == FIXUP_RESULT;
	return 0;
}
NOKPROBE_SYMBOL(pre_has_a_fault);

static const kprobe_post_handler_t fixup_posts[] = { NULL, watch_post };

static void fixup_desc(const kprobe_post_handler_t *post, char *desc)
{
	strscpy(desc, *post ? "post_handler" : "no post_handler", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fixup, fixup_posts, fixup_desc);

/*
 * A fault of the copy is the probed instruction's: its fixup is found. So that it
 * can be, the copy is the one that is stepped, with a post_handler or without.
 */
static void test_fault_is_fixed_up(struct kunit *test)
{
	const kprobe_post_handler_t *post = test->param_value;
	struct watch *w = watch_new(test, FIXUP_AT);
	struct watch *outer = watch_new(test, x86_trap_target);

	KUNIT_ASSERT_EQ(test, stub_fixup(), FIXUP_RESULT);
	w->kp.post_handler = *post;
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_EQ(test, stub_fixup(), FIXUP_RESULT);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->post, 0);
	KUNIT_EXPECT_FALSE(test, amid_hit());
	KUNIT_EXPECT_FALSE(test, irqs_disabled());

	outer->kp.pre_handler = pre_has_a_fault;
	outer->kp.post_handler = watch_post;
	fixture_register(test, &outer->kp);
	KUNIT_EXPECT_EQ(test, x86_trap_target(1), 7);
	KUNIT_EXPECT_EQ(test, outer->pre, 1);
	KUNIT_EXPECT_EQ(test, outer->post, 1);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 1);
	KUNIT_EXPECT_FALSE(test, amid_hit());
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* The same of a fault that kprobes hear of by a notifier only. */
static void test_invalid_opcode_is_fixed_up(struct kunit *test)
{
	struct watch *w = watch_new(test, INVALID_AT);
	int i;

	if (stub_invalid() != 1)
		kunit_skip(test, "this CPU does it");
	fixture_register(test, &w->kp);
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_EQ(test, stub_invalid(), 1);
		KUNIT_EXPECT_EQ(test, w->pre, i);
		KUNIT_EXPECT_FALSE(test, amid_hit());
		KUNIT_EXPECT_FALSE(test, irqs_disabled());
	}
}

static struct kunit_case api_x86_cases[] = {
	KUNIT_CASE_PARAM(test_entry_regs, x86_kind_gen_params),
	KUNIT_CASE_PARAM(test_flags_and_stack, flags_row_gen_params),
	KUNIT_CASE(test_post_handler_ip),
	KUNIT_CASE_PARAM(test_change_argument, x86_kind_gen_params),
	KUNIT_CASE_PARAM(test_redirect_entry, x86_kind_gen_params),
	KUNIT_CASE(test_redirect_inside),
	KUNIT_CASE(test_redirect_by_call),
	KUNIT_CASE(test_empty_redirect),
	KUNIT_CASE(test_jump_users),
	KUNIT_CASE(test_jump_redirect_of_two),
	KUNIT_CASE(test_change_flags),
	KUNIT_CASE_PARAM(test_fault_is_fixed_up, fixup_gen_params),
	KUNIT_CASE(test_invalid_opcode_is_fixed_up),
	KUNIT_CASE(test_stack_trace),
	KUNIT_CASE(test_text_bytes),
	KUNIT_CASE(test_neighbour_removed),
	KUNIT_CASE(test_neighbour_disabled),
	KUNIT_CASE(test_neighbour_first),
	KUNIT_CASE_PARAM(test_place, place_gen_params),
	KUNIT_CASE_PARAM(test_place_beside_probe, place_gen_params),
	KUNIT_CASE(test_lock_prefix),
	KUNIT_CASE(test_stale_trap),
#ifdef CONFIG_KGDB
	KUNIT_CASE(test_debugger),
#endif
	KUNIT_CASE(test_return_thunks),
	KUNIT_CASE(test_exception_entry),
	KUNIT_CASE(test_offset_into_next_symbol),
	KUNIT_CASE(test_inside_is_not_entry),
	KUNIT_CASE(test_endbr_is_skipped),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(test_ftrace_site),
	KUNIT_CASE(test_enable_refused_by_ftrace),
#endif
	{}
};

static struct kunit_suite api_x86_suite = {
	.name = "kprobes_api_x86",
	.test_cases = api_x86_cases,
};

kunit_test_suite(api_x86_suite);

MODULE_DESCRIPTION("KUnit tests of the kprobes interface on x86");
MODULE_LICENSE("GPL");
