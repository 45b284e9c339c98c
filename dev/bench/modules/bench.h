/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the measuring modules share.
 *
 * A module is a list of steps.  The guest's script runs one by writing its name
 * and a number to the module's parameter "do", and finds in the kernel log
 * lines "RESULT key number".  Only the public API is used: any kernel's kprobes
 * can be measured.
 */
#ifndef _DEV_BENCH_BENCH_H
#define _DEV_BENCH_BENCH_H

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>

#define TRAP_OPCODE	0xcc
#define JUMP_OPCODE	0xe9

/* Bytes of the landing pad that functions begin with. */
#define PAD_SIZE	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)

/**
 * struct bench_step - something a module can be told to do
 * @name:	how it is called
 * @run:	does it, and says what it found; an errno if it could not
 */
struct bench_step {
	const char *name;
	int (*run)(long arg);
};

/* Each module has its own, which ends with an empty entry. */
static const struct bench_step bench_steps[];

static void bench_result(const char *key, s64 value)
{
	pr_info("RESULT %s %lld\n", key, value);
}

/* An address in the middle of a function, which objtool shall not know of. */
static __maybe_unused void *bench_place(void *fn, int at)
{
	OPTIMIZER_HIDE_VAR(fn);
	return fn + at;
}

static u8 bench_byte(const void *addr)
{
	u8 byte = 0;

	copy_from_kernel_nofault(&byte, addr, 1);
	return byte;
}

static __maybe_unused int bench_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static __maybe_unused void bench_post(struct kprobe *p, struct pt_regs *regs,
				      unsigned long flags)
{
}

/*
 * Wait for the first byte of a place, up to a minute.  Who looks too often is
 * running when a grace period of RCU tasks looks for those who do, and is waited
 * for.
 */
static __maybe_unused int bench_wait_byte(const void *addr, u8 byte)
{
	ktime_t end = ktime_add_ms(ktime_get(), 60000);

	while (bench_byte(addr) != byte) {
		if (ktime_after(ktime_get(), end))
			return -ETIME;
		usleep_range(1000, 1100);
	}
	return 0;
}

static int bench_do(const char *text, const struct kernel_param *param)
{
	const struct bench_step *step;
	char name[32];
	long arg = 0;
	int err = -EINVAL;

	if (sscanf(text, "%31s %ld", name, &arg) < 1)
		return -EINVAL;
	for (step = bench_steps; step->name; step++) {
		if (strcmp(step->name, name))
			continue;
		err = step->run(arg);
		break;
	}
	if (err)
		pr_err("%s: step %s %ld: error %d\n", KBUILD_MODNAME, name, arg,
		       err);
	return err;
}

static const struct kernel_param_ops bench_do_ops = {
	.set = bench_do,
};

module_param_cb(do, &bench_do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "the step to run, and a number");
MODULE_LICENSE("GPL");

#endif /* _DEV_BENCH_BENCH_H */
