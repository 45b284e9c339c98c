// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every instruction of a vmlinux, with objdump as the other opinion: length,
 * class by mnemonic, target of branches.  Then each is moved.
 */
#include <ctype.h>
#include <linux/errno.h>

#include "host.h"

struct line {
	unsigned long addr;
	u8 bytes[16];
	int n;
	char text[96];
};

static unsigned long per_class[KPROBE_INSN_NR];
static unsigned long per_refusal[KPROBE_INSN_REFUSAL_NR];
static unsigned long moved, displaced, not_displaced, left_out;

/* What the two decoders take differently: not what is looked for here. */
static bool known_to_differ(const struct line *l)
{
	static const char * const words[] = {
		"(bad)", ".byte", "ud0", "fstcw", "fstsw", "fstenv", "fsave", "finit", "fclex",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(l->text, words[i]))
			return true;
	/* A prefix by itself. */
	return l->n == 1 && (strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", l->bytes[0]) ||
			     (BITS == 64 && (l->bytes[0] & 0xf0) == 0x40));
}

static bool starts(const char *text, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(text, word, n) && !isalnum((u8)text[n]);
}

/* The mnemonic, behind prefixes that objdump prints as words. */
static const char *mnemonic(const char *text)
{
	static const char * const words[] = {
		"lock", "rep", "repz", "repnz", "cs", "ds", "es", "ss", "fs", "gs",
		"notrack", "bnd", "data16", "addr32", "addr16",
	};
	size_t i = 0;

	while (i < ARRAY_SIZE(words)) {
		if (!starts(text, words[i]) && strncmp(text, "rex", 3)) {
			i++;
			continue;
		}
		text += strcspn(text, " ");
		text += strspn(text, " ");
		i = 0;
	}
	return text;
}

#define IS(c)	{ KPROBE_INSN_##c, KPROBE_INSN_OK }
#define NOT(r)	{ KPROBE_INSN_BOOST, KPROBE_INSN_##r }

static const struct {
	const char *word;
	struct { enum kprobe_insn_class class; enum kprobe_insn_refusal refusal; } is;
} by_mnemonic[] = {
	{ "cli", IS(CLI) }, { "sti", IS(STI) },
	{ "pushf", IS(PUSHF) }, { "pushfq", IS(PUSHF) }, { "pushfl", IS(PUSHF) },
	{ "popf", IS(POPF) }, { "popfq", IS(POPF) }, { "popfl", IS(POPF) },
	{ "ret", IS(RET) }, { "retq", IS(RET) }, { "retl", IS(RET) },
	{ "loop", IS(LOOP) }, { "loope", IS(LOOP) }, { "loopne", IS(LOOP) },
	{ "loopl", IS(LOOP) }, { "loopel", IS(LOOP) }, { "loopnel", IS(LOOP) },
	{ "loopw", IS(LOOP) }, { "loopew", IS(LOOP) }, { "loopnew", IS(LOOP) },
	{ "jcxz", IS(LOOP) }, { "jecxz", IS(LOOP) }, { "jrcxz", IS(LOOP) },
	{ "int3", NOT(TRAP) }, { "int", NOT(TRAP) }, { "int1", NOT(TRAP) },
	{ "into", NOT(TRAP) }, { "ud2", NOT(TRAP) }, { "ud1", NOT(TRAP) },
	{ "hlt", NOT(WAIT) }, { "mwait", NOT(WAIT) }, { "mwaitx", NOT(WAIT) },
	{ "lret", NOT(FAR) }, { "lretq", NOT(FAR) }, { "lretl", NOT(FAR) },
	{ "iret", NOT(FAR) }, { "iretq", NOT(FAR) }, { "iretl", NOT(FAR) },
	{ "lcall", NOT(FAR) }, { "ljmp", NOT(FAR) }, { "ljmpl", NOT(FAR) },
	{ "syscall", NOT(FAR) }, { "sysenter", NOT(FAR) },
	{ "sysret", NOT(FAR) }, { "sysretq", NOT(FAR) }, { "sysretl", NOT(FAR) },
	{ "sysexit", NOT(FAR) }, { "sysexitl", NOT(FAR) }, { "sysexitq", NOT(FAR) },
	{ "rsm", NOT(FAR) },
	{ "vmcall", NOT(VIRT) }, { "vmmcall", NOT(VIRT) }, { "vmgexit", NOT(VIRT) },
	{ "vmlaunch", NOT(VIRT) }, { "vmresume", NOT(VIRT) }, { "vmxoff", NOT(VIRT) },
	{ "vmrun", NOT(VIRT) }, { "vmload", NOT(VIRT) }, { "vmsave", NOT(VIRT) },
	{ "tdcall", NOT(VIRT) }, { "seamcall", NOT(VIRT) },
	{ "stgi", NOT(VIRT) }, { "clgi", NOT(VIRT) },
	{ "xbegin", NOT(TRANSACTION) },
#ifdef CONFIG_X86_64
	{ "swapgs", NOT(GS_BASE) }, { "wrgsbase", NOT(GS_BASE) },
#endif
};

