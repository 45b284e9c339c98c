// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: breakpoints that become jumps.
 *
 *   plan      which instructions must be displaced; may they be
 *   build     the detour (detour.S)
 *   users     which body the detour calls
 *   install   the jump takes the place of the breakpoint
 *   remove    the breakpoint takes the place of the jump
 *
 * The region of a site is the whole instructions from the probed one that cover
 * the five bytes of a jump; behind a last instruction that does not fall through
 * it may end in padding.  What has to be proved of it:
 *
 *   1. nobody lands inside: the landing map (landing.c)
 *   2. nobody is inside: the optimizer's grace period
 *   3. each instruction works from the detour: relocate.c
 *   4. no other patcher owns any of it: region_reserved()
 *   5. nobody is in a detour that is freed: the grace period of retire.c
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/cpufeature.h>
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <asm/segment.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"
#include "landing.h"

static_assert(offsetof(struct pcpu_hot, preempt_count) == DETOUR_PREEMPT_COUNT);

/*
 * A module could not be examined, so that its jumps into what is mapped already
 * are not known.  Under kprobe_mutex; never cleared, as the module stays.
 */
static bool map_incomplete;

/**
 * struct detour_plan - what is to become of a region
 * @addr:	its first byte, which is the probed address
 * @size:	its length in bytes, at least that of a jump
 * @insns:	bytes of it that are instructions; the rest is padding
 * @returns:	control may fall through its end
 * @single:	it is one instruction
 * @reason:	why it must stay as it is, or KPROBE_OPT_OK
 */
struct detour_plan {
	unsigned long addr;
	u8 size;
	u8 insns;
	bool returns;
	bool single;
	enum kprobe_opt_reason reason;
};

/*
 * Plan
 */

static enum kprobe_opt_reason insn_reason(const struct kprobe_insn *insn,
					  const u8 *bytes, unsigned long addr)
{
	/* A fault in the detour would not be found in the exception tables. */
	if (search_exception_tables(addr))
		return KPROBE_OPT_FIXUP;
	if (kprobe_alternatives_reserved(bytes, addr))
		return KPROBE_OPT_RESERVED;
	if (insn->refusal || insn->class == KPROBE_INSN_STEP)
		return KPROBE_OPT_INSN;
	return KPROBE_OPT_OK;
}

/* Take in instructions until a jump has room or control cannot go on. */
static enum kprobe_opt_reason plan_insns(struct detour_plan *plan)
{
	u8 bytes[MAX_INSN_SIZE];
	struct kprobe_insn insn;
	enum kprobe_opt_reason reason;

	plan->returns = true;
	while (plan->insns < JMP32_INSN_SIZE && plan->returns) {
		unsigned long at = plan->addr + plan->insns;

		if (kprobe_read_insn(&insn, bytes, at))
			return KPROBE_OPT_INSN;
		reason = insn_reason(&insn, bytes, at);
		if (reason)
			return reason;
		plan->single = plan->insns == 0;
		plan->insns += insn.size;
		plan->returns = kprobe_insn_ops[insn.class].falls_through;
	}
	plan->size = max_t(int, plan->insns, JMP32_INSN_SIZE);
	return KPROBE_OPT_OK;
}

static bool region_reserved(const struct detour_plan *plan)
{
	unsigned long last = plan->addr + plan->size - 1;

	return kprobe_text_reserved(plan->addr, last) ||
	       ftrace_text_reserved((void *)plan->addr, (void *)last);
}

/* Somebody who lands behind the last instruction is in another function. */
static enum kprobe_opt_reason landing_reason(const struct detour_plan *plan)
{
	unsigned long end = plan->addr + plan->insns;

	switch (kprobe_landing_query(plan->addr, end)) {
	case KPROBE_LANDING_NO_MAP:
		return KPROBE_OPT_NO_MEMORY;
	case KPROBE_LANDING_INSIDE:
		return KPROBE_OPT_LANDING;
	case KPROBE_LANDING_NONE:
		break;
	}
	if (plan->size == plan->insns)
		return KPROBE_OPT_OK;
	return kprobe_landing_query(end - 1, plan->addr + plan->size) ?
		KPROBE_OPT_NO_ROOM : KPROBE_OPT_OK;
}

/* What compilers and assemblers align code with: int3, or a nop of any length. */
static bool is_filler(const u8 *bytes)
{
	if (bytes[0] == INT3_INSN_OPCODE)
		return true;
	while (*bytes == 0x66 || *bytes == 0x2e)
		bytes++;
	return bytes[0] == 0x90 || (bytes[0] == 0x0f && bytes[1] == 0x1f);
}

