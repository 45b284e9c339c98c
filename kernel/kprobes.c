// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel probes: the generic core.
 *
 * What it is
 * ----------
 * A user registers a struct kprobe to have a handler called whenever a certain
 * instruction of the kernel is about to execute.  For each probed address there
 * is one private struct kprobe_site, however many users the address has.  The
 * site is in the table that handlers look addresses up in; users hang on its
 * list.  A user's object is never in the table, and a site is never shown to a
 * user except as what kprobe_running() and get_kprobe() return.
 *
 * A hit comes by one of three ways, cheapest last:
 *
 *   breakpoint  the CPU traps, the architecture looks up the site, calls its
 *               pre_handler, carries out the instruction elsewhere and goes on
 *   jump        a breakpoint's bytes were replaced by a jump into a detour,
 *               which calls the handlers and runs the displaced instructions
 *   ftrace      the address is a function's entry that ftrace can call from
 *
 * The files
 * ---------
 *   kernel/kprobes.c             this: the table, hits, the user's API
 *   kernel/kprobes/site.c        states and edges of a site; commits
 *   kernel/kprobes/address.c     symbol to address; may it be probed
 *   kernel/kprobes/reserved.c    addresses that other patchers own
 *   kernel/kprobes/blacklist.c   addresses that must never be probed
 *   kernel/kprobes/slot.c        executable memory
 *   kernel/kprobes/retire.c      sites made and freed
 *   kernel/kprobes/optimizer.c   breakpoints become jumps
 *   kernel/kprobes/ftrace.c      sites that ftrace hits
 *   kernel/kprobes/kretprobe*.c  probes on the return of a function
 *   kernel/kprobes/module.c      text comes and goes
 *   kernel/kprobes/debugfs.c     what userspace sees
 *
 * The order of this file: the table; hits; joining and leaving a site; the
 * user's API; start-up.
 *
 * States
 * ------
 *   PREPARED -> DISARMED <-> ARMED <-> OPTIMIZING -> OPTIMIZED
 *                  |           ^                         |
 *                  v           +-------------------------+
 *               RETIRED -> freed
 *
 *   DISARMED -> GONE -> RETIRED
 *
 * Nobody says "arm" or "optimize".  A caller changes an input (who uses the
 * site, who of them is enabled, the switches for all), marks the site, and
 * commits: kprobe_site_target() tells the state that the inputs ask for and the
 * commit takes the edges to it, all sites of a call together, so that one
 * synchronisation of the CPUs serves them all.
 *
 * Locks
 * -----
 * From the outermost to the innermost:
 *
 *   kprobe_mutex         all of the above but what handlers read
 *   jump_label_lock()    while the index of reserved text is made
 *   cpus_read_lock()     while text is changed
 *   text_mutex           the kernel's text, executable slots
 *   mutex of a slot cache
 *
 * The locks of ftrace nest in kprobe_mutex, never in text_mutex.  The mutex of
 * the sysctl is outside of kprobe_mutex.
 *
 * Handlers take no lock.  They run with preemption off, which is an RCU reader;
 * the table, the sites in it and the lists of users are published and taken
 * back by RCU.
 *
 * No lock is held while a grace period passes.  What has to wait for one is
 * moved to a list, the locks are dropped, and afterwards only what is still on
 * the list is carried out: who changed his mind took his site off it.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "kprobes/internal.h"

DEFINE_MUTEX(kprobe_mutex);	/* see "Locks" above */
DEFINE_PER_CPU(unsigned long, kprobe_stale_hits);

/* The switch in debugfs.  Under kprobe_mutex. */
bool kprobes_all_disarmed;

/* Sites whose text went away, until their last users leave.  kprobe_mutex. */
LIST_HEAD(kprobe_gone_sites);
static DEFINE_HASHTABLE(gone_by_addr, 10);

/*
 * The table
 *
 * Open addressing with linear probing, at most half full, so that a lookup
 * costs the same with one site and with a hundred thousand.  Writers hold
 * kprobe_mutex; readers are under RCU.  A site that leaves makes room for a
 * tombstone, so that chains of others which lead over it stay whole; the next
 * site that comes along takes its place, and all vanish when the table is made
 * anew.
 */
