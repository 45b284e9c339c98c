// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of a probed address.
 *
 * Callers change an input (users, counts, the switches), mark the site, and
 * commit.  A commit moves every marked site, and every neighbour that its
 * change concerns, along the edges to its target.  Nothing else writes a state.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include "internal.h"

/* The longest region that a jump may take the place of, seen from its start. */
#ifdef MAX_OPTIMIZED_LENGTH
#define MAX_REGION ((int)(MAX_OPTIMIZED_LENGTH / sizeof(kprobe_opcode_t)))
#else
#define MAX_REGION 1
#endif

static const u8 edges[KPROBE_SITE_NR] = {
	[KPROBE_SITE_PREPARED]	 = BIT(KPROBE_SITE_DISARMED),
	[KPROBE_SITE_DISARMED]	 = BIT(KPROBE_SITE_ARMED) |
				   BIT(KPROBE_SITE_RETIRED) |
				   BIT(KPROBE_SITE_GONE),
	[KPROBE_SITE_ARMED]	 = BIT(KPROBE_SITE_DISARMED) |
				   BIT(KPROBE_SITE_OPTIMIZING),
	[KPROBE_SITE_OPTIMIZING] = BIT(KPROBE_SITE_ARMED) |
				   BIT(KPROBE_SITE_OPTIMIZED),
	[KPROBE_SITE_OPTIMIZED]	 = BIT(KPROBE_SITE_ARMED),
	[KPROBE_SITE_GONE]	 = BIT(KPROBE_SITE_RETIRED),
};

static const char * const state_names[KPROBE_SITE_NR] = {
	[KPROBE_SITE_PREPARED]	 = "prepared",
	[KPROBE_SITE_DISARMED]	 = "disabled",
	[KPROBE_SITE_ARMED]	 = "int3",
	[KPROBE_SITE_OPTIMIZING] = "queued",
	[KPROBE_SITE_OPTIMIZED]	 = "jump",
	[KPROBE_SITE_RETIRED]	 = "retired",
	[KPROBE_SITE_GONE]	 = "gone",
};

static const char * const reason_texts[KPROBE_OPT_NR] = {
	[KPROBE_OPT_OK]		  = "nothing stands in the way",
	[KPROBE_OPT_UNSUPPORTED]  = "this kernel cannot optimize probes",
	[KPROBE_OPT_FTRACE]	  = "ftrace calls the handler without a trap",
	[KPROBE_OPT_GONE]	  = "the probed text is gone",
	[KPROBE_OPT_DISABLED]	  = "no enabled probe here",
	[KPROBE_OPT_OFF]	  = "debug.kprobes-optimization is 0",
	[KPROBE_OPT_POST_HANDLER] = "a probe has a post_handler",
	[KPROBE_OPT_NEIGHBOUR]	  = "another probe inside the bytes to be replaced",
	[KPROBE_OPT_PENDING]	  = "the text is still being examined",
	[KPROBE_OPT_NO_MEMORY]	  = "no memory for the detour",
	[KPROBE_OPT_LANDING]	  = "control may land inside the bytes to be replaced",
	[KPROBE_OPT_NO_ROOM]	  = "the code ends inside the bytes to be replaced",
	[KPROBE_OPT_RESERVED]	  = "another code patcher owns some of the bytes",
	[KPROBE_OPT_FIXUP]	  = "an instruction may fault and be fixed up",
	[KPROBE_OPT_INSN]	  = "an instruction cannot run from the detour",
	[KPROBE_OPT_ARCH]	  = "refused by the architecture",
};

/**
 * kprobe_site_edge() - may a site go from one state to another in one step?
 * @from:	a state
 * @to:		a state
 *
 * Context: any.
 * Return: whether the edge exists.
 */
bool kprobe_site_edge(enum kprobe_site_state from, enum kprobe_site_state to)
{
	return edges[from] & BIT(to);
}

/**
 * kprobe_site_state_name() - a state in one word
 * @state:	a state
 *
 * Context: any.
 * Return: the word, as the optimization file in debugfs prints it.
 */
const char *kprobe_site_state_name(enum kprobe_site_state state)
{
	return state_names[state];
}

/**
 * kprobe_opt_reason_text() - a reason in words
 * @reason:	a reason
 *
 * Context: any.
 * Return: the sentence, as the optimization file in debugfs prints it.
 */
const char *kprobe_opt_reason_text(enum kprobe_opt_reason reason)
{
	return reason_texts[reason];
}

