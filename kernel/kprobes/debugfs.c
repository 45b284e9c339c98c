// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/kprobes: list, enabled, blacklist, optimization.
 *
 * Tools parse the first three; their formats do not change.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"

/* Only who may see addresses in kallsyms sees them here. */
static void *shown_address(struct seq_file *m, void *addr)
{
	return kallsyms_show_value(m->file->f_cred) ? addr : NULL;
}

/*
 * Walking the sites
 *
 * Position 0 is the header; 1 + n is the n-th place of the table; from GONE_POS
 * on come the sites whose text is gone.  A table that is made anew between two
 * reads may show a site twice, or not at all.
 */
#define GONE_POS	((loff_t)BIT_ULL(32))

static struct kprobe_site *gone_site(loff_t n)
{
	struct list_head *at = seq_list_start(&kprobe_gone_sites, n);

	return at ? list_entry(at, struct kprobe_site, op.list) : NULL;
}

static struct kprobe_site *gone_after(struct kprobe_site *site)
{
	if (list_is_last(&site->op.list, &kprobe_gone_sites))
		return NULL;
	return list_next_entry(site, op.list);
}

/* The first site at or behind a position, which becomes its own. */
static void *find_site(loff_t *pos)
{
	struct kprobe_site *site;
	unsigned int place;

	if (*pos < GONE_POS) {
		place = *pos - 1;
		site = kprobe_site_next(&place);
		if (site) {
			*pos = place;
			return site;
		}
		*pos = GONE_POS;
	}
	return gone_site(*pos - GONE_POS);
}

static void *sites_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kprobe_mutex);
	return *pos ? find_site(pos) : SEQ_START_TOKEN;
}

static void *sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	/* Not counted from the first for each: there may be many. */
	return *pos > GONE_POS ? gone_after(v) : find_site(pos);
}

static void sites_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kprobe_mutex);
}

/**
 * struct place_name - what kallsyms says of a site's address
 * @symbol:	the symbol, or NULL
 * @module:	its module, or NULL
 * @offset:	bytes from the symbol
 * @buf:	room for the symbol
 *
 * The module's name is in the module.  What is gone has no name: something else
 * may be there by now.
 */
struct place_name {
	const char *symbol;
	char *module;
	unsigned long offset;
	char buf[KSYM_NAME_LEN];
};

/* With preemption off, for as long as the names are wanted. */
static void name_place(struct place_name *name, struct kprobe_site *site)
{
	name->symbol = NULL;
	name->module = NULL;
	name->offset = 0;
	if (site->state != KPROBE_SITE_GONE)
		name->symbol = kallsyms_lookup((unsigned long)site->op.kp.addr,
					       NULL, &name->offset,
					       &name->module, name->buf);
}

/*
 * list: a line for each user
 */

static void show_user(struct seq_file *m, struct kprobe_site *site,
		      struct kprobe *user, const struct place_name *name)
{
	bool gone = kprobe_gone(user);
	void *addr = shown_address(m, user->addr);

	seq_printf(m, "%px  %c  ", addr, kprobe_is_return(user) ? 'r' : 'k');
	if (name->symbol)
		seq_printf(m, "%s+0x%lx  %s ", name->symbol, name->offset,
			   name->module ?: " ");
	else
		seq_printf(m, "0x%px ", addr);
	if (gone)
		seq_puts(m, "[GONE]");
	if (kprobe_disabled(user) && !gone)
		seq_puts(m, "[DISABLED]");
	if (kprobe_optimized(&site->op.kp))
		seq_puts(m, "[OPTIMIZED]");
	if (kprobe_ftrace(&site->op.kp))
		seq_puts(m, "[FTRACE]");
	seq_putc(m, '\n');
}

static int list_show(struct seq_file *m, void *v)
{
	struct kprobe_site *site = v;
	struct place_name name;
	struct kprobe *user;

	if (v == SEQ_START_TOKEN)
		return 0;
	guard(preempt)();
	name_place(&name, site);
	list_for_each_entry(user, kprobe_site_users(site), list)
		show_user(m, site, user, &name);
	return 0;
}

static const struct seq_operations list_sops = {
	.start = sites_start,
	.next = sites_next,
	.stop = sites_stop,
	.show = list_show,
};

DEFINE_SEQ_ATTRIBUTE(list);

/*
 * optimization: a line for each site, with the reason where there is no jump
 */

static const char *state_word(struct kprobe_site *site)
{
	if (site->kind == KPROBE_SITE_FTRACE && site->state == KPROBE_SITE_ARMED)
		return "ftrace";
	return kprobe_site_state_name(site->state);
}

static int replaced_bytes(struct kprobe_site *site)
{
#ifdef CONFIG_OPTPROBES
	if (site->state == KPROBE_SITE_OPTIMIZING ||
	    site->state == KPROBE_SITE_OPTIMIZED)
		return arch_prepared_optinsn(&site->op.optinsn);
#endif
	return 0;
}

