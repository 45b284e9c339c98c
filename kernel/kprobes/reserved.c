// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of text that another patcher owns.
 *
 * Static keys, static calls and bug entries keep their addresses in tables that
 * are not sorted by address.  An index that is, made once for the kernel and
 * once for each module that is probed, answers in O(log n).
 */
#include <linux/bug.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/xarray.h>
#include <asm/sections.h>

#include "internal.h"

/* An entry: bytes from the base times 8, plus a length of 1 to 7 bytes. */
#define ENTRY_LEN_BITS	3
#define ENTRY_LEN_MASK	((1U << ENTRY_LEN_BITS) - 1)

struct reserved {
	unsigned long base;
	unsigned int nr;
	unsigned int room;
	u32 entry[];
};

/* The tables of the kernel, or of a module. */
struct patchers {
	unsigned long base;
	struct jump_entry *keys;
	unsigned int nr_keys;
	struct static_call_site *calls;
	unsigned int nr_calls;
	struct bug_entry *bugs;
	unsigned int nr_bugs;
};

static struct reserved *core_reserved;		/* under kprobe_mutex */
static DEFINE_XARRAY(module_reserved);		/* under kprobe_mutex */

static void reserve(struct reserved *index, unsigned long addr, int len)
{
	unsigned long off = addr - index->base;

	/* Text that was freed, or that is far away, will not be asked for. */
	if (addr < index->base || off >= 1UL << (32 - ENTRY_LEN_BITS))
		return;
	if (WARN_ON_ONCE(index->nr == index->room))
		return;
	index->entry[index->nr++] = off << ENTRY_LEN_BITS | len;
}

#ifdef CONFIG_JUMP_LABEL
/* The size is read from the text, which must be there and not half patched. */
static void reserve_keys(struct reserved *index, const struct patchers *from)
{
	struct jump_entry *key;

	jump_label_lock();
	for (key = from->keys; key < from->keys + from->nr_keys; key++) {
		if (kernel_text_address(jump_entry_code(key)))
			reserve(index, jump_entry_code(key),
				jump_entry_size(key));
	}
	jump_label_unlock();
}

static void core_keys(struct patchers *core)
{
	core->keys = __start___jump_table;
	core->nr_keys = __stop___jump_table - __start___jump_table;
}

static void module_keys(struct patchers *from, struct module *mod)
{
	from->keys = mod->jump_entries;
	from->nr_keys = mod->num_jump_entries;
}
#else
static void reserve_keys(struct reserved *index, const struct patchers *from) { }
static void core_keys(struct patchers *core) { }
static void module_keys(struct patchers *from, struct module *mod) { }
#endif

#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
static void reserve_calls(struct reserved *index, const struct patchers *from)
{
	unsigned int i;

	for (i = 0; i < from->nr_calls; i++)
		reserve(index, (unsigned long)offset_to_ptr(&from->calls[i].addr),
			CALL_INSN_SIZE);
}

static void core_calls(struct patchers *core)
{
	core->calls = __start_static_call_sites;
	core->nr_calls = __stop_static_call_sites - __start_static_call_sites;
}

static void module_calls(struct patchers *from, struct module *mod)
{
	from->calls = mod->static_call_sites;
	from->nr_calls = mod->num_static_call_sites;
}
#else
static void reserve_calls(struct reserved *index, const struct patchers *from) { }
static void core_calls(struct patchers *core) { }
static void module_calls(struct patchers *from, struct module *mod) { }
#endif

#ifdef CONFIG_GENERIC_BUG
extern struct bug_entry __start___bug_table[], __stop___bug_table[];

static unsigned long bug_address(struct bug_entry *bug)
{
#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
	return (unsigned long)offset_to_ptr(&bug->bug_addr_disp);
#else
	return bug->bug_addr;
#endif
}

static void reserve_bugs(struct reserved *index, const struct patchers *from)
{
	unsigned int i;

	for (i = 0; i < from->nr_bugs; i++)
		reserve(index, bug_address(&from->bugs[i]), 1);
}

static void core_bugs(struct patchers *core)
{
	core->bugs = __start___bug_table;
	core->nr_bugs = __stop___bug_table - __start___bug_table;
}

