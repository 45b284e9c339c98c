// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite kprobes_hits: probed code on several CPUs, by tasks that wander,
 * while probes come and go. Calls must return what they return unprobed, and
 * where a probe stays, each call is a hit or a miss.
 *
 * The last two cases are about callers in the wrong: two threads that register
 * one struct, and a return probe that is unregistered without being registered.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "fixture.h"

#define ROUNDS		12	/* registrations while the workers run */
#define WORKERS		4
#define BURST		64	/* calls between two looks at the clock and the CPU */
#define LONGEST		(20 * HZ)

static int sink;

static noinline notrace int hits_trap_target(int x)
{
	WRITE_ONCE(sink, x);
	return x ^ 0x55;
}

static noinline notrace int hits_jump_target(int x)
{
	WRITE_ONCE(sink, x);
	return x ^ 0x55;
}

static noinline int hits_ftrace_target(int x)
{
	WRITE_ONCE(sink, x);
	return x ^ 0x55;
}

static noinline notrace int hits_nested_target(int x)
{
	WRITE_ONCE(sink, x);
	return x ^ 0x55;
}

typedef int (*hits_fn)(int x);

struct hits_kind {
	const char *name;
	hits_fn target;
	bool trap;
};

static const struct hits_kind hits_kinds[] = {
	{ "trap", hits_trap_target, true },
	{ "jump", hits_jump_target, false },
	{ "ftrace", hits_ftrace_target, false },
};

KUNIT_ARRAY_PARAM_DESC(hits_kind, hits_kinds, name);

/* --- Workers ----------------------------------------------------------------- */

struct worker {
	struct task_struct *task;
	hits_fn target;
	unsigned long calls;
	unsigned long wrong;
};

struct crew {
	struct worker workers[WORKERS];
	bool stop;
	unsigned long calls;
	unsigned long wrong;
};

static void work_burst(struct worker *worker)
{
	hits_fn fn = READ_ONCE(worker->target);
	int i;

	for (i = 0; i < BURST; i++) {
		worker->calls++;
		if (fn(i) != (i ^ 0x55))
			worker->wrong++;
	}
}

static void wander(struct worker *worker)
{
	int cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int work(void *arg)
{
	struct worker *worker = arg;

	while (!kthread_should_stop()) {
		work_burst(worker);
		wander(worker);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void crew_dismiss(void *arg)
{
	struct crew *crew = arg;
	struct worker *worker;

	for (worker = crew->workers; worker < crew->workers + WORKERS; worker++) {
		if (!worker->task)
			continue;
		kthread_stop(worker->task);
		worker->task = NULL;
		crew->calls += worker->calls;
		crew->wrong += worker->wrong;
	}
}

static struct crew *crew_hire(struct kunit *test, hits_fn target)
{
	struct crew *crew = kunit_kzalloc(test, sizeof(*crew), GFP_KERNEL);
	struct task_struct *task;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, crew);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, crew_dismiss, crew), 0);
	for (i = 0; i < WORKERS; i++) {
		crew->workers[i].target = target;
		task = kthread_run(work, &crew->workers[i], "kprobes_hits/%d", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		crew->workers[i].task = task;
	}
	return crew;
}

static unsigned long crew_calls(struct crew *crew)
{
	unsigned long calls = 0;
	int i;

	for (i = 0; i < WORKERS; i++)
		calls += READ_ONCE(crew->workers[i].calls);
	return calls;
}

/* Wait until every worker has seen the present text for a while. */
static void crew_progress(struct kunit *test, struct crew *crew)
{
	unsigned long end = jiffies + LONGEST;
	unsigned long want = crew_calls(crew) + 2 * BURST * WORKERS;

	while (crew_calls(crew) < want && time_before(jiffies, end))
		usleep_range(200, 500);
	KUNIT_ASSERT_GE_MSG(test, crew_calls(crew), want, "the workers hang");
}

static void crew_settle(struct kunit *test, struct crew *crew)
{
	kunit_release_action(test, crew_dismiss, crew);
	KUNIT_EXPECT_GT(test, crew->calls, 0);
	KUNIT_EXPECT_EQ(test, crew->wrong, 0);
}

/* --- Probes ------------------------------------------------------------------- */

struct counter {
	struct kprobe kp;
	atomic_long_t pre;
	atomic_long_t post;
};

static int count_pre(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(kp, struct counter, kp)->pre);
	return 0;
}
NOKPROBE_SYMBOL(count_pre);

static void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	atomic_long_inc(&container_of(kp, struct counter, kp)->post);
}
NOKPROBE_SYMBOL(count_post);

static struct counter *counter_new(struct kunit *test, hits_fn target)
{
	struct counter *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->kp.addr = (void *)target;
	c->kp.pre_handler = count_pre;
	return c;
}

/* A struct that was registered and is to be registered anew. */
static void counter_renew(struct counter *c, hits_fn target)
{
	unsigned long nmissed = c->kp.nmissed;

	c->kp = (struct kprobe){
		.addr = (void *)target,
		.pre_handler = count_pre,
		.nmissed = nmissed,
	};
}

