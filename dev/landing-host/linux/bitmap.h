/* SPDX-License-Identifier: GPL-2.0-only */
/* As much of the kernel's bit operations as arch/x86/kernel/kprobes needs. */
#ifndef HOST_LINUX_BITMAP_H
#define HOST_LINUX_BITMAP_H

#include <stdbool.h>

#define HOST_LONG_BITS	(8 * sizeof(long))

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[nr / HOST_LONG_BITS] >> nr % HOST_LONG_BITS & 1;
}

static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / HOST_LONG_BITS] |= 1UL << nr % HOST_LONG_BITS;
}

static inline unsigned long find_next_andnot_bit(const unsigned long *yes,
						 const unsigned long *no,
						 unsigned long size, unsigned long bit)
{
	unsigned long word;

	while (bit < size) {
		word = yes[bit / HOST_LONG_BITS] & ~no[bit / HOST_LONG_BITS];
		word >>= bit % HOST_LONG_BITS;
		if (word) {
			bit += __builtin_ctzl(word);
			return bit < size ? bit : size;
		}
		bit += HOST_LONG_BITS - bit % HOST_LONG_BITS;
	}
	return size;
}

#endif
