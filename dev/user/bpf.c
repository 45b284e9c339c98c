// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes as perf and BPF make them, through the system calls alone: a counter,
 * and a BPF program written by hand, on an instruction in the middle of a
 * function and on its return. Each must see each of CALLS calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user.h"

#define CALLS		1000
#define FUNCTION	"__x64_sys_getpgid"
#define MOST_OFFSET	96
#define LIST		"/sys/kernel/debug/kprobes/list"
#define SYSCTL		"/proc/sys/debug/kprobes-optimization"
#define PMU		"/sys/bus/event_source/devices/kprobe/type"

/* Where struct pt_regs has them, on x86_64. */
#define REGS_AX		80
#define REGS_IP		128

/* What the program leaves in its map. */
struct seen {
	uint64_t hits, ip, ax;
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

static int read_number(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = -1;

	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

/* --- The system calls ------------------------------------------------------------- */

static int open_probe(const char *symbol, unsigned long offset, bool on_return)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = read_number(PMU),
		.config = on_return,
		.kprobe_func = (uintptr_t)symbol,
		.probe_offset = offset,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int sys_bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct seen),
		.max_entries = 1,
	};

	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static struct seen read_map(int map)
{
	uint32_t key = 0;
	struct seen seen = { 0 };
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&seen,
	};

	sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	return seen;
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })

/* Count the hit; keep ip and ax of the registers that it was given. */
static int load_program(int map)
{
	struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, offsetof(struct seen, hits), BPF_ADD),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 3, 6, REGS_IP, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 0, 3, offsetof(struct seen, ip), 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 3, 6, REGS_AX, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 0, 3, offsetof(struct seen, ax), 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[16384];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = sys_bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		fprintf(stderr, "%s", log);
	return fd;
}

/* --- Probes ------------------------------------------------------------------------- */

struct probe {
	int event, map, program;
};

static bool attach(struct probe *p, const char *symbol, unsigned long offset, bool on_return)
{
	p->map = -1;
	p->program = -1;
	p->event = open_probe(symbol, offset, on_return);
	if (p->event < 0)
		return false;
	p->map = make_map();
	p->program = load_program(p->map);
	return !ioctl(p->event, PERF_EVENT_IOC_SET_BPF, p->program) &&
	       !ioctl(p->event, PERF_EVENT_IOC_ENABLE, 0);
}

static void detach(struct probe *p)
{
	if (p->event >= 0)
		close(p->event);
	if (p->program >= 0)
		close(p->program);
	if (p->map >= 0)
		close(p->map);
}

/* The address of the one probe in the list, if its line has the mark. */
static unsigned long listed(const char *mark)
{
	FILE *f = fopen(LIST, "r");
	unsigned long addr = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, mark))
			addr = strtoul(line, NULL, 16);
	}
	if (f)
		fclose(f);
	return addr;
}

static unsigned long wait_listed(const char *mark)
{
	int tries;

	for (tries = 0; tries < 50 && !listed(mark); tries++)
		usleep(20000);
	return listed(mark);
}

static long call_many(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < CALLS; i++)
		sum += syscall(SYS_getpgid, 0);
	return sum / CALLS;
}

/* --- Cases ---------------------------------------------------------------------------- */

/* An offset in FUNCTION whose instruction the calls come to, with the mark. */
static unsigned long find_offset(const char *mark)
{
	unsigned long offset;
	struct probe p;
	bool good;

	for (offset = 5; offset < MOST_OFFSET; offset++) {
		good = attach(&p, FUNCTION, offset, false) && wait_listed(mark);
		if (good) {
			call_many();
			good = read_map(p.map).hits;
		}
		detach(&p);
		if (good)
			return offset;
	}
	return 0;
}

static void test_inside(const char *name, const char *mark)
{
	unsigned long offset = find_offset(mark), addr;
	struct seen seen;
	struct probe p;

	if (!offset || !attach(&p, FUNCTION, offset, false)) {
		result(name, false, "no place in " FUNCTION " gets one");
		return;
	}
	addr = wait_listed(mark);
	call_many();
	seen = read_map(p.map);
	detach(&p);
	result(name, seen.hits == CALLS && addr && seen.ip == addr + 1,
	       "at +%lu: %llu of %d hits, ip %llx, address %lx", offset,
	       (unsigned long long)seen.hits, CALLS, (unsigned long long)seen.ip, addr);
}

static void test_return(void)
{
	struct seen seen = { 0 };
	struct probe p;
	long pgid = 0;
	bool attached = attach(&p, FUNCTION, 0, true);

	if (attached) {
		pgid = call_many();
		seen = read_map(p.map);
	}
	detach(&p);
	result("bpf.return", attached && seen.hits == CALLS && seen.ax == (uint64_t)pgid,
	       "attached %d, %llu of %d hits, ax %llu, returned %ld", attached,
	       (unsigned long long)seen.hits, CALLS, (unsigned long long)seen.ax, pgid);
}

static void test_counter(void)
{
	int event = open_probe(FUNCTION, 0, false);
	uint64_t count = 0;

	if (event >= 0) {
		call_many();
		if (read(event, &count, sizeof(count)) != sizeof(count))
			count = 0;
		close(event);
	}
	result("perf.counter", count == CALLS, "event %d, counted %llu of %d", event,
	       (unsigned long long)count, CALLS);
}

static void test_refused(const char *name, const char *symbol, unsigned long offset, int wanted)
{
	int event = open_probe(symbol, offset, false), error = errno;

	if (event >= 0)
		close(event);
	result(name, event < 0 && error == wanted, "event %d, %s", event, strerror(error));
}

static void test_nothing_left(void)
{
	result("perf.nothing-left", !listed("k") && !listed("r"), "probes are listed");
}

int main(void)
{
	test_counter();
	test_inside("bpf.inside-jump", "[OPTIMIZED]");
	write_text(SYSCTL, "0\n");
	test_inside("bpf.inside-trap", "k");
	write_text(SYSCTL, "1\n");
	test_return();
	test_refused("perf.refused-blacklist", "exc_int3", 0, EINVAL);
	test_refused("perf.refused-symbol", "no_function_has_this_name", 0, ENOENT);
	test_refused("perf.refused-offset", FUNCTION, 1 << 20, EINVAL);
	test_nothing_left();
	return user_failed;
}
