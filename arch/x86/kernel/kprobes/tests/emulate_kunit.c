// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probed instructions against the CPU.
 *
 * emulate_stubs.S has a stub for each of many instructions.  Each stub is run
 * under many patterns of registers and flags, first as it is, then with a real
 * probe on the instruction.  All registers, flags, stack and data must come out
 * the same, wherever control went.  Only the public interface of kprobes is
 * used, so the suite judges any implementation.
 *
 * What carries the instruction out differs with the kind of probe: one with a
 * post_handler has it emulated, or its copy stepped; one without may have the
 * copy jump back; and after the optimizer ran, the instruction may have been
 * displaced into a detour.  The last are all registered at once: that is one
 * wait for the optimizer, and puts detours side by side.  Detours call their
 * handlers in another way for one user, for two and for more.
 */
#include <kunit/test.h>
#include <linux/cpufeature.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/processor-flags.h>

#include "../detour.h"
#include "../insn.h"
#include "emulate_stubs.h"

static const void *stub_gen_params(const void *prev, char *desc);
static const void *users_gen_params(const void *prev, char *desc);

static void test_layout(struct kunit *test);
static void test_with_post_handler(struct kunit *test);
static void test_without_post_handler(struct kunit *test);
static void test_optimized(struct kunit *test);
static void test_every_class_occurs(struct kunit *test);
static void test_unreadable_operand_changes_nothing(struct kunit *test);
static void test_target_not_canonical_changes_nothing(struct kunit *test);
static void test_pushf_clears_vm_and_rf(struct kunit *test);
static void test_popf_loads_what_ring_0_can_change(struct kunit *test);

static struct kunit_case emulate_cases[] = {
	KUNIT_CASE(test_layout),
	KUNIT_CASE_PARAM(test_with_post_handler, stub_gen_params),
	KUNIT_CASE_PARAM(test_without_post_handler, stub_gen_params),
	KUNIT_CASE_PARAM(test_optimized, users_gen_params),
	KUNIT_CASE(test_every_class_occurs),
	KUNIT_CASE(test_unreadable_operand_changes_nothing),
	KUNIT_CASE(test_target_not_canonical_changes_nothing),
	KUNIT_CASE(test_pushf_clears_vm_and_rf),
	KUNIT_CASE(test_popf_loads_what_ring_0_can_change),
	{}
};

struct emu_machine emu_machine;

/* The first CPUs with 64 bits have no lahf and sahf. */
static const struct emu_stub *stubs_end(void)
{
	const struct emu_stub *end = emu_stubs_end;

	while (end[-1].kind == EMU_NEEDS_LAHF && IS_ENABLED(CONFIG_X86_64) &&
	       !boot_cpu_has(X86_FEATURE_LAHF_LM))
		end--;
	return end;
}

static const void *stub_gen_params(const void *prev, char *desc)
{
	const struct emu_stub *stub = prev ? (const struct emu_stub *)prev + 1 : emu_stubs;

	if (stub == stubs_end())
		return NULL;
	strscpy(desc, stub->name, KUNIT_PARAM_DESC_SIZE);
	return stub;
}

/* Carry, parity, adjust, zero, sign, overflow: all 64 sets, and then others. */
#define NR_FLAG_SETS	64
#define NR_COUNTS	6
#define NR_PATTERNS	(NR_FLAG_SETS * NR_COUNTS)

static unsigned long spread_flags(int set)
{
	unsigned long flags = X86_EFLAGS_FIXED;

	flags |= set & 1 ? X86_EFLAGS_CF : 0;
	flags |= set & 2 ? X86_EFLAGS_PF : 0;
	flags |= set & 4 ? X86_EFLAGS_AF : 0;
	flags |= set & 8 ? X86_EFLAGS_ZF : 0;
	flags |= set & 16 ? X86_EFLAGS_SF : 0;
	flags |= set & 32 ? X86_EFLAGS_OF : 0;
	return flags;
}

static unsigned long count_of(int pattern)
{
	/* The last ones are 0 and 1 in the narrower half only. */
	static const unsigned long counts[NR_COUNTS] = {
		0, 1, 2, 3, BIT(EMU_WORD * 4), BIT(EMU_WORD * 4) | 1,
	};

	return counts[pattern / NR_FLAG_SETS];
}

