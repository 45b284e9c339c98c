// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers run probed functions and check what they return, while churners
 * register, unregister, enable and disable probes all over them, some of it
 * with a failing allocation, a static key in them flips, a visitor calls into a
 * module that comes and goes, and user space (guest.sh) does the rest. On each
 * function one probe stays from the first call to the last: its hits and misses
 * must add up to the calls. In the end kernel text must be what it was.
 *
 * insmod returns when the time is up. rmmod, by when user space has stopped
 * changing text, compares and prints one line an invariant: "CASE name ok" or
 * "CASE name FAIL why".
 */
#define pr_fmt(fmt) "stress: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>

static unsigned int seed = 1;
module_param(seed, uint, 0);
MODULE_PARM_DESC(seed, "of all random choices");

static unsigned int seconds = 10;
module_param(seconds, uint, 0);
MODULE_PARM_DESC(seconds, "how long");

static unsigned int callers = 4;
module_param(callers, uint, 0);
MODULE_PARM_DESC(callers, "threads that call");

static unsigned int churners = 6;
module_param(churners, uint, 0);
MODULE_PARM_DESC(churners, "threads that register and unregister");

static bool strict = true;
module_param(strict, bool, 0);
MODULE_PARM_DESC(strict, "nothing but a miss takes a hit away: not so when the switch is flipped");

#define MOST_THREADS	16
#define PROBES		8	/* of a churner */
#define MOST_PLACES	10	/* in a function */
#define MOST_BYTES	48	/* in which they are looked for */
#define BURST		128
#define MOST_ALLOCATIONS 24	/* of one registration */

/* --- Functions ------------------------------------------------------------------ */

static int sink;
static DEFINE_STATIC_KEY_FALSE(stress_key);

static noinline notrace int plain(int x)
{
	WRITE_ONCE(sink, x);
	return 3 * x + 1;
}

static noinline int traced(int x)
{
	WRITE_ONCE(sink, x);
	return 3 * x + 1;
}

/* The same on both sides of the key, which is not at the entry: that takes a probe. */
static noinline notrace int keyed(int x)
{
	WRITE_ONCE(sink, x);
	if (static_branch_unlikely(&stress_key))
		WRITE_ONCE(sink, x + 1);
	else
		WRITE_ONCE(sink, x - 1);
	return 3 * x + 1;
}

static noinline notrace int looping(int x)
{
	int i, sum = 1;

	for (i = 0; i < 3; i++)
		sum += READ_ONCE(x);
	return sum;
}

static noinline notrace int calling(int x)
{
	WRITE_ONCE(sink, x);
	return plain(x) + traced(x) - keyed(x);
}

static noinline notrace int branching(int x)
{
	switch (x & 3) {
	case 0:
		WRITE_ONCE(sink, 0);
		return 3 * x + 1;
	case 1:
		WRITE_ONCE(sink, x);
		return x + x + x + 1;
	default:
		return 1 - (-3 * READ_ONCE(x));
	}
}

struct steady {
	struct kprobe kp;
	atomic_long_t hits;
};

static struct target {
	const char *name;
	int (*fn)(int x);
	bool nested;			/* called from calling(), too */
	struct steady steady;
	atomic_long_t calls;
	unsigned int nr_places;
	unsigned short places[MOST_PLACES];
} targets[] = {
	{ "plain", plain, true },
	{ "traced", traced, true },
	{ "keyed", keyed, true },
	{ "looping", looping },
	{ "calling", calling },
	{ "branching", branching },
};

#define NR_TARGETS	ARRAY_SIZE(targets)

static struct target *any_target(struct rnd_state *rnd)
{
	return &targets[prandom_u32_state(rnd) % NR_TARGETS];
}

/* --- Callers ---------------------------------------------------------------------- */

static atomic_long_t wrong;

