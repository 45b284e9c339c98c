// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_api: what include/linux/kprobes.h promises its users,
 * whatever the architecture.
 *
 * In the order of this file: targets; refusals, one row each; arrays; flags;
 * several probes at an address; handlers and what they see; misses.
 *
 * "Every kind" means a case runs three times: on a probe that traps, on one
 * that was optimized into a jump, and on one that sits on ftrace.
 */
#include <linux/bug.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/static_call.h>

#include "../internal.h"
#include "fixture.h"

/* --- Targets ------------------------------------------------------------ */

static int sink;

/* The store makes room for a jump before the first branch. */
static __always_inline int target_body(int x)
{
	WRITE_ONCE(sink, x);
	return 3 * x + 1;
}

#define TARGET_RESULT(x)	(3 * (x) + 1)

static noinline notrace int trap_target(int x)
{
	return target_body(x);
}

static noinline notrace int jump_target(int x)
{
	return target_body(x);
}

static noinline int ftrace_target(int x)
{
	return target_body(x);
}

static noinline notrace int other_target(int x)
{
	return target_body(x);
}

static noinline int other_ftrace_target(int x)
{
	return target_body(x);
}

static noinline __kprobes int kprobes_text_target(int x)
{
	return target_body(x);
}

static noinline notrace int nokprobe_target(int x)
{
	return target_body(x);
}
NOKPROBE_SYMBOL(nokprobe_target);

static noinstr int noinstr_target(int x)
{
	return x;
}

static noinline notrace int warning_target(int x)
{
	WARN_ON(x == 1);
	return x;
}

static DEFINE_STATIC_KEY_FALSE(target_key);

static noinline notrace int keyed_target(int x)
{
	if (static_branch_unlikely(&target_key))
		return other_target(x);
	return x;
}

DEFINE_STATIC_CALL(target_call, other_target);

static noinline notrace int calling_target(int x)
{
	return static_call(target_call)(x) + 1;
}

/* Through a pointer that is read again: no copy of a target is made for one caller. */
typedef int (*target_fn)(int x);

static int call(target_fn fn, int x)
{
	return READ_ONCE(fn)(x);
}

/* Where the probe of a function's entry ends up. */
static void *entry_of(target_fn fn)
{
	struct kprobe kp = { .addr = (void *)fn };

	if (register_kprobe(&kp))
		return NULL;
	unregister_kprobe(&kp);
	return kp.addr;
}

static unsigned long size_of(void *addr)
{
	unsigned long size = 0, offset;

	kallsyms_lookup_size_offset((unsigned long)addr, &size, &offset);
	return size;
}

/* --- Refusals ----------------------------------------------------------- */

struct refusal {
	const char *name;
	void (*aim)(struct kunit *test, struct kprobe *kp);
	int error;
};

static void aim_nowhere(struct kunit *test, struct kprobe *kp)
{
}

static void aim_twice(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = "schedule";
	kp->addr = (void *)other_target;
}

static void aim_unknown(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = "no_function_has_this_name";
}

static void aim_empty_name(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = "";
}

static void aim_unknown_module(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = "no_such_module:schedule";
}

static void aim_long_name(struct kunit *test, struct kprobe *kp)
{
	char *name = kunit_kzalloc(test, 2 * KSYM_NAME_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, 'a', 2 * KSYM_NAME_LEN - 1);
	kp->symbol_name = name;
}

static void aim_far_offset(struct kunit *test, struct kprobe *kp)
{
	kp->symbol_name = "schedule";
	kp->offset = 0x10000000;
}

/* What marks a place in the table of sites that was given up. */
static void aim_minus_one(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)-1L;
}

static void aim_user(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)PAGE_SIZE;
}

static void aim_stack(struct kunit *test, struct kprobe *kp)
{
	kp->addr = task_stack_page(current) + THREAD_SIZE / 2;
}

static void aim_heap(struct kunit *test, struct kprobe *kp)
{
	kp->addr = kunit_kzalloc(test, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kp->addr);
}

static void aim_data(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)&sink;
}

static const char rodata_target[64] = "not text";

