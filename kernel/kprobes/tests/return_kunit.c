// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_return: return probes as their users see them.
 *
 * In the order of this file: targets and the probe that notes what it saw;
 * refusals; arrays; handlers; running out of instances; company at the same
 * address; a call that outlives its probe.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "fixture.h"

static int sink;

static __always_inline int ret_body(int x)
{
	WRITE_ONCE(sink, x);
	return x + 7;
}

#define RET_RESULT(x)	((x) + 7)

static noinline notrace int ret_trap_target(int x)
{
	return ret_body(x);
}

static noinline notrace int ret_jump_target(int x)
{
	return ret_body(x);
}

static noinline int ret_ftrace_target(int x)
{
	return ret_body(x);
}

static noinline notrace int ret_hidden_target(int x)
{
	return ret_body(x);
}
NOKPROBE_SYMBOL(ret_hidden_target);

typedef int (*ret_fn)(int x);

static noinline int ret_call(ret_fn fn, int x)
{
	/* Not a tail call: the return address has to be one of ret_call(). */
	return READ_ONCE(fn)(x) + READ_ONCE(sink) - x;
}

/* Calls itself, so that @depth + 1 calls are in progress at the deepest. */
static noinline int ret_deep_target(int depth)
{
	WRITE_ONCE(sink, 0);
	return depth ? ret_call(ret_deep_target, depth - 1) + depth + 1 : 1;
}

struct ret_watch {
	struct kretprobe rp;
	unsigned int entries;
	unsigned int returns;
	unsigned long value;		/* what the target returned */
	unsigned long ret_addr;
	long stored;			/* data put in at entry, found at return */
	bool same_probe;		/* get_kretprobe() named the right one */
	kprobe_opcode_t *running_addr;
	bool preemptible;
};

static struct ret_watch *to_ret_watch(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct ret_watch, rp);
}
NOKPROBE_SYMBOL(to_ret_watch);

static int ret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ret_watch *w = to_ret_watch(ri);

	w->entries++;
	w->preemptible |= preemptible();
	*(long *)ri->data = 1000 + w->entries;
	return 0;
}
NOKPROBE_SYMBOL(ret_entry);

static int ret_entry_refuses(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ret_entry(ri, regs);
	return 1;
}
NOKPROBE_SYMBOL(ret_entry_refuses);

static int ret_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ret_watch *w = to_ret_watch(ri);
	struct kprobe *running = kprobe_running();

	w->returns++;
	w->preemptible |= preemptible();
	w->value = regs_return_value(regs);
	w->ret_addr = get_kretprobe_retaddr(ri);
	w->running_addr = running ? running->addr : NULL;
	if (w->rp.data_size)
		w->stored = *(long *)ri->data;
	return 0;
}
NOKPROBE_SYMBOL(ret_return);

static void ret_watch_init(struct ret_watch *w, void *addr)
{
	memset(w, 0, sizeof(*w));
	w->rp.kp.addr = addr;
	w->rp.handler = ret_return;
}

static struct ret_watch *ret_watch_new(struct kunit *test, void *addr)
{
	struct ret_watch *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	ret_watch_init(w, addr);
	return w;
}

/* --- Refusals ------------------------------------------------------------ */

struct ret_refusal {
	const char *name;
	void *addr;
	const char *symbol;
	unsigned int offset;
	size_t data_size;
	int error;
	bool x86;		/* other architectures do not refuse it */
};

static const struct ret_refusal ret_refusals[] = {
	{ .name = "neither address nor symbol", .error = -EINVAL },
	{ .name = "address and symbol", .addr = ret_trap_target, .symbol = "schedule",
	  .error = -EINVAL },
	{ .name = "unknown symbol", .symbol = "no_function_has_this_name",
	  .error = -ENOENT },
	{ .name = "user address", .addr = (void *)PAGE_SIZE, .error = -ENOENT },
	{ .name = "behind the entry", .addr = ret_trap_target, .offset = 8,
	  .error = -EINVAL },
	{ .name = "__switch_to", .symbol = "__switch_to", .error = -EINVAL, .x86 = true },
	{ .name = "NOKPROBE_SYMBOL", .addr = ret_hidden_target, .error = -EINVAL },
	{ .name = "too much data", .addr = ret_trap_target,
	  .data_size = KRETPROBE_MAX_DATA_SIZE + 1, .error = -E2BIG },
	{ .name = "size that overflows", .addr = ret_trap_target, .data_size = -1UL,
	  .error = -E2BIG },
};