static void expect_all_counted(struct kunit *test, struct counter *c, struct crew *crew)
{
	KUNIT_EXPECT_EQ(test, atomic_long_read(&c->pre) + c->kp.nmissed, crew->calls);
}

/* A probe that is there before the first call and after the last one. */
static void test_steady(struct kunit *test)
{
	const struct hits_kind *kind = test->param_value;
	struct counter *c = counter_new(test, kind->target);
	struct crew *crew;
	int i;

	if (kind->trap)
		c->kp.post_handler = count_post;
	fixture_register(test, &c->kp);
	crew = crew_hire(test, kind->target);
	for (i = 0; i < ROUNDS; i++)
		crew_progress(test, crew);
	crew_settle(test, crew);
	expect_all_counted(test, c, crew);
	if (kind->trap)
		KUNIT_EXPECT_EQ(test, atomic_long_read(&c->post) + c->kp.nmissed,
				crew->calls);
}

/* One probe stays while another comes and goes. */
static void steady_beside(struct kunit *test, kprobe_post_handler_t post)
{
	const struct hits_kind *kind = test->param_value;
	struct counter *c = counter_new(test, kind->target);
	struct counter *guest = counter_new(test, kind->target);
	struct crew *crew;
	int i;

	fixture_register(test, &c->kp);
	crew = crew_hire(test, kind->target);
	for (i = 0; i < ROUNDS; i++) {
		counter_renew(guest, kind->target);
		guest->kp.post_handler = post;
		fixture_register(test, &guest->kp);
		crew_progress(test, crew);
		fixture_release(test, &guest->kp);
		crew_progress(test, crew);
	}
	crew_settle(test, crew);
	expect_all_counted(test, c, crew);
	KUNIT_EXPECT_GT(test, atomic_long_read(&guest->pre), 0);
	KUNIT_EXPECT_LE(test, atomic_long_read(&guest->pre), crew->calls);
	if (post)
		KUNIT_EXPECT_GT(test, atomic_long_read(&guest->post), 0);
}

/* From jump to trap and back. */
static void test_steady_beside_another(struct kunit *test)
{
	steady_beside(test, count_post);
}

/* The jump stays, and has one user or two. */
static void test_steady_beside_user(struct kunit *test)
{
	steady_beside(test, NULL);
}

/* What preempts a task at the end of a hit must not lead back into a hit. */
static void test_resched_is_probed(struct kunit *test)
{
	struct counter *c = counter_new(test, hits_jump_target);
	struct counter *resched = counter_new(test, NULL);
	struct crew *crew;
	int i;

	resched->kp.symbol_name = "preempt_schedule_notrace";
	if (register_kprobe(&resched->kp))
		kunit_skip(test, "this kernel is not preemptible");
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fixture_unregister,
							&resched->kp), 0);
	fixture_register(test, &c->kp);
	wait_for_kprobe_optimizer();
	crew = crew_hire(test, hits_jump_target);
	for (i = 0; i < ROUNDS; i++)
		crew_progress(test, crew);
	crew_settle(test, crew);
	expect_all_counted(test, c, crew);
}

/* The only probe comes and goes under its callers. */
static void test_coming_and_going(struct kunit *test)
{
	const struct hits_kind *kind = test->param_value;
	struct counter *c = counter_new(test, kind->target);
	struct crew *crew = crew_hire(test, kind->target);
	long seen = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		counter_renew(c, kind->target);
		if (kind->trap)
			c->kp.post_handler = count_post;
		fixture_register(test, &c->kp);
		crew_progress(test, crew);
		if (i & 1)
			wait_for_kprobe_optimizer();
		fixture_release(test, &c->kp);
		KUNIT_EXPECT_GT_MSG(test, atomic_long_read(&c->pre), seen, "round %d", i);
		/* No handler runs after unregister_kprobe() has returned. */
		seen = atomic_long_read(&c->pre);
		crew_progress(test, crew);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&c->pre), seen, "round %d", i);
	}
	crew_settle(test, crew);
}

static void test_switching(struct kunit *test)
{
	const struct hits_kind *kind = test->param_value;
	struct counter *c = counter_new(test, kind->target);
	struct crew *crew;
	int i;

	fixture_register(test, &c->kp);
	crew = crew_hire(test, kind->target);
	for (i = 0; i < ROUNDS; i++) {
		KUNIT_EXPECT_EQ(test, disable_kprobe(&c->kp), 0);
		crew_progress(test, crew);
		KUNIT_EXPECT_EQ(test, enable_kprobe(&c->kp), 0);
		if (i & 1)
			wait_for_kprobe_optimizer();
		crew_progress(test, crew);
	}
	crew_settle(test, crew);
	KUNIT_EXPECT_GT(test, atomic_long_read(&c->pre), 0);
	KUNIT_EXPECT_LE(test, atomic_long_read(&c->pre) + c->kp.nmissed, crew->calls);
}

