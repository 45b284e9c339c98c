// SPDX-License-Identifier: GPL-2.0-only
/* Jumps into the middle of a function of the module victim. */
#include <linux/linkage.h>
#include <linux/module.h>

int intruder_entry(int x);
int victim_entry(int x);

/* ENDBR, xor and mov are before the add that it jumps to. */
#ifdef CONFIG_X86_KERNEL_IBT
#define MIDDLE	"victim_entry + 8"
#else
#define MIDDLE	"victim_entry + 4"
#endif

asm(
"	.pushsection .text\n"
"	.balign 16\n"
"	.globl intruder_entry\n"
"	.type intruder_entry, @function\n"
"intruder_entry:\n"
"	" ASM_ENDBR
"	lea 1000(%rdi), %eax\n"
"	jmp " MIDDLE "\n"
"	.size intruder_entry, . - intruder_entry\n"
"	.popsection\n"
);
EXPORT_SYMBOL_GPL(intruder_entry);

static void *keep_reference = victim_entry;

static int __init intruder_init(void)
{
	return READ_ONCE(keep_reference) ? 0 : -EIO;
}

static void __exit intruder_exit(void)
{
}

module_init(intruder_init);
module_exit(intruder_exit);
MODULE_DESCRIPTION("kprobes cases: jumps into another module");
MODULE_LICENSE("GPL");
