/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What detour.S and those who fill it in, opt.c and body.c, have to agree on.
 */
#ifndef _X86_KERNEL_KPROBES_DETOUR_H
#define _X86_KERNEL_KPROBES_DETOUR_H

/* How many bodies there are for sites with one user, and with two. */
#define DETOUR_BODIES_ONE	24
#define DETOUR_BODIES_TWO	8

/* Offset of preempt_count in struct pcpu_hot; opt.c asserts it. */
#ifdef CONFIG_X86_64
#define DETOUR_PREEMPT_COUNT	8
#else
#define DETOUR_PREEMPT_COUNT	4
#endif

/* Offsets in struct kprobe and struct optimized_kprobe; body.c asserts them. */
#define DETOUR_KP_LIST		16
#define DETOUR_KP_ADDR		40
#define DETOUR_KP_PRE_HANDLER	64
#define DETOUR_OP_FIRST		168

/* Flags that no handler may be entered with, and those that sahf cannot bring. */
#define DETOUR_SLOW_FLAGS						\
	(X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_IOPL |		\
	 X86_EFLAGS_NT | X86_EFLAGS_AC)

#ifndef __ASSEMBLY__

#include <linux/kprobes.h>
#include <linux/types.h>

/* A slot begins with the address of its site; then comes the stub. */
#define DETOUR_ENTRY	sizeof(struct optimized_kprobe *)

/**
 * struct body_layout - where a body of some kind is to be filled in
 * @compare:	per user, the end of the immediate operand
 * @call:	per user, the end of the displacement of the call
 * @size:	bytes from one body to the next
 */
struct body_layout {
	u16 compare[KPROBE_BODY_USERS];
	u16 call[KPROBE_BODY_USERS];
	u16 size;
};

/* detour.S */
extern const u8 kprobe_stub_start[];
extern const u8 kprobe_stub_ip[];
extern const u8 kprobe_stub_call[];
extern const u8 kprobe_stub_end[];
extern const u8 kprobe_detour_general[];
extern const u8 kprobe_detour_one[];
extern const u8 kprobe_detour_two[];
extern const struct body_layout kprobe_layout_one;
extern const struct body_layout kprobe_layout_two;

#define STUB_OFF(label)	(DETOUR_ENTRY + (kprobe_stub_##label - kprobe_stub_start))

struct optimized_kprobe;

/* opt.c, called from detour.S */
int kprobe_detour_hit(struct optimized_kprobe *op, struct pt_regs *regs);
int kprobe_detour_changed(struct optimized_kprobe *op, struct pt_regs *regs,
			  int ret);
void kprobe_detour_resched(void);

/* body.c */
#ifdef CONFIG_X86_64
const u8 *kprobe_body_text(unsigned int number);
unsigned int kprobe_body_get(struct kprobe *first, unsigned int nr);
void kprobe_body_put(unsigned int number);
#else
static inline const u8 *kprobe_body_text(unsigned int number)
{
	return kprobe_detour_general;
}

static inline unsigned int kprobe_body_get(struct kprobe *first,
					   unsigned int nr)
{
	return 0;
}

static inline void kprobe_body_put(unsigned int number) { }
#endif

#endif /* __ASSEMBLY__ */
#endif /* _X86_KERNEL_KPROBES_DETOUR_H */
