// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may happen to a probe while its jump is queued, which is made to last by
 * a task that holds up the grace period; and the same when the jump is there.
 */
#define pr_fmt(fmt) fmt

#include <linux/cpu.h>
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "case.h"
#include "hold.h"

static char *which = "";
module_param(which, charp, 0);
MODULE_PARM_DESC(which, "name of the case; all of them when empty");

#define SWITCH	"/proc/sys/debug/kprobes-optimization"
#define CALLS	50

int midway_pair(int x);
extern char *const place_pair;

/* Two instructions make up the region, so that a jump has to wait. */
asm(CASE_PAIR(midway_pair));

/* What place_pair must hold. */
#define PLAIN_OPCODE	0x89

/* --- What happens ---------------------------------------------------------------- */

static struct case_probe subject, other;
static int wrong;		/* calls that went wrong */

static void call(struct case_probe *cp, unsigned long expected)
{
	unsigned long before = cp->hits;
	int i;

	for (i = 0; i < CALLS; i++)
		wrong += midway_pair(i) != i + 24;
	wrong += cp->hits - before != expected;
}

/* An action: an error, and the first byte that must stand there afterwards. */
static int act_unregister(u8 *byte)
{
	unregister_kprobe(&subject.kp);
	*byte = PLAIN_OPCODE;
	call(&subject, 0);
	return register_kprobe(&subject.kp);
}

static int act_disable(u8 *byte)
{
	int ret = disable_kprobe(&subject.kp);

	*byte = case_byte(place_pair) == PLAIN_OPCODE ? PLAIN_OPCODE : 0;
	call(&subject, 0);
	return ret ?: enable_kprobe(&subject.kp);
}

static int act_sysctl(u8 *byte)
{
	int ret = case_shell("echo 0 >" SWITCH);

	*byte = case_byte(place_pair) == TRAP_OPCODE ? TRAP_OPCODE : 0;
	call(&subject, CALLS);
	return case_shell("echo 1 >" SWITCH) ?: ret;
}

static int act_debugfs(u8 *byte)
{
	int ret = case_shell("echo 0 >/sys/kernel/debug/kprobes/enabled");

	*byte = case_byte(place_pair) == PLAIN_OPCODE ? PLAIN_OPCODE : 0;
	call(&subject, 0);
	return case_shell("echo 1 >/sys/kernel/debug/kprobes/enabled") ?: ret;
}

static int act_hotplug(u8 *byte)
{
	unsigned int cpu = num_online_cpus() - 1;
	int ret = remove_cpu(cpu);

	*byte = case_byte(place_pair);
	call(&subject, CALLS);
	return ret ?: add_cpu(cpu);
}

static int act_join(u8 *byte, int offset, kprobe_post_handler_t post)
{
	int ret;

	case_aim(&other, place_pair + offset, NULL);
	other.kp.post_handler = post;
	ret = register_kprobe(&other.kp);
	if (ret)
		return ret;
	*byte = case_byte(place_pair);
	call(&subject, CALLS);
	call(&other, CALLS);
	unregister_kprobe(&other.kp);
	call(&subject, CALLS);
	return 0;
}

static int act_user(u8 *byte)
{
	return act_join(byte, 0, NULL);
}

static int act_post(u8 *byte)
{
	int ret = act_join(byte, 0, case_post);

	return *byte == TRAP_OPCODE ? ret : -EBADMSG;
}

static int act_neighbour(u8 *byte)
{
	int ret = act_join(byte, 2, NULL);

	return *byte == TRAP_OPCODE ? ret : -EBADMSG;
}

/* The new one stays, and the old one goes. */
static int act_exchange(u8 *byte)
{
	int ret;

	case_aim(&other, place_pair, NULL);
	ret = register_kprobe(&other.kp);
	if (ret)
		return ret;
	unregister_kprobe(&subject.kp);
	*byte = case_byte(place_pair);
	call(&other, CALLS);
	call(&subject, 0);
	ret = register_kprobe(&subject.kp);
	unregister_kprobe(&other.kp);
	return ret;
}

/* --- Verdicts ---------------------------------------------------------------------- */

struct midway_case {
	const char *which;
	const char *queued;
	const char *jump;
	int (*act)(u8 *byte);
};

/* From a probe in the state wanted, through the action, to a jump and to nothing. */
static void run(const struct midway_case *c, bool queued)
{
	const char *name = queued ? c->queued : c->jump;
	u8 before = case_byte(place_pair), start, byte = 0;
	struct task_struct *task = NULL;
	bool jumped;
	int ret;

	wrong = 0;
	case_aim(&subject, place_pair, NULL);
	if (queued)
		task = hold_up();
	ret = register_kprobe(&subject.kp);
	if (ret) {
		release(task);
		case_verdict(name, false, "register_kprobe gave %d", ret);
		return;
	}
	if (!queued)
		case_wait_jump(place_pair);
	start = case_byte(place_pair);
	call(&subject, CALLS);
	ret = c->act(&byte);
	call(&subject, CALLS);
	release(task);
	jumped = case_wait_jump(place_pair);
	call(&subject, CALLS);
	unregister_kprobe(&subject.kp);
	call(&subject, 0);
	case_verdict(name, !ret && !wrong && jumped && byte &&
		     start == (queued ? TRAP_OPCODE : JUMP_OPCODE) &&
		     before == PLAIN_OPCODE && case_byte(place_pair) == PLAIN_OPCODE,
		     "error %d, %d wrong, first byte %x, %x, %x; jump at the end %d", ret,
		     wrong, start, byte, case_byte(place_pair), jumped);
}

#define MIDWAY(what) { #what, "midway-queued-" #what, "midway-jump-" #what, act_##what }

static const struct midway_case midway_cases[] = {
	MIDWAY(unregister),
	MIDWAY(disable),
	MIDWAY(sysctl),
	MIDWAY(debugfs),
	MIDWAY(hotplug),
	MIDWAY(user),
	MIDWAY(post),
	MIDWAY(neighbour),
	MIDWAY(exchange),
};

/* So that the text was examined when the cases begin. */
static void warm_up(void)
{
	case_aim(&subject, place_pair, NULL);
	if (register_kprobe(&subject.kp))
		return;
	case_wait_jump(place_pair);
	unregister_kprobe(&subject.kp);
}

static int __init midway_init(void)
{
	int i, found = 0;

	warm_up();
	for (i = 0; i < ARRAY_SIZE(midway_cases); i++) {
		if (*which && strcmp(which, midway_cases[i].which))
			continue;
		found++;
		run(&midway_cases[i], true);
		run(&midway_cases[i], false);
	}
	return found ? 0 : -EINVAL;
}

static void __exit midway_exit(void)
{
}

module_init(midway_init);
module_exit(midway_exit);
MODULE_DESCRIPTION("kprobes cases: what happens while a jump is queued");
MODULE_LICENSE("GPL");