struct site_table {
	struct rcu_head rcu;
	unsigned int mask;		/* a power of two, less one */
	u8 shift;			/* leaves so many bits of a hash */
	unsigned int used;		/* sites and tombstones */
	struct kprobe_site *slot[];
};

#define SITE_TABLE_MIN_BITS	6

static struct site_table __rcu *site_table;
static unsigned int nr_sites;

/* No site, though who looks for its address finds it: compare the pointer. */
static struct kprobe_site tombstone = {
	.op.kp.addr = (kprobe_opcode_t *)-1L,
	.op.kp.list = LIST_HEAD_INIT(tombstone.op.kp.list),
};

/* As hash_ptr(), but that the number of bits is no constant. */
static nokprobe_inline unsigned int slot_first(const struct site_table *table,
					       void *addr)
{
	return ((unsigned long)addr * GOLDEN_RATIO_PRIME) >> table->shift;
}

static nokprobe_inline unsigned int slot_after(const struct site_table *table,
					       unsigned int i)
{
	return (i + 1) & table->mask;
}

/* The place of a site that is in the table. */
static unsigned int slot_of(const struct site_table *table, void *addr)
{
	unsigned int i = slot_first(table, addr);

	while (table->slot[i]->op.kp.addr != addr)
		i = slot_after(table, i);
	return i;
}

/* The first place where a site that is not in the table can go. */
static unsigned int slot_for(const struct site_table *table, void *addr)
{
	unsigned int i = slot_first(table, addr);

	while (table->slot[i] && table->slot[i] != &tombstone)
		i = slot_after(table, i);
	return i;
}

/**
 * get_kprobe() - find the site at an address
 * @addr:	address of an instruction
 *
 * Context: any, NMI included, with preemption off; or under kprobe_mutex.
 * Return: the site's struct kprobe, valid until preemption is enabled or the
 * mutex released; NULL if the address is not probed.
 */
