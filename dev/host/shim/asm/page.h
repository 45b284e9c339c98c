/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _HOST_ASM_PAGE_H
#define _HOST_ASM_PAGE_H

#include <linux/types.h>

static inline bool __is_canonical_address(u64 addr, u8 bits)
{
	return (u64)((s64)(addr << (64 - bits)) >> (64 - bits)) == addr;
}

#endif