/* On top of the stack: flags that differ from those at the start. */
static void push_flags(int pattern)
{
	unsigned long image = spread_flags(pattern * 37 % NR_FLAG_SETS);

	image |= pattern & 1 ? X86_EFLAGS_IF : 0;
	image |= pattern & 2 ? X86_EFLAGS_ID : 0;
	image |= pattern & 4 ? X86_EFLAGS_DF : 0;
	image |= pattern & 8 ? X86_EFLAGS_RF : 0;
	memcpy(emu_machine.in_stack + EMU_STACK_BYTES / 2, &image, sizeof(image));
}

static void set_memory(const struct emu_stub *stub, int pattern)
{
	struct emu_machine *m = &emu_machine;
	unsigned long target = (unsigned long)emu_left_return;
	int i;

	for (i = 0; i < ARRAY_SIZE(m->slots); i++)
		m->slots[i] = (unsigned long)emu_left_indirect;
	for (i = 0; i < EMU_DATA_BYTES; i++)
		m->data[i] = i * 13 + pattern;
	for (i = 0; i < EMU_STACK_BYTES; i += sizeof(target))
		memcpy(m->in_stack + i, &target, sizeof(target));
	if (stub->kind == EMU_POPS_FLAGS)
		push_flags(pattern);
}

static void set_machine(const struct emu_stub *stub, int pattern)
{
	struct emu_machine *m = &emu_machine;
	int i;

	for (i = 0; i < EMU_NR_REGS; i++)
		m->in_regs[i] = (unsigned long)emu_left_indirect;
	m->in_regs[1] = count_of(pattern);
	m->in_regs[3] = (unsigned long)m->slots;
	m->in_regs[6] = 1;
#ifdef CONFIG_X86_64
	m->in_regs[14] = 2;
#endif
	if (stub->kind == EMU_STRING) {
		m->in_regs[1] &= 3;
		m->in_regs[6] = (unsigned long)m->data + 8;
		m->in_regs[7] = (unsigned long)m->data + 32;
	}
	m->in_flags = spread_flags(pattern % NR_FLAG_SETS);
	m->in_flags |= pattern & 1 ? X86_EFLAGS_IF : 0;
	m->in_flags |= pattern * 37 & 16 ? X86_EFLAGS_AC : 0;
	if (stub->kind != EMU_STRING)
		m->in_flags |= pattern * 37 & 8 ? X86_EFLAGS_DF : 0;
	m->entry = stub->entry;
	m->landing = -1UL;
	set_memory(stub, pattern);
}

/* Not inlined: the depth of the stack is part of what is compared. */
static noinline void run_stub(struct emu_machine *result, const struct emu_stub *stub,
			      int pattern)
{
	set_machine(stub, pattern);
	emu_enter();
	memcpy(result, &emu_machine, sizeof(*result));
}

/* The bytes at and above the stack pointer; what is below belongs to traps. */
static int live_stack(const struct emu_machine *m)
{
	long below = m->out_regs[4] - m->in_regs[4] + EMU_STACK_BYTES / 2;

	return clamp(below, 0L, (long)EMU_STACK_BYTES);
}

static void expect_same(struct kunit *test, const struct emu_stub *stub,
			const struct emu_machine *cpu,
			const struct emu_machine *probed, int pattern)
{
	int live = live_stack(cpu);
	int i;

	for (i = 0; i < EMU_NR_REGS; i++)
		KUNIT_EXPECT_EQ_MSG(test, cpu->out_regs[i], probed->out_regs[i],
				    "%s: register %d, pattern %d", stub->name, i, pattern);
	KUNIT_EXPECT_EQ_MSG(test, cpu->out_flags, probed->out_flags,
			    "%s: pattern %d", stub->name, pattern);
	KUNIT_EXPECT_EQ_MSG(test, cpu->landing, probed->landing,
			    "%s: pattern %d", stub->name, pattern);
	KUNIT_EXPECT_MEMEQ_MSG(test, cpu->data, probed->data, EMU_DATA_BYTES,
			       "%s: pattern %d", stub->name, pattern);
	KUNIT_EXPECT_MEMEQ_MSG(test, cpu->out_stack + live, probed->out_stack + live,
			       EMU_STACK_BYTES - live, "%s: pattern %d", stub->name, pattern);
}

