// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoints become jumps.
 *
 * A site whose target is OPTIMIZED is queued by the commit that found out.  From
 * then on its hits run the displaced instructions in the detour, so that after
 * an RCU-tasks grace period nobody can be between the first and the last of
 * them, and their bytes may be overwritten.  Where the jump replaces a single
 * instruction nobody can be between anything, and there is no need to wait.
 *
 *   examine   once: let the architecture prepare; then see to all sites
 *   install   write the jumps of those that need not wait
 *   quiesce   wait for a grace period, holding no lock, then write the jumps of
 *             those that are still there
 *
 * A site is on the list of its stage by op.list, under kprobe_mutex.  Who
 * changes an input takes it off (kprobe_site_mark()), so what is on a list after
 * a wait has been queued, without a break, since before it.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/init.h>
#include <linux/list_sort.h>
#include <linux/rcupdate.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>

#include "internal.h"

static void examine_work_fn(struct work_struct *work);
static void install_work_fn(struct work_struct *work);
static void quiesce_work_fn(struct work_struct *work);

static DECLARE_DELAYED_WORK(examine_work, examine_work_fn);
static DECLARE_DELAYED_WORK(install_work, install_work_fn);
static DECLARE_DELAYED_WORK(quiesce_work, quiesce_work_fn);

static LIST_HEAD(install_queue);	/* under kprobe_mutex */
static LIST_HEAD(quiesce_queue);	/* under kprobe_mutex */

static bool opt_started;		/* under kprobe_mutex */
static int sysctl_optimization = 1;	/* under kprobe_mutex */

/* Jiffies to wait for more to come, so that a batch is worth its name. */
#define BATCH_DELAY	1

/* Jiffies after which text is examined again for which there was no memory. */
#define EXAMINE_AGAIN	HZ

/*
 * Defaults for architectures that want nothing of this
 */

/**
 * arch_optimizer_ready() - can detours be prepared?
 *
 * Context: kprobe_mutex is held.
 * Return: false if arch_optimizer_prepare() must be called first.
 */
bool __weak arch_optimizer_ready(void)
{
	return true;
}

/**
 * arch_optimizer_prepare() - find out what preparing detours needs to know
 *
 * Context: process context, may sleep and take long; no lock is held.
 * Return: 0, or -ENOMEM.
 */
int __weak arch_optimizer_prepare(void)
{
	return 0;
}

/**
 * arch_optimize_must_wait() - may a task be amid the displaced instructions?
 * @op:		a site with a detour
 *
 * Context: kprobe_mutex is held.
 * Return: false if the jump takes the place of one instruction.
 */
bool __weak arch_optimize_must_wait(struct optimized_kprobe *op)
{
	return true;
}

/**
 * arch_optimize_reason() - why was a detour refused?
 * @op:		a site
 * @err:	what arch_prepare_optimized_kprobe() or
 *		arch_check_optimized_kprobe() returned
 *
 * Context: kprobe_mutex is held.
 * Return: the reason.
 */
enum kprobe_opt_reason __weak arch_optimize_reason(struct optimized_kprobe *op,
						   int err)
{
	return err == -ENOMEM ? KPROBE_OPT_NO_MEMORY : KPROBE_OPT_ARCH;
}

/**
 * arch_optimizer_module_add() - text of a module has come
 * @mod:	a module whose code has not run yet
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void __weak arch_optimizer_module_add(struct module *mod)
{
}

/**
 * arch_optimizer_module_del() - text of a module is going away
 * @mod:	a module whose code will not run again
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void __weak arch_optimizer_module_del(struct module *mod)
{
}

/**
 * arch_optimized_users() - who is to be called has changed
 * @op:		a site that has, or is to be given, a detour
 * @first:	the first of its users, if all of them are to be called
 * @nr:		how many they are, or 0 if not all are to be called
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 * arch_kprobe_finish() is called before they are released.
 */
void __weak arch_optimized_users(struct optimized_kprobe *op,
				 struct kprobe *first, unsigned int nr)
{
}

/*
 * What the state machine asks
 */

/**
 * kprobe_opt_allowed() - does the administrator want optimization?
 *
 * Context: kprobe_mutex is held.
 * Return: whether the sysctl is on and the boot has come far enough.
 */
bool kprobe_opt_allowed(void)
{
	return opt_started && sysctl_optimization;
}

/**
 * kprobe_opt_prepared() - has the site a detour?
 * @site:	a site
 *
 * Context: kprobe_mutex is held.
 * Return: whether it has.
 */
bool kprobe_opt_prepared(struct kprobe_site *site)
{
	return arch_prepared_optinsn(&site->op.optinsn);
}

