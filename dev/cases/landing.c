// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control lands in the middle of the bytes that a probe's jump would replace.
 *
 * Every function here has the same body: a head of two bytes that takes the
 * argument, and a middle that a negative argument reaches by some other way
 * with 1000 in place of the argument. Only that way differs. With a probe on
 * the head, optimized or not, all results must be those without one.
 */
#define pr_fmt(fmt) fmt

#include <linux/bug.h>
#include <linux/jump_label.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/alternative.h>
#include <asm/asm.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the way in; all of them when empty");

#define CALLS	200

typedef int (*landing_fn)(int x);

#define HEAD(name)						\
	"	.balign 16\n"					\
	"	.type land_" #name ", @function\n"		\
	"land_" #name ":\n"					\
	"	" ASM_ENDBR

#define BODY(name)						\
	".Lat_" #name ":\n"					\
	"	" ANNOTATE_NOENDBR				\
	"	mov %edi, %eax\n"				\
	".Lmiddle_" #name ":\n"					\
	"	" ANNOTATE_NOENDBR				\
	"	add $11, %eax\n"				\
	"	xor $0x40, %eax\n"				\
	"	" ASM_RET					\
	"	.size land_" #name ", . - land_" #name "\n"	\
	CASE_PLACE(name)

#define AWAY(name, section)					\
	"	.pushsection " section ", \"ax\"\n"		\
	"	.type land_" #name "_away, @function\n"		\
	"land_" #name "_away:\n"

#define AWAY_END(name)						\
	"	.size land_" #name "_away, . - land_" #name "_away\n" \
	"	.popsection\n"

#define TO_AWAY(name)						\
	"	test %edi, %edi\n"				\
	"	js land_" #name "_away\n"

#ifdef CONFIG_MITIGATION_RETPOLINE
#define JUMP_TO_RDX	"	jmp __x86_indirect_thunk_rdx\n"
#else
#define JUMP_TO_RDX	"	jmp *%rdx\n"
#endif

DEFINE_STATIC_KEY_FALSE(landing_key);
EXPORT_SYMBOL_GPL(landing_key);

/* Not canonical: reading it faults whatever is mapped. */
unsigned long landing_nowhere = 0x8000dead0000beefUL;

asm(
"	.pushsection .text\n"
/* An unconditional jump in what the compiler would call foo.cold. */
HEAD(cold)
TO_AWAY(cold)
BODY(cold)
AWAY(cold, ".text.unlikely")
"	mov $1000, %eax\n"
"	jmp .Lmiddle_cold\n"
AWAY_END(cold)

/* The same with a conditional jump. */
HEAD(jcc)
TO_AWAY(jcc)
BODY(jcc)
AWAY(jcc, ".text.unlikely")
"	mov $1000, %eax\n"
"	test %eax, %eax\n"
"	jnz .Lmiddle_jcc\n"
"	int3\n"
AWAY_END(jcc)

/* A branch that is a nop until the key is switched on. */
HEAD(key)
"	mov $1000, %eax\n"
".Lkey_site:\n"
"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
BODY(key)
"	.pushsection __jump_table, \"aw\"\n"
"	.balign 8\n"
"	.long .Lkey_site - .\n"
"	.long .Lmiddle_key - .\n"
"	.quad landing_key - .\n"
"	.popsection\n"

/* A fixup of a fault that happens in another symbol. */
HEAD(fixup)
TO_AWAY(fixup)
BODY(fixup)
AWAY(fixup, ".text.unlikely")
"	mov landing_nowhere(%rip), %rdx\n"
"	mov $1000, %eax\n"
"1:	cmpb $0, (%rdx)\n"
"	int3\n"
AWAY_END(fixup)
_ASM_EXTABLE(1b, .Lmiddle_fixup)

/* A computed goto whose table is read-only data. */
HEAD(rodata)
TO_AWAY(rodata)
BODY(rodata)
AWAY(rodata, ".text.unlikely")
"	mov $1000, %eax\n"
"	mov .Lrodata_table(%rip), %rdx\n"
JUMP_TO_RDX
AWAY_END(rodata)
"	.pushsection .rodata\n"
"	.balign 8\n"
".Lrodata_table:\n"
"	.quad .Lmiddle_rodata\n"
"	.popsection\n"

/* The table is relative, as compilers make it for position-independent code. */
HEAD(relative)
TO_AWAY(relative)
BODY(relative)
AWAY(relative, ".text.unlikely")
"	lea .Lrelative_table(%rip), %rcx\n"
"	movslq (%rcx), %rdx\n"
"	add %rcx, %rdx\n"
"	mov $1000, %eax\n"
JUMP_TO_RDX
AWAY_END(relative)
"	.pushsection .rodata\n"
"	.balign 4\n"
".Lrelative_table:\n"
"	.long .Lmiddle_relative - .Lrelative_table\n"
"	.popsection\n"

/* The address stands in data that can be written. */
HEAD(data)
TO_AWAY(data)
BODY(data)
AWAY(data, ".text.unlikely")
"	mov $1000, %eax\n"
"	mov .Ldata_table(%rip), %rdx\n"
JUMP_TO_RDX
AWAY_END(data)
"	.pushsection .data\n"
"	.balign 8\n"
".Ldata_table:\n"
"	.quad .Lmiddle_data\n"
"	.popsection\n"

/* The label is an immediate operand. */
HEAD(immediate)
TO_AWAY(immediate)
BODY(immediate)
AWAY(immediate, ".text.unlikely")
"	mov $1000, %eax\n"
"	mov $.Lmiddle_immediate, %rdx\n"
JUMP_TO_RDX
AWAY_END(immediate)

/* The label is formed relative to rip. */
HEAD(rip)
TO_AWAY(rip)
BODY(rip)
AWAY(rip, ".text.unlikely")
"	mov $1000, %eax\n"
"	lea .Lmiddle_rip(%rip), %rdx\n"
JUMP_TO_RDX
AWAY_END(rip)

/* The jump is put in by an alternative. */
HEAD(alternative)
TO_AWAY(alternative)
BODY(alternative)
AWAY(alternative, ".text.unlikely")
"	mov $1000, %eax\n"
ALTERNATIVE("int3; int3; int3; int3; int3", "jmp .Lmiddle_alternative", X86_FEATURE_ALWAYS)
AWAY_END(alternative)

/*
 * The jump stands in init text, which lives and dies apart. In .ref.text, code
 * may refer to it.
 */
"	.pushsection .ref.text, \"ax\"\n"
HEAD(init)
TO_AWAY(init)
BODY(init)
"	.popsection\n"
AWAY(init, ".init.text")
"	mov $1000, %eax\n"
"	jmp .Lmiddle_init\n"
AWAY_END(init)
"	.popsection\n"
);

