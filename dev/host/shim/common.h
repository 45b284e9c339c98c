/* SPDX-License-Identifier: GPL-2.0-only */
/* Included ahead of every file: what kernel headers give without being asked. */
#ifndef _HOST_COMMON_H
#define _HOST_COMMON_H

#include <limits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define S32_MAX		INT_MAX
#define S32_MIN		INT_MIN

#endif
