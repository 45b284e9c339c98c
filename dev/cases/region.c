// SPDX-License-Identifier: GPL-2.0-only
/*
 * What else can be in or next to the bytes of a jump: padding behind the last
 * instruction, the next function, a call that somebody is still in, a probe.
 */
#define pr_fmt(fmt) fmt

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/sched/task.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

#define CALLS	100

int region_padded(int x);
int region_tight(int x);
int region_next(int x);
int region_callret(int x);
int region_lastcall(int x);
int region_pair(int x);
int region_helper(int x);
extern char *const place_padded, *const place_tight, *const place_callret;
extern char *const place_lastcall, *const place_pair;

/* The second instruction of the pair. */
#define PAIR_INSIDE	(place_pair + 2)

/*
 * The padded and the tight one end in a short jump back, so that the probed
 * instruction is the last and what follows is never executed from it.
 */
asm(
"	.pushsection .text\n"
"	.balign 16\n"
"	.type region_padded, @function\n"
"region_padded:\n"
"	" ASM_ENDBR
"	lea 21(%rdi), %eax\n"
"	jmp .Lat_padded\n"
"1:	" ASM_RET
".Lat_padded:\n"
"	" ANNOTATE_NOENDBR
"	jmp 1b\n"
"	.size region_padded, . - region_padded\n"
CASE_PLACE(padded)
"	.balign 16, 0xcc\n"

"	.type region_tight, @function\n"
"region_tight:\n"
"	" ASM_ENDBR
"	lea 22(%rdi), %eax\n"
"	jmp .Lat_tight\n"
"2:	" ASM_RET
".Lat_tight:\n"
"	" ANNOTATE_NOENDBR
"	jmp 2b\n"
"	.size region_tight, . - region_tight\n"
CASE_PLACE(tight)
"	.type region_next, @function\n"
"region_next:\n"
"	lea 23(%rdi), %eax\n"
"	" ASM_RET
"	.size region_next, . - region_next\n"

/* The return address of the two-byte call is inside the first five bytes. */
"	.balign 16\n"
"	.type region_callret, @function\n"
"region_callret:\n"
"	" ASM_ENDBR
"	push %rbx\n"
"	lea region_helper(%rip), %rax\n"
".Lat_callret:\n"
"	" ANNOTATE_NOENDBR
"	push %rbp\n"
"	" ANNOTATE_RETPOLINE_SAFE
"	call *%rax\n"
"	pop %rbp\n"
"	pop %rbx\n"
"	add $1, %eax\n"
"	" ASM_RET
"	.size region_callret, . - region_callret\n"
CASE_PLACE(callret)

/* Here it is the first byte behind them. */
"	.balign 16\n"
"	.type region_lastcall, @function\n"
"region_lastcall:\n"
"	" ASM_ENDBR
"	push %rbx\n"
".Lat_lastcall:\n"
"	" ANNOTATE_NOENDBR
"	push %rbp\n"
"	call region_helper\n"
"	pop %rbp\n"
"	pop %rbx\n"
"	add $1, %eax\n"
"	" ASM_RET
"	.size region_lastcall, . - region_lastcall\n"
CASE_PLACE(lastcall)

"	.popsection\n"
CASE_PAIR(region_pair)
);

/* Sleeps for an argument below zero, until it may go on. */
static DECLARE_COMPLETION(entered);
static DECLARE_COMPLETION(may_return);

__visible noinline int region_helper(int x)
{
	if (x < 0) {
		complete(&entered);
		wait_for_completion(&may_return);
	}
	return x + 30;
}

/* --- A probe on the last instruction -------------------------------------------- */

static int wrong_by(int (*fn)(int), int add)
{
	int i, wrong = 0;

	for (i = 0; i < CALLS; i++)
		wrong += fn(i) != i + add;
	return wrong;
}

static void probe_last(const char *name, int (*fn)(int), int add, char *at)
{
	struct case_probe cp;
	int ret, wrong;

	case_aim(&cp, at, NULL);
	ret = register_kprobe(&cp.kp);
	if (ret) {
		case_verdict(name, false, "register_kprobe gave %d", ret);
		return;
	}
	case_wait_jump(at);
	wrong = wrong_by(fn, add) + wrong_by(region_next, 23);
	unregister_kprobe(&cp.kp);
	wrong += wrong_by(fn, add) + wrong_by(region_next, 23);
	case_verdict(name, !wrong && cp.hits + cp.kp.nmissed == CALLS,
		     "%d wrong, %lu hits and %lu misses of %d",
		     wrong, cp.hits, cp.kp.nmissed, CALLS);
}