KUNIT_ARRAY_PARAM_DESC(ret_refusal, ret_refusals, name);

static void test_ret_refused(struct kunit *test)
{
	const struct ret_refusal *row = test->param_value;
	struct ret_watch *w = ret_watch_new(test, row->addr);
	int ret;

	if (row->x86 && !IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "x86 alone refuses it");
	w->rp.kp.symbol_name = row->symbol;
	w->rp.kp.offset = row->offset;
	w->rp.data_size = row->data_size;
	/* Not armed should it be accepted: __switch_to would not survive that. */
	w->rp.kp.flags = KPROBE_FLAG_DISABLED;
	ret = register_kretprobe(&w->rp);
	if (!ret)
		unregister_kretprobe(&w->rp);
	KUNIT_EXPECT_EQ(test, ret, row->error);
	if (row->addr)
		KUNIT_EXPECT_FALSE(test, site_exists(w->rp.kp.addr));

	ret_watch_init(w, ret_trap_target);
	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, ret_call(ret_trap_target, 1), RET_RESULT(1));
	KUNIT_EXPECT_EQ(test, w->returns, 1);
}

static void test_ret_refused_while_registered(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_ftrace_target);

	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&w->rp), -EINVAL);
	KUNIT_EXPECT_EQ(test, ret_call(ret_ftrace_target, 1), RET_RESULT(1));
	KUNIT_EXPECT_EQ(test, w->returns, 1);
}

static void test_ret_largest_data(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_trap_target);

	w->rp.entry_handler = ret_entry;
	w->rp.data_size = KRETPROBE_MAX_DATA_SIZE;
	w->rp.maxactive = 1;
	fixture_register_ret(test, &w->rp);
	ret_call(ret_trap_target, 1);
	KUNIT_EXPECT_EQ(test, w->stored, 1001);
}

static void test_ret_default_maxactive(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_trap_target);

	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, w->rp.maxactive, max(10, 2 * (int)num_possible_cpus()));
	fixture_release_ret(test, &w->rp);

	ret_watch_init(w, ret_trap_target);
	w->rp.maxactive = -5;
	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, w->rp.maxactive, max(10, 2 * (int)num_possible_cpus()));
}

/* --- Arrays --------------------------------------------------------------- */

#define RET_ARRAY	3

static void ret_array_init(struct ret_watch *w, struct kretprobe **rps)
{
	int i;

	ret_watch_init(&w[0], ret_trap_target);
	ret_watch_init(&w[1], ret_ftrace_target);
	ret_watch_init(&w[2], ret_jump_target);
	for (i = 0; i < RET_ARRAY; i++)
		rps[i] = &w[i].rp;
}

static void ret_array_call(void)
{
	ret_call(ret_trap_target, 1);
	ret_call(ret_ftrace_target, 1);
	ret_call(ret_jump_target, 1);
}

