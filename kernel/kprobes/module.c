// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text comes and goes: modules, and what the boot is done with.
 */
#include <linux/module.h>
#include <linux/notifier.h>
#include <asm/sections.h>

#include "internal.h"

static bool in_init(unsigned long addr, const void *mod)
{
	return within_module_init(addr, mod);
}

static bool in_module(unsigned long addr, const void *mod)
{
	return within_module(addr, mod);
}

static int module_callback(struct notifier_block *nb, unsigned long state,
			   void *data)
{
	struct module *mod = data;

	guard(mutex)(&kprobe_mutex);
	switch (state) {
	case MODULE_STATE_COMING:
		kprobe_blacklist_module_add(mod);
		kprobe_opt_module_add(mod);
		break;
	case MODULE_STATE_LIVE:
		/* A live module has no more use for its init text. */
		kprobe_sites_gone(in_init, mod);
		break;
	case MODULE_STATE_GOING:
		kprobe_sites_gone(in_module, mod);
		kprobe_blacklist_module_del(mod);
		kprobe_reserved_module_del(mod);
		kprobe_opt_module_del(mod);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call = module_callback,
};

/**
 * kprobe_module_init() - begin to follow modules
 *
 * Context: boot.
 * Return: 0 or an errno.
 */
int __init kprobe_module_init(void)
{
	return register_module_notifier(&module_nb);
}
