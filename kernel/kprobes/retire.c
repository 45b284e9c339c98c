// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites made and freed.
 *
 * A site that left the table is freed when nobody can be using it: neither a
 * handler that found it (an RCU grace period), nor a task that was preempted in
 * its slot or in its detour (an RCU-tasks grace period).  All sites that retire
 * while one such wait goes on share the next.
 */
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"

static void reap(struct work_struct *work);

static LIST_HEAD(retired);		/* under kprobe_mutex */
static bool can_reap;			/* under kprobe_mutex */
static unsigned int nr_alive;		/* under kprobe_mutex */
static DECLARE_WORK(reap_work, reap);

/**
 * kprobe_site_alloc() - make a zeroed site, in state PREPARED
 *
 * Context: may sleep; kprobe_mutex is held.
 * Return: the site, or NULL.
 */
struct kprobe_site *kprobe_site_alloc(void)
{
	static struct kmem_cache *cache;
	struct kprobe_site *site;

	if (!cache)
		cache = KMEM_CACHE(kprobe_site, 0);
	if (!cache)
		return NULL;
	site = kmem_cache_zalloc(cache, GFP_KERNEL);
	if (site)
		nr_alive++;
	return site;
}

/**
 * kprobe_sites_alive() - how many sites there are, retired ones included
 *
 * Context: kprobe_mutex is held.
 * Return: the number.
 */
unsigned int kprobe_sites_alive(void)
{
	return nr_alive;
}

/**
 * kprobe_site_free() - free a site that nobody can be using
 * @site:	a site, retired or never in the table
 *
 * Context: may sleep; kprobe_mutex is held.
 */
void kprobe_site_free(struct kprobe_site *site)
{
	lockdep_assert_held(&kprobe_mutex);
	kprobe_opt_free(site);
	arch_remove_kprobe(&site->op.kp);
	kfree(site);
	nr_alive--;
}

static void reap(struct work_struct *work)
{
	struct kprobe_site *site, *next;
	LIST_HEAD(dying);

	scoped_guard(mutex, &kprobe_mutex)
		list_splice_init(&retired, &dying);
	synchronize_rcu_tasks();
	synchronize_rcu();
	list_for_each_entry_safe(site, next, &dying, op.list) {
		scoped_guard(mutex, &kprobe_mutex)
			kprobe_site_free(site);
		cond_resched();
	}
}

/**
 * kprobe_site_retire() - have a site freed when that is safe
 * @site:	a site in state RETIRED, on no list
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_site_retire(struct kprobe_site *site)
{
	lockdep_assert_held(&kprobe_mutex);
	list_add_tail(&site->op.list, &retired);
	if (can_reap)
		queue_work(system_unbound_wq, &reap_work);
}

/* Grace periods of RCU tasks need their kthread, started in core_initcall. */
static int __init kprobe_retire_init(void)
{
	guard(mutex)(&kprobe_mutex);
	can_reap = true;
	if (!list_empty(&retired))
		queue_work(system_unbound_wq, &reap_work);
	return 0;
}
subsys_initcall(kprobe_retire_init);