static void aim_rodata(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)rodata_target;
}

static void aim_nokprobe(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)nokprobe_target;
}

static void aim_kprobes_text(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)kprobes_text_target;
}

static void aim_noinstr(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)noinstr_target;
}

static void aim_end_of_nokprobe(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)nokprobe_target;
	kp->offset = size_of(kp->addr) - 1;
}

static void aim_bug(struct kunit *test, struct kprobe *kp)
{
	unsigned long addr = (unsigned long)warning_target;
	unsigned long end = addr + size_of(warning_target);

	while (addr < end && !find_bug(addr))
		addr++;
	if (addr == end)
		kunit_skip(test, "no bug entry in the target");
	kp->addr = (void *)addr;
}

#ifdef CONFIG_JUMP_LABEL
static void aim_jump_label(struct kunit *test, struct kprobe *kp)
{
	struct jump_entry *entry;

	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		if (jump_entry_key(entry) != &target_key.key)
			continue;
		kp->addr = (void *)jump_entry_code(entry);
		return;
	}
	KUNIT_FAIL_AND_ABORT(test, "target_key has no entry");
}
#else
static void aim_jump_label(struct kunit *test, struct kprobe *kp)
{
	kunit_skip(test, "no jump labels");
}
#endif

static void aim_inside_jump_label(struct kunit *test, struct kprobe *kp)
{
	aim_jump_label(test, kp);
	kp->offset = 1;
}

#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
static void aim_static_call(struct kunit *test, struct kprobe *kp)
{
	unsigned long low = (unsigned long)calling_target;
	struct static_call_site *site;
	unsigned long addr;

	for (site = __start_static_call_sites; site < __stop_static_call_sites; site++) {
		addr = (long)site->addr + (long)&site->addr;
		if (addr < low || addr >= low + size_of(calling_target))
			continue;
		kp->addr = (void *)addr;
		return;
	}
	KUNIT_FAIL_AND_ABORT(test, "calling_target has no site");
}
#else
static void aim_static_call(struct kunit *test, struct kprobe *kp)
{
	kunit_skip(test, "no inline static calls");
}
#endif

static void aim_static_call_trampoline(struct kunit *test, struct kprobe *kp)
{
#ifdef CONFIG_HAVE_STATIC_CALL
	kp->addr = (void *)STATIC_CALL_TRAMP_ADDR(target_call);
#else
	kunit_skip(test, "static calls have no trampoline");
#endif
}

static void aim_padding(struct kunit *test, struct kprobe *kp)
{
	kp->addr = (void *)kallsyms_lookup_name("__pfx_schedule");
	if (!kp->addr)
		kunit_skip(test, "functions have no prefix symbol");
}

/* With all symbols in kallsyms data has a name, and what it lacks is being text. */
#define NOT_TEXT	(IS_ENABLED(CONFIG_KALLSYMS_ALL) ? -EINVAL : -ENOENT)

