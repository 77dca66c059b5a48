// SPDX-License-Identifier: BSD-3-Clause
/* What happens while files are read: they are cut off, a signal comes, the reader has no rights. */
#include "debug_fixture.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cozbpf/abi.h>

#include "symbols/elf/privileges.h"
#include "symbols/reading.h"
#include "symbols/sandbox/confine.h"

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
	CHECK_EQ(object_unwind_rows(o, 1000, &stop, &rows, &n, &e), -1);
	CHECK(strstr(e.cause, "changed while it was read"));
	CHECK_EQ(n, 0);
	object_close(o);
	line_map_deinit(&map);
}

/* The same in this process: the reader has read it already when the file is cut off. */
TEST(cut_off_meanwhile)
{
	struct probe_site *sites;
	struct image *o = NULL;
	struct error e = {0};
	size_t n;

	CHECK_EQ(image_open(build("gcc", "-g -O1", "lines.c", "meanwhile"), "", &o, &e), 0);
	CHECK_EQ(truncate(DIR "/meanwhile", 64), 0);
	CHECK_EQ(image_find_symbol(o, "main", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "/meanwhile' changed while it was read"));
	image_close(o);
}

/* A fault elsewhere is nobody's here, and ends the process as ever. */
TEST(other_faults)
{
	struct image *o = NULL;
	struct error e = {0};
	int status;
	pid_t pid;

	CHECK_EQ(image_open(build("gcc", "-g -O1", "lines.c", "other"), "", &o, &e), 0);
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
	image_close(o);
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

/* A row of a process's or thread's /proc/.../status, as a hexadecimal number. */
static unsigned long long status_of(pid_t id, const char *row)
{
	char path[64], line[256];
	unsigned long long ret = ~0ULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
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

static unsigned n_seen, n_bare;

/* Looks at the reader while it reads: our only child. */
static bool look_at_reader(void)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", gettid());
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	if (!pid || status_of(pid, "CapPrm:") == ~0ULL)
		return false;
	n_seen++;
	n_bare += !status_of(pid, "CapPrm:") && !status_of(pid, "CapEff:") &&
		  !status_of(pid, "CapInh:") && status_of(pid, "NoNewPrivs:") == 1 &&
		  (SANITIZED || status_of(pid, "Seccomp:") == 2);
	return false;
}

/* The test itself is read, which takes long enough to be looked at. */
TEST(reader_has_no_rights)
{
	unsigned long long before = status_of(gettid(), "CapPrm:");
	struct loaded l;

	reading_stops_when(look_at_reader);
	l = load("/proc/self/exe");
	reading_stops_when(NULL);
	CHECK_EQ(l.err, 0);
	CHECK_EQ(status_of(gettid(), "CapPrm:"), before);
	CHECK(n_seen);
	CHECK(n_bare);
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