/* The handler of one probe hits another, on all CPUs at once: each a miss. */
static int nesting_pre(struct kprobe *kp, struct pt_regs *regs)
{
	hits_fn nested = hits_nested_target;

	count_pre(kp, regs);
	READ_ONCE(nested)(1);
	return 0;
}
NOKPROBE_SYMBOL(nesting_pre);

static void test_misses(struct kunit *test)
{
	const struct hits_kind *kind = test->param_value;
	struct counter *outer = counter_new(test, kind->target);
	struct counter *inner = counter_new(test, hits_nested_target);
	struct crew *crew;
	int i;

	outer->kp.pre_handler = nesting_pre;
	fixture_register(test, &inner->kp);
	fixture_register(test, &outer->kp);
	crew = crew_hire(test, kind->target);
	for (i = 0; i < ROUNDS / 2; i++)
		crew_progress(test, crew);
	crew_settle(test, crew);
	expect_all_counted(test, outer, crew);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&inner->pre), 0);
	KUNIT_EXPECT_EQ(test, inner->kp.nmissed, atomic_long_read(&outer->pre));
}

/* --- Callers in the wrong ------------------------------------------------------- */

#define RACE_ROUNDS	40

struct racer {
	struct kprobe *kp;
	atomic_t *gate;
	struct task_struct *task;
	int result;
	struct completion done;
};

static int race(void *arg)
{
	struct racer *racer = arg;

	atomic_dec(racer->gate);
	while (atomic_read(racer->gate) > 0)
		cond_resched_tasks_rcu_qs();
	racer->result = register_kprobe(racer->kp);
	complete(&racer->done);
	return 0;
}

static void racer_new(struct kunit *test, struct racer *racer, int cpu)
{
	init_completion(&racer->done);
	racer->task = kthread_create_on_cpu(race, racer, cpu, "kprobes_race/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, racer->task);
}

/* A racer that was never woken ends without having raced. */
static void racer_drop(void *arg)
{
	struct racer *racer = arg;

	kthread_stop(racer->task);
}

static void race_once(struct kunit *test, struct kprobe *kp, struct racer *racers)
{
	atomic_t gate = ATOMIC_INIT(2);
	int first = cpumask_first(cpu_online_mask);
	int last = cpumask_last(cpu_online_mask);

	racers[0] = (struct racer){ .kp = kp, .gate = &gate };
	racers[1] = (struct racer){ .kp = kp, .gate = &gate };
	racer_new(test, &racers[0], first);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, racer_drop, &racers[0]), 0);
	racer_new(test, &racers[1], last);
	kunit_remove_action(test, racer_drop, &racers[0]);
	wake_up_process(racers[0].task);
	wake_up_process(racers[1].task);
	wait_for_completion(&racers[0].done);
	wait_for_completion(&racers[1].done);
}

/* One struct, two threads: one registers it, the other is told so. */
static void test_race_for_one_struct(struct kunit *test)
{
	struct watch *w = watch_new(test, NULL);
	hits_fn fn = hits_trap_target;
	struct racer *racers;
	int i, won;

	racers = kunit_kcalloc(test, 2, sizeof(*racers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, racers);

	for (i = 0; i < RACE_ROUNDS; i++) {
		watch_init(w, hits_trap_target);
		race_once(test, &w->kp, racers);
		won = !racers[0].result + !racers[1].result;
		KUNIT_EXPECT_EQ_MSG(test, won, 1, "round %d", i);
		KUNIT_EXPECT_EQ_MSG(test, racers[0].result + racers[1].result, -EINVAL,
				    "round %d", i);
		KUNIT_EXPECT_EQ(test, READ_ONCE(fn)(3), 3 ^ 0x55);
		KUNIT_EXPECT_EQ(test, w->pre, 1);
		if (won)
			unregister_kprobe(&w->kp);
	}
}

#ifdef CONFIG_KRETPROBES
static int nothing_to_do(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static void test_unregister_refused_return_probe(struct kunit *test)
{
	struct kretprobe *rp = kunit_kzalloc(test, sizeof(*rp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rp);
	rp->kp.symbol_name = "no_function_has_this_name";
	rp->handler = nothing_to_do;
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), -ENOENT);
	unregister_kretprobe(rp);
}
#endif

static struct kunit_case hits_cases[] = {
	KUNIT_CASE_PARAM_ATTR(test_steady, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(test_coming_and_going, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(test_switching, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(test_misses, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(test_steady_beside_another, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(test_steady_beside_user, hits_kind_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_SLOW(test_resched_is_probed),
	KUNIT_CASE_SLOW(test_race_for_one_struct),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_unregister_refused_return_probe),
#endif
	{}
};

static struct kunit_suite hits_suite = {
	.name = "kprobes_hits",
	.test_cases = hits_cases,
};

kunit_test_suite(hits_suite);

MODULE_DESCRIPTION("KUnit tests of kprobes on several CPUs");
MODULE_LICENSE("GPL");
