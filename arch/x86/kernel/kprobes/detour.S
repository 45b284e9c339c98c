/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of a hit that comes by a jump.
 *
 * Each site has a detour, in a slot of its own:
 *
 *	address of the site
 *	the stub: push ss, sp, flags, cs, ip; call a body
 *	the displaced instructions
 *	a jump back
 *
 * A body completes what the stub has pushed to a struct pt_regs, has the handlers
 * called, restores all registers and returns to the displaced instructions.  The
 * return address lies where orig_ax belongs at first, and in place of ss at last.
 *
 * The general body calls kprobe_detour_hit(), which serves any site.  The others
 * are for sites with one user, or with two.  They have the addresses of the
 * handlers in their code, filled in by body.c, as immediate operands and as
 * targets of direct calls, and serve all sites with the same handlers.  Such a
 * body compares the operand with the handler of the user whom the site names,
 * preemption being off, and calls what it has compared, so that it does not
 * matter if the users have changed since it was chosen.  Whatever does not fit
 * goes the general way.
 *
 * Bodies are kernel text with unwind hints: a stack trace taken in a handler leads
 * through the saved registers to the probed function.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stringify.h>
#include <asm/alternative.h>
#include <asm/asm.h>
#include <asm/cpufeatures.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/processor-flags.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/smap.h>
#include <asm/unwind_hints.h>

#include "detour.h"

#ifdef CONFIG_PREEMPT_COUNT
#define IF_PREEMPT_COUNT(insn...) insn
#else
#define IF_PREEMPT_COUNT(insn...)
#endif

#define PREEMPT_COUNT PER_CPU_VAR(pcpu_hot + DETOUR_PREEMPT_COUNT)

/*
 * Return with the flags as they are, which the thunk that counts the depth of
 * calls would change.  The call of the stub is not counted, so that this return
 * need not be.
 */
.macro ret_keeping_flags
	ALTERNATIVE __stringify(RET), __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
.endm

.macro stub_label name
	.globl kprobe_stub_\name
kprobe_stub_\name:
.endm

#ifdef CONFIG_X86_64
/*
 * The stub, which is data here
 */
	.section .rodata, "a"

stub_label start
	pushq	$__KERNEL_DS
	pushq	%rsp			/* less by a word: begin */
	pushfq
	pushq	$__KERNEL_CS
stub_label ip
	.byte	0x68			/* push the address as a trap would */
	.long	0
stub_label call
	.byte	0xe8			/* call the body */
	.long	0
stub_label end

/*
 * Parts of bodies.  From begin to the end, r12 is the return address, r13 the
 * site; rsi is the registers until the first call.
 */
.macro begin
	UNWIND_HINT_IRET_REGS offset=8
	ANNOTATE_NOENDBR
	.irp	reg, di, si, dx, cx, ax
	pushq	%r\reg
	.endr
	.irp	reg, 8, 9, 10, 11
	pushq	%r\reg
	.endr
	.irp	reg, bx, bp, 12, 13, 14, 15
	pushq	%r\reg
	.endr
	UNWIND_HINT_REGS
	ENCODE_FRAME_POINTER
	movq	ORIG_RAX(%rsp), %r12
	movq	$-1, ORIG_RAX(%rsp)
	movq	-(8 + kprobe_stub_end - kprobe_stub_start)(%r12), %r13
	addq	$8, RSP(%rsp)
	movq	%rsp, %rsi
	IF_PREEMPT_COUNT(incl PREEMPT_COUNT)
.endm

.macro pop_registers
	.irp	reg, 15, 14, 13, 12, bp, bx
	popq	%r\reg
	.endr
	.irp	reg, 11, 10, 9, 8
	popq	%r\reg
	.endr
	.irp	reg, ax, cx, dx, si, di
	popq	%r\reg
	.endr
.endm

