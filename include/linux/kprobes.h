/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel probes: run a handler whenever an instruction of the kernel executes.
 *
 *   Part 1  the user's API: fill a struct kprobe or kretprobe, register it
 *   Part 2  the contract between the generic core and an architecture
 *   Part 3  what the API becomes in a kernel without kprobes
 *
 * How it works is told at the top of kernel/kprobes.c, how to use it in
 * Documentation/trace/kprobes.rst.
 */
#ifndef _LINUX_KPROBES_H
#define _LINUX_KPROBES_H

#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/smp.h>
#include <linux/bug.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/rcupdate.h>
#include <linux/mutex.h>
#include <linux/ftrace.h>
#include <linux/objpool.h>
#include <linux/rethook.h>
#include <asm/kprobes.h>

#ifndef CONFIG_KPROBES
#include <asm-generic/kprobes.h>
typedef int kprobe_opcode_t;
struct arch_specific_insn {
	int dummy;
};
#endif

/*
 * Part 1: the user's API
 * ----------------------
 */

struct kprobe;
struct kretprobe;
struct kretprobe_instance;
struct pt_regs;

typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs,
				      unsigned long flags);
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri,
				   struct pt_regs *regs);

/**
 * struct kprobe - one user's probe on one instruction
 * @hlist:	not used for the user's own object
 * @list:	member of the list of all probes on the same address
 * @nmissed:	hits for which no handler ran, because one was running already
 * @addr:	address of the probed instruction; to be filled in by the user, or
 *		found from @symbol_name and left here by register_kprobe()
 * @symbol_name: function to probe; give either this or @addr
 * @offset:	bytes from the start of the symbol, or from @addr
 * @pre_handler: called before the instruction runs, or NULL.  A return value
 *		other than 0 says that regs->ip was set and is to be obeyed
 * @post_handler: called after the instruction ran, or NULL; prevents
 *		optimization
 * @opcode:	the architecture's copy of what the breakpoint replaced
 * @ainsn:	the architecture's copy of the instruction
 * @flags:	KPROBE_FLAG_*.  Before registering, only KPROBE_FLAG_DISABLED may
 *		be set; afterwards it is for reading, under no lock
 *
 * Handlers run with preemption off and must not sleep.  The object belongs to
 * the kernel from register_kprobe() until unregister_kprobe() has returned.
 */
struct kprobe {
	struct hlist_node hlist;
	struct list_head list;
	unsigned long nmissed;
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_opcode_t opcode;
	struct arch_specific_insn ainsn;
	u32 flags;
};

#define KPROBE_FLAG_GONE	1	/* the probed text is no longer there */
#define KPROBE_FLAG_DISABLED	2	/* its handlers are not to be called */
#define KPROBE_FLAG_OPTIMIZED	4	/* of a site: has, or waits for, a jump */
#define KPROBE_FLAG_FTRACE	8	/* hits come from ftrace */
#define KPROBE_FLAG_ON_FUNC_ENTRY 16	/* first instruction of a function */
#define KPROBE_FLAG_POST_HANDLER 32	/* of a site: a user has a post_handler */

static inline bool kprobe_gone(struct kprobe *p)
{
	return p->flags & KPROBE_FLAG_GONE;
}

/* Disabled by its user, or for good because its text went away. */
static inline bool kprobe_disabled(struct kprobe *p)
{
	return p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE);
}

static inline bool kprobe_optimized(struct kprobe *p)
{
	return p->flags & KPROBE_FLAG_OPTIMIZED;
}

static inline bool kprobe_ftrace(struct kprobe *p)
{
	return p->flags & KPROBE_FLAG_FTRACE;
}

/* Bytes of private data that an instance of a return probe may have. */
#define KRETPROBE_MAX_DATA_SIZE	4096

/* Instances may outlive their kretprobe; @rp is NULL once it is gone. */
struct kretprobe_holder {
	struct kretprobe __rcu *rp;
	struct objpool_head pool;
	struct rcu_head rcu;
};

/**
 * struct kretprobe - a probe on the return of a function
 * @kp:		where: the function's first instruction
 * @handler:	called when the function returns
 * @entry_handler: called when it is entered, or NULL.  If it returns other than
 *		0 the return of this call is not probed
 * @maxactive:	calls that can be followed at a time; 0 or less chooses
 *		max(10, 2 * number of possible CPUs)
 * @nmissed:	calls not followed because @maxactive were under way
 * @data_size:	bytes of private data in each instance, up to
 *		KRETPROBE_MAX_DATA_SIZE
 * @rh:		used by the kernel
 * @rph:	used by the kernel, on architectures without rethook
 */
struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook *rh;
#else
	struct kretprobe_holder *rph;
#endif
};

/**
 * struct kretprobe_instance - one call whose return is awaited
 * @node:	the return hook
 * @rcu:	for freeing, on architectures without rethook, like all below
 * @llist:	member of the task's list of awaited returns
 * @rph:	the way to the kretprobe
 * @ret_addr:	where the call really returns to
 * @fp:		the frame of the call
 * @data:	the user's private data, data_size bytes
 */
struct kretprobe_instance {
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook_node node;
#else
	struct rcu_head rcu;
	struct llist_node llist;
	struct kretprobe_holder *rph;
	kprobe_opcode_t *ret_addr;
	void *fp;
#endif
	char data[];
};

struct kretprobe_blackpoint {
	const char *name;
	void *addr;
};

#ifdef CONFIG_KPROBES

int register_kprobe(struct kprobe *p);
void unregister_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobes(struct kprobe **kps, int num);

#ifdef CONFIG_KRETPROBES
int register_kretprobe(struct kretprobe *rp);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobes(struct kretprobe **rps, int num);
#endif

int disable_kprobe(struct kprobe *kp);
int enable_kprobe(struct kprobe *kp);

int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym,
			 unsigned long offset);
bool within_kprobe_blacklist(unsigned long addr);

/*
 * The probe whose handler runs on this CPU, as get_kprobe() names it; in the
 * handler of a return probe, the kretprobe's own struct kprobe.  NULL if none
 * runs.  Preemption must be off.
 */
DECLARE_PER_CPU(struct kprobe *, current_kprobe);

static inline struct kprobe *kprobe_running(void)
{
	return __this_cpu_read(current_kprobe);
}

/* Between these two, hits on this CPU are counted as missed. */
void kprobe_busy_begin(void);
void kprobe_busy_end(void);

/*
 * Part 2: the contract between the generic core and an architecture
 * -----------------------------------------------------------------
 */

/* What a CPU is doing with a hit, in kprobe_ctlblk.kprobe_status. */
#define KPROBE_HIT_ACTIVE	0x00000001	/* in a pre_handler */
#define KPROBE_HIT_SS		0x00000002	/* running the copy */
#define KPROBE_REENTER		0x00000004	/* a hit inside another one */
#define KPROBE_HIT_SSDONE	0x00000008	/* in a post_handler */

DECLARE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

static inline struct kprobe_ctlblk *get_kprobe_ctlblk(void)
{
	return this_cpu_ptr(&kprobe_ctlblk);
}

static inline void reset_current_kprobe(void)
{
	__this_cpu_write(current_kprobe, NULL);
}

/* The site at an address.  Preemption off, or kprobe_mutex held. */
struct kprobe *get_kprobe(void *addr);

/* What a site's pre_handler points at, for a call that need not be indirect. */
int kprobe_site_pre_handler(struct kprobe *p, struct pt_regs *regs);
void kprobes_inc_nmissed_count(struct kprobe *p);

/* Traps whose breakpoint was gone when they were handled, shown in debugfs. */
DECLARE_PER_CPU(unsigned long, kprobe_stale_hits);

void dump_kprobe(struct kprobe *kp);

/* Breakpoints.  kprobe_mutex, cpus_read_lock() and text_mutex are held. */
int arch_prepare_kprobe(struct kprobe *p);
void arch_arm_kprobe(struct kprobe *p);
void arch_disarm_kprobe(struct kprobe *p);

/*
 * The same for many at a time, where an architecture can: after any number of
 * the first two, the third makes all CPUs see them.
 */
void arch_arm_kprobe_queue(struct kprobe *p);
void arch_disarm_kprobe_queue(struct kprobe *p);
void arch_kprobe_finish(void);

/* An oops ends the hits under way on this CPU. */
void arch_kprobe_forget_hit(void);

int arch_init_kprobes(void);
int arch_trampoline_kprobe(struct kprobe *p);
kprobe_opcode_t *kprobe_lookup_name(const char *name, unsigned int offset);
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr,
					 unsigned long offset,
					 bool *on_func_entry);