static const struct refusal refusals[] = {
	{ "neither address nor symbol", aim_nowhere, -EINVAL },
	{ "address and symbol", aim_twice, -EINVAL },
	{ "unknown symbol", aim_unknown, -ENOENT },
	{ "empty symbol", aim_empty_name, -ENOENT },
	{ "unknown module", aim_unknown_module, -ENOENT },
	{ "overlong symbol", aim_long_name, -ENOENT },
	{ "offset past the kernel", aim_far_offset, -ENOENT },
	{ "last address", aim_minus_one, -ENOENT },
	{ "user address", aim_user, -ENOENT },
	{ "stack", aim_stack, -ENOENT },
	{ "heap", aim_heap, -ENOENT },
	{ "data", aim_data, NOT_TEXT },
	{ "read-only data", aim_rodata, NOT_TEXT },
	{ "NOKPROBE_SYMBOL", aim_nokprobe, -EINVAL },
	{ "last byte of a blacklisted function", aim_end_of_nokprobe, -EINVAL },
	{ "__kprobes", aim_kprobes_text, -EINVAL },
	{ "noinstr", aim_noinstr, -EINVAL },
	{ "bug table", aim_bug, -EINVAL },
	{ "jump label", aim_jump_label, -EINVAL },
	{ "inside a jump label", aim_inside_jump_label, -EINVAL },
	{ "static call", aim_static_call, -EINVAL },
	{ "static call trampoline", aim_static_call_trampoline, -EINVAL },
	{ "function padding", aim_padding, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, name);

/* A refused probe is not hashed, text is as it was, and its struct can be used. */
static void test_refused(struct kunit *test)
{
	const struct refusal *row = test->param_value;
	struct watch *w = watch_new(test, NULL);
	u8 before[WATCHED_TEXT], after[WATCHED_TEXT];
	bool readable;
	void *at;
	int ret;

	row->aim(test, &w->kp);
	at = w->kp.addr ? (void *)w->kp.addr + w->kp.offset : NULL;
	readable = at && fixture_read_text(before, at);

	ret = register_kprobe(&w->kp);
	if (!ret)
		unregister_kprobe(&w->kp);
	KUNIT_EXPECT_EQ(test, ret, row->error);
	KUNIT_EXPECT_FALSE(test, site_exists(at));
	if (readable && fixture_read_text(after, at))
		KUNIT_EXPECT_MEMEQ(test, before, after, WATCHED_TEXT);

	watch_init(w, other_target);
	fixture_register(test, &w->kp);
	call(other_target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

/* Where there is no symbol nothing can be blacklisted. */
static void test_blacklist_of_nothing(struct kunit *test)
{
	unsigned long data = (unsigned long)test;

	KUNIT_EXPECT_EQ(test, kprobe_add_ksym_blacklist(data), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_add_area_blacklist(data, data + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_add_area_blacklist(data, data), 0);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist(data));
}

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
#define MORE_SLOTS_THAN_A_PAGE_HAS	(PAGE_SIZE / MAX_INSN_SIZE + 1)

/* For others that execute copies of instructions. Pages come and go with them. */
static void test_insn_slots(struct kunit *test)
{
	kprobe_opcode_t **slots;
	int i;

	slots = kunit_kcalloc(test, MORE_SLOTS_THAN_A_PAGE_HAS, sizeof(*slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slots);
	for (i = 0; i < MORE_SLOTS_THAN_A_PAGE_HAS; i++) {
		slots[i] = get_insn_slot();
		if (!slots[i])
			break;
		KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)slots[i]));
	}
	KUNIT_EXPECT_EQ(test, i, MORE_SLOTS_THAN_A_PAGE_HAS);
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)slots));
	while (i--)
		free_insn_slot(slots[i], 0);
	for (i = 0; i < MORE_SLOTS_THAN_A_PAGE_HAS; i++) {
		if (!is_kprobe_insn_slot((unsigned long)slots[i]))
			return;
	}
	KUNIT_FAIL(test, "no page was given back");
}
#endif

static void test_static_call_still_updates(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	aim_static_call_trampoline(test, &w->kp);
	if (!register_kprobe(&w->kp)) {
		unregister_kprobe(&w->kp);
		KUNIT_FAIL(test, "the trampoline took a probe");
	}
	static_call_update(target_call, ftrace_target);
	KUNIT_EXPECT_EQ(test, call(calling_target, 2), TARGET_RESULT(2) + 1);
	static_call_update(target_call, other_target);
}

static void test_jump_label_still_switches(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	aim_jump_label(test, &w->kp);
	if (!register_kprobe(&w->kp)) {
		unregister_kprobe(&w->kp);
		KUNIT_FAIL(test, "the jump label took a probe");
	}
	KUNIT_EXPECT_EQ(test, call(keyed_target, 2), 2);
	static_branch_enable(&target_key);
	KUNIT_EXPECT_EQ(test, call(keyed_target, 2), TARGET_RESULT(2));
	static_branch_disable(&target_key);
	KUNIT_EXPECT_EQ(test, call(keyed_target, 2), 2);
}

static void test_refused_while_registered(struct kunit *test)
{
	struct watch *w = watch_new(test, other_target);

	fixture_register(test, &w->kp);
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EINVAL);
	call(other_target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
}

