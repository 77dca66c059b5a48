// SPDX-License-Identifier: BSD-3-Clause
/* The log of `cozbpf blocks`: what is written is read again; whatever is cut off or damaged, every
 * run that is whole stays; several may write at once. */
#include "check.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blocks_fixture.h"

#define BLOCKS 5
#define RUNS 4

static struct block_figures figures_of(unsigned run, unsigned block)
{
	struct block_figures f = {.block = block, .frequency = 1000 * run + block, .share = 0.25};

	if (block % 2) {
		f.frequency = 1234.5678 * (run + 1);
		f.frequency_se = 12.25;
	}
	made_time(&f, 100 + block, 3 + run);
	made_time(&f, 1e6 * (block + 1), 1);
	return f;
}

/* Places come one by one: run i meets block i for the first time. */
static void make(struct made_log *m)
{
	struct block_place places[BLOCKS];

	made_begin(m);
	for (unsigned i = 0; i < BLOCKS; i++)
		places[i] = made_place(i);
	for (unsigned i = 0; i < RUNS; i++) {
		struct block_figures figures[BLOCKS];
		struct block_run run = made_plain_run(i);

		run.status = i == 2 ? -9 : 0;
		run.ended = i != 3;
		for (unsigned j = 0; j < i + 2; j++)
			figures[j] = figures_of(i, j);
		CHECK_EQ(made_run(m, &run, places, i + 2, figures, i + 2), 0);
	}
}

static const struct block_entry *entry_of(const struct block_logs *l, size_t run, const char *lines)
{
	for (size_t i = 0; i < l->runs[run].n; i++) {
		const struct block_entry *e = &l->entries[l->runs[run].first + i];

		if (!strcmp(l->places[e->place].lines, lines))
			return e;
	}
	return NULL;
}

/* Which run of make() it is, by when it began. */
static unsigned index_of(const struct block_read_run *r)
{
	return (unsigned)(r->run.started_ns - 1700000000000000000ULL);
}

static bool is_same_entry(
    const struct block_logs *l, const struct block_entry *e, const struct block_figures *f)
{
	size_t n = 0;

	for (unsigned i = 0; i < BLOCK_CELLS; i++) {
		const struct block_cell *c = &l->cells[e->first_cell + n];

		if (!f->cells[i])
			continue;
		if (n == e->n_cells || c->index != i || c->count != f->cells[i])
			return false;
		n++;
	}
	return n == e->n_cells && fabs(e->frequency - f->frequency) <= 1e-6 * f->frequency &&
	       e->frequency_se == f->frequency_se && e->share == f->share && e->timed == f->timed &&
	       e->min_ns == f->min_ns && e->max_ns == f->max_ns &&
	       fabs(e->avg_ns - f->avg_ns) <= 1e-6 * f->avg_ns;
}

/* Checks all runs but for blocks whose names are lost; returns how many are lost. */
static size_t check_runs(const struct block_logs *l)
{
	size_t lost = 0;

	for (size_t i = 0; i < l->n_runs; i++) {
		unsigned run = index_of(&l->runs[i]);
		const struct block_run want = made_plain_run(run), *got = &l->runs[i].run;

		CHECK(run < RUNS && got->minor_faults == want.minor_faults &&
		      got->major_faults == want.major_faults && got->cpu_ns == want.cpu_ns &&
		      got->status == (run == 2 ? -9 : 0) && got->ended == (run != 3));
		for (unsigned j = 0; j < run + 2; j++) {
			struct block_figures f = figures_of(run, j);
			const struct block_entry *e = entry_of(l, i, made_place(j).lines);

			lost += !e;
			CHECK(!e || is_same_entry(l, e, &f));
		}
	}
	return lost;
}

TEST(each_time_has_its_cell)
{
	for (uint64_t ns = 0; ns < 5000; ns++) {
		unsigned cell = block_cell_of(ns);

		CHECK(block_cell_ns(cell) <= ns && ns < block_cell_ns(cell + 1));
	}
	for (unsigned i = 0; i < BLOCK_CELLS; i++)
		CHECK_EQ(block_cell_of(block_cell_ns(i)), i);
	CHECK_EQ(block_cell_of(UINT64_MAX), BLOCK_CELLS - 1);
}