static void call_burst(struct target *t, struct rnd_state *rnd)
{
	int i, x;

	for (i = 0; i < BURST; i++) {
		x = prandom_u32_state(rnd) & 0xffff;
		if (READ_ONCE(t->fn)(x) != 3 * x + 1)
			atomic_long_inc(&wrong);
	}
	atomic_long_add(BURST, &t->calls);
}

static void wander(struct rnd_state *rnd)
{
	int cpu = prandom_u32_state(rnd) % nr_cpu_ids;

	if (cpu_online(cpu))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int caller(void *arg)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed * 1000ULL + (unsigned long)arg);
	while (!kthread_should_stop()) {
		call_burst(any_target(&rnd), &rnd);
		if (!(prandom_u32_state(&rnd) & 7))
			wander(&rnd);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* --- Calls from interrupts ------------------------------------------------------------ */

#define TIMER_NS	(300 * NSEC_PER_USEC)

static struct hrtimer timers[MOST_THREADS];

static void call_once(struct target *t)
{
	if (READ_ONCE(t->fn)(7) != 22)
		atomic_long_inc(&wrong);
	atomic_long_inc(&t->calls);
}

/* Amid whatever goes on: a hit during a handler's run is missed, and counted. */
static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	call_once(&targets[0]);
	call_once(&targets[1]);
	hrtimer_forward_now(timer, ns_to_ktime(TIMER_NS));
	return HRTIMER_RESTART;
}

static void timers_start(void)
{
	int i;

	for (i = 0; i < callers; i++) {
		hrtimer_init(&timers[i], CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
		timers[i].function = interrupt;
		hrtimer_start(&timers[i], ns_to_ktime(TIMER_NS + i * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_HARD);
	}
}

static void timers_stop(void)
{
	int i;

	for (i = 0; i < callers; i++)
		hrtimer_cancel(&timers[i]);
}

/* --- Probes that stay --------------------------------------------------------------- */

static int steady_pre(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(kp, struct steady, kp)->hits);
	return 0;
}
NOKPROBE_SYMBOL(steady_pre);

static int steady_add(void)
{
	int i, ret;

	for (i = 0; i < NR_TARGETS; i++) {
		targets[i].steady.kp.addr = (void *)targets[i].fn;
		targets[i].steady.kp.pre_handler = steady_pre;
		ret = register_kprobe(&targets[i].steady.kp);
		if (ret) {
			while (i--)
				unregister_kprobe(&targets[i].steady.kp);
			return ret;
		}
	}
	return 0;
}

static void steady_remove(void)
{
	struct kprobe *kps[NR_TARGETS];
	int i;

	for (i = 0; i < NR_TARGETS; i++)
		kps[i] = &targets[i].steady.kp;
	unregister_kprobes(kps, NR_TARGETS);
}

/* Whether the hits of a function, whose calls are known, are as they must be. */
static bool adds_up(struct target *t, long calls)
{
	long hits = atomic_long_read(&t->steady.hits);
	long seen = hits + t->steady.kp.nmissed;

	pr_info("%s: %ld calls, %ld hits, %lu missed, %u places\n", t->name, calls, hits,
		t->steady.kp.nmissed, t->nr_places);
	return strict ? seen == calls : seen <= calls;
}

/* The calls of calling() are calls of what it calls. */
static int steady_lost(void)
{
	long inner = atomic_long_read(&targets[4].calls);
	int i, lost = 0;

	for (i = 0; i < NR_TARGETS; i++) {
		long calls = atomic_long_read(&targets[i].calls);

		lost += !adds_up(&targets[i], calls + (targets[i].nested ? inner : 0));
	}
	return lost;
}

/* --- Churners ------------------------------------------------------------------------ */

enum churned_kind { CHURN_PROBE, CHURN_RETURN, CHURN_FPROBE };

struct churned {
	struct kretprobe rp;		/* or only its kp */
#ifdef CONFIG_FPROBE
	struct fprobe fp;
#endif
	enum churned_kind kind;
	bool there;
};

static atomic_long_t operations, refused, denied, churned_hits;

/* What handlers do: unwind, and hit another probe, which is a miss. */
static int churned_pre(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long trace[8];
	long nth = atomic_long_inc_return(&churned_hits);

	if (!(nth & 63))
		stack_trace_save(trace, ARRAY_SIZE(trace), 0);
	if (!(nth & 31))
		call_once(&targets[0]);
	return 0;
}
NOKPROBE_SYMBOL(churned_pre);

static void churned_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	atomic_long_inc(&churned_hits);
}
NOKPROBE_SYMBOL(churned_post);