/*
 * Nobody lands on the bytes behind the last instruction.  They might still be
 * data that is only read, so that only what is filler for sure is overwritten.
 */
static bool is_padding(const struct detour_plan *plan)
{
	u8 bytes[MAX_INSN_SIZE];
	struct kprobe_insn insn;
	int at;

	for (at = plan->insns; at < plan->size; at += insn.size) {
		if (kprobe_read_insn(&insn, bytes, plan->addr + at) ||
		    !insn.size || !is_filler(bytes))
			return false;
	}
	return true;
}

static void make_plan(struct detour_plan *plan, unsigned long addr)
{
	memset(plan, 0, sizeof(*plan));
	plan->addr = addr;
	plan->reason = plan_insns(plan);
	if (!plan->reason)
		plan->reason = landing_reason(plan);
	if (!plan->reason && region_reserved(plan))
		plan->reason = KPROBE_OPT_RESERVED;
	if (!plan->reason && plan->insns < plan->size && !is_padding(plan))
		plan->reason = KPROBE_OPT_NO_ROOM;
}

/*
 * Build
 */

static int append_insns(u8 *code, int len, const struct detour_plan *plan,
			unsigned long slot)
{
	u8 bytes[MAX_INSN_SIZE];
	struct kprobe_insn insn;
	int done, ret;

	for (done = 0; done < plan->insns; done += insn.size) {
		if (len + KPROBE_DISPLACED_MAX > MAX_OPTINSN_SIZE)
			return -ENOSPC;
		if (kprobe_read_insn(&insn, bytes, plan->addr + done))
			return -EFAULT;
		ret = kprobe_insn_displace(code + len, bytes, &insn,
					   plan->addr + done, slot + len);
		if (ret < 0)
			return ret;
		len += ret;
	}
	return len;
}

/* Call @body from the detour at @slot. */
static void encode_call(u8 *code, unsigned long slot, unsigned int body)
{
	unsigned long at = slot + STUB_OFF(call);
	s32 disp = (long)kprobe_body_text(body) - (long)(at + CALL_INSN_SIZE);

	code[0] = CALL_INSN_OPCODE;
	memcpy(code + 1, &disp, sizeof(disp));
}

/* The beginning of a detour at @slot. */
static void fill_stub(u8 *code, const struct optimized_kprobe *op,
		      unsigned long slot)
{
	u32 ip = (unsigned long)op->kp.addr + INT3_INSN_SIZE;

	memcpy(code, &op, sizeof(op));
	memcpy(code + STUB_OFF(start), kprobe_stub_start,
	       kprobe_stub_end - kprobe_stub_start);
	/* Sign-extended when pushed: kernel text is in the topmost 2 GB. */
	memcpy(code + STUB_OFF(ip) + 1, &ip, sizeof(ip));
	encode_call(code + STUB_OFF(call), slot, op->optinsn.calls);
}

/* The whole detour; returns its length or an errno. */
static int build_detour(u8 *code, const struct optimized_kprobe *op,
			const struct detour_plan *plan, unsigned long slot)
{
	int len, ret;

	fill_stub(code, op, slot);
	len = append_insns(code, STUB_OFF(end), plan, slot);
	if (len < 0 || !plan->returns)
		return len;
	if (len + JMP32_INSN_SIZE > MAX_OPTINSN_SIZE)
		return -ENOSPC;
	ret = kprobe_encode_jmp(code + len, slot + len, plan->addr + plan->insns);
	return ret < 0 ? ret : len + ret;
}

/*
 * A slot as long as the detour will be.  Only displacements depend on where it
 * is, so that the length can be learned from one built for another place.
 */
static int write_detour(struct optimized_kprobe *op,
			const struct detour_plan *plan, u8 *code)
{
	kprobe_opcode_t *slot;
	int len;

	len = build_detour(code, op, plan, plan->addr);
	if (len < 0)
		return len;
	slot = kprobe_slot_alloc(&kprobe_optinsn_slots, len);
	if (!slot)
		return -ENOMEM;
	len = build_detour(code, op, plan, (unsigned long)slot);
	if (len < 0) {
		free_optinsn_slot(slot, 0);
		return len;
	}
	perf_event_text_poke(slot, NULL, 0, code, len);
	text_poke(slot, code, len);
	op->optinsn.insn = slot;
	op->optinsn.len = len;
	return 0;
}

static int refuse(struct optimized_kprobe *op, enum kprobe_opt_reason reason)
{
	op->optinsn.reason = reason;
	return reason == KPROBE_OPT_NO_MEMORY ? -ENOMEM : -EINVAL;
}