notrace struct kprobe *get_kprobe(void *addr)
{
	struct site_table *table = rcu_dereference_raw(site_table);
	struct kprobe_site *site;
	unsigned int i;

	if (unlikely(!table))
		return NULL;
	i = slot_first(table, addr);
	while ((site = READ_ONCE(table->slot[i]))) {
		if (likely(site->op.kp.addr == addr && site != &tombstone))
			return &site->op.kp;
		i = slot_after(table, i);
	}
	return NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

static struct site_table *site_table_write(void)
{
	return rcu_dereference_protected(site_table,
					 lockdep_is_held(&kprobe_mutex));
}

/* Make a table that is a third full at most when one more has come. */
static int site_table_renew(void)
{
	struct site_table *old = site_table_write(), *new;
	unsigned int bits = SITE_TABLE_MIN_BITS, i;

	while ((1U << bits) < 3 * (nr_sites + 1))
		bits++;
	new = kvzalloc(struct_size(new, slot, 1UL << bits), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->mask = (1U << bits) - 1;
	new->shift = BITS_PER_LONG - bits;
	for (i = 0; old && i <= old->mask; i++) {
		struct kprobe_site *site = old->slot[i];

		if (site && site != &tombstone)
			new->slot[slot_for(new, site->op.kp.addr)] = site;
	}
	new->used = nr_sites;
	rcu_assign_pointer(site_table, new);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* PREPARED -> DISARMED: from now on a hit would find it. */
static int site_hash(struct kprobe_site *site)
{
	struct site_table *table = site_table_write();
	unsigned int i;
	int err;

	if (!table || 2 * table->used > table->mask) {
		err = site_table_renew();
		if (err)
			return err;
		table = site_table_write();
	}
	i = slot_for(table, site->op.kp.addr);
	table->used += !table->slot[i];
	nr_sites++;
	/* Readers must see a whole site. */
	smp_store_release(&table->slot[i], site);
	kprobe_site_enter(site, KPROBE_SITE_DISARMED);
	return 0;
}

/**
 * kprobe_site_unhash() - take a site out of the table
 * @site:	a site in the table
 *
 * Readers may use it for another RCU grace period.
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_site_unhash(struct kprobe_site *site)
{
	struct site_table *table = site_table_write();
	unsigned int i = slot_of(table, site->op.kp.addr);
	bool last = !table->slot[slot_after(table, i)];

	lockdep_assert_held(&kprobe_mutex);
	/* At the end of a chain nobody has to be led on. */
	WRITE_ONCE(table->slot[i], last ? NULL : &tombstone);
	table->used -= last;
	nr_sites--;
}

/**
 * kprobe_site_next() - walk the sites in the table
 * @pos:	where to go on; 0 to begin
 *
 * Sites may leave the table during the walk, but none may join.
 *
 * Context: kprobe_mutex is held.
 * Return: the next site, or NULL at the end.
 */
struct kprobe_site *kprobe_site_next(unsigned int *pos)
{
	struct site_table *table = site_table_write();

	while (table && *pos <= table->mask) {
		struct kprobe_site *site = table->slot[(*pos)++];

		if (site && site != &tombstone)
			return site;
	}
	return NULL;
}

/**
 * kprobe_table_used() - places that a lookup cannot end at
 *
 * Context: kprobe_mutex is held.
 * Return: how many, sites and tombstones.
 */
unsigned int kprobe_table_used(void)
{
	struct site_table *table = site_table_write();

	return table ? table->used : 0;
}

/*
 * Hits
 */

static nokprobe_inline bool user_wants_hit(struct kprobe *user)
{
	return user->pre_handler && likely(!kprobe_disabled(user));
}

/* All of them, until one takes over. */
static notrace noinline int call_users(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe *user;

	list_for_each_entry_rcu(user, &p->list, list) {
		if (user_wants_hit(user) && user->pre_handler(user, regs))
			return 1;
	}
	return 0;
}
NOKPROBE_SYMBOL(call_users);

/**
 * kprobe_site_pre_handler() - call the pre_handlers of a site
 * @p:		the site, as get_kprobe() returns it
 * @regs:	the registers at the probed instruction
 *
 * The first user that takes over ends the round.
 *
 * Context: trap or ftrace callback, preemption off.
 * Return: other than 0 if execution is to go on where @regs says, 0 if with the
 * probed instruction.
 */
notrace int kprobe_site_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	struct list_head *first = READ_ONCE(p->list.next);
	struct kprobe *user;

	/* Nearly always there is one. */
	if (unlikely(first == &p->list || READ_ONCE(first->next) != &p->list))
		return call_users(p, regs);
	user = list_entry(first, struct kprobe, list);
	return user_wants_hit(user) ? user->pre_handler(user, regs) : 0;
}
NOKPROBE_SYMBOL(kprobe_site_pre_handler);

static void site_post_handler(struct kprobe *p, struct pt_regs *regs,
			      unsigned long flags)
{
	struct kprobe *user;

	list_for_each_entry_rcu(user, &p->list, list) {
		if (!user->post_handler || unlikely(kprobe_disabled(user)))
			continue;
		user->post_handler(user, regs, flags);
	}
}
NOKPROBE_SYMBOL(site_post_handler);

#ifdef CONFIG_OPTPROBES
/**
 * opt_pre_handler() - call the pre_handlers of a site from its detour
 * @p:		the site, as get_kprobe() would return it
 * @regs:	the registers at the probed instruction
 *
 * A handler that returns other than 0 is obeyed if it has set the instruction
 * pointer.  If it has not, it cannot mean that: the users of a breakpoint who
 * always return 1 would make execution go on behind the breakpoint's byte.
 *
 * Context: detour, preemption off.
 * Return: 1 if execution is to go on where @regs says, 0 if with the displaced
 * instructions.
 */
int opt_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);
	struct kprobe *user;

	list_for_each_entry_rcu(user, &p->list, list) {
		if (user_wants_hit(user) && user->pre_handler(user, regs) &&
		    instruction_pointer(regs) != ip)
			return 1;
	}
	return 0;
}
NOKPROBE_SYMBOL(opt_pre_handler);

