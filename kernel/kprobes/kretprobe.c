// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the return of a function.
 *
 * A probe on the function's entry takes an instance from a pool and has the
 * return address exchanged for that of a trampoline.  How that is done is in
 * kretprobe_rethook.c, or in kretprobe_legacy.c for architectures without
 * rethook.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cpumask.h>
#include <linux/init.h>

#include "internal.h"

static struct kretprobe *kprobe_to_kretprobe(struct kprobe *p)
{
	return container_of(p, struct kretprobe, kp);
}

/**
 * kprobe_is_return() - is a user's probe part of a kretprobe?
 * @p:		a registered probe
 *
 * Context: any.
 * Return: whether it is.
 */
bool kprobe_is_return(struct kprobe *p)
{
	return p->pre_handler == kretprobe_pre_handler;
}

static bool return_blacklisted(kprobe_opcode_t *addr)
{
	struct kretprobe_blackpoint *point;

	if (!kretprobe_blacklist_size)
		return false;
	for (point = kretprobe_blacklist; point->name; point++) {
		if (point->addr == addr)
			return true;
	}
	return false;
}

static int return_prepare(struct kprobe *p, const struct kprobe_place *place)
{
	struct kretprobe *rp = kprobe_to_kretprobe(p);

	if (!place->entry || return_blacklisted(place->addr)) {
		pr_debug("%pS: no return to be probed (%d)\n", place->addr,
			 -EINVAL);
		return -EINVAL;
	}
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return -E2BIG;
	if (rp->maxactive <= 0)
		rp->maxactive = max(10U, 2 * num_possible_cpus());
	p->pre_handler = kretprobe_pre_handler;
	p->post_handler = NULL;
	rp->nmissed = 0;
	return kretprobe_pool_init(rp);
}

static void return_release(struct kprobe *p)
{
	kretprobe_pool_release(kprobe_to_kretprobe(p));
}

static struct kprobe *nth_kretprobe(void *array, int i)
{
	return &((struct kretprobe **)array)[i]->kp;
}

static const struct kprobe_array_ops kretprobe_array_ops = {
	.nth = nth_kretprobe,
	.prepare = return_prepare,
	.release = return_release,
};

/**
 * register_kretprobes() - register several return probes, all or none
 * @rps:	array of pointers to filled-in return probes
 * @num:	how many
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0; otherwise the error of the first that cannot be registered, see
 * register_kretprobe(), or -EINVAL if @num is not positive.
 */
int register_kretprobes(struct kretprobe **rps, int num)
{
	return kprobe_array_register(rps, num, &kretprobe_array_ops);
}
EXPORT_SYMBOL_GPL(register_kretprobes);

/**
 * register_kretprobe() - start probing the return of a function
 * @rp:		the return probe: kp says which function, then handler,
 *		entry_handler, maxactive (calls), data_size (bytes)
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0; -EINVAL if the address is not a function's entry, or its return
 * must not be probed; -E2BIG if data_size exceeds KRETPROBE_MAX_DATA_SIZE;
 * -ENOMEM; or what register_kprobe() says.
 */
int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(register_kretprobe);

/**
 * unregister_kretprobes() - unregister several return probes
 * @rps:	array of pointers to registered return probes
 * @num:	how many; nothing is done if not positive
 *
 * When this returns, no handler of theirs runs or will run, also not for calls
 * that are still under way.
 *
 * Context: process context, may sleep; takes kprobe_mutex and then waits for one
 * RCU grace period, whatever the number.
 */
void unregister_kretprobes(struct kretprobe **rps, int num)
{
	kprobe_array_unregister(rps, num, &kretprobe_array_ops);
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);

/**
 * unregister_kretprobe() - stop probing the return of a function
 * @rp:		a registered return probe
 *
 * See unregister_kretprobes().
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 */
void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(unregister_kretprobe);

/**
 * kretprobe_blacklist_init() - find the functions whose return has no probes
 *
 * Context: boot.
 */
void __init kretprobe_blacklist_init(void)
{
	struct kretprobe_blackpoint *point;
	kprobe_opcode_t *addr;
	bool entry;

	if (!kretprobe_blacklist_size)
		return;
	for (point = kretprobe_blacklist; point->name; point++) {
		/* The address where a probe on the entry would be. */
		addr = kprobe_resolve(NULL, point->name, 0, &entry);
		if (!IS_ERR(addr))
			point->addr = addr;
		else
			pr_err("no function %s to keep return probes from\n",
			       point->name);
	}
}