static void padding(void)
{
	probe_last("region-padding", region_padded, 21, place_padded);
}

static void next(void)
{
	probe_last("region-next", region_tight, 22, place_tight);
}

/* --- Somebody is in the call ---------------------------------------------------- */

static int caller(void *fn)
{
	return ((int (*)(int))fn)(-5);
}

static struct task_struct *start_caller(void *fn)
{
	struct task_struct *task;

	reinit_completion(&entered);
	reinit_completion(&may_return);
	task = kthread_create(caller, fn, "region_caller");
	if (IS_ERR(task))
		return NULL;
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&entered);
	return task;
}

static int finish_caller(struct task_struct *task)
{
	int ret;

	complete(&may_return);
	ret = kthread_stop(task);
	put_task_struct(task);
	return ret;
}

/* Registered, then unregistered, while a call that began before is in progress. */
static void probe_call(const char *name, int (*fn)(int), char *at)
{
	struct case_probe cp;
	struct task_struct *task;
	int ret, before = 0, during = 0, wrong;

	case_aim(&cp, at, NULL);
	task = start_caller(fn);
	ret = register_kprobe(&cp.kp);
	if (!ret)
		case_wait_jump(at);
	if (task)
		before = finish_caller(task);
	if (ret) {
		case_verdict(name, false, "register_kprobe gave %d", ret);
		return;
	}
	wrong = wrong_by(fn, 31);
	task = start_caller(fn);
	unregister_kprobe(&cp.kp);
	/* Whatever the call was made from is freed meanwhile, if it is freed. */
	case_wait_byte(at, 0x55);
	msleep(300);
	if (task)
		during = finish_caller(task);
	wrong += wrong_by(fn, 31);
	case_verdict(name, before == 26 && during == 26 && !wrong &&
		     cp.hits + cp.kp.nmissed == CALLS + 1,
		     "across registration %d, across removal %d, %d wrong, %lu hits of %d",
		     before, during, wrong, cp.hits, CALLS + 1);
}

static void callret(void)
{
	probe_call("region-callret", region_callret, place_callret);
}

static void lastcall(void)
{
	probe_call("region-lastcall", region_lastcall, place_lastcall);
}

/* --- A neighbour comes and goes --------------------------------------------------- */

static void neighbour(void)
{
	struct case_probe cp, inside;
	bool first, blocked, again = false;
	int ret, wrong = 0;

	case_aim(&cp, place_pair, NULL);
	ret = register_kprobe(&cp.kp);
	if (ret) {
		case_verdict("region-neighbour", false, "register_kprobe gave %d", ret);
		return;
	}
	first = case_wait_jump(place_pair);
	wrong += wrong_by(region_pair, 24);
	case_aim(&inside, PAIR_INSIDE, NULL);
	ret = register_kprobe(&inside.kp);
	blocked = case_byte(place_pair) == TRAP_OPCODE;
	wrong += wrong_by(region_pair, 24);
	if (!ret) {
		unregister_kprobe(&inside.kp);
		again = case_wait_jump(place_pair);
	}
	wrong += wrong_by(region_pair, 24);
	unregister_kprobe(&cp.kp);
	wrong += wrong_by(region_pair, 24);
	case_verdict("region-neighbour", !ret && !wrong && blocked && again == first &&
		     cp.hits == 3 * CALLS && inside.hits == CALLS,
		     "register %d, %d wrong, jump before %d, trap beside it %d, jump after %d, %lu and %lu hits",
		     ret, wrong, first, blocked, again, cp.hits, inside.hits);
}

static const struct region_case {
	const char *which;
	void (*run)(void);
} region_cases[] = {
	{ "padding", padding },
	{ "next", next },
	{ "callret", callret },
	{ "lastcall", lastcall },
	{ "neighbour", neighbour },
};

static int __init region_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(region_cases); i++) {
		if (*which && strcmp(which, region_cases[i].which))
			continue;
		found++;
		region_cases[i].run();
	}
	return found ? 0 : -EINVAL;
}

static void __exit region_exit(void)
{
}

module_init(region_init);
module_exit(region_exit);
MODULE_DESCRIPTION("kprobes cases: in and next to the bytes of a jump");
MODULE_LICENSE("GPL");
