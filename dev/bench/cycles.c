// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hit by a jump costs on this very CPU, in cycles of its time stamp counter.
 *
 * usage: cycles VMLINUX
 *
 * Ours is the code of the built kernel, byte by byte: the stub and a body are
 * taken from VMLINUX and filled in as opt.c and body.c fill them in, returns are
 * patched as the kernel patches them at boot on a CPU that needs no thunk, and
 * %gs is set so that per-CPU variables are found.  Beside it what a detour of
 * the base tree does, step by step, with the handler called by a retpoline and
 * without.  The handler is the same C function.
 *
 * What is jumped from is a function of two instructions that are displaced; it
 * is called in a loop, and what the loop takes without a jump is subtracted.
 * Prints lines "WHOSE RESULT key number", in hundredths of a cycle; medians.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No types are needed of it, only numbers. */
#define __ASSEMBLY__
#define CONFIG_X86_64 1
#include "../../arch/x86/kernel/kprobes/detour.h"

#define CALLS		200
#define SAMPLES		20001

/* Below 2 GB, as the program itself: everything reaches everything. */
#define CODE		((uint8_t *)0x20000000)
#define BODY		CODE
#define SLOT		(CODE + 0x1000)
#define SITES		(CODE + 0x2000)
#define CODE_SIZE	0x3000
#define PERCPU_SIZE	0x200000

#define KERNEL_CS	0x10
#define FOLD_COUNT	0x80000000u	/* nobody waits to be scheduled */

struct regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

static unsigned long hits;

/* The handler of all. */
__attribute__((noinline))
int cycles_handler(void *probe, struct regs *regs)
{
	hits++;
	return 0;
}

/*
 * VMLINUX
 */

struct image {
	const uint8_t *file;
	const Elf64_Shdr *sections;
	unsigned int nr;
};

static struct image open_image(const char *path)
{
	struct image image;
	const Elf64_Ehdr *head;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	image.file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image.file == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	head = (const void *)image.file;
	image.sections = (const void *)(image.file + head->e_shoff);
	image.nr = head->e_shnum;
	return image;
}

static uint64_t symbol(const struct image *image, const char *name)
{
	unsigned int s;

	for (s = 0; s < image->nr; s++) {
		const Elf64_Shdr *table = &image->sections[s];
		const Elf64_Sym *sym = (const void *)(image->file + table->sh_offset);
		const char *names;
		size_t i;

		if (table->sh_type != SHT_SYMTAB)
			continue;
		names = (const char *)image->file +
			image->sections[table->sh_link].sh_offset;
		for (i = 0; i < table->sh_size / sizeof(*sym); i++) {
			if (!strcmp(names + sym[i].st_name, name))
				return sym[i].st_value;
		}
	}
	errx(1, "no symbol %s", name);
}

static const uint8_t *contents(const struct image *image, uint64_t addr)
{
	unsigned int s;

	for (s = 0; s < image->nr; s++) {
		const Elf64_Shdr *section = &image->sections[s];

		if ((section->sh_flags & SHF_ALLOC) &&
		    section->sh_type != SHT_NOBITS && section->sh_addr > 1UL << 32 &&
		    addr - section->sh_addr < section->sh_size)
			return image->file + section->sh_offset +
			       (addr - section->sh_addr);
	}
	errx(1, "nothing at %lx", addr);
}

/*
 * Ours
 */

struct body_layout {
	uint16_t compare[2];
	uint16_t call[2];
	uint16_t size;
};

/* Of a struct kprobe and a struct optimized_kprobe what a body looks at. */
static uint64_t our_site[64], our_user[64];

static void put32(uint8_t *end, uint64_t value)
{
	uint32_t v = value;

	memcpy(end - sizeof(v), &v, sizeof(v));
}

static void put_branch(uint8_t *at, uint8_t opcode, const uint8_t *target)
{
	at[0] = opcode;
	put32(at + 5, (uint64_t)target - (uint64_t)(at + 5));
}

/* Jumps to the return thunk, at @from in the kernel, become returns. */
static void patch_returns(uint8_t *code, size_t size, uint64_t from, uint64_t thunk)
{
	size_t i;
	int32_t disp;

	for (i = 0; i + 5 <= size; i++) {
		memcpy(&disp, code + i + 1, sizeof(disp));
		if (code[i] != 0xe9 || from + i + 5 + disp != thunk)
			continue;
		memset(code + i, 0xcc, 5);
		code[i] = 0xc3;
	}
}

