// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: what the generic core asks of the architecture, in the order of a
 * probe's life.  Hits are handled in trap.c.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cfi.h>
#include <linux/execmem.h>
#include <linux/extable.h>
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "common.h"

/* A function that returns on another stack than it was called on. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{}
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);

/*
 * Reading text as if no probe were there
 */

/* Undo what the site at @at, if any, has written into the bytes read. */
static void undo_site(u8 *dst, unsigned long addr, size_t len, unsigned long at)
{
	struct kprobe *p = get_kprobe((void *)at);
	u8 original[JMP32_INSN_SIZE];
	int nr = 1, i;

	if (!p || kprobe_ftrace(p))
		return;
	original[0] = p->opcode;
#ifdef CONFIG_OPTPROBES
	if (kprobe_optimized(p)) {
		struct optimized_kprobe *op;

		op = container_of(p, struct optimized_kprobe, kp);
		memcpy(original + 1, op->optinsn.copied_insn, DISP32_SIZE);
		nr = JMP32_INSN_SIZE;
	}
#endif
	for (i = 0; i < nr; i++) {
		if (at + i >= addr && at + i < addr + len)
			dst[at + i - addr] = original[i];
	}
}

static int read_text(u8 *dst, unsigned long addr, size_t len,
		     unsigned long last_site)
{
	unsigned long at;

	if (copy_from_kernel_nofault(dst, (void *)addr, len))
		return -EFAULT;
	for (at = addr - DISP32_SIZE; at <= last_site; at++)
		undo_site(dst, addr, len, at);
	return 0;
}

/**
 * kprobe_read_text() - read text without the probes in it
 * @dst:	where to
 * @addr:	address of the first byte
 * @len:	bytes to read
 *
 * What other patchers have written is read as it is.
 *
 * Context: text_mutex is held, and kprobe_mutex or an RCU reader.
 * Return: 0, or -EFAULT if the text is not mapped.
 */
int kprobe_read_text(u8 *dst, unsigned long addr, size_t len)
{
	return read_text(dst, addr, len, addr + len - 1);
}

/* Bytes up to the end of an instruction, but never of a page that is not there. */
static int readable(unsigned long addr)
{
	u8 byte;

	if (offset_in_page(addr) + MAX_INSN_SIZE <= PAGE_SIZE ||
	    !copy_from_kernel_nofault(&byte, (void *)addr + MAX_INSN_SIZE, 1))
		return MAX_INSN_SIZE;
	return PAGE_SIZE - offset_in_page(addr);
}

/**
 * kprobe_read_insn() - read and classify an instruction, without probes in it
 * @insn:	is filled in
 * @bytes:	is filled with the bytes, MAX_INSN_SIZE of them or as many as
 *		there are
 * @addr:	address of an instruction
 *
 * Context: kprobe_mutex and text_mutex are held.
 * Return: 0, or -EFAULT if the text is not mapped.
 */
int kprobe_read_insn(struct kprobe_insn *insn, u8 *bytes, unsigned long addr)
{
	int avail = readable(addr);

	/* A site behind the first byte belongs to another instruction. */
	if (read_text(bytes, addr, avail, addr))
		return -EFAULT;
	kprobe_insn_classify(insn, bytes, avail);
	return 0;
}

/*
 * May an instruction be probed?
 */

/* A breakpoint that a debugger has put there hides an instruction. */
static bool debugger_breakpoint(u8 byte, unsigned long addr)
{
#ifdef CONFIG_KGDB
	return byte == INT3_INSN_OPCODE && kgdb_has_hit_break(addr);
#else
	return false;
#endif
}

/* Does an instruction begin at @addr?  Known for the start of a symbol only. */
static bool insn_begins(unsigned long addr)
{
	unsigned long offset, at;
	u8 bytes[MAX_INSN_SIZE];
	struct kprobe_insn insn;

	if (!kallsyms_lookup_size_offset(addr, NULL, &offset))
		return false;
	for (at = addr - offset; at < addr; at += insn.size) {
		if (kprobe_read_insn(&insn, bytes, at) || !insn.size ||
		    debugger_breakpoint(bytes[0], at))
			return false;
		cond_resched();
	}
	return at == addr;
}

