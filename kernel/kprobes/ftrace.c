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

/**
 * struct filter - one of the two ops and what ftrace knows of it
 * @ops:	its filter says where ftrace is to call from; an empty one would
 *		say everywhere, so that the ops are registered only while it has
 *		an address
 * @nr:		armed sites that are on it
 * @registered:	whether the ops are registered
 * @stale:	the filter has addresses of sites that are not armed, because it
 *		could not be made smaller
 *
 * Under kprobe_mutex.
 */
struct filter {
	struct ftrace_ops ops;
	unsigned int nr;
	bool registered;
	bool stale;
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

/*
 * What cannot be taken from the filter stays in it for the time being: a call
 * from there finds no site that wants it.
 */
static void drop_addresses(struct filter *filter, unsigned long *ips, int nr)
{
	int err = ftrace_set_filter_ips(&filter->ops, ips, nr, 1, 0);

	if (!err)
		return;
	filter->stale = true;
	pr_warn_once("ftrace does not let go of %pS (%d)\n", (void *)ips[0], err);
}

static int add_addresses(struct filter *filter, unsigned long *ips, int nr)
{
	int err = ftrace_set_filter_ips(&filter->ops, ips, nr, 0, 0);

	if (err)
		return err;
	if (!filter->registered)
		err = register_ftrace_function(&filter->ops);
	if (err) {
		drop_addresses(filter, ips, nr);
		return err;
	}
	filter->registered = true;
	filter->nr += nr;
	return 0;
}

static bool unregister_filter(struct filter *filter)
{
	filter->registered = unregister_ftrace_function(&filter->ops);
	return !filter->registered;
}

/* This cannot fail: at worst ftrace goes on calling for nothing. */
static void remove_addresses(struct filter *filter, unsigned long *ips, int nr)
{
	filter->nr -= nr;
	if (filter->nr || unregister_filter(filter))
		drop_addresses(filter, ips, nr);
	else
		filter->stale = true;
}

/* Has a commit to do this edge of this site? */
static bool due(struct kprobe_site *site, bool arm, bool ipmodify)
{
	if (site->kind != KPROBE_SITE_FTRACE ||
	    site->state != (arm ? KPROBE_SITE_DISARMED : KPROBE_SITE_ARMED) ||
	    ipmodify != (arm ? !!site->nr_post : site->ipmodify))
		return false;
	return arm == (kprobe_site_target(site) == KPROBE_SITE_ARMED);
}

static void enter_all(unsigned long *ips, int nr, enum kprobe_site_state to,
		      bool ipmodify)
{
	while (nr--) {
		struct kprobe_site *site = kprobe_to_site(get_kprobe((void *)ips[nr]));

		site->ipmodify = ipmodify;
		kprobe_site_enter(site, to);
	}
}

/*
 * DISARMED -> ARMED.  ftrace takes all addresses or none; halves find out which
 * it does not want, unless it wants none at all.  As deep as there are bits in
 * the number of sites.
 */
static int arm_all(unsigned long *ips, int nr, bool ipmodify)
{
	int err = add_addresses(filter_of(ipmodify), ips, nr), ret;

	if (!err) {
		enter_all(ips, nr, KPROBE_SITE_ARMED, ipmodify);
		return 0;
	}
	if (nr == 1 || err == -ENOMEM || err == -ENODEV)
		return err;
	err = arm_all(ips, nr / 2, ipmodify);
	ret = arm_all(ips + nr / 2, nr - nr / 2, ipmodify);
	return err ?: ret;
}

/* ARMED -> DISARMED. */
static int disarm_all(unsigned long *ips, int nr, bool ipmodify)
{
	remove_addresses(filter_of(ipmodify), ips, nr);
	enter_all(ips, nr, KPROBE_SITE_DISARMED, false);
	return 0;
}

/* All sites of a commit that have this edge before them, so many at a time. */
static int change_some(struct list_head *dirty, bool arm, bool ipmodify,
		       unsigned long *ips, int room)
{
	int (*change)(unsigned long *ips, int nr, bool ipmodify);
	struct kprobe_site *site;
	int err = 0, nr = 0, ret;

	change = arm ? arm_all : disarm_all;
	list_for_each_entry(site, dirty, op.list) {
		if (!due(site, arm, ipmodify))
			continue;
		ips[nr++] = (unsigned long)site->op.kp.addr;
		if (nr < room)
			continue;
		ret = change(ips, nr, ipmodify);
		err = err ?: ret;
		nr = 0;
	}
	ret = nr ? change(ips, nr, ipmodify) : 0;
	return err ?: ret;
}

/* Room for addresses where there is no memory for more; under kprobe_mutex. */
static unsigned long spare[16];

static int change_filter(struct list_head *dirty, bool arm, bool ipmodify)
{
	unsigned long *ips = NULL;
	struct kprobe_site *site;
	int err, nr = 0;

	list_for_each_entry(site, dirty, op.list)
		nr += due(site, arm, ipmodify);
	if (!nr)
		return 0;
	if (nr > ARRAY_SIZE(spare))
		ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return change_some(dirty, arm, ipmodify, spare, ARRAY_SIZE(spare));
	err = change_some(dirty, arm, ipmodify, ips, nr);
	kvfree(ips);
	return err;
}

/* The addresses that are to be in a filter; NULL if there is no memory. */
static unsigned long *armed_addresses(bool ipmodify)
{
	unsigned int nr = filter_of(ipmodify)->nr, pos, i = 0;
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	struct kprobe_site *site;

	if (!ips)
		return NULL;
	for_each_kprobe_site(site, pos) {
		if (site->kind == KPROBE_SITE_FTRACE &&
		    site->state == KPROBE_SITE_ARMED && site->ipmodify == ipmodify)
			ips[i++] = (unsigned long)site->op.kp.addr;
	}
	return ips;
}

/* Try again to be rid of the addresses that were left in a filter. */
static void clean_filter(bool ipmodify)
{
	struct filter *filter = filter_of(ipmodify);
	unsigned long *ips;

	if (likely(!filter->stale) || kprobe_ftrace_disabled)
		return;
	if (!filter->nr) {
		if (!filter->registered || unregister_filter(filter))
			filter->stale = ftrace_set_filter(&filter->ops, NULL, 0, 1);
		return;
	}
	ips = armed_addresses(ipmodify);
	if (ips)
		filter->stale = ftrace_set_filter_ips(&filter->ops, ips,
						      filter->nr, 0, 1);
	kvfree(ips);
}

/**
 * kprobe_ftrace_commit() - take the edges of ftrace-based sites
 * @dirty:	the marked sites of a commit, of any kind
 *
 * Context: kprobe_mutex is held, text_mutex is not; may sleep.
 * Return: 0, or the first error of ftrace; the sites that it refused to arm are
 * as they were.
 */
int kprobe_ftrace_commit(struct list_head *dirty)
{
	int err, ret;

	lockdep_assert_held(&kprobe_mutex);
	clean_filter(false);
	clean_filter(true);
	change_filter(dirty, false, false);
	change_filter(dirty, false, true);
	err = change_filter(dirty, true, false);
	ret = change_filter(dirty, true, true);
	return err ?: ret;
}
