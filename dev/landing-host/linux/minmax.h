/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef min
#define min(a, b)	((a) < (b) ? (a) : (b))
#endif
