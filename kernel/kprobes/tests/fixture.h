/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the API suites share: a probe that notes what its handlers saw, and
 * registration that is undone with the test, however the test ends.
 */
#ifndef _KPROBES_TESTS_FIXTURE_H
#define _KPROBES_TESTS_FIXTURE_H

#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Bytes compared before and after: more than any probe replaces. */
#define WATCHED_TEXT	16

struct watch {
	struct kprobe kp;
	unsigned int pre;		/* times pre_handler ran */
	unsigned int post;		/* times post_handler ran */
	unsigned int turn;		/* which handler of its site it was, from 1 */
	unsigned int *turns;		/* shared by the probes of one site */
	bool preemptible;		/* in any handler */
	struct kprobe *running;		/* kprobe_running() in pre_handler */
	kprobe_opcode_t *running_addr;
	u32 running_flags;
	struct pt_regs regs;		/* in pre_handler */
	unsigned long post_ip;
};

static inline struct watch *to_watch(struct kprobe *kp)
{
	return container_of(kp, struct watch, kp);
}

static int __maybe_unused watch_pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct watch *w = to_watch(kp);

	w->pre++;
	w->preemptible |= preemptible();
	w->regs = *regs;
	w->running = kprobe_running();
	if (w->running) {
		w->running_addr = w->running->addr;
		w->running_flags = w->running->flags;
	}
	if (w->turns)
		w->turn = ++*w->turns;
	return 0;
}
NOKPROBE_SYMBOL(watch_pre);

static void __maybe_unused watch_post(struct kprobe *kp, struct pt_regs *regs,
				      unsigned long flags)
{
	struct watch *w = to_watch(kp);

	w->post++;
	w->preemptible |= preemptible();
	w->post_ip = instruction_pointer(regs);
}
NOKPROBE_SYMBOL(watch_post);

static inline void watch_init(struct watch *w, void *addr)
{
	memset(w, 0, sizeof(*w));
	w->kp.addr = addr;
	w->kp.pre_handler = watch_pre;
}

static inline struct watch *watch_new(struct kunit *test, void *addr)
{
	struct watch *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	watch_init(w, addr);
	return w;
}

static inline void fixture_unregister(void *kp)
{
	unregister_kprobe(kp);
}

static inline void fixture_unregister_ret(void *rp)
{
	unregister_kretprobe(rp);
}

/* Register @kp and have it unregistered when the test ends. */
static inline void fixture_register(struct kunit *test, struct kprobe *kp)
{
	KUNIT_ASSERT_EQ(test, register_kprobe(kp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fixture_unregister, kp), 0);
}

/* Unregister now what fixture_register() would have unregistered later. */
static inline void fixture_release(struct kunit *test, struct kprobe *kp)
{
	kunit_release_action(test, fixture_unregister, kp);
}

static inline void fixture_register_ret(struct kunit *test, struct kretprobe *rp)
{
	KUNIT_ASSERT_EQ(test, register_kretprobe(rp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fixture_unregister_ret, rp), 0);
}

static inline void fixture_release_ret(struct kunit *test, struct kretprobe *rp)
{
	kunit_release_action(test, fixture_unregister_ret, rp);
}

static inline bool fixture_read_text(u8 *buf, const void *addr)
{
	return !copy_from_kernel_nofault(buf, addr, WATCHED_TEXT);
}

/* get_kprobe() wants preemption off; only whether there is one matters here. */
static inline bool site_exists(void *addr)
{
	bool there;

	preempt_disable();
	there = get_kprobe(addr);
	preempt_enable();
	return there;
}

/* Whether this CPU believes it is amid a hit. */
static inline bool amid_hit(void)
{
	bool amid;

	preempt_disable();
	amid = kprobe_running();
	preempt_enable();
	return amid;
}

static inline u32 site_flags(void *addr)
{
	struct kprobe *site;
	u32 flags;

	preempt_disable();
	site = get_kprobe(addr);
	flags = site ? site->flags : 0;
	preempt_enable();
	return flags;
}

#endif /* _KPROBES_TESTS_FIXTURE_H */