static int churned_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(&churned_hits);
	return 0;
}
NOKPROBE_SYMBOL(churned_return);

#ifdef CONFIG_FPROBE
static int churned_entry(struct fprobe *fp, unsigned long entry, unsigned long ret,
			 struct pt_regs *regs, void *data)
{
	atomic_long_inc(&churned_hits);
	return 0;
}

static void churned_exit(struct fprobe *fp, unsigned long entry, unsigned long ret,
			 struct pt_regs *regs, void *data)
{
	atomic_long_inc(&churned_hits);
}

static int fprobe_add(struct churned *c)
{
	unsigned long at = (unsigned long)traced;

	c->fp = (struct fprobe){
		.entry_handler = churned_entry,
		.exit_handler = churned_exit,
	};
	return register_fprobe_ips(&c->fp, &at, 1);
}

static void fprobe_remove(struct churned *c)
{
	unregister_fprobe(&c->fp);
}
#else
static int fprobe_add(struct churned *c)
{
	return -EOPNOTSUPP;
}

static void fprobe_remove(struct churned *c)
{
}
#endif

static enum churned_kind any_kind(u32 dice)
{
	switch (dice & 15) {
	case 0:
	case 1:
		return CHURN_RETURN;
	case 2:
		return CHURN_FPROBE;
	default:
		return CHURN_PROBE;
	}
}

static void churned_aim(struct churned *c, struct rnd_state *rnd)
{
	struct target *t = any_target(rnd);
	u32 dice = prandom_u32_state(rnd);

	memset(c, 0, sizeof(*c));
	c->kind = any_kind(dice);
	c->rp.kp.addr = (void *)t->fn;
	c->rp.handler = churned_return;
	c->rp.maxactive = dice & 0x1000 ? MOST_THREADS : 1;
	if (c->kind != CHURN_PROBE)
		return;
	if (!(dice & 0xe000)) {
		c->rp.kp.addr = NULL;
		c->rp.kp.symbol_name = dice & 0x10000 ? "victim_plain" : "victim_traced";
	} else {
		c->rp.kp.offset = t->places[(dice >> 20) % t->nr_places];
	}
	c->rp.kp.pre_handler = churned_pre;
	if (!(dice & 0x30))
		c->rp.kp.post_handler = churned_post;
	if (!(dice & 0xc0))
		c->rp.kp.flags = KPROBE_FLAG_DISABLED;
}

static void churned_add(struct churned *c, struct rnd_state *rnd)
{
	int ret;

	churned_aim(c, rnd);
	if (c->kind == CHURN_FPROBE)
		ret = fprobe_add(c);
	else if (c->kind == CHURN_RETURN)
		ret = register_kretprobe(&c->rp);
	else
		ret = register_kprobe(&c->rp.kp);
	c->there = !ret;
	if (ret)
		atomic_long_inc(&refused);
}

static void churned_remove(struct churned *c)
{
	if (!c->there)
		return;
	if (c->kind == CHURN_FPROBE)
		fprobe_remove(c);
	else if (c->kind == CHURN_RETURN)
		unregister_kretprobe(&c->rp);
	else
		unregister_kprobe(&c->rp.kp);
	c->there = false;
}

