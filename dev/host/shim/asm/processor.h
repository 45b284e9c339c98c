/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _HOST_ASM_PROCESSOR_H
#define _HOST_ASM_PROCESSOR_H

#include <linux/types.h>

static const struct {
	u8 x86_virt_bits;
} boot_cpu_data = { 48 };

#endif
