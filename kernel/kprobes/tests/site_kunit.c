// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of a site: every cell of its table, what its inputs ask
 * for, and a long random walk on a real probe with the text looked at after
 * each step.
 *
 *   edges_are_those_of_the_table
 *   names_are_there_and_differ
 *   target_follows_inputs
 *   reason_is_the_first_that_applies
 *   random_walk
 *   table_stays_small
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/uaccess.h>

#include "../internal.h"

static unsigned long seed = 20241117;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the random walk");

/* One row a state to come from, one letter a state to go to. */
static const char * const allowed[KPROBE_SITE_NR] = {
	/*			       PDAQORG */
	[KPROBE_SITE_PREPARED]	    = ".x.....",
	[KPROBE_SITE_DISARMED]	    = "..x..xx",
	[KPROBE_SITE_ARMED]	    = ".x.x...",
	[KPROBE_SITE_OPTIMIZING]    = "..x.x..",
	[KPROBE_SITE_OPTIMIZED]	    = "..x....",
	[KPROBE_SITE_RETIRED]	    = ".......",
	[KPROBE_SITE_GONE]	    = ".....x.",
};

static void edges_are_those_of_the_table(struct kunit *test)
{
	int from, to;

	for (from = 0; from < KPROBE_SITE_NR; from++) {
		for (to = 0; to < KPROBE_SITE_NR; to++)
			KUNIT_EXPECT_EQ_MSG(test, kprobe_site_edge(from, to),
					    allowed[from][to] == 'x',
					    "%s to %s",
					    kprobe_site_state_name(from),
					    kprobe_site_state_name(to));
	}
}

static void names_are_there_and_differ(struct kunit *test)
{
	int i, j;

	for (i = 0; i < KPROBE_SITE_NR; i++) {
		KUNIT_ASSERT_NOT_NULL(test, kprobe_site_state_name(i));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, kprobe_site_state_name(i),
					    kprobe_site_state_name(j));
	}
	for (i = 0; i < KPROBE_OPT_NR; i++) {
		KUNIT_ASSERT_NOT_NULL(test, kprobe_opt_reason_text(i));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, kprobe_opt_reason_text(i),
					    kprobe_opt_reason_text(j));
	}
}

struct input {
	const char *name;
	enum kprobe_site_kind kind;
	enum kprobe_site_state state;
	unsigned int users, enabled, post;
	bool all_off;
	enum kprobe_opt_reason refusal;
	enum kprobe_site_state target;
	enum kprobe_opt_reason reason;
};

#define UNLESS_UNSUPPORTED(reason)					\
	(IS_ENABLED(CONFIG_OPTPROBES) ? (reason) : KPROBE_OPT_UNSUPPORTED)

static const struct input inputs[] = {
	{ "no user", .target = KPROBE_SITE_RETIRED,
	  .reason = KPROBE_OPT_DISABLED },
	{ "none enabled", .users = 2, .target = KPROBE_SITE_DISARMED,
	  .reason = KPROBE_OPT_DISABLED },
	{ "all switched off", .users = 1, .enabled = 1, .all_off = true,
	  .target = KPROBE_SITE_DISARMED, .reason = KPROBE_OPT_DISABLED },
	{ "no user, all off", .all_off = true, .target = KPROBE_SITE_RETIRED,
	  .reason = KPROBE_OPT_DISABLED },
	{ "one of two enabled", .users = 2, .enabled = 1,
	  .target = KPROBE_SITE_ARMED,
	  .reason = UNLESS_UNSUPPORTED(KPROBE_OPT_PENDING) },
	{ "post_handler", .users = 1, .enabled = 1, .post = 1,
	  .target = KPROBE_SITE_ARMED,
	  .reason = UNLESS_UNSUPPORTED(KPROBE_OPT_POST_HANDLER) },
	{ "post_handler before refusal", .users = 1, .enabled = 1, .post = 1,
	  .refusal = KPROBE_OPT_INSN, .target = KPROBE_SITE_ARMED,
	  .reason = UNLESS_UNSUPPORTED(KPROBE_OPT_POST_HANDLER) },
	{ "refused", .users = 1, .enabled = 1, .refusal = KPROBE_OPT_INSN,
	  .target = KPROBE_SITE_ARMED,
	  .reason = UNLESS_UNSUPPORTED(KPROBE_OPT_INSN) },
	{ "ftrace", .kind = KPROBE_SITE_FTRACE, .users = 1, .enabled = 1,
	  .target = KPROBE_SITE_ARMED, .reason = KPROBE_OPT_FTRACE },
	{ "ftrace, disabled", .kind = KPROBE_SITE_FTRACE, .users = 1,
	  .target = KPROBE_SITE_DISARMED, .reason = KPROBE_OPT_FTRACE },
	{ "gone", .state = KPROBE_SITE_GONE, .users = 1, .enabled = 1,
	  .target = KPROBE_SITE_GONE, .reason = KPROBE_OPT_GONE },
	{ "gone without users", .state = KPROBE_SITE_GONE,
	  .target = KPROBE_SITE_GONE, .reason = KPROBE_OPT_GONE },
};

