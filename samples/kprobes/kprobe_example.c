// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe on one instruction of the kernel.
 *
 *	insmod kprobe_example.ko [symbol=NAME] [offset=BYTES]
 *
 * At first do_filp_open() is probed, which opens every file.  The log then says
 * where the probe is,
 *
 *	kprobe_example: probing do_filp_open+0x4/0x1c0
 *
 * and, for hits up to ten in five seconds, what the first arguments of the
 * function are, or on an architecture that cannot tell, only that it was there:
 *
 *	kprobe_example: do_filp_open+0x4/0x1c0: 0xffffff9c 0xffff8880... 0xffffc900...
 *
 * In the midst of a function (offset=) the registers of the arguments may hold
 * something else already.  rmmod tells the number of hits:
 *
 *	kprobe_example: 12 hits, 0 missed
 *
 * If the probe cannot be registered insmod fails, and the log has the errno:
 *
 *	kprobe_example: cannot probe do_filp_open+0x5: -84
 *
 * Documentation/trace/kprobes.rst has a table of what they mean.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

static char *symbol = "do_filp_open";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function to probe");

static unsigned int offset;
module_param(offset, uint, 0444);
MODULE_PARM_DESC(offset, "bytes from its start to the probed instruction");

static atomic_long_t hits = ATOMIC_LONG_INIT(0);

#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
static void tell(const struct kprobe *p, struct pt_regs *regs)
{
	pr_info_ratelimited("%pS: 0x%lx 0x%lx 0x%lx\n", p->addr,
			    regs_get_kernel_argument(regs, 0),
			    regs_get_kernel_argument(regs, 1),
			    regs_get_kernel_argument(regs, 2));
}
#else
static void tell(const struct kprobe *p, struct pt_regs *regs)
{
	pr_info_ratelimited("%pS\n", p->addr);
}
#endif

/* Any context, preemption off: no sleeping, and nothing that takes long. */
static int before(struct kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&hits);
	tell(p, regs);
	return 0;
}

static struct kprobe probe = {
	.pre_handler = before,
};

static int __init kprobe_example_init(void)
{
	int err;

	probe.symbol_name = symbol;
	probe.offset = offset;
	err = register_kprobe(&probe);
	if (!err)
		pr_info("probing %pS\n", probe.addr);
	else
		pr_err("cannot probe %s+0x%x: %d\n", symbol, offset, err);
	return err;
}
module_init(kprobe_example_init);

static void __exit kprobe_example_exit(void)
{
	/* When this returns no handler runs, and the module may go. */
	unregister_kprobe(&probe);
	pr_info("%ld hits, %lu missed\n", atomic_long_read(&hits), probe.nmissed);
}
module_exit(kprobe_example_exit);

MODULE_DESCRIPTION("Sample of a kprobe");
MODULE_LICENSE("GPL");