static void put_bodies(struct optimized_kprobe *op)
{
	int i;

	for (i = 0; i < KPROBE_BODY_USERS; i++) {
		kprobe_body_put(op->optinsn.body[i]);
		op->optinsn.body[i] = 0;
	}
	op->optinsn.calls = 0;
}

static int prepare_detour(struct optimized_kprobe *op)
{
	struct detour_plan plan;
	u8 *code;
	int err;

	if (map_incomplete)
		return refuse(op, KPROBE_OPT_NO_MEMORY);
	make_plan(&plan, (unsigned long)op->kp.addr);
	if (plan.reason)
		return refuse(op, plan.reason);
	if (kprobe_read_text(op->optinsn.copied_insn, plan.addr + INT3_INSN_SIZE,
			     DISP32_SIZE))
		return refuse(op, KPROBE_OPT_INSN);
	code = kmalloc(MAX_OPTINSN_SIZE, GFP_KERNEL);
	if (!code)
		return refuse(op, KPROBE_OPT_NO_MEMORY);
	err = write_detour(op, &plan, code);
	kfree(code);
	if (err)
		return refuse(op, err == -ENOMEM ? KPROBE_OPT_NO_MEMORY :
						   KPROBE_OPT_INSN);
	op->optinsn.single = plan.single;
	op->optinsn.size = plan.size;
	return 0;
}

/**
 * arch_prepare_optimized_kprobe() - plan and build the detour of a site
 * @op:		the site
 * @orig:	not used
 *
 * Context: process context, may sleep; kprobe_mutex and text_mutex are held.
 * Return: 0; -ENOMEM; -EINVAL if the region must stay as it is.
 * arch_optimize_reason() tells why.
 */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op,
				  struct kprobe *orig)
{
	int err = prepare_detour(op);

	if (err)
		put_bodies(op);
	return err;
}

/**
 * arch_optimize_reason() - why was a detour refused?
 * @op:		the site
 * @err:	what arch_prepare_optimized_kprobe() or
 *		arch_check_optimized_kprobe() returned
 *
 * Context: kprobe_mutex is held.
 * Return: the reason.
 */
enum kprobe_opt_reason arch_optimize_reason(struct optimized_kprobe *op, int err)
{
	return op->optinsn.reason;
}

/**
 * arch_remove_optimized_kprobe() - free the detour of a site
 * @op:		the site; nobody can be executing its detour
 *
 * Context: process context, may sleep; text_mutex is not held.
 */
void arch_remove_optimized_kprobe(struct optimized_kprobe *op)
{
	kprobe_opcode_t *slot = op->optinsn.insn;

	perf_event_text_poke(slot, slot, op->optinsn.len, NULL, 0);
	/* Whoever comes here all the same is to be noticed. */
	text_poke_set(slot, INT3_INSN_OPCODE, op->optinsn.len);
	free_optinsn_slot(slot, 0);
	put_bodies(op);
	op->optinsn.insn = NULL;
	op->optinsn.size = 0;
}

/*
 * Users
 */

/* Where no body finds the handler that it could call. */
static struct kprobe nobody;

/* Have the detour call another body, whether it may be executing or not. */
static void call_body(struct optimized_kprobe *op, unsigned int body)
{
	struct arch_optimized_insn *opt = &op->optinsn;
	u8 call[CALL_INSN_SIZE], *at = opt->insn + STUB_OFF(call);

	if (opt->calls == body)
		return;
	opt->calls = body;
	if (!opt->insn)
		return;
	encode_call(call, (unsigned long)opt->insn, body);
	if (opt->live)
		text_poke_queue(at, call, sizeof(call), NULL);
	else
		text_poke(at, call, sizeof(call));
}

/**
 * arch_optimized_users() - who is to be called has changed
 * @op:		a site that has, or is to be given, a detour
 * @first:	the first of its users, if all of them are to be called
 * @nr:		how many they are, or 0 if not all are to be called
 *
 * A body that was chosen once stays chosen, so that the detour needs to keep
 * only one for each number of users.
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 * arch_kprobe_finish() must be called before they are released.
 */
void arch_optimized_users(struct optimized_kprobe *op, struct kprobe *first,
			  unsigned int nr)
{
	struct arch_optimized_insn *opt = &op->optinsn;
	unsigned int i;

	for (i = 0; i < KPROBE_BODY_USERS; i++)
		rcu_assign_pointer(opt->first[i], i + 1 == nr ? first : &nobody);
	if (!nr)
		return;
	if (nr > KPROBE_BODY_USERS) {
		call_body(op, 0);
		return;
	}
	if (!opt->body[nr - 1])
		opt->body[nr - 1] = kprobe_body_get(first, nr);
	call_body(op, opt->body[nr - 1]);
}

