// SPDX-License-Identifier: BSD-3-Clause
/* System calls and the kernel's functions as units by name, and the calls that waits are in: from
 * their texts to the reports. */
#include "check.h"

#include <sys/syscall.h>

#include <cozbpf/abi.h>
#include "core/places/scope.h"
#include "core/places/syscalls.h"
#include "core/places/waits.h"
#include "core/profile/wait_calls.h"
#include "report/report.h"
#include "report/words.h"

static void is_called(uint32_t at, const char *name)
{
	char label[SYSCALL_LABEL];

	syscall_label(at, label);
	CHECK_STR(label, name);
}

TEST(names)
{
	is_called(1 + SYS_write, "write");
	is_called(1 + SYS_getrandom, "getrandom");
	is_called(1 + SYS_io_uring_enter, "io_uring_enter");
	is_called(0, "fault");
	is_called(COZBPF_SYSCALLS, "call_511");
	is_called(COZBPF_SYSCALLS + 1, "call_512");
}

TEST(patterns)
{
	CHECK_EQ(kernel_units_of("KERNEL"), KERNEL_FUNCTIONS);
	CHECK_EQ(kernel_units_of("SYSCALLS"), KERNEL_SYSCALLS);
	CHECK_EQ(kernel_units_of("%SYSCALLS"), KERNEL_NONE);
	CHECK_EQ(kernel_units_of_unit("sys:write"), KERNEL_SYSCALLS);
	CHECK_EQ(kernel_units_of_unit("sys:fsync[io]"), KERNEL_SYSCALLS);
	CHECK_EQ(kernel_units_of_unit("kernel:vfs_read"), KERNEL_FUNCTIONS);
	CHECK_EQ(kernel_units_of_unit("syst.c:12"), KERNEL_NONE);
	CHECK_EQ(kernel_units_of_unit("[k]:vfs_read"), KERNEL_NONE);
}

static void fails(uint32_t id, const struct error *e, const char *cause, const char *hint)
{
	CHECK_EQ(id, 0);
	CHECK_EQ(e->status, EXIT_USAGE);
	CHECK_STR(e->cause, cause);
	CHECK(strstr(e->hint, hint));
}

TEST(units)
{
	struct line_map m;
	struct error e = {0};
	uint32_t line, first;
	char *name;

	CHECK_EQ(line_map_init(&m), 0);
	line = line_map_line(&m, "/src/a.c", 7);
	first = line_map_add_syscalls(&m);
	CHECK_EQ(first, line + 1);
	CHECK_EQ(m.n_lines, first + COZBPF_SYSCALL_UNITS);
	CHECK_EQ(syscall_find(&m, first, "sys:all", &e), first);
	CHECK_EQ(syscall_find(&m, first, "sys:fault", &e), first + 1);
	CHECK_EQ(syscall_find(&m, first, "sys:write", &e), first + 2 + SYS_write);
	CHECK_EQ(m.lines[first].n_lines, COZBPF_SYSCALL_UNITS - 1);
	CHECK_EQ(m.lines[first + 2 + SYS_write].function, first);
	name = source_line_name(&m.lines[first + 2 + SYS_write]);
	CHECK_STR(name, "sys:write");
	free(name);
	fails(syscall_find(&m, first, "sys:getrandm", &e), &e, "there is no system call 'getrandm'",
	    "did you mean 'sys:getrandom'");
	fails(syscall_find(&m, first, "sys:no_such_thing_at_all", &e), &e,
	    "there is no system call 'no_such_thing_at_all'", "as strace shows them");
	line_map_deinit(&m);
}

/* Their waits are units of a class, as those of lines. */
TEST(waits_of_calls)
{
	struct line_map m;
	struct error e = {0};
	uint32_t calls, waits;
	char *name;

	CHECK_EQ(line_map_init(&m), 0);
	calls = line_map_add_syscalls(&m);
	waits = line_map_add_waits(&m);
	line_map_name_wait(&m, waits + 2, syscall_find(&m, calls, "sys:fsync", &e));
	name = source_line_name(&m.lines[waits + 2]);
	CHECK_STR(name, "sys:fsync [io]");
	free(name);
	line_map_deinit(&m);
}

TEST(functions_of_the_kernel)
{
	struct line_map m;
	struct error e = {0};
	uint32_t ours, read, copy;

	CHECK_EQ(line_map_init(&m), 0);
	ours = line_map_line(&m, "app:vfs_read", 0);
	read = line_map_line(&m, "[k]:vfs_read", 0);
	copy = line_map_line(&m, "[ext4]:copy", 0);
	line_map_line(&m, "[xfs]:copy", 0);
	/* The program has one of that name, too. */
	CHECK_EQ(line_map_find_kernel(&m, read, (uint32_t)m.n_lines, "vfs_read", &e), read);
	CHECK_EQ(line_map_find_kernel(&m, read, (uint32_t)m.n_lines, "[ext4]:copy", &e), copy);
	fails(line_map_find_kernel(&m, read, (uint32_t)m.n_lines, "copy", &e), &e,
	    "'copy' is in several modules", "'[ext4]:copy', '[xfs]:copy'");
	fails(line_map_find_kernel(&m, read, (uint32_t)m.n_lines, "vfs_raed", &e), &e,
	    "no function 'vfs_raed' in the kernel", "did you mean 'vfs_read'?");
	fails(line_map_find_kernel(&m, read, (uint32_t)m.n_lines, "main_loop", &e), &e,
	    "no function 'main_loop' in the kernel", "/proc/kallsyms");
	CHECK_EQ(line_map_find_function(&m, "app:vfs_read", &e), ours);
	line_map_deinit(&m);
}

