// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module goes away under a few thousand probes: each is shown as gone, once,
 * and leaves; others come and go meanwhile.
 */
#define pr_fmt(fmt) fmt

#include <linux/slab.h>

#include "case.h"
#include "crowd.h"

static char *dir = "/modules";
module_param(dir, charp, 0);
MODULE_PARM_DESC(dir, "where crowded.ko is");

#define LIST	"/sys/kernel/debug/kprobes/list"

static struct case_probe *crowd;
static struct kprobe **kps;

static int load(void)
{
	char command[128];

	snprintf(command, sizeof(command), "insmod %s/crowded.ko", dir);
	return case_shell(command);
}

/* Whether that many lines, each another, say that a probe is gone. */
static bool listed(int nr)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "[ $(grep -F '[GONE]' " LIST " | sort -u | wc -l) = %d ] && [ $(grep -cF '[GONE]' " LIST ") = %d ]",
		 nr, nr);
	return !case_shell(command);
}

static void aim_all(void)
{
	int i;

	for (i = 0; i < CROWD; i++) {
		case_aim(&crowd[i], NULL, "crowded");
		crowd[i].kp.offset = CASE_ENDBR + i;
		kps[i] = &crowd[i].kp;
	}
}

static int call_crowded(int x)
{
	int (*fn)(int x) = (void *)__symbol_get("crowded");
	int ret = fn ? fn(x) : -ENOENT;

	if (fn)
		__symbol_put("crowded");
	return ret;
}

static int hit_once(void)
{
	int i, nr = 0;

	for (i = 0; i < CROWD; i++)
		nr += crowd[i].hits == 1;
	return nr;
}

/* A probe of something else, of which the crowd knows nothing. */
static bool other_works(void)
{
	struct case_probe other;
	int ret;

	case_aim(&other, NULL, "crowd_other");
	ret = register_kprobe(&other.kp);
	if (!ret)
		unregister_kprobe(&other.kp);
	return !ret;
}

noinline notrace int crowd_other(int x)
{
	return x + 1;
}

static void leave(void)
{
	int i, nr_gone = 0;
	bool shown, half, none, other;

	case_shell("rmmod crowded");
	for (i = 0; i < CROWD; i++)
		nr_gone += kprobe_gone(kps[i]);
	shown = listed(CROWD);
	other = other_works();
	unregister_kprobes(kps, CROWD / 2);
	half = listed(CROWD - CROWD / 2);
	unregister_kprobes(kps + CROWD / 2, CROWD - CROWD / 2);
	none = listed(0);
	case_verdict("crowd.gone", nr_gone == CROWD && shown && half && none && other,
		     "gone %d of %d, listed %d, half of them %d, none %d, another works %d",
		     nr_gone, CROWD, shown, half, none, other);
}

static void run(void)
{
	int ret = register_kprobes(kps, CROWD), value, hits;

	if (ret) {
		case_shell("rmmod crowded");
		case_verdict("crowd.gone", false, "register %d", ret);
		return;
	}
	value = call_crowded(5);
	hits = hit_once();
	case_verdict("crowd.hits", value == 76 && hits == CROWD, "value %d, %d of %d hit",
		     value, hits, CROWD);
	leave();
}

static int __init crowd_init(void)
{
	crowd = kvcalloc(CROWD, sizeof(*crowd), GFP_KERNEL);
	kps = kvcalloc(CROWD, sizeof(*kps), GFP_KERNEL);
	if (crowd && kps) {
		aim_all();
		if (load())
			case_verdict("crowd.gone", false, "cannot load the module");
		else
			run();
	}
	kvfree(kps);
	kvfree(crowd);
	return 0;
}

static void __exit crowd_exit(void)
{
}

module_init(crowd_init);
module_exit(crowd_exit);
MODULE_DESCRIPTION("kprobes cases: many probes in a module that goes away");
MODULE_LICENSE("GPL");
