// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers that do what they had better not: they take faults, take long, look
 * at the stack, and are called by NMIs that come at any time. Each on a
 * breakpoint that is stepped, on one that has become a jump, and on ftrace.
 */
#define pr_fmt(fmt) fmt

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

#define CALLS		200
#define LONG_CALLS	5
#define LONG_MS		40
#define NMIS		2000

static int sink;

static noinline notrace int plain(int x)
{
	WRITE_ONCE(sink, x);
	return x + 61;
}

static noinline int traced(int x)
{
	WRITE_ONCE(sink, x);
	return x + 61;
}

/* What the NMIs interrupt: as plain, and probed in the same way. */
static noinline notrace int plain_outer(int x)
{
	WRITE_ONCE(sink, x);
	return x + 61;
}

static noinline int traced_outer(int x)
{
	WRITE_ONCE(sink, x);
	return x + 61;
}

typedef int (*target_fn)(int x);

enum kind { TRAP, JUMP, FTRACE };

static const char * const kinds[] = { "trap", "jump", "ftrace" };

/* Probe a function in the way wanted; no jump on a kernel that has none. */
static int probe(struct case_probe *cp, target_fn fn, enum kind kind, kprobe_pre_handler_t pre)
{
	int ret;

	case_aim(cp, (void *)fn, NULL);
	if (pre)
		cp->kp.pre_handler = pre;
	if (kind == TRAP)
		cp->kp.post_handler = case_post;
	ret = register_kprobe(&cp->kp);
	if (!ret && kind == JUMP)
		case_wait_jump(cp->kp.addr);
	return ret;
}

static target_fn target(enum kind kind)
{
	return kind == FTRACE ? traced : plain;
}

/* Kept out of line so that it is a frame of its own in a stack trace. */
static noinline int call_many(target_fn fn, int n)
{
	int i, wrong = 0;

	for (i = 0; i < n; i++)
		wrong += READ_ONCE(fn)(i) != i + 61;
	barrier();
	return wrong;
}

/* --- Faults ----------------------------------------------------------------------- */

static void *unmapped;
static unsigned long faults;

/* Behind a vmalloc area is a page that is never mapped; user address 16 is not either. */
static int pre_faults(struct kprobe *kp, struct pt_regs *regs)
{
	long value;

	if (copy_from_kernel_nofault(&value, unmapped, sizeof(value)) == -ERANGE ||
	    copy_from_kernel_nofault(&value, unmapped, sizeof(value)) == -EFAULT)
		faults++;
	if (copy_from_user_nofault(&value, (void __user *)16, sizeof(value)) == -EFAULT)
		faults++;
	return case_pre(kp, regs);
}

static void run_fault(enum kind kind, const char *name)
{
	void *area = vmalloc(PAGE_SIZE);
	struct case_probe cp;
	int ret, wrong;

	if (!area)
		return;
	unmapped = area + PAGE_SIZE;
	faults = 0;
	ret = probe(&cp, target(kind), kind, pre_faults);
	wrong = call_many(target(kind), CALLS);
	if (!ret)
		unregister_kprobe(&cp.kp);
	vfree(area);
	case_verdict(name, !ret && !wrong && cp.hits == CALLS && faults == 2 * CALLS,
		     "register %d, wrong %d, %lu hits, %lu faults", ret, wrong, cp.hits, faults);
}

/* --- Long ones ------------------------------------------------------------------------ */

static int pre_long(struct kprobe *kp, struct pt_regs *regs)
{
	mdelay(LONG_MS);
	return case_pre(kp, regs);
}

static void run_long(enum kind kind, const char *name)
{
	struct case_probe cp;
	int ret, wrong;

	ret = probe(&cp, target(kind), kind, pre_long);
	wrong = call_many(target(kind), LONG_CALLS);
	if (!ret)
		unregister_kprobe(&cp.kp);
	case_verdict(name, !ret && !wrong && cp.hits == LONG_CALLS,
		     "register %d, wrong %d, %lu hits", ret, wrong, cp.hits);
}

/* --- Stack traces ---------------------------------------------------------------------- */

#define DEPTH	24

static unsigned long trace[DEPTH];
static unsigned int traced_depth, traces_with_caller;

static bool in_caller(unsigned long addr)
{
	return addr - (unsigned long)call_many < 256;
}

static int pre_trace(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned int i;

	traced_depth = stack_trace_save(trace, DEPTH, 0);
	for (i = 0; i < traced_depth; i++) {
		if (in_caller(trace[i])) {
			traces_with_caller++;
			break;
		}
	}
	return case_pre(kp, regs);
}

