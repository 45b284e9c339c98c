/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe on the function that ends a module's text. What follows is zeros up
 * to the end of the page, "add %al, (%rax)" to a decoder, two bytes each: from
 * an odd address the last of them reaches over the end of the mapping. Or the
 * function ends the page.
 *
 * The file that includes this defines LASTFN_PAD, which sets the parity, and
 * LASTFN_AT, what comes before the function.
 */
#include <linux/linkage.h>

#include "case.h"

int lastfn_target(int x);

/* A section of its own: the linker puts it behind .text. */
asm(
"	.pushsection .ztext, \"ax\"\n"
"	" LASTFN_AT
"	.type lastfn_target, @function\n"
"lastfn_target:\n"
"	" ASM_ENDBR
"	mov %edi, %eax\n"
"	" LASTFN_PAD
"	add $61, %eax\n"
"	" ASM_RET
"	.size lastfn_target, . - lastfn_target\n"
"	.popsection\n"
);

static int lastfn_wrong(void)
{
	int (*fn)(int x) = lastfn_target;
	int i, wrong = 0;

	for (i = 0; i < 100; i++)
		wrong += READ_ONCE(fn)(i) != i + 61;
	return wrong;
}

static int __init lastfn_init(void)
{
	struct case_probe cp;
	int ret, wrong = 0;

	case_aim(&cp, lastfn_target, NULL);
	ret = register_kprobe(&cp.kp);
	if (!ret) {
		wrong += lastfn_wrong();
		case_wait_jump(cp.kp.addr);
		wrong += lastfn_wrong();
		unregister_kprobe(&cp.kp);
		wrong += lastfn_wrong();
	}
	case_verdict(KBUILD_MODNAME, !ret && !wrong && cp.hits == 200,
		     "register_kprobe gave %d, %d wrong, %lu hits", ret, wrong, cp.hits);
	return 0;
}

/* Not in .exit.text, which would be behind the target. */
static void lastfn_exit(void)
{
}

module_init(lastfn_init);
module_exit(lastfn_exit);
MODULE_DESCRIPTION("kprobes cases: the last function of a module");
MODULE_LICENSE("GPL");
