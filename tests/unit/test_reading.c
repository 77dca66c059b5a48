// SPDX-License-Identifier: BSD-3-Clause
/* What happens while files are read: they are cut off, a signal comes, no capability is effective.
 */
#include "debug_fixture.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf/privileges.h"
#include "symbols/elf/unwind.h"

static struct object *opened(const char *name)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(build("gcc", "-g -O1", "lines.c", name), "", &o, &e), 0);
	return o;
}

/* Every page behind the first one is gone: a read there would end the test (SIGBUS). */
TEST(file_cut_off)
{
	struct object *o = opened("cut");
	struct cozbpf_unwind_row *rows;
	struct probe_site *sites;
	struct source_file *files;
	struct sdt_probe *probes;
	struct scope all = {0};
	struct line_map map;
	struct error e = {0};
	bool stop = false;
	size_t n;

	line_map_init(&map);
	CHECK_EQ(truncate(DIR "/cut", 64), 0);
	CHECK_EQ(object_add_lines(o, &all, &map, &n, &e), -1);
	CHECK(strstr(e.cause, "/cut' changed while it was read"));
	CHECK_EQ(map.n_objects, 0);
	CHECK_EQ(object_source_files(o, &all, &files, &n, &e), -1);
	CHECK_EQ(object_find_line(o, "lines.c", 10, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "changed while it was read"));
	CHECK_EQ(object_find_symbol(o, "main", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "changed while it was read"));
	CHECK_EQ(object_sdt_probes(o, &probes, &n, &e), -1);
	CHECK(strstr(e.cause, "changed while it was read"));
	CHECK_EQ(object_unwind_rows(o, 1000, &stop, &rows, &n), 0);
	CHECK_EQ(n, 0);
	object_close(o);
	line_map_deinit(&map);
}

/* A fault elsewhere is nobody's here, and ends the process as ever. */
TEST(other_faults)
{
	struct object *o = opened("other");
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(10);
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	object_close(o);
}

static unsigned asked;

static bool at_once(void)
{
	asked++;
	return true;
}

/* A table of a hundred thousand rows. */
TEST(a_signal_comes)
{
	struct loaded l;

	CHECK(run("{ echo '.text\\n.globl _start\\n_start:\\n.file 1 \"x.c\"'; seq 100000 | sed "
		  "'s/.*/.loc 1 &\\nnop/'; } | sed 's/\\\\n/\\n/g' >rows.s && gcc -g -nostdlib -o "
		  "rows rows.s"));
	reading_stops_when(at_once);
	l = load(DIR "/rows");
	reading_stops_when(NULL);
	CHECK_EQ(l.err, -1);
	CHECK_EQ(asked, 1);
	CHECK(strstr(l.e.cause, "not read to its end: a signal came"));
	unload(&l);
	l = load(DIR "/rows");
	CHECK_EQ(l.err, 0);
	unload(&l);
}

/* A row of a thread's /proc/.../status, as a hexadecimal number. */
static unsigned long long status_of(pid_t tid, const char *row)
{
	char path[64], line[256];
	unsigned long long ret = ~0ULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, row, strlen(row)))
			ret = strtoull(line + strlen(row), NULL, 16);
	if (f)
		fclose(f);
	return ret;
}

static unsigned long long effective(void)
{
	return status_of(gettid(), "CapEff:");
}

TEST(lowered_and_raised)
{
	unsigned long long before = effective(), permitted = status_of(gettid(), "CapPrm:");

	privileges_borrow();
	CHECK_EQ(effective(), before);
	privileges_return();
	privileges_lower();
	CHECK_EQ(effective(), 0);
	CHECK_EQ(status_of(gettid(), "CapPrm:"), permitted);
	privileges_lower();
	privileges_borrow();
	CHECK_EQ(effective(), before);
	privileges_return();
	CHECK_EQ(effective(), 0);
	privileges_raise();
	CHECK_EQ(effective(), 0);
	privileges_raise();
	CHECK_EQ(effective(), before);
}

struct watch {
	pid_t tid;
	bool end;
	unsigned lowered;
};

static void *watch(void *arg)
{
	struct watch *w = arg;

	while (!__atomic_load_n(&w->end, __ATOMIC_RELAXED))
		w->lowered += !status_of(w->tid, "CapEff:");
	return NULL;
}

/* Another thread looks at what this one has while the test itself is read. */
TEST(lowered_while_reading)
{
	struct watch w = {.tid = gettid()};
	unsigned long long before = effective();
	pthread_t thread;
	struct loaded l;

	CHECK_EQ(pthread_create(&thread, NULL, watch, &w), 0);
	l = load("/proc/self/exe");
	CHECK_EQ(l.err, 0);
	CHECK_EQ(effective(), before);
	__atomic_store_n(&w.end, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK(w.lowered);
	unload(&l);
}

/* For good: in a process of its own. */
TEST(dropped)
{
	unsigned long long left = geteuid() ? 0 : status_of(gettid(), "CapPrm:") & 0xb;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		check_failed_now = 0;
		privileges_drop();
		CHECK_EQ(status_of(gettid(), "CapPrm:"), left);
		CHECK_EQ(effective(), left);
		CHECK_EQ(status_of(gettid(), "CapInh:"), 0);
		CHECK_EQ(status_of(gettid(), "CapAmb:"), 0);
		CHECK_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
		privileges_lower();
		CHECK_EQ(effective(), 0);
		privileges_raise();
		CHECK_EQ(effective(), left);
		_exit(check_failed_now != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}
