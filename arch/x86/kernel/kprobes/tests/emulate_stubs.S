/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One instruction a stub, between a given state of the machine before it and a
 * record of the state behind it.
 *
 * emu_enter() fills a stretch of the stack, loads flags and all registers, and
 * jumps to the stub.  The stub is left at one of the landings, which notes which
 * one it was, and the common tail records registers, flags and stack.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#include "emulate_stubs.h"

#ifdef CONFIG_X86_64
#define M(off)		emu_machine+(off)(%rip)
#define STUB_WORD	.quad
#define REG_AX		%rax
#define REG_BX		%rbx
#define REG_CX		%rcx
#define REG_DX		%rdx
#define REG_SP		%rsp
#define REG_BP		%rbp
#define REG_SI		%rsi
#define REG_DI		%rdi
#else
#define M(off)		emu_machine+(off)
#define STUB_WORD	.long
#define REG_AX		%eax
#define REG_BX		%ebx
#define REG_CX		%ecx
#define REG_DX		%edx
#define REG_SP		%esp
#define REG_BP		%ebp
#define REG_SI		%esi
#define REG_DI		%edi
#endif

#define IN(nr)		M(EMU_IN_REGS + (nr) * EMU_WORD)
#define OUT(nr)		M(EMU_OUT_REGS + (nr) * EMU_WORD)

/*
 * From the caller's stack pointer upwards: room for exceptions that come while
 * the stack pointer is in the stretch, the stretch, then what the caller saved.
 */
#define ROOM		2048
#define FRAME		(ROOM + EMU_STACK_BYTES)

	.text

SYM_CODE_START(emu_enter)
	UNWIND_HINT_UNDEFINED
	ENDBR
	push	REG_BX
	push	REG_BP
#ifdef CONFIG_X86_64
	push	%r12
	push	%r13
	push	%r14
	push	%r15
#else
	push	REG_SI
	push	REG_DI
#endif
	pushf
	__ASM_SIZE(pop) M(EMU_HOST_FLAGS)
	sub	$FRAME, REG_SP
	mov	REG_SP, M(EMU_HOST_SP)

	lea	M(EMU_IN_STACK), REG_SI
	lea	ROOM(REG_SP), REG_DI
	mov	$EMU_STACK_BYTES, %ecx
	cld
	rep movsb

	lea	(ROOM + EMU_STACK_BYTES / 2)(REG_SP), REG_AX
	mov	REG_AX, IN(4)
	__ASM_SIZE(push) M(EMU_IN_FLAGS)
	popf
	mov	IN(0), REG_AX
	mov	IN(1), REG_CX
	mov	IN(2), REG_DX
	mov	IN(3), REG_BX
	mov	IN(5), REG_BP
	mov	IN(6), REG_SI
	mov	IN(7), REG_DI
#ifdef CONFIG_X86_64
	mov	IN(8), %r8
	mov	IN(9), %r9
	mov	IN(10), %r10
	mov	IN(11), %r11
	mov	IN(12), %r12
	mov	IN(13), %r13
	mov	IN(14), %r14
	mov	IN(15), %r15
#endif
	mov	IN(4), REG_SP
	ANNOTATE_RETPOLINE_SAFE
	jmp	*M(EMU_ENTRY)
	int3
SYM_CODE_END(emu_enter)

SYM_CODE_START_LOCAL(emu_leave)
	UNWIND_HINT_UNDEFINED
	mov	REG_AX, OUT(0)
	mov	REG_CX, OUT(1)
	mov	REG_DX, OUT(2)
	mov	REG_BX, OUT(3)
	mov	REG_SP, OUT(4)
	mov	REG_BP, OUT(5)
	mov	REG_SI, OUT(6)
	mov	REG_DI, OUT(7)
#ifdef CONFIG_X86_64
	mov	%r8, OUT(8)
	mov	%r9, OUT(9)
	mov	%r10, OUT(10)
	mov	%r11, OUT(11)
	mov	%r12, OUT(12)
	mov	%r13, OUT(13)
	mov	%r14, OUT(14)
	mov	%r15, OUT(15)
#endif
	mov	M(EMU_HOST_SP), REG_SP
	pushf
	__ASM_SIZE(pop) M(EMU_OUT_FLAGS)
	__ASM_SIZE(push) M(EMU_HOST_FLAGS)
	popf

	lea	ROOM(REG_SP), REG_SI
	lea	M(EMU_OUT_STACK), REG_DI
	mov	$EMU_STACK_BYTES, %ecx
	cld
	rep movsb

	add	$FRAME, REG_SP
