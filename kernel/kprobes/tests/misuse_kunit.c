// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_misuse: objects that are used in ways they are not meant
 * to be, and what others do to the state that a hit relies on.
 *
 * In the order of this file: registered twice in disguise; objects that are no
 * user's; what is left when others leave; busy CPUs; what ftrace refuses.
 */
#include <linux/ftrace.h>

#include "../internal.h"
#include "fixture.h"

static int sink;

static noinline notrace int misuse_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 11;
}

static noinline notrace int misuse_other(int x)
{
	WRITE_ONCE(sink, x);
	return x + 12;
}

static noinline __maybe_unused int misuse_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return x + 13;
}

typedef int (*misuse_fn)(int x);

static int call(misuse_fn fn, int x)
{
	return READ_ONCE(fn)(x);
}

/* --- Registered twice in disguise ---------------------------------------- */

struct disguise {
	const char *name;
	void (*change)(struct kprobe *kp);
};

static void forget_address(struct kprobe *kp)
{
	kp->addr = NULL;
	kp->symbol_name = "misuse_target";
}

static void name_the_same(struct kprobe *kp)
{
	kp->addr = (void *)misuse_target;
}

static void name_another(struct kprobe *kp)
{
	kp->addr = (void *)misuse_other;
}

static void begin_anew(struct kprobe *kp)
{
	forget_address(kp);
	kp->flags = 0;
	kp->nmissed = 0;
}

static const struct disguise disguises[] = {
	{ "address forgotten", forget_address },
	{ "same address", name_the_same },
	{ "another address", name_another },
	{ "as after KP_CLEAR", begin_anew },
};

KUNIT_ARRAY_PARAM_DESC(disguise, disguises, name);

static void expect_one_hit(struct kunit *test, struct watch *w)
{
	unsigned int before = w->pre;

	KUNIT_EXPECT_EQ(test, call(misuse_target, 1), 12);
	KUNIT_EXPECT_EQ(test, w->pre, before + 1);
}

static void test_registered_in_disguise(struct kunit *test)
{
	const struct disguise *row = test->param_value;
	struct watch *w = watch_new(test, misuse_target);

	fixture_register(test, &w->kp);
	row->change(&w->kp);
	KUNIT_EXPECT_EQ(test, register_kprobe(&w->kp), -EINVAL);
	expect_one_hit(test, w);
	KUNIT_EXPECT_FALSE(test, site_exists((void *)misuse_other));

	/* It is found and let go of, whatever its address says. */
	fixture_release(test, &w->kp);
	KUNIT_EXPECT_EQ(test, call(misuse_target, 1), 12);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
	watch_init(w, misuse_target);
	fixture_register(test, &w->kp);
	expect_one_hit(test, w);
}

static void test_twice_in_an_array(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL), *first = watch_new(test, misuse_other);
	struct kprobe *kps[] = { &first->kp, &w->kp, &w->kp };

	w->kp.symbol_name = "misuse_target";
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_SIZE(kps)), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(misuse_target, 1), 12);
	KUNIT_EXPECT_EQ(test, call(misuse_other, 1), 13);
	KUNIT_EXPECT_EQ(test, w->pre + first->pre, 0);
}

/* Garbage where the list is does not matter, pointers into nowhere included. */
static void test_garbage_in_list(struct kunit *test)
{
	static const unsigned long garbage[] = { 0, 8, 0x122, PAGE_SIZE, -8UL, -1UL };
	struct watch *w = watch_new(test, NULL);
	int i;

	for (i = 0; i <= ARRAY_SIZE(garbage); i++) {
		watch_init(w, misuse_target);
		INIT_LIST_HEAD(&w->kp.list);
		if (i < ARRAY_SIZE(garbage)) {
			w->kp.list.next = (void *)garbage[i];
			w->kp.list.prev = (void *)garbage[i];
		}
		KUNIT_ASSERT_EQ(test, register_kprobe(&w->kp), 0);
		expect_one_hit(test, w);
		unregister_kprobe(&w->kp);
	}
}

#ifdef CONFIG_KRETPROBES
struct return_count {
	struct kretprobe rp;
	int returns;
};

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	container_of(get_kretprobe(ri), struct return_count, rp)->returns++;
	return 0;
}

