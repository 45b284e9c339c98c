// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_nomem: registration with each of its slab allocations
 * failing in turn. It ends in success or -ENOMEM, and -ENOMEM leaves nothing.
 *
 * should_failslab() is asked before every allocation; a probe on it answers
 * for this task. Whatever a worker allocates is not covered.
 */
#include <linux/delay.h>
#include <linux/error-injection.h>
#include <linux/fault-inject.h>
#include <linux/sched.h>

#include "../internal.h"
#include "fixture.h"

#define MOST_ALLOCATIONS	64

static struct task_struct *victim;
static int countdown;
static bool failed;

/* Make the allocation number @countdown of the victim fail. */
static int deny(struct kprobe *kp, struct pt_regs *regs)
{
	if (current != victim || !in_task() || countdown <= 0 || --countdown)
		return 0;
	failed = true;
	regs_set_return_value(regs, -ENOMEM);
	override_function_with_return(regs);
	return 1;
}
NOKPROBE_SYMBOL(deny);

static void deny_start(int nth)
{
	failed = false;
	countdown = nth;
	victim = current;
}

/* Returns whether an allocation was denied. */
static bool deny_stop(void)
{
	victim = NULL;
	return failed;
}

static struct kprobe denier = {
	.symbol_name = "should_failslab",
	.pre_handler = deny,
};

static int sink;

static noinline notrace int nomem_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 3;
}

static noinline int nomem_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 3;
}

static noinline int nomem_other_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 4;
}

static noinline int nomem_third_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 5;
}

typedef int (*nomem_fn)(int x);

struct nomem_row {
	const char *name;
	nomem_fn target;
	bool second;		/* a probe is at the address already */
	bool detour;		/* it makes one */
};

static const struct nomem_row nomem_rows[] = {
	{ "plain", nomem_target, .detour = true },
	{ "second at the address", nomem_target, .second = true },
	{ "ftrace", nomem_ftrace_target },
	{ "second on ftrace", nomem_ftrace_target, .second = true },
};

KUNIT_ARRAY_PARAM_DESC(nomem, nomem_rows, name);

/* Whether there are no sites but those in the table. */
static bool all_are_in_table(void)
{
	struct kprobe_site *site;
	unsigned int pos, nr = 0;

	guard(mutex)(&kprobe_mutex);
	for_each_kprobe_site(site, pos)
		nr++;
	return kprobe_sites_alive() == nr;
}

/* What is retired is freed some grace periods later. */
static void expect_all_freed(struct kunit *test)
{
	int tries;

	for (tries = 0; tries < 200 && !all_are_in_table(); tries++)
		msleep(50);
	KUNIT_EXPECT_TRUE(test, all_are_in_table());
}

static void expect_absent(struct kunit *test, struct watch *w, struct watch *other)
{
	const struct nomem_row *row = test->param_value;
	nomem_fn fn = READ_ONCE(row->target);
	unsigned int before = other->pre;

	KUNIT_EXPECT_EQ(test, READ_ONCE(fn)(4), 7);
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	KUNIT_EXPECT_EQ(test, other->pre, before + row->second);
	if (!row->second)
		KUNIT_EXPECT_FALSE(test, site_exists(w->kp.addr));
}