/**
 * kprobe_opt_check() - does anything around stand in the way of the jump?
 * @site:	a site with a detour
 *
 * Context: kprobe_mutex is held.
 * Return: enum kprobe_opt_reason, KPROBE_OPT_OK if nothing does.
 */
int kprobe_opt_check(struct kprobe_site *site)
{
	int err = arch_check_optimized_kprobe(&site->op);

	if (!err)
		return KPROBE_OPT_OK;
	if (err == -EEXIST)
		return KPROBE_OPT_NEIGHBOUR;
	return arch_optimize_reason(&site->op, err);
}

/**
 * kprobe_opt_covers() - would a site's jump take the place of an address?
 * @site:	a site
 * @addr:	the address
 *
 * Context: kprobe_mutex is held.
 * Return: whether the site has a detour and @addr is in its region.
 */
bool kprobe_opt_covers(struct kprobe_site *site, kprobe_opcode_t *addr)
{
	return kprobe_opt_prepared(site) &&
	       arch_within_optimized_kprobe(&site->op, addr);
}

/**
 * kprobe_opt_users() - tell a detour whom to call
 * @site:	a site that has, or is to be given, a detour
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held, until
 * arch_kprobe_finish() was called.
 */
void kprobe_opt_users(struct kprobe_site *site)
{
	struct list_head *users = kprobe_site_users(site);
	struct kprobe *user;
	unsigned int nr = 0;

	list_for_each_entry(user, users, list) {
		if (!user->pre_handler || kprobe_disabled(user)) {
			nr = 0;
			break;
		}
		nr++;
	}
	user = nr ? list_first_entry(users, struct kprobe, list) : NULL;
	arch_optimized_users(&site->op, user, nr);
}

/**
 * kprobe_opt_prepare() - build the detour of a site, or learn why not
 * @site:	a site that has none, of target OPTIMIZED but for that
 *
 * If the text has to be examined first, that is set going and everything else
 * comes by itself when it is done.
 *
 * Context: process context; kprobe_mutex and text_mutex are held.
 */
void kprobe_opt_prepare(struct kprobe_site *site)
{
	int err;

	if (!arch_optimizer_ready()) {
		queue_delayed_work(system_unbound_wq, &examine_work, 0);
		return;
	}
	site->refusal = KPROBE_OPT_OK;
	kprobe_opt_users(site);
	err = arch_prepare_optimized_kprobe(&site->op, &site->op.kp);
	if (err) {
		site->refusal = arch_optimize_reason(&site->op, err);
		pr_debug("%pS: not optimized: %s\n", site->op.kp.addr,
			 kprobe_opt_reason_text(site->refusal));
	}
}

/**
 * kprobe_opt_free() - free the detour of a site
 * @site:	a site that nobody can be using
 *
 * Context: process context; kprobe_mutex is held.
 */
void kprobe_opt_free(struct kprobe_site *site)
{
	if (kprobe_opt_prepared(site))
		arch_remove_optimized_kprobe(&site->op);
}

/**
 * kprobe_opt_queue() - have the jump of a site installed
 * @site:	a site in state OPTIMIZING, on no list
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_opt_queue(struct kprobe_site *site)
{
	lockdep_assert_held(&kprobe_mutex);
	if (arch_optimize_must_wait(&site->op)) {
		list_add_tail(&site->op.list, &quiesce_queue);
		queue_delayed_work(system_unbound_wq, &quiesce_work, BATCH_DELAY);
	} else {
		list_add_tail(&site->op.list, &install_queue);
		queue_delayed_work(system_unbound_wq, &install_work, BATCH_DELAY);
	}
}

/**
 * kprobe_opt_remove() - turn jumps back into breakpoints
 * @sites:	sites in state OPTIMIZED, on this list by op.list; when it
 *		returns they are on it again, in any order
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void kprobe_opt_remove(struct list_head *sites)
{
	LIST_HEAD(done);

	arch_unoptimize_kprobes(sites, &done);
	list_splice(&done, sites);
}

/*
 * The stages
 */

static int compare_addresses(void *priv, const struct list_head *a,
			     const struct list_head *b)
{
	const struct optimized_kprobe *x, *y;

	x = list_entry(a, struct optimized_kprobe, list);
	y = list_entry(b, struct optimized_kprobe, list);
	return x->kp.addr < y->kp.addr ? -1 : x->kp.addr > y->kp.addr;
}

/*
 * OPTIMIZING -> OPTIMIZED for all on the list.  The inputs of each are as they
 * were when it was queued.  Ascending addresses let one synchronisation serve
 * many jumps.
 */