KUNIT_ARRAY_PARAM_DESC(input, inputs, name);

static void fill_site(struct kprobe_site *site, const struct input *in)
{
	site->kind = in->kind;
	site->state = in->state ?: KPROBE_SITE_DISARMED;
	site->nr_users = in->users;
	site->nr_enabled = in->enabled;
	site->nr_post = in->post;
	site->refusal = in->refusal;
}

static void target_follows_inputs(struct kunit *test)
{
	const struct input *in = test->param_value;
	struct kprobe_site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);
	bool was_off;

	KUNIT_ASSERT_NOT_NULL(test, site);
	fill_site(site, in);
	guard(mutex)(&kprobe_mutex);
	was_off = kprobes_all_disarmed;
	kprobes_all_disarmed = in->all_off;
	KUNIT_EXPECT_STREQ(test, kprobe_site_state_name(kprobe_site_target(site)),
			   kprobe_site_state_name(in->target));
	kprobes_all_disarmed = was_off;
}

static void reason_is_the_first_that_applies(struct kunit *test)
{
	const struct input *in = test->param_value;
	struct kprobe_site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);
	bool was_off;

	KUNIT_ASSERT_NOT_NULL(test, site);
	fill_site(site, in);
	guard(mutex)(&kprobe_mutex);
	was_off = kprobes_all_disarmed;
	kprobes_all_disarmed = in->all_off;
	KUNIT_EXPECT_STREQ(test, kprobe_opt_reason_text(kprobe_site_reason(site)),
			   kprobe_opt_reason_text(in->reason));
	kprobes_all_disarmed = was_off;
}

/*
 * The random walk
 */

#define WALKERS	4
#define STEPS	400

static noinline notrace int walk_target(int x)
{
	return x * 3 + 1;
}

struct walk {
	struct kprobe user[WALKERS];
	bool there[WALKERS];
	struct rnd_state rnd;
	kprobe_opcode_t original;
	unsigned long hits;
};

static struct walk walk;

static int walk_pre(struct kprobe *p, struct pt_regs *regs)
{
	walk.hits++;
	return 0;
}

static void walk_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
}

static void walk_register(struct kunit *test, int i)
{
	struct kprobe *p = &walk.user[i];

	if (walk.there[i]) {
		unregister_kprobe(p);
		walk.there[i] = false;
		return;
	}
	memset(p, 0, sizeof(*p));
	p->addr = (kprobe_opcode_t *)walk_target;
	p->pre_handler = walk_pre;
	if (prandom_u32_state(&walk.rnd) & 1)
		p->post_handler = walk_post;
	if (prandom_u32_state(&walk.rnd) & 1)
		p->flags = KPROBE_FLAG_DISABLED;
	KUNIT_EXPECT_EQ(test, register_kprobe(p), 0);
	walk.there[i] = true;
}

static void walk_enable(struct kunit *test, int i, bool enable)
{
	int err = enable ? enable_kprobe(&walk.user[i]) :
			   disable_kprobe(&walk.user[i]);

	KUNIT_EXPECT_EQ(test, err, walk.there[i] ? 0 : -EINVAL);
}

static void walk_switch(void)
{
	LIST_HEAD(dirty);

	guard(mutex)(&kprobe_mutex);
	kprobes_all_disarmed = !kprobes_all_disarmed;
	kprobe_site_mark_all(&dirty);
	kprobe_sites_commit(&dirty);
}

static void walk_step(struct kunit *test)
{
	u32 rnd = prandom_u32_state(&walk.rnd);
	int i = rnd % WALKERS;

	switch (rnd >> 8 & 7) {
	case 0 ... 2:
		walk_register(test, i);
		break;
	case 3:
		walk_enable(test, i, false);
		break;
	case 4:
		walk_enable(test, i, true);
		break;
	case 5:
		walk_switch();
		break;
	default:
		wait_for_kprobe_optimizer();
		break;
	}
}

static kprobe_opcode_t walk_text(void)
{
	kprobe_opcode_t code = 0;
	kprobe_opcode_t *at = walk.user[0].addr;

	copy_from_kernel_nofault(&code, at, sizeof(code));
	return code;
}