static void expect_present(struct kunit *test, struct watch *w)
{
	const struct nomem_row *row = test->param_value;
	nomem_fn fn = READ_ONCE(row->target);

	KUNIT_EXPECT_EQ(test, READ_ONCE(fn)(4), 7);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

static enum kprobe_opt_reason reason_of(void *addr)
{
	guard(mutex)(&kprobe_mutex);
	guard(preempt)();
	return kprobe_site_reason(kprobe_to_site(get_kprobe(addr)));
}

/*
 * Where it was the detour that got no memory, the probe is a breakpoint that
 * says so, until something about it changes.
 */
static bool expect_no_detour(struct kunit *test, struct watch *w)
{
	if (reason_of(w->kp.addr) != KPROBE_OPT_NO_MEMORY)
		return false;
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_FALSE(test, site_flags(w->kp.addr) & KPROBE_FLAG_OPTIMIZED);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_EQ(test, reason_of(w->kp.addr), KPROBE_OPT_OK);
	return true;
}

static void test_register(struct kunit *test)
{
	const struct nomem_row *row = test->param_value;
	struct watch *w = watch_new(test, row->target);
	struct watch *other = watch_new(test, row->target);
	bool denied = true, no_detour = false;
	int nth, ret;

	if (row->second)
		fixture_register(test, &other->kp);
	for (nth = 1; denied && nth <= MOST_ALLOCATIONS; nth++) {
		watch_init(w, row->target);
		deny_start(nth);
		ret = register_kprobe(&w->kp);
		denied = deny_stop();
		if (ret) {
			KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %d", nth);
			expect_absent(test, w, other);
			continue;
		}
		expect_present(test, w);
		no_detour |= denied && expect_no_detour(test, w);
		unregister_kprobe(&w->kp);
		wait_for_kprobe_optimizer();
	}
	KUNIT_EXPECT_FALSE_MSG(test, denied, "no end of allocations");
	expect_all_freed(test);
	KUNIT_EXPECT_EQ(test, no_detour, IS_ENABLED(CONFIG_OPTPROBES) && row->detour);
}

/* Two of them ftrace is told of together. */
static const nomem_fn nomem_array[] = {
	nomem_target, nomem_ftrace_target, nomem_target, nomem_other_ftrace_target,
};

#define NOMEM_ARRAY	ARRAY_SIZE(nomem_array)

static void test_array(struct kunit *test)
{
	struct kprobe *kps[NOMEM_ARRAY];
	nomem_fn fn = nomem_target;
	struct watch *w;
	bool denied = true;
	int nth, ret, i;

	w = kunit_kcalloc(test, NOMEM_ARRAY, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	for (nth = 1; denied && nth <= MOST_ALLOCATIONS; nth++) {
		for (i = 0; i < NOMEM_ARRAY; i++) {
			watch_init(&w[i], nomem_array[i]);
			kps[i] = &w[i].kp;
		}
		deny_start(nth);
		ret = register_kprobes(kps, NOMEM_ARRAY);
		denied = deny_stop();
		KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "allocation %d: %d",
				      nth, ret);
		KUNIT_EXPECT_EQ(test, READ_ONCE(fn)(4), 7);
		KUNIT_EXPECT_EQ(test, w[0].pre, !ret);
		KUNIT_EXPECT_EQ(test, w[2].pre, !ret);
		if (!ret)
			unregister_kprobes(kps, NOMEM_ARRAY);
		wait_for_kprobe_optimizer();
	}
	KUNIT_EXPECT_FALSE_MSG(test, denied, "no end of allocations");
	expect_all_freed(test);
}

static const nomem_fn nomem_leaving[] = {
	nomem_ftrace_target, nomem_other_ftrace_target, nomem_third_ftrace_target,
};

#define NOMEM_LEAVING	ARRAY_SIZE(nomem_leaving)

static void call_leaving(void)
{
	int i;

	for (i = 0; i < NOMEM_LEAVING; i++) {
		nomem_fn fn = READ_ONCE(nomem_leaving[i]);

		READ_ONCE(fn)(i);
	}
}

/* The first so many leave while memory is denied; then they come again. */
static bool leave_without_memory(struct kunit *test, struct watch *w, int leave,
				 int nth)
{
	struct kprobe *kps[NOMEM_LEAVING];
	bool denied;
	int i;

	for (i = 0; i < NOMEM_LEAVING; i++) {
		watch_init(&w[i], nomem_leaving[i]);
		kps[i] = &w[i].kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NOMEM_LEAVING), 0);
	call_leaving();
	deny_start(nth);
	unregister_kprobes(kps, leave);
	denied = deny_stop();
	call_leaving();
	for (i = 0; i < NOMEM_LEAVING; i++)
		KUNIT_EXPECT_EQ_MSG(test, w[i].pre, 1 + (i >= leave),
				    "%d leave, probe %d, allocation %d", leave, i, nth);
	if (leave < NOMEM_LEAVING)
		unregister_kprobes(kps + leave, NOMEM_LEAVING - leave);
	return denied;
}

/* To stop being hit takes no memory, and harms nobody who stays or comes later. */
static void test_unregister(struct kunit *test)
{
	struct watch *w = kunit_kcalloc(test, NOMEM_LEAVING, sizeof(*w), GFP_KERNEL);
	int leave, nth;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (leave = 1; leave <= NOMEM_LEAVING; leave++) {
		nth = 1;
		while (leave_without_memory(test, w, leave, nth) && nth < MOST_ALLOCATIONS)
			nth++;
		KUNIT_EXPECT_LT_MSG(test, nth, MOST_ALLOCATIONS, "no end of allocations");
		if (IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
			KUNIT_EXPECT_GT_MSG(test, nth, 1, "nothing was denied");
	}
	expect_all_freed(test);
}

#ifdef CONFIG_KRETPROBES
static int nomem_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static void test_return_probe(struct kunit *test)
{
	struct kretprobe *rp = kunit_kzalloc(test, sizeof(*rp), GFP_KERNEL);
	nomem_fn fn = nomem_target;
	bool denied = true;
	int nth, ret;

	KUNIT_ASSERT_NOT_NULL(test, rp);
	for (nth = 1; denied && nth <= MOST_ALLOCATIONS; nth++) {
		*rp = (struct kretprobe){
			.kp.addr = (void *)nomem_target,
			.handler = nomem_return,
			.maxactive = 2,
		};
		deny_start(nth);
		ret = register_kretprobe(rp);
		denied = deny_stop();
		KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "allocation %d: %d",
				      nth, ret);
		KUNIT_EXPECT_EQ(test, READ_ONCE(fn)(4), 7);
		if (!ret)
			unregister_kretprobe(rp);
		wait_for_kprobe_optimizer();
	}
	KUNIT_EXPECT_FALSE_MSG(test, denied, "no end of allocations");
	expect_all_freed(test);
}
#endif

/* The first probe that may become a jump has all text examined, by a worker. */
static int have_text_examined(void)
{
	struct kprobe kp = { .addr = (void *)nomem_target };
	int ret = register_kprobe(&kp);

	if (ret)
		return ret;
	wait_for_kprobe_optimizer();
	unregister_kprobe(&kp);
	return 0;
}

static int nomem_suite_init(struct kunit_suite *suite)
{
	denier.addr = NULL;
	return have_text_examined() ?: register_kprobe(&denier);
}

static void nomem_suite_exit(struct kunit_suite *suite)
{
	unregister_kprobe(&denier);
}

static struct kunit_case nomem_cases[] = {
	KUNIT_CASE_PARAM(test_register, nomem_gen_params),
	KUNIT_CASE(test_array),
	KUNIT_CASE(test_unregister),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_return_probe),
#endif
	{}
};

static struct kunit_suite nomem_suite = {
	.name = "kprobes_nomem",
	.suite_init = nomem_suite_init,
	.suite_exit = nomem_suite_exit,
	.test_cases = nomem_cases,
};

kunit_test_suite(nomem_suite);

MODULE_DESCRIPTION("KUnit tests of kprobes when memory runs out");
MODULE_LICENSE("GPL");
