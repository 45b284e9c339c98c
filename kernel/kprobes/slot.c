// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executable memory for copies of instructions and for detours.
 *
 * A slot is a run of granules of a page.  Two bitmaps tell which granules are
 * taken and which are the last of their slot, so that freeing needs no size.
 * A slot is given back only when nobody can be executing it (retire.c), and is
 * then free at once.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define GRANULE		8
#define GRANULES	(PAGE_SIZE / GRANULE)

/* Pages with too little room are tried again this often before a new one. */
#define MAX_TRIES	4

struct slot_page {
	struct list_head list;		/* of the cache; RCU for readers */
	kprobe_opcode_t *insns;
	unsigned int nr_taken;
	DECLARE_BITMAP(taken, GRANULES);
	DECLARE_BITMAP(last, GRANULES);
};

/**
 * alloc_insn_page() - get a page to execute from
 *
 * Context: may sleep.
 * Return: a page in reach of the kernel's own text, or NULL.
 */
void * __weak alloc_insn_page(void)
{
	return execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
}

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT

static void free_insn_page(void *page)
{
	execmem_free(page);
}

#define SLOT_CACHE(cache, from, to, name, bytes)			\
struct kprobe_insn_cache cache = {					\
	.insn_size = (bytes),						\
	.sym = (name),							\
	.free = (to),							\
	.alloc = (from),						\
	.pages = LIST_HEAD_INIT((cache).pages),				\
	.mutex = __MUTEX_INITIALIZER((cache).mutex),			\
}

SLOT_CACHE(kprobe_insn_slots, alloc_insn_page, free_insn_page,
	   KPROBE_INSN_PAGE_SYM, MAX_INSN_SIZE);

#ifdef CONFIG_OPTPROBES
void * __weak alloc_optinsn_page(void)
{
	return alloc_insn_page();
}

void __weak free_optinsn_page(void *page)
{
	free_insn_page(page);
}

SLOT_CACHE(kprobe_optinsn_slots, alloc_optinsn_page, free_optinsn_page,
	   KPROBE_OPTINSN_PAGE_SYM, MAX_OPTINSN_SIZE);
#endif

static void announce_page(struct kprobe_insn_cache *c, struct slot_page *page,
			  bool leaving)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)page->insns, PAGE_SIZE, leaving,
			   c->sym);
}

static struct slot_page *add_page(struct kprobe_insn_cache *c)
{
	struct slot_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->insns = c->alloc();
	if (!page->insns) {
		kfree(page);
		return NULL;
	}
	list_add_rcu(&page->list, &c->pages);
	announce_page(c, page, false);
	return page;
}

static void drop_page(struct kprobe_insn_cache *c, struct slot_page *page)
{
	announce_page(c, page, true);
	list_del_rcu(&page->list);
	/* For those who look whether an address is in a slot. */
	synchronize_rcu();
	c->free(page->insns);
	kfree(page);
}

static kprobe_opcode_t *take(struct slot_page *page, unsigned int granules)
{
	unsigned int at;

	if (page->nr_taken + granules > GRANULES)
		return NULL;
	at = bitmap_find_next_zero_area(page->taken, GRANULES, 0, granules, 0);
	if (at >= GRANULES)
		return NULL;
	bitmap_set(page->taken, at, granules);
	__set_bit(at + granules - 1, page->last);
	page->nr_taken += granules;
	return (void *)page->insns + at * GRANULE;
}

static struct slot_page *next_page(struct kprobe_insn_cache *c,
				   struct slot_page *page)
{
	if (page && !list_is_last(&page->list, &c->pages))
		return list_next_entry(page, list);
	return list_first_entry_or_null(&c->pages, struct slot_page, list);
}

/**
 * kprobe_slot_alloc() - get executable memory
 * @c:		the cache
 * @size:	bytes, up to PAGE_SIZE
 *
 * The cache remembers the page that served last, or that something was given
 * back to, and looks from there, but not for ever.
 *
 * Context: process context, may sleep; takes the cache's mutex.
 * Return: the slot, aligned to 8 bytes, or NULL.
 */
kprobe_opcode_t *kprobe_slot_alloc(struct kprobe_insn_cache *c, size_t size)
{
	unsigned int granules = DIV_ROUND_UP(size, GRANULE), tries;
	struct slot_page *page;
	kprobe_opcode_t *slot;

	guard(mutex)(&c->mutex);
	page = c->cursor ?: next_page(c, NULL);
	for (tries = 0; page && tries < MAX_TRIES; tries++) {
		slot = take(page, granules);
		if (slot) {
			c->cursor = page;
			return slot;
		}
		page = next_page(c, page);
	}
	page = add_page(c);
	if (!page)
		return NULL;
	c->cursor = page;
	return take(page, granules);
}

