/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The landing map: where may control arrive other than by falling through?
 */
#ifndef _X86_KERNEL_KPROBES_LANDING_H
#define _X86_KERNEL_KPROBES_LANDING_H

#include <linux/types.h>
#include <asm/extable.h>

struct module;

/* Made by the linker. */
extern struct exception_table_entry __start___ex_table[];
extern struct exception_table_entry __stop___ex_table[];

enum kprobe_landing {
	KPROBE_LANDING_NONE,	/* nobody lands in the range */
	KPROBE_LANDING_INSIDE,	/* control may arrive inside it */
	KPROBE_LANDING_NO_MAP,	/* this text has no map (yet) */
};

int kprobe_landing_prepare(void);
int kprobe_landing_build(void);
bool kprobe_landing_ready(void);
enum kprobe_landing kprobe_landing_query(unsigned long start, unsigned long end);

#ifdef CONFIG_MODULES
int kprobe_landing_module_add(struct module *mod);
void kprobe_landing_module_del(struct module *mod);
#else
static inline int kprobe_landing_module_add(struct module *mod)
{
	return 0;
}

static inline void kprobe_landing_module_del(struct module *mod) { }
#endif

#endif /* _X86_KERNEL_KPROBES_LANDING_H */
