// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carrying instructions out on saved registers.
 *
 * One function a class.  Each leaves the registers, the flags and the stack as
 * the CPU would have left them, or nothing changed at all if the CPU would have
 * faulted.  They run in the breakpoint's handler: nothing here may be probed,
 * and nothing here calls what may be.
 */
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#include "insn.h"

/* Registers by their numbers in ModRM, SIB and REX. */
#define REG(number, name) \
	[number] = offsetof(struct pt_regs, name)

static const u8 reg_offset[] = {
	REG(0, ax), REG(1, cx), REG(2, dx), REG(3, bx),
	REG(4, sp), REG(5, bp), REG(6, si), REG(7, di),
#ifdef CONFIG_X86_64
	REG(8, r8), REG(9, r9), REG(10, r10), REG(11, r11),
	REG(12, r12), REG(13, r13), REG(14, r14), REG(15, r15),
#endif
};

static __always_inline unsigned long read_reg(const struct pt_regs *regs, u8 reg)
{
	return *(const unsigned long *)((const u8 *)regs + reg_offset[reg]);
}

/* A jump to an address that is not canonical faults where it stands. */
static __always_inline bool may_jump_to(unsigned long target)
{
#ifdef CONFIG_X86_64
	return __is_canonical_address(target, boot_cpu_data.x86_virt_bits);
#else
	return true;
#endif
}

/*
 * Read a word that may not be there.  User addresses are left to the real
 * instruction: if SMAP forbids the access, a fixup would not save us.  The
 * accessors used are inline; copy_from_kernel_nofault() could be probed.
 */
static __always_inline bool read_word(unsigned long *word, unsigned long addr)
{
#ifdef __KERNEL__
	unsigned long last = addr + sizeof(*word) - 1;

	if (addr < TASK_SIZE_MAX || last < addr ||
	    !may_jump_to(addr) || !may_jump_to(last))
		return false;

	pagefault_disable();
	__get_kernel_nofault(word, (void *)addr, unsigned long, unreadable);
	pagefault_enable();
	return true;

unreadable:
	pagefault_enable();
	return false;
#else
	*word = *(unsigned long *)addr;
	return true;
#endif
}

/* SDM volume 2, appendix B, "Condition Test (tttn) Field". */
static __always_inline bool condition_holds(unsigned long flags, u8 cond)
{
	/* By condition code, less its lowest bit, which negates. */
	static const u16 any_of[8] = {
		X86_EFLAGS_OF, X86_EFLAGS_CF, X86_EFLAGS_ZF,
		X86_EFLAGS_CF | X86_EFLAGS_ZF, X86_EFLAGS_SF, X86_EFLAGS_PF,
		0, X86_EFLAGS_ZF,
	};
	bool holds = flags & any_of[cond >> 1];

	/* The last two hold also if the sign is not that of the true result. */
	if (cond >= 12)
		holds |= !(flags & X86_EFLAGS_SF) != !(flags & X86_EFLAGS_OF);
	return holds != (cond & 1);
}

/* The bits of a counter or address of @bytes bytes. */
static __always_inline unsigned long width_mask(u8 bytes)
{
	return ~0UL >> (8 * (sizeof(long) - bytes));
}

/*
 * Where an indirect branch goes: the register, or the word that the memory
 * operand names.  @next is the address of the next instruction.
 */
static __always_inline bool read_target(unsigned long *target,
					const struct kprobe_operands *op,
					const struct pt_regs *regs,
					unsigned long next)
{
	unsigned long addr = op->disp;

	if (!op->memory) {
		*target = read_reg(regs, op->base);
		return may_jump_to(*target);
	}

	if (op->base == KPROBE_REG_IP)
		addr += next;
	else if (op->base != KPROBE_NO_REG)
		addr += read_reg(regs, op->base);
	if (op->index != KPROBE_NO_REG)
		addr += read_reg(regs, op->index) << op->scale;

	return read_word(target, addr) && may_jump_to(*target);
}

static bool emulate_cli(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip)
{
	regs->flags &= ~X86_EFLAGS_IF;
	regs->ip = ip + op->size;
	return true;
}

NOKPROBE_SYMBOL(emulate_cli);

static bool emulate_sti(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip)
{
	regs->flags |= X86_EFLAGS_IF;
	regs->ip = ip + op->size;
	return true;
}

NOKPROBE_SYMBOL(emulate_sti);

/* SDM volume 2, "PUSHF": the image on the stack has VM and RF clear. */
static bool emulate_pushf(const struct kprobe_operands *op, struct pt_regs *regs,
			  unsigned long ip)
{
	int3_emulate_push(regs, regs->flags & ~(X86_EFLAGS_VM | X86_EFLAGS_RF));
	regs->ip = ip + op->size;
	return true;
}

NOKPROBE_SYMBOL(emulate_pushf);

/* What popf can change in ring 0, and what it leaves as it is: SDM, "POPF". */
#define POPF_LOADS	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |	\
			 X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF |	\
			 X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_OF |	\
			 X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_AC |	\
			 X86_EFLAGS_ID)
#define POPF_KEEPS	(X86_EFLAGS_FIXED | X86_EFLAGS_VM | X86_EFLAGS_VIF |	\
			 X86_EFLAGS_VIP)