static void expect(const struct line *l, enum kprobe_insn_class *class,
		   enum kprobe_insn_refusal *refusal)
{
	const char *word = mnemonic(l->text);
	bool indirect = strchr(word, '*');

	*class = KPROBE_INSN_BOOST;
	*refusal = KPROBE_INSN_OK;
	for (size_t i = 0; i < ARRAY_SIZE(by_mnemonic); i++) {
		if (starts(word, by_mnemonic[i].word)) {
			*class = by_mnemonic[i].is.class;
			*refusal = by_mnemonic[i].is.refusal;
			return;
		}
	}
	if (!strncmp(word, "call", 4))
		*class = indirect ? KPROBE_INSN_CALL_IND : KPROBE_INSN_CALL;
	else if (starts(word, "jmp") || starts(word, "jmpq") || starts(word, "jmpl"))
		*class = indirect ? KPROBE_INSN_JMP_IND : KPROBE_INSN_JMP;
	else if (word[0] == 'j')
		*class = KPROBE_INSN_JCC;
	if (indirect && (strstr(word, "*%gs:") || strstr(word, "*%fs:")))
		*refusal = KPROBE_INSN_SEGMENT;
	if (starts(word, "mov") || !strncmp(word, "mov", 3)) {
		const char *to = strrchr(word, ',');

		if (to && starts(to + 1, "%ss"))
			*refusal = KPROBE_INSN_MASKING;
		if (to && starts(to + 1, "%gs") && !strchr(to, ':') && BITS == 64)
			*refusal = KPROBE_INSN_GS_BASE;
	}
}

static void check_class(const struct line *l, const struct kprobe_insn *insn)
{
	enum kprobe_insn_class class;
	enum kprobe_insn_refusal refusal;

	expect(l, &class, &refusal);
	if (insn->class == KPROBE_INSN_STI && insn->refusal == KPROBE_INSN_WAIT)
		refusal = KPROBE_INSN_WAIT;
	if (check(insn->refusal == refusal, "%lx %s: %s", l->addr, l->text,
		  kprobe_insn_refusal_name(insn->refusal)) && refusal == KPROBE_INSN_OK)
		check(insn->class == class, "%lx %s: %s", l->addr, l->text,
		      kprobe_insn_ops[insn->class].name);
}

static void check_target(const struct line *l, const struct kprobe_insn *insn)
{
	const char *operand = strchr(mnemonic(l->text), ' ');
	unsigned long target;

	if (!kprobe_insn_branches(insn, l->addr, &target))
		return;
	check(operand && strtoul(operand, NULL, 16) == target, "%lx %s: to %lx",
	      l->addr, l->text, target);
}

