// SPDX-License-Identifier: GPL-2.0-only
/*
 * Landing map: one bit for each byte of kernel and module text, set if control
 * may arrive there other than by falling through.
 *
 * Where control may arrive, and what finds it:
 *
 *  - Targets of direct branches and return addresses of calls, of the whole
 *    text, whatever symbol they stand in: decoded (landing_scan.c).  So are
 *    ENDBRs, and label addresses made by an immediate, a displacement or a
 *    rip-relative operand (computed gotos, `push $1f; iretq`).
 *  - Labels of static keys, on or off: the jump tables.  A key that is off has
 *    no branch in the text, and one being switched traps and is emulated; both
 *    end at addresses the table gives.
 *  - Exception fixups: the exception tables.  Each type of entry, whatever it
 *    computes for the registers, continues at the entry's fixup address.
 *  - Switch tables, computed gotos, function pointers: each word of initialised
 *    data, and of text (tables stand there too), that points to text.  A label
 *    has no other origin than an operand or such a word: heap, stack and bss
 *    hold what was copied from these.  Tables of 32-bit distances are found from
 *    the lea that loads their address.
 *  - Symbols.  Some functions are reached only by arithmetic on the address of
 *    another one (KVM's fastops); each of these has its own symbol.
 *  - Alternatives, retpolines, return thunks, call thunks, paravirt calls: were
 *    written before the first initcall, modules' own before the module is
 *    COMING, and their tables are gone.  What the text says now is final, and
 *    what it would have said otherwise never runs.  Only two are written later:
 *    lock prefixes, which are no branches, and, with call depth tracking, the
 *    padding before a function that becomes a static call's target.  There all
 *    of the padding counts as a landing.
 *  - Static calls and ftrace sites: calls return behind them, whether or not the
 *    site holds a call now, just as a static key's site continues behind itself.
 *    To have that inside, a region must overlap the site, which is refused
 *    because the site is another patcher's.  A site that shows a call or its
 *    no-op is marked behind nonetheless.
 *  - Traps whose handler skips the trapping instruction (ud2, int3, emulated
 *    instructions of SEV or TDX guests): as good as falling through.  If that
 *    instruction is in the region it runs in the detour, and is skipped there.
 *    ud2 is marked behind because it never is displaced, not even as padding.
 *  - Entry points for hardware (IDT, MSRs, VM exits, FRED): have symbols, or
 *    stand in the entry text, which cannot be probed.
 *  - Relocations that livepatch applies to a patch when the module to be patched
 *    comes: refer to symbols of that module.
 *  - Code outside of all maps (BPF, ftrace's trampolines, instruction slots):
 *    gets to functions, to the end of a patched site or to a return address.
 *
 * A word or operand that points into the text by chance costs the optimization
 * of one place.  That is measured (dev/landing-check) and little.
 *
 * Locks.  Everything here is written under kprobe_mutex, but for the map of the
 * core kernel while kprobe_landing_prepare() makes it: only the optimizer's work
 * item calls that, and until landing_done is set nobody else looks.  Bits are
 * never cleared.  Text is read under text_mutex, one window at a time: neither
 * a text poke nor ftrace is half done then.  Module text and data stay until
 * the module's GOING notifier has had kprobe_mutex, the init part until an RCU
 * grace period after its base has been cleared.
 */
#include <linux/cleanup.h>
#include <linux/cpufeature.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/maple_tree.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "common.h"
#include "landing.h"
#include "landing_scan.h"

/**
 * struct landing_map - the landings of one piece of text
 * @text:	addresses and bits; @text.seen only while the map is being made
 * @list:	in landing_maps, those of one module side by side
 * @mod:	whose text it is, NULL for the kernel's own
 * @base:	what the module loader clears before it frees the text, or NULL
 * @init:	init text: scanned for what it reaches, then dropped
 */
struct landing_map {
	struct kprobe_landing_text text;
	struct list_head list;
	const struct module *mod;
	void *const *base;
	bool init;
};

/* Text address -> map.  The kernel's own, asked for most, comes before it. */
static DEFINE_MTREE(landing_tree);
static LIST_HEAD(landing_maps);
static struct landing_map *landing_core;

/* All maps lie between these: turns away most words of data at once. */
static unsigned long landing_low = ULONG_MAX;
static unsigned long landing_high;

static bool landing_done;

/* Distances in one table; the largest switch statements have some hundreds. */
#define LANDING_TABLE_MAX	4096

