// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes in a module that is loaded and unloaded around them. This module
 * stays and has user space do the loading; victim.ko and intruder.ko stand in
 * the folder given by dir.
 */
#define pr_fmt(fmt) fmt

#include <linux/notifier.h>

#include "case.h"
#include "hold.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

static char *dir = "/modules";
module_param(dir, charp, 0);
MODULE_PARM_DESC(dir, "where victim.ko and intruder.ko are");

#define LIST	"/sys/kernel/debug/kprobes/list"
#define BLACKLIST	"/sys/kernel/debug/kprobes/blacklist"

static int load(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "insmod %s/%s.ko", dir, name);
	return case_shell(command);
}

static int unload(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "rmmod %s", name);
	return case_shell(command);
}

/* Whether a line of the list has both words. */
static bool listed(const char *word, const char *mark)
{
	char command[128];

	snprintf(command, sizeof(command), "grep -F '%s' " LIST " | grep -qF '%s'", word, mark);
	return !case_shell(command);
}

/* Call an exported function of a module that is loaded. */
static int call(const char *symbol, int x)
{
	int (*fn)(int x) = (void *)__symbol_get(symbol);
	int ret;

	if (!fn)
		return -ENOENT;
	ret = fn(x);
	__symbol_put(symbol);
	return ret;
}

/* --- The module goes away under a probe ----------------------------------------- */

struct life_case {
	const char *which;
	const char *name;
	void (*run)(const struct life_case *c);
	const char *symbol;		/* what is probed */
	unsigned int offset;
	int add;			/* what it adds to its argument */
	bool disabled;
	bool post;
};

/* Has its say when there is no victim to work on. */
static bool victim_loaded(const struct life_case *c)
{
	if (!load("victim"))
		return true;
	case_verdict(c->name, false, "cannot load the victim");
	return false;
}

static bool works(const struct life_case *c, struct case_probe *cp)
{
	unsigned long before = cp->hits;

	return call(c->symbol, 7) == 7 + c->add && cp->hits == before + 1;
}

static int probe(const struct life_case *c, struct case_probe *cp)
{
	int ret;

	case_aim(cp, NULL, c->symbol);
	cp->kp.offset = c->offset;
	if (c->post)
		cp->kp.post_handler = case_post;
	if (c->disabled)
		cp->kp.flags = KPROBE_FLAG_DISABLED;
	ret = register_kprobe(&cp->kp);
	if (!ret && !c->post && !c->disabled)
		case_wait_jump(cp->kp.addr);
	return ret;
}

/* Loaded again, a probe has to work as the first time. */
static bool works_again(const struct life_case *c)
{
	struct case_probe cp;
	bool good;

	case_aim(&cp, NULL, c->symbol);
	if (register_kprobe(&cp.kp)) {
		pr_info("%s: cannot register after the reload\n", c->name);
		return false;
	}
	good = works(c, &cp);
	case_wait_jump(cp.kp.addr);
	good &= works(c, &cp);
	unregister_kprobe(&cp.kp);
	return good && call(c->symbol, 7) == 7 + c->add && cp.hits == 2;
}

static void gone(const struct life_case *c)
{
	bool worked = true, is_gone, shown, left, again;
	struct case_probe cp;
	int ret, enabled, unloaded;

	if (!victim_loaded(c))
		return;
	ret = probe(c, &cp);
	if (!ret && !c->disabled)
		worked = works(c, &cp);
	unloaded = unload("victim");
	is_gone = kprobe_gone(&cp.kp);
	shown = listed("[GONE]", "[GONE]");
	enabled = ret ? -EINVAL : enable_kprobe(&cp.kp);
	if (!ret)
		unregister_kprobe(&cp.kp);
	left = listed("[GONE]", "[GONE]");
	if (!victim_loaded(c))
		return;
	again = works_again(c);
	unload("victim");
	case_verdict(c->name, !ret && worked && !unloaded && is_gone && shown && !left &&
		     enabled == -EINVAL && again,
		     "register %d, worked %d, rmmod %d, gone %d, listed %d then %d, enable %d, again %d",
		     ret, worked, unloaded, is_gone, shown, left, enabled, again);
}