/**
 * __get_insn_slot() - get a slot of the cache's own size
 * @c:		the cache
 *
 * Context: process context, may sleep; takes the cache's mutex.
 * Return: the slot, or NULL.
 */
kprobe_opcode_t *__get_insn_slot(struct kprobe_insn_cache *c)
{
	return kprobe_slot_alloc(c, c->insn_size * sizeof(kprobe_opcode_t));
}

static struct slot_page *page_of(struct kprobe_insn_cache *c, unsigned long addr)
{
	struct slot_page *page;

	list_for_each_entry_rcu(page, &c->pages, list,
				lockdep_is_held(&c->mutex)) {
		if (addr - (unsigned long)page->insns < PAGE_SIZE)
			return page;
	}
	return NULL;
}

/**
 * __free_insn_slot() - give a slot back
 * @c:		the cache that it came from
 * @slot:	the slot
 * @dirty:	not used: a slot that may be executing must not be given back
 *
 * Context: process context, may sleep; takes the cache's mutex.
 */
void __free_insn_slot(struct kprobe_insn_cache *c, kprobe_opcode_t *slot,
		      int dirty)
{
	struct slot_page *page;
	unsigned int at, last;

	guard(mutex)(&c->mutex);
	page = page_of(c, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;
	at = ((void *)slot - (void *)page->insns) / GRANULE;
	if (WARN_ON_ONCE(!test_bit(at, page->taken)))
		return;
	last = find_next_bit(page->last, GRANULES, at);
	bitmap_clear(page->taken, at, last - at + 1);
	__clear_bit(last, page->last);
	page->nr_taken -= last - at + 1;
	c->cursor = page;
	/* One empty page is kept for the next that comes. */
	if (!page->nr_taken && !list_is_singular(&c->pages)) {
		c->cursor = NULL;
		drop_page(c, page);
	}
}

/**
 * __is_insn_slot_addr() - is an address in a page of slots?
 * @c:		the cache
 * @addr:	the address
 *
 * Context: any, NMI included.
 * Return: whether it is.
 */
bool __is_insn_slot_addr(struct kprobe_insn_cache *c, unsigned long addr)
{
	guard(rcu)();
	return page_of(c, addr);
}

/**
 * kprobe_cache_get_kallsym() - name a page of slots
 * @c:		the cache
 * @symnum:	which page; is lowered by the number of pages if there is none
 * @value:	is set to its address
 * @type:	is set to its type as in nm(1)
 * @sym:	is set to its name, KSYM_NAME_LEN bytes
 *
 * Context: any.
 * Return: 0, or -ERANGE if the cache has fewer pages.
 */
int kprobe_cache_get_kallsym(struct kprobe_insn_cache *c, unsigned int *symnum,
			     unsigned long *value, char *type, char *sym)
{
	struct slot_page *page;

	guard(rcu)();
	list_for_each_entry_rcu(page, &c->pages, list) {
		if ((*symnum)-- == 0) {
			*value = (unsigned long)page->insns;
			*type = 't';
			strscpy(sym, c->sym, KSYM_NAME_LEN);
			return 0;
		}
	}
	return -ERANGE;
}

static int slot_get_kallsym(unsigned int *symnum, unsigned long *value,
			    char *type, char *sym)
{
	int err;

	err = kprobe_cache_get_kallsym(&kprobe_insn_slots, symnum, value, type,
				       sym);
#ifdef CONFIG_OPTPROBES
	if (err)
		err = kprobe_cache_get_kallsym(&kprobe_optinsn_slots, symnum,
					       value, type, sym);
#endif
	return err;
}
#else
static int slot_get_kallsym(unsigned int *symnum, unsigned long *value,
			    char *type, char *sym)
{
	return -ERANGE;
}
#endif /* __ARCH_WANT_KPROBES_INSN_SLOT */

/**
 * arch_kprobe_get_kallsym() - name executable memory of the architecture's own
 * @symnum:	which
 * @value:	is set to its address
 * @type:	is set to its type as in nm(1)
 * @sym:	is set to its name, KSYM_NAME_LEN bytes
 *
 * Context: any.
 * Return: 0, or -ERANGE if there are fewer.
 */
int __weak arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
				   char *type, char *sym)
{
	return -ERANGE;
}

/**
 * kprobe_get_kallsym() - name the executable memory of probes, for kallsyms
 * @symnum:	which, from 0
 * @value:	is set to its address
 * @type:	is set to its type as in nm(1)
 * @sym:	is set to its name, KSYM_NAME_LEN bytes
 *
 * Context: any.
 * Return: 0, or -ERANGE if there are fewer.
 */
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
		       char *sym)
{
	if (!slot_get_kallsym(&symnum, value, type, sym))
		return 0;
	return arch_kprobe_get_kallsym(&symnum, value, type, sym);
}
