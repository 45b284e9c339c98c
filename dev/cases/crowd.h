/* SPDX-License-Identifier: GPL-2.0-only */
/* One-byte instructions in crowded.ko, each of which gets a probe. */
#define CROWD	3000