/* A probe of the dead module stays while a new one comes to the same place. */
static void gone_joined(const struct life_case *c)
{
	struct case_probe cp;
	bool again, alone;
	int ret;

	if (!victim_loaded(c))
		return;
	ret = probe(c, &cp);
	unload("victim");
	if (!victim_loaded(c))
		return;
	again = works_again(c);
	alone = kprobe_gone(&cp.kp);
	if (!ret)
		unregister_kprobe(&cp.kp);
	again &= works_again(c);
	unload("victim");
	case_verdict(c->name, !ret && again && alone,
		     "register %d, new probes work %d, the old one is gone %d", ret, again, alone);
}

/* Its jump is still queued when the module goes. */
static void gone_queued(const struct life_case *c)
{
	int ret, unloaded;
	struct task_struct *task;
	bool queued, is_gone, again;
	struct case_probe cp;

	if (!victim_loaded(c))
		return;
	task = hold_up();
	case_aim(&cp, NULL, c->symbol);
	cp.kp.offset = c->offset;
	ret = register_kprobe(&cp.kp);
	queued = !ret && case_byte(cp.kp.addr) == TRAP_OPCODE;
	unloaded = unload("victim");
	is_gone = kprobe_gone(&cp.kp);
	release(task);
	msleep(300);
	if (!ret)
		unregister_kprobe(&cp.kp);
	if (!victim_loaded(c))
		return;
	again = works_again(c);
	unload("victim");
	case_verdict(c->name, queued && !unloaded && is_gone && again,
		     "register %d, queued %d, rmmod %d, gone %d, again %d", ret, queued,
		     unloaded, is_gone, again);
}

/* --- At the very moment --------------------------------------------------------- */

static struct case_probe notified;
static const struct life_case *notified_case;
static int notified_ret;

/* Unregister while the module goes, before kprobes hears of it. */
static int on_going(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state == MODULE_STATE_GOING && !strcmp(mod->name, "victim"))
		unregister_kprobe(&notified.kp);
	return NOTIFY_DONE;
}

static int register_late(struct module *mod)
{
	if (strcmp(mod->name, "victim"))
		return NOTIFY_DONE;
	case_aim(&notified, NULL, notified_case->symbol);
	notified_ret = register_kprobe(&notified.kp);
	if (!notified_ret)
		unregister_kprobe(&notified.kp);
	return NOTIFY_DONE;
}

/* Register while it goes: too late. */
static int on_late(struct notifier_block *nb, unsigned long state, void *data)
{
	return state == MODULE_STATE_GOING ? register_late(data) : NOTIFY_DONE;
}

/* Register in init text that has run but is still there: too late, too. */
static int on_live(struct notifier_block *nb, unsigned long state, void *data)
{
	return state == MODULE_STATE_LIVE ? register_late(data) : NOTIFY_DONE;
}

/* Register in init text before it runs. */
static int on_coming(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING || strcmp(mod->name, "victim"))
		return NOTIFY_DONE;
	case_aim(&notified, NULL, notified_case->symbol);
	notified_ret = register_kprobe(&notified.kp);
	return NOTIFY_DONE;
}

/* Unregistered and gone before the jump is taken back, then loaded anew. */
static void unregister_going(const struct life_case *c)
{
	struct notifier_block nb = { .notifier_call = on_going, .priority = INT_MAX };
	int ret, round;
	bool again = true;

	for (round = 0; round < 3 && again; round++) {
		if (!victim_loaded(c))
			return;
		ret = probe(c, &notified);
		if (!ret)
			register_module_notifier(&nb);
		unload("victim");
		if (!ret)
			unregister_module_notifier(&nb);
		if (!victim_loaded(c))
			return;
		again = !ret && works_again(c);
		unload("victim");
	}
	case_verdict(c->name, again, "round %d: register %d, works after the reload %d",
		     round, ret, again);
}