static void test_symbol_twice(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	/* The first call fills in the address, so the second names both. */
	w->kp.symbol_name = "schedule";
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_NOT_NULL(test, w->kp.addr);
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EINVAL);
}

static void test_unregister_of_unregistered(struct kunit *test)
{
	struct watch *never = watch_new(test, other_target);
	struct watch *w = watch_new(test, other_target);

	unregister_kprobe(&never->kp);

	fixture_register(test, &w->kp);
	never->kp.addr = w->kp.addr;
	unregister_kprobe(&never->kp);
	call(other_target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);

	fixture_release(test, &w->kp);
	unregister_kprobe(&w->kp);
	KUNIT_EXPECT_EQ(test, call(other_target, 1), TARGET_RESULT(1));
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

static void test_switch_of_unregistered(struct kunit *test)
{
	struct watch *w = watch_new(test, entry_of(other_target));

	KUNIT_ASSERT_NOT_NULL(test, w->kp.addr);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), -EINVAL);
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
}

/* --- Arrays ------------------------------------------------------------- */

#define ARRAY_PROBES	4

static const target_fn array_targets[ARRAY_PROBES] = {
	trap_target, ftrace_target, jump_target, other_ftrace_target,
};

static void array_init(struct watch *w, struct kprobe **kps)
{
	int i;

	for (i = 0; i < ARRAY_PROBES; i++) {
		watch_init(&w[i], array_targets[i]);
		kps[i] = &w[i].kp;
	}
}

static struct watch *array_new(struct kunit *test, struct kprobe **kps)
{
	struct watch *w = kunit_kcalloc(test, ARRAY_PROBES, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	array_init(w, kps);
	return w;
}

static void array_call(void)
{
	int i;

	for (i = 0; i < ARRAY_PROBES; i++)
		call(array_targets[i], i);
}

static void test_array_of_none(struct kunit *test)
{
	struct watch *w = watch_new(test, other_target);
	struct kprobe *kps[] = { &w->kp };

	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, -1), -EINVAL);
	unregister_kprobes(kps, 0);
	unregister_kprobes(kps, -1);
	KUNIT_EXPECT_FALSE(test, site_exists(w->kp.addr));
}

static void test_array(struct kunit *test)
{
	struct kprobe *kps[ARRAY_PROBES];
	struct watch *w = array_new(test, kps);
	int i;

	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_PROBES), 0);
	array_call();
	unregister_kprobes(kps, ARRAY_PROBES);
	array_call();
	for (i = 0; i < ARRAY_PROBES; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i].pre, 1, "probe %d", i);
}

static const struct bad_element {
	const char *name;
	int index;
} bad_elements[] = { { "first", 0 }, { "second", 1 }, { "last", ARRAY_PROBES - 1 } };

KUNIT_ARRAY_PARAM_DESC(bad_element, bad_elements, name);

static void expect_nothing_registered(struct kunit *test, struct watch *w)
{
	int i;

	array_call();
	/* A jump that was installed meanwhile is taken back by the optimizer. */
	wait_for_kprobe_optimizer();
	for (i = 0; i < ARRAY_PROBES; i++) {
		KUNIT_EXPECT_EQ_MSG(test, w[i].pre, 0, "probe %d", i);
		KUNIT_EXPECT_FALSE_MSG(test, site_exists(w[i].kp.addr), "probe %d", i);
	}
}

static void test_array_with_bad_element(struct kunit *test)
{
	const struct bad_element *bad = test->param_value;
	struct kprobe *kps[ARRAY_PROBES];
	struct watch *w = array_new(test, kps);

	w[bad->index].kp.addr = (void *)nokprobe_target;
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_PROBES), -EINVAL);
	expect_nothing_registered(test, w);

	array_init(w, kps);
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_PROBES), 0);
	unregister_kprobes(kps, ARRAY_PROBES);
}

