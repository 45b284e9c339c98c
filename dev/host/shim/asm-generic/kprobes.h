/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _HOST_ASM_GENERIC_KPROBES_H
#define _HOST_ASM_GENERIC_KPROBES_H

#define NOKPROBE_SYMBOL(fname)	_Static_assert(1, "")

#endif