static unsigned long hits, unfit_hits, direct_hits;

#define UNFIT_FLAGS	(X86_EFLAGS_DF | X86_EFLAGS_AC)

#if defined(CONFIG_OPTPROBES) && defined(CONFIG_X86_64)
static bool in_body(unsigned long addr)
{
	return addr - (unsigned long)kprobe_detour_one <
		       DETOUR_BODIES_ONE * kprobe_layout_one.size ||
	       addr - (unsigned long)kprobe_detour_two <
		       DETOUR_BODIES_TWO * kprobe_layout_two.size;
}
#else
static bool in_body(unsigned long addr)
{
	return false;
}
#endif

/* C code must not be run with these, whatever was probed. */
static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	if (native_save_fl() & UNFIT_FLAGS)
		unfit_hits++;
	if (in_body(_RET_IP_))
		direct_hits++;
	return 0;
}

NOKPROBE_SYMBOL(count_hit);

static void ignore_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

NOKPROBE_SYMBOL(ignore_post);

static void compare_runs(struct kunit *test, struct kprobe *p)
{
	const struct emu_stub *stub = test->param_value;
	struct emu_machine *results[2];
	int probed, i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		results[i] = kunit_kcalloc(test, NR_PATTERNS, sizeof(*results[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, results[i]);
	}

	hits = 0;
	p->addr = (kprobe_opcode_t *)stub->insn;
	for (probed = 0; probed < ARRAY_SIZE(results); probed++) {
		if (probed)
			KUNIT_ASSERT_EQ(test, 0, register_kprobe(p));
		for (i = 0; i < NR_PATTERNS; i++)
			run_stub(&results[probed][i], stub, i);
	}
	unregister_kprobe(p);

	KUNIT_EXPECT_EQ(test, hits, NR_PATTERNS);
	KUNIT_EXPECT_EQ(test, unfit_hits, 0);
	KUNIT_EXPECT_EQ(test, p->nmissed, 0);
	for (i = 0; i < NR_PATTERNS; i++)
		expect_same(test, stub, &results[0][i], &results[1][i], i);
}

static void test_layout(struct kunit *test)
{
	BUILD_BUG_ON(offsetof(struct emu_machine, in_regs) != EMU_IN_REGS);
	BUILD_BUG_ON(offsetof(struct emu_machine, out_regs) != EMU_OUT_REGS);
	BUILD_BUG_ON(offsetof(struct emu_machine, in_flags) != EMU_IN_FLAGS);
	BUILD_BUG_ON(offsetof(struct emu_machine, out_flags) != EMU_OUT_FLAGS);
	BUILD_BUG_ON(offsetof(struct emu_machine, host_flags) != EMU_HOST_FLAGS);
	BUILD_BUG_ON(offsetof(struct emu_machine, host_sp) != EMU_HOST_SP);
	BUILD_BUG_ON(offsetof(struct emu_machine, entry) != EMU_ENTRY);
	BUILD_BUG_ON(offsetof(struct emu_machine, landing) != EMU_LANDING);
	BUILD_BUG_ON(offsetof(struct emu_machine, slots) != EMU_SLOTS);
	BUILD_BUG_ON(offsetof(struct emu_machine, data) != EMU_DATA);
	BUILD_BUG_ON(offsetof(struct emu_machine, in_stack) != EMU_IN_STACK);
	BUILD_BUG_ON(offsetof(struct emu_machine, out_stack) != EMU_OUT_STACK);
	KUNIT_EXPECT_GT(test, emu_stubs_end - emu_stubs, 0);
}

static void test_with_post_handler(struct kunit *test)
{
	struct kprobe p = { .pre_handler = count_hit, .post_handler = ignore_post };

	compare_runs(test, &p);
}

static void test_without_post_handler(struct kunit *test)
{
	struct kprobe p = { .pre_handler = count_hit };

	compare_runs(test, &p);
}

/**
 * struct batch - all stubs at once
 * @nr:		how many there are
 * @users:	how many probes each has
 * @probes:	all of them, those of the first users first
 * @list:	pointers to them
 * @before:	the bytes of each instruction and more
 * @cpu:	what the CPU made of each, BATCH_PATTERNS of them
 */
struct batch {
	int nr;
	int users;
	struct kprobe *probes;
	struct kprobe **list;
	u8 (*before)[MAX_INSN_SIZE];
	struct emu_machine *cpu;
};

/* Every set of flags, with one or the other count. */
#define BATCH_PATTERNS	NR_FLAG_SETS

static int batch_pattern(int i)
{
	return i + i % NR_COUNTS * NR_FLAG_SETS;
}

KUNIT_DEFINE_ACTION_WRAPPER(vfree_action, vfree, const void *);

static void *test_vmalloc(struct kunit *test, size_t size)
{
	void *memory = vzalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, vfree_action, memory));
	return memory;
}