/* Of one that was found by its symbol only the symbol is left. */
static void test_array_undoes_symbol(struct kunit *test)
{
	struct kprobe *kps[ARRAY_PROBES];
	struct watch *w = array_new(test, kps);

	w[0].kp.addr = NULL;
	w[0].kp.symbol_name = "schedule";
	w[1].kp.addr = (void *)nokprobe_target;
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_PROBES), -EINVAL);
	KUNIT_EXPECT_NULL(test, w[0].kp.addr);
	KUNIT_EXPECT_EQ(test, w[0].kp.flags, 0);

	w[1].kp.addr = (void *)array_targets[1];
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_PROBES), 0);
	unregister_kprobes(kps, ARRAY_PROBES);
}

static void test_array_with_duplicate(struct kunit *test)
{
	struct kprobe *kps[ARRAY_PROBES];
	struct watch *w = array_new(test, kps);

	kps[2] = kps[0];
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_PROBES), -EINVAL);
	expect_nothing_registered(test, w);
}

#define BATCH		100
#define BATCH_SITES	ARRAY_PROBES

/* A hundred probes at four addresses in one call, and out in one call. */
static void test_array_of_hundred(struct kunit *test)
{
	struct kprobe **kps = kunit_kcalloc(test, BATCH, sizeof(*kps), GFP_KERNEL);
	struct watch *w = kunit_kcalloc(test, BATCH, sizeof(*w), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, kps);
	KUNIT_ASSERT_NOT_NULL(test, w);
	for (i = 0; i < BATCH; i++) {
		watch_init(&w[i], array_targets[i % BATCH_SITES]);
		kps[i] = &w[i].kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, BATCH), 0);
	array_call();
	unregister_kprobes(kps, BATCH);
	array_call();
	for (i = 0; i < BATCH; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i].pre, 1, "probe %d", i);
	for (i = 0; i < BATCH_SITES; i++)
		KUNIT_EXPECT_FALSE(test, site_exists(w[i].kp.addr) &&
				   !(site_flags(w[i].kp.addr) & KPROBE_FLAG_DISABLED));
}

/* --- Kinds and flags ---------------------------------------------------- */

struct kind {
	const char *name;
	target_fn target;
	u32 flag;		/* of the site, as get_kprobe() shows it */
	bool post;		/* a post_handler keeps a probe from being optimized */
};

static const struct kind kinds[] = {
	{ "trap", trap_target, 0, true },
	{ "jump", jump_target, KPROBE_FLAG_OPTIMIZED, false },
	{ "ftrace", ftrace_target, KPROBE_FLAG_FTRACE, false },
};

KUNIT_ARRAY_PARAM_DESC(kind, kinds, name);

static void skip_missing_kind(struct kunit *test, const struct kind *kind)
{
	if (kind->flag == KPROBE_FLAG_OPTIMIZED && !IS_ENABLED(CONFIG_OPTPROBES))
		kunit_skip(test, "no jump optimization");
	if (kind->flag == KPROBE_FLAG_FTRACE && !IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		kunit_skip(test, "no kprobes on ftrace");
}

static struct watch *watch_kind(struct kunit *test, const struct kind *kind)
{
	struct watch *w = watch_new(test, kind->target);

	skip_missing_kind(test, kind);
	if (kind->post)
		w->kp.post_handler = watch_post;
	return w;
}

static void expect_kind(struct kunit *test, const struct kind *kind, void *addr)
{
	const u32 mask = KPROBE_FLAG_OPTIMIZED | KPROBE_FLAG_FTRACE;

	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, site_flags(addr) & mask, kind->flag);
}

static void test_hit(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	fixture_register(test, &w->kp);
	expect_kind(test, kind, w->kp.addr);
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->post, kind->post);
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
}

static void test_text_restored(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);
	u8 before[WATCHED_TEXT], after[WATCHED_TEXT];

	KUNIT_ASSERT_TRUE(test, fixture_read_text(before, kind->target));
	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_ASSERT_TRUE(test, fixture_read_text(after, kind->target));
	KUNIT_EXPECT_MEMNEQ(test, before, after, WATCHED_TEXT);
	fixture_release(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_ASSERT_TRUE(test, fixture_read_text(after, kind->target));
	KUNIT_EXPECT_MEMEQ(test, before, after, WATCHED_TEXT);
}