int kprobe_exceptions_notify(struct notifier_block *self, unsigned long val,
			     void *data);

/* Text that another patcher owns: static keys, static calls, bug entries. */
bool kprobe_text_reserved(unsigned long start, unsigned long end);

/* Under what the architecture is called with; it may take it where it is not. */
extern struct mutex kprobe_mutex;

/* Blacklist */
extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];
extern struct kretprobe_blackpoint kretprobe_blacklist[];
bool arch_within_kprobe_blacklist(unsigned long addr);
int arch_populate_kprobe_blacklist(void);
int kprobe_add_ksym_blacklist(unsigned long entry);
int kprobe_add_area_blacklist(unsigned long start, unsigned long end);

/* Executable slots */
struct slot_page;

struct kprobe_insn_cache {
	struct mutex mutex;		/* for pages and cursor */
	void *(*alloc)(void);		/* a page to execute from, or NULL */
	void (*free)(void *page);
	const char *sym;		/* its name in kallsyms */
	struct list_head pages;
	size_t insn_size;		/* bytes of a slot, where none are asked */
	int nr_garbage;			/* not used */
	struct slot_page *cursor;	/* where to look for room first */
};

#define KPROBE_INSN_PAGE_SYM	"kprobe_insn_page"
#define KPROBE_OPTINSN_PAGE_SYM	"kprobe_optinsn_page"

void *alloc_insn_page(void);
void *alloc_optinsn_page(void);
void free_optinsn_page(void *page);

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
kprobe_opcode_t *kprobe_slot_alloc(struct kprobe_insn_cache *c, size_t size);
kprobe_opcode_t *__get_insn_slot(struct kprobe_insn_cache *c);
void __free_insn_slot(struct kprobe_insn_cache *c, kprobe_opcode_t *slot,
		      int dirty);
bool __is_insn_slot_addr(struct kprobe_insn_cache *c, unsigned long addr);
int kprobe_cache_get_kallsym(struct kprobe_insn_cache *c, unsigned int *symnum,
			     unsigned long *value, char *type, char *sym);

/* Make get_X_slot(), free_X_slot() and is_kprobe_X_slot() for one cache. */
#define DEFINE_INSN_CACHE_OPS(__name)					\
extern struct kprobe_insn_cache kprobe_##__name##_slots;		\
static inline bool is_kprobe_##__name##_slot(unsigned long addr)	\
{									\
	return __is_insn_slot_addr(&kprobe_##__name##_slots, addr);	\
}									\
static inline void free_##__name##_slot(kprobe_opcode_t *slot, int dirty) \
{									\
	__free_insn_slot(&kprobe_##__name##_slots, slot, dirty);	\
}									\
static inline kprobe_opcode_t *get_##__name##_slot(void)		\
{									\
	return __get_insn_slot(&kprobe_##__name##_slots);		\
}
#else
#define DEFINE_INSN_CACHE_OPS(__name)					\
static inline bool is_kprobe_##__name##_slot(unsigned long addr)	\
{									\
	return false;							\
}
#endif

DEFINE_INSN_CACHE_OPS(insn);

int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
		       char *sym);
int arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
			    char *type, char *sym);

/**
 * enum kprobe_opt_reason - why a site has no jump
 * @KPROBE_OPT_OK:	nothing stands in the way
 * @KPROBE_OPT_UNSUPPORTED: this kernel has no jump optimization
 * @KPROBE_OPT_FTRACE:	ftrace calls the handler without a trap
 * @KPROBE_OPT_GONE:	the probed text is gone
 * @KPROBE_OPT_DISABLED: no user wants hits
 * @KPROBE_OPT_OFF:	debug.kprobes-optimization is 0
 * @KPROBE_OPT_POST_HANDLER: a user has a post_handler
 * @KPROBE_OPT_NEIGHBOUR: an armed probe is inside the region
 * @KPROBE_OPT_PENDING:	the text is still being examined
 * @KPROBE_OPT_NO_MEMORY: no memory for the detour
 * @KPROBE_OPT_LANDING:	control may land inside the region
 * @KPROBE_OPT_NO_ROOM:	code that does not fall through ends inside the region,
 *			and what follows is no padding
 * @KPROBE_OPT_RESERVED: another patcher owns some of the region
 * @KPROBE_OPT_FIXUP:	an instruction may fault and be fixed up
 * @KPROBE_OPT_INSN:	an instruction cannot run from the detour
 * @KPROBE_OPT_ARCH:	refused by the architecture
 * @KPROBE_OPT_NR:	number of reasons
 *
 * The sentences that go with the values are in kernel/kprobes/site.c and are
 * shown in /sys/kernel/debug/kprobes/optimization.
 */
enum kprobe_opt_reason {
	KPROBE_OPT_OK,
	KPROBE_OPT_UNSUPPORTED,
	KPROBE_OPT_FTRACE,
	KPROBE_OPT_GONE,
	KPROBE_OPT_DISABLED,
	KPROBE_OPT_OFF,
	KPROBE_OPT_POST_HANDLER,
	KPROBE_OPT_NEIGHBOUR,
	KPROBE_OPT_PENDING,
	KPROBE_OPT_NO_MEMORY,
	KPROBE_OPT_LANDING,
	KPROBE_OPT_NO_ROOM,
	KPROBE_OPT_RESERVED,
	KPROBE_OPT_FIXUP,
	KPROBE_OPT_INSN,
	KPROBE_OPT_ARCH,
	KPROBE_OPT_NR
};

#ifdef CONFIG_OPTPROBES

/* What the architecture is given of a site that may be optimized. */
struct optimized_kprobe {
	struct kprobe kp;
	struct list_head list;
	struct arch_optimized_insn optinsn;
};

int arch_prepared_optinsn(struct arch_optimized_insn *optinsn);
int arch_check_optimized_kprobe(struct optimized_kprobe *op);
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op,
				  struct kprobe *orig);