static void batch_init(struct kunit *test, struct batch *b)
{
	int i;

	b->nr = stubs_end() - emu_stubs;
	b->probes = test_vmalloc(test, b->nr * b->users * sizeof(*b->probes));
	b->list = test_vmalloc(test, b->nr * b->users * sizeof(*b->list));
	b->before = test_vmalloc(test, b->nr * sizeof(*b->before));
	b->cpu = test_vmalloc(test, b->nr * BATCH_PATTERNS * sizeof(*b->cpu));
	for (i = 0; i < b->nr * b->users; i++) {
		b->probes[i].addr = (kprobe_opcode_t *)emu_stubs[i % b->nr].insn;
		b->probes[i].pre_handler = count_hit;
		b->list[i] = &b->probes[i];
	}
	for (i = 0; i < b->nr; i++)
		memcpy(b->before[i], (void *)emu_stubs[i].insn, MAX_INSN_SIZE);
}

/* Is there a jump that was not there before? */
static bool batch_jumps(const struct batch *b, int i)
{
	const u8 *now = (const u8 *)emu_stubs[i].insn;

	return now[0] == JMP32_INSN_OPCODE && memcmp(now, b->before[i], JMP32_INSN_SIZE);
}

/* What the detour that a jump leads to calls. */
static const u8 *batch_body(int i)
{
	const u8 *at = (const u8 *)emu_stubs[i].insn;
	s32 disp;

	memcpy(&disp, at + 1, sizeof(disp));
	at += JMP32_INSN_SIZE + disp + kprobe_stub_call - kprobe_stub_start;
	memcpy(&disp, at + 1, sizeof(disp));
	return at + CALL_INSN_SIZE + disp;
}

/* A body of their own for one user and for two; the general one for others. */
static bool batch_direct(const struct batch *b)
{
	return IS_ENABLED(CONFIG_X86_64) && boot_cpu_has(X86_FEATURE_LAHF_LM) &&
	       b->users <= KPROBE_BODY_USERS;
}

static void batch_expect_body(struct kunit *test, const struct batch *b, int i)
{
	KUNIT_EXPECT_EQ_MSG(test, batch_body(i) != kprobe_detour_general,
			    batch_direct(b), "%s", emu_stubs[i].name);
}

/* Of every class that can be run, one instruction or more was displaced. */
static void batch_expect_jumps(struct kunit *test, const struct batch *b)
{
	unsigned long classes = BIT(KPROBE_INSN_STEP);
	struct kprobe_insn insn;
	int i, jumps = 0;

	for (i = 0; i < b->nr; i++) {
		if (!batch_jumps(b, i))
			continue;
		jumps++;
		batch_expect_body(test, b, i);
		kprobe_insn_classify(&insn, b->before[i], MAX_INSN_SIZE);
		classes |= BIT(insn.class);
	}
	kunit_info(test, "%d of %d have a jump\n", jumps, b->nr);
	for (i = 0; i < KPROBE_INSN_NR; i++)
		KUNIT_EXPECT_TRUE_MSG(test, classes & BIT(i), "no jump for class %s",
				      kprobe_insn_ops[i].name);
}

static const int numbers_of_users[] = { 1, 2, 3 };

static const void *users_gen_params(const void *prev, char *desc)
{
	const int *users = prev ? (const int *)prev + 1 : numbers_of_users;

	if (users == numbers_of_users + ARRAY_SIZE(numbers_of_users))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%d users", *users);
	return users;
}