TEST(what_is_written_is_read)
{
	struct block_logs l;
	struct made_log m;
	struct error e;

	make(&m);
	block_logs_init(&l);
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK_EQ(l.n_runs, RUNS);
	CHECK_EQ(l.n_places, BLOCKS);
	CHECK_EQ(l.n_damaged + l.n_nameless + l.n_twins, 0);
	CHECK_EQ(check_runs(&l), 0);
	CHECK_STR(l.runs[1].session.program, "/usr/bin/pbzip2");
	CHECK_STR(l.runs[1].session.build_id, "aa11bb22");
	CHECK_STR(l.runs[1].run.command, "./pbzip2 -k input");
	CHECK_EQ(l.runs[3].run.number, 4);
	CHECK_STR(l.places[3].function, "compress_0");
	CHECK(l.places[3].calls && !l.places[2].calls);
	CHECK_EQ(l.places[3].offset, 48);
	/* The same once more, as a copy of the file. */
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "copy", &e), 0);
	CHECK_EQ(l.n_runs, RUNS);
	CHECK_EQ(l.n_twins, RUNS);
	block_logs_deinit(&l);
	made_free(&m);
}

/* Where run @i begins and ends in the text. */
static void span_of(const struct made_log *m, unsigned i, size_t *begin, size_t *end)
{
	const char *p = m->text;

	for (unsigned n = 0; n <= i; n++)
		p = strstr(p + 1, "\nrun\t") + 1;
	*begin = (size_t)(p - m->text);
	p = strchr(strstr(p, "\nend\t") + 1, '\n') + 1;
	*end = (size_t)(p - m->text);
}

TEST(any_prefix_keeps_its_whole_runs)
{
	struct made_log m;

	make(&m);
	for (size_t n = 1; n <= m.n; n++) {
		char *text = malloc(n); /* of that size, so that the sanitizer sees more */
		size_t whole = 0, begin, end;
		struct block_logs l;
		struct error e;

		for (unsigned i = 0; i < RUNS; i++) {
			span_of(&m, i, &begin, &end);
			whole += end <= n;
		}
		memcpy(text, m.text, n);
		block_logs_init(&l);
		CHECK_EQ(block_logs_read(&l, text, n, "log", &e), 0);
		CHECK_EQ(l.n_runs, whole);
		CHECK_EQ(check_runs(&l), 0);
		block_logs_deinit(&l);
		free(text);
	}
	made_free(&m);
}

/* Whether the place that block @block has its name from is in the line at @at. */
static bool is_in_place_line(const struct made_log *m, size_t at)
{
	while (at && m->text[at - 1] != '\n')
		at--;
	return !strncmp(m->text + at, "place\t", 6);
}

static void check_flipped(const struct made_log *m, size_t at, char with)
{
	size_t whole = 0, begin, end, lost;
	char *text = malloc(m->n);
	struct block_logs l;
	struct error e;

	memcpy(text, m->text, m->n);
	text[at] = with;
	block_logs_init(&l);
	CHECK_EQ(block_logs_read(&l, text, m->n, "log", &e), 0);
	for (unsigned i = 0; i < RUNS; i++) {
		bool found = false, hit;

		span_of(m, i, &begin, &end);
		hit = begin <= at && at < end;
		for (size_t j = 0; j < l.n_runs; j++)
			found |= index_of(&l.runs[j]) == i;
		CHECK(found == !hit);
		whole += !hit;
	}
	CHECK_EQ(l.n_runs, whole);
	lost = check_runs(&l);
	/* Of the others only blocks whose one line was hit, and its newline is its next one's. */
	CHECK(!lost || is_in_place_line(m, at) || (at + 1 < m->n && is_in_place_line(m, at + 1)));
	CHECK_EQ(lost, l.n_nameless);
	CHECK(l.n_damaged || m->text[at] == '\n' || with == '\n');
	block_logs_deinit(&l);
	free(text);
}

