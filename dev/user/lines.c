// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: lines SEED COUNT
 *
 * Writes COUNT lines to tracefs kprobe_events: put together at random from what
 * such lines are made of, good ones with bytes changed, and plain noise. Each is
 * taken or refused with an errno that says something; in the end a good line
 * works and nothing is left.
 */
#include <fcntl.h>
#include <unistd.h>

#include "user.h"

#define EVENTS	"/sys/kernel/tracing/kprobe_events"
#define LIST	"/sys/kernel/debug/kprobes/list"
#define BATCH	100
#define LONGEST	400

static uint64_t state;

/* xorshift64 */
static unsigned int any(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

#define PICK(list)	(list)[any(sizeof(list) / sizeof((list)[0]))]

static const char * const kinds[] = {
	"p", "r", "p:", "r:", "p:k/", "r:k/", "r5:k/", "r99999:k/", "p0:k/", "-:", "-:k/", "p:/",
	"p:k.", "x", "", " p", "#p", "p:k/k/", "r-1:k/", "P:k/",
};

static const char * const names[] = {
	"a", "b", "c", "1", "a-b", "", "$x", "a.b", "/", ":",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static const char * const places[] = {
	"vfs_read", "vfs_read+4", "vfs_read+1", "vfs_read+5", "vfs_read+99999", "vfs_read%return",
	"vfs_read+0x10%return", "schedule", "exc_int3", "no_such_function", "0", "0x1000", "-1",
	"0xffffffff81000000", "0xffffffffffffffff", "vfs_read-1", "+5", "nomod:vfs_read",
	":vfs_read", "vfs_read+", "_etext", "jiffies", "vfs_*", "",
};

static const char * const args[] = {
	"$retval", "$stack", "$stack0", "$stack999", "$arg1", "$arg99", "$arg*", "$comm", "$foo",
	"%ax", "%di", "%nothing", "@0", "@jiffies", "@jiffies+8", "@", "+0(%di)", "-8(%sp)",
	"+0(+0(+0(%di)))", "+u0(%di)", "+0(", "+0)", "x=%di", "x=%di:u8", "x=%di:u128",
	"x=%di:string", "x=%di:x8[4]", "x=%di:b4@4/32", "x=%di:ustring[3]", "x=", "=x", "x=\\1",
	"x=\\\"text\"", "x=%di:symbol", "1=%di", "x=%di:", "x=+0($arg1):string", "x=%di x=%di",
	"\\", "\"", "x=$stack:x64[65]",
};

static void add(char *line, const char *text)
{
	if (strlen(line) + strlen(text) + 2 < LONGEST)
		strcat(line, text);
}

static void from_parts(char *line)
{
	int n;

	add(line, PICK(kinds));
	add(line, PICK(names));
	add(line, " ");
	add(line, PICK(places));
	for (n = any(6); n; n--) {
		add(line, " ");
		add(line, PICK(args));
	}
}

static void changed(char *line)
{
	int n;

	add(line, "p:k/a vfs_read+0 x=+8(%di):u64 y=$stack0:x8[4]");
	for (n = 1 + any(4); n; n--)
		line[any(strlen(line))] = 1 + any(255);
}

static void noise(char *line)
{
	int n, len = 1 + any(LONGEST - 2);

	for (n = 0; n < len; n++)
		line[n] = 1 + any(255);
	line[len] = '\0';
}

static void make_line(char *line)
{
	line[0] = '\0';
	switch (any(8)) {
	case 0:
		changed(line);
		break;
	case 1:
		noise(line);
		break;
	default:
		from_parts(line);
	}
	strcat(line, "\n");
}

/* 0 or an errno. */
static int write_line(const char *line, int flags)
{
	int fd = open(EVENTS, O_WRONLY | flags), error = 0;

	if (fd < 0)
		return errno;
	if (*line && write(fd, line, strlen(line)) < 0)
		error = errno;
	if (close(fd) && !error)
		error = errno;
	return error;
}

static bool sensible(int error)
{
	switch (error) {
	case 0:
	case EINVAL:
	case ENOENT:
	case EEXIST:
	case EILSEQ:
	case ERANGE:
	case E2BIG:
	case ENOSPC:
	case ENAMETOOLONG:
	case EADDRNOTAVAIL:
	case EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static bool is_empty(const char *path)
{
	int fd = open(path, O_RDONLY);
	char c;
	bool empty = fd >= 0 && read(fd, &c, 1) == 0;

	if (fd >= 0)
		close(fd);
	return empty;
}

/* Truncating removes all events; none is enabled. */
static int remove_all(void)
{
	return write_line("", O_TRUNC);
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 2 ? atoi(argv[2]) : 1000;
	unsigned int i, taken = 0, odd = 0, stuck = 0;
	char line[LONGEST + 2];
	int error, good;

	state = 88172645463325252ULL + (argc > 1 ? strtoull(argv[1], NULL, 0) : 0);
	for (i = 0; i < count; i++) {
		make_line(line);
		error = write_line(line, O_APPEND);
		taken += !error;
		if (!sensible(error) && odd++ < 5)
			printf("# %s for: %s", strerror(error), line);
		if (i % BATCH == BATCH - 1)
			stuck += remove_all() != 0;
	}
	stuck += remove_all() != 0;
	printf("# %u lines, %u taken\n", count, taken);
	result("lines.errnos", !odd, "%u lines with another errno", odd);
	result("lines.some-taken", taken > count / 100 && taken < count, "%u of %u", taken, count);
	result("lines.removed", !stuck && is_empty(EVENTS) && is_empty(LIST), "%u not removed",
	       stuck);
	good = write_line("p:k/a vfs_read x=%di:x64\n", O_APPEND);
	result("lines.good-line-afterwards", !good && !remove_all() && is_empty(EVENTS), "%s",
	       strerror(good));
	return user_failed;
}
