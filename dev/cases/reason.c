// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a probe has no jump: each reason made to apply, and what the optimization
 * file in debugfs then says of the probe.
 */
#define pr_fmt(fmt) fmt

#include <linux/jump_label.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

#define SWITCH	"/proc/sys/debug/kprobes-optimization"

extern char *const place_pair, *const place_landing, *const place_tight;
extern char *const place_key, *const place_fixup, *const place_trap;
extern char *const place_data;

void reason_data(void);
void reason_trap(void);

DEFINE_STATIC_KEY_FALSE(reason_key);

/* Each is probed at .Lat_<name>; what is behind decides. */
asm(
CASE_PAIR(reason_pair)
"	.pushsection .text\n"
"	.balign 16\n"
"	.type reason_landing, @function\n"
"reason_landing:\n"
"	" ASM_ENDBR
"	nop\n"
".Lat_landing:\n"
"	" ANNOTATE_NOENDBR
"	mov %edi, %eax\n"
"1:	dec %eax\n"
"	jg 1b\n"
"	" ASM_RET
"	.size reason_landing, . - reason_landing\n"
CASE_PLACE(landing)

"	.balign 16\n"
"	.type reason_tight, @function\n"
"reason_tight:\n"
"	" ASM_ENDBR
"	jmp .Lat_tight\n"
"2:	" ASM_RET
".Lat_tight:\n"
"	" ANNOTATE_NOENDBR
"	jmp 2b\n"
"	.size reason_tight, . - reason_tight\n"
CASE_PLACE(tight)
"	.type reason_next, @function\n"
"reason_next:\n"
"	lea 23(%rdi), %eax\n"
"	" ASM_RET
"	.size reason_next, . - reason_next\n"

"	.balign 16\n"
"	.type reason_static, @function\n"
"reason_static:\n"
"	" ASM_ENDBR
"	nop\n"
".Lat_key:\n"
"	" ANNOTATE_NOENDBR
"	mov %edi, %eax\n"
"3:	.byte " __stringify(BYTES_NOP5) "\n"
"4:	" ASM_RET
"	.size reason_static, . - reason_static\n"
"	.pushsection __jump_table, \"aw\"\n"
"	.balign 8\n"
"	.long 3b - ., 4b - .\n"
"	.quad reason_key - .\n"
"	.popsection\n"
CASE_PLACE(key)

"	.balign 16\n"
"	.type reason_fixup, @function\n"
"reason_fixup:\n"
"	" ASM_ENDBR
"	nop\n"
".Lat_fixup:\n"
"	" ANNOTATE_NOENDBR
"	mov %edi, %eax\n"
"5:	mov (%rdi), %eax\n"
"6:	nop\n"
"	" ASM_RET
"	.size reason_fixup, . - reason_fixup\n"
_ASM_EXTABLE(5b, 6b)
CASE_PLACE(fixup)

"	.balign 16\n"
"	.type reason_trap, @function\n"
"reason_trap:\n"
"	" ASM_ENDBR
"	nop\n"
".Lat_trap:\n"
"	" ANNOTATE_NOENDBR
"	test %edi, %edi\n"
"	ud2\n"
"	" ASM_RET
"	.size reason_trap, . - reason_trap\n"
CASE_PLACE(trap)

/* What is behind the jump is never executed; it may be read, for all we know. */
"	.balign 16\n"
"	.type reason_data, @function\n"
"reason_data:\n"
"	" ASM_ENDBR
"	nop\n"
".Lat_data:\n"
"	" ANNOTATE_NOENDBR
"	jmp 7f\n"
"	.byte 1, 2, 0x99\n"
"7:	" ASM_RET
"	.size reason_data, . - reason_data\n"
CASE_PLACE(data)
"	.popsection\n"
);
STACK_FRAME_NON_STANDARD(reason_trap);
STACK_FRAME_NON_STANDARD(reason_data);

static noinline int reason_traced(int x)
{
	return x + 41;
}

static bool says_soon(const void *addr, const char *words)
{
	int tries;

	for (tries = 0; tries < 20; tries++) {
		if (case_says(addr, words))
			return true;
		msleep(100);
	}
	return false;
}

struct reason_case {
	const char *which;
	const char *name;
	void (*run)(const struct reason_case *c);
	char *const *place;
	const char *words;
};

static void verdict(const struct reason_case *c, int err, bool said)
{
	case_verdict(c->name, !err && said, "error %d, says \"%s\": %d", err, c->words, said);
}

/* A probe there, and nothing else. */
static void by_text(const struct reason_case *c)
{
	struct case_probe cp;
	bool said = false;
	int ret;

	case_aim(&cp, c->place ? *c->place : (char *)reason_traced, NULL);
	ret = register_kprobe(&cp.kp);
	if (!ret) {
		said = says_soon(cp.kp.addr, c->words);
		unregister_kprobe(&cp.kp);
	}
	verdict(c, ret, said);
}