static void install(struct list_head *queue)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&kprobe_mutex);
	if (list_empty(queue))
		return;
	list_sort(NULL, queue, compare_addresses);
	list_for_each_entry(op, queue, list)
		kprobe_site_enter(op_to_site(op), KPROBE_SITE_OPTIMIZED);
	guard(kprobe_text)();
	arch_optimize_kprobes(queue);
}

static void install_work_fn(struct work_struct *work)
{
	guard(mutex)(&kprobe_mutex);
	install(&install_queue);
}

static void quiesce_work_fn(struct work_struct *work)
{
	LIST_HEAD(waiting);

	scoped_guard(mutex, &kprobe_mutex)
		list_splice_init(&quiesce_queue, &waiting);
	/* Sites may leave the list meanwhile, under the mutex. */
	synchronize_rcu_tasks();
	guard(mutex)(&kprobe_mutex);
	install(&waiting);
}

/* See to all sites again, after something that concerns them all. */
static void reconsider_all(void)
{
	LIST_HEAD(dirty);

	kprobe_site_mark_all(&dirty);
	kprobe_sites_commit(&dirty);
}

static void examine_work_fn(struct work_struct *work)
{
	if (arch_optimizer_prepare()) {
		pr_warn_once("no memory to examine the kernel's text: probes stay breakpoints for now\n");
		/* While this is pending, who asks for it brings it no nearer. */
		queue_delayed_work(system_unbound_wq, &examine_work, EXAMINE_AGAIN);
		return;
	}
	guard(mutex)(&kprobe_mutex);
	reconsider_all();
}

/**
 * wait_for_kprobe_optimizer() - wait until what is queued now is done
 *
 * What others queue meanwhile is not waited for.
 *
 * Context: process context, sleeps; no lock of kprobes is held.
 */
void wait_for_kprobe_optimizer(void)
{
	flush_delayed_work(&examine_work);
	flush_delayed_work(&install_work);
	flush_delayed_work(&quiesce_work);
}

/* Has, or waits for, a jump that must not be there any more. */
static bool jump_must_go(struct kprobe_site *site)
{
	return kprobe_optimized(&site->op.kp) &&
	       kprobe_site_target(site) != KPROBE_SITE_OPTIMIZED;
}

/**
 * kprobe_opt_module_add() - text of a module has come
 * @mod:	a module whose code has not run yet
 *
 * It may have jumps into the midst of what is optimized already.  No site gets a
 * jump by it.
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void kprobe_opt_module_add(struct module *mod)
{
	struct kprobe_site *site;
	unsigned int pos;
	LIST_HEAD(dirty);

	arch_optimizer_module_add(mod);
	for_each_kprobe_site(site, pos) {
		if (jump_must_go(site))
			kprobe_site_mark(site, &dirty);
		cond_resched();
	}
	kprobe_sites_commit(&dirty);
}

/**
 * kprobe_opt_module_del() - text of a module is going away
 * @mod:	a module whose code will not run again
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void kprobe_opt_module_del(struct module *mod)
{
	arch_optimizer_module_del(mod);
}

/*
 * The switch
 */

#ifdef CONFIG_SYSCTL
static DEFINE_MUTEX(sysctl_mutex);

static void switch_optimization(int on)
{
	guard(mutex)(&kprobe_mutex);
	if (sysctl_optimization == on)
		return;
	sysctl_optimization = on;
	reconsider_all();
	pr_info("jump optimization is %s\n", on ? "enabled" : "disabled");
}

static int optimization_handler(const struct ctl_table *table, int write,
				void *buffer, size_t *length, loff_t *ppos)
{
	struct ctl_table copy = *table;
	int value, err;

	guard(mutex)(&sysctl_mutex);
	scoped_guard(mutex, &kprobe_mutex)
		value = sysctl_optimization;
	copy.data = &value;
	err = proc_dointvec_minmax(&copy, write, buffer, length, ppos);
	if (!err && write)
		switch_optimization(value);
	return err;
}

static struct ctl_table kprobe_sysctls[] = {
	{
		.procname	= "kprobes-optimization",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= optimization_handler,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static void __init kprobe_sysctl_init(void)
{
	register_sysctl_init("debug", kprobe_sysctls);
}
#else
static void __init kprobe_sysctl_init(void) { }
#endif

/* Grace periods of RCU tasks need their kthread, started in core_initcall. */
static int __init kprobe_optimizer_init(void)
{
	kprobe_sysctl_init();
	guard(mutex)(&kprobe_mutex);
	opt_started = true;
	reconsider_all();
	return 0;
}
subsys_initcall(kprobe_optimizer_init);
