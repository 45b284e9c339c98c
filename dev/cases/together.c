// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that can be at a function's entry at once: a kprobe, a return probe, an
 * fprobe, an ftrace callback, and a redirection as live patches make it. And
 * return probes on a function that never returns.
 */
#define pr_fmt(fmt) fmt

#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

#define CALLS	100

static int sink;

static noinline int shared(int x)
{
	WRITE_ONCE(sink, x);
	return x + 71;
}

static noinline notrace int replacement(int x)
{
	WRITE_ONCE(sink, x);
	return x + 72;
}

static int wrong_calls(int adds)
{
	int (*fn)(int x) = shared;
	int i, wrong = 0;

	for (i = 0; i < CALLS; i++)
		wrong += READ_ONCE(fn)(i) != i + adds;
	return wrong;
}

/* --- The five --------------------------------------------------------------------- */

static struct {
	unsigned long entry, exit, ftrace, returns;
} seen;

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.returns++;
	return 0;
}

static int on_entry(struct fprobe *fp, unsigned long entry, unsigned long ret,
		    struct pt_regs *regs, void *data)
{
	seen.entry++;
	return 0;
}

static void on_exit(struct fprobe *fp, unsigned long entry, unsigned long ret,
		    struct pt_regs *regs, void *data)
{
	seen.exit++;
}

static void notrace on_ftrace(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	seen.ftrace++;
}

static void notrace redirect(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)replacement);
}

static struct case_probe probe;
static struct kretprobe rp;
static struct fprobe fp;

static struct ftrace_ops tracer = { .func = on_ftrace };

static struct ftrace_ops patch = {
	.func = redirect,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

/* The filter stays when it is taken away, for the next time. */
static int ops_add(struct ftrace_ops *ops)
{
	int ret = ftrace_set_filter_ip(ops, (unsigned long)shared, 0, 1);

	return ret ?: register_ftrace_function(ops);
}

static int fprobe_add(void)
{
	unsigned long at = (unsigned long)shared;

	fp = (struct fprobe){ .entry_handler = on_entry, .exit_handler = on_exit };
	return register_fprobe_ips(&fp, &at, 1);
}

static int kprobe_add(bool post)
{
	case_aim(&probe, (void *)shared, NULL);
	if (post)
		probe.kp.post_handler = case_post;
	return register_kprobe(&probe.kp);
}

static int kretprobe_add(void)
{
	rp = (struct kretprobe){ .kp.addr = (void *)shared, .handler = on_return };
	return register_kretprobe(&rp);
}

static bool each_saw(unsigned long n)
{
	bool all = probe.hits == n && seen.returns == n && seen.entry == n && seen.exit == n &&
		   seen.ftrace == n;

	if (!all)
		pr_info("of %lu: kprobe %lu, kretprobe %lu, fprobe %lu and %lu, ftrace %lu\n", n,
			probe.hits, seen.returns, seen.entry, seen.exit, seen.ftrace);
	return all;
}

/* Four of them, then the patch as well, and the four again without it. */
static void run_five(const char *name)
{
	int errs[5], wrong[3];
	bool saw[3];
	int i;

	memset(&seen, 0, sizeof(seen));
	errs[0] = kprobe_add(false);
	errs[1] = kretprobe_add();
	errs[2] = fprobe_add();
	errs[3] = ops_add(&tracer);
	wrong[0] = wrong_calls(71);
	saw[0] = each_saw(CALLS);
	errs[4] = ops_add(&patch);
	wrong[1] = wrong_calls(72);
	saw[1] = each_saw(2 * CALLS);
	unregister_ftrace_function(&patch);
	wrong[2] = wrong_calls(71);
	saw[2] = each_saw(3 * CALLS);
	unregister_ftrace_function(&tracer);
	unregister_fprobe(&fp);
	unregister_kretprobe(&rp);
	unregister_kprobe(&probe.kp);
	for (i = 0; i < 5 && !errs[i]; i++)
		;
	case_verdict(name, i == 5 && !wrong[0] && !wrong[1] && !wrong[2] && saw[0] && saw[1] &&
		     saw[2] && !wrong_calls(71),
		     "errors %d %d %d %d %d, wrong %d %d %d, seen by all %d %d %d", errs[0],
		     errs[1], errs[2], errs[3], errs[4], wrong[0], wrong[1], wrong[2], saw[0],
		     saw[1], saw[2]);
}

/* Who may change the instruction pointer there is alone in that. */
static void run_patch(const char *name)
{
	int refused, patched, refused_patch, wrong;

	patched = ops_add(&patch);
	refused = kprobe_add(true);
	wrong = wrong_calls(72);
	if (!refused)
		unregister_kprobe(&probe.kp);
	unregister_ftrace_function(&patch);
	if (kprobe_add(true)) {
		case_verdict(name, false, "a kprobe with a post_handler is refused afterwards");
		return;
	}
	refused_patch = ops_add(&patch);
	wrong += wrong_calls(71);
	if (!refused_patch)
		unregister_ftrace_function(&patch);
	unregister_kprobe(&probe.kp);
	case_verdict(name, !patched && refused == -EBUSY && refused_patch == -EBUSY && !wrong &&
		     probe.hits == CALLS && probe.posts == CALLS && !wrong_calls(71),
		     "patch %d, kprobe %d, patch beside it %d, wrong %d, hits %lu and %lu",
		     patched, refused, refused_patch, wrong, probe.hits, probe.posts);
}

#define SWITCH	"/sys/kernel/debug/kprobes/enabled"

/* Switched on again, a probe that ftrace refuses is told of, and waits. */
static void run_switch(const char *name)
{
	int off, refused, patched, on, again, wrong;

	off = case_shell("echo 0 >" SWITCH);
	refused = kprobe_add(true);
	patched = ops_add(&patch);
	on = case_shell("echo 1 >" SWITCH " 2>/dev/null");
	wrong = wrong_calls(72);
	if (!patched)
		unregister_ftrace_function(&patch);
	wrong += wrong_calls(71);
	again = case_shell("echo 0 >" SWITCH "; echo 1 >" SWITCH);
	wrong += wrong_calls(71);
	if (!refused)
		unregister_kprobe(&probe.kp);
	case_verdict(name, !off && !refused && !patched && on && !again && !wrong &&
		     probe.hits == CALLS && probe.posts == CALLS && !wrong_calls(71),
		     "off %d, kprobe %d, patch %d, on %d and %d, wrong %d, hits %lu and %lu",
		     off, refused, patched, on, again, wrong, probe.hits, probe.posts);
}

/* --- No return ------------------------------------------------------------------------- */

#define EXITS	20

static unsigned long exits;
static const struct task_struct *leaving;

/* Of other tasks nothing is to be remembered. */
static int on_do_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (current != READ_ONCE(leaving))
		return 1;
	exits++;
	return 0;
}