static void test_no_handlers(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	w->kp.pre_handler = NULL;
	w->kp.post_handler = NULL;
	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
}

static void test_post_only(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	w->kp.pre_handler = NULL;
	w->kp.post_handler = watch_post;
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->post, 1);
}

static void test_switch(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&w->kp));
	expect_kind(test, kind, w->kp.addr);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 2);
}

static void test_registered_disabled(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	w->kp.flags = KPROBE_FLAG_DISABLED;
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	expect_kind(test, kind, w->kp.addr);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

/* Of all flags only DISABLED is the caller's to set. */
static void test_stray_flags(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	w->kp.flags = KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED | KPROBE_FLAG_FTRACE;
	w->kp.nmissed = 77;
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_FALSE(test, kprobe_gone(&w->kp));
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 0);
	expect_kind(test, kind, w->kp.addr);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

/* --- Several probes at an address --------------------------------------- */

static void watch_three(struct kunit *test, const struct kind *kind, struct watch **w,
			unsigned int *turns)
{
	int i;

	for (i = 0; i < 3; i++) {
		w[i] = watch_kind(test, kind);
		w[i]->turns = turns;
		fixture_register(test, &w[i]->kp);
	}
	wait_for_kprobe_optimizer();
}

/* The newest is called first. */
static void test_order(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	unsigned int turns = 0;
	struct watch *w[3];
	int i;

	watch_three(test, kind, w, &turns);
	expect_kind(test, kind, w[0]->kp.addr);
	KUNIT_EXPECT_EQ(test, call(kind->target, 2), TARGET_RESULT(2));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i]->turn, 3 - i, "probe %d", i);
}

static void test_switch_one_of_three(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w[3];

	watch_three(test, kind, w, NULL);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w[1]->kp), 0);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w[0]->pre, 1);
	KUNIT_EXPECT_EQ(test, w[1]->pre, 0);
	KUNIT_EXPECT_EQ(test, w[2]->pre, 1);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&w[0]->kp), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w[2]->kp), 0);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w[0]->pre, 1);
	KUNIT_EXPECT_EQ(test, w[2]->pre, 1);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&w[1]->kp), 0);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, w[0]->pre, 1);
	KUNIT_EXPECT_EQ(test, w[1]->pre, 1);
	KUNIT_EXPECT_EQ(test, w[2]->pre, 1);
}

static void test_remove_in_any_order(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	static const int order[] = { 1, 0, 2 };
	unsigned int want[3] = {};
	struct watch *w[3];
	int i, j;

	watch_three(test, kind, w, NULL);
	for (i = 0; i < 3; i++) {
		call(kind->target, 1);
		for (j = i; j < 3; j++)
			want[order[j]]++;
		fixture_release(test, &w[order[i]]->kp);
	}
	KUNIT_EXPECT_EQ(test, call(kind->target, 1), TARGET_RESULT(1));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i]->pre, want[i], "probe %d", i);
}

/* A disabled probe joins an enabled one, and an enabled one a disabled one. */
static void test_join_disabled(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *off = watch_kind(test, kind);
	struct watch *on = watch_kind(test, kind);

	off->kp.flags = KPROBE_FLAG_DISABLED;
	fixture_register(test, &off->kp);
	fixture_register(test, &on->kp);
	expect_kind(test, kind, on->kp.addr);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, off->pre, 0);
	KUNIT_EXPECT_EQ(test, on->pre, 1);
	fixture_release(test, &on->kp);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, off->pre, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&off->kp), 0);
	call(kind->target, 1);
	KUNIT_EXPECT_EQ(test, off->pre, 1);
	KUNIT_EXPECT_EQ(test, on->pre, 1);
}