static void check_moved(const struct line *l, const struct kprobe_insn *insn)
{
	unsigned long to = l->addr + (s32)(rnd() & 0x3fffffff) - 0x20000000;
	u8 *copy = malloc(KPROBE_DISPLACED_MAX), *back = malloc(KPROBE_DISPLACED_MAX);
	int ret = kprobe_insn_relocate(copy, l->bytes, insn, l->addr, to);
	struct kprobe_insn again;

	if (ret > 0 && check(ret == l->n, "%lx %s: %d", l->addr, l->text, ret)) {
		moved++;
		kprobe_insn_classify(&again, copy, ret);
		check(again.class == insn->class && again.size == insn->size,
		      "%lx %s: copy is another instruction", l->addr, l->text);
		ret = kprobe_insn_relocate(back, copy, insn, to, l->addr);
		check(ret == l->n && !memcmp(back, l->bytes, ret),
		      "%lx %s: does not return", l->addr, l->text);
	}
	ret = kprobe_insn_displace(copy, l->bytes, insn, l->addr, to);
	check(ret > 0 || ret == -ERANGE || ret == -EOPNOTSUPP, "%d", ret);
	displaced += ret > 0;
	not_displaced += ret < 0;
	free(copy);
	free(back);
}

static void check_line(const struct line *l, const struct line *next)
{
	u8 window[32];
	struct kprobe_insn insn;
	int avail = l->n;

	if (known_to_differ(l)) {
		left_out++;
		return;
	}
	memcpy(window, l->bytes, l->n);
	if (next->addr == l->addr + l->n) {
		memcpy(window + l->n, next->bytes, next->n);
		avail += next->n;
	}
	kprobe_insn_classify(&insn, window, avail);
	per_refusal[insn.refusal]++;
	if (!check(insn.size == l->n, "%lx %s %s: size %d", l->addr,
		   hex(l->bytes, l->n), l->text, insn.size))
		return;
	check_class(l, &insn);
	check_target(l, &insn);
	if (insn.refusal == KPROBE_INSN_OK) {
		per_class[insn.class]++;
		check_moved(l, &insn);
	}
}

/* "ffffffff81000000:\t90 \tnop" */
static bool parse(struct line *l, const char *text)
{
	char *p;
	unsigned int byte;
	int used;

	l->addr = strtoul(text, &p, 16);
	if (p == text || p[0] != ':' || p[1] != '\t')
		return false;
	for (l->n = 0, p += 2; l->n < 16 && sscanf(p, "%2x %n", &byte, &used) == 1;
	     p += used) {
		if (p[2] != ' ')
			break;
		l->bytes[l->n++] = byte;
		if (p[3] == '\t' || p[3] == ' ')
			break;
	}
	p = strrchr(text, '\t');
	snprintf(l->text, sizeof(l->text), "%s", p + 1);
	l->text[strcspn(l->text, "\n#")] = 0;
	return l->n && l->n <= MAX_INSN_SIZE;
}

static void report(unsigned long lines)
{
	printf("%lu instructions, %lu left out, copied %lu, displaced %lu, not %lu\n",
	       lines, left_out, moved, displaced, not_displaced);
	for (int i = 0; i < KPROBE_INSN_NR; i++)
		printf("  %-14s %9lu\n", kprobe_insn_ops[i].name, per_class[i]);
	for (int i = 1; i < KPROBE_INSN_REFUSAL_NR; i++)
		if (per_refusal[i])
			printf("  refused %9lu  %s\n", per_refusal[i],
			       kprobe_insn_refusal_name(i));
}

void test_objdump(FILE *disassembly)
{
	struct line lines[2] = { 0 };
	unsigned long count = 0;
	char text[512];

	while (fgets(text, sizeof(text), disassembly)) {
		struct line *next = &lines[(count + 1) & 1];

		if (!parse(next, text))
			continue;
		if (count)
			check_line(&lines[count & 1], next);
		count++;
	}
	if (count)
		report(count);
}