/*
 * What the state machine asks
 */

/**
 * arch_check_optimized_kprobe() - does anything around stand in the way?
 * @op:		a site with a detour
 *
 * Modules that came after the detour was planned may land in its region.
 *
 * Context: kprobe_mutex is held.
 * Return: 0; -EEXIST if a probe in the region is armed; -EINVAL for another
 * reason, which arch_optimize_reason() tells.
 */
int arch_check_optimized_kprobe(struct optimized_kprobe *op)
{
	unsigned long addr = (unsigned long)op->kp.addr;
	int i;

	for (i = 1; i < op->optinsn.size; i++) {
		struct kprobe *p = get_kprobe((void *)addr + i);

		if (p && !kprobe_disarmed(p))
			return -EEXIST;
	}
	if (map_incomplete)
		return refuse(op, KPROBE_OPT_NO_MEMORY);
	if (kprobe_landing_query(addr, addr + op->optinsn.size))
		return refuse(op, KPROBE_OPT_LANDING);
	return 0;
}

/**
 * arch_within_optimized_kprobe() - is an address in the region of a site?
 * @op:		a site with a detour
 * @addr:	the address
 *
 * Context: kprobe_mutex is held.
 * Return: 1 if so, else 0.
 */
int arch_within_optimized_kprobe(struct optimized_kprobe *op,
				 kprobe_opcode_t *addr)
{
	return addr >= op->kp.addr && addr < op->kp.addr + op->optinsn.size;
}

/**
 * arch_optimize_must_wait() - may a task be amid the displaced instructions?
 * @op:		a site with a detour
 *
 * Context: kprobe_mutex is held.
 * Return: false if there is only one.
 */
bool arch_optimize_must_wait(struct optimized_kprobe *op)
{
	return !op->optinsn.single;
}

/**
 * arch_optimizer_ready() - is the landing map made?
 *
 * Context: kprobe_mutex is held.
 * Return: whether it is.
 */
bool arch_optimizer_ready(void)
{
	return kprobe_landing_ready();
}

/**
 * arch_optimizer_prepare() - make the landing map
 *
 * Context: process context, may sleep and take long; no lock is held.
 * Return: 0 or an errno.
 */
int arch_optimizer_prepare(void)
{
	int err = kprobe_landing_prepare();

	if (err)
		return err;
	guard(mutex)(&kprobe_mutex);
	return kprobe_landing_build();
}

/**
 * arch_optimizer_module_add() - take a module into the landing map
 * @mod:	a module whose code has not run yet
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void arch_optimizer_module_add(struct module *mod)
{
	if (!kprobe_landing_ready() || !kprobe_landing_module_add(mod))
		return;
	pr_warn("no memory to examine module %s: probes stay breakpoints\n",
		mod->name);
	map_incomplete = true;
}

/**
 * arch_optimizer_module_del() - drop a module from the landing map
 * @mod:	a module whose code will not run again
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void arch_optimizer_module_del(struct module *mod)
{
	kprobe_landing_module_del(mod);
}

/*
 * Install and remove
 */

/* The jump that takes the place of the region. */
static void encode_entry(u8 *jmp, const struct optimized_kprobe *op)
{
	kprobe_encode_jmp(jmp, (unsigned long)op->kp.addr,
			  (unsigned long)op->optinsn.insn + DETOUR_ENTRY);
}

/**
 * arch_optimize_kprobes() - write the jumps of sites
 * @oplist:	sites, by ascending address; empty afterwards
 *
 * text_poke_bp() keeps the breakpoint while the other four bytes change, and
 * whoever hits it meanwhile is sent on to the detour.
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;
	u8 jmp[JMP32_INSN_SIZE];

	list_for_each_entry_safe(op, next, oplist, list) {
		encode_entry(jmp, op);
		text_poke_queue(op->kp.addr, jmp, JMP32_INSN_SIZE, NULL);
		op->optinsn.live = 1;
		list_del_init(&op->list);
	}
	text_poke_finish();
}

static void report_unoptimized(struct optimized_kprobe *op)
{
	u8 jmp[JMP32_INSN_SIZE], int3[JMP32_INSN_SIZE] = { INT3_INSN_OPCODE };

	encode_entry(jmp, op);
	memcpy(int3 + INT3_INSN_SIZE, op->optinsn.copied_insn, DISP32_SIZE);
	perf_event_text_poke(op->kp.addr, jmp, sizeof(jmp), int3, sizeof(int3));
}

/**
 * arch_unoptimize_kprobes() - turn the jumps of sites back into breakpoints
 * @oplist:	sites; empty afterwards
 * @done_list:	where they are moved
 *
 * 1. Every first byte becomes a breakpoint.  Hits still go to the detour.
 * 2. When all CPUs see that, nobody executes the other four bytes: they become
 *    what they were.
 * 3. When all CPUs see that, hits may go on behind the first instruction.
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void arch_unoptimize_kprobes(struct list_head *oplist,
			     struct list_head *done_list)
{
	u8 int3 = INT3_INSN_OPCODE;
	struct optimized_kprobe *op;

	list_for_each_entry(op, oplist, list)
		text_poke(op->kp.addr, &int3, INT3_INSN_SIZE);
	text_poke_sync();
	list_for_each_entry(op, oplist, list) {
		text_poke(op->kp.addr + INT3_INSN_SIZE, op->optinsn.copied_insn,
			  DISP32_SIZE);
		report_unoptimized(op);
	}
	text_poke_sync();
	list_splice_tail_init(oplist, done_list);
}

/*
 * Hits
 */