static void test_ret_array(struct kunit *test)
{
	struct kretprobe *rps[RET_ARRAY];
	struct ret_watch *w;
	int i;

	w = kunit_kcalloc(test, RET_ARRAY, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	ret_array_init(w, rps);
	KUNIT_EXPECT_EQ(test, register_kretprobes(rps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kretprobes(rps, -1), -EINVAL);
	unregister_kretprobes(rps, 0);
	KUNIT_ASSERT_EQ(test, register_kretprobes(rps, RET_ARRAY), 0);
	ret_array_call();
	unregister_kretprobes(rps, RET_ARRAY);
	ret_array_call();
	for (i = 0; i < RET_ARRAY; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i].returns, 1, "probe %d", i);
}

static void test_ret_array_with_bad_element(struct kunit *test)
{
	struct kretprobe *rps[RET_ARRAY];
	struct ret_watch *w;
	int bad, i;

	w = kunit_kcalloc(test, RET_ARRAY, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	for (bad = 0; bad < RET_ARRAY; bad++) {
		ret_array_init(w, rps);
		w[bad].rp.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
		KUNIT_EXPECT_EQ(test, register_kretprobes(rps, RET_ARRAY), -E2BIG);
		ret_array_call();
		for (i = 0; i < RET_ARRAY; i++)
			KUNIT_EXPECT_EQ_MSG(test, w[i].returns, 0, "bad %d, probe %d", bad, i);
	}
}

/* --- Handlers -------------------------------------------------------------- */

struct ret_kind {
	const char *name;
	ret_fn target;
	bool trap;		/* kept on its breakpoint by a post_handler beside it */
};

static const struct ret_kind ret_kinds[] = {
	{ "trap", ret_trap_target, true },
	{ "jump", ret_jump_target, false },
	{ "ftrace", ret_ftrace_target, false },
};

KUNIT_ARRAY_PARAM_DESC(ret_kind, ret_kinds, name);

/* Register @w on the kind of the row; a kind may need a companion. */
static void ret_register_kind(struct kunit *test, struct ret_watch *w)
{
	const struct ret_kind *kind = test->param_value;
	struct watch *companion;

	if (kind->trap) {
		companion = watch_new(test, kind->target);
		companion->kp.post_handler = watch_post;
		fixture_register(test, &companion->kp);
	}
	fixture_register_ret(test, &w->rp);
	wait_for_kprobe_optimizer();
}

static bool within_ret_call(unsigned long addr)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(addr, &size, &offset) &&
	       addr - offset == (unsigned long)ret_call;
}

static void test_ret_hit(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);

	w->rp.entry_handler = ret_entry;
	w->rp.data_size = sizeof(long);
	ret_register_kind(test, w);
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->entries, 1);
	KUNIT_EXPECT_EQ(test, w->returns, 1);
	KUNIT_EXPECT_EQ(test, (int)w->value, RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->stored, 1001);
	KUNIT_EXPECT_FALSE(test, w->preemptible);
	KUNIT_EXPECT_PTR_EQ(test, w->running_addr, w->rp.kp.addr);
	KUNIT_EXPECT_TRUE(test, within_ret_call(w->ret_addr));
	KUNIT_EXPECT_FALSE(test, amid_hit());
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, w->rp.kp.nmissed, 0);
}

static void test_ret_no_handler(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);

	w->rp.handler = NULL;
	ret_register_kind(test, w);
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_FALSE(test, amid_hit());
}

/* An entry_handler that says no gives its instance back, every time. */
static void test_ret_entry_refuses(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);
	int i;

	w->rp.entry_handler = ret_entry_refuses;
	w->rp.data_size = sizeof(long);
	w->rp.maxactive = 2;
	ret_register_kind(test, w);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ret_call(kind->target, i), RET_RESULT(i));
	KUNIT_EXPECT_EQ(test, w->entries, 10);
	KUNIT_EXPECT_EQ(test, w->returns, 0);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
}

static void test_ret_switch(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);

	ret_register_kind(test, w);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&w->rp), 0);
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->returns, 0);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&w->rp), 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, w->returns, 1);
}

#ifdef CONFIG_X86
static int ret_overrides(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ret_return(ri, regs);
	regs_set_return_value(regs, 4711);
	return 0;
}
NOKPROBE_SYMBOL(ret_overrides);

static void test_ret_value_overridden(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);

	w->rp.handler = ret_overrides;
	ret_register_kind(test, w);
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), 4711);
}
#endif

static int ret_hits_another(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ret_return(ri, regs);
	ret_call(ret_trap_target, 1);
	return 0;
}
NOKPROBE_SYMBOL(ret_hits_another);

static void test_ret_handler_hits_another(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_ftrace_target);
	struct watch *inner = watch_new(test, ret_trap_target);

	w->rp.handler = ret_hits_another;
	fixture_register(test, &inner->kp);
	fixture_register_ret(test, &w->rp);
	ret_call(ret_ftrace_target, 5);
	KUNIT_EXPECT_EQ(test, w->returns, 1);
	KUNIT_EXPECT_EQ(test, inner->pre, 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
}

/* --- Running out of instances ----------------------------------------------- */

#define DEPTH		5

static void test_ret_recursion(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_deep_target);
	int want = ret_call(ret_deep_target, DEPTH);

	w->rp.entry_handler = ret_entry;
	w->rp.data_size = sizeof(long);
	w->rp.maxactive = DEPTH + 1;
	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, ret_call(ret_deep_target, DEPTH), want);
	KUNIT_EXPECT_EQ(test, w->entries, DEPTH + 1);
	KUNIT_EXPECT_EQ(test, w->returns, DEPTH + 1);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, 0);
	/* The last to return is the first that was entered. */
	KUNIT_EXPECT_EQ(test, w->stored, 1001);
}

