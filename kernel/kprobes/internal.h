/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the generic core share.  The theory is at the top of
 * kernel/kprobes.c.
 */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/mutex.h>

struct module;
struct static_call_site;

#ifndef CONFIG_OPTPROBES
struct optimized_kprobe {
	struct kprobe kp;
	struct list_head list;
};
#endif

/* The states of a site; the edges between them are in site.c. */
enum kprobe_site_state {
	KPROBE_SITE_PREPARED,	/* made, not in the table */
	KPROBE_SITE_DISARMED,	/* in the table, text as compiled */
	KPROBE_SITE_ARMED,	/* breakpoint in the text, or known to ftrace */
	KPROBE_SITE_OPTIMIZING,	/* breakpoint; hits take the detour already */
	KPROBE_SITE_OPTIMIZED,	/* jump in the text */
	KPROBE_SITE_RETIRED,	/* out of the table, waiting to be freed */
	KPROBE_SITE_GONE,	/* its text went away before its users did */
	KPROBE_SITE_NR
};

enum kprobe_site_kind {
	KPROBE_SITE_INT3,	/* hits come from a breakpoint, or a jump */
	KPROBE_SITE_FTRACE,	/* hits come from ftrace */
};

/**
 * struct kprobe_site - everything about one probed address
 * @op:		what the architecture sees.  op.kp is what get_kprobe() finds:
 *		its list is the head of the users, its flags are projected from
 *		the state.  op.list is on at most one list: of a commit, of the
 *		optimizer, of the sites to be freed or of those that are gone
 * @state:	enum kprobe_site_state, written in site.c alone
 * @kind:	enum kprobe_site_kind, fixed when the site is made
 * @refusal:	enum kprobe_opt_reason found when preparing the detour
 * @ipmodify:	armed so that handlers may change regs->ip (ftrace)
 * @leaving:	its text is about to go away
 * @nr_users:	probes on the address
 * @nr_enabled:	those of them that want hits
 * @nr_post:	those of them that have a post_handler
 *
 * Under kprobe_mutex, but for what handlers read: op.kp under RCU.
 */
struct kprobe_site {
	struct optimized_kprobe op;
	u8 state;
	u8 kind;
	u8 refusal;
	bool ipmodify : 1;
	bool leaving : 1;
	unsigned int nr_users;
	unsigned int nr_enabled;
	unsigned int nr_post;
};

static inline struct kprobe_site *kprobe_to_site(struct kprobe *p)
{
	return container_of(p, struct kprobe_site, op.kp);
}

static inline struct kprobe_site *op_to_site(struct optimized_kprobe *op)
{
	return container_of(op, struct kprobe_site, op);
}

static inline struct list_head *kprobe_site_users(struct kprobe_site *site)
{
	return &site->op.kp.list;
}

/**
 * struct kprobe_place - what is known of an address that is to be probed
 * @addr:	the instruction's address
 * @name:	symbol it belongs to
 * @mod:	module whose text it is, with a reference held, or NULL
 * @entry:	it is the first instruction of a function
 * @ftrace:	ftrace calls from there
 */
struct kprobe_place {
	kprobe_opcode_t *addr;
	char name[KSYM_NAME_LEN];
	struct module *mod;
	bool entry;
	bool ftrace;
};

extern bool kprobes_all_disarmed;

DEFINE_LOCK_GUARD_0(kprobe_text,
		    ({ cpus_read_lock(); mutex_lock(&text_mutex); }),
		    ({ mutex_unlock(&text_mutex); cpus_read_unlock(); }))

/* kprobes.c: the table */
struct kprobe_site *kprobe_site_next(unsigned int *pos);
void kprobe_site_unhash(struct kprobe_site *site);
unsigned int kprobe_table_used(void);
void kprobe_gone_add(struct kprobe_site *site);
extern struct list_head kprobe_gone_sites;

/* Walk all sites of the table, under kprobe_mutex. */
#define for_each_kprobe_site(site, pos)					\
	for ((pos) = 0; ((site) = kprobe_site_next(&(pos)));)

/**
 * struct kprobe_array_ops - arrays of things that have a struct kprobe in them
 * @nth:	the struct kprobe of an element
 * @prepare:	make it fit to be registered at a place, or NULL; returns 0 or an
 *		errno
 * @release:	undo that, or NULL.  Hits may still come until an RCU grace
 *		period has passed
 *
 * Called under kprobe_mutex.
 */
struct kprobe_array_ops {
	struct kprobe *(*nth)(void *array, int i);
	int (*prepare)(struct kprobe *p, const struct kprobe_place *place);
	void (*release)(struct kprobe *p);
};

/* kprobes.c */
int kprobe_array_register(void *array, int num,
			  const struct kprobe_array_ops *ops);
void kprobe_array_unregister(void *array, int num,
			     const struct kprobe_array_ops *ops);