#ifdef CONFIG_X86_64
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
#else
	pop	REG_DI
	pop	REG_SI
#endif
	pop	REG_BP
	pop	REG_BX
	RET
SYM_CODE_END(emu_leave)

.macro landing name, number
SYM_CODE_START(\name)
	UNWIND_HINT_UNDEFINED
	ENDBR
	__ASM_SIZE(mov)	$\number, M(EMU_LANDING)
	jmp	emu_leave
SYM_CODE_END(\name)
.endm

	landing	emu_left_through, EMU_FALL_THROUGH
	landing	emu_left_ahead, EMU_AHEAD
	landing	emu_left_behind, EMU_BEHIND
	landing	emu_left_far, EMU_FAR
	landing	emu_left_indirect, EMU_INDIRECT
	landing	emu_left_return, EMU_RETURN

	.section .rodata
	.balign	EMU_WORD
SYM_DATA_START(emu_stubs)
	.text

/*
 * A stub begins and ends like this.  Its instruction may branch to "ahead" and
 * "behind", in reach of a short branch.  The nops are there so that it is not
 * the entry of its function, and that there is room behind it.  The hints tell
 * objtool of code that not every instruction goes to.
 */
.macro begin_stub name
SYM_CODE_START_LOCAL(emu_stub_\name)
	UNWIND_HINT_UNDEFINED
	ENDBR
	jmp	1f
	UNWIND_HINT_UNDEFINED
0:	jmp	emu_left_behind
1:	nop
	ANNOTATE_NOENDBR
.Linsn_\name:
.endm

.macro end_stub name, kind
	UNWIND_HINT_UNDEFINED
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	jmp	emu_left_through
	UNWIND_HINT_UNDEFINED
2:	jmp	emu_left_ahead
SYM_CODE_END(emu_stub_\name)

	.section .rodata
	STUB_WORD 3f, emu_stub_\name, .Linsn_\name, \kind
	.section .rodata.str1.1, "aMS", @progbits, 1
3:	.asciz	"\name"
	.text
.endm

.macro stub name, kind, insn:vararg
	begin_stub \name
	\insn
	end_stub \name, \kind
.endm

/*
 * The same for indirect branches and returns, which objtool is to let pass.  What
 * does not come back has nothing but padding behind it.
 */
.macro call_stub name, insn:vararg
	begin_stub \name
	ANNOTATE_RETPOLINE_SAFE
	\insn
	end_stub \name, EMU_PLAIN
.endm

.macro leave_stub name, insn:vararg
	begin_stub \name
	ANNOTATE_RETPOLINE_SAFE
	\insn
	.skip	8, 0xcc
	end_stub \name, EMU_PLAIN
.endm

.irp cond, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	stub	j\cond\()_ahead, EMU_PLAIN, j\cond 2f
	stub	j\cond\()_behind, EMU_PLAIN, j\cond 0b
	stub	j\cond\()_far, EMU_PLAIN, j\cond emu_left_far
