// SPDX-License-Identifier: GPL-2.0-only
/* All its instructions begin less than the length of the longest from the end. */
#define LASTFN_AT ".balign 4096\n .skip 4096 - 16, 0xcc\n"
#define LASTFN_PAD ""
#include "lastfn.h"
