// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers run probed functions and check what they return, while churners
 * register, unregister, enable and disable probes all over them, a static key
 * in them flips, and user space (guest.sh) does the rest. On each function one
 * probe stays from the first call to the last: its hits and misses must add up
 * to the calls. In the end kernel text must be what it was.
 *
 * insmod returns when the time is up. rmmod, by when user space has stopped
 * changing text, compares and prints "CASE stress ok" or FAIL.
 */
#define pr_fmt(fmt) "stress: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
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

static unsigned int churners = 3;
module_param(churners, uint, 0);
MODULE_PARM_DESC(churners, "threads that register and unregister");

static bool strict = true;
module_param(strict, bool, 0);
MODULE_PARM_DESC(strict, "hits and misses must add up: not when the global switch is flipped");

#define MOST_THREADS	16
#define PROBES		8	/* of a churner */
#define MOST_PLACES	10	/* in a function */
#define MOST_BYTES	48	/* in which they are looked for */
#define BURST		128

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

/* The calls of calling() are calls of what it calls. */
static int steady_lost(void)
{
	long inner = atomic_long_read(&targets[4].calls);
	int i, lost = 0;

	for (i = 0; i < NR_TARGETS; i++) {
		struct target *t = &targets[i];
		long calls = atomic_long_read(&t->calls) + (t->nested ? inner : 0);
		long hits = atomic_long_read(&t->steady.hits);

		pr_info("%s: %ld calls, %ld hits, %lu missed, %u places\n", t->name, calls,
			hits, t->steady.kp.nmissed, t->nr_places);
		if (hits + t->steady.kp.nmissed != calls)
			lost++;
	}
	return lost;
}

/* --- Churners ------------------------------------------------------------------------ */

struct churned {
	struct kretprobe rp;		/* or only its kp */
	bool is_ret;
	bool there;
	atomic_long_t hits;
};

static atomic_long_t operations, refused, churned_hits;

static int churned_pre(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&churned_hits);
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

static void churned_aim(struct churned *c, struct rnd_state *rnd)
{
	struct target *t = any_target(rnd);
	u32 dice = prandom_u32_state(rnd);

	memset(c, 0, sizeof(*c));
	c->is_ret = !(dice & 7);
	c->rp.kp.addr = (void *)t->fn;
	c->rp.handler = churned_return;
	c->rp.maxactive = MOST_THREADS;
	if (c->is_ret)
		return;
	c->rp.kp.offset = t->places[(dice >> 8) % t->nr_places];
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
	ret = c->is_ret ? register_kretprobe(&c->rp) : register_kprobe(&c->rp.kp);
	c->there = !ret;
	if (ret)
		atomic_long_inc(&refused);
}

static void churned_remove(struct churned *c)
{
	if (!c->there)
		return;
	if (c->is_ret)
		unregister_kretprobe(&c->rp);
	else
		unregister_kprobe(&c->rp.kp);
	c->there = false;
}

static void churn_once(struct churned *c, struct rnd_state *rnd)
{
	u32 dice = prandom_u32_state(rnd);

	if (!c->there)
		churned_add(c, rnd);
	else if (dice & 1)
		churned_remove(c);
	else if (dice & 2)
		disable_kprobe(&c->rp.kp);
	else
		enable_kprobe(&c->rp.kp);
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

static int text_changed(void)
{
	size_t i;
	int changed = 0;

	for (i = 0; i < text_size; i++) {
		if (text_start[i] == text_copy[i])
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

static struct task_struct *threads[2 * MOST_THREADS + 1];
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
		msleep(seconds * 1000);
	stop_all();
	steady_remove();
	return ret;
}

static void verdict(void)
{
	int lost = steady_lost(), changed = text_changed();
	long bad = atomic_long_read(&wrong);

	pr_info("%ld operations, %ld refused, %ld hits of what they registered\n",
		atomic_long_read(&operations), atomic_long_read(&refused),
		atomic_long_read(&churned_hits));
	if (!bad && !changed && (!strict || !lost))
		pr_info("CASE stress ok\n");
	else
		pr_info("CASE stress FAIL %ld wrong results, %d functions with lost hits, %d bytes of text changed\n",
			bad, lost, changed);
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
	/* A jump that is still there after unregistering is taken back soon. */
	msleep(500);
	verdict();
	vfree(text_copy);
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_DESCRIPTION("kprobes under stress");
MODULE_LICENSE("GPL");