/* The very first probe since the boot is seen before the text was examined. */
static void pending(const struct reason_case *c)
{
	struct case_probe cp;
	bool said = false;
	int ret, tries;

	case_aim(&cp, *c->place, NULL);
	ret = register_kprobe(&cp.kp);
	if (!ret) {
		said = case_says(cp.kp.addr, c->words);
		/* That takes as long as it takes. */
		for (tries = 0; said && tries < 30; tries++) {
			if (case_wait_jump(cp.kp.addr))
				break;
		}
		said = said && case_says(cp.kp.addr, "jump 5 -");
		unregister_kprobe(&cp.kp);
	}
	verdict(c, ret, said);
}

/* A jump that something takes away, and that comes back without it. */
static void taken_away(const struct reason_case *c, int (*away)(struct case_probe *),
		       int (*back)(struct case_probe *))
{
	struct case_probe cp;
	bool said = false;
	int ret;

	case_aim(&cp, *c->place, NULL);
	ret = register_kprobe(&cp.kp);
	if (ret) {
		verdict(c, ret, false);
		return;
	}
	if (case_wait_jump(cp.kp.addr))
		said = says_soon(cp.kp.addr, "jump 5 -");
	ret = away(&cp);
	said &= case_says(cp.kp.addr, c->words);
	ret = ret ?: back(&cp);
	said &= case_wait_jump(cp.kp.addr) && says_soon(cp.kp.addr, "jump 5 -");
	unregister_kprobe(&cp.kp);
	verdict(c, ret, said);
}

static int disable(struct case_probe *cp)
{
	return disable_kprobe(&cp->kp);
}

static int enable(struct case_probe *cp)
{
	return enable_kprobe(&cp->kp);
}

static int switch_off(struct case_probe *cp)
{
	return case_shell("echo 0 >" SWITCH);
}

static int switch_on(struct case_probe *cp)
{
	return case_shell("echo 1 >" SWITCH);
}

static struct case_probe other;

static int join_with_post(struct case_probe *cp)
{
	case_aim(&other, cp->kp.addr, NULL);
	other.kp.post_handler = case_post;
	return register_kprobe(&other.kp);
}

static int join_inside(struct case_probe *cp)
{
	case_aim(&other, cp->kp.addr + 2, NULL);
	return register_kprobe(&other.kp);
}

static int leave(struct case_probe *cp)
{
	unregister_kprobe(&other.kp);
	return 0;
}

static void disabled(const struct reason_case *c)
{
	taken_away(c, disable, enable);
}

static void off(const struct reason_case *c)
{
	taken_away(c, switch_off, switch_on);
}

static void post(const struct reason_case *c)
{
	taken_away(c, join_with_post, leave);
}

static void neighbour(const struct reason_case *c)
{
	taken_away(c, join_inside, leave);
}

#define REASON(which, run, place, words) { which, "reason-" which, run, place, words }

static const struct reason_case reason_cases[] = {
	REASON("pending", pending, &place_pair, "int3 0 the text is still being examined"),
	REASON("ftrace", by_text, NULL, "ftrace 0 ftrace calls the handler without a trap"),
	REASON("landing", by_text, &place_landing,
	       "int3 0 control may land inside the bytes to be replaced"),
	REASON("no-room", by_text, &place_tight,
	       "int3 0 the code ends inside the bytes to be replaced"),
	REASON("data-behind", by_text, &place_data,
	       "int3 0 the code ends inside the bytes to be replaced"),
	REASON("reserved", by_text, &place_key,
	       "int3 0 another code patcher owns some of the bytes"),
	REASON("fixup", by_text, &place_fixup,
	       "int3 0 an instruction may fault and be fixed up"),
	REASON("insn", by_text, &place_trap,
	       "int3 0 an instruction cannot run from the detour"),
	REASON("disabled", disabled, &place_pair, "disabled 0 no enabled probe here"),
	REASON("off", off, &place_pair, "int3 0 debug.kprobes-optimization is 0"),
	REASON("post", post, &place_pair, "int3 0 a probe has a post_handler"),
	REASON("neighbour", neighbour, &place_pair,
	       "int3 0 another probe inside the bytes to be replaced"),
};

static int __init reason_init(void)
{
	int i, found = 0;

	if (reason_traced(1) != 42)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(reason_cases); i++) {
		if (*which && strcmp(which, reason_cases[i].which))
			continue;
		found++;
		reason_cases[i].run(&reason_cases[i]);
	}
	return found ? 0 : -EINVAL;
}

static void __exit reason_exit(void)
{
}

module_init(reason_init);
module_exit(reason_exit);
MODULE_DESCRIPTION("kprobes cases: why a probe has no jump");
MODULE_LICENSE("GPL");
