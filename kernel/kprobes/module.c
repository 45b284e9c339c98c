// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text comes and goes: modules, and what the boot is done with.
 */
#include <linux/module.h>
#include <linux/notifier.h>
#include <asm/sections.h>

#include "internal.h"

static bool text_leaves(const struct module *mod, unsigned long addr,
			enum module_state state)
{
	/* A module that is live has no more use for its init text. */
	return within_module_init(addr, mod) ||
	       (state == MODULE_STATE_GOING && within_module_core(addr, mod));
}

static void module_text_gone(struct module *mod, enum module_state state)
{
	struct kprobe_site *site;
	unsigned int pos;

	for_each_kprobe_site(site, pos) {
		if (text_leaves(mod, (unsigned long)site->op.kp.addr, state))
			kprobe_site_gone(site);
	}
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
		module_text_gone(mod, state);
		break;
	case MODULE_STATE_GOING:
		module_text_gone(mod, state);
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