/* The pool of the first registration stays the one that hits take from. */
static void test_return_probe_in_disguise(struct kunit *test)
{
	struct return_count *rc = kunit_kzalloc(test, sizeof(*rc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rc);
	rc->rp.kp.addr = (void *)misuse_target;
	rc->rp.handler = count_return;
	fixture_register_ret(test, &rc->rp);
	forget_address(&rc->rp.kp);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rc->rp), -EINVAL);
	call(misuse_target, 1);
	KUNIT_EXPECT_EQ(test, rc->returns, 1);
	fixture_release_ret(test, &rc->rp);
	call(misuse_target, 1);
	KUNIT_EXPECT_EQ(test, rc->returns, 1);
}
#endif

/* --- Objects that are no user's ------------------------------------------ */

static struct kprobe *site_at(void *addr)
{
	guard(preempt)();
	return get_kprobe(addr);
}

/* What get_kprobe() shows is ours: its address is how hits find it. */
static void test_site_is_no_user(struct kunit *test)
{
	struct watch *w = watch_new(test, misuse_target);
	struct kprobe *site;
	void *addr;

	fixture_register(test, &w->kp);
	addr = w->kp.addr;
	site = site_at(addr);
	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_EQ(test, register_kprobe(site), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kprobe(site), -EINVAL);
	unregister_kprobe(site);
	KUNIT_EXPECT_PTR_EQ(test, site_at(addr), site);
	KUNIT_EXPECT_PTR_EQ(test, (void *)site->addr, addr);
	expect_one_hit(test, w);
}

/* --- What is left when others leave -------------------------------------- */

/*
 * An architecture may read it twice for one hit: it never goes back to NULL. The
 * flag says whether there is somebody to be called.
 */
static void test_post_handler_stays(struct kunit *test)
{
	struct watch *stays = watch_new(test, misuse_target);
	struct watch *leaves = watch_new(test, misuse_target);
	struct kprobe *site;

	fixture_register(test, &stays->kp);
	site = site_at(stays->kp.addr);
	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_NULL(test, site->post_handler);
	leaves->kp.post_handler = watch_post;
	fixture_register(test, &leaves->kp);
	KUNIT_EXPECT_NOT_NULL(test, site->post_handler);
	KUNIT_EXPECT_TRUE(test, site->flags & KPROBE_FLAG_POST_HANDLER);
	fixture_release(test, &leaves->kp);
	KUNIT_EXPECT_NOT_NULL(test, site->post_handler);
	KUNIT_EXPECT_FALSE(test, site->flags & KPROBE_FLAG_POST_HANDLER);
	expect_one_hit(test, stays);
	KUNIT_EXPECT_EQ(test, leaves->post, 0);
}

/* --- Busy CPUs ------------------------------------------------------------ */

static struct kprobe *running_after;

/* As an interrupt amid a handler does whose function shares data with probes. */
static int pre_is_busy(struct kprobe *kp, struct pt_regs *regs)
{
	watch_pre(kp, regs);
	kprobe_busy_begin();
	kprobe_busy_begin();
	kprobe_busy_end();
	kprobe_busy_end();
	running_after = kprobe_running();
	call(misuse_other, 1);
	return 0;
}
NOKPROBE_SYMBOL(pre_is_busy);

static void test_busy_in_a_handler(struct kunit *test)
{
	struct watch *outer = watch_new(test, misuse_target);
	struct watch *inner = watch_new(test, misuse_other);

	outer->kp.pre_handler = pre_is_busy;
	fixture_register(test, &inner->kp);
	fixture_register(test, &outer->kp);
	wait_for_kprobe_optimizer();
	expect_one_hit(test, outer);
	KUNIT_EXPECT_PTR_EQ(test, running_after, site_at(outer->kp.addr));
	KUNIT_EXPECT_EQ(test, inner->pre, 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, 1);
	KUNIT_EXPECT_FALSE(test, amid_hit());
	call(misuse_other, 1);
	KUNIT_EXPECT_EQ(test, inner->pre, 1);
}

