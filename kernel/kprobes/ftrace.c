// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites that ftrace hits: the entries of functions that it can call from.
 *
 * Two ftrace_ops share the sites.  A site with a post_handler is on the one that
 * tells ftrace that the instruction pointer may be changed, which ftrace grants
 * to one user of a function only (-EBUSY otherwise).  Which of the two is decided
 * when the site is armed: to move it later, when a post_handler joins or leaves,
 * would lose the hits between.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/slab.h>

#include "internal.h"

/* A filter without addresses would mean every function: see change_filter(). */
struct filter {
	struct ftrace_ops ops;
	unsigned int nr;		/* addresses in it; kprobe_mutex */
};

static struct filter plain_filter = {
	.ops.func = kprobe_ftrace_handler,
	.ops.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static struct filter ipmodify_filter = {
	.ops.func = kprobe_ftrace_handler,
	.ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

/* Read by handlers without a lock; never cleared again. */
bool kprobe_ftrace_disabled __read_mostly;

/**
 * kprobe_ftrace_kill() - ftrace found its own state broken and has stopped
 *
 * Context: any.
 */
void kprobe_ftrace_kill(void)
{
	kprobe_ftrace_disabled = true;
}

static struct filter *filter_of(bool ipmodify)
{
	return ipmodify ? &ipmodify_filter : &plain_filter;
}

/* The ops are registered exactly while their filter has an address. */
static int add_addresses(struct filter *filter, unsigned long *ips, int nr)
{
	int err = ftrace_set_filter_ips(&filter->ops, ips, nr, 0, 0);

	if (err)
		return err;
	if (!filter->nr) {
		err = register_ftrace_function(&filter->ops);
		if (err) {
			ftrace_set_filter_ips(&filter->ops, ips, nr, 1, 0);
			return err;
		}
	}
	filter->nr += nr;
	return 0;
}

static int remove_addresses(struct filter *filter, unsigned long *ips, int nr)
{
	int err = 0;

	if (kprobe_ftrace_disabled)
		return 0;
	if (filter->nr == nr)
		err = unregister_ftrace_function(&filter->ops);
	if (!err) {
		filter->nr -= nr;
		err = ftrace_set_filter_ips(&filter->ops, ips, nr, 1, 0);
	}
	if (err)
		pr_warn_once("ftrace does not let go of %pS (%d)\n",
			     (void *)ips[0], err);
	return err;
}

/* Has a commit to do this edge of this site? */
static bool due(struct kprobe_site *site, bool arm, bool ipmodify)
{
	bool wanted = kprobe_site_target(site) == KPROBE_SITE_ARMED;

	if (site->kind != KPROBE_SITE_FTRACE)
		return false;
	if (arm)
		return site->state == KPROBE_SITE_DISARMED && wanted &&
		       ipmodify == !!site->nr_post;
	return site->state == KPROBE_SITE_ARMED && !wanted &&
	       ipmodify == site->ipmodify;
}

/* The edges of one site. */
static int arm_site(struct kprobe_site *site, bool ipmodify, bool told)
{
	unsigned long ip = (unsigned long)site->op.kp.addr;
	int err = told ? 0 : add_addresses(filter_of(ipmodify), &ip, 1);

	if (!err) {
		site->ipmodify = ipmodify;
		kprobe_site_enter(site, KPROBE_SITE_ARMED);
	}
	return err;
}

static int disarm_site(struct kprobe_site *site, bool ipmodify, bool told)
{
	unsigned long ip = (unsigned long)site->op.kp.addr;
	int err = told ? 0 : remove_addresses(filter_of(ipmodify), &ip, 1);

	if (!err)
		kprobe_site_enter(site, KPROBE_SITE_DISARMED);
	return err;
}

/* Tell ftrace of all addresses together; false if that was not possible. */
static bool tell_together(struct list_head *dirty, bool arm, bool ipmodify,
			  int nr)
{
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	struct kprobe_site *site;
	int i = 0, err;

	if (!ips)
		return false;
	list_for_each_entry(site, dirty, op.list) {
		if (due(site, arm, ipmodify))
			ips[i++] = (unsigned long)site->op.kp.addr;
	}
	err = arm ? add_addresses(filter_of(ipmodify), ips, nr) :
		    remove_addresses(filter_of(ipmodify), ips, nr);
	kvfree(ips);
	return !err;
}

/* One kind of edge for all that must.  One that fails spoils no other. */
static int change_filter(struct list_head *dirty, bool arm, bool ipmodify)
{
	struct kprobe_site *site;
	bool told = false;
	int err = 0, nr = 0, ret;

	list_for_each_entry(site, dirty, op.list)
		nr += due(site, arm, ipmodify);
	if (nr > 1)
		told = tell_together(dirty, arm, ipmodify, nr);
	list_for_each_entry(site, dirty, op.list) {
		if (!nr || !due(site, arm, ipmodify))
			continue;
		ret = arm ? arm_site(site, ipmodify, told) :
			    disarm_site(site, ipmodify, told);
		err = err ?: ret;
	}
	return err;
}

/**
 * kprobe_ftrace_commit() - take the edges of ftrace-based sites
 * @dirty:	the marked sites of a commit, of any kind
 *
 * Context: kprobe_mutex is held, text_mutex is not; may sleep.
 * Return: 0, or the first error of ftrace; the sites that it refused are as
 * they were.
 */
int kprobe_ftrace_commit(struct list_head *dirty)
{
	int err, ret;

	lockdep_assert_held(&kprobe_mutex);
	err = change_filter(dirty, false, false);
	ret = change_filter(dirty, false, true);
	err = err ?: ret;
	ret = change_filter(dirty, true, false);
	err = err ?: ret;
	ret = change_filter(dirty, true, true);
	return err ?: ret;
}

/**
 * kprobe_ftrace_gone() - have ftrace forget a site whose text goes away
 * @site:	a site of any kind
 *
 * Context: kprobe_mutex is held; may sleep.
 */
void kprobe_ftrace_gone(struct kprobe_site *site)
{
	unsigned long ip = (unsigned long)site->op.kp.addr;

	if (site->kind == KPROBE_SITE_FTRACE && site->state == KPROBE_SITE_ARMED)
		remove_addresses(filter_of(site->ipmodify), &ip, 1);
}