static void module_bugs(struct patchers *from, struct module *mod)
{
	from->bugs = mod->bug_table;
	from->nr_bugs = mod->num_bugs;
}
#else
static void reserve_bugs(struct reserved *index, const struct patchers *from) { }
static void core_bugs(struct patchers *core) { }
static void module_bugs(struct patchers *from, struct module *mod) { }
#endif

static int compare_entries(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static struct reserved *make_index(const struct patchers *from)
{
	unsigned int room = from->nr_keys + from->nr_calls + from->nr_bugs;
	struct reserved *index;

	index = kvmalloc(struct_size(index, entry, room), GFP_KERNEL);
	if (!index)
		return NULL;
	index->base = from->base;
	index->nr = 0;
	index->room = room;
	reserve_keys(index, from);
	reserve_calls(index, from);
	reserve_bugs(index, from);
	sort(index->entry, index->nr, sizeof(u32), compare_entries, NULL);
	return index;
}

static struct reserved *core_index(void)
{
	struct patchers core = { .base = (unsigned long)_stext };

	if (!core_reserved) {
		core_keys(&core);
		core_calls(&core);
		core_bugs(&core);
		core_reserved = make_index(&core);
	}
	return core_reserved;
}

#ifdef CONFIG_MODULES
static unsigned long module_text_base(struct module *mod)
{
	unsigned long text = (unsigned long)mod->mem[MOD_TEXT].base;
	unsigned long init = (unsigned long)mod->mem[MOD_INIT_TEXT].base;

	return init ? min(text, init) : text;
}

static struct reserved *module_index(struct module *mod)
{
	struct reserved *index = xa_load(&module_reserved, (unsigned long)mod);
	struct patchers from = {};

	if (index)
		return index;
	from.base = module_text_base(mod);
	module_keys(&from, mod);
	module_calls(&from, mod);
	module_bugs(&from, mod);
	index = make_index(&from);
	if (index && xa_err(xa_store(&module_reserved, (unsigned long)mod,
				     index, GFP_KERNEL))) {
		kvfree(index);
		index = NULL;
	}
	return index;
}

/**
 * kprobe_reserved_module_del() - forget the index of a module
 * @mod:	a module that is going away
 *
 * Context: process context; kprobe_mutex is held.
 */
void kprobe_reserved_module_del(struct module *mod)
{
	kvfree(xa_erase(&module_reserved, (unsigned long)mod));
}
#else
static struct reserved *module_index(struct module *mod)
{
	return NULL;
}
#endif

/* The last entry that begins at or before an offset is the one that counts. */
static bool index_overlaps(const struct reserved *index, unsigned long start,
			   unsigned long end)
{
	unsigned int lo = 0, hi = index->nr;
	unsigned long from;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (index->base + (index->entry[mid] >> ENTRY_LEN_BITS) <= end)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	from = index->base + (index->entry[lo - 1] >> ENTRY_LEN_BITS);
	return from + (index->entry[lo - 1] & ENTRY_LEN_MASK) > start;
}

static struct module *module_of(unsigned long addr)
{
	guard(preempt)();
	return __module_text_address(addr);
}

/**
 * kprobe_reserved_prepare() - make the index for an address, if it is not there
 * @addr:	an address in kernel text
 *
 * Context: process context, may sleep; kprobe_mutex is held, text_mutex is not.
 * Return: 0, or -ENOMEM.
 */
int kprobe_reserved_prepare(unsigned long addr)
{
	struct module *mod;

	lockdep_assert_held(&kprobe_mutex);
	if (core_kernel_text(addr))
		return core_index() ? 0 : -ENOMEM;
	mod = module_of(addr);
	return mod && module_index(mod) ? 0 : -ENOMEM;
}

/**
 * kprobe_text_reserved() - does another patcher own some of these bytes?
 * @start:	first byte, in text that kprobe_reserved_prepare() has seen
 * @end:	last byte, of the same text section
 *
 * Of a bug entry only the first byte counts.
 *
 * Context: process context; kprobe_mutex is held.
 * Return: whether static keys, static calls or bug entries overlap the range.
 */
bool kprobe_text_reserved(unsigned long start, unsigned long end)
{
	struct reserved *index = core_reserved;

	lockdep_assert_held(&kprobe_mutex);
	if (!core_kernel_text(start))
		index = xa_load(&module_reserved, (unsigned long)module_of(start));
	return !index || index_overlaps(index, start, end);
}
