// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instruction does with a probe on it what it does without. Each is run
 * three times, unprobed, from a breakpoint and, where that happens, from a
 * jump; results, rcx and the stack pointer have to agree.
 */
#define pr_fmt(fmt) fmt

#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/static_call.h>

#include "case.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

struct outcome {
	unsigned long rax;
	unsigned long rcx;
	unsigned long stack;		/* bytes the stack pointer was off */
};

typedef void (*semantics_fn)(struct outcome *out, unsigned long rcx, unsigned long flags);

/* out in rdi, rcx in rsi, flags in rdx. rax counts what is executed, up to 9. */
#define SEMANTICS(name)						\
	"	.balign 16\n"					\
	"	.type sem_" #name ", @function\n"		\
	"sem_" #name ":\n"					\
	"	" ASM_ENDBR					\
	"	push %rbp\n"					\
	"	mov %rsp, %rbp\n"				\
	"	push %rdx\n"					\
	"	popf\n"						\
	"	mov %rsi, %rcx\n"				\
	"	mov $0, %eax\n"

#define SEMANTICS_END(name)					\
	"	mov %rax, (%rdi)\n"				\
	"	mov %rcx, 8(%rdi)\n"				\
	"	mov %rbp, %rax\n"				\
	"	sub %rsp, %rax\n"				\
	"	mov %rax, 16(%rdi)\n"				\
	"	mov %rbp, %rsp\n"				\
	"	pop %rbp\n"					\
	"	" ASM_RET					\
	"	.size sem_" #name ", . - sem_" #name "\n"	\
	CASE_PLACE(name)

/* lea and jrcxz leave the flags alone: loope and loopne see those given. */
#define LOOP_BODY(name, insn)					\
	".Lbody_" #name ":\n"					\
	"	lea 1(%rax), %rax\n"				\
	"	lea -9(%rax), %r8\n"				\
	"	xchg %rcx, %r8\n"				\
	"	jrcxz .Lfull_" #name "\n"			\
	"	xchg %rcx, %r8\n"				\
	".Lat_" #name ":\n"					\
	"	" ANNOTATE_NOENDBR				\
	"	" insn " .Lbody_" #name "\n"			\
	"	jmp .Ldone_" #name "\n"				\
	".Lfull_" #name ":\n"					\
	"	xchg %rcx, %r8\n"				\
	".Ldone_" #name ":\n"

#define SKIP_BODY(name, insn)					\
	".Lat_" #name ":\n"					\
	"	" ANNOTATE_NOENDBR				\
	"	" insn " .Lskip_" #name "\n"			\
	"	mov $1, %eax\n"					\
	".Lskip_" #name ":\n"					\
	"	lea 2(%rax), %rax\n"

asm(
"	.pushsection .text\n"
SEMANTICS(loop)
LOOP_BODY(loop, "loop")
SEMANTICS_END(loop)
SEMANTICS(loope)
LOOP_BODY(loope, "loope")
SEMANTICS_END(loope)
SEMANTICS(loopne)
LOOP_BODY(loopne, "loopne")
SEMANTICS_END(loopne)
SEMANTICS(loop32)
LOOP_BODY(loop32, "addr32 loop")
SEMANTICS_END(loop32)
SEMANTICS(jrcxz)
SKIP_BODY(jrcxz, "jrcxz")
SEMANTICS_END(jrcxz)
SEMANTICS(jecxz)
SKIP_BODY(jecxz, "jecxz")
SEMANTICS_END(jecxz)
SEMANTICS(ret16)
"	push $44\n"
"	push $33\n"
"	call sem_ret16_callee\n"
SEMANTICS_END(ret16)
"	.type sem_ret16_callee, @function\n"
"sem_ret16_callee:\n"
"	mov 8(%rsp), %rax\n"
".Lat_ret16:\n"
"	" ANNOTATE_NOENDBR
"	" ANNOTATE_RETPOLINE_SAFE
"	ret $8\n"
"	int3\n"
"	.size sem_ret16_callee, . - sem_ret16_callee\n"
"	.popsection\n"
);

#define DECLARE_SEMANTICS(name)							\
	void sem_##name(struct outcome *out, unsigned long rcx, unsigned long flags);	\
	extern char *const place_##name

DECLARE_SEMANTICS(loop);
DECLARE_SEMANTICS(loope);
DECLARE_SEMANTICS(loopne);
DECLARE_SEMANTICS(loop32);
DECLARE_SEMANTICS(jrcxz);
DECLARE_SEMANTICS(jecxz);
DECLARE_SEMANTICS(ret16);

