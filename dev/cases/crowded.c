// SPDX-License-Identifier: GPL-2.0-only
/* A module with room for many probes, to go away under all of them. */
#include <linux/linkage.h>
#include <linux/module.h>

#include "crowd.h"

int crowded(int x);

asm(
"	.pushsection .text\n"
"	.balign 16\n"
"	.globl crowded\n"
"	.type crowded, @function\n"
"crowded:\n"
"	" ASM_ENDBR
"	.skip " __stringify(CROWD) ", 0x90\n"
"	lea 71(%rdi), %eax\n"
"	" ASM_RET
"	.size crowded, . - crowded\n"
"	.popsection\n"
);
EXPORT_SYMBOL_GPL(crowded);

MODULE_DESCRIPTION("kprobes cases: a module for many probes");
MODULE_LICENSE("GPL");
