/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that every detour begins with.
 *
 * It is data here: opt.c copies it to a slot and fills in what the labels mark.
 * A detour is entered by a jump, at any place of kernel code, with any flags.  It
 * builds a whole struct pt_regs, calls kprobe_detour_hit(), restores all and
 * falls into the displaced instructions that opt.c puts behind it.  Nothing
 * between the restored flags and those instructions may change a flag.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>

	.section .rodata, "a"

.macro template_label name
	.globl kprobe_template_\name
kprobe_template_\name:
.endm

template_label start
#ifdef CONFIG_X86_64
	pushq	$__KERNEL_DS
	pushq	%rsp			/* less by one word: kprobe_detour_hit() */
	pushfq
template_label clac
	.byte	0x0f, 0x1f, 0x00	/* clac on a CPU with SMAP */
	pushq	$__KERNEL_CS
template_label ip
	.byte	0x68			/* push the address as a trap would */
	.long	0
	pushq	$-1			/* orig_ax */
	.irp	reg, di, si, dx, cx, ax
	pushq	%r\reg
	.endr
	.irp	reg, 8, 9, 10, 11
	pushq	%r\reg
	.endr
	.irp	reg, bx, bp, 12, 13, 14, 15
	pushq	%r\reg
	.endr
	ENCODE_FRAME_POINTER
	movq	%rsp, %rsi
template_label site
	.byte	0x48, 0xbf		/* movabs $site, %rdi */
	.quad	0
template_label call
	.byte	0xe8			/* call kprobe_detour_hit */
	.long	0
	testl	%eax, %eax
template_label redirect
	.byte	0x0f, 0x85		/* jnz kprobe_detour_redirect */
	.long	0
	.irp	reg, 15, 14, 13, 12, bp, bx
	popq	%r\reg
	.endr
	.irp	reg, 11, 10, 9, 8
	popq	%r\reg
	.endr
	.irp	reg, ax, cx, dx, si, di
	popq	%r\reg
	.endr
	leaq	3*8(%rsp), %rsp		/* orig_ax, ip, cs */
	popfq
	leaq	2*8(%rsp), %rsp		/* sp, ss */
#else
	pushl	%ss
	pushl	%esp			/* less by one word: kprobe_detour_hit() */
	pushfl
template_label clac
	.byte	0x8d, 0x76, 0x00	/* clac on a CPU with SMAP */
	pushl	%cs
template_label ip
	.byte	0x68			/* push the address as a trap would */
	.long	0
	pushl	$-1			/* orig_ax */
	pushl	$0			/* gs */
	.irp	reg, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx
	pushl	%\reg
	.endr
	ENCODE_FRAME_POINTER
	movl	%esp, %edx
template_label site
	.byte	0xb8			/* mov $site, %eax */
	.long	0
template_label call
	.byte	0xe8			/* call kprobe_detour_hit */
	.long	0
	testl	%eax, %eax
template_label redirect
	.byte	0x0f, 0x85		/* jnz kprobe_detour_redirect */
	.long	0
	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
	leal	7*4(%esp), %esp		/* ds, es, fs, gs, orig_ax, ip, cs */
	popfl
	leal	2*4(%esp), %esp		/* sp, ss */
#endif
template_label end

/*
 * A handler has set another instruction pointer.  kprobe_detour_hit() has put
 * that and the flags where they are to be popped last, and the address of the
 * two in place of orig_ax.
 */
	.section .kprobes.text, "ax"
SYM_CODE_START(kprobe_detour_redirect)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
#ifdef CONFIG_X86_64
	.irp	reg, 15, 14, 13, 12, bp, bx, 11, 10, 9, 8, ax, cx, dx, si, di
	popq	%r\reg
	.endr
	popq	%rsp
	popfq
#else
	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
	leal	4*4(%esp), %esp		/* ds, es, fs, gs */
	popl	%esp
	popfl
#endif
	RET
SYM_CODE_END(kprobe_detour_redirect)