/**
 * kprobe_site_wants_hits() - is some handler to be called?
 * @site:	a site in the table
 *
 * An input to the states of the site itself and of its neighbours.
 *
 * The switch for all probes spares those by which an architecture makes return
 * probes: calls that are under way would not find back without them.
 *
 * Context: kprobe_mutex is held.
 * Return: whether one of its users is enabled, its text is to stay, and probes
 * are not all off.
 */
bool kprobe_site_wants_hits(struct kprobe_site *site)
{
	return site->nr_enabled && !site->leaving &&
	       (!kprobes_all_disarmed || arch_trampoline_kprobe(&site->op.kp));
}

/**
 * kprobe_site_refused() - does a site get no hits though it wants them?
 * @site:	a site, after a commit
 *
 * Context: kprobe_mutex is held.
 * Return: whether ftrace refused to arm it.
 */
bool kprobe_site_refused(struct kprobe_site *site)
{
	return site->state == KPROBE_SITE_DISARMED && kprobe_site_wants_hits(site);
}

/* Show the users, and the architecture, the state in the flags they know. */
static void site_project(struct kprobe_site *site)
{
	u32 flags = site->op.kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY;

	if (site->kind == KPROBE_SITE_FTRACE)
		flags |= KPROBE_FLAG_FTRACE;
	if (site->state == KPROBE_SITE_GONE)
		flags |= KPROBE_FLAG_GONE;
	if (site->state == KPROBE_SITE_OPTIMIZING ||
	    site->state == KPROBE_SITE_OPTIMIZED)
		flags |= KPROBE_FLAG_OPTIMIZED;
	if (!site->nr_enabled)
		flags |= KPROBE_FLAG_DISABLED;
	if (site->nr_post)
		flags |= KPROBE_FLAG_POST_HANDLER;
	WRITE_ONCE(site->op.kp.flags, flags);
}

/**
 * kprobe_site_enter() - take one edge
 * @site:	the site
 * @to:		its new state
 *
 * The caller has done what the edge stands for.
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_site_enter(struct kprobe_site *site, enum kprobe_site_state to)
{
	lockdep_assert_held(&kprobe_mutex);
	WARN_ONCE(!kprobe_site_edge(site->state, to), "%pS: %s to %s\n",
		  site->op.kp.addr, state_names[site->state], state_names[to]);
	site->state = to;
	site_project(site);
}

/**
 * kprobe_site_reason() - why has the site no jump?
 * @site:	the site
 *
 * The causes are asked for in a fixed order, so that there is one answer.
 *
 * Context: kprobe_mutex is held.
 * Return: the first cause that applies, or KPROBE_OPT_OK.
 */
enum kprobe_opt_reason kprobe_site_reason(struct kprobe_site *site)
{
	if (site->state == KPROBE_SITE_GONE)
		return KPROBE_OPT_GONE;
	if (site->kind == KPROBE_SITE_FTRACE)
		return KPROBE_OPT_FTRACE;
	if (!kprobe_site_wants_hits(site))
		return KPROBE_OPT_DISABLED;
	if (!IS_ENABLED(CONFIG_OPTPROBES))
		return KPROBE_OPT_UNSUPPORTED;
	if (!kprobe_opt_allowed())
		return KPROBE_OPT_OFF;
	if (site->nr_post)
		return KPROBE_OPT_POST_HANDLER;
	if (site->refusal)
		return site->refusal;
	if (!kprobe_opt_prepared(site))
		return KPROBE_OPT_PENDING;
	return kprobe_opt_check(site);
}

/**
 * kprobe_site_target() - the state that the inputs of a site ask for
 * @site:	a site in the table
 *
 * Context: kprobe_mutex is held.
 * Return: the state.
 */
enum kprobe_site_state kprobe_site_target(struct kprobe_site *site)
{
	if (site->state == KPROBE_SITE_GONE)
		return KPROBE_SITE_GONE;
	if (!site->nr_users)
		return KPROBE_SITE_RETIRED;
	if (!kprobe_site_wants_hits(site))
		return KPROBE_SITE_DISARMED;
	if (kprobe_site_reason(site) == KPROBE_OPT_OK)
		return KPROBE_SITE_OPTIMIZED;
	return KPROBE_SITE_ARMED;
}

/* Put a site on the list of a commit, taking it off the optimizer's. */
static void mark_one(struct kprobe_site *site, struct list_head *dirty)
{
	if (site->state == KPROBE_SITE_OPTIMIZING) {
		if (kprobe_site_target(site) == KPROBE_SITE_OPTIMIZED)
			return;
		list_del_init(&site->op.list);
		kprobe_site_enter(site, KPROBE_SITE_ARMED);
	}
	if (list_empty(&site->op.list))
		list_add_tail(&site->op.list, dirty);
}

