/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user-space programs share: results as dev/test reads them. */
#ifndef _DEV_USER_USER_H
#define _DEV_USER_USER_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int user_failed;

static __attribute__((format(printf, 3, 4))) __attribute__((unused))
void result(const char *name, bool good, const char *why, ...)
{
	va_list args;

	if (good) {
		printf("ok %s\n", name);
		return;
	}
	user_failed = 1;
	printf("not ok %s - ", name);
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	printf("\n");
}

#endif /* _DEV_USER_USER_H */