/* A post_handler that joins must run, and what it kept away comes back without it. */
static void test_post_handler_joins(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *first = watch_new(test, kind->target);
	struct watch *joins = watch_new(test, kind->target);

	skip_missing_kind(test, kind);
	fixture_register(test, &first->kp);
	wait_for_kprobe_optimizer();
	joins->kp.post_handler = watch_post;
	fixture_register(test, &joins->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, call(kind->target, 4), TARGET_RESULT(4));
	KUNIT_EXPECT_EQ(test, first->pre, 1);
	KUNIT_EXPECT_EQ(test, joins->pre, 1);
	KUNIT_EXPECT_EQ(test, joins->post, 1);

	fixture_release(test, &joins->kp);
	if (!kind->post)
		expect_kind(test, kind, first->kp.addr);
	KUNIT_EXPECT_EQ(test, call(kind->target, 4), TARGET_RESULT(4));
	KUNIT_EXPECT_EQ(test, first->pre, 2);
	KUNIT_EXPECT_EQ(test, joins->post, 1);
}

/* A handler that redirects ends the round: later probes see nothing. */
static int redirect_to_other(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	instruction_pointer_set(regs, (unsigned long)other_target);
	return 1;
}
NOKPROBE_SYMBOL(redirect_to_other);

static noinline notrace int triple_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 1000;
}

static void test_redirect(struct kunit *test)
{
	struct watch *first = watch_new(test, triple_target);
	struct watch *second = watch_new(test, triple_target);

	first->kp.pre_handler = redirect_to_other;
	first->kp.post_handler = watch_post;
	fixture_register(test, &second->kp);
	fixture_register(test, &first->kp);
	KUNIT_EXPECT_EQ(test, call(triple_target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, first->pre, 1);
	KUNIT_EXPECT_EQ(test, second->pre, 0);
	KUNIT_EXPECT_EQ(test, first->post, 0);
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

/* --- Who is running, who is there --------------------------------------- */

static void test_running(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	KUNIT_EXPECT_FALSE(test, amid_hit());
	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	call(kind->target, 1);
	KUNIT_EXPECT_PTR_EQ(test, w->running_addr, w->kp.addr);
	KUNIT_EXPECT_TRUE(test, w->running_flags & KPROBE_FLAG_ON_FUNC_ENTRY);
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

static void test_get_kprobe(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);
	struct kprobe *site;

	fixture_register(test, &w->kp);
	preempt_disable();
	site = get_kprobe(w->kp.addr);
	preempt_enable();
	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_PTR_EQ(test, site->addr, w->kp.addr);
	KUNIT_EXPECT_FALSE(test, site_exists((void *)w->kp.addr + 1));
	fixture_release(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_FALSE(test, site_exists(w->kp.addr));
}

static void test_entry_symbol(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);

	w->kp.symbol_name = "schedule";
	fixture_register(test, &w->kp);
	KUNIT_EXPECT_TRUE(test, w->kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(w->kp.addr, NULL, 0), 0);
}

static void test_on_func_entry(struct kunit *test)
{
	kprobe_opcode_t *addr = (void *)other_target;

	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, "schedule", 0), 0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, "schedule", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, "no_function_has_this_name", 0),
			-ENOENT);
}

/* --- Misses -------------------------------------------------------------- */

static target_fn nested_target;

static int nest_pre(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	call(nested_target, 9);
	return 0;
}
NOKPROBE_SYMBOL(nest_pre);

static void nest_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	watch_post(kp, regs, flags);
	call(nested_target, 9);
}
NOKPROBE_SYMBOL(nest_post);

