/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _HOST_LINUX_PTRACE_H
#define _HOST_LINUX_PTRACE_H

/* In the order of the registers' numbers, so that tests can index them. */
struct pt_regs {
	unsigned long ax, cx, dx, bx, sp, bp, si, di;
#ifdef CONFIG_X86_64
	unsigned long r8, r9, r10, r11, r12, r13, r14, r15;
#endif
	unsigned long flags, ip;
};

#endif