TEST(any_flipped_byte_keeps_the_other_runs)
{
	struct made_log m;

	make(&m);
	for (size_t at = 0; at < m.n; at++) {
		check_flipped(&m, at, (char)(m.text[at] ^ 1));
		check_flipped(&m, at, (char)(m.text[at] ^ 0x80));
		if (m.text[at] != '\n')
			check_flipped(&m, at, '\n');
	}
	made_free(&m);
}

TEST(damage_is_named_by_its_line)
{
	struct block_logs l;
	struct made_log m;
	size_t begin, end;
	struct error e;

	make(&m);
	span_of(&m, 1, &begin, &end);
	m.text[begin + 100] ^= 1;
	block_logs_init(&l);
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK_EQ(l.n_damaged, 1);
	/* version, empty, run, 2 places, 2 blocks, end, empty */
	CHECK_EQ(l.damaged_line, 10);
	CHECK_STR(l.damaged_log, "log");
	CHECK_EQ(l.runs[1].run.number, 3);
	block_logs_deinit(&l);
	made_free(&m);
}

static int read_text(const char *text, size_t n, struct error *e)
{
	struct block_logs l;
	int ret;

	block_logs_init(&l);
	ret = block_logs_read(&l, text, n, "some.log", e);
	CHECK(ret || !l.n_runs);
	block_logs_deinit(&l);
	return ret;
}

TEST(what_is_no_log_is_refused)
{
	static const char profile[] = "startup\ttime=1\nruntime\ttime=2\n", blank[] = "\n\nhello\n";
	char newer[128];
	struct error e;
	FILE *out;

	CHECK_EQ(read_text("", 0, &e), -1);
	CHECK_EQ(e.status, EXIT_NO_RESULT);
	CHECK_STR(e.cause, "the log 'some.log' is empty");
	CHECK_EQ(read_text(profile, sizeof(profile) - 1, &e), -1);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK_STR(e.cause, "'some.log' is no log of blocks: line 1 is 'startup\ttime=1'");
	CHECK_EQ(read_text(blank, sizeof(blank) - 1, &e), -1);
	CHECK_STR(e.cause, "'some.log' is no log of blocks: line 3 is 'hello'");
	out = fmemopen(newer, sizeof(newer), "w");
	fprintf(out, "cozbpf-blocks\t2\tsum=%016llx\n",
	    (unsigned long long)block_format_sum("cozbpf-blocks\t2", 15));
	fclose(out);
	CHECK_EQ(read_text(newer, strlen(newer), &e), -1);
	CHECK_STR(e.cause, "'some.log' line 1: its format has version 2, not 1");
}

/* Each line claims a run that reaches to the end of the file, which is as long. */
TEST(lines_made_to_be_slow_take_no_time)
{
	const size_t n = 40000;
	char *text = NULL;
	struct timespec t;
	struct error e;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "run\tbytes=%012zu\n", (n - i - 1) * 23);
	fprintf(out, "end\tsum=0123456789abcdef\n");
	fclose(out);
	CHECK_EQ(read_text(text, bytes, &e), -1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	CHECK(t.tv_sec < 20);
	free(text);
}

TEST(two_builds_are_told_apart)
{
	const struct block_place *place, *other;
	struct block_place p[2] = {made_place(0), made_place(1)};
	struct block_run run = made_plain_run(0);
	struct block_logs l;
	struct made_log m;
	struct error e;
	size_t a, b;

	made_begin(&m);
	CHECK_EQ(made_run(&m, &run, p, 2, NULL, 0), 0);
	run.started_ns++;
	CHECK_EQ(made_run(&m, &run, p, 2, NULL, 0), 0);
	block_logs_init(&l);
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK(!block_logs_other_build(&l, &a, &b, &place, &other));
	made_session(&m, "aa11bb22");
	strcpy(p[1].build_id, "cc");
	CHECK_EQ(made_run(&m, &run, p, 2, NULL, 0), 0);
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK(block_logs_other_build(&l, &a, &b, &place, &other));
	CHECK(place && other && !strcmp(other->build_id, "cc"));
	made_session(&m, "dd33");
	CHECK_EQ(made_run(&m, &run, p, 2, NULL, 0), 0);
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK(block_logs_other_build(&l, &a, &b, &place, &other));
	CHECK(!place);
	CHECK_STR(l.runs[a].session.build_id, "aa11bb22");
	CHECK_STR(l.runs[b].session.build_id, "dd33");
	CHECK_EQ(l.n_places, 3);
	block_logs_deinit(&l);
	block_logs_init(&l);
	l.mix_builds = true;
	CHECK_EQ(block_logs_read(&l, m.text, m.n, "log", &e), 0);
	CHECK_EQ(l.n_places, 2);
	block_logs_deinit(&l);
	made_free(&m);
}