/*
 * How words of data are aligned.  On x86-64 a pointer to text has 33 leading
 * ones, which no other data has often: look at packed data as well.
 */
#define LANDING_WORD_STEP	(IS_ENABLED(CONFIG_X86_64) ? 1 : sizeof(long))

static bool landing_in(const struct kprobe_landing_text *text, unsigned long addr)
{
	return addr - text->start < text->end - text->start;
}

static struct landing_map *landing_find(unsigned long addr)
{
	if (addr < landing_low || addr >= landing_high)
		return NULL;
	if (landing_core && landing_in(&landing_core->text, addr))
		return landing_core;
	return mtree_load(&landing_tree, addr);
}

static void landing_mark(unsigned long addr)
{
	struct landing_map *map = landing_find(addr);

	if (map)
		__set_bit(addr - map->text.start, map->text.bits);
}

/* --- Maps ------------------------------------------------------------------ */

static void landing_drop(struct landing_map *map)
{
	if (map == landing_core)
		landing_core = NULL;
	else
		mtree_erase(&landing_tree, map->text.start);
	list_del(&map->list);
	kvfree(map->text.bits);
	kvfree(map->text.seen);
	kfree(map);
}

static void landing_drop_all(void)
{
	struct landing_map *map, *next;

	list_for_each_entry_safe(map, next, &landing_maps, list)
		landing_drop(map);
}

static int landing_bitmaps(struct kprobe_landing_text *text)
{
	size_t nr = BITS_TO_LONGS(text->end - text->start);

	text->bits = kvcalloc(nr, sizeof(long), GFP_KERNEL);
	text->seen = kvcalloc(nr, sizeof(long), GFP_KERNEL);
	if (text->bits && text->seen)
		return 0;
	kvfree(text->bits);
	kvfree(text->seen);
	return -ENOMEM;
}

static int landing_insert(struct landing_map *map)
{
	landing_low = min(landing_low, map->text.start);
	landing_high = max(landing_high, map->text.end);
	if (map->text.start != (unsigned long)_stext)
		return mtree_insert_range(&landing_tree, map->text.start,
					  map->text.end - 1, map, GFP_KERNEL);
	landing_core = map;
	return 0;
}

/* An empty map of the text [@start, @start + @size). */
static struct landing_map *landing_new(const void *start, unsigned long size,
				       const struct module *mod)
{
	struct landing_map *map = kzalloc(sizeof(*map), GFP_KERNEL);

	if (!map)
		return NULL;
	map->text.start = (unsigned long)start;
	map->text.end = map->text.start + size;
	map->mod = mod;
	if (landing_bitmaps(&map->text))
		goto free_map;
	if (landing_insert(map))
		goto free_bitmaps;
	list_add_tail(&map->list, &landing_maps);
	return map;

free_bitmaps:
	kvfree(map->text.bits);
	kvfree(map->text.seen);
free_map:
	kfree(map);
	return NULL;
}

/*
 * Original bytes of text.  kprobe_read_text() must not sleep: the init part of a
 * module goes after an RCU grace period, whatever we hold.
 */
static int landing_read(u8 *dst, unsigned long addr, size_t len)
{
	const struct landing_map *map = landing_find(addr);

	cond_resched();
	guard(mutex)(&text_mutex);
	guard(rcu)();
	if (map->base && !READ_ONCE(*map->base))
		return -ESTALE;
	return kprobe_read_text(dst, addr, len);
}

/* --- Sources other than code ----------------------------------------------- */

static void landing_words(const u8 *buf, size_t len)
{
	size_t at;

	for (at = 0; at + sizeof(long) <= len; at += LANDING_WORD_STEP)
		landing_mark(get_unaligned((const unsigned long *)(buf + at)));
}

/*
 * Words of data, or of text, where hand-written assembly has tables, too.  @base
 * is NULL, or points to what is cleared before the data is freed.  What cannot
 * be read holds no label that could be used either.  Nor does a word of text
 * that has a probe in it: who went there would be lost without us.
 */
static void landing_data(struct kprobe_landing_scan *scan, const void *start,
			 const void *end, void *const *base)
{
	size_t len;
	int err;

	for (; start < end; start += len - sizeof(long) + LANDING_WORD_STEP) {
		len = min_t(size_t, end - start, sizeof(scan->window));
		if (len < sizeof(long))
			return;
		cond_resched();
		scoped_guard(rcu) {
			if (base && !READ_ONCE(*base))
				return;
			err = copy_from_kernel_nofault(scan->window, start, len);
		}
		if (!err)
			landing_words(scan->window, len);
	}
}