/* Jumps first, for one user each; then the others join. */
static void batch_register(struct kunit *test, const struct batch *b)
{
	int user;

	for (user = 0; user < b->users; user++) {
		KUNIT_ASSERT_EQ(test, 0, register_kprobes(b->list + user * b->nr, b->nr));
		wait_for_kprobe_optimizer();
	}
	batch_expect_jumps(test, b);
}

/*
 * Returns how many hits come from a jump under flags that handlers can be called
 * with at once.
 */
static unsigned long batch_run(struct kunit *test, const struct batch *b,
			       struct emu_machine *result)
{
	unsigned long fit = 0;
	int i, k;

	for (i = 0; i < b->nr * BATCH_PATTERNS; i++) {
		const struct emu_stub *stub = &emu_stubs[i / BATCH_PATTERNS];

		k = batch_pattern(i % BATCH_PATTERNS);
		run_stub(result ?: &b->cpu[i], stub, k);
		if (!result)
			continue;
		expect_same(test, stub, &b->cpu[i], result, k);
		if (batch_jumps(b, i / BATCH_PATTERNS) &&
		    !(result->in_flags & UNFIT_FLAGS))
			fit += b->users;
	}
	return fit;
}

static void test_optimized(struct kunit *test)
{
	struct batch b = { .users = *(const int *)test->param_value };
	struct emu_machine *result;
	unsigned long fit;

	if (!IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jump optimization in this kernel");
	batch_init(test, &b);
	result = test_vmalloc(test, sizeof(*result));
	batch_run(test, &b, NULL);
	batch_register(test, &b);
	hits = 0;
	direct_hits = 0;
	fit = batch_run(test, &b, result);
	unregister_kprobes(b.list, b.nr * b.users);
	KUNIT_EXPECT_EQ(test, hits, b.nr * b.users * BATCH_PATTERNS);
	KUNIT_EXPECT_EQ(test, unfit_hits, 0);
	KUNIT_EXPECT_GT(test, fit, 0);
	KUNIT_EXPECT_EQ(test, direct_hits, batch_direct(&b) ? fit : 0);
}

/* Nothing that could be run has class STEP: it has no meaning on any CPU. */
static void test_every_class_occurs(struct kunit *test)
{
	unsigned long classes = BIT(KPROBE_INSN_STEP);
	const struct emu_stub *stub;
	struct kprobe_insn insn;
	int i;

	for (stub = emu_stubs; stub < emu_stubs_end; stub++) {
		kprobe_insn_classify(&insn, (const u8 *)stub->insn, MAX_INSN_SIZE);
		KUNIT_EXPECT_EQ_MSG(test, insn.refusal, KPROBE_INSN_OK, "%s", stub->name);
		classes |= BIT(insn.class);
	}
	for (i = 0; i < KPROBE_INSN_NR; i++)
		KUNIT_EXPECT_TRUE_MSG(test, classes & BIT(i), "no stub of class %s",
				      kprobe_insn_ops[i].name);
}

/*
 * What cannot be shown with a probe, since the CPU would fault or since the
 * kernel does not run with such flags: the functions themselves.
 */

static bool emulate(const u8 *bytes, struct pt_regs *regs)
{
	struct kprobe_insn insn;

	kprobe_insn_classify(&insn, bytes, MAX_INSN_SIZE);
	return kprobe_insn_ops[insn.class].emulate(&insn.operands, regs, 0x1000);
}

static void expect_refused(struct kunit *test, const u8 *bytes, const struct pt_regs *start)
{
	unsigned long *stack = (unsigned long *)start->sp;
	unsigned long below = stack[-1];
	struct pt_regs regs = *start;

	KUNIT_EXPECT_FALSE(test, emulate(bytes, &regs));
	KUNIT_EXPECT_MEMEQ(test, &regs, start, sizeof(regs));
	KUNIT_EXPECT_EQ(test, stack[-1], below);
}

static const u8 call_ax_memory[MAX_INSN_SIZE] = { 0xff, 0x10 };
static const u8 jmp_ax_memory[MAX_INSN_SIZE] = { 0xff, 0x20 };

static void test_unreadable_operand_changes_nothing(struct kunit *test)
{
	unsigned long stack[2] = { 0x5a5a, 0xa5a5 };
	struct pt_regs regs = { .sp = (unsigned long)&stack[1] };
	void *page = test_vmalloc(test, PAGE_SIZE);
	unsigned long addrs[4];
	int i;

	addrs[0] = (unsigned long)page + PAGE_SIZE;	/* no page */
	addrs[1] = (unsigned long)page + PAGE_SIZE - 1;	/* in part */
	addrs[2] = 0x1000;				/* user space */
	addrs[3] = -3UL;				/* past the end */
	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		regs.ax = addrs[i];
		expect_refused(test, call_ax_memory, &regs);
		expect_refused(test, jmp_ax_memory, &regs);
	}
}