/* Per-CPU variables are addressed from %rip: the code has moved, so does %gs. */
static uint64_t our_gs(const struct image *image, uint64_t from)
{
	uint8_t *area = mmap(NULL, PERCPU_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		err(1, "mmap");
	*(uint32_t *)(area + symbol(image, "pcpu_hot") + DETOUR_PREEMPT_COUNT) =
		FOLD_COUNT;
	return (uint64_t)area - ((uint64_t)BODY - from);
}

/* Copy a body and make it call the handler; returns what %gs must be. */
static uint64_t make_body(const struct image *image)
{
	uint64_t from = symbol(image, "kprobe_detour_one");
	const struct body_layout *layout;

	layout = (const void *)contents(image, symbol(image, "kprobe_layout_one"));
	memcpy(BODY, contents(image, from), layout->size);
	put32(BODY + layout->compare[0], (uint64_t)cycles_handler);
	put32(BODY + layout->call[0],
	      (uint64_t)cycles_handler - (uint64_t)(BODY + layout->call[0]));
	patch_returns(BODY, layout->size, from, symbol(image, "__x86_return_thunk"));
	return our_gs(image, from);
}

static const uint8_t displaced[] = {
	0x48, 0x89, 0xf8,		/* mov %rdi, %rax */
	0x48, 0x8d, 0x50, 0x01,		/* lea 1(%rax), %rdx */
};

/* The detour of the function at @site; returns where it is entered. */
static uint8_t *make_slot(const struct image *image, const uint8_t *site)
{
	uint64_t start = symbol(image, "kprobe_stub_start");
	size_t size = symbol(image, "kprobe_stub_end") - start;
	uint8_t *entry = SLOT + sizeof(uint64_t), *copy = entry + size;
	uint64_t pointer = (uint64_t)our_site;

	our_site[DETOUR_OP_FIRST / 8] = (uint64_t)our_user;
	our_user[DETOUR_KP_PRE_HANDLER / 8] = (uint64_t)cycles_handler;
	memcpy(SLOT, &pointer, sizeof(pointer));
	memcpy(entry, contents(image, start), size);
	put32(entry + (symbol(image, "kprobe_stub_ip") - start) + 5,
	      (uint64_t)site + 1);
	put_branch(entry + (symbol(image, "kprobe_stub_call") - start), 0xe8, BODY);
	memcpy(copy, displaced, sizeof(displaced));
	put_branch(copy + sizeof(displaced), 0xe9, site + sizeof(displaced));
	return entry;
}

/*
 * The base tree's, by its steps:
 *
 *   1. make room for a whole frame: ss, sp and flags; all registers
 *   2. call a C function with the site and the frame
 *   3. there: is the probe disabled? preemption off; is a handler running on
 *      this CPU? complete the frame; note the site and a status for this CPU
 *   4. for each user: has it a handler, is it enabled? note it for this CPU,
 *      call the handler through a pointer; forget it
 *   5. forget the site; preemption on, and look whether somebody waits
 *   6. pop all registers, then the flags
 */
struct base_probe {
	struct base_probe *next;
	int (*handler)(void *probe, struct regs *regs);
	unsigned long addr;
	unsigned int flags;
};

struct base_cpu {
	struct base_probe *current, *instance;
	unsigned long status;
	unsigned int preempt;
};

#define BASE_DISABLED	1
#define BASE_CPU	((struct base_cpu __seg_gs *)64)

struct base_probe base_user, base_site = { .next = &base_user };

__attribute__((noinline)) void base_resched(void)
{
	errx(1, "nobody waits to be scheduled");
}

static inline __attribute__((always_inline))
void base_handlers(struct base_probe *site, struct regs *regs)
{
	struct base_probe *user;

	for (user = site->next; user; user = user->next) {
		if (user->handler && !(user->flags & BASE_DISABLED)) {
			BASE_CPU->instance = user;
			user->handler(user, regs);
		}
		BASE_CPU->instance = NULL;
	}
}

static inline __attribute__((always_inline))
void base_hit(struct base_probe *site, struct regs *regs)
{
	if (site->flags & BASE_DISABLED)
		return;
	asm volatile("incl %0" : "+m" (BASE_CPU->preempt));
	if (!BASE_CPU->current) {
		regs->sp += sizeof(long);
		regs->cs = KERNEL_CS;
		regs->ip = site->addr + 1;
		regs->orig_ax = ~0UL;
		BASE_CPU->current = site;
		BASE_CPU->status = 1;
		base_handlers(site, regs);
		BASE_CPU->current = NULL;
	}
	asm goto("decl %0; jz %l1" : : "m" (BASE_CPU->preempt) : "memory", "cc" : resched);
	return;
resched:
	base_resched();
}

#define BASE_CALLBACK	__attribute__((noinline, used))

BASE_CALLBACK __attribute__((indirect_branch("thunk")))
static void base_retpoline(struct base_probe *site, struct regs *regs)
{
	base_hit(site, regs);
}

BASE_CALLBACK __attribute__((indirect_branch("keep")))
static void base_plain(struct base_probe *site, struct regs *regs)
{
	base_hit(site, regs);
}

#define ALL_REGISTERS "rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15"
#define ALL_BACKWARDS "r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi"

/* What is written behind it is copied: the frame's flags lie lowest at the end. */
#define BASE_DETOUR(name)					\
	asm(".pushsection .rodata\n"					\
	    ".globl " #name "_code, " #name "_call, " #name "_code_end\n" \
	    #name "_code:\n"						\
	    "pushq $0x18; pushq %rsp; pushfq; nopl (%rax)\n"		\
	    "lea -24(%rsp), %rsp\n"					\
	    ".irp r, " ALL_REGISTERS "; push %\\r; .endr\n"		\
	    "mov %rsp, %rsi; movabs $base_site, %rdi\n"		\
	    #name "_call: .byte 0xe8; .long 0\n"			\
	    "mov 144(%rsp), %rdx; mov %rdx, 160(%rsp)\n"		\
	    ".irp r, " ALL_BACKWARDS "; pop %\\r; .endr\n"		\
	    "lea 24(%rsp), %rsp; lea 16(%rsp), %rsp; popfq\n"		\
	    #name "_code_end:\n"					\
	    ".popsection\n")

BASE_DETOUR(base);
extern const uint8_t base_code[], base_call[], base_code_end[];

static uint8_t *make_base(uint8_t *at, const uint8_t *site, const void *callback)
{
	uint8_t *end = at + (base_code_end - base_code);

	memcpy(at, base_code, base_code_end - base_code);
	put_branch(at + (base_call - base_code), 0xe8, callback);
	memcpy(end, displaced, sizeof(displaced));
	put_branch(end + sizeof(displaced), 0xe9, site + sizeof(displaced));
	return at;
}

static uint64_t base_gs(void)
{
	uint8_t *area = aligned_alloc(64, 256);

	if (!area)
		err(1, "memory");
	memset(area, 0, 256);
	((struct base_cpu *)(area + 64))->preempt = FOLD_COUNT;
	base_user.handler = cycles_handler;
	return (uint64_t)area;
}

/*
 * Measuring
 */

struct variant {
	uint8_t *site;
	uint64_t gs;
	uint64_t *samples;
};

enum { BARE, OURS, RETPOLINE, PLAIN, NR_VARIANTS };

static void make_site(struct variant *v, int nr, uint64_t gs)
{
	v->site = SITES + nr * 64;
	v->gs = gs;
	v->samples = calloc(SAMPLES, sizeof(*v->samples));
	if (!v->samples)
		err(1, "memory");
	memcpy(v->site, displaced, sizeof(displaced));
	v->site[sizeof(displaced)] = 0xc3;
}

static uint64_t cycles(void)
{
	uint32_t low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static uint64_t sample(const struct variant *v)
{
	unsigned long (*fn)(unsigned long x) = (void *)v->site;
	uint64_t start;
	int i;

	if (syscall(SYS_arch_prctl, ARCH_SET_GS, v->gs))
		err(1, "arch_prctl");
	for (i = 0; i < 10; i++)
		fn(i);
	start = cycles();
	for (i = 0; i < CALLS; i++)
		fn(i);
	return cycles() - start;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(struct variant *v)
{
	qsort(v->samples, SAMPLES, sizeof(*v->samples), compare);
	return v->samples[SAMPLES / 2];
}

static void tell(const char *whose, const char *key, uint64_t cycles, uint64_t bare)
{
	printf("%s RESULT cycles-%s-x100 %lu\n", whose, key,
	       (cycles - bare) * 100 / CALLS);
}

static void setup(const char *path, struct variant *v)
{
	struct image image = open_image(path);
	uint64_t gs = base_gs();
	void *code = mmap(CODE, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (code != CODE)
		err(1, "mmap");
	make_site(&v[BARE], BARE, gs);
	make_site(&v[OURS], OURS, make_body(&image));
	make_site(&v[RETPOLINE], RETPOLINE, gs);
	make_site(&v[PLAIN], PLAIN, gs);
	base_site.addr = (uint64_t)v[RETPOLINE].site;
	put_branch(v[OURS].site, 0xe9, make_slot(&image, v[OURS].site));
	put_branch(v[RETPOLINE].site, 0xe9,
		   make_base(SLOT + 0x400, v[RETPOLINE].site, base_retpoline));
	put_branch(v[PLAIN].site, 0xe9,
		   make_base(SLOT + 0x800, v[PLAIN].site, base_plain));
}

int main(int argc, char **argv)
{
	struct variant v[NR_VARIANTS];
	uint64_t bare, ours;
	int i, s;

	if (argc != 2)
		errx(2, "usage: cycles VMLINUX");
	setup(argv[1], v);
	/* In turn, so that whatever else goes on strikes all alike. */
	for (s = 0; s < SAMPLES; s++) {
		for (i = 0; i < NR_VARIANTS; i++)
			v[i].samples[s] = sample(&v[i]);
	}
	if (hits != (NR_VARIANTS - 1) * (CALLS + 10UL) * SAMPLES)
		errx(1, "%lu hits were lost",
		     (NR_VARIANTS - 1) * (CALLS + 10UL) * SAMPLES - hits);
	bare = median(&v[BARE]);
	ours = median(&v[OURS]);
	tell("base", "retpoline", median(&v[RETPOLINE]), bare);
	tell("base", "plain", median(&v[PLAIN]), bare);
	tell("ours", "retpoline", ours, bare);
	tell("ours", "plain", ours, bare);
	return 0;
}
