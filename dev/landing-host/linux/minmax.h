/* SPDX-License-Identifier: GPL-2.0-only */
#undef min
#define min(a, b)		((a) < (b) ? (a) : (b))
#undef min_t
#define min_t(type, a, b)	min((type)(a), (type)(b))