/* A site that stays queued is not part of the commit. */
static void tell_queued(struct kprobe_site *site)
{
	guard(kprobe_text)();
	kprobe_opt_users(site);
	arch_kprobe_finish();
}

/**
 * kprobe_site_mark() - note that an input of a site was changed
 * @site:	the site, in the table or just leaving it
 * @dirty:	the sites of the commit to come
 *
 * Whatever has a region that the site lies in is marked as well: a jump must
 * not take the place of an armed probe, and may come back when that leaves.
 *
 * Context: kprobe_mutex is held, from here until the commit is done.
 */
void kprobe_site_mark(struct kprobe_site *site, struct list_head *dirty)
{
	kprobe_opcode_t *addr = site->op.kp.addr;
	int i;

	lockdep_assert_held(&kprobe_mutex);
	site_project(site);
	mark_one(site, dirty);
	if (site->state == KPROBE_SITE_OPTIMIZING)
		tell_queued(site);
	for (i = 1; i < MAX_REGION; i++) {
		struct kprobe *p = get_kprobe(addr - i);

		if (p && kprobe_opt_covers(kprobe_to_site(p), addr))
			mark_one(kprobe_to_site(p), dirty);
	}
}

/**
 * kprobe_site_mark_all() - note that an input of all sites was changed
 * @dirty:	the sites of the commit to come
 *
 * Context: kprobe_mutex is held, from here until the commit is done.
 */
void kprobe_site_mark_all(struct list_head *dirty)
{
	struct kprobe_site *site;
	unsigned int pos;

	for_each_kprobe_site(site, pos)
		mark_one(site, dirty);
}

/* OPTIMIZED -> ARMED for all that must, two synchronisations together. */
static void leave_jumps(struct list_head *dirty)
{
	struct kprobe_site *site, *next;
	LIST_HEAD(jumps);

	list_for_each_entry_safe(site, next, dirty, op.list) {
		if (site->state == KPROBE_SITE_OPTIMIZED &&
		    kprobe_site_target(site) != KPROBE_SITE_OPTIMIZED)
			list_move_tail(&site->op.list, &jumps);
	}
	if (list_empty(&jumps))
		return;
	kprobe_opt_remove(&jumps);
	list_for_each_entry(site, &jumps, op.list)
		kprobe_site_enter(site, KPROBE_SITE_ARMED);
	list_splice(&jumps, dirty);
}

/**
 * arch_arm_kprobe_queue() - write a breakpoint, of several
 * @p:		a site's struct kprobe
 *
 * For architectures that can write one only by itself.
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void __weak arch_arm_kprobe_queue(struct kprobe *p)
{
	arch_arm_kprobe(p);
}

/**
 * arch_disarm_kprobe_queue() - take a breakpoint away, of several
 * @p:		a site's struct kprobe
 *
 * For architectures that can take one away only by itself.
 *
 * Context: kprobe_mutex, cpus_read_lock() and text_mutex are held.
 */
void __weak arch_disarm_kprobe_queue(struct kprobe *p)
{
	arch_disarm_kprobe(p);
}

/**
 * arch_kprobe_finish() - make all CPUs see the breakpoints come and gone
 *
 * Context: cpus_read_lock() and text_mutex are held.
 */
void __weak arch_kprobe_finish(void)
{
}

/* Write or take away the breakpoint of one site; tell whether that was due. */
static bool poke_breakpoint(struct kprobe_site *site)
{
	bool armed = site->nr_users && kprobe_site_wants_hits(site);

	if (site->kind != KPROBE_SITE_INT3)
		return false;
	if (armed && site->state == KPROBE_SITE_DISARMED) {
		arch_arm_kprobe_queue(&site->op.kp);
		kprobe_site_enter(site, KPROBE_SITE_ARMED);
		return true;
	}
	if (!armed && site->state == KPROBE_SITE_ARMED) {
		arch_disarm_kprobe_queue(&site->op.kp);
		kprobe_site_enter(site, KPROBE_SITE_DISARMED);
		return true;
	}
	return false;
}

/* DISARMED <-> ARMED for all that must, one synchronisation together. */
static void poke_breakpoints(struct list_head *dirty)
{
	struct kprobe_site *site;
	bool poked = false;

	list_for_each_entry(site, dirty, op.list)
		poked |= poke_breakpoint(site);
	if (poked)
		arch_kprobe_finish();
}