/* The same without help: whoever is faster, rmmod or the optimizer. */
static void unregister_rmmod(const struct life_case *c)
{
	struct case_probe cp;
	bool again;
	int ret;

	if (!victim_loaded(c))
		return;
	ret = probe(c, &cp);
	if (!ret)
		unregister_kprobe(&cp.kp);
	unload("victim");
	if (!victim_loaded(c))
		return;
	again = works_again(c);
	unload("victim");
	case_verdict(c->name, !ret && again, "register %d, works after the reload %d", ret, again);
}

static void register_going(const struct life_case *c)
{
	struct notifier_block nb = { .notifier_call = on_late, .priority = INT_MAX };

	if (!victim_loaded(c))
		return;
	notified_case = c;
	notified_ret = 0;
	register_module_notifier(&nb);
	unload("victim");
	unregister_module_notifier(&nb);
	case_verdict(c->name, notified_ret == -ENOENT, "register_kprobe gave %d", notified_ret);
}

static void register_live(const struct life_case *c)
{
	struct notifier_block nb = { .notifier_call = on_live };

	notified_case = c;
	notified_ret = 0;
	register_module_notifier(&nb);
	if (victim_loaded(c)) {
		unload("victim");
		case_verdict(c->name, notified_ret == -ENOENT, "register_kprobe gave %d",
			     notified_ret);
	}
	unregister_module_notifier(&nb);
}

static void init_text(const struct life_case *c)
{
	struct notifier_block nb = { .notifier_call = on_coming, .priority = -10 };
	int loaded, late, unloaded;
	struct case_probe cp;
	bool is_gone;

	notified_case = c;
	notified_ret = -EAGAIN;
	register_module_notifier(&nb);
	loaded = load("victim");
	unregister_module_notifier(&nb);
	is_gone = kprobe_gone(&notified.kp);
	if (!notified_ret)
		unregister_kprobe(&notified.kp);
	case_aim(&cp, NULL, c->symbol);
	late = register_kprobe(&cp.kp);
	if (!late)
		unregister_kprobe(&cp.kp);
	unloaded = unload("victim");
	case_verdict(c->name, !loaded && !notified_ret && notified.hits == 2 && is_gone &&
		     late == -ENOENT && !unloaded,
		     "insmod %d, register %d, %lu hits, gone %d, register afterwards %d, rmmod %d",
		     loaded, notified_ret, notified.hits, is_gone, late, unloaded);
}

/* --- Where no probe may be --------------------------------------------------------- */

static int refused(const char *symbol)
{
	struct case_probe cp;
	int ret;

	case_aim(&cp, NULL, symbol);
	ret = register_kprobe(&cp.kp);
	if (!ret)
		unregister_kprobe(&cp.kp);
	return ret;
}

static bool blacklisted(const char *symbol)
{
	char command[128];

	snprintf(command, sizeof(command), "grep -qw '%s' " BLACKLIST, symbol);
	return !case_shell(command);
}

/* A module has such text of its own, for as long as it is there. */
static void blacklist(const struct life_case *c)
{
	int in_kprobes, in_noinstr;
	bool shown, left;

	if (!victim_loaded(c))
		return;
	in_kprobes = refused("victim_kprobes");
	in_noinstr = refused("victim_noinstr");
	shown = blacklisted("victim_kprobes") && blacklisted("victim_noinstr");
	unload("victim");
	left = blacklisted("victim_kprobes") || blacklisted("victim_noinstr");
	case_verdict(c->name, in_kprobes == -EINVAL && in_noinstr == -EINVAL && shown && !left,
		     "__kprobes %d, noinstr %d, listed %d, afterwards %d", in_kprobes,
		     in_noinstr, shown, left);
}

/* --- A jump from another module --------------------------------------------------- */

static int wrong_intrusions(void)
{
	int (*fn)(int x) = (void *)__symbol_get("intruder_entry");
	int i, wrong = 0;

	if (!fn)
		return -ENOENT;
	for (i = 0; i < 100; i++)
		wrong += fn(i) != i + 1053;
	__symbol_put("intruder_entry");
	return wrong;
}

