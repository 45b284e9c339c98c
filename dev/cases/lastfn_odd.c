// SPDX-License-Identifier: GPL-2.0-only
#define LASTFN_AT ""
#define LASTFN_PAD "nop\n"
#include "lastfn.h"
