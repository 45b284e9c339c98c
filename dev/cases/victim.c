// SPDX-License-Identifier: GPL-2.0-only
/* A module for others to probe, to load and to unload under their probes. */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>

int victim_plain(int x);
int victim_traced(int x);
int victim_entry(int x);
int victim_kprobes(int x);
int victim_noinstr(int x);

static int sink;

__visible noinline notrace int victim_plain(int x)
{
	WRITE_ONCE(sink, x);
	return x + 51;
}
EXPORT_SYMBOL_GPL(victim_plain);

__visible noinline int victim_traced(int x)
{
	WRITE_ONCE(sink, x);
	return x + 52;
}
EXPORT_SYMBOL_GPL(victim_traced);

/* Where no probe may be. */
__visible noinline __kprobes int victim_kprobes(int x)
{
	WRITE_ONCE(sink, x);
	return x + 55;
}

__visible noinstr int victim_noinstr(int x)
{
	WRITE_ONCE(sink, x);
	return x + 56;
}

/* A probe is put on the mov, and another module jumps to the add. */
asm(
"	.pushsection .text\n"
"	.balign 16\n"
"	.globl victim_entry\n"
"	.type victim_entry, @function\n"
"victim_entry:\n"
"	" ASM_ENDBR
"	xor %eax, %eax\n"
"	mov %edi, %eax\n"
"	add $53, %eax\n"
"	" ASM_RET
"	.size victim_entry, . - victim_entry\n"
"	.popsection\n"
);
EXPORT_SYMBOL_GPL(victim_entry);

static noinline notrace __init int victim_step(int x)
{
	WRITE_ONCE(sink, x);
	return x + 54;
}

static int __init victim_init(void)
{
	int (*step)(int x) = victim_step;

	return READ_ONCE(step)(1) == 55 && READ_ONCE(step)(2) == 56 ? 0 : -EIO;
}

static void __exit victim_exit(void)
{
}

module_init(victim_init);
module_exit(victim_exit);
MODULE_DESCRIPTION("kprobes cases: a module to probe");
MODULE_LICENSE("GPL");