static void test_target_not_canonical_changes_nothing(struct kunit *test)
{
	static const u8 insns[][MAX_INSN_SIZE] = {
		{ 0xc3 }, { 0xc2, 0x08 }, { 0xff, 0xd0 }, { 0xff, 0xe0 },
	};
	const unsigned long bad = BIT(EMU_WORD * 8 - 1);
	unsigned long stack[2] = { 0x5a5a, bad };
	struct pt_regs regs = { .sp = (unsigned long)&stack[1], .ax = bad };
	int i;

	if (!IS_ENABLED(CONFIG_X86_64))
		kunit_skip(test, "every 32-bit address is canonical");
	for (i = 0; i < ARRAY_SIZE(insns); i++)
		expect_refused(test, insns[i], &regs);

	/* The operand can be read, but is no target; it is no address either. */
	regs.ax = regs.sp;
	expect_refused(test, call_ax_memory, &regs);
	expect_refused(test, jmp_ax_memory, &regs);
	regs.ax = bad;
	expect_refused(test, call_ax_memory, &regs);
}

static void test_pushf_clears_vm_and_rf(struct kunit *test)
{
	static const u8 pushf[MAX_INSN_SIZE] = { 0x9c };
	unsigned long stack[2] = { 0, 0xa5a5 };
	struct pt_regs regs = { .sp = (unsigned long)&stack[1] };

	regs.flags = X86_EFLAGS_FIXED | X86_EFLAGS_VM | X86_EFLAGS_RF | X86_EFLAGS_IF |
		     X86_EFLAGS_CF;
	KUNIT_EXPECT_TRUE(test, emulate(pushf, &regs));
	KUNIT_EXPECT_EQ(test, regs.sp, (unsigned long)&stack[0]);
	KUNIT_EXPECT_EQ(test, stack[0], X86_EFLAGS_FIXED | X86_EFLAGS_IF | X86_EFLAGS_CF);
	KUNIT_EXPECT_EQ(test, stack[1], 0xa5a5);
}

static void test_popf_loads_what_ring_0_can_change(struct kunit *test)
{
	static const u8 popf[MAX_INSN_SIZE] = { 0x9d };
	const unsigned long loaded = X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |
				     X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF |
				     X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_OF |
				     X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |
				     X86_EFLAGS_ID;
	const unsigned long kept = X86_EFLAGS_VIF | X86_EFLAGS_VIP;
	unsigned long stack[2] = { -1UL, 0 };
	struct pt_regs regs = { .sp = (unsigned long)&stack[0], .flags = X86_EFLAGS_FIXED };

	KUNIT_EXPECT_TRUE(test, emulate(popf, &regs));
	KUNIT_EXPECT_EQ(test, regs.flags, X86_EFLAGS_FIXED | loaded);
	KUNIT_EXPECT_EQ(test, regs.sp, (unsigned long)&stack[1]);

	regs.flags |= kept | X86_EFLAGS_RF;
	KUNIT_EXPECT_TRUE(test, emulate(popf, &regs));
	KUNIT_EXPECT_EQ(test, regs.flags, X86_EFLAGS_FIXED | kept);
}

static struct kunit_suite emulate_suite = {
	.name = "kprobes_x86_emulate",
	.test_cases = emulate_cases,
};

kunit_test_suite(emulate_suite);

MODULE_DESCRIPTION("KUnit tests of probed x86 instructions against the CPU");
MODULE_LICENSE("GPL");
