// SPDX-License-Identifier: GPL-2.0-only
/*
 * host ITERATIONS SEED < objdump's output
 */
#include <stdarg.h>

#include "host.h"

unsigned long passed, failed;

static u64 state;

/* splitmix64, public domain by its author S. Vigna */
u64 rnd(void)
{
	u64 z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

u64 below(u64 n)
{
	return rnd() % n;
}

const char *hex(const u8 *bytes, int n)
{
	static char text[4][3 * 40 + 1];
	static int slot;
	char *out = text[slot++ & 3];

	*out = 0;
	for (int i = 0; i < n && i < 40; i++)
		sprintf(out + 3 * i, "%02x ", bytes[i]);
	return out;
}

int decoded_length(const u8 *bytes, int avail)
{
	struct insn raw;

	return insn_decode(&raw, bytes, avail, INSN_MODE_KERN) ? 0 : raw.length;
}

static void part(const char *name, void (*test)(void))
{
	unsigned long before = passed, bad = failed;

	test();
	printf("%d-bit %-10s %9lu passed, %lu failed\n", BITS, name,
	       passed - before, failed - bad);
}

static unsigned long iterations;

static void run_random(void)
{
	test_random(iterations);
}

static void run_objdump(void)
{
	test_objdump(stdin);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s ITERATIONS SEED < disassembly\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	iterations = strtoul(argv[1], NULL, 0);
	state = strtoull(argv[2], NULL, 0);

	part("rows", test_rows);
	part("native", test_native);
	part("random", run_random);
	part("vmlinux", run_objdump);
	printf("%d-bit host: %lu passed, %lu failed\n", BITS, passed, failed);
	return failed != 0;
}
