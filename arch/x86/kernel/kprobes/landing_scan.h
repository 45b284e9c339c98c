/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scanning text for landings.  PURE: also builds in user space, where
 * dev/landing-check runs it over a whole vmlinux.
 */
#ifndef _X86_KERNEL_KPROBES_LANDING_SCAN_H
#define _X86_KERNEL_KPROBES_LANDING_SCAN_H

#include <linux/types.h>

/**
 * struct kprobe_landing_insn - what one instruction adds to the landings
 * @size:	length in bytes; 1 if it cannot be decoded, so never 0
 * @nr:		how many entries of @ref are in use
 * @ref:	addresses that it makes reachable, wherever they point
 * @table:	where a table of distances to labels may start, or 0
 */
struct kprobe_landing_insn {
	u8 size;
	u8 nr;
	unsigned long ref[5];
	unsigned long table;
};

/**
 * struct kprobe_landing_text - a piece of text and its landings
 * @start:	first byte
 * @end:	byte after the last
 * @bits:	one bit a byte of text: control may arrive here
 * @seen:	one bit a byte of text: an instruction was decoded from here
 */
struct kprobe_landing_text {
	unsigned long start;
	unsigned long end;
	unsigned long *bits;
	unsigned long *seen;
};

/* How much text is copied at a time; text_mutex is held that long. */
#define KPROBE_LANDING_WINDOW	4096

/**
 * struct kprobe_landing_scan - how the scan reads text and tells what it found
 * @read:	copies text, 0 or a negative error
 * @mark:	is told each address that was found, in or outside of the text
 * @table:	is told where a table of distances may be that @text uses
 * @text:	the text being scanned
 * @base:	address of the first byte in @window
 * @len:	bytes in @window
 * @ahead:	how much to copy next
 * @window:	the part of the text copied last
 */
struct kprobe_landing_scan {
	int (*read)(u8 *dst, unsigned long addr, size_t len);
	void (*mark)(unsigned long addr);
	void (*table)(const struct kprobe_landing_text *text, unsigned long addr);
	const struct kprobe_landing_text *text;
	unsigned long base;
	unsigned long len;
	unsigned long ahead;
	u8 window[KPROBE_LANDING_WINDOW];
};

void kprobe_landing_decode(struct kprobe_landing_insn *ref, const u8 *bytes,
			   int avail, unsigned long ip);
int kprobe_landing_close(struct kprobe_landing_scan *scan,
			 const struct kprobe_landing_text *text);

#endif /* _X86_KERNEL_KPROBES_LANDING_SCAN_H */