/* Whoever called the probed function is in the trace. */
static void run_stack(enum kind kind, const char *name)
{
	struct case_probe cp;
	int ret, wrong;

	traces_with_caller = 0;
	ret = probe(&cp, target(kind), kind, pre_trace);
	wrong = call_many(target(kind), CALLS);
	if (!ret)
		unregister_kprobe(&cp.kp);
	case_verdict(name, !ret && !wrong && cp.hits == CALLS && traces_with_caller == CALLS,
		     "register %d, wrong %d, %lu hits, depth %u, %u traces have the caller",
		     ret, wrong, cp.hits, traced_depth, traces_with_caller);
}

/* --- NMIs ------------------------------------------------------------------------------- */

static struct {
	target_fn inner, outer;
	int cpu;
	atomic_t came;
	int wrong;
	unsigned long outer_calls;
} nmi;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (smp_processor_id() != READ_ONCE(nmi.cpu))
		return NMI_DONE;
	nmi.wrong += READ_ONCE(nmi.inner)(5) != 66;
	atomic_inc(&nmi.came);
	return NMI_HANDLED;
}

static int nmi_victim(void *arg)
{
	int *wrong = arg;

	while (!kthread_should_stop()) {
		*wrong += call_many(nmi.outer, 64);
		nmi.outer_calls += 64;
		cond_resched();
	}
	return 0;
}

/* One at a time, each waited for; returns how many came. */
static int send_nmis(void)
{
	int i, spins;

	for (i = 0; i < NMIS; i++) {
		apic->send_IPI_mask(cpumask_of(nmi.cpu), NMI_VECTOR);
		for (spins = 0; atomic_read(&nmi.came) <= i && spins < 1000; spins++)
			udelay(10);
		if (!(i & 31))
			usleep_range(50, 200);
	}
	return atomic_read(&nmi.came);
}

static int nmi_run(int *outer_wrong)
{
	struct task_struct *task;
	int came;

	nmi.cpu = cpumask_last(cpu_online_mask);
	task = kthread_create(nmi_victim, outer_wrong, "case_nmi");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, nmi.cpu);
	wake_up_process(task);
	came = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "kprobe_case");
	if (!came) {
		came = send_nmis();
		unregister_nmi_handler(NMI_LOCAL, "kprobe_case");
	}
	kthread_stop(task);
	return came;
}

static void run_nmi(enum kind kind, const char *name)
{
	struct case_probe inner, outer;
	int ret, came = 0, wrong = 0;

	memset(&nmi, 0, sizeof(nmi));
	nmi.inner = target(kind);
	nmi.outer = kind == FTRACE ? traced_outer : plain_outer;
	ret = probe(&inner, nmi.inner, kind, NULL);
	if (ret) {
		case_verdict(name, false, "register %d", ret);
		return;
	}
	ret = probe(&outer, nmi.outer, kind, NULL);
	if (!ret) {
		came = nmi_run(&wrong);
		unregister_kprobe(&outer.kp);
	}
	unregister_kprobe(&inner.kp);
	case_verdict(name, !ret && came == NMIS && !wrong && !nmi.wrong &&
		     inner.hits + inner.kp.nmissed == NMIS &&
		     outer.hits + outer.kp.nmissed == nmi.outer_calls,
		     "register %d, %d NMIs, wrong %d and %d, inner %lu + %lu, outer %lu + %lu of %lu",
		     ret, came, wrong, nmi.wrong, inner.hits, inner.kp.nmissed, outer.hits,
		     outer.kp.nmissed, nmi.outer_calls);
	pr_info("%s: in NMIs %lu hits, %lu missed\n", name, inner.hits, inner.kp.nmissed);
}

static const struct {
	const char *which;
	void (*run)(enum kind kind, const char *name);
} rows[] = {
	{ "fault", run_fault },
	{ "long", run_long },
	{ "stack", run_stack },
	{ "nmi", run_nmi },
};

static void run_kinds(int row)
{
	enum kind kind;
	char name[32];

	for (kind = TRAP; kind <= FTRACE; kind++) {
		if (kind == FTRACE && !IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
			continue;
		snprintf(name, sizeof(name), "handlers-%s-%s", rows[row].which, kinds[kind]);
		rows[row].run(kind, name);
	}
}

static int __init handlers_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (*which && strcmp(which, rows[i].which))
			continue;
		found++;
		run_kinds(i);
	}
	return found ? 0 : -EINVAL;
}

static void __exit handlers_exit(void)
{
}

module_init(handlers_init);
module_exit(handlers_exit);
MODULE_DESCRIPTION("kprobes cases: what handlers do");
MODULE_LICENSE("GPL");
