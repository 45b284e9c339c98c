// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes by rethook, which owns the pool of instances, the exchange of
 * the return address and the trampoline.
 */
#include <linux/rethook.h>

#include "internal.h"

static nokprobe_inline struct kretprobe_instance *
to_instance(struct rethook_node *node)
{
	return container_of(node, struct kretprobe_instance, node);
}

static void return_handler(struct rethook_node *node, void *data,
			   unsigned long ret_addr, struct pt_regs *regs)
{
	struct kretprobe *rp = data;
	kretprobe_handler_t handler = rp->handler;
	struct kprobe *running;

	if (!handler)
		return;
	/* Rethook has preemption off; hits from here on are missed. */
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
	running = kprobe_running();
	__this_cpu_write(current_kprobe, &rp->kp);
	handler(to_instance(node), regs);
	__this_cpu_write(current_kprobe, running);
}
NOKPROBE_SYMBOL(return_handler);

/**
 * kretprobe_pre_handler() - the probe on the entry of the function
 * @p:		the struct kprobe of a kretprobe
 * @regs:	registers at the function's entry
 *
 * Context: hit, preemption off.
 * Return: 0.
 */
int kretprobe_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct rethook *rh = READ_ONCE(rp->rh);
	struct rethook_node *node = rh ? rethook_try_get(rh) : NULL;

	if (!node)
		kprobe_count_miss(&rp->nmissed);
	else if (kretprobe_declined(to_instance(node), rp, regs))
		rethook_recycle(node);
	else
		rethook_hook(node, regs, kprobe_ftrace(p));
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_pre_handler);

/**
 * kretprobe_pool_init() - make the instances of a return probe
 * @rp:		the return probe
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int kretprobe_pool_init(struct kretprobe *rp)
{
	size_t size = sizeof(struct kretprobe_instance) + rp->data_size;
	struct rethook *rh = rethook_alloc(rp, return_handler, size,
					   rp->maxactive);

	if (!IS_ERR(rh))
		rp->rh = rh;
	return PTR_ERR_OR_ZERO(rh);
}

/**
 * kretprobe_pool_release() - let go of the instances of a return probe
 * @rp:		the return probe
 *
 * Calls under way return without calling a handler; the last of them frees the
 * pool.
 *
 * Context: process context.
 */
void kretprobe_pool_release(struct kretprobe *rp)
{
	struct rethook *rh = rp->rh;

	/* A hit that is under way may have read it; RCU keeps it for that. */
	WRITE_ONCE(rp->rh, NULL);
	rethook_free(rh);
}
