/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space tests of the pure files: what the parts share.
 */
#ifndef _HOST_H
#define _HOST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "../../arch/x86/kernel/kprobes/insn.h"

#define BITS	(8 * (int)sizeof(long))

extern unsigned long passed, failed;

/* Count one result.  What is printed of the failures is limited. */
#define check(ok, fmt, ...)						\
({									\
	bool __ok = (ok);						\
	if (__ok)							\
		passed++;						\
	else if (failed++ < 40)						\
		printf("FAIL %s:%d: " fmt "\n", __func__, __LINE__,	\
		       ##__VA_ARGS__);					\
	__ok;								\
})

u64 rnd(void);			/* 64 seeded random bits */
u64 below(u64 n);		/* a seeded random number less than n */
const char *hex(const u8 *bytes, int n);

/* The decoder's length of one instruction; 0 if it has none. */
int decoded_length(const u8 *bytes, int avail);

void test_rows(void);
void test_random(unsigned long iterations);
void test_native(void);
void test_objdump(FILE *disassembly);

#endif