static int optimization_show(struct seq_file *m, void *v)
{
	struct kprobe_site *site = v;
	struct place_name name;
	const char *reason;
	int bytes;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# address symbol+offset module state bytes reason\n");
		return 0;
	}
	bytes = replaced_bytes(site);
	reason = bytes ? "-" : kprobe_opt_reason_text(kprobe_site_reason(site));
	guard(preempt)();
	name_place(&name, site);
	seq_printf(m, "%px %s+0x%lx %s %s %d %s\n",
		   shown_address(m, site->op.kp.addr), name.symbol ?: "?",
		   name.offset, name.module ?: "-", state_word(site), bytes,
		   reason);
	return 0;
}

static const struct seq_operations optimization_sops = {
	.start = sites_start,
	.next = sites_next,
	.stop = sites_stop,
	.show = optimization_show,
};

DEFINE_SEQ_ATTRIBUTE(optimization);

/*
 * blacklist: a line for each range
 */

static void *blacklist_find(unsigned long *range, loff_t *pos)
{
	range[0] = *pos;
	if (!kprobe_blacklist_next(&range[0], &range[1]))
		return NULL;
	*pos = range[0];
	return range;
}

static void *blacklist_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kprobe_mutex);
	return blacklist_find(m->private, pos);
}

static void *blacklist_next(struct seq_file *m, void *v, loff_t *pos)
{
	unsigned long *range = v;

	*pos = range[1];
	return blacklist_find(range, pos);
}

static void blacklist_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kprobe_mutex);
}

static int blacklist_show(struct seq_file *m, void *v)
{
	unsigned long *range = v;

	seq_printf(m, "0x%px-0x%px\t%ps\n",
		   shown_address(m, (void *)range[0]),
		   shown_address(m, (void *)range[1]), (void *)range[0]);
	return 0;
}

static const struct seq_operations blacklist_sops = {
	.start = blacklist_start,
	.next = blacklist_next,
	.stop = blacklist_stop,
	.show = blacklist_show,
};

static int blacklist_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &blacklist_sops, 2 * sizeof(unsigned long));
}

static const struct file_operations blacklist_fops = {
	.owner = THIS_MODULE,
	.open = blacklist_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

/*
 * stale_hits: how many traps came too late
 */

static int stale_hits_show(struct seq_file *m, void *v)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(kprobe_stale_hits, cpu);
	seq_printf(m, "%lu\n", sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stale_hits);

/*
 * enabled: the switch for all probes
 */

/* Sites that want hits and get none: ftrace said no. */
static unsigned int count_stuck(unsigned int *total)
{
	struct kprobe_site *site;
	unsigned int pos, stuck = 0;

	*total = 0;
	for_each_kprobe_site(site, pos) {
		if (!site->nr_enabled)
			continue;
		++*total;
		stuck += kprobe_site_refused(site);
	}
	return stuck;
}

static int switch_all(bool enable)
{
	const char *verb = enable ? "enable" : "disable";
	unsigned int total, stuck;
	LIST_HEAD(dirty);
	int err;

	guard(mutex)(&kprobe_mutex);
	if (kprobes_all_disarmed == !enable)
		return 0;
	kprobes_all_disarmed = !enable;
	kprobe_site_mark_all(&dirty);
	err = kprobe_sites_commit(&dirty);
	stuck = count_stuck(&total);
	if (stuck)
		pr_warn("failed to %s %u of %u probed addresses\n", verb, stuck,
			total);
	else
		pr_info("all probes %sd\n", verb);
	return err;
}

static ssize_t enabled_read(struct file *file, char __user *to, size_t count,
			    loff_t *ppos)
{
	char text[2] = { kprobes_all_disarmed ? '0' : '1', '\n' };

	return simple_read_from_buffer(to, count, ppos, text, sizeof(text));
}

static ssize_t enabled_write(struct file *file, const char __user *from,
			     size_t count, loff_t *ppos)
{
	bool enable;
	int err = kstrtobool_from_user(from, count, &enable);

	if (!err)
		err = switch_all(enable);
	return err ?: count;
}

static const struct file_operations enabled_fops = {
	.read = enabled_read,
	.write = enabled_write,
	.llseek = default_llseek,
};

struct kprobe_file {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
};

static const struct kprobe_file files[] __initconst = {
	{ "list", 0400, &list_fops },
	{ "blacklist", 0400, &blacklist_fops },
	{ "optimization", 0400, &optimization_fops },
	{ "stale_hits", 0400, &stale_hits_fops },
	{ "enabled", 0600, &enabled_fops },
};

static int __init kprobe_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kprobes", NULL);
	int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, files[i].mode, dir, NULL,
				    files[i].fops);
	return 0;
}
late_initcall(kprobe_debugfs_init);