/* The trap of a failed CFI check decodes the instructions before it. */
static bool read_by_cfi(const u8 *bytes, unsigned long addr)
{
	/* mov $-hash, %r10d; add -4(%target), %r10d; je over; ud2 */
	if (bytes[0] == 0x41 && bytes[1] == 0xba)
		return is_cfi_trap(addr + 12);
	if ((bytes[0] & 0xf0) == 0x40 && bytes[1] == 0x03)
		return is_cfi_trap(addr + 6);
	return false;
}

/* An indirect branch must find the ENDBR itself there. */
static bool landing_pad(const u8 *bytes)
{
	u32 word;

	memcpy(&word, bytes, sizeof(word));
	return IS_ENABLED(CONFIG_X86_KERNEL_IBT) && is_endbr(word);
}

static int refusal_errno(enum kprobe_insn_refusal refusal)
{
	switch (refusal) {
	case KPROBE_INSN_OK:
		return 0;
	case KPROBE_INSN_UNDECODABLE:
	case KPROBE_INSN_TRAP:
		return -EILSEQ;
	case KPROBE_INSN_FORCED_EMULATION:
	case KPROBE_INSN_MASKING:
		return -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * kprobe_alternatives_reserved() - is that a lock prefix that may be patched?
 * @bytes:	an instruction
 * @addr:	its address
 *
 * On a machine with one CPU lock prefixes become ds prefixes, and back when
 * another CPU comes.  Only for those is the list of them searched.
 *
 * Context: text_mutex is held.
 * Return: whether it is.
 */
bool kprobe_alternatives_reserved(const u8 *bytes, unsigned long addr)
{
	/* The range ends before its second argument. */
	return (bytes[0] == 0xf0 || bytes[0] == 0x3e) &&
	       alternatives_text_reserved((void *)addr, (void *)addr + 1);
}

static int refuse(unsigned long addr, int err, const char *why)
{
	pr_debug("%pS: %s (%d)\n", (void *)addr, why, err);
	return err;
}

static int check_insn(struct kprobe_insn *insn, u8 *bytes, unsigned long addr)
{
	if (!insn_begins(addr))
		return refuse(addr, -EILSEQ, "no instruction begins there");
	if (kprobe_read_insn(insn, bytes, addr))
		return refuse(addr, -EILSEQ, "cannot be read");
	if (debugger_breakpoint(bytes[0], addr))
		return refuse(addr, -EILSEQ, "a debugger's breakpoint");
	if (landing_pad(bytes))
		return refuse(addr, -EILSEQ, "a landing pad");
	if (read_by_cfi(bytes, addr))
		return refuse(addr, -EILSEQ, "read by the trap of a CFI check");
	if (insn->refusal)
		return refuse(addr, refusal_errno(insn->refusal),
			      kprobe_insn_refusal_name(insn->refusal));
	if (kprobe_alternatives_reserved(bytes, addr))
		return refuse(addr, -EINVAL, "a lock prefix that may be patched");
	return 0;
}

/**
 * arch_adjust_kprobe_addr() - keep a probe on a function's entry off its ENDBR
 * @addr:	where the function begins
 * @offset:	bytes from there
 * @on_func_entry: is set to whether that is the function's entry
 *
 * Context: process context.
 * Return: the address, or NULL if it cannot be read.
 */
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr,
					 unsigned long offset,
					 bool *on_func_entry)
{
	unsigned long pad = 0;
	u32 word;

	if (get_kernel_nofault(word, (u32 *)addr))
		return NULL;
	if (is_endbr(word))
		pad = sizeof(word);
	*on_func_entry = offset == 0 || offset == pad;
	return (kprobe_opcode_t *)(addr + (*on_func_entry ? pad : offset));
}

/*
 * The slot
 *
 * An instruction of class BOOST has two copies in it, the first with a jump
 * back, the second with a trap, for when there is a post_handler.  Others have
 * the second only; relative branches, which are emulated always, have none.
 */

/**
 * alloc_insn_page() - get a page of slots
 *
 * What no slot has been taken of traps.  From now on it is written by
 * text_poke() alone.
 *
 * Context: may sleep.
 * Return: a page in reach of the kernel's own text, or NULL.
 */
void *alloc_insn_page(void)
{
	void *page = execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);

	if (!page)
		return NULL;
	memset(page, INT3_INSN_OPCODE, PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}
	return page;
}