.endr

	stub	loop, EMU_PLAIN, loop 2f
	stub	loope, EMU_PLAIN, loope 0b
	stub	loopne, EMU_PLAIN, loopne 2f
	stub	jcxz, EMU_PLAIN, .byte 0xe3, 2f - (. + 1)
	stub	loop_half, EMU_PLAIN, .byte 0x67, 0xe2, 2f - (. + 1)
	stub	loope_half, EMU_PLAIN, .byte 0x67, 0xe1, 2f - (. + 1)
	stub	loopne_half, EMU_PLAIN, .byte 0x67, 0xe0, 2f - (. + 1)
	stub	jcxz_half, EMU_PLAIN, .byte 0x67, 0xe3, 2f - (. + 1)

	stub	jmp_ahead, EMU_PLAIN, jmp 2f
	stub	jmp_behind, EMU_PLAIN, jmp 0b
	stub	jmp_far, EMU_PLAIN, jmp emu_left_far
	stub	call_far, EMU_PLAIN, call emu_left_far

	leave_stub	jmp_ax, jmp *REG_AX
	leave_stub	jmp_bp, jmp *REG_BP
	call_stub	call_ax, call *REG_AX
	call_stub	call_di, call *REG_DI
	leave_stub	jmp_slot, jmp *(REG_BX)
	leave_stub	jmp_slot_disp8, jmp *EMU_WORD(REG_BX)
	leave_stub	jmp_slot_index, jmp *(REG_BX, REG_SI, EMU_WORD)
	leave_stub	jmp_slot_symbol, jmp *M(EMU_SLOTS)
	leave_stub	jmp_slot_table, jmp *emu_machine + EMU_SLOTS(, REG_SI, EMU_WORD)
	leave_stub	jmp_stack, jmp *EMU_WORD(REG_SP)
	call_stub	call_slot, call *(REG_BX)
	call_stub	call_slot_disp8, call *EMU_WORD(REG_BX)
	call_stub	call_slot_index, call *-EMU_WORD(REG_BX, REG_SI, EMU_WORD)
	call_stub	call_slot_symbol, call *M(EMU_SLOTS)
	call_stub	call_slot_table, call *emu_machine + EMU_SLOTS(, REG_SI, EMU_WORD)
	call_stub	call_stack, call *(REG_SP)
	call_stub	call_stack_disp8, call *(2 * EMU_WORD)(REG_SP)
	call_stub	call_stack_index, call *EMU_WORD(REG_SP, REG_SI, EMU_WORD)

	leave_stub	ret, ret
	leave_stub	ret_word, ret $EMU_WORD
	leave_stub	ret_words, ret $(3 * EMU_WORD)
	leave_stub	rep_ret, .byte 0xf3, 0xc3

	stub	pushf, EMU_PLAIN, pushf
	stub	popf, EMU_POPS_FLAGS, popf
	stub	cli, EMU_PLAIN, cli
	stub	sti, EMU_PLAIN, sti

	stub	load, EMU_PLAIN, mov M(EMU_DATA), REG_AX
	stub	store, EMU_PLAIN, mov REG_CX, M(EMU_DATA)
	stub	store_imm, EMU_PLAIN, movl $0x12345678, M(EMU_DATA)
	stub	lea, EMU_PLAIN, lea M(EMU_DATA), REG_SI
	stub	adc_memory, EMU_PLAIN, adc REG_CX, M(EMU_DATA)
	stub	sub_imm_memory, EMU_PLAIN, subl $7, M(EMU_DATA)
	stub	xadd, EMU_PLAIN, lock xadd REG_CX, M(EMU_DATA)
	stub	cmpxchg, EMU_PLAIN, lock cmpxchg REG_CX, M(EMU_DATA)
	stub	push_memory, EMU_PLAIN, __ASM_SIZE(push) M(EMU_DATA)
	stub	pop_memory, EMU_PLAIN, __ASM_SIZE(pop) M(EMU_DATA)
	stub	setl, EMU_PLAIN, setl M(EMU_DATA)
	stub	cmovbe, EMU_PLAIN, cmovbe M(EMU_DATA), REG_AX
	stub	bts, EMU_PLAIN, btsl $3, M(EMU_DATA)
	stub	push_ax, EMU_PLAIN, push REG_AX
	stub	push_sp, EMU_PLAIN, push REG_SP
	stub	pop_si, EMU_PLAIN, pop REG_SI
	stub	lea_sp, EMU_PLAIN, lea EMU_WORD(REG_SP), REG_SP
	stub	mov_sp, EMU_PLAIN, mov REG_SP, REG_AX
	stub	imul, EMU_PLAIN, imul REG_CX, REG_AX
	stub	rcr, EMU_PLAIN, rcr REG_DX
	stub	sbb, EMU_PLAIN, sbb REG_CX, REG_DX
	stub	bswap, EMU_PLAIN, bswap REG_AX
	stub	nop_long, EMU_PLAIN, .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	stub	std, EMU_PLAIN, std
	stub	cmc, EMU_PLAIN, cmc
	stub	rep_movsb, EMU_STRING, rep movsb
	stub	rep_stosb, EMU_STRING, rep stosb
	stub	repne_scasb, EMU_STRING, repne scasb
#ifdef CONFIG_X86_64
	leave_stub	jmp_r11, jmp *%r11
	leave_stub	jmp_r12, jmp *%r12
	call_stub	call_r8, call *%r8
	call_stub	call_r13, call *%r13
	leave_stub	jmp_slot_r14, jmp *(%rbx, %r14, 8)
#endif
	/* Last, as not every CPU has them. */
	stub	lahf, EMU_NEEDS_LAHF, lahf
	stub	sahf, EMU_NEEDS_LAHF, sahf

	.section .rodata
SYM_DATA_END_LABEL(emu_stubs, SYM_L_GLOBAL, emu_stubs_end)

	.section .note.GNU-stack, "", @progbits