/* The flags at the hit in ebx, if C code may run with them. */
.macro take_flags
	movl	EFLAGS(%rsp), %ebx
	testl	$DETOUR_SLOW_FLAGS, %ebx
	jnz	detour_slow
.endm

/* On this CPU no handler is running; from now on one is. */
.macro take_cpu
	cmpq	$0, PER_CPU_VAR(current_kprobe)
	jne	detour_slow
	movq	%r13, PER_CPU_VAR(current_kprobe)
.endm

/* Name a place in the first body of a kind. */
.macro place kind, name
	.ifnb \kind
.L\kind\()_\name:
	.endif
.endm

/* To be filled in: the operand, the target; each in the four bytes before name. */
.macro compare handler:req, kind, name
	cmpq	$0x12345678, \handler
	place	\kind, \name
	jne	detour_slow
.endm

.macro call_handler kind, name
	call	kprobe_detour_hit
	place	\kind, \name
.endm

/* Whoever returned other than 0, or changed the flags, goes the general way. */
.macro release_cpu
	subl	EFLAGS(%rsp), %ebx
	orl	%eax, %ebx
	jnz	detour_changed
	movq	$0, PER_CPU_VAR(current_kprobe)
.endm

/*
 * Only the arithmetic flags differ from what they were.  sahf brings all of them
 * but overflow, which an addition does.
 */
.macro finish
	IF_PREEMPT_COUNT(decl PREEMPT_COUNT)
	IF_PREEMPT_COUNT(jz 8f)
7:	movq	%r12, SS(%rsp)
	movl	EFLAGS(%rsp), %eax
	rolw	$8, %ax			/* flags 0 to 7 in ah; overflow in al */
	addb	$0x78, %al
	sahf
	pop_registers
	leaq	5*8(%rsp), %rsp		/* orig_ax, ip, cs, flags, sp */
	ret_keeping_flags
	IF_PREEMPT_COUNT(8: UNWIND_HINT_REGS)
	IF_PREEMPT_COUNT(call kprobe_detour_resched)
	IF_PREEMPT_COUNT(jmp 7b)
.endm

	.section .kprobes.text, "ax"

SYM_CODE_START(kprobe_detour_general)
	begin
SYM_INNER_LABEL(detour_slow, SYM_L_LOCAL)
	ASM_CLAC
	cld
	movq	%r13, %rdi
	call	kprobe_detour_hit
SYM_INNER_LABEL(detour_finish, SYM_L_LOCAL)
	testl	%eax, %eax
	jnz	kprobe_detour_redirect
	movq	%r12, SS(%rsp)
	pop_registers
	leaq	3*8(%rsp), %rsp		/* orig_ax, ip, cs */
	popfq
	leaq	8(%rsp), %rsp		/* sp */
	ret_keeping_flags
SYM_CODE_END(kprobe_detour_general)

SYM_CODE_START_LOCAL(detour_changed)
	UNWIND_HINT_REGS
	movq	%r13, %rdi
	movq	%rsp, %rsi
	movl	%eax, %edx
	call	kprobe_detour_changed
	jmp	detour_finish
SYM_CODE_END(detour_changed)

.macro body_for_one kind
	place	\kind, start
	begin
	take_flags
	movq	DETOUR_OP_FIRST(%r13), %rdi
	compare	DETOUR_KP_PRE_HANDLER(%rdi), \kind, compare
	take_cpu
	call_handler \kind, call
	release_cpu
	finish
	.balign	64, 0xcc
	place	\kind, end
.endm

	.set	.Llist_to_handler, DETOUR_KP_PRE_HANDLER - DETOUR_KP_LIST

/* The second user is found by the list, at whose end no handler compares. */
.macro body_for_two kind
	place	\kind, start
	begin
	take_flags
	movq	DETOUR_OP_FIRST+8(%r13), %rdi
	compare	DETOUR_KP_PRE_HANDLER(%rdi), \kind, compare
	movq	DETOUR_KP_LIST(%rdi), %r14
	compare	.Llist_to_handler(%r14), \kind, compare2
	take_cpu
	call_handler \kind, call
	testl	%eax, %eax
	jnz	5f