/* Tell the detours of those that have one whom to call. */
static void tell_users(struct list_head *dirty)
{
	struct kprobe_site *site;
	bool told = false;

	list_for_each_entry(site, dirty, op.list) {
		if (!kprobe_opt_prepared(site))
			continue;
		kprobe_opt_users(site);
		told = true;
	}
	if (told)
		arch_kprobe_finish();
}

/* Is there no detour yet, and may there be one? */
static bool lacks_detour(struct kprobe_site *site)
{
	enum kprobe_opt_reason reason = kprobe_site_reason(site);

	return (reason == KPROBE_OPT_PENDING || reason == KPROBE_OPT_NO_MEMORY) &&
	       !kprobe_opt_prepared(site);
}

/* ARMED -> OPTIMIZING for all that may. */
static void queue_jumps(struct list_head *dirty)
{
	struct kprobe_site *site, *next;

	list_for_each_entry_safe(site, next, dirty, op.list) {
		if (site->state != KPROBE_SITE_ARMED)
			continue;
		if (lacks_detour(site))
			kprobe_opt_prepare(site);
		if (kprobe_site_target(site) != KPROBE_SITE_OPTIMIZED)
			continue;
		list_del_init(&site->op.list);
		kprobe_site_enter(site, KPROBE_SITE_OPTIMIZING);
		kprobe_opt_queue(site);
	}
}

/* DISARMED -> RETIRED for all that have no user left. */
static void retire_unused(struct list_head *dirty)
{
	struct kprobe_site *site, *next;

	list_for_each_entry_safe(site, next, dirty, op.list) {
		list_del_init(&site->op.list);
		if (site->nr_users || site->state != KPROBE_SITE_DISARMED)
			continue;
		kprobe_site_unhash(site);
		kprobe_site_enter(site, KPROBE_SITE_RETIRED);
		kprobe_site_retire(site);
	}
}

/**
 * kprobe_sites_commit() - move marked sites to their targets
 * @dirty:	the marked sites; empty afterwards
 *
 * 1. Jumps that must go become breakpoints.
 * 2. Breakpoints go and come.  Only now, so that none is written into the
 *    bytes of a jump.
 * 3. Detours are told whom to call.
 * 4. Jumps that may come are queued.  Only now, so that the neighbours are in
 *    their final states.
 * 5. ftrace is told.  Its locks nest in kprobe_mutex, never in text_mutex.
 * 6. Sites without users leave the table.
 *
 * Context: kprobe_mutex is held; may sleep.
 * Return: 0, or the first error of ftrace: the sites that it refused to arm are
 * as they were.  Nothing else can fail.
 */
int kprobe_sites_commit(struct list_head *dirty)
{
	int err;

	lockdep_assert_held(&kprobe_mutex);
	if (list_empty(dirty))
		return 0;
	scoped_guard(kprobe_text) {
		leave_jumps(dirty);
		poke_breakpoints(dirty);
		tell_users(dirty);
		queue_jumps(dirty);
	}
	err = kprobe_ftrace_commit(dirty);
	retire_unused(dirty);
	return err;
}

/* DISARMED -> GONE: its users keep it until they unregister. */
static void site_gone(struct kprobe_site *site)
{
	struct kprobe *user;

	kprobe_site_unhash(site);
	kprobe_site_enter(site, KPROBE_SITE_GONE);
	list_for_each_entry(user, kprobe_site_users(site), list)
		user->flags |= KPROBE_FLAG_GONE;
	kprobe_gone_add(site);
}

/**
 * kprobe_sites_gone() - some text is about to be freed
 * @leaves:	is an address in that text?
 * @data:	for @leaves
 *
 * The text is still there, and somebody may yet execute it: functions that a
 * module's init had called asynchronously run until the module loader has waited
 * for them, which is after its notifiers.  So the text becomes what it was.
 *
 * Context: kprobe_mutex is held; may sleep.
 */
void kprobe_sites_gone(bool (*leaves)(unsigned long addr, const void *data),
		       const void *data)
{
	struct kprobe_site *site;
	unsigned int pos;
	LIST_HEAD(dirty);

	lockdep_assert_held(&kprobe_mutex);
	for_each_kprobe_site(site, pos) {
		site->leaving = leaves((unsigned long)site->op.kp.addr, data);
		if (site->leaving)
			kprobe_site_mark(site, &dirty);
	}
	if (list_empty(&dirty))
		return;
	kprobe_sites_commit(&dirty);
	for_each_kprobe_site(site, pos) {
		if (site->leaving)
			site_gone(site);
	}
}
