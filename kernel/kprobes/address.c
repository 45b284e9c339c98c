// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what a user names to an address, and whether that may be probed.
 *
 * Whether an instruction begins there, and whether it can be carried out
 * elsewhere, is for the architecture to say.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

#include "internal.h"

/**
 * kprobe_lookup_name() - address of a symbol
 * @name:	the symbol, "module:symbol" allowed
 * @offset:	where in the symbol the probe is to be; only for architectures
 *		with several entries to a function
 *
 * Context: process context.
 * Return: the address without the offset, or NULL.
 */
kprobe_opcode_t * __weak kprobe_lookup_name(const char *name,
					    unsigned int offset)
{
	return (kprobe_opcode_t *)kallsyms_lookup_name(name);
}

/**
 * arch_adjust_kprobe_addr() - the probed address of a place in a function
 * @addr:	where the function begins
 * @offset:	bytes from there
 * @on_func_entry: is set to whether that is the function's entry
 *
 * An architecture whose functions begin with a landing pad that must stay as it
 * is moves a probe on the pad behind it.
 *
 * Context: process context.
 * Return: the address, or NULL if it cannot be read.
 */
kprobe_opcode_t * __weak arch_adjust_kprobe_addr(unsigned long addr,
						 unsigned long offset,
						 bool *on_func_entry)
{
	*on_func_entry = offset == 0;
	return (kprobe_opcode_t *)(addr + offset);
}

/**
 * kprobe_resolve() - find the address that is meant
 * @addr:	an address, or NULL
 * @symbol:	a symbol, or NULL
 * @offset:	bytes from either
 * @entry:	is set to whether it is a function's entry
 *
 * Context: process context.
 * Return: the address; ERR_PTR(-EINVAL) unless exactly one of @addr and @symbol
 * is given, or if the text there cannot be read; ERR_PTR(-ENOENT) if there is no
 * such symbol, or no symbol at the address.
 */
kprobe_opcode_t *kprobe_resolve(kprobe_opcode_t *addr, const char *symbol,
				unsigned long offset, bool *entry)
{
	unsigned long into;

	if (!addr == !symbol) {
		pr_debug("give either an address or a symbol\n");
		return ERR_PTR(-EINVAL);
	}
	if (symbol)
		addr = kprobe_lookup_name(symbol, offset);
	if (!addr) {
		pr_debug("%s: no such symbol\n", symbol);
		return ERR_PTR(-ENOENT);
	}
	/* The offset may lead into another symbol: that one counts. */
	offset += (unsigned long)addr;
	if (!kallsyms_lookup_size_offset(offset, NULL, &into)) {
		pr_debug("%pS: no symbol there\n", (void *)offset);
		return ERR_PTR(-ENOENT);
	}
	addr = arch_adjust_kprobe_addr(offset - into, into, entry);
	return addr ?: ERR_PTR(-EINVAL);
}

/**
 * kprobe_on_func_entry() - is that a function's entry?
 * @addr:	an address, or NULL
 * @sym:	a symbol, or NULL
 * @offset:	bytes from either
 *
 * Context: process context.
 * Return: 0 if so; -EINVAL if not, or unless exactly one of @addr and @sym is
 * given; -ENOENT if there is no such symbol, or no symbol at the address.
 */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym,
			 unsigned long offset)
{
	bool entry;

	addr = kprobe_resolve(addr, sym, offset, &entry);
	if (IS_ERR(addr))
		return PTR_ERR(addr);
	return entry ? 0 : -EINVAL;
}

static int refuse(const struct kprobe_place *place, int err, const char *why)
{
	pr_debug("%pS: %s (%d)\n", place->addr, why, err);
	return err;
}

/* Symbols that are no functions but patched or decoded by somebody else. */
static bool special_symbol(const char *name)
{
	return str_has_prefix(name, "__cfi_") ||
	       str_has_prefix(name, "__pfx_") ||
	       str_has_prefix(name, "__SCT__");
}

static int check_text(const struct kprobe_place *place)
{
	unsigned long addr = (unsigned long)place->addr;

	if (in_gate_area_no_mm(addr))
		return refuse(place, -EINVAL, "not the kernel's own text");
	if (within_kprobe_blacklist(addr))
		return refuse(place, -EINVAL, "blacklisted");
	if (special_symbol(place->name))
		return refuse(place, -EINVAL, "no code of a function");
	if (kprobe_text_reserved(addr, addr))
		return refuse(place, -EINVAL, "owned by another code patcher");
	if (place->ftrace && !IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return refuse(place, -EINVAL, "owned by ftrace");
	return 0;
}

/* Init text of a module is there only until the module is live. */
static int get_module(struct kprobe_place *place)
{
	unsigned long addr = (unsigned long)place->addr;
	struct module *mod;

	scoped_guard(preempt) {
		mod = __module_text_address(addr);
		if (!mod)
			return refuse(place, -EINVAL, "not kernel text");
		if (!try_module_get(mod))
			return refuse(place, -ENOENT, "module is going away");
	}
	place->mod = mod;
	if (within_module_init(addr, mod) && !module_is_coming(mod))
		return refuse(place, -ENOENT, "init text is gone");
	return 0;
}

/**
 * kprobe_place_get() - find out what is at the address of a probe
 * @place:	is filled in
 * @p:		a probe that is not registered; it is not changed
 *
 * Context: process context, may sleep; kprobe_mutex is held.
 * Return: 0, and kprobe_place_put() is due; or the errno that register_kprobe()
 * is to return.
 */
int kprobe_place_get(struct kprobe_place *place, const struct kprobe *p)
{
	unsigned long addr;
	int err = 0;

	place->mod = NULL;
	place->addr = kprobe_resolve(p->addr, p->symbol_name, p->offset,
				     &place->entry);
	if (IS_ERR(place->addr))
		return PTR_ERR(place->addr);
	addr = (unsigned long)place->addr;
	if (lookup_symbol_name(addr, place->name))
		place->name[0] = '\0';
	place->ftrace = ftrace_location(addr) == addr;
	if (!core_kernel_text(addr))
		err = get_module(place);
	if (!err)
		err = kprobe_reserved_prepare(addr);
	if (!err)
		err = check_text(place);
	if (err)
		kprobe_place_put(place);
	return err;
}

/**
 * kprobe_place_put() - let the module of a place go
 * @place:	a place
 *
 * Once a site is in the table the module's notifier takes care of it.
 *
 * Context: any.
 */
void kprobe_place_put(struct kprobe_place *place)
{
	module_put(place->mod);
	place->mod = NULL;
}