/* site.c */
enum kprobe_site_state kprobe_site_target(struct kprobe_site *site);
bool kprobe_site_edge(enum kprobe_site_state from, enum kprobe_site_state to);
const char *kprobe_site_state_name(enum kprobe_site_state state);
enum kprobe_opt_reason kprobe_site_reason(struct kprobe_site *site);
const char *kprobe_opt_reason_text(enum kprobe_opt_reason reason);
bool kprobe_site_wants_hits(struct kprobe_site *site);
void kprobe_site_enter(struct kprobe_site *site, enum kprobe_site_state to);
void kprobe_site_mark(struct kprobe_site *site, struct list_head *dirty);
void kprobe_site_mark_all(struct list_head *dirty);
int kprobe_sites_commit(struct list_head *dirty);
bool kprobe_site_refused(struct kprobe_site *site);
void kprobe_sites_gone(bool (*leaves)(unsigned long addr, const void *data),
		       const void *data);

/* address.c */
kprobe_opcode_t *kprobe_resolve(kprobe_opcode_t *addr, const char *symbol,
				unsigned long offset, bool *entry);
int kprobe_place_get(struct kprobe_place *place, const struct kprobe *p);
void kprobe_place_put(struct kprobe_place *place);

/* reserved.c */
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
/* Made by the linker. */
extern struct static_call_site __start_static_call_sites[];
extern struct static_call_site __stop_static_call_sites[];
#endif

int kprobe_reserved_prepare(unsigned long addr);
#ifdef CONFIG_MODULES
void kprobe_reserved_module_del(struct module *mod);
#endif

/* blacklist.c */
int kprobe_blacklist_init(void);
void kprobe_blacklist_module_add(struct module *mod);
void kprobe_blacklist_module_del(struct module *mod);
bool kprobe_blacklist_next(unsigned long *start, unsigned long *end);

/* retire.c */
void kprobe_site_free(struct kprobe_site *site);
void kprobe_site_retire(struct kprobe_site *site);
unsigned int kprobe_sites_alive(void);
struct kprobe_site *kprobe_site_alloc(void);

/* ftrace.c */
#ifdef CONFIG_KPROBES_ON_FTRACE
int kprobe_ftrace_commit(struct list_head *dirty);
#else
static inline int kprobe_ftrace_commit(struct list_head *dirty) { return 0; }
#endif

/* module.c */
#ifdef CONFIG_MODULES
int kprobe_module_init(void);
#else
static inline int kprobe_module_init(void) { return 0; }
#endif

/* optimizer.c */
#ifdef CONFIG_OPTPROBES
bool kprobe_opt_allowed(void);
bool kprobe_opt_prepared(struct kprobe_site *site);
int kprobe_opt_check(struct kprobe_site *site);
void kprobe_opt_users(struct kprobe_site *site);
void kprobe_opt_prepare(struct kprobe_site *site);
void kprobe_opt_queue(struct kprobe_site *site);
void kprobe_opt_remove(struct list_head *sites);
bool kprobe_opt_covers(struct kprobe_site *site, kprobe_opcode_t *addr);
void kprobe_opt_free(struct kprobe_site *site);
void kprobe_opt_module_add(struct module *mod);
void kprobe_opt_module_del(struct module *mod);
#else
static inline bool kprobe_opt_allowed(void) { return false; }
static inline bool kprobe_opt_prepared(struct kprobe_site *site)
{
	return false;
}

static inline int kprobe_opt_check(struct kprobe_site *site) { return 0; }
static inline void kprobe_opt_users(struct kprobe_site *site) { }
static inline void kprobe_opt_prepare(struct kprobe_site *site) { }
static inline void kprobe_opt_queue(struct kprobe_site *site) { }
static inline void kprobe_opt_remove(struct list_head *sites) { }
static inline bool kprobe_opt_covers(struct kprobe_site *site,
				     kprobe_opcode_t *addr)
{
	return false;
}

static inline void kprobe_opt_free(struct kprobe_site *site) { }
static inline void kprobe_opt_module_add(struct module *mod) { }
static inline void kprobe_opt_module_del(struct module *mod) { }
#endif

/* kretprobe.c */
#ifdef CONFIG_KRETPROBES
void kretprobe_blacklist_init(void);
bool kprobe_is_return(struct kprobe *p);
#else
static inline void kretprobe_blacklist_init(void) { }
static inline bool kprobe_is_return(struct kprobe *p) { return false; }
#endif

/* kretprobe_rethook.c, kretprobe_legacy.c */
int kretprobe_pool_init(struct kretprobe *rp);
void kretprobe_pool_release(struct kretprobe *rp);
int kretprobe_pre_handler(struct kprobe *p, struct pt_regs *regs);

/* Several CPUs may miss a hit of the same probe at the same time. */
#define kprobe_count_miss(nmissed)					\
do {									\
	typeof(nmissed) __counter = (nmissed);				\
	typeof(*__counter) __old = READ_ONCE(*__counter);		\
									\
	while (!try_cmpxchg(__counter, &__old, __old + 1))		\
		;							\
} while (0)

/* Ask the user, if he wants to be asked, whether to follow this call. */
static nokprobe_inline bool kretprobe_declined(struct kretprobe_instance *ri,
					       struct kretprobe *rp,
					       struct pt_regs *regs)
{
	kretprobe_handler_t ask = rp->entry_handler;

	return ask && ask(ri, regs);
}

#endif /* _KERNEL_KPROBES_INTERNAL_H */