static void churned_switch(struct churned *c, bool on)
{
	if (c->kind == CHURN_FPROBE)
		return;
	if (on)
		enable_kprobe(&c->rp.kp);
	else
		disable_kprobe(&c->rp.kp);
}

/* Make the nth allocation of this task fail, where the kernel can do that. */
static void deny_nth(unsigned int nth)
{
#ifdef CONFIG_FAILSLAB
	if (!nth && !current->fail_nth)
		atomic_long_inc(&denied);
	current->fail_nth = nth;
#endif
}

static void churn_once(struct churned *c, struct rnd_state *rnd)
{
	u32 dice = prandom_u32_state(rnd);
	bool deny = !c->there && !(dice & 0x30);

	if (deny)
		deny_nth(1 + (dice >> 8) % MOST_ALLOCATIONS);
	if (!c->there)
		churned_add(c, rnd);
	else if (dice & 1)
		churned_remove(c);
	else
		churned_switch(c, dice & 2);
	if (deny)
		deny_nth(0);
	atomic_long_inc(&operations);
}

static int churner(void *arg)
{
	struct churned *mine = kcalloc(PROBES, sizeof(*mine), GFP_KERNEL);
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, seed * 2000ULL + (unsigned long)arg);
	while (!kthread_should_stop()) {
		if (mine)
			churn_once(&mine[prandom_u32_state(&rnd) % PROBES], &rnd);
		if (!(prandom_u32_state(&rnd) & 3))
			usleep_range(100, 20000);
	}
	for (i = 0; mine && i < PROBES; i++)
		churned_remove(&mine[i]);
	kfree(mine);
	return 0;
}

/* --- The module that comes and goes ----------------------------------------------------- */

static atomic_long_t visits;

/* While it is held it cannot go, so not for long. */
static void visit(const char *symbol, int adds)
{
	int (*fn)(int x) = (void *)__symbol_get(symbol);
	int i;

	if (!fn)
		return;
	for (i = 0; i < BURST; i++) {
		if (fn(i) != i + adds)
			atomic_long_inc(&wrong);
	}
	atomic_long_inc(&visits);
	__symbol_put(symbol);
}

static int visitor(void *arg)
{
	while (!kthread_should_stop()) {
		visit("victim_plain", 51);
		visit("victim_traced", 52);
		usleep_range(1000, 5000);
	}
	return 0;
}

/* --- The static key ------------------------------------------------------------------- */

static int key_flipper(void *arg)
{
	while (!kthread_should_stop()) {
		static_branch_enable(&stress_key);
		usleep_range(1000, 20000);
		static_branch_disable(&stress_key);
		usleep_range(1000, 20000);
	}
	return 0;
}

/* --- Text ------------------------------------------------------------------------------- */

static unsigned long (*lookup)(const char *name);
static u8 *text_start, *text_copy;
static size_t text_size;
static unsigned int *sites_alive;

static void *address_of(const char *symbol)
{
	struct kprobe kp = { .symbol_name = symbol };

	if (register_kprobe(&kp))
		return NULL;
	unregister_kprobe(&kp);
	return kp.addr;
}

static int text_save(void)
{
	lookup = address_of("kallsyms_lookup_name");
	if (!lookup)
		return -ENOENT;
	text_start = (u8 *)lookup("_stext");
	text_size = (u8 *)lookup("_etext") - text_start;
	sites_alive = (unsigned int *)lookup("nr_alive");
	text_copy = vmalloc(text_size);
	if (!text_copy)
		return -ENOMEM;
	memcpy(text_copy, text_start, text_size);
	pr_info("text saved, %zu bytes\n", text_size);
	return 0;
}

static void text_report(size_t at)
{
	pr_info("text differs at %pS: %*ph instead of %*ph\n", text_start + at,
		8, text_start + at, 8, text_copy + at);
}

/* The bodies of detours are filled in when handlers first need one, and stay so. */
static bool in_body(size_t at)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, (unsigned long)text_start + at);
	return str_has_prefix(name, "kprobe_detour_one+") ||
	       str_has_prefix(name, "kprobe_detour_two+");
}

