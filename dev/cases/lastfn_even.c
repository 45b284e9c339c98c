// SPDX-License-Identifier: GPL-2.0-only
#define LASTFN_AT ""
#define LASTFN_PAD ""
#include "lastfn.h"
