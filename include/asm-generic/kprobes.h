/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks for code that a probe must stay out of, for headers that cannot
 * include <linux/kprobes.h>.
 */
#ifndef _ASM_GENERIC_KPROBES_H
#define _ASM_GENERIC_KPROBES_H

#if defined(__KERNEL__) && !defined(__ASSEMBLY__)

#ifdef CONFIG_KPROBES

/* Code that runs while a hit is handled: a section that is never probed. */
# define __kprobes		notrace __section(".kprobes.text")
/* A helper of such code, which must not become a function of its own. */
# define nokprobe_inline	__always_inline

/*
 * The function stays in its section and is refused by its address.  Some users
 * write no semicolon behind it, so it brings its own.
 */
# define NOKPROBE_SYMBOL(fname)	__NOKPROBE_SYMBOL(fname)
# define __NOKPROBE_SYMBOL(fname)					\
	static unsigned long _kbl_addr_##fname __used			\
		__section("_kprobe_blacklist") = (unsigned long)fname;

#else /* !CONFIG_KPROBES */

# define __kprobes
# define nokprobe_inline	inline
# define NOKPROBE_SYMBOL(fname)

#endif /* CONFIG_KPROBES */

#endif /* defined(__KERNEL__) && !defined(__ASSEMBLY__) */
#endif /* _ASM_GENERIC_KPROBES_H */
