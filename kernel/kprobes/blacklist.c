// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that must never be probed: what runs while a hit is handled, what cannot
 * take a trap, and what an architecture adds.
 *
 * The ranges are in a maple tree, so that a question costs O(log n) and readers
 * need only RCU.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/maple_tree.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "internal.h"

static struct maple_tree blacklist = MTREE_INIT(blacklist, MT_FLAGS_USE_RCU);

/**
 * arch_within_kprobe_blacklist() - ranges that need no entry in the blacklist
 * @addr:	an address
 *
 * Context: any.
 * Return: whether a probe there must be refused.
 */
bool __weak arch_within_kprobe_blacklist(unsigned long addr)
{
	return addr >= (unsigned long)__kprobes_text_start &&
	       addr < (unsigned long)__kprobes_text_end;
}

/**
 * arch_populate_kprobe_blacklist() - let the architecture add its own ranges
 *
 * Context: boot.
 * Return: 0 or an errno, which is only reported.
 */
int __init __weak arch_populate_kprobe_blacklist(void)
{
	return 0;
}

static bool listed(unsigned long addr)
{
	return arch_within_kprobe_blacklist(addr) || mtree_load(&blacklist, addr);
}

/**
 * within_kprobe_blacklist() - must a probe at an address be refused?
 * @addr:	an address
 *
 * A part that the compiler split off (foo.cold, foo.isra.0) is as its function.
 *
 * Context: any.
 * Return: whether it must.
 */
bool within_kprobe_blacklist(unsigned long addr)
{
	char name[KSYM_NAME_LEN], *dot;

	if (listed(addr))
		return true;
	if (lookup_symbol_name(addr, name))
		return false;
	dot = strchr(name, '.');
	if (!dot || dot == name)
		return false;
	*dot = '\0';
	addr = (unsigned long)kprobe_lookup_name(name, 0);
	return addr && listed(addr);
}

/**
 * kprobe_add_ksym_blacklist() - refuse probes in a symbol
 * @entry:	an address in it, usually the first
 *
 * Context: process context, may sleep; kprobe_mutex is held, except at boot.
 * Return: size of the symbol in bytes; -EINVAL if there is no text or no symbol
 * at @entry, -ENOMEM.
 */
int kprobe_add_ksym_blacklist(unsigned long entry)
{
	unsigned long size, into;
	int err;

	if (!kernel_text_address(entry) ||
	    !kallsyms_lookup_size_offset(entry, &size, &into))
		return -EINVAL;
	if (!size)
		return 0;
	err = mtree_store_range(&blacklist, entry, entry + size - 1,
				xa_mk_value(size), GFP_KERNEL);
	return err ?: size;
}

/**
 * kprobe_add_area_blacklist() - refuse probes in all symbols of a range
 * @start:	first address
 * @end:	address behind the last
 *
 * Context: process context, may sleep; kprobe_mutex is held, except at boot.
 * Return: 0; -EINVAL where there is no symbol, -ENOMEM.
 */
int kprobe_add_area_blacklist(unsigned long start, unsigned long end)
{
	while (start < end) {
		int size = kprobe_add_ksym_blacklist(start);

		if (size < 0)
			return size;
		/* An alias may have no size of its own. */
		start += max(size, 1);
	}
	return 0;
}

/**
 * kprobe_blacklist_next() - walk the blacklist
 * @start:	where to look from; is set to the first address of the next range
 * @end:	is set to the address behind it
 *
 * Context: may sleep.
 * Return: false if there is none left.
 */
bool kprobe_blacklist_next(unsigned long *start, unsigned long *end)
{
	MA_STATE(mas, &blacklist, *start, *start);
	void *entry;

	guard(rcu)();
	entry = mas_find(&mas, ULONG_MAX);
	if (!entry)
		return false;
	*start = mas.index;
	*end = mas.last + 1;
	return true;
}

/**
 * kprobe_blacklist_init() - fill the blacklist
 *
 * Context: boot.
 * Return: 0 or the errno of the first failure; what came before is in the list.
 */
int __init kprobe_blacklist_init(void)
{
	unsigned long *sym;
	int err;

	for (sym = __start_kprobe_blacklist; sym < __stop_kprobe_blacklist; sym++) {
		void *entry = dereference_symbol_descriptor((void *)*sym);

		/* One in text that is freed already does not matter. */
		err = kprobe_add_ksym_blacklist((unsigned long)entry);
		if (err < 0 && err != -EINVAL)
			return err;
	}
	err = kprobe_add_area_blacklist((unsigned long)__kprobes_text_start,
					(unsigned long)__kprobes_text_end);
	if (!err)
		err = kprobe_add_area_blacklist((unsigned long)__noinstr_text_start,
						(unsigned long)__noinstr_text_end);
	return err ?: arch_populate_kprobe_blacklist();
}

#ifdef CONFIG_MODULES
/**
 * kprobe_blacklist_module_add() - add what a module must not have probed
 * @mod:	a module that is coming
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void kprobe_blacklist_module_add(struct module *mod)
{
	unsigned long kprobes_text = (unsigned long)mod->kprobes_text_start;
	unsigned long noinstr_text = (unsigned long)mod->noinstr_text_start;
	unsigned int i;
	int err = 0;

	for (i = 0; i < mod->num_kprobe_blacklist && err >= 0; i++)
		err = kprobe_add_ksym_blacklist(mod->kprobe_blacklist[i]);
	if (err >= 0 && kprobes_text)
		err = kprobe_add_area_blacklist(kprobes_text, kprobes_text +
						mod->kprobes_text_size);
	if (err >= 0 && noinstr_text)
		err = kprobe_add_area_blacklist(noinstr_text, noinstr_text +
						mod->noinstr_text_size);
	if (err < 0)
		pr_warn("blacklist of module %s is incomplete (%d)\n",
			mod->name, err);
}

/**
 * kprobe_blacklist_module_del() - remove what is in the text of a module
 * @mod:	a module that is going away
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 */
void kprobe_blacklist_module_del(struct module *mod)
{
	unsigned long start = 0, end;

	for_class_mod_mem_type(type, text) {
		struct module_memory *mem = &mod->mem[type];

		start = (unsigned long)mem->base;
		while (mem->size && kprobe_blacklist_next(&start, &end) &&
		       start < (unsigned long)mem->base + mem->size) {
			mtree_erase(&blacklist, start);
			start = end;
		}
	}
}
#endif