static int text_changed(void)
{
	size_t i;
	int changed = 0;

	for (i = 0; i < text_size; i++) {
		if (text_start[i] == text_copy[i] || in_body(i))
			continue;
		if (changed++ < 8)
			text_report(i);
	}
	return changed;
}

/* --- All of it ---------------------------------------------------------------------------- */

/* The offsets of a function that take a probe. */
static void find_places(struct target *t)
{
	struct kprobe kp;
	unsigned int offset;

	for (offset = 0; offset < MOST_BYTES && t->nr_places < MOST_PLACES; offset++) {
		kp = (struct kprobe){ .addr = (void *)t->fn, .offset = offset };
		if (register_kprobe(&kp))
			continue;
		unregister_kprobe(&kp);
		t->places[t->nr_places++] = offset;
	}
}

static struct task_struct *threads[2 * MOST_THREADS + 2];
static unsigned int nr_threads;

static int start(int (*fn)(void *arg), unsigned int n, const char *name)
{
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < n; i++) {
		task = kthread_run(fn, (void *)(unsigned long)i, "stress_%s/%u", name, i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		threads[nr_threads++] = task;
	}
	return 0;
}

/* The callers first: the others may wait for a grace period that they delay. */
static void stop_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		kthread_stop(threads[i]);
	nr_threads = 0;
}

static int run(void)
{
	int ret;

	ret = steady_add();
	if (ret)
		return ret;
	ret = start(caller, callers, "caller");
	if (!ret)
		ret = start(churner, churners, "churner");
	if (!ret)
		ret = start(key_flipper, 1, "key");
	if (!ret)
		ret = start(visitor, 1, "visitor");
	if (!ret) {
		timers_start();
		msleep(seconds * 1000);
		timers_stop();
	}
	stop_all();
	steady_remove();
	return ret;
}

/* Detours, slots and sites are freed a grace period after the last unregister. */
static unsigned int sites_left(void)
{
	int tries = 100;

	while (sites_alive && READ_ONCE(*sites_alive) && tries--)
		msleep(100);
	return sites_alive ? READ_ONCE(*sites_alive) : 0;
}

static void verdict(const char *invariant, long bad, const char *what)
{
	if (bad)
		pr_info("CASE %s FAIL %ld %s\n", invariant, bad, what);
	else
		pr_info("CASE %s ok\n", invariant);
}

static void verdicts(void)
{
	unsigned int left = sites_left();

	pr_info("%ld operations, %ld refused, %ld allocations denied, %ld visits\n",
		atomic_long_read(&operations), atomic_long_read(&refused),
		atomic_long_read(&denied), atomic_long_read(&visits));
	pr_info("%ld hits of the churned\n", atomic_long_read(&churned_hits));
	verdict("results", atomic_long_read(&wrong), "wrong results");
	verdict("hits", steady_lost(), "functions with lost hits");
	verdict("churn", !atomic_long_read(&churned_hits), "nothing hit what was churned");
	verdict("text", text_changed(), "bytes of text changed");
	if (sites_alive)
		verdict("sites", left, "sites never freed");
}

static int __init stress_init(void)
{
	int i, ret;

	callers = clamp(callers, 1U, (unsigned int)MOST_THREADS);
	churners = clamp(churners, 1U, (unsigned int)MOST_THREADS);
	pr_info("seed %u, %u seconds, %u callers, %u churners\n", seed, seconds, callers,
		churners);
	ret = text_save();
	if (ret)
		return ret;
	for (i = 0; i < NR_TARGETS; i++)
		find_places(&targets[i]);
	ret = run();
	if (ret)
		vfree(text_copy);
	return ret;
}

static void __exit stress_exit(void)
{
	verdicts();
	vfree(text_copy);
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_DESCRIPTION("kprobes under stress");
MODULE_LICENSE("GPL");