/* Neither loaded nor kept, RF comes out clear. */
static bool emulate_popf(const struct kprobe_operands *op, struct pt_regs *regs,
			 unsigned long ip)
{
	unsigned long image = int3_emulate_pop(regs);

	regs->flags = (regs->flags & POPF_KEEPS) | (image & POPF_LOADS);
	regs->ip = ip + op->size;
	return true;
}

NOKPROBE_SYMBOL(emulate_popf);

static bool emulate_ret(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip)
{
	unsigned long target = *(unsigned long *)regs->sp;

	if (!may_jump_to(target))
		return false;
	regs->sp += sizeof(target) + op->pop;
	regs->ip = target;
	return true;
}

NOKPROBE_SYMBOL(emulate_ret);

static bool emulate_call(const struct kprobe_operands *op, struct pt_regs *regs,
			 unsigned long ip)
{
	unsigned long next = ip + op->size;

	int3_emulate_push(regs, next);
	regs->ip = next + (long)op->disp;
	return true;
}

NOKPROBE_SYMBOL(emulate_call);

static bool emulate_jmp(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip)
{
	regs->ip = ip + op->size + (long)op->disp;
	return true;
}

NOKPROBE_SYMBOL(emulate_jmp);

static bool emulate_jcc(const struct kprobe_operands *op, struct pt_regs *regs,
			unsigned long ip)
{
	bool taken = condition_holds(regs->flags, op->cond);

	regs->ip = ip + op->size + (taken ? (long)op->disp : 0);
	return true;
}

NOKPROBE_SYMBOL(emulate_jcc);

/*
 * SDM volume 2, "LOOP/LOOPcc" and "Jcc": the loop forms decrement first and
 * test what is left, jcxz only tests.  A 32-bit counter clears the upper half
 * of its 64-bit register, a 16-bit one leaves it.
 */
static bool emulate_loop(const struct kprobe_operands *op, struct pt_regs *regs,
			 unsigned long ip)
{
	unsigned long mask = width_mask(op->addr_bytes);
	unsigned long count = regs->cx & mask;
	bool zf = regs->flags & X86_EFLAGS_ZF;
	bool taken = count == 0;

	if (op->cond != 3) {
		count = (count - 1) & mask;
		taken = count != 0 && (op->cond == 2 || zf == op->cond);
		if (op->addr_bytes == 2)
			count |= regs->cx & ~mask;
		regs->cx = count;
	}
	regs->ip = ip + op->size + (taken ? (long)op->disp : 0);
	return true;
}

NOKPROBE_SYMBOL(emulate_loop);

/* The operand is read before the stack pointer moves. */
static bool emulate_call_ind(const struct kprobe_operands *op,
			     struct pt_regs *regs, unsigned long ip)
{
	unsigned long next = ip + op->size;
	unsigned long target;

	if (!read_target(&target, op, regs, next))
		return false;
	int3_emulate_push(regs, next);
	regs->ip = target;
	return true;
}

NOKPROBE_SYMBOL(emulate_call_ind);

static bool emulate_jmp_ind(const struct kprobe_operands *op,
			    struct pt_regs *regs, unsigned long ip)
{
	unsigned long target;

	if (!read_target(&target, op, regs, ip + op->size))
		return false;
	regs->ip = target;
	return true;
}

NOKPROBE_SYMBOL(emulate_jmp_ind);

const struct kprobe_insn_ops kprobe_insn_ops[KPROBE_INSN_NR] = {
	[KPROBE_INSN_STEP] = {
		.name = "step", .falls_through = true,
	},
	[KPROBE_INSN_BOOST] = {
		.name = "boost", .falls_through = true,
	},
	[KPROBE_INSN_CLI] = {
		.name = "cli", .emulate = emulate_cli, .falls_through = true,
	},
	[KPROBE_INSN_STI] = {
		.name = "sti", .emulate = emulate_sti, .falls_through = true,
	},
	[KPROBE_INSN_PUSHF] = {
		.name = "pushf", .emulate = emulate_pushf, .falls_through = true,
	},
	[KPROBE_INSN_POPF] = {
		.name = "popf", .emulate = emulate_popf, .falls_through = true,
	},
	[KPROBE_INSN_RET] = {
		.name = "ret", .emulate = emulate_ret,
	},
	[KPROBE_INSN_CALL] = {
		.name = "call", .emulate = emulate_call, .falls_through = true,
	},
	[KPROBE_INSN_JMP] = {
		.name = "jmp", .emulate = emulate_jmp,
	},
	[KPROBE_INSN_JCC] = {
		.name = "jcc", .emulate = emulate_jcc, .falls_through = true,
	},
	[KPROBE_INSN_LOOP] = {
		.name = "loop", .emulate = emulate_loop, .falls_through = true,
	},
	[KPROBE_INSN_CALL_IND] = {
		.name = "call-indirect", .emulate = emulate_call_ind,
		.falls_through = true,
	},
	[KPROBE_INSN_JMP_IND] = {
		.name = "jmp-indirect", .emulate = emulate_jmp_ind,
	},
};