static int wrong_entries(void)
{
	int i, wrong = 0;

	for (i = 0; i < 100; i++)
		wrong += call("victim_entry", i) != i + 53;
	return wrong;
}

static int with_intruder(struct case_probe *cp)
{
	int wrong;

	if (load("intruder"))
		return -ENOENT;
	wrong = wrong_intrusions() + wrong_entries();
	case_wait_jump(cp->kp.addr);
	wrong += wrong_intrusions() + wrong_entries();
	unload("intruder");
	return wrong;
}

/* It is loaded twice while the probe is there, and the probe survives it. */
static void intruder(const struct life_case *c)
{
	int ret, first = 0, second = 0, wrong;
	struct case_probe cp;

	if (!victim_loaded(c))
		return;
	ret = probe(c, &cp);
	wrong = wrong_entries();
	if (!ret) {
		first = with_intruder(&cp);
		case_wait_jump(cp.kp.addr);
		wrong += wrong_entries();
		second = with_intruder(&cp);
		unregister_kprobe(&cp.kp);
	}
	wrong += wrong_entries();
	unload("victim");
	case_verdict(c->name, !ret && !wrong && !first && !second,
		     "register %d, wrong %d, with the intruder %d and %d", ret, wrong, first,
		     second);
}

/* The intruder is there before the probe. */
static void intruder_first(const struct life_case *c)
{
	int ret, wrong = -1, after = 0;
	struct case_probe cp;

	if (!victim_loaded(c))
		return;
	if (!load("intruder"))
		wrong = wrong_intrusions();
	ret = probe(c, &cp);
	if (!ret) {
		wrong += wrong_intrusions() + wrong_entries();
		unload("intruder");
		case_wait_jump(cp.kp.addr);
		after = wrong_entries();
		unregister_kprobe(&cp.kp);
	}
	unload("victim");
	case_verdict(c->name, !ret && !wrong && !after,
		     "register %d, wrong %d, after the intruder left %d", ret, wrong, after);
}

static const struct life_case life_cases[] = {
	{ "gone-trap", "life-gone-trap", gone, "victim_plain", 0, 51, .post = true },
	{ "gone-jump", "life-gone-jump", gone, "victim_plain", 0, 51 },
	{ "gone-queued", "life-gone-queued", gone_queued, "victim_entry", CASE_ENDBR + 2, 53 },
	{ "gone-disabled", "life-gone-disabled", gone, "victim_plain", 0, 51, .disabled = true },
	{ "gone-ftrace", "life-gone-ftrace", gone, "victim_traced", 0, 52, .post = true },
	{ "joined-jump", "life-joined-jump", gone_joined, "victim_plain", 0, 51 },
	{ "joined-trap", "life-joined-trap", gone_joined, "victim_plain", 0, 51, .post = true },
	{ "joined-ftrace", "life-joined-ftrace", gone_joined, "victim_traced", 0, 52, .post = true },
	{ "unregister-going", "life-unregister-going", unregister_going, "victim_plain", 0, 51 },
	{ "unregister-rmmod", "life-unregister-rmmod", unregister_rmmod, "victim_plain", 0, 51 },
	{ "register-going", "life-register-going", register_going, "victim_plain", 0, 51 },
	{ "init-text", "life-init-text", init_text, "victim_step", 0, 54 },
	{ "register-live", "life-register-live", register_live, "victim_step", 0, 54 },
	{ "blacklist", "life-blacklist", blacklist },
	{ "intruder", "life-intruder", intruder, "victim_entry", CASE_ENDBR + 2, 53 },
	{ "intruder-first", "life-intruder-first", intruder_first, "victim_entry", CASE_ENDBR + 2, 53 },
};

static int __init life_init(void)
{
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(life_cases); i++) {
		if (*which && strcmp(which, life_cases[i].which))
			continue;
		found++;
		life_cases[i].run(&life_cases[i]);
	}
	return found ? 0 : -EINVAL;
}

static void __exit life_exit(void)
{
}

module_init(life_init);
module_exit(life_exit);
MODULE_DESCRIPTION("kprobes cases: modules that come and go");
MODULE_LICENSE("GPL");