/**
 * kprobe_detour_copy() - where a detour runs the displaced instructions
 * @p:		a site's struct kprobe, with a detour
 *
 * Context: any.
 * Return: the address.
 */
unsigned long kprobe_detour_copy(struct kprobe *p)
{
	struct optimized_kprobe *op;

	op = container_of(p, struct optimized_kprobe, kp);
	return (unsigned long)op->optinsn.insn + STUB_OFF(end);
}
NOKPROBE_SYMBOL(kprobe_detour_copy);

/*
 * Leave what kprobe_detour_redirect() is to pop below where the stack will be.
 * Nothing is lost there: that is where the frame itself lies, or free.
 */
static void redirect(struct pt_regs *regs)
{
	unsigned long *top = (unsigned long *)regs->sp;
	unsigned long ip = regs->ip, flags = regs->flags;

	*--top = ip;
	*--top = flags;
	regs->orig_ax = (unsigned long)top;
}
NOKPROBE_SYMBOL(redirect);

/**
 * kprobe_detour_resched() - preemption is on again, and somebody waits for it
 *
 * This ends in preempt_schedule(), which cannot be probed.  What
 * preempt_enable_notrace() ends in can be, and would lead back here before it has
 * turned preemption off.
 *
 * Context: the probed code's own.
 */
__visible void kprobe_detour_resched(void)
{
	preempt_check_resched();
}
NOKPROBE_SYMBOL(kprobe_detour_resched);

/* Undo what the body has done to the preemption count. */
static nokprobe_inline void detour_preempt_enable(void)
{
	preempt_enable_no_resched_notrace();
	preempt_check_resched();
}

/* For the handlers of a site.  Its detour has turned preemption off. */
static int detour_hit(struct optimized_kprobe *op, struct pt_regs *regs)
{
	int ret;

	if (kprobe_running()) {
		kprobes_inc_nmissed_count(&op->kp);
		return 0;
	}
	__this_cpu_write(current_kprobe, &op->kp);
	ret = opt_pre_handler(&op->kp, regs);
	reset_current_kprobe();
	if (ret)
		redirect(regs);
	return ret;
}
NOKPROBE_SYMBOL(detour_hit);

/**
 * kprobe_detour_hit() - the general way of a hit
 * @op:		the site
 * @regs:	registers at the probed instruction
 *
 * Context: the probed code's own, but with preemption off, which it turns on.
 * Return: 0 to go on with the displaced instructions, else to go on where the
 * handlers want.
 */
__visible int kprobe_detour_hit(struct optimized_kprobe *op,
				struct pt_regs *regs)
{
	int ret = detour_hit(op, regs);

	detour_preempt_enable();
	return ret;
}
NOKPROBE_SYMBOL(kprobe_detour_hit);

/**
 * kprobe_detour_changed() - a handler that was called directly wants something
 * @op:		the site
 * @regs:	registers as the handlers have left them
 * @ret:	what the last handler returned
 *
 * It has changed the flags, or returned other than 0; see opt_pre_handler().
 *
 * Context: the probed code's own, but with preemption off, which it turns on.
 * Return: as kprobe_detour_hit().
 */
__visible int kprobe_detour_changed(struct optimized_kprobe *op,
				    struct pt_regs *regs, int ret)
{
	unsigned long ip = (unsigned long)op->kp.addr + INT3_INSN_SIZE;

	reset_current_kprobe();
	ret = ret && regs->ip != ip;
	if (ret)
		redirect(regs);
	detour_preempt_enable();
	return ret;
}
NOKPROBE_SYMBOL(kprobe_detour_changed);
