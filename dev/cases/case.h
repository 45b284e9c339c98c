/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the case modules share. A case says "CASE <name> ok" or "CASE <name>
 * FAIL <why>" once; a module loads when it could run its case, whatever the
 * verdict.
 */
#ifndef _DEV_CASES_CASE_H
#define _DEV_CASES_CASE_H

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kmod.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/umh.h>

#define JUMP_OPCODE	0xe9
#define TRAP_OPCODE	0xcc

/* Optimization is asked for at most this long; a case is right without it, too. */
#define OPTIMIZE_MS	2000

/*
 * The address of the local label .Lat_<name>, for C. Any other label would be a
 * symbol, and what is probed the beginning of a function.
 */
#define CASE_PLACE(name)						\
	"	.pushsection .rodata\n"				\
	"	.balign 8\n"						\
	"	.globl place_" #name "\n"				\
	"place_" #name ":\n"						\
	"	.quad .Lat_" #name "\n"				\
	"	.popsection\n"

/* Bytes of the ENDBR at a function's start. */
#ifdef CONFIG_X86_KERNEL_IBT
#define CASE_ENDBR	4
#else
#define CASE_ENDBR	0
#endif

/*
 * A function of two instructions that a jump replaces together: x + 24. In front
 * of it is room for what the kernel may make its callers enter it through.
 */
#define CASE_PAIR(function)						\
"	.pushsection .text\n"						\
"	.balign 16\n"							\
"	.skip 16, 0x90\n"						\
"	.type " #function ", @function\n"				\
#function ":\n"							\
"	" ASM_ENDBR							\
"	nop\n"								\
".Lat_pair:\n"								\
"	" ANNOTATE_NOENDBR						\
"	mov %edi, %eax\n"						\
"	add $24, %eax\n"						\
"	" ASM_RET							\
"	.size " #function ", . - " #function "\n"			\
CASE_PLACE(pair)							\
"	.popsection\n"

struct case_probe {
	struct kprobe kp;
	unsigned long hits;
	unsigned long posts;
};

static __maybe_unused int case_pre(struct kprobe *kp, struct pt_regs *regs)
{
	container_of(kp, struct case_probe, kp)->hits++;
	return 0;
}

static __maybe_unused void case_post(struct kprobe *kp, struct pt_regs *regs,
				     unsigned long flags)
{
	container_of(kp, struct case_probe, kp)->posts++;
}

static inline void case_aim(struct case_probe *cp, void *addr, const char *symbol)
{
	*cp = (struct case_probe){
		.kp.addr = addr,
		.kp.symbol_name = symbol,
		.kp.pre_handler = case_pre,
	};
}

static inline u8 case_byte(const void *addr)
{
	return READ_ONCE(*(const u8 *)addr);
}

/* Whether the jump is there, at once or before the time is up. */
static inline bool case_wait_jump(const void *addr)
{
	unsigned long end = jiffies + msecs_to_jiffies(OPTIMIZE_MS);

	while (case_byte(addr) != JUMP_OPCODE) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(5000, 10000);
	}
	return true;
}

static inline bool case_wait_byte(const void *addr, u8 byte)
{
	unsigned long end = jiffies + msecs_to_jiffies(OPTIMIZE_MS);

	while (case_byte(addr) != byte) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(5000, 10000);
	}
	return true;
}

/* Run a command line in user space; its exit status, or a negative errno. */
static inline int case_shell(const char *command)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	char *envp[] = { "PATH=/bin:/sbin:/usr/bin:/usr/sbin", "HOME=/", NULL };
	int ret = call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);

	return ret < 0 ? ret : ret >> 8;
}

/* Whether debugfs says this of an address: state, bytes replaced, reason. */
static inline bool case_says(const void *addr, const char *words)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "grep '^%016lx ' /sys/kernel/debug/kprobes/optimization | grep -q ' %s$'",
		 (unsigned long)addr, words);
	return !case_shell(command);
}

static __printf(3, 4) __maybe_unused
void case_verdict(const char *name, bool good, const char *why, ...)
{
	struct va_format vaf = { .fmt = why };
	va_list args;

	if (good) {
		pr_info("CASE %s ok\n", name);
		return;
	}
	va_start(args, why);
	vaf.va = &args;
	pr_info("CASE %s FAIL %pV\n", name, &vaf);
	va_end(args);
}

#endif /* _DEV_CASES_CASE_H */