struct slot_plan {
	u8 code[2 * MAX_INSN_SIZE + JMP32_INSN_SIZE + INT3_INSN_SIZE];
	int len;
	bool boost;
};

static int slot_size(const struct kprobe_insn *insn, bool boost)
{
	int step = insn->size + INT3_INSN_SIZE;

	return boost ? step + insn->size + JMP32_INSN_SIZE : step;
}

/* Code for a slot at @slot.  An address too far away refuses the probe. */
static int plan_slot(struct slot_plan *plan, const struct kprobe_insn *insn,
		     const u8 *bytes, unsigned long addr, unsigned long slot)
{
	int len = 0, ret;

	if (plan->boost) {
		ret = kprobe_insn_relocate(plan->code, bytes, insn, addr, slot);
		if (ret < 0)
			return ret;
		len = insn->size;
		ret = kprobe_encode_jmp(plan->code + len, slot + len,
					addr + insn->size);
		if (ret < 0)
			return ret;
		len += JMP32_INSN_SIZE;
	}
	ret = kprobe_insn_relocate(plan->code + len, bytes, insn, addr,
				   slot + len);
	if (ret < 0)
		return ret;
	len += insn->size;
	plan->code[len++] = INT3_INSN_OPCODE;
	plan->len = len;
	return 0;
}

static int make_slot(struct kprobe *p, const struct kprobe_insn *insn,
		     const u8 *bytes, unsigned long addr)
{
	struct slot_plan plan = {};
	kprobe_opcode_t *slot;
	int err;

	/* A fault in a copy with a jump back could not be fixed up. */
	plan.boost = insn->class == KPROBE_INSN_BOOST &&
		     !search_exception_tables(addr);
	slot = kprobe_slot_alloc(&kprobe_insn_slots, slot_size(insn, plan.boost));
	if (!slot)
		return -ENOMEM;
	err = plan_slot(&plan, insn, bytes, addr, (unsigned long)slot);
	if (err) {
		free_insn_slot(slot, 0);
		return refuse(addr, -EINVAL, "an operand is too far away");
	}
	perf_event_text_poke(slot, NULL, 0, plan.code, plan.len);
	text_poke(slot, plan.code, plan.len);
	p->ainsn.insn = slot;
	p->ainsn.tp_len = plan.len;
	p->ainsn.boostable = plan.boost;
	return 0;
}

static bool needs_slot(const struct kprobe_insn *insn, unsigned long addr)
{
	unsigned long target;

	return !kprobe_insn_branches(insn, addr, &target);
}

/**
 * arch_prepare_kprobe() - make a site fit to be hit
 * @p:		the site's struct kprobe, with addr set
 *
 * Context: process context, may sleep; kprobe_mutex, cpus_read_lock() and
 * text_mutex are held.
 * Return: 0; -EILSEQ, -EINVAL, -EOPNOTSUPP if the instruction cannot be probed;
 * -ENOMEM.
 */
int arch_prepare_kprobe(struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr;
	u8 bytes[MAX_INSN_SIZE] = {};
	struct kprobe_insn insn;
	int err;

	err = check_insn(&insn, bytes, addr);
	if (err)
		return err;
	p->opcode = bytes[0];
	p->ainsn.ops = &kprobe_insn_ops[insn.class];
	p->ainsn.operands = insn.operands;
	return needs_slot(&insn, addr) ? make_slot(p, &insn, bytes, addr) : 0;
}

static const u8 int3 = INT3_INSN_OPCODE;