static void test_ret_maxactive_exhausted(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, ret_deep_target);
	int want = ret_call(ret_deep_target, DEPTH);

	w->rp.maxactive = 2;
	fixture_register_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, ret_call(ret_deep_target, DEPTH), want);
	KUNIT_EXPECT_EQ(test, w->returns, 2);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, DEPTH + 1 - 2);
	KUNIT_EXPECT_EQ(test, w->rp.kp.nmissed, 0);

	/* Both instances are back. */
	KUNIT_EXPECT_EQ(test, ret_call(ret_deep_target, 1), ret_call(ret_deep_target, 1));
	KUNIT_EXPECT_EQ(test, w->returns, 6);
	KUNIT_EXPECT_EQ(test, w->rp.nmissed, DEPTH + 1 - 2);
}

/* --- Company at the same address --------------------------------------------- */

static void test_ret_with_kprobe(struct kunit *test)
{
	const struct ret_kind *kind = test->param_value;
	struct ret_watch *w = ret_watch_new(test, kind->target);
	struct ret_watch *second = ret_watch_new(test, kind->target);
	struct watch *kprobe = watch_new(test, kind->target);

	ret_register_kind(test, w);
	fixture_register(test, &kprobe->kp);
	fixture_register_ret(test, &second->rp);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, kprobe->pre, 1);
	KUNIT_EXPECT_EQ(test, w->returns, 1);
	KUNIT_EXPECT_EQ(test, second->returns, 1);
	/* The newest is called first, and finds the caller's address. */
	KUNIT_EXPECT_TRUE(test, within_ret_call(second->ret_addr));

	fixture_release_ret(test, &w->rp);
	KUNIT_EXPECT_EQ(test, ret_call(kind->target, 5), RET_RESULT(5));
	KUNIT_EXPECT_EQ(test, kprobe->pre, 2);
	KUNIT_EXPECT_EQ(test, w->returns, 1);
	KUNIT_EXPECT_EQ(test, second->returns, 2);
}

/* --- A call that outlives its probe -------------------------------------------- */

static DECLARE_COMPLETION(sleeper_entered);
static DECLARE_COMPLETION(sleeper_may_return);

static noinline int sleeping_target(int x)
{
	complete(&sleeper_entered);
	wait_for_completion(&sleeper_may_return);
	return x + 7;
}

static int sleeper(void *unused)
{
	WRITE_ONCE(sink, 5);
	return ret_call(sleeping_target, 5);
}

/* The return address is in the hands of a probe that is unregistered meanwhile. */
static void test_ret_unregister_in_call(struct kunit *test)
{
	struct ret_watch *w = ret_watch_new(test, sleeping_target);
	struct task_struct *task;

	reinit_completion(&sleeper_entered);
	reinit_completion(&sleeper_may_return);
	fixture_register_ret(test, &w->rp);
	task = kthread_create(sleeper, NULL, "kprobes_sleeper");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&sleeper_entered, 5 * HZ), 0);
	fixture_release_ret(test, &w->rp);
	complete(&sleeper_may_return);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), RET_RESULT(5));
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, w->returns, 0);
}

static struct kunit_case ret_cases[] = {
	KUNIT_CASE_PARAM(test_ret_refused, ret_refusal_gen_params),
	KUNIT_CASE(test_ret_refused_while_registered),
	KUNIT_CASE(test_ret_largest_data),
	KUNIT_CASE(test_ret_default_maxactive),
	KUNIT_CASE(test_ret_array),
	KUNIT_CASE(test_ret_array_with_bad_element),
	KUNIT_CASE_PARAM(test_ret_hit, ret_kind_gen_params),
	KUNIT_CASE_PARAM(test_ret_no_handler, ret_kind_gen_params),
	KUNIT_CASE_PARAM(test_ret_entry_refuses, ret_kind_gen_params),
	KUNIT_CASE_PARAM(test_ret_switch, ret_kind_gen_params),
#ifdef CONFIG_X86
	KUNIT_CASE_PARAM(test_ret_value_overridden, ret_kind_gen_params),
#endif
	KUNIT_CASE(test_ret_handler_hits_another),
	KUNIT_CASE(test_ret_recursion),
	KUNIT_CASE(test_ret_maxactive_exhausted),
	KUNIT_CASE_PARAM(test_ret_with_kprobe, ret_kind_gen_params),
	KUNIT_CASE(test_ret_unregister_in_call),
	{}
};

static struct kunit_suite ret_suite = {
	.name = "kprobes_return",
	.test_cases = ret_cases,
};

kunit_test_suite(ret_suite);

MODULE_DESCRIPTION("KUnit tests of return probes");
MODULE_LICENSE("GPL");