/**
 * kprobe_disarmed() - does a site leave its text alone?
 * @p:		a site, as get_kprobe() returns it
 *
 * Context: kprobe_mutex is held.
 * Return: true if no handler is to be called there.
 */
bool kprobe_disarmed(struct kprobe *p)
{
	return !kprobe_site_wants_hits(kprobe_to_site(p));
}
#endif

/**
 * kprobes_inc_nmissed_count() - count a hit for which no handler can run
 * @p:		the site, as get_kprobe() returns it
 *
 * Context: any, with preemption off.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	struct kprobe *user;

	list_for_each_entry_rcu(user, &p->list, list)
		kprobe_count_miss(&user->nmissed);
}
NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

static struct kprobe kprobe_busy = {
	.addr = (void *)get_kprobe,
};

/*
 * What each kprobe_busy_begin() on this CPU has interrupted.  Twice for each of
 * task, softirq, interrupt and NMI is more than there is a use for.
 */
struct busy_stack {
	unsigned int depth;
	struct {
		struct kprobe *kp;
		unsigned long status;
	} outer[8];
};

static DEFINE_PER_CPU(struct busy_stack, busy_stack);

/**
 * kprobe_busy_begin() - make this CPU look as if it were in a handler
 *
 * Until kprobe_busy_end(), hits on this CPU are counted as missed.  For code
 * that must not be interrupted by a probe, and for users of other hooks that
 * share data with probes.  Nests, in handlers as well: afterwards the CPU is in
 * whatever it was in before.
 *
 * Context: any; leaves with preemption off.
 */
void kprobe_busy_begin(void)
{
	struct kprobe_ctlblk *kcb;
	struct busy_stack *stack;
	unsigned int level;

	preempt_disable();
	kcb = get_kprobe_ctlblk();
	stack = this_cpu_ptr(&busy_stack);
	/* Whoever interrupts here takes the level above, and leaves it again. */
	level = stack->depth++;
	barrier();
	if (!WARN_ON_ONCE(level >= ARRAY_SIZE(stack->outer))) {
		stack->outer[level].kp = kprobe_running();
		stack->outer[level].status = kcb->kprobe_status;
	}
	__this_cpu_write(current_kprobe, &kprobe_busy);
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;
}

/**
 * kprobe_busy_end() - undo kprobe_busy_begin()
 *
 * Context: as kprobe_busy_begin() left it.
 */
void kprobe_busy_end(void)
{
	struct busy_stack *stack = this_cpu_ptr(&busy_stack);
	unsigned int level = stack->depth - 1;

	if (level < ARRAY_SIZE(stack->outer)) {
		get_kprobe_ctlblk()->kprobe_status = stack->outer[level].status;
		__this_cpu_write(current_kprobe, stack->outer[level].kp);
	}
	barrier();
	stack->depth = level;
	preempt_enable();
}

/*
 * An oops amid a hit ends the task, or the machine: nobody will return to the
 * handler, and the next hit on this CPU is none amid another.
 */
