// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs landing_scan.c over the text of an ELF file, for dev/landing-check.
 *
 *   landing-host PLAN OUT
 *
 * PLAN has one line for each piece: `text START FILE`, `data START FILE STEP`
 * (words of data, each STEP bytes), `mark FILE` (64-bit addresses known from
 * elsewhere).  OUT gets one byte for each byte of text, in the order of the
 * lines, that says who marked it.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>
#include <linux/bitmap.h>
#include "landing_scan.h"

enum { BY_MARK = 1, BY_WORD = 2, BY_CODE = 4, BY_TABLE = 8, SEEN = 128 };

struct piece {
	struct kprobe_landing_text text;
	uint8_t *bytes;
	uint8_t *by;
	int step;
};

static struct piece texts[64], blocks[256];
static int nr_texts, nr_blocks;
static uint8_t source;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	void *buf;

	if (!f || fseek(f, 0, SEEK_END))
		die(path);
	*size = ftell(f);
	rewind(f);
	buf = malloc(*size + 1);
	if (!buf || fread(buf, 1, *size, f) != *size)
		die(path);
	fclose(f);
	return buf;
}

static struct piece *find(struct piece *p, int nr, unsigned long addr)
{
	for (; nr--; p++)
		if (addr >= p->text.start && addr < p->text.end)
			return p;
	return NULL;
}

static void mark(unsigned long addr)
{
	struct piece *p = find(texts, nr_texts, addr);

	if (!p)
		return;
	__set_bit(addr - p->text.start, p->text.bits);
	p->by[addr - p->text.start] |= source;
}

static int read_text(u8 *dst, unsigned long addr, size_t len)
{
	struct piece *p = find(texts, nr_texts, addr);

	if (!p || addr + len > p->text.end)
		return -1;
	memcpy(dst, p->bytes + (addr - p->text.start), len);
	return 0;
}

static void table(const struct kprobe_landing_text *text, unsigned long addr)
{
	struct piece *p = find(blocks, nr_blocks, addr);
	unsigned long at;
	int32_t distance;

	source = BY_TABLE;
	for (at = addr; p && !(addr & 3) && at + 4 <= p->text.end; at += 4) {
		memcpy(&distance, p->bytes + (at - p->text.start), 4);
		if (addr + distance < text->start || addr + distance >= text->end)
			break;
		mark(addr + distance);
	}
	source = BY_CODE;
}

static void words(struct piece *p)
{
	size_t at, size = p->text.end - p->text.start;
	unsigned long word;

	source = BY_WORD;
	for (at = 0; at + sizeof(word) <= size; at += p->step) {
		memcpy(&word, p->bytes + at, sizeof(word));
		mark(word);
	}
}

static void add(struct piece *p, unsigned long start, const char *path, int step)
{
	size_t size, longs;

	p->bytes = slurp(path, &size);
	p->text.start = start;
	p->text.end = start + size;
	p->step = step;
	longs = size / HOST_LONG_BITS + 1;
	p->text.bits = calloc(longs, sizeof(long));
	p->text.seen = calloc(longs, sizeof(long));
	p->by = calloc(size + 1, 1);
}

static void marks(const char *path)
{
	size_t size, i;
	uint64_t *addr = slurp(path, &size);

	source = BY_MARK;
	for (i = 0; i < size / 8; i++)
		mark(addr[i]);
	free(addr);
}

static void plan(const char *path)
{
	char line[4096], name[4096];
	FILE *f = fopen(path, "r");
	unsigned long start;
	int step;

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "text %lx %s %d", &start, name, &step) == 3)
			add(&texts[nr_texts++], start, name, step);
		else if (sscanf(line, "data %lx %s %d", &start, name, &step) == 3)
			add(&blocks[nr_blocks++], start, name, step);
		else if (sscanf(line, "mark %s", name) == 1)
			marks(name);
		else
			die(line);
	}
	fclose(f);
}

static void close_all(void)
{
	static struct kprobe_landing_scan scan = {
		.read = read_text, .mark = mark, .table = table,
	};
	int i, ret, found, rounds = 0;

	source = BY_CODE;
	do {
		found = 0;
		for (i = 0; i < nr_texts; i++) {
			ret = kprobe_landing_close(&scan, &texts[i].text);
			if (ret < 0)
				die("read");
			found |= ret;
		}
		rounds++;
	} while (found);
	fprintf(stderr, "closed in %d rounds\n", rounds);
}

static void output(const char *path)
{
	FILE *f = fopen(path, "wb");
	struct piece *p;
	size_t i, size;

	if (!f)
		die(path);
	for (p = texts; p < texts + nr_texts; p++) {
		size = p->text.end - p->text.start;
		for (i = 0; i < size; i++)
			if (test_bit(i, p->text.seen))
				p->by[i] |= SEEN;
		fwrite(p->by, 1, size, f);
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 3)
		return 2;
	plan(argv[1]);
	for (i = 0; i < nr_blocks; i++)
		words(&blocks[i]);
	for (i = 0; i < nr_texts; i++)
		words(&texts[i]);
	close_all();
	output(argv[2]);
	return 0;
}
