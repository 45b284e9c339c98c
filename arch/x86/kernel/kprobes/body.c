// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86 kprobes: the bodies of detours that call their handlers directly.
 *
 * detour.S has a number of bodies for sites with one user, and some for sites
 * with two.  A body is made to call certain handlers when the first site wants
 * them, is shared by all sites that want the same, and may be made anew when the
 * last of these is freed: then nobody can be executing it.
 *
 * Bodies are numbered: 0 is the general one, then come the others by kind.
 */
#include <linux/cpufeature.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "detour.h"

static_assert(offsetof(struct kprobe, list) == DETOUR_KP_LIST);
static_assert(offsetof(struct kprobe, addr) == DETOUR_KP_ADDR);
static_assert(offsetof(struct kprobe, pre_handler) == DETOUR_KP_PRE_HANDLER);
static_assert(offsetof(struct optimized_kprobe, optinsn.first) == DETOUR_OP_FIRST);
static_assert(offsetof(struct optimized_kprobe, kp) == 0);

/**
 * struct callee - what a body calls for one user
 * @handler:	the user's pre_handler
 * @target:	where in it the call leads; not the same for another function at
 *		the same address, if that has no ENDBR
 */
struct callee {
	kprobe_pre_handler_t handler;
	unsigned long target;
};

/**
 * struct body - one body
 * @callee:	what it calls, in order
 * @sites:	how many detours call it, or have called it and still exist
 *
 * Under kprobe_mutex.
 */
struct body {
	struct callee callee[KPROBE_BODY_USERS];
	unsigned int sites;
};

static struct body bodies[1 + DETOUR_BODIES_ONE + DETOUR_BODIES_TWO];

/* Bodies with numbers from @first on, @nr of them, are for @users users. */
struct body_kind {
	unsigned int users;
	unsigned int first;
	unsigned int nr;
	const u8 *text;
	const struct body_layout *layout;
};

static const struct body_kind kinds[KPROBE_BODY_USERS] = {
	{ 1, 1, DETOUR_BODIES_ONE, kprobe_detour_one, &kprobe_layout_one },
	{ 2, 1 + DETOUR_BODIES_ONE, DETOUR_BODIES_TWO, kprobe_detour_two,
	  &kprobe_layout_two },
};

static const u8 *body_text(const struct body_kind *kind, unsigned int number)
{
	return kind->text + (number - kind->first) * kind->layout->size;
}

/**
 * kprobe_body_text() - where a body begins
 * @number:	its number
 *
 * Context: any.
 * Return: its first byte.
 */
const u8 *kprobe_body_text(unsigned int number)
{
	const struct body_kind *kind;

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		if (number - kind->first < kind->nr)
			return body_text(kind, number);
	}
	return kprobe_detour_general;
}

/* A function may be called behind its ENDBR. */
static unsigned long call_target(kprobe_pre_handler_t handler)
{
	u32 word = *(u32 *)handler;

	return (unsigned long)handler + (is_endbr(word) ? sizeof(word) : 0);
}

static void fill_in(const u8 *end, u32 value)
{
	u8 *at = (u8 *)end - sizeof(value);
	u32 old;

	memcpy(&old, at, sizeof(old));
	text_poke(at, &value, sizeof(value));
	perf_event_text_poke(at, &old, sizeof(old), &value, sizeof(value));
}

/* Nobody executes it, and who will has been synchronised by then. */
static void write_body(const struct body_kind *kind, unsigned int number,
		       const struct callee *callee)
{
	const u8 *text = body_text(kind, number), *end;
	unsigned int i;

	for (i = 0; i < kind->users; i++) {
		fill_in(text + kind->layout->compare[i],
			(unsigned long)callee[i].handler);
		end = text + kind->layout->call[i];
		fill_in(end, callee[i].target - (unsigned long)end);
		bodies[number].callee[i] = callee[i];
	}
}

/* The kernel and its modules are all in the topmost 2 GB. */
static bool get_callees(struct callee *callee, struct kprobe *user,
			unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++, user = list_next_entry(user, list)) {
		long addr = (long)user->pre_handler;

		if (addr != (s32)addr)
			return false;
		callee[i].handler = user->pre_handler;
		callee[i].target = call_target(user->pre_handler);
	}
	return true;
}

static bool calls(const struct body *body, const struct callee *callee,
		  unsigned int nr)
{
	return !memcmp(body->callee, callee, nr * sizeof(*callee));
}

/* The body that calls these, or one to be made to, or none. */
static unsigned int find_body(const struct body_kind *kind,
			      const struct callee *callee)
{
	unsigned int number, unused = 0;

	for (number = kind->first; number < kind->first + kind->nr; number++) {
		if (calls(&bodies[number], callee, kind->users))
			return number;
		if (!unused && !bodies[number].sites)
			unused = number;
	}
	if (unused)
		write_body(kind, unused, callee);
	return unused;
}

/**
 * kprobe_body_get() - choose a body for a detour
 * @first:	the first of the users
 * @nr:		how many there are, all of them to be called
 *
 * Context: kprobe_mutex and text_mutex are held.
 * Return: its number, to be given back by kprobe_body_put(); 0, the general one,
 * if there is none for them.
 */
unsigned int kprobe_body_get(struct kprobe *first, unsigned int nr)
{
	struct callee callee[KPROBE_BODY_USERS];
	unsigned int number;

	/* The first CPUs with 64 bits have no sahf. */
	if (!nr || nr > KPROBE_BODY_USERS || !boot_cpu_has(X86_FEATURE_LAHF_LM) ||
	    !get_callees(callee, first, nr))
		return 0;
	number = find_body(&kinds[nr - 1], callee);
	if (number)
		bodies[number].sites++;
	return number;
}

/**
 * kprobe_body_put() - a detour will not be executed any more
 * @number:	a body that was chosen for it, or 0
 *
 * Context: kprobe_mutex is held.
 */
void kprobe_body_put(unsigned int number)
{
	if (number)
		bodies[number].sites--;
}