/* Two users of the site that is missed: both are told. */
static void test_miss(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *outer = watch_kind(test, kind);
	struct watch *inner = watch_new(test, other_target);
	struct watch *second = watch_new(test, other_target);

	nested_target = other_target;
	outer->kp.pre_handler = nest_pre;
	fixture_register(test, &inner->kp);
	fixture_register(test, &second->kp);
	fixture_register(test, &outer->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, outer->pre, 1);
	KUNIT_EXPECT_EQ(test, outer->kp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, inner->pre, 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
	KUNIT_EXPECT_EQ(test, second->kp.nmissed, 1);
	call(other_target, 1);
	KUNIT_EXPECT_EQ(test, inner->pre, 1);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
}

static void test_miss_of_ftrace(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *outer = watch_kind(test, kind);
	struct watch *inner = watch_new(test, other_ftrace_target);

	nested_target = other_ftrace_target;
	outer->kp.pre_handler = nest_pre;
	fixture_register(test, &inner->kp);
	fixture_register(test, &outer->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, inner->pre, 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
}

static void test_miss_in_post_handler(struct kunit *test)
{
	struct watch *outer = watch_new(test, trap_target);
	struct watch *inner = watch_new(test, other_target);

	nested_target = other_target;
	outer->kp.post_handler = nest_post;
	fixture_register(test, &inner->kp);
	fixture_register(test, &outer->kp);
	KUNIT_EXPECT_EQ(test, call(trap_target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, outer->post, 1);
	KUNIT_EXPECT_EQ(test, inner->pre, 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
}

/* The probed function is called again by its own handler. */
static void test_miss_of_itself(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);

	nested_target = kind->target;
	w->kp.pre_handler = nest_pre;
	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, call(kind->target, 5), TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 1);
}

/* With kprobe_busy_begin() this CPU counts as being in a handler. */
static void test_miss_while_busy(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct watch *w = watch_kind(test, kind);
	int got;

	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	kprobe_busy_begin();
	got = call(kind->target, 5);
	kprobe_busy_end();
	KUNIT_EXPECT_EQ(test, got, TARGET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 1);
	call(kind->target, 5);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

static struct kunit_case api_cases[] = {
	KUNIT_CASE_PARAM(test_refused, refusal_gen_params),
	KUNIT_CASE(test_blacklist_of_nothing),
#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
	KUNIT_CASE(test_insn_slots),
#endif
	KUNIT_CASE(test_static_call_still_updates),
	KUNIT_CASE(test_jump_label_still_switches),
	KUNIT_CASE(test_refused_while_registered),
	KUNIT_CASE(test_symbol_twice),
	KUNIT_CASE(test_unregister_of_unregistered),
	KUNIT_CASE(test_switch_of_unregistered),
	KUNIT_CASE(test_array_of_none),
	KUNIT_CASE(test_array),
	KUNIT_CASE_PARAM(test_array_with_bad_element, bad_element_gen_params),
	KUNIT_CASE(test_array_undoes_symbol),
	KUNIT_CASE(test_array_with_duplicate),
	KUNIT_CASE(test_array_of_hundred),
	KUNIT_CASE_PARAM(test_hit, kind_gen_params),
	KUNIT_CASE_PARAM(test_text_restored, kind_gen_params),
	KUNIT_CASE_PARAM(test_no_handlers, kind_gen_params),
	KUNIT_CASE_PARAM(test_post_only, kind_gen_params),
	KUNIT_CASE_PARAM(test_switch, kind_gen_params),
	KUNIT_CASE_PARAM(test_registered_disabled, kind_gen_params),
	KUNIT_CASE_PARAM(test_stray_flags, kind_gen_params),
	KUNIT_CASE_PARAM(test_order, kind_gen_params),
	KUNIT_CASE_PARAM(test_switch_one_of_three, kind_gen_params),
	KUNIT_CASE_PARAM(test_remove_in_any_order, kind_gen_params),
	KUNIT_CASE_PARAM(test_join_disabled, kind_gen_params),
	KUNIT_CASE(test_redirect),
	KUNIT_CASE_PARAM(test_running, kind_gen_params),
	KUNIT_CASE_PARAM(test_get_kprobe, kind_gen_params),
	KUNIT_CASE(test_entry_symbol),
	KUNIT_CASE(test_on_func_entry),
	KUNIT_CASE_PARAM(test_miss, kind_gen_params),
	KUNIT_CASE_PARAM(test_miss_of_ftrace, kind_gen_params),
	KUNIT_CASE(test_miss_in_post_handler),
	KUNIT_CASE_PARAM(test_miss_of_itself, kind_gen_params),
	KUNIT_CASE_PARAM(test_miss_while_busy, kind_gen_params),
	KUNIT_CASE_PARAM(test_post_handler_joins, kind_gen_params),
	{}
};

static struct kunit_suite api_suite = {
	.name = "kprobes_api",
	.test_cases = api_cases,
};

kunit_test_suite(api_suite);

MODULE_DESCRIPTION("KUnit tests of the kprobes interface");
MODULE_LICENSE("GPL");