static void test_busy_nests(struct kunit *test)
{
	struct watch *w = watch_new(test, misuse_target);

	fixture_register(test, &w->kp);
	wait_for_kprobe_optimizer();
	kprobe_busy_begin();
	kprobe_busy_begin();
	kprobe_busy_end();
	call(misuse_target, 1);
	kprobe_busy_end();
	KUNIT_EXPECT_EQ(test, w->pre, 0);
	KUNIT_EXPECT_EQ(test, w->kp.nmissed, 1);
	KUNIT_EXPECT_FALSE(test, amid_hit());
	expect_one_hit(test, w);
}

/* --- What ftrace refuses --------------------------------------------------- */

#ifdef CONFIG_KPROBES_ON_FTRACE
static void notrace misuse_patch(unsigned long ip, unsigned long parent,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops misuse_patcher = {
	.func = misuse_patch,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void remove_patcher(void *ops)
{
	unregister_ftrace_function(ops);
}

static void switch_all(bool off)
{
	LIST_HEAD(dirty);

	guard(mutex)(&kprobe_mutex);
	kprobes_all_disarmed = off;
	kprobe_site_mark_all(&dirty);
	kprobe_sites_commit(&dirty);
}

static void switch_on(void *unused)
{
	switch_all(false);
}

/* Have a probe that is enabled refused by ftrace, while all were off. */
static void refuse_site(struct kunit *test, struct watch *w)
{
	unsigned long ip;
	int err;

	w->kp.post_handler = watch_post;
	fixture_register(test, &w->kp);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, switch_on, NULL), 0);
	ip = (unsigned long)w->kp.addr;
	switch_all(true);
	err = ftrace_set_filter_ip(&misuse_patcher, ip, 0, 1) ?:
	      register_ftrace_function(&misuse_patcher);
	if (err == -EOPNOTSUPP || err == -EINVAL)
		kunit_skip(test, "ftrace lets nobody change the instruction pointer");
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_patcher,
							&misuse_patcher), 0);
	switch_all(false);
	call(misuse_ftrace_target, 1);
	KUNIT_ASSERT_EQ(test, w->pre, 0);
}

/* One who asks for no hits is not refused for one who does; one who does is. */
static void test_refused_for_another(struct kunit *test)
{
	struct watch *w = watch_new(test, misuse_ftrace_target);
	struct watch *joins = watch_new(test, misuse_ftrace_target);

	refuse_site(test, w);
	joins->kp.flags = KPROBE_FLAG_DISABLED;
	fixture_register(test, &joins->kp);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&joins->kp), -EBUSY);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&joins->kp));
	KUNIT_EXPECT_EQ(test, disable_kprobe(&joins->kp), 0);
	fixture_release(test, &joins->kp);
	joins->kp.flags = 0;
	KUNIT_EXPECT_EQ(test, register_kprobe(&joins->kp), -EBUSY);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&w->kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&w->kp));

	kunit_release_action(test, remove_patcher, &misuse_patcher);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&w->kp), 0);
	call(misuse_ftrace_target, 1);
	KUNIT_EXPECT_EQ(test, w->pre, 1);
}

/* A probe elsewhere gets its hits, though another site cannot be armed. */
static void test_refused_elsewhere(struct kunit *test)
{
	struct watch *w = watch_new(test, misuse_ftrace_target);
	struct watch *other = watch_new(test, misuse_other);

	refuse_site(test, w);
	fixture_register(test, &other->kp);
	call(misuse_other, 1);
	KUNIT_EXPECT_EQ(test, other->pre, 1);
}
#endif

static struct kunit_case misuse_cases[] = {
	KUNIT_CASE_PARAM(test_registered_in_disguise, disguise_gen_params),
	KUNIT_CASE(test_twice_in_an_array),
	KUNIT_CASE(test_garbage_in_list),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_return_probe_in_disguise),
#endif
	KUNIT_CASE(test_site_is_no_user),
	KUNIT_CASE(test_post_handler_stays),
	KUNIT_CASE(test_busy_in_a_handler),
	KUNIT_CASE(test_busy_nests),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(test_refused_for_another),
	KUNIT_CASE(test_refused_elsewhere),
#endif
	{}
};

static struct kunit_suite misuse_suite = {
	.name = "kprobes_misuse",
	.test_cases = misuse_cases,
};

kunit_test_suite(misuse_suite);

MODULE_DESCRIPTION("KUnit tests of kprobes used in ways they are not meant to be");
MODULE_LICENSE("GPL");