#define DECLARE_LANDING(name)		\
	int land_##name(int x);		\
	extern char *const place_##name

DECLARE_LANDING(cold);
DECLARE_LANDING(jcc);
DECLARE_LANDING(key);
DECLARE_LANDING(fixup);
DECLARE_LANDING(rodata);
DECLARE_LANDING(relative);
DECLARE_LANDING(data);
DECLARE_LANDING(immediate);
DECLARE_LANDING(rip);
DECLARE_LANDING(alternative);
DECLARE_LANDING(init);

#define LANDING(name)	{ "landing-" #name, #name, land_##name, &place_##name }

static const struct landing {
	const char *name;
	const char *which;
	landing_fn fn;
	char *const *place;
} landings[] = {
	LANDING(cold),
	LANDING(jcc),
	LANDING(key),
	LANDING(fixup),
	LANDING(rodata),
	LANDING(relative),
	LANDING(data),
	LANDING(immediate),
	LANDING(rip),
	LANDING(alternative),
	LANDING(init),
};

static int through_head(int x)
{
	return (x + 11) ^ 0x40;
}

/* Calls that went wrong, of CALLS by the head and CALLS by the other way. */
static int wrong_results(const struct landing *l)
{
	const bool key = l->fn == land_key;
	int i, wrong = 0;

	for (i = 0; i < CALLS; i++)
		wrong += l->fn(i) != through_head(i);
	if (key)
		static_branch_enable(&landing_key);
	for (i = 0; i < CALLS; i++)
		wrong += l->fn(-1 - i) != through_head(1000);
	if (key)
		static_branch_disable(&landing_key);
	for (i = 0; i < CALLS; i++)
		wrong += l->fn(i) != through_head(i);
	return wrong;
}

static void run(const struct landing *l)
{
	char *at = *l->place;
	struct case_probe cp;
	int unprobed, wrong, ret;
	bool jump;

	unprobed = wrong_results(l);
	case_aim(&cp, at, NULL);
	ret = register_kprobe(&cp.kp);
	if (ret) {
		case_verdict(l->name, false, "register_kprobe gave %d", ret);
		return;
	}
	jump = case_wait_jump(at);
	pr_info("%s: %s\n", l->name, jump ? "optimized" : "not optimized");
	wrong = wrong_results(l);
	unregister_kprobe(&cp.kp);
	case_verdict(l->name, !unprobed && !wrong && cp.hits + cp.kp.nmissed == 2 * CALLS,
		     "%d wrong unprobed, %d probed, %lu hits and %lu misses of %d",
		     unprobed, wrong, cp.hits, cp.kp.nmissed, 2 * CALLS);
}

/* In init, so that the text of the init landing is still there. */
static int __init landing_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(landings); i++) {
		if (*which && strcmp(which, landings[i].which))
			continue;
		found++;
		run(&landings[i]);
	}
	return found ? 0 : -EINVAL;
}

static void __exit landing_exit(void)
{
}

module_init(landing_init);
module_exit(landing_exit);
MODULE_DESCRIPTION("kprobes cases: control lands behind a probe");
MODULE_LICENSE("GPL");
