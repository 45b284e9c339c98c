// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes for architectures without rethook.
 *
 * Each task has a list of the instances whose return it awaits, the innermost
 * call first.  Several probes of one function have consecutive instances of one
 * frame; of these the outermost holds the real return address, the others that
 * of the trampoline.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/llist.h>
#include <linux/objpool.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "internal.h"

static nokprobe_inline struct kretprobe_instance *
to_instance(struct llist_node *node)
{
	return container_of(node, struct kretprobe_instance, llist);
}

/*
 * The pool
 */

static int instance_init(void *instance, void *holder)
{
	((struct kretprobe_instance *)instance)->rph = holder;
	return 0;
}

static int holder_free(struct objpool_head *pool, void *holder)
{
	kfree(holder);
	return 0;
}

/**
 * kretprobe_pool_init() - make the instances of a return probe
 * @rp:		the return probe
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int kretprobe_pool_init(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);

	if (!holder)
		return -ENOMEM;
	if (objpool_init(&holder->pool, rp->maxactive,
			 sizeof(struct kretprobe_instance) + rp->data_size,
			 GFP_KERNEL, holder, instance_init, holder_free)) {
		kfree(holder);
		return -ENOMEM;
	}
	rcu_assign_pointer(holder->rp, rp);
	rp->rph = holder;
	return 0;
}

static void pool_fini_rcu(struct rcu_head *rcu)
{
	objpool_fini(&container_of(rcu, struct kretprobe_holder, rcu)->pool);
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
	struct kretprobe_holder *holder = rp->rph;

	WRITE_ONCE(rp->rph, NULL);
	rcu_assign_pointer(holder->rp, NULL);
	call_rcu(&holder->rcu, pool_fini_rcu);
}

static void instance_drop_rcu(struct rcu_head *rcu)
{
	struct kretprobe_instance *ri;

	ri = container_of(rcu, struct kretprobe_instance, rcu);
	objpool_drop(ri, &ri->rph->pool);
}
NOKPROBE_SYMBOL(instance_drop_rcu);

static nokprobe_inline struct kretprobe_instance *
instance_get(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = READ_ONCE(rp->rph);

	return holder ? objpool_pop(&holder->pool) : NULL;
}

/* Back to the pool, or away with it if its kretprobe is gone. */
static void instance_put(struct kretprobe_instance *ri)
{
	if (likely(get_kretprobe(ri)))
		objpool_push(ri, &ri->rph->pool);
	else
		call_rcu(&ri->rcu, instance_drop_rcu);
}
NOKPROBE_SYMBOL(instance_put);

static void instances_put(struct llist_node *node)
{
	while (node) {
		struct llist_node *next = node->next;

		instance_put(to_instance(node));
		node = next;
	}
}
NOKPROBE_SYMBOL(instances_put);

/*
 * Entry
 */

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
	struct kretprobe_instance *ri = instance_get(rp);

	if (!ri) {
		kprobe_count_miss(&rp->nmissed);
	} else if (kretprobe_declined(ri, rp, regs)) {
		instance_put(ri);
	} else {
		arch_prepare_kretprobe(ri, regs);
		__llist_add(&ri->llist, &current->kretprobe_instances);
	}
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_pre_handler);

/*
 * Return
 */

/* The next instance, behind *cursor, that knows where its frame returns to. */
static struct kretprobe_instance *
next_return(struct task_struct *tsk, struct llist_node **cursor)
{
	struct llist_node *node = *cursor ? (*cursor)->next :
					    tsk->kretprobe_instances.first;

	for (; node; node = node->next) {
		struct kretprobe_instance *ri = to_instance(node);

		if (ri->ret_addr != kretprobe_trampoline_addr()) {
			*cursor = node;
			return ri;
		}
	}
	return NULL;
}
NOKPROBE_SYMBOL(next_return);

/**
 * kretprobe_find_ret_addr() - where a probed call really returns to
 * @tsk:	the current task, or one that does not run
 * @fp:		frame of the call
 * @cur:	where the last search ended; NULL in it to begin
 *
 * Context: any.
 * Return: the address, or 0 if there is none.
 */
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	struct kretprobe_instance *ri;

	if (WARN_ON_ONCE(!cur))
		return 0;
	while ((ri = next_return(tsk, cur))) {
		if (ri->fp == fp)
			return (unsigned long)ri->ret_addr;
	}
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_find_ret_addr);

/**
 * arch_kretprobe_fixup_return() - put the real return address in place
 * @regs:	registers in the trampoline
 * @correct_ret_addr: the address
 *
 * For architectures whose stack traces would see the trampoline's otherwise.
 *
 * Context: trampoline, preemption off.
 */
void __weak arch_kretprobe_fixup_return(struct pt_regs *regs,
					kprobe_opcode_t *correct_ret_addr)
{
}

static void call_return_handler(struct kretprobe_instance *ri,
				struct pt_regs *regs, kprobe_opcode_t *to)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct kprobe *running = kprobe_running();

	if (!rp || !rp->handler)
		return;
	ri->ret_addr = to;
	__this_cpu_write(current_kprobe, &rp->kp);
	rp->handler(ri, regs);
	__this_cpu_write(current_kprobe, running);
}
NOKPROBE_SYMBOL(call_return_handler);

/**
 * __kretprobe_trampoline_handler() - a probed function has returned
 * @regs:	registers at the return
 * @frame_pointer: frame of the call
 *
 * Context: trampoline, preemption off, within kprobe_busy_begin().
 * Return: where the call really returns to.
 */
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer)
{
	struct llist_node *first = current->kretprobe_instances.first;
	struct llist_node *last = NULL, *node;
	struct kretprobe_instance *ri = next_return(current, &last);
	kprobe_opcode_t *to;

	if (!ri) {
		pr_err("a return was probed that nobody awaits\n");
		BUG();
	}
	to = ri->ret_addr;
	/* Stack traces that a handler takes begin where the call returns to. */
	instruction_pointer_set(regs, (unsigned long)to);
	for (node = first; node != last->next; node = node->next) {
		if (WARN_ON_ONCE(to_instance(node)->fp != frame_pointer))
			break;
		call_return_handler(to_instance(node), regs, to);
	}
	arch_kretprobe_fixup_return(regs, to);
	/* Handlers may look for the real address, so unlink only now. */
	current->kretprobe_instances.first = last->next;
	last->next = NULL;
	instances_put(first);
	return (unsigned long)to;
}
NOKPROBE_SYMBOL(__kretprobe_trampoline_handler);

/**
 * kprobe_flush_task() - give back what a dead task still held
 * @tk:		the task
 *
 * Calls that never return leave their instances behind.
 *
 * Context: the task is dead, nobody else looks at it.
 */
void kprobe_flush_task(struct task_struct *tk)
{
	if (!tk->kretprobe_instances.first)
		return;
	kprobe_busy_begin();
	instances_put(__llist_del_all(&tk->kretprobe_instances));
	kprobe_busy_end();
}
NOKPROBE_SYMBOL(kprobe_flush_task);