4:	leaq	-DETOUR_KP_LIST(%r14), %rdi
	movq	%rsp, %rsi
	call_handler \kind, call2
	release_cpu
	finish
5:	UNWIND_HINT_REGS
	movq	DETOUR_KP_ADDR(%r13), %rdx
	incq	%rdx			/* ip as the handler found it */
	cmpq	RIP(%rsp), %rdx
	je	4b
	jmp	detour_changed
	.balign	64, 0xcc
	place	\kind, end
.endm

	.balign	64, 0xcc
SYM_CODE_START(kprobe_detour_one)
	body_for_one one
	.rept	DETOUR_BODIES_ONE - 1
	body_for_one
	.endr
SYM_CODE_END(kprobe_detour_one)

SYM_CODE_START(kprobe_detour_two)
	body_for_two two
	.rept	DETOUR_BODIES_TWO - 1
	body_for_two
	.endr
SYM_CODE_END(kprobe_detour_two)

/*
 * Where in a body of each kind the four bytes end that are to be filled in, and
 * how long a body is: struct body_layout in body.c.
 */
	.section .rodata, "a"

	.globl	kprobe_layout_one, kprobe_layout_two
kprobe_layout_one:
	.short	.Lone_compare - .Lone_start, 0
	.short	.Lone_call - .Lone_start, 0
	.short	.Lone_end - .Lone_start
kprobe_layout_two:
	.short	.Ltwo_compare - .Ltwo_start, .Ltwo_compare2 - .Ltwo_start
	.short	.Ltwo_call - .Ltwo_start, .Ltwo_call2 - .Ltwo_start
	.short	.Ltwo_end - .Ltwo_start

#else /* CONFIG_X86_32 */

	.section .rodata, "a"

stub_label start
	pushl	%ss
	pushl	%esp			/* less by a word: the general body */
	pushfl
	pushl	%cs
stub_label ip
	.byte	0x68			/* push the address as a trap would */
	.long	0
stub_label call
	.byte	0xe8			/* call the body */
	.long	0
stub_label end

	.section .kprobes.text, "ax"

SYM_CODE_START(kprobe_detour_general)
	pushl	$0			/* gs */
	.irp	reg, fs, es, ds, eax, ebp, edi, esi, edx, ecx, ebx
	pushl	%\reg
	.endr
	ENCODE_FRAME_POINTER
	movl	4*ORIG_EAX(%esp), %esi
	movl	$-1, 4*ORIG_EAX(%esp)
	movl	-(4 + kprobe_stub_end - kprobe_stub_start)(%esi), %eax
	addl	$4, 4*UESP(%esp)
	movl	%esp, %edx
	IF_PREEMPT_COUNT(incl PREEMPT_COUNT)
	ASM_CLAC
	cld
	call	kprobe_detour_hit
	testl	%eax, %eax
	jnz	kprobe_detour_redirect
	movl	%esi, 4*SS(%esp)
	.irp	reg, ebx, ecx, edx, esi, edi, ebp, eax
	popl	%\reg
	.endr
	leal	7*4(%esp), %esp		/* ds, es, fs, gs, orig_ax, ip, cs */
	popfl
	leal	4(%esp), %esp		/* sp */
	ret_keeping_flags
SYM_CODE_END(kprobe_detour_general)
#endif

	.section .kprobes.text, "ax"

/*
 * A handler has set another instruction pointer.  C code has put that and the
 * flags where they are to be popped last, and the address of the two in place of
 * orig_ax.
 */
SYM_CODE_START(kprobe_detour_redirect)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
#ifdef CONFIG_X86_64
	pop_registers
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
	ret_keeping_flags
SYM_CODE_END(kprobe_detour_redirect)