/*
 * A lea in @text loads @addr.  If that is a switch table of position-independent
 * code, it holds the distances from itself to labels of the same text, up to
 * the first word that cannot be one.
 */
static void landing_table(const struct kprobe_landing_text *text, unsigned long addr)
{
	unsigned long at;
	s32 distance;

	if (!IS_ALIGNED(addr, sizeof(distance)) || landing_find(addr))
		return;
	for (at = addr; at < addr + LANDING_TABLE_MAX * sizeof(distance);
	     at += sizeof(distance)) {
		if (copy_from_kernel_nofault(&distance, (void *)at, sizeof(distance)))
			return;
		if (!landing_in(text, addr + distance))
			return;
		landing_mark(addr + distance);
	}
}

static void landing_fixups(const struct exception_table_entry *entry, unsigned int nr)
{
	for (; nr--; entry++)
		landing_mark((unsigned long)&entry->fixup + entry->fixup);
}

#ifdef CONFIG_JUMP_LABEL
/* Is the site one of the short ones?  If it cannot be read nobody goes there. */
static unsigned int landing_jump_label_size(unsigned long site)
{
	u8 op = 0;

	guard(mutex)(&text_mutex);
	kprobe_read_text(&op, site, sizeof(op));
	return op == JMP8_INSN_OPCODE || op == 0x66 ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
}

/* The lock keeps modules from sorting their table meanwhile. */
static void landing_jump_labels(const struct jump_entry *from, const struct jump_entry *to)
{
	unsigned long site;

	jump_label_lock();
	for (; from < to; from++) {
		landing_mark(jump_entry_target(from));
		site = jump_entry_code(from);
		if (landing_find(site))
			landing_mark(site + landing_jump_label_size(site));
	}
	jump_label_unlock();
}

static void landing_kernel_jump_labels(void)
{
	landing_jump_labels(__start___jump_table, __stop___jump_table);
}

static void landing_module_jump_labels(const struct module *mod)
{
	landing_jump_labels(mod->jump_entries, mod->jump_entries + mod->num_jump_entries);
}
#else
static inline void landing_kernel_jump_labels(void) { }
static inline void landing_module_jump_labels(const struct module *mod) { }
#endif

/*
 * With call depth tracking, static calls enter a function a few bytes before
 * its start, through code that is put into the padding at that time.
 */
#ifdef CONFIG_CALL_PADDING
static void landing_padding(const char *name, unsigned long addr)
{
	int i;

	if (!cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) || !str_has_prefix(name, "__pfx_"))
		return;
	for (i = 0; i < CONFIG_FUNCTION_PADDING_BYTES; i++)
		landing_mark(addr + i);
}
#else
static inline void landing_padding(const char *name, unsigned long addr) { }
#endif

static int landing_symbol(void *data, const char *name, unsigned long addr)
{
	landing_mark(addr);
	landing_padding(name, addr);
	return 0;
}

/* --- Closing --------------------------------------------------------------- */

static int landing_close_map(struct kprobe_landing_scan *scan, struct landing_map *map)
{
	int ret = kprobe_landing_close(scan, &map->text);

	if (ret != -ESTALE)
		return ret;
	/* It has run for the last time: no matter what it would have reached. */
	landing_drop(map);
	return 0;
}

/* Decode what is reachable, until that makes nothing else reachable. */
static int landing_close_all(struct kprobe_landing_scan *scan)
{
	struct landing_map *map, *next;
	bool found;
	int ret;

	do {
		found = false;
		list_for_each_entry_safe(map, next, &landing_maps, list) {
			if (!map->text.seen)
				continue;
			ret = landing_close_map(scan, map);
			if (ret < 0)
				return ret;
			found |= ret;
		}
	} while (found);
	return 0;
}

/* Maps are complete: keep what queries need. */
static void landing_finish(void)
{
	struct landing_map *map, *next;

	list_for_each_entry_safe(map, next, &landing_maps, list) {
		if (map->init) {
			landing_drop(map);
			continue;
		}
		kvfree(map->text.seen);
		map->text.seen = NULL;
	}
}

static struct kprobe_landing_scan *landing_scan_alloc(void)
{
	struct kprobe_landing_scan *scan = kmalloc(sizeof(*scan), GFP_KERNEL);

	if (scan) {
		scan->read = landing_read;
		scan->mark = landing_mark;
		scan->table = landing_table;
	}
	return scan;
}

