// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long do others wait while the optimizer waits for a grace period?
 *
 * A thread that never schedules of its own accord holds up RCU tasks.  It halts
 * the CPU between interrupts, so that a simulated one has nothing to do.
 * Meanwhile a probe is queued for optimization, and the time is taken of what
 * other users of the same locks do.  Each step with the time in ms that the
 * grace period is held up, or 0 to see what is usual.
 */
#include "bench.h"

#include <linux/cpu.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/linkage.h>

/* How long before what is measured the hold begins. */
#define LEAD_MS	300

/* Time for what an unregistered probe leaves to be done. */
#define CALM_MS	500

static DEFINE_STATIC_KEY_FALSE(waits_key);

void waits_target(void);
void waits_other(void);

/* Both begin with two instructions that a jump can replace. */
asm(
"	.macro waits_function name\n"
"	.pushsection .text\n"
"	.balign 16\n"
"	.type \\name, @function\n"
"\\name:\n"
"	" ASM_ENDBR
"	mov %rdi, %rax\n"
"	lea 1(%rax), %rdx\n"
"	" ASM_RET
"	.size \\name, .-\\name\n"
"	.popsection\n"
"	.endm\n"
"	waits_function waits_target\n"
"	waits_function waits_other\n"
);

/* What the key is there for: somebody asks it. */
static noinline int waits_ask(void)
{
	return static_branch_unlikely(&waits_key) ? 1 : 0;
}

static struct kprobe queued, other;
static long hold_ms;

static int hold(void *unused)
{
	ktime_t end = ktime_add_ms(ktime_get(), hold_ms + LEAD_MS);

	while (ktime_before(ktime_get(), end))
		asm volatile("sti; hlt" : : : "memory");
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void aim(struct kprobe *kp, void *fn)
{
	memset(kp, 0, sizeof(*kp));
	kp->addr = bench_place(fn, PAD_SIZE);
	kp->pre_handler = bench_pre;
}

static void tell(const char *what, s64 us)
{
	char key[32];

	scnprintf(key, sizeof(key), "wait-%s-%ld-us", what, hold_ms);
	bench_result(key, us);
}

static int timed(const char *what, int (*op)(void))
{
	ktime_t start = ktime_get();
	int err = op();

	tell(what, ktime_us_delta(ktime_get(), start));
	return err;
}

/* Run @op while the grace period is held up and a probe waits for it. */
static int held(const char *what, int (*op)(void))
{
	struct task_struct *holder;
	ktime_t start = ktime_get();
	int err;

	holder = kthread_create(hold, NULL, "holder");
	if (IS_ERR(holder))
		return PTR_ERR(holder);
	kthread_bind(holder, 0);
	wake_up_process(holder);
	msleep(LEAD_MS / 3);
	aim(&queued, waits_target);
	err = register_kprobe(&queued);
	if (!err) {
		/* Let the optimizer begin to wait. */
		msleep(LEAD_MS * 2 / 3);
		/* If that took long already, there is nothing left to wait for. */
		err = ktime_ms_delta(ktime_get(), start) > 2 * LEAD_MS ?
			-EAGAIN : timed(what, op);
		unregister_kprobe(&queued);
	}
	kthread_stop(holder);
	return err;
}

static int measure(const char *what, int (*op)(void), long ms)
{
	int err;

	hold_ms = ms;
	err = ms ? held(what, op) : timed(what, op);
	msleep(CALM_MS);
	return err;
}

static int register_other(void)
{
	return register_kprobe(&other);
}

static int unregister_other(void)
{
	unregister_kprobe(&other);
	return 0;
}

static int flip_key(void)
{
	static_branch_enable(&waits_key);
	return 0;
}

static int offline(void)
{
	return remove_cpu(num_online_cpus() - 1);
}

static int step_register(long ms)
{
	int err;

	aim(&other, waits_other);
	err = measure("register", register_other, ms);
	if (!err)
		unregister_kprobe(&other);
	msleep(CALM_MS);
	return err;
}

static int step_unregister(long ms)
{
	int err;

	aim(&other, waits_other);
	err = register_kprobe(&other);
	if (err)
		return err;
	msleep(CALM_MS);
	return measure("unregister", unregister_other, ms);
}

static int step_key(long ms)
{
	int err = measure("key", flip_key, ms);

	static_branch_disable(&waits_key);
	return err;
}

static int step_offline(long ms)
{
	unsigned int cpu = num_online_cpus() - 1;
	int err = measure("offline", offline, ms);

	return err ?: add_cpu(cpu);
}

/* The first optimization of all may take longer. */
static int step_warm(long unused)
{
	int err;

	aim(&queued, waits_target);
	err = register_kprobe(&queued);
	if (err)
		return err;
	err = bench_wait_byte(queued.addr, JUMP_OPCODE);
	unregister_kprobe(&queued);
	msleep(CALM_MS);
	return err;
}

static const struct bench_step bench_steps[] = {
	{ "warm", step_warm },
	{ "register", step_register },
	{ "unregister", step_unregister },
	{ "key", step_key },
	{ "offline", step_offline },
	{}
};

static int __init waits_init(void)
{
	return waits_ask() ? -EINVAL : 0;
}
module_init(waits_init);

static void __exit waits_exit(void)
{
}
module_exit(waits_exit);

MODULE_DESCRIPTION("What waits while kprobes waits for a grace period");