static void parses(const char *text, uint64_t samples, const char *again)
{
	struct wait_calls w = {0};
	char got[WAIT_CALLS_TEXT];

	wait_calls_parse(&w, text, samples);
	CHECK_EQ(w.samples, samples);
	wait_calls_text(&w, got);
	CHECK_STR(got, again);
}

TEST(calls_of_waits)
{
	parses("fsync:980,openat:20", 1000, "fsync:980,openat:20");
	parses("openat:20,fsync:980", 1000, "fsync:980,openat:20");
	parses("a:1,b:2,c:3,d:4,e:5,f:6,g:7", 28, "g:7,f:6,e:5,d:4,c:3,b:2");
	parses("g:7,f:6,e:5,d:4,c:3,b:2,a:1", 28, "g:7,f:6,e:5,d:4,c:3,b:2");
	/* Damage ends it. */
	parses("", 3, "");
	parses("fsync", 3, "");
	parses("fsync:2,openat", 3, "fsync:2");
	parses("fsync:2;openat:1", 3, "fsync:2");
	parses("fsync:2,:1", 3, "fsync:2");
	parses("fsync:0", 3, "");
	parses("fsync:99999999999999999999", 3, "");
	parses("a_name_of_a_call_that_is_longer_than_any:2,read:1", 3, "read:1");
}

TEST(calls_of_several_runs)
{
	struct wait_calls w = {0};
	char got[WAIT_CALLS_TEXT];

	wait_calls_parse(&w, "fsync:60,openat:30", 100);
	wait_calls_parse(&w, "openat:80", 100);
	wait_calls_text(&w, got);
	CHECK_STR(got, "openat:110,fsync:60");
	CHECK_NEAR(wait_calls_share(&w, 0), 0.55, 1e-9);
	CHECK_NEAR(wait_calls_share(&w, 1), 0.3, 1e-9);
}

static const char text[] =
    "startup\ttime=1\tperiod=1000000\n"
    "experiment\tselected=[io]\tspeedup=0.00\tduration=1000000000\tselected-samples=9\n"
    "throughput-point\tname=p\tdelta=100\n"
    "experiment\tselected=/a.c:7 [io]\tspeedup=0.00\tduration=1000000000\tselected-samples=9\n"
    "throughput-point\tname=p\tdelta=100\n"
    "samples\tlocation=/a.c:7 [io]\tcount=900\tfree=9\tfunction=[io]\tcalls=fsync:882,fault:18\n"
    "samples\tlocation=/a.c:9 [io]\tcount=100\tfree=1\tfunction=[io]\tcalls=read:100\n"
    "samples\tlocation=/a.c:9\tcount=100\tfree=1\n"
    "runtime\ttime=2000000000\n";

static const struct estimate_line *line_called(const struct estimate *e, const char *name)
{
	for (size_t i = 0; i < e->n_lines; i++)
		if (!strcmp(e->lines[i].line, name))
			return &e->lines[i];
	return NULL;
}

static void says(const struct estimate *e, const char *name, const char *words)
{
	const struct estimate_line *l = line_called(e, name);
	char buf[256];

	CHECK(l);
	if (!l)
		return;
	calls_words(l, name, buf, sizeof(buf));
	CHECK_STR(buf, words);
}

/* A class has the calls of all its lines. */
TEST(calls_in_reports)
{
	const struct estimate_options options = {.seed = 1};
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	struct profile p;
	struct estimate e;
	struct error err;
	char *json = NULL;
	size_t size;
	FILE *out = open_memstream(&json, &size);

	profile_init(&p);
	CHECK_EQ(profile_read(&p, in, "text", &err), 0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(estimate_profile(&p, &options, &e), 0);
	says(&e, "/a.c:7 [io]", "/a.c:7 [io] waits in fsync 98 %, page faults 2 %");
	says(&e, "[io]", "[io] waits in fsync 88 %, read 10 %, page faults 2 %");
	CHECK_EQ(report_json(out, &e), 0);
	fclose(out);
	CHECK(strstr(json, "\"call\":	\"fsync\""));
	CHECK(strstr(json, "\"share\":	0.98"));
	free(json);
	estimate_deinit(&e);
	profile_deinit(&p);
	fclose(in);
}

/* The text has the leading waits with a verdict. */
TEST(calls_in_text)
{
	struct wait_calls calls = {0};
	struct estimate_line lines[] = {
	    {.line = "/a.c:7 [io]", .progress = "p", .verdict = VERDICT_OPTIMIZE, .calls = &calls},
	    {.line = "/a.c:9", .progress = "p", .verdict = VERDICT_OPTIMIZE},
	    {.line = "/a.c:8 [io]",
		.progress = "p",
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.calls = &calls}};
	const struct estimate e = {.lines = lines, .n_lines = 3};
	const struct text_options options = {.width = 100};
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	wait_calls_parse(&calls, "fsync:98,openat:2", 100);
	CHECK_EQ(report_text(out, &e, &options), 0);
	fclose(out);
	CHECK(strstr(got, "\na.c:7 [io] waits in fsync 98 %, openat 2 %\n"));
	CHECK(!strstr(got, "a.c:9 waits"));
	CHECK(!strstr(got, "a.c:8 [io] waits"));
	free(got);
}