void arch_remove_optimized_kprobe(struct optimized_kprobe *op);
void arch_optimize_kprobes(struct list_head *oplist);
void arch_unoptimize_kprobes(struct list_head *oplist,
			     struct list_head *done_list);
void arch_unoptimize_kprobe(struct optimized_kprobe *op);
int arch_within_optimized_kprobe(struct optimized_kprobe *op,
				 kprobe_opcode_t *addr);

/* Wanted by the optimizer, each with a default that suits everybody. */
bool arch_optimizer_ready(void);
int arch_optimizer_prepare(void);
bool arch_optimize_must_wait(struct optimized_kprobe *op);
enum kprobe_opt_reason arch_optimize_reason(struct optimized_kprobe *op,
					    int err);
void arch_optimizer_module_add(struct module *mod);
void arch_optimizer_module_del(struct module *mod);
void arch_optimized_users(struct optimized_kprobe *op, struct kprobe *first,
			  unsigned int nr);

int opt_pre_handler(struct kprobe *p, struct pt_regs *regs);
void wait_for_kprobe_optimizer(void);
bool kprobe_disarmed(struct kprobe *p);

DEFINE_INSN_CACHE_OPS(optinsn);

#else
static inline void wait_for_kprobe_optimizer(void) { }
#endif /* CONFIG_OPTPROBES */

#ifdef CONFIG_KPROBES_ON_FTRACE
extern bool kprobe_ftrace_disabled __read_mostly;
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
int arch_prepare_kprobe_ftrace(struct kprobe *p);
void kprobe_ftrace_kill(void);
#else
static inline int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	return -EINVAL;
}

static inline void kprobe_ftrace_kill(void) { }
#endif /* CONFIG_KPROBES_ON_FTRACE */

/* Text that the boot is done with is about to be freed. */
void kprobe_free_init_mem(void);

#ifdef CONFIG_KRETPROBES
int arch_trampoline_kprobe(struct kprobe *p);
#ifndef CONFIG_KRETPROBE_ON_RETHOOK
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs);
void arch_kretprobe_fixup_return(struct pt_regs *regs,
				 kprobe_opcode_t *correct_ret_addr);
void __kretprobe_trampoline(void);
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer);

/* Where a function pointer is a descriptor, this is the code it describes. */
static nokprobe_inline void *kretprobe_trampoline_addr(void)
{
	return dereference_kernel_function_descriptor(__kretprobe_trampoline);
}

