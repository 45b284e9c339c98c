// SPDX-License-Identifier: GPL-2.0-only
/*
 * The landing map gets no memory: everything that it asks for is denied, then all
 * but the first, and so on, until it asks for no more. A probe stays a breakpoint
 * then, and works.
 */
#define pr_fmt(fmt) fmt

#include <linux/kallsyms.h>
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "first: what the kernel's own text needs; module: what a module's does");

#define NO_MEMORY	"int3 0 no memory for the detour"
#define MOST	40

extern char *const place_pair;
int nomem_pair(int x);
void nomem_return(void);

asm(
CASE_PAIR(nomem_pair)
"	.pushsection .text\n"
"	.balign 16\n"
"	.type nomem_return, @function\n"
"nomem_return:\n"
"	" ASM_ENDBR
"	" ASM_RET
"	.size nomem_return, . - nomem_return\n"
"	.popsection\n"
);

static unsigned long anchor;	/* a function of the file that makes the map */
static int countdown;		/* from which request on all are denied; 0: none */
static bool denied;

struct denier {
	struct kprobe kp;
	long answer;
};

/* Whether the caller belongs to the map. */
static bool asked_by_map(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	if (addr - anchor + SZ_64K >= 2 * SZ_64K)
		return false;
	sprint_symbol_no_offset(name, addr);
	return strstr(name, "landing_");
}

static int deny(struct kprobe *kp, struct pt_regs *regs)
{
	if (!countdown || !asked_by_map(*(unsigned long *)regs->sp))
		return 0;
	if (countdown > 1) {
		countdown--;
		return 0;
	}
	denied = true;
	regs->ax = container_of(kp, struct denier, kp)->answer;
	regs->ip = (unsigned long)nomem_return;
	return 1;
}
NOKPROBE_SYMBOL(deny);

#define DENIER(symbol, answer)	{ { .symbol_name = symbol, .pre_handler = deny }, answer }

static struct denier deniers[] = {
	DENIER("__kvmalloc_node_noprof", 0),
	DENIER("__kmalloc_cache_noprof", 0),
	DENIER("mtree_insert_range", -ENOMEM),
};

static void deny_start(int nth)
{
	denied = false;
	WRITE_ONCE(countdown, nth);
}

static bool deny_stop(void)
{
	WRITE_ONCE(countdown, 0);
	return denied;
}

/* Kernel symbols that are not exported have no other way to be found. */
static int find_anchor(void)
{
	struct kprobe kp = { .symbol_name = "kprobe_landing_prepare" };
	int ret = register_kprobe(&kp);

	if (!ret) {
		anchor = (unsigned long)kp.addr;
		unregister_kprobe(&kp);
	}
	return ret;
}

static int deniers_add(void)
{
	struct kprobe *kps[ARRAY_SIZE(deniers)];
	int i;

	for (i = 0; i < ARRAY_SIZE(deniers); i++)
		kps[i] = &deniers[i].kp;
	return register_kprobes(kps, ARRAY_SIZE(kps));
}

static void deniers_del(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(deniers); i++)
		unregister_kprobe(&deniers[i].kp);
}

static bool works(struct case_probe *cp)
{
	int (*fn)(int x) = nomem_pair;
	unsigned long before = cp->hits;

	return READ_ONCE(fn)(3) == 27 && cp->hits == before + 1;
}

/* Until the jump is there or something was denied. */
static bool wait_jump_or_denial(const void *addr)
{
	int tries;

	for (tries = 0; tries < 200; tries++) {
		if (READ_ONCE(denied))
			return false;
		if (case_byte(addr) == JUMP_OPCODE)
			return true;
		msleep(20);
	}
	return false;
}

/*
 * Denial is in force before the map is made for the first time. The map is tried
 * again by itself, some time later.
 */
static void first(void)
{
	int nth, ret = 0, wrong = 0;
	bool jump = false, was_denied = true;
	struct case_probe cp;

	for (nth = 1; !ret && was_denied && nth <= MOST; nth++) {
		deny_start(nth);
		if (nth == 1)
			ret = deniers_add();
		case_aim(&cp, place_pair, NULL);
		ret = ret ?: register_kprobe(&cp.kp);
		if (ret)
			break;
		jump = wait_jump_or_denial(place_pair);
		msleep(20);
		was_denied = denied;
		wrong += !works(&cp);
		unregister_kprobe(&cp.kp);
	}
	deny_stop();
	deniers_del();
	case_verdict("nomem-first", !ret && !wrong && jump && !was_denied && nth > 6,
		     "register %d, %d wrong, jump %d, denied %d, %d tries", ret, wrong, jump,
		     was_denied, nth);
}

static int with_victim(void)
{
	struct case_probe cp;
	int (*fn)(int x);
	int ret;

	ret = case_shell("insmod /modules/victim.ko");
	if (ret)
		return ret;
	case_aim(&cp, NULL, "victim_plain");
	ret = register_kprobe(&cp.kp);
	fn = (void *)__symbol_get("victim_plain");
	if (!ret && fn)
		ret = READ_ONCE(fn)(7) == 58 && cp.hits == 1 ? 0 : -EIO;
	if (fn)
		__symbol_put("victim_plain");
	unregister_kprobe(&cp.kp);
	return ret ?: case_shell("rmmod victim");
}

/* The map is there, and a module comes. Jumps it might land on are taken back. */
static void module(void)
{
	bool jump, said = true, was_denied = true;
	int nth, ret, err = 0, wrong = 0;
	struct case_probe cp;

	case_aim(&cp, place_pair, NULL);
	ret = register_kprobe(&cp.kp) ?: deniers_add();
	for (nth = 0, jump = false; !ret && !jump && nth < 10; nth++)
		jump = case_wait_jump(place_pair);
	for (nth = 1; !ret && was_denied && nth <= MOST; nth++) {
		deny_start(nth);
		err = err ?: with_victim();
		was_denied = deny_stop();
		wrong += !works(&cp);
		said &= case_byte(place_pair) == TRAP_OPCODE && case_says(place_pair, NO_MEMORY);
	}
	deniers_del();
	unregister_kprobe(&cp.kp);
	case_verdict("nomem-module", !ret && !err && !wrong && jump && said && !was_denied &&
		     nth > 4,
		     "register %d, victim %d, %d wrong, jump %d, said %d, denied %d, %d tries",
		     ret, err, wrong, jump, said, was_denied, nth);
}

#define SWITCH	"/proc/sys/debug/kprobes-optimization"

static int __init nomem_init(void)
{
	bool is_first = !strcmp(which, "first");
	int ret;

	if (!is_first && strcmp(which, "module"))
		return -EINVAL;
	/* Without jumps wanted, finding the anchor does not have the map made. */
	ret = case_shell("echo 0 >" SWITCH) ?: find_anchor() ?: case_shell("echo 1 >" SWITCH);
	if (ret)
		return ret;
	if (is_first)
		first();
	else
		module();
	return 0;
}

static void __exit nomem_exit(void)
{
}

module_init(nomem_init);
module_exit(nomem_exit);
MODULE_DESCRIPTION("kprobes cases: no memory for the landing map");
MODULE_LICENSE("GPL");