static int forget_hit(struct notifier_block *self, unsigned long val, void *data)
{
	if (val == DIE_OOPS && !preemptible() && kprobe_running()) {
		__this_cpu_write(busy_stack.depth, 0);
		arch_kprobe_forget_hit();
		reset_current_kprobe();
	}
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(forget_hit);

static struct notifier_block kprobe_oops_nb = {
	.notifier_call = forget_hit,
	.priority = INT_MAX,
};

/**
 * arch_kprobe_forget_hit() - the hits under way on this CPU will not go on
 *
 * For what an architecture keeps of them beside current_kprobe.
 *
 * Context: oops, preemption off.
 */
void __weak arch_kprobe_forget_hit(void)
{
	get_kprobe_ctlblk()->kprobe_status = 0;
}
NOKPROBE_SYMBOL(arch_kprobe_forget_hit);

/**
 * dump_kprobe() - say in the log which probe is concerned
 * @kp:		a probe
 *
 * Context: any; meant for the moments before a panic.
 */
void dump_kprobe(struct kprobe *kp)
{
	pr_err("probe at %pS, symbol %s, offset 0x%x\n", kp->addr,
	       kp->symbol_name, kp->offset);
}
NOKPROBE_SYMBOL(dump_kprobe);

/*
 * Joining and leaving a site
 */

static bool site_has_user(struct kprobe_site *site, struct kprobe *p)
{
	struct kprobe *user;

	list_for_each_entry(user, kprobe_site_users(site), list) {
		if (user == p)
			return true;
	}
	return false;
}

/* The site at an address, if the user is on it; there or when that was there. */
static struct kprobe_site *site_at(void *addr, struct kprobe *p)
{
	struct kprobe *found = get_kprobe(addr);
	struct kprobe_site *site;

	if (found && site_has_user(kprobe_to_site(found), p))
		return kprobe_to_site(found);
	hash_for_each_possible(gone_by_addr, site, op.kp.hlist, (unsigned long)addr) {
		if (site->op.kp.addr == addr && site_has_user(site, p))
			return site;
	}
	return NULL;
}

/*
 * May an object be on a list of users?  It is whatever its owner has made of it
 * and may never have been given a value, so the pointer in it is followed as one
 * into nowhere.  Of a user on a list the neighbour points back.
 */
static bool looks_linked(struct kprobe *p)
{
	struct list_head *prev = READ_ONCE(p->list.prev), *back;

	return prev != &p->list && !get_kernel_nofault(back, &prev->next) &&
	       back == &p->list;
}

/* The site that a user is on, also if its address was changed since. */
static struct kprobe_site *site_of(struct kprobe *p)
{
	struct kprobe_site *site = site_at(p->addr, p);
	unsigned int pos;

	if (site || !looks_linked(p))
		return site;
	for_each_kprobe_site(site, pos) {
		if (site_has_user(site, p))
			return site;
	}
	list_for_each_entry(site, &kprobe_gone_sites, op.list) {
		if (site_has_user(site, p))
			return site;
	}
	return NULL;
}

/* What get_kprobe() has shown to somebody is no user's object. */
static bool is_site(struct kprobe *p)
{
	return get_kprobe(p->addr) == p;
}

/**
 * kprobe_gone_add() - keep a site whose text went away for its users
 * @site:	a site in state GONE, on no list
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_gone_add(struct kprobe_site *site)
{
	list_add_tail(&site->op.list, &kprobe_gone_sites);
	hash_add(gone_by_addr, &site->op.kp.hlist,
		 (unsigned long)site->op.kp.addr);
}

/* The last user of a site whose text is gone has left. */
static void gone_del(struct kprobe_site *site)
{
	list_del_init(&site->op.list);
	hash_del(&site->op.kp.hlist);
	kprobe_site_enter(site, KPROBE_SITE_RETIRED);
	kprobe_site_retire(site);
}

static int site_prepare(struct kprobe_site *site)
{
	guard(kprobe_text)();
	if (site->kind == KPROBE_SITE_FTRACE)
		return arch_prepare_kprobe_ftrace(&site->op.kp);
	return arch_prepare_kprobe(&site->op.kp);
}

static struct kprobe_site *site_make(const struct kprobe_place *place)
{
	struct kprobe_site *site = kprobe_site_alloc();
	int err;

	if (!site)
		return ERR_PTR(-ENOMEM);
	site->kind = place->ftrace ? KPROBE_SITE_FTRACE : KPROBE_SITE_INT3;
	site->op.kp.addr = place->addr;
	site->op.kp.pre_handler = kprobe_site_pre_handler;
	if (place->entry)
		site->op.kp.flags = KPROBE_FLAG_ON_FUNC_ENTRY;
	INIT_LIST_HEAD(kprobe_site_users(site));
	INIT_LIST_HEAD(&site->op.list);
	err = site_prepare(site);
	if (!err)
		err = site_hash(site);
	if (err) {
		pr_debug("%pS: cannot be prepared (%d)\n", place->addr, err);
		kprobe_site_free(site);
		return ERR_PTR(err);
	}
	return site;
}

/*
 * Most architectures read a site's post_handler once to see whether there is one
 * and again to call it: once set it stays, and finds nobody to call.
 */
static void site_count(struct kprobe_site *site, struct kprobe *p, int by)
{
	site->nr_users += by;
	if (!(p->flags & KPROBE_FLAG_DISABLED))
		site->nr_enabled += by;
	if (p->post_handler)
		site->nr_post += by;
	if (site->nr_post)
		WRITE_ONCE(site->op.kp.post_handler, site_post_handler);
}

static void site_join(struct kprobe_site *site, struct kprobe *p)
{
	p->addr = site->op.kp.addr;
	p->opcode = site->op.kp.opcode;
	p->nmissed = 0;
	p->flags &= KPROBE_FLAG_DISABLED;
	p->flags |= site->op.kp.flags &
		    (KPROBE_FLAG_FTRACE | KPROBE_FLAG_ON_FUNC_ENTRY);
	site_count(site, p, 1);
	/* The newest first, as it always was. */
	list_add_rcu(&p->list, kprobe_site_users(site));
}

/* Put one probe on its site, made if need be.  Text is changed by the commit. */
static int attach(struct kprobe *p, const struct kprobe_place *place,
		  struct list_head *dirty)
{
	struct kprobe *found = get_kprobe(place->addr);
	struct kprobe_site *site = found ? kprobe_to_site(found) : site_make(place);

	if (IS_ERR(site))
		return PTR_ERR(site);
	site_join(site, p);
	kprobe_site_mark(site, dirty);
	return 0;
}

/* Take one probe off its site; false if it is on none. */
static bool detach(struct kprobe *p, struct list_head *dirty)
{
	struct kprobe_site *site = site_of(p);

	if (!site)
		return false;
	list_del_rcu(&p->list);
	site_count(site, p, -1);
	if (site->state != KPROBE_SITE_GONE)
		kprobe_site_mark(site, dirty);
	else if (!site->nr_users)
		gone_del(site);
	return true;
}

static int refuse_registered(struct kprobe *p)
{
	pr_debug("%pS: registered already (%d)\n", p->addr, -EINVAL);
	return -EINVAL;
}

/* The probe may be on the list of the place though nothing in it says so. */
static int element_join(struct kprobe *p, const struct kprobe_place *place,
			const struct kprobe_array_ops *ops,
			struct list_head *dirty)
{
	int err;

	if (site_at(place->addr, p))
		return refuse_registered(p);
	err = ops->prepare ? ops->prepare(p, place) : 0;
	if (err)
		return err;
	err = attach(p, place, dirty);
	if (err && ops->release)
		ops->release(p);
	return err;
}

/* One element of an array: not registered yet, then ready to be hit. */
static int element_attach(struct kprobe *p, const struct kprobe_array_ops *ops,
			  struct list_head *dirty)
{
	struct kprobe_place *place;
	int err;

	if (site_of(p) || is_site(p))
		return refuse_registered(p);
	place = kmalloc(sizeof(*place), GFP_KERNEL);
	if (!place)
		return -ENOMEM;
	err = kprobe_place_get(place, p);
	if (!err) {
		err = element_join(p, place, ops, dirty);
		kprobe_place_put(place);
	}
	kfree(place);
	return err;
}

static bool element_detach(struct kprobe *p, const struct kprobe_array_ops *ops,
			   struct list_head *dirty)
{
	if (!detach(p, dirty))
		return false;
	if (ops->release)
		ops->release(p);
	return true;
}

/* Take back the first elements of a failed call, as if they had never been. */
static void array_undo(void *array, int num, const struct kprobe_array_ops *ops,
		       struct list_head *dirty)
{
	while (num--) {
		struct kprobe *p = ops->nth(array, num);

		element_detach(p, ops, dirty);
		if (p->symbol_name)
			p->addr = NULL;
		p->flags &= KPROBE_FLAG_DISABLED;
	}
	kprobe_sites_commit(dirty);
}

/*
 * Is there an element that wants hits and gets none?  What a commit was refused
 * for somebody else is no concern of these.
 */
static bool array_refused(void *array, int num,
			  const struct kprobe_array_ops *ops)
{
	while (num--) {
		struct kprobe *p = ops->nth(array, num);

		if (!kprobe_disabled(p) && kprobe_site_refused(site_of(p)))
			return true;
	}
	return false;
}

/**
 * kprobe_array_register() - register all elements of an array, or none
 * @array:	the array
 * @num:	how many elements
 * @ops:	how to get at them
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: see register_kprobes().
 */
int kprobe_array_register(void *array, int num,
			  const struct kprobe_array_ops *ops)
{
	LIST_HEAD(dirty);
	int err = 0, done = 0;

	if (num <= 0)
		return -EINVAL;
	mutex_lock(&kprobe_mutex);
	while (done < num) {
		err = element_attach(ops->nth(array, done), ops, &dirty);
		if (err)
			break;
		done++;
	}
	if (!err) {
		err = kprobe_sites_commit(&dirty);
		if (err && !array_refused(array, num, ops))
			err = 0;
	}
	if (err)
		array_undo(array, done, ops, &dirty);
	mutex_unlock(&kprobe_mutex);
	if (err && done)
		synchronize_rcu();
	return err;
}

/**
 * kprobe_array_unregister() - unregister all elements of an array
 * @array:	the array
 * @num:	how many elements
 * @ops:	how to get at them
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 */
void kprobe_array_unregister(void *array, int num,
			     const struct kprobe_array_ops *ops)
{
	LIST_HEAD(dirty);
	int i;

	if (num <= 0)
		return;
	mutex_lock(&kprobe_mutex);
	for (i = 0; i < num; i++) {
		struct kprobe *p = ops->nth(array, i);

		if (!element_detach(p, ops, &dirty) && !is_site(p))
			p->addr = NULL;
	}
	kprobe_sites_commit(&dirty);
	mutex_unlock(&kprobe_mutex);
	synchronize_rcu();
}

/*
 * The user's API
 */

static struct kprobe *nth_kprobe(void *array, int i)
{
	return ((struct kprobe **)array)[i];
}

static const struct kprobe_array_ops kprobe_array_ops = {
	.nth = nth_kprobe,
};

/**
 * register_kprobes() - register several probes, all or none
 * @kps:	array of pointers to filled-in probes
 * @num:	how many
 *
 * The text is changed for all of them together.  On an error nothing has
 * changed, though handlers of probes that joined others may have been called.
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0; otherwise the error of the first probe that cannot be registered,
 * see register_kprobe(), or -EINVAL if @num is not positive.
 */
int register_kprobes(struct kprobe **kps, int num)
{
	return kprobe_array_register(kps, num, &kprobe_array_ops);
}
EXPORT_SYMBOL_GPL(register_kprobes);

/**
 * register_kprobe() - start probing an instruction
 * @p:		the probe, with either addr or symbol_name, offset in bytes, and
 *		handlers; flags may be KPROBE_FLAG_DISABLED to start disabled
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0, or
 *
 * * -EINVAL: not exactly one of addr and symbol_name is given; @p is registered
 *   already; the address is not kernel text, is blacklisted, or belongs to
 *   another patcher of text (static key, static call, bug entry)
 * * -ENOENT: no such symbol or no symbol there; the module is going away or has
 *   freed that text
 * * -EILSEQ: not the first byte of an instruction, or an instruction that must
 *   not be probed
 * * -EOPNOTSUPP: an instruction that cannot be carried out elsewhere
 * * -ENOMEM: out of memory
 * * what ftrace says of a function's entry (-EBUSY, -ENODEV)
 */
int register_kprobe(struct kprobe *p)
{
	return register_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(register_kprobe);

/**
 * unregister_kprobes() - unregister several probes
 * @kps:	array of pointers to registered probes
 * @num:	how many; nothing is done if not positive
 *
 * When this returns, no handler of theirs runs or will run.  One that is not
 * registered is left alone, except that its addr becomes NULL; what get_kprobe()
 * returned is nobody's to unregister and stays as it is.
 *
 * Context: process context, may sleep; takes kprobe_mutex and then waits for one
 * RCU grace period, whatever the number.
 */
void unregister_kprobes(struct kprobe **kps, int num)
{
	kprobe_array_unregister(kps, num, &kprobe_array_ops);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

/**
 * unregister_kprobe() - stop probing
 * @p:		a registered probe
 *
 * See unregister_kprobes().
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 */
void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);

/*
 * Change whether a user wants hits, and what follows from it.  An error is that
 * of any site of the commit.
 */
static int user_set_enabled(struct kprobe *p, struct kprobe_site *site,
			    bool enable)
{
	LIST_HEAD(dirty);

	if (enable)
		p->flags &= ~KPROBE_FLAG_DISABLED;
	else
		p->flags |= KPROBE_FLAG_DISABLED;
	site->nr_enabled += enable ? 1 : -1;
	kprobe_site_mark(site, &dirty);
	return kprobe_sites_commit(&dirty);
}

/**
 * disable_kprobe() - stop calling the handlers of a probe for a while
 * @kp:		a registered probe
 *
 * Handlers that are running may go on after this has returned.  Disabling a
 * disabled probe, or one whose text is gone, does nothing.
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0; -EINVAL if @kp is not registered.
 */
int disable_kprobe(struct kprobe *kp)
{
	struct kprobe_site *site;

	guard(mutex)(&kprobe_mutex);
	site = site_of(kp);
	if (!site)
		return -EINVAL;
	/* To have others of the site armed may fail, to be rid of hits never. */
	if (!kprobe_disabled(kp))
		user_set_enabled(kp, site, false);
	return 0;
}
EXPORT_SYMBOL_GPL(disable_kprobe);

/**
 * enable_kprobe() - call the handlers of a disabled probe again
 * @kp:		a registered probe
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 * Return: 0; -EINVAL if @kp is not registered or its text is gone; what ftrace
 * says, and then the probe stays disabled.
 */
int enable_kprobe(struct kprobe *kp)
{
	struct kprobe_site *site;
	int err;

	guard(mutex)(&kprobe_mutex);
	site = site_of(kp);
	if (!site || kprobe_gone(kp))
		return -EINVAL;
	if (!kprobe_disabled(kp))
		return 0;
	err = user_set_enabled(kp, site, true);
	if (!err || !kprobe_site_refused(site))
		return 0;
	user_set_enabled(kp, site, false);
	return err;
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/*
 * Start-up
 */

static bool in_init_section(unsigned long addr, const void *unused)
{
	return init_section_contains((void *)addr, 1);
}

/**
 * kprobe_free_init_mem() - what the boot is done with is about to be freed
 *
 * Context: process context, may sleep; takes kprobe_mutex.
 */
void kprobe_free_init_mem(void)
{
	guard(mutex)(&kprobe_mutex);
	kprobe_sites_gone(in_init_section, NULL);
}

/**
 * kprobe_exceptions_notify() - what an architecture wants of die notifications
 * @self:	the notifier block
 * @val:	enum die_val
 * @data:	struct die_args
 *
 * For architectures that have no direct call in their trap handlers.
 *
 * Context: trap.
 * Return: NOTIFY_STOP if the trap was a probe's, else NOTIFY_DONE.
 */
int __weak kprobe_exceptions_notify(struct notifier_block *self,
				    unsigned long val, void *data)
{
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(kprobe_exceptions_notify);

static struct notifier_block kprobe_exceptions_nb = {
	.notifier_call = kprobe_exceptions_notify,
	.priority = INT_MAX,
};

static int __init kprobes_init(void)
{
	int err = kprobe_blacklist_init();

	if (err)
		pr_err("blacklist is incomplete (%d): take care where you probe\n",
		       err);
	kretprobe_blacklist_init();
	err = arch_init_kprobes();
	if (!err)
		err = register_die_notifier(&kprobe_exceptions_nb);
	if (!err)
		err = register_die_notifier(&kprobe_oops_nb);
	if (!err)
		err = kprobe_module_init();
	return err;
}
early_initcall(kprobes_init);