/* For trampolines that are not themselves entered through a probe. */
static nokprobe_inline unsigned long
kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer)
{
	unsigned long to;

	kprobe_busy_begin();
	to = __kretprobe_trampoline_handler(regs, frame_pointer);
	kprobe_busy_end();
	return to;
}
#endif /* !CONFIG_KRETPROBE_ON_RETHOOK */
#else
static inline int arch_trampoline_kprobe(struct kprobe *p)
{
	return 0;
}
#endif /* CONFIG_KRETPROBES */

/*
 * Part 3: what the API becomes in a kernel without kprobes
 * --------------------------------------------------------
 */
#else /* !CONFIG_KPROBES */

#define kprobe_busy_begin()	do {} while (0)
#define kprobe_busy_end()	do {} while (0)

static inline int register_kprobe(struct kprobe *p) { return -EOPNOTSUPP; }
static inline void unregister_kprobe(struct kprobe *p) { }
static inline int register_kprobes(struct kprobe **kps, int num)
{
	return -EOPNOTSUPP;
}

static inline void unregister_kprobes(struct kprobe **kps, int num) { }
static inline int disable_kprobe(struct kprobe *kp) { return -EOPNOTSUPP; }
static inline int enable_kprobe(struct kprobe *kp) { return -EOPNOTSUPP; }
static inline struct kprobe *get_kprobe(void *addr) { return NULL; }
static inline struct kprobe *kprobe_running(void) { return NULL; }
static inline void kprobe_free_init_mem(void) { }
static inline void kprobe_ftrace_kill(void) { }
static inline bool within_kprobe_blacklist(unsigned long addr) { return true; }
static inline bool is_kprobe_insn_slot(unsigned long addr) { return false; }
static inline int kprobe_get_kallsym(unsigned int symnum, unsigned long *value,
				     char *type, char *sym)
{
	return -ERANGE;
}

static inline int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}
#endif /* CONFIG_KPROBES */

#ifndef CONFIG_KRETPROBES
static inline int register_kretprobe(struct kretprobe *rp)
{
	return -EOPNOTSUPP;
}

static inline void unregister_kretprobe(struct kretprobe *rp) { }
static inline int register_kretprobes(struct kretprobe **rps, int num)
{
	return -EOPNOTSUPP;
}

static inline void unregister_kretprobes(struct kretprobe **rps, int num) { }
#endif

#ifndef CONFIG_OPTPROBES
static inline bool is_kprobe_optinsn_slot(unsigned long addr) { return false; }
#endif

/*
 * What follows is the same in every kernel.
 */

#if defined(CONFIG_KPROBES) && defined(CONFIG_KRETPROBES) && \
	!defined(CONFIG_KRETPROBE_ON_RETHOOK)
void kprobe_flush_task(struct task_struct *tk);
#else
static inline void kprobe_flush_task(struct task_struct *tk) { }
#endif

#if defined(CONFIG_KRETPROBE_ON_RETHOOK)
static nokprobe_inline struct kretprobe *
get_kretprobe(struct kretprobe_instance *ri)
{
	return (struct kretprobe *)ri->node.rethook->data;
}

static nokprobe_inline unsigned long
get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return ri->node.ret_addr;
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return is_rethook_trampoline(addr);
}

static nokprobe_inline unsigned long
kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
			struct llist_node **cur)
{
	return rethook_find_ret_addr(tsk, (unsigned long)fp, cur);
}
#elif defined(CONFIG_KRETPROBES)
static nokprobe_inline struct kretprobe *
get_kretprobe(struct kretprobe_instance *ri)
{
	return rcu_dereference_check(ri->rph->rp, rcu_read_lock_any_held());
}

static nokprobe_inline unsigned long
get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return (void *)addr == kretprobe_trampoline_addr();
}

unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur);
#else
static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return false;
}

static nokprobe_inline unsigned long
kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
			struct llist_node **cur)
{
	return 0;
}
#endif

static inline int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kprobe(&rp->kp);
}

static inline int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kprobe(&rp->kp);
}

/*
 * Was this fault of kernel code raised by an instruction that kprobes runs out
 * of line?  Only code that cannot be preempted may be in the midst of a hit.
 */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs,
					      unsigned int trap)
{
	if (!IS_ENABLED(CONFIG_KPROBES) || user_mode(regs) || preemptible())
		return false;
	return kprobe_running() && kprobe_fault_handler(regs, trap);
}

#endif /* _LINUX_KPROBES_H */