/* The file */

static char *read_file(const char *path, size_t *ret)
{
	struct stat st;
	FILE *in = fopen(path, "r");
	char *text;

	CHECK(in && !fstat(fileno(in), &st));
	text = malloc((size_t)st.st_size + 1);
	*ret = fread(text, 1, (size_t)st.st_size, in);
	fclose(in);
	return text;
}

static size_t append(const char *path, unsigned first, unsigned n, struct error *e)
{
	struct block_session session = {.program = (char *)"/usr/bin/pbzip2", .seed = first};
	struct block_place places[] = {made_place(0), made_place(1)};
	struct block_log *log;
	size_t done = 0;

	if (block_log_open(path, &session, &log, e))
		return 0;
	for (unsigned i = 0; i < n; i++) {
		struct block_figures f[] = {figures_of(0, 0), figures_of(0, 1)};
		struct block_run run = made_plain_run(first + i);

		done += !block_log_add(log, &run, places, 2, f, 2, e);
	}
	block_log_close(log);
	return done;
}

static void check_file(const char *path, size_t runs, size_t damaged)
{
	struct block_logs l;
	struct error e;
	size_t n;
	char *text = read_file(path, &n);

	block_logs_init(&l);
	CHECK_EQ(block_logs_read(&l, text, n, path, &e), 0);
	CHECK_EQ(l.n_runs, runs);
	CHECK_EQ(l.n_places, 2);
	CHECK_EQ(l.n_damaged, damaged);
	for (size_t i = 0; i < l.n_runs; i++)
		CHECK_EQ(l.runs[i].n, 2);
	block_logs_deinit(&l);
	free(text);
}

/* A file without a name, which is gone however the test ends, and a path to it. */
static int make_file(char path[64])
{
	int fd = memfd_create("blocks.log", MFD_CLOEXEC);

	snprintf(path, 64, "/proc/%d/fd/%d", getpid(), fd);
	return fd;
}

TEST(several_write_one_file_at_once)
{
	char path[64];
	int fd = make_file(path), status;
	struct error e;

	CHECK(fd >= 0);
	for (unsigned i = 0; i < 3; i++) {
		if (!fork())
			_exit(append(path, 100 * i, 40, &e) == 40 ? 0 : 1);
	}
	for (unsigned i = 0; i < 3; i++)
		CHECK(wait(&status) > 0 && status == 0);
	check_file(path, 120, 0);
	close(fd);
}

TEST(a_torn_run_does_not_harm_the_next_session)
{
	char path[64];
	int fd = make_file(path);
	struct error e;
	struct stat st;

	CHECK_EQ(append(path, 0, 3, &e), 3);
	CHECK(!fstat(fd, &st) && !ftruncate(fd, st.st_size - 30));
	CHECK_EQ(append(path, 10, 2, &e), 2);
	check_file(path, 4, 1);
	close(fd);
}

TEST(what_cannot_be_written_is_said)
{
	char path[64];
	int fd = make_file(path);
	struct error e = {0};
	struct stat st;

	CHECK(write(fd, "#!/bin/sh\n", 10) == 10);
	CHECK_EQ(append(path, 0, 1, &e), 0);
	CHECK(strstr(e.cause, "is no log of blocks: line 1 is '#!/bin/sh'"));
	CHECK(!fstat(fd, &st) && st.st_size == 10);
	close(fd);
	CHECK_EQ(append("/nowhere/blocks.log", 0, 1, &e), 0);
	CHECK_STR(e.cause, "cannot write the log '/nowhere/blocks.log': No such file or directory");
	CHECK_EQ(append("/dev/full", 0, 1, &e), 0);
	CHECK_STR(e.cause, "cannot write the log '/dev/full': No space left on device");
}