/* A byte was written that not all CPUs need have seen.  Under text_mutex. */
static bool unseen_byte;

static void exchange_byte(struct kprobe *p, const u8 *old, const u8 *new)
{
	unseen_byte = true;
	text_poke(p->addr, new, sizeof(*new));
	perf_event_text_poke(p->addr, old, sizeof(*old), new, sizeof(*new));
}

/**
 * arch_arm_kprobe_queue() - write a breakpoint
 * @p:		a site's struct kprobe
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_arm_kprobe_queue(struct kprobe *p)
{
	exchange_byte(p, &p->opcode, &int3);
}

/**
 * arch_disarm_kprobe_queue() - take a breakpoint away
 * @p:		a site's struct kprobe
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_disarm_kprobe_queue(struct kprobe *p)
{
	exchange_byte(p, &int3, &p->opcode);
}

/**
 * arch_kprobe_finish() - make all CPUs see what was written
 *
 * When it returns no CPU is in the trap of one that is gone.
 *
 * Context: cpus_read_lock() and text_mutex are held.
 */
void arch_kprobe_finish(void)
{
	text_poke_finish();
	if (!unseen_byte)
		return;
	unseen_byte = false;
	text_poke_sync();
}

/**
 * arch_arm_kprobe() - write one breakpoint, seen by all CPUs
 * @p:		a site's struct kprobe
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_arm_kprobe(struct kprobe *p)
{
	arch_arm_kprobe_queue(p);
	arch_kprobe_finish();
}

/**
 * arch_disarm_kprobe() - take one breakpoint away, seen by all CPUs
 * @p:		a site's struct kprobe
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_disarm_kprobe(struct kprobe *p)
{
	arch_disarm_kprobe_queue(p);
	arch_kprobe_finish();
}

/**
 * arch_remove_kprobe() - give back what arch_prepare_kprobe() got
 * @p:		a site's struct kprobe; nobody can be executing its slot
 *
 * Context: process context, may sleep; text_mutex is not held.
 */
void arch_remove_kprobe(struct kprobe *p)
{
	kprobe_opcode_t *slot = p->ainsn.insn;

	if (!slot)
		return;
	perf_event_text_poke(slot, slot, p->ainsn.tp_len, NULL, 0);
	/* Whoever comes here all the same is to be noticed. */
	text_poke_set(slot, INT3_INSN_OPCODE, p->ainsn.tp_len);
	free_insn_slot(slot, 0);
	p->ainsn.insn = NULL;
}

/* What a return may have been patched to go through, also one amid a hit. */
static const char * const return_thunks[] __initconst = {
	"__x86_return_thunk",
	"retbleed_return_thunk",
	"srso_return_thunk",
	"srso_safe_ret",
	"srso_alias_return_thunk",
	"srso_alias_safe_ret",
	"its_return_thunk",
	"call_depth_return_thunk",
};

static int __init refuse_return_thunks(void)
{
	kprobe_opcode_t *addr;
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(return_thunks) && err >= 0; i++) {
		addr = kprobe_lookup_name(return_thunks[i], 0);
		if (addr)
			err = kprobe_add_ksym_blacklist((unsigned long)addr);
	}
	return min(err, 0);
}

/**
 * arch_populate_kprobe_blacklist() - refuse probes in the entry code and thunks
 *
 * Context: boot.
 * Return: 0 or an errno.
 */
int __init arch_populate_kprobe_blacklist(void)
{
	int err;

	err = kprobe_add_area_blacklist((unsigned long)__entry_text_start,
					(unsigned long)__entry_text_end);
	return err ?: refuse_return_thunks();
}

/**
 * arch_init_kprobes() - nothing to set up
 *
 * Context: boot.
 * Return: 0.
 */
int __init arch_init_kprobes(void)
{
	return 0;
}

/**
 * arch_trampoline_kprobe() - is a probe part of a return trampoline?
 * @p:		a probe
 *
 * Context: any.
 * Return: 0, as there are none on x86.
 */
int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}