/* --- The kernel ------------------------------------------------------------ */

static int landing_scan_core(struct kprobe_landing_scan *scan)
{
	const void *percpu = per_cpu_ptr((void __percpu __force *)__per_cpu_start, 0);

	kallsyms_on_each_symbol(landing_symbol, NULL);
	landing_fixups(__start___ex_table, __stop___ex_table - __start___ex_table);
	landing_kernel_jump_labels();
	landing_data(scan, __start_rodata, __end_rodata, NULL);
	landing_data(scan, _sdata, _edata, NULL);
	landing_data(scan, percpu, percpu + (__per_cpu_end - __per_cpu_start), NULL);
	landing_data(scan, _stext, _etext, NULL);
	return landing_close_map(scan, landing_core);
}

/**
 * kprobe_landing_prepare() - do the long part of kprobe_landing_build()
 *
 * Scans the core kernel, which takes a good part of a second.  Calling this
 * first, with no lock held, keeps kprobe_mutex free meanwhile.  May sleep.  Only
 * one task may be in here or in kprobe_landing_build().
 *
 * Return: 0, or -ENOMEM or -EFAULT with nothing left behind.
 */
int kprobe_landing_prepare(void)
{
	struct kprobe_landing_scan *scan;
	int err = -ENOMEM;

	if (landing_core)
		return 0;
	scan = landing_scan_alloc();
	if (!scan)
		return -ENOMEM;
	if (landing_new(_stext, _etext - _stext, NULL))
		err = landing_scan_core(scan);
	if (err < 0)
		landing_drop_all();
	kfree(scan);
	return min(err, 0);
}

/*
 * Init text that has not been freed.  It cannot be while we hold kprobe_mutex:
 * kprobe_free_init_mem() takes that after system_state has changed.
 */
static int landing_scan_kernel_init(struct kprobe_landing_scan *scan)
{
	struct landing_map *map;

	if (system_state >= SYSTEM_FREEING_INITMEM)
		return 0;
	map = landing_new(_sinittext, _einittext - _sinittext, NULL);
	if (!map)
		return -ENOMEM;
	map->init = true;
	kallsyms_on_each_symbol(landing_symbol, NULL);
	landing_fixups(__start___ex_table, __stop___ex_table - __start___ex_table);
	landing_kernel_jump_labels();
	landing_data(scan, __init_begin, __init_end, NULL);
	return 0;
}

/* --- Modules --------------------------------------------------------------- */

#ifdef CONFIG_MODULES
static bool landing_has_module(const struct module *mod)
{
	struct landing_map *map;

	list_for_each_entry(map, &landing_maps, list) {
		if (map->mod == mod)
			return true;
	}
	return false;
}

static void landing_drop_module(const struct module *mod)
{
	struct landing_map *map, *next;

	list_for_each_entry_safe(map, next, &landing_maps, list) {
		if (map->mod == mod)
			landing_drop(map);
	}
}

/* Maps for a module's text.  The caller keeps the loader from freeing init's. */
static int landing_new_module(const struct module *mod)
{
	const struct module_memory *mem;
	struct landing_map *map;

	for_class_mod_mem_type(type, text) {
		mem = &mod->mem[type];
		if (!mem->size)
			continue;
		map = landing_new(mem->base, mem->size, mod);
		if (!map) {
			landing_drop_module(mod);
			return -ENOMEM;
		}
		map->init = mod_mem_type_is_init(type);
		map->base = &mem->base;
	}
	landing_fixups(mod->extable, mod->num_exentries);
	return 0;
}

/* Its per-CPU data has no addresses: the loader relocates none there. */
static void landing_scan_module(struct kprobe_landing_scan *scan, const struct module *mod)
{
	const struct module_memory *mem;

	landing_module_jump_labels(mod);
	for_each_mod_mem_type(type) {
		mem = &mod->mem[type];
		landing_data(scan, mem->base, mem->base + mem->size, &mem->base);
	}
}

/*
 * Called with module_mutex held, so that the loader neither trims the exception
 * table nor frees the init part.  A module that is GOING may already have had
 * its notifier and be freed any time; it gets no map.  It can reach others only
 * by their symbols.
 */
static int landing_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct module **last = data;
	struct module *mod;

	if (!*last || !within_module(addr, *last)) {
		mod = __module_address(addr);
		if (!mod || mod->state == MODULE_STATE_GOING)
			return 0;
		if (!landing_has_module(mod) && landing_new_module(mod))
			return -ENOMEM;
		*last = mod;
	}
	return landing_symbol(NULL, name, addr);
}