/* Counts, state and text of the site against what was asked for. */
static void walk_check(struct kunit *test, int step)
{
	unsigned int users = 0, enabled = 0, post = 0, i;
	struct kprobe_site *site;
	struct kprobe *found;
	bool armed;

	for (i = 0; i < WALKERS; i++) {
		users += walk.there[i];
		enabled += walk.there[i] && !kprobe_disabled(&walk.user[i]);
		post += walk.there[i] && walk.user[i].post_handler;
	}
	guard(mutex)(&kprobe_mutex);
	found = get_kprobe(walk.user[0].addr);
	KUNIT_ASSERT_EQ_MSG(test, !!found, !!users, "step %d", step);
	armed = enabled && !kprobes_all_disarmed;
	KUNIT_EXPECT_EQ_MSG(test, walk_text() != walk.original, armed,
			    "step %d", step);
	if (!found)
		return;
	site = kprobe_to_site(found);
	KUNIT_EXPECT_EQ_MSG(test, site->nr_users, users, "step %d", step);
	KUNIT_EXPECT_EQ_MSG(test, site->nr_enabled, enabled, "step %d", step);
	KUNIT_EXPECT_EQ_MSG(test, site->nr_post, post, "step %d", step);
	KUNIT_EXPECT_EQ_MSG(test, site->state != KPROBE_SITE_DISARMED, armed,
			    "step %d", step);
	KUNIT_EXPECT_TRUE_MSG(test, !post || site->state <= KPROBE_SITE_ARMED,
			      "step %d: %s with a post_handler", step,
			      kprobe_site_state_name(site->state));
	KUNIT_EXPECT_EQ_MSG(test, !list_empty(&site->op.list),
			    site->state == KPROBE_SITE_OPTIMIZING,
			    "step %d", step);
}

static void walk_call(struct kunit *test, int step)
{
	unsigned long before = walk.hits, enabled = 0, i;

	for (i = 0; i < WALKERS; i++)
		enabled += walk.there[i] && !kprobe_disabled(&walk.user[i]);
	KUNIT_EXPECT_EQ_MSG(test, walk_target(step), step * 3 + 1, "step %d", step);
	if (kprobes_all_disarmed)
		enabled = 0;
	KUNIT_EXPECT_EQ_MSG(test, walk.hits - before, enabled, "step %d", step);
}

static void walk_cleanup(void *unused)
{
	int i;

	if (kprobes_all_disarmed)
		walk_switch();
	for (i = 0; i < WALKERS; i++) {
		if (walk.there[i])
			unregister_kprobe(&walk.user[i]);
	}
}

static void random_walk(struct kunit *test)
{
	int step;

	memset(&walk, 0, sizeof(walk));
	prandom_seed_state(&walk.rnd, seed);
	kunit_info(test, "seed %lu\n", seed);
	walk.user[0].addr = (kprobe_opcode_t *)walk_target;
	/* Where the architecture puts the probe is known after the first. */
	walk.user[0].pre_handler = walk_pre;
	KUNIT_ASSERT_EQ(test, register_kprobe(&walk.user[0]), 0);
	unregister_kprobe(&walk.user[0]);
	walk.original = walk_text();
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, walk_cleanup, NULL),
			0);
	for (step = 0; step < STEPS; step++) {
		kprobe_opcode_t *at = walk.user[0].addr;

		walk_step(test);
		walk.user[0].addr = at;
		walk_check(test, step);
		walk_call(test, step);
	}
}

static unsigned int table_used(void)
{
	guard(mutex)(&kprobe_mutex);
	return kprobe_table_used();
}

/* What comes and goes at one address leaves nothing for lookups to pass. */
static void table_stays_small(struct kunit *test)
{
	unsigned int before = table_used();
	struct kprobe p;
	int i;

	for (i = 0; i < 20; i++) {
		memset(&p, 0, sizeof(p));
		p.addr = (kprobe_opcode_t *)walk_target;
		p.pre_handler = walk_pre;
		KUNIT_ASSERT_EQ(test, register_kprobe(&p), 0);
		unregister_kprobe(&p);
	}
	KUNIT_EXPECT_LE(test, table_used(), before + 1);
}

static struct kunit_case site_cases[] = {
	KUNIT_CASE(edges_are_those_of_the_table),
	KUNIT_CASE(names_are_there_and_differ),
	KUNIT_CASE_PARAM(target_follows_inputs, input_gen_params),
	KUNIT_CASE_PARAM(reason_is_the_first_that_applies, input_gen_params),
	KUNIT_CASE(random_walk),
	KUNIT_CASE(table_stays_small),
	{}
};

static struct kunit_suite site_suite = {
	.name = "kprobes_site",
	.test_cases = site_cases,
};

kunit_test_suite(site_suite);

MODULE_DESCRIPTION("KUnit tests of the states of a probed address");
MODULE_LICENSE("GPL");