#define ROW(name)	{ "semantics-" #name, #name, sem_##name, &place_##name }

static const struct row {
	const char *name;
	const char *which;
	semantics_fn fn;
	char *const *place;
} rows[] = {
	ROW(loop),
	ROW(loope),
	ROW(loopne),
	ROW(loop32),
	ROW(jrcxz),
	ROW(jecxz),
	ROW(ret16),
};

static const unsigned long rcx_values[] = {
	0, 1, 2, 3, 1UL << 31, 1UL << 32, (1UL << 32) + 1, (1UL << 32) + 2,
	0xffffffffUL, ~0UL, 0xdeadbeef00000000UL,
};

/* IF and the bit that is always set; with and without ZF and CF. */
static const unsigned long flag_values[] = { 0x202, 0x242, 0x203 };

#define OUTCOMES	(ARRAY_SIZE(rcx_values) * ARRAY_SIZE(flag_values))

static void run_all(const struct row *row, struct outcome *out)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(rcx_values); i++)
		for (j = 0; j < ARRAY_SIZE(flag_values); j++)
			row->fn(out++, rcx_values[i], flag_values[j]);
}

static int compare(const struct row *row, const char *how, const struct outcome *want,
		   const struct outcome *got)
{
	int i, wrong = 0;

	for (i = 0; i < OUTCOMES; i++) {
		if (!memcmp(&want[i], &got[i], sizeof(*want)))
			continue;
		if (!wrong++)
			pr_info("%s, %s: rcx %lx: rax %lu instead of %lu, rcx %lx instead of %lx, stack %ld instead of %ld\n",
				row->name, how, rcx_values[i / ARRAY_SIZE(flag_values)],
				got[i].rax, want[i].rax, got[i].rcx, want[i].rcx,
				got[i].stack, want[i].stack);
	}
	return wrong;
}

static struct outcome unprobed[OUTCOMES], probed[OUTCOMES];

/* Wrong outcomes with a probe, or an errno. */
static int run_probed(const struct row *row, bool trap, unsigned long *hits)
{
	struct case_probe cp;
	int ret;

	case_aim(&cp, *row->place, NULL);
	if (trap)
		cp.kp.post_handler = case_post;
	ret = register_kprobe(&cp.kp);
	if (ret)
		return ret;
	if (!trap)
		case_wait_jump(*row->place);
	memset(probed, 0xa5, sizeof(probed));
	run_all(row, probed);
	unregister_kprobe(&cp.kp);
	*hits = cp.hits;
	return compare(row, trap ? "trap" : "jump if possible", unprobed, probed);
}

static void run(const struct row *row)
{
	unsigned long trap_hits = 0, jump_hits = 0;
	int trap, jump;

	run_all(row, unprobed);
	trap = run_probed(row, true, &trap_hits);
	jump = run_probed(row, false, &jump_hits);
	case_verdict(row->name, !trap && !jump && trap_hits && trap_hits == jump_hits,
		     "trap: %d wrong, %lu hits; jump: %d wrong, %lu hits",
		     trap, trap_hits, jump, jump_hits);
}

/* --- Static call ------------------------------------------------------------------- */

static int add_one(int x)
{
	return x + 1;
}

static int add_ten(int x)
{
	return x + 10;
}

DEFINE_STATIC_CALL(semantics_call, add_one);

static noinline int through_static_call(int x)
{
	return static_call(semantics_call)(x) * 2;
}

static void run_static_call(void)
{
	struct case_probe cp;
	int ret, before, after;

	case_aim(&cp, STATIC_CALL_TRAMP_ADDR(semantics_call), NULL);
	before = through_static_call(4);
	ret = register_kprobe(&cp.kp);
	static_call_update(semantics_call, add_ten);
	after = through_static_call(4);
	if (!ret)
		unregister_kprobe(&cp.kp);
	static_call_update(semantics_call, add_one);
	case_verdict("semantics-static-call", ret == -EINVAL && before == 10 && after == 28,
		     "register_kprobe gave %d, results %d and %d", ret, before, after);
}

static int __init semantics_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (*which && strcmp(which, rows[i].which))
			continue;
		found++;
		run(&rows[i]);
	}
	if (!*which || !strcmp(which, "static-call")) {
		found++;
		run_static_call();
	}
	return found ? 0 : -EINVAL;
}

static void __exit semantics_exit(void)
{
}

module_init(semantics_init);
module_exit(semantics_exit);
MODULE_DESCRIPTION("kprobes cases: an instruction keeps its meaning");
MODULE_LICENSE("GPL");