/* All modules loaded by now: maps first, for any may refer to any other. */
static int landing_scan_modules(struct kprobe_landing_scan *scan)
{
	struct module *last = NULL;
	const struct module *mod = NULL;
	struct landing_map *map;
	int err;

	err = module_kallsyms_on_each_symbol(NULL, landing_module_symbol, &last);
	if (err)
		return err;

	list_for_each_entry(map, &landing_maps, list) {
		if (map->mod && map->mod != mod)
			landing_scan_module(scan, map->mod);
		mod = map->mod;
	}
	return 0;
}

static int landing_add_module(struct kprobe_landing_scan *scan, struct module *mod)
{
	int err = landing_new_module(mod);

	if (err)
		return err;
	module_kallsyms_on_each_symbol(mod->name, landing_symbol, NULL);
	landing_scan_module(scan, mod);
	return landing_close_all(scan);
}

/**
 * kprobe_landing_module_add() - take in a module that has become COMING
 * @mod:	the module, all of its parts still in memory
 *
 * Called under kprobe_mutex, from the module notifier.  Does nothing before
 * kprobe_landing_build() has succeeded, which finds the module by itself.
 *
 * The module may land in text that is not its own.  Regions that have a jump
 * already must be looked at again before the module runs.  In case of an error
 * where it lands is not known: let it fail to load, or optimize nothing more and
 * undo what is.
 *
 * Return: 0, or -ENOMEM or -EFAULT with no map of the module left behind.
 */
int kprobe_landing_module_add(struct module *mod)
{
	struct kprobe_landing_scan *scan;
	int err;

	if (!landing_done || landing_has_module(mod))
		return 0;
	scan = landing_scan_alloc();
	if (!scan)
		return -ENOMEM;
	err = landing_add_module(scan, mod);
	if (err)
		landing_drop_module(mod);
	landing_finish();
	kfree(scan);
	return err;
}

/**
 * kprobe_landing_module_del() - forget a module that is GOING
 * @mod:	the module
 *
 * Called under kprobe_mutex, from the module notifier.  What the module marked
 * in other text stays marked.
 */
void kprobe_landing_module_del(struct module *mod)
{
	if (landing_done)
		landing_drop_module(mod);
}
#else
static inline int landing_scan_modules(struct kprobe_landing_scan *scan)
{
	return 0;
}
#endif /* CONFIG_MODULES */

/* --- Build and query ------------------------------------------------------- */

/**
 * kprobe_landing_build() - make the map of the kernel and of all modules
 *
 * Called under kprobe_mutex, by one task only.  May sleep.
 *
 * Return: 0 if there is a map now, or -ENOMEM or -EFAULT with nothing left
 * behind; it may be tried again.
 */
int kprobe_landing_build(void)
{
	struct kprobe_landing_scan *scan;
	int err;

	if (landing_done)
		return 0;
	err = kprobe_landing_prepare();
	if (err)
		return err;
	scan = landing_scan_alloc();
	if (!scan)
		err = -ENOMEM;
	if (!err)
		err = landing_scan_kernel_init(scan);
	if (!err)
		err = landing_scan_modules(scan);
	if (!err)
		err = landing_close_all(scan);
	if (err)
		landing_drop_all();
	else
		landing_finish();
	landing_done = !err;
	kfree(scan);
	return err;
}

/**
 * kprobe_landing_ready() - can kprobe_landing_query() answer?
 *
 * Return: whether kprobe_landing_build() has succeeded.
 */
bool kprobe_landing_ready(void)
{
	return READ_ONCE(landing_done);
}

/**
 * kprobe_landing_query() - may control arrive in the middle of a region?
 * @start:	first byte of the region; landing there is harmless
 * @end:	byte after the last; landing there is harmless, too
 *
 * Called under kprobe_mutex.  Neither sleeps nor takes a lock.
 *
 * Return: one of enum kprobe_landing.
 */
enum kprobe_landing kprobe_landing_query(unsigned long start, unsigned long end)
{
	const struct landing_map *map = landing_done ? landing_find(start) : NULL;
	unsigned long last;

	if (!map || end <= start || end > map->text.end)
		return KPROBE_LANDING_NO_MAP;
	start -= map->text.start;
	last = end - map->text.start;
	if (find_next_bit(map->text.bits, last, start + 1) < last)
		return KPROBE_LANDING_INSIDE;
	return KPROBE_LANDING_NONE;
}