static int leave(void *arg)
{
	WRITE_ONCE(leaving, current);
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

/* What is remembered is given back when the task is gone, some time after its end. */
static void leave_once(void)
{
	struct task_struct *task = kthread_run(leave, NULL, "case_exit");

	if (IS_ERR(task))
		return;
	get_task_struct(task);
	while (READ_ONCE(leaving) != task)
		usleep_range(100, 200);
	kthread_stop(task);
	put_task_struct(task);
	msleep(50);
}

static void run_noreturn(const char *name)
{
	int ret, i;

	memset(&seen, 0, sizeof(seen));
	exits = 0;
	rp = (struct kretprobe){
		.kp.symbol_name = "do_exit",
		.handler = on_return,
		.entry_handler = on_do_exit,
		.maxactive = 1,
	};
	ret = register_kretprobe(&rp);
	for (i = 0; !ret && i < EXITS; i++)
		leave_once();
	if (!ret)
		unregister_kretprobe(&rp);
	case_verdict(name, !ret && exits == EXITS && !rp.nmissed && !seen.returns,
		     "register %d, %lu entries, %d missed, %lu returns", ret, exits, rp.nmissed,
		     seen.returns);
}

static const struct {
	const char *which;
	const char *name;
	void (*run)(const char *name);
} rows[] = {
	{ "five", "together-five", run_five },
	{ "patch", "together-patch", run_patch },
	{ "switch", "together-switch", run_switch },
	{ "noreturn", "together-noreturn", run_noreturn },
};

static int __init together_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (*which && strcmp(which, rows[i].which))
			continue;
		found++;
		rows[i].run(rows[i].name);
	}
	return found ? 0 : -EINVAL;
}

static void __exit together_exit(void)
{
	ftrace_free_filter(&tracer);
	ftrace_free_filter(&patch);
}

module_init(together_init);
module_exit(together_exit);
MODULE_DESCRIPTION("kprobes cases: with its neighbours on one function");
MODULE_LICENSE("GPL");
