// SPDX-License-Identifier: BSD-3-Clause
/* The profile file of a session, what stands in it already, and the records of its runs; see
 * recorder.h. */
#include "run/recorder.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/profile/counters.h"
#include "core/text/input.h"
#include "kernel/session.h"
#include "symbols/symbols.h"
#include "target/identity.h"
#include "symbols/elf/privileges.h"

/* Bytes of a line of an existing profile, and of those lines that are looked at: the file may be
 * anything. */
#define STARTUP_MAX (1 << 20)
#define STARTUPS_MAX (16 << 20)

static void read_build_id(const struct object *main, char ret[41])
{
	uint8_t id[20];
	uint32_t n = main ? object_build_id(main, id) : 0;

	ret[0] = 0;
	for (uint32_t i = 0; i < n && i < sizeof(id); i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

/* The profile's descriptor is for writing only. NULL: it may not be read. */
static FILE *open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fopen(path, "re");
}

/* Of the lines of @in those where runs begin, up to STARTUPS_MAX bytes: *@ret is the caller's to
 * free. Returns how many bytes there are. */
static size_t collect_startups(FILE *in, char **ret)
{
	struct text_input input;
	struct text_line line;
	size_t size = 0;
	FILE *out;

	*ret = NULL;
	if (text_input_init(&input, in, STARTUP_MAX))
		return 0;
	out = open_memstream(ret, &size);
	while (out && size < STARTUPS_MAX && text_input_next(&input, &line))
		if (line.text && !strncmp(line.text, "startup\t", 8)) {
			fprintf(out, "%s\n", line.text);
			fflush(out); /* which sets the size */
		}
	if (out)
		fclose(out);
	text_input_deinit(&input);
	return size;
}

/* What has something in it and is no profile is not ours to append to. */
static int check_is_profile(const struct recorder *w, struct error *e)
{
	bool is_one = true;
	struct stat st;
	FILE *in;

	if (fstat(fileno(w->out), &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	in = open_again(fileno(w->out));
	if (in) {
		privileges_lower();
		is_one = profile_is_one(in);
		privileges_raise();
		fclose(in);
	}
	if (is_one)
		return 0;
	error_set(e, EXIT_OTHER,
	    "'%s' is not a profile: it holds no record that Coz or cozbpf writes", w->path);
	return error_hint(e, "name another file with -o: a profile is appended to, nothing else");
}

/* Reads of a profile only where runs begin: a run is to start at once, however much the file holds.
 */
static int read_startups(int fd, struct profile *ret)
{
	FILE *in = open_again(fd), *startups = NULL;
	char *text = NULL;
	struct error e;
	size_t size;
	int err = -1;

	if (!in)
		return -1;
	privileges_lower();
	size = collect_startups(in, &text);
	if (size)
		startups = fmemopen(text, size, "r");
	if (startups) {
		err = profile_read(ret, startups, "", &e);
		fclose(startups);
	}
	privileges_raise();
	fclose(in);
	free(text);
	return err;
}

/* The last run of another build in the file. */
static void find_other_build(const char *ours, int fd, struct other_build *ret)
{
	struct profile p;
	struct stat st;
	size_t last;

	if (!ours[0] || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	profile_init(&p);
	last = read_startups(fd, &p) ? 0 : p.n_runs;
	while (last && (!p.runs[last - 1].build_id[0] || !strcmp(p.runs[last - 1].build_id, ours)))
		last--;
	if (last) {
		memcpy(ret->theirs, p.runs[last - 1].build_id, sizeof(ret->theirs));
		memcpy(ret->ours, ours, sizeof(ret->ours));
	}
	profile_deinit(&p);
}

/* Opens the file at w->path. -1 with @e. */
static int open_file(struct recorder *w, const struct identity *identity, struct error *e)
{
	int fd = identity_open_append(identity, w->path);
	struct stat st;

	if (fd < 0) {
		error_set(
		    e, EXIT_OTHER, "cannot write the profile '%s': %s", w->path, strerror(-fd));
		return error_hint(e, "name another file with -o%s",
		    identity->change
			? "; it is written with the rights of the user who runs the command"
			: "");
	}
	w->out = fdopen(fd, "a");
	if (!w->out) {
		close(fd);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	/* Records of two runs at once would mix. Some file systems know no locks. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) &&
	    errno == EWOULDBLOCK) {
		error_set(e, EXIT_OTHER, "another cozbpf is writing the profile '%s'", w->path);
		return error_hint(e, "name another file with -o; `cozbpf merge` adds them up");
	}
	w->whole = lseek(fd, 0, SEEK_END);
	return 0;
}

int recorder_open(struct recorder *w, const struct identity *identity, const char *path,
    const struct object *main, struct other_build *ret, struct error *e)
{
	*ret = (struct other_build){0};
	profile_init(&w->profile);
	w->path = path;
	if (open_file(w, identity, e) || check_is_profile(w, e))
		return -1;
	read_build_id(main, w->build_id);
	find_other_build(w->build_id, fileno(w->out), ret);
	return 0;
}

int recorder_reopen(struct recorder *w, const struct identity *identity, struct error *e)
{
	FILE *before = w->out;

	if (open_file(w, identity, e)) {
		if (w->out != before && w->out)
			fclose(w->out);
		w->out = before;
		return -1;
	}
	fclose(before);
	w->is_lost = false;
	return 0;
}

uint64_t recorder_size(const struct recorder *w)
{
	return w->whole > 0 ? (uint64_t)w->whole : 0;
}

/*
 * What was written are whole records. When they do not reach the file, the file ends with the last
 * one that did, and later ones stay in memory alone.
 */
static void commit(struct recorder *w)
{
	FILE *nowhere;

	if (w->is_lost)
		return;
	errno = 0;
	if (!fflush(w->out) && !ferror(w->out)) {
		w->whole = lseek(fileno(w->out), 0, SEEK_END);
		return;
	}
	w->failed = errno ? errno : EIO;
	w->is_lost = true;
	__fpurge(w->out);
	if (w->whole >= 0 && ftruncate(fileno(w->out), w->whole))
		w->whole = -1;
	nowhere = fopencookie(NULL, "w", (cookie_io_functions_t){0});
	if (!nowhere)
		return;
	fclose(w->out);
	w->out = nowhere;
}

int recorder_count(struct recorder *w, const struct recorder_sources *from, struct error *e)
{
	w->session = from->session;
	w->lines = from->lines;
	w->has_ids = from->has_ids;
	w->counts_before = calloc(from->lines_room, sizeof(*w->counts_before));
	w->free_before = calloc(from->lines_room, sizeof(*w->free_before));
	return w->counts_before && w->free_before ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

void recorder_skip(struct recorder *w)
{
	const struct cozbpf_line_count *counts = session_line_counts(w->session);
	size_t n = session_lines(w->session, w->lines);
	struct wait_counts waits;

	session_run_counters(w->session, &w->before);
	session_take_waits(w->session, &waits);
	wait_counts_deinit(&waits);
	for (size_t i = 1; i < n; i++) {
		w->counts_before[i] = counts[i].all;
		w->free_before[i] = counts[i].free;
	}
}

int recorder_write_startup(struct recorder *w, char *node, uint32_t fixed_speedups, struct error *e)
{
	struct run_record run = {.node = node, .fixed_speedups = fixed_speedups}, *bigger;
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	run.startup_time_ns = (uint64_t)wall.tv_sec * 1000000000ULL + (uint64_t)wall.tv_nsec;
	memcpy(run.build_id, w->build_id, sizeof(run.build_id));
	run.period_ns = session_period(w->session);
	run.sample_ns = session_sample_cost(w->session);
	snprintf(run.pause, sizeof(run.pause), "%s", session_pause_mode(w->session)->name);
	bigger = realloc(w->profile.runs, (w->profile.n_runs + 1) * sizeof(*bigger));
	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	w->profile.runs = bigger;
	w->run = (uint32_t)w->profile.n_runs;
	bigger[w->profile.n_runs++] = run;
	profile_write_startup(w->out, &run);
	commit(w);
	return recorder_finish(w, e);
}

void recorder_begin(struct recorder *w, uint64_t now)
{
	w->started_ns = now;
	w->is_running = true;
}

void recorder_add(struct recorder *w, struct experiment_record *x, uint32_t line)
{
	struct experiment_record *bigger =
	    realloc(w->profile.experiments, (w->profile.n_experiments + 1) * sizeof(*x));
	uint32_t *lines;

	w->n_added++;
	x->run = w->run;
	profile_write_experiment(w->out, x);
	commit(w);
	/* without memory it stands in the file alone */
	if (!bigger)
		return;
	w->profile.experiments = bigger;
	lines = realloc(w->experiment_lines, (w->profile.n_experiments + 1) * sizeof(*lines));
	if (!lines)
		return;
	w->experiment_lines = lines;
	lines[w->profile.n_experiments] = line;
	bigger[w->profile.n_experiments++] = *x;
}

void recorder_so_far(
    const struct recorder *w, uint64_t now, uint64_t delayed_ns, struct run_so_far *ret)
{
	struct counters c;

	session_read(w->session, &c);
	*ret = (struct run_so_far){.run = w->run,
	    .lines = w->lines->lines,
	    .counts = session_line_counts(w->session),
	    .counts_before = w->counts_before,
	    .free_before = w->free_before,
	    .n_lines = session_lines(w->session, w->lines),
	    .has_ids = w->has_ids,
	    .samples = c.samples - w->before.samples,
	    .in_scope = c.in_scope - w->before.in_scope,
	    .runtime_ns = now - w->started_ns,
	    .delayed_ns = delayed_ns};
}

/* By line id: whether the line is a caller or a waker of waits. NULL without memory. */
static bool *find_named(const struct wait_counts *waits, size_t n_lines)
{
	bool *ret = calloc(n_lines + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < waits->n_stacks; i++) {
		const uint32_t *callers = waits->stacks[i].stack.callers;

		for (size_t j = 0; j < COZBPF_WAIT_CALLERS && callers[j]; j++)
			if (callers[j] < n_lines)
				ret[callers[j]] = true;
	}
	for (size_t i = 0; ret && i < waits->n_wakers; i++)
		if (waits->wakers[i].waker.line < n_lines)
			ret[waits->wakers[i].waker.line] = true;
	return ret;
}

/* Takes over what is in @s. */
static void write_line(struct recorder *w, struct samples_record *s)
{
	struct samples_record *bigger =
	    realloc(w->profile.samples, (w->profile.n_samples + 1) * sizeof(*s));

	profile_write_samples(w->out, s);
	if (!bigger) {
		samples_free_names(s);
		return;
	}
	w->profile.samples = bigger;
	bigger[w->profile.n_samples++] = *s;
}

/* Lines that were sampled, and those that waits name as callers or wakers. */
static void write_samples(struct recorder *w, const struct run_so_far *run)
{
	struct wait_counts waits;
	bool *named;

	session_take_waits(w->session, &waits);
	named = find_named(&waits, run->n_lines);
	for (size_t i = 1; i < run->n_lines; i++) {
		struct samples_record s;

		if (!(named && named[i] ? so_far_any_line(run, i, &s) : so_far_line(run, i, &s)))
			continue;
		w->counts_before[i] += s.count;
		w->free_before[i] += s.free;
		if (run->lines[i].wait) {
			s.stacks = wait_stacks_text(&waits, (uint32_t)i);
			s.wakers = wait_wakers_text(&waits, (uint32_t)i);
			s.calls = wait_calls_field(&waits, (uint32_t)i);
		}
		write_line(w, &s);
	}
	free(named);
	wait_counts_deinit(&waits);
}

void recorder_end(struct recorder *w, uint64_t now, const struct run_totals *totals)
{
	struct run_record *run = &w->profile.runs[w->profile.n_runs - 1];
	struct run_so_far so_far;
	struct run_record counted;

	recorder_so_far(w, now, totals->delayed_ns, &so_far);
	write_samples(w, &so_far);
	/* After the lines' samples: sampling goes on, and all samples are no fewer than those of
	 * the lines. */
	session_run_counters(w->session, &counted);
	counters_since(&counted, &w->before, run);
	w->before = counted;
	so_far_times(&so_far, run);
	run->dropped = totals->dropped;
	w->throttled_ns += totals->throttled_ns;
	profile_write_runtime(w->out, run);
	commit(w);
	w->is_running = false;
}

const char *recorder_build(const struct recorder *w)
{
	return w->build_id;
}

void recorder_forget(struct recorder *w, size_t n_runs)
{
	size_t n = 0, before = w->profile.n_experiments;

	if (n_runs > w->run)
		n_runs = w->run;
	while (n < before && w->profile.experiments[n].run < n_runs)
		n++;
	profile_drop_runs(&w->profile, (uint32_t)n_runs);
	memmove(w->experiment_lines, w->experiment_lines + n,
	    (before - n) * sizeof(*w->experiment_lines));
	w->run -= (uint32_t)n_runs;
}

int recorder_finish(const struct recorder *w, struct error *e)
{
	if (!w->failed)
		return 0;
	error_set(e, EXIT_OTHER, "cannot write the profile '%s': %s", w->path, strerror(w->failed));
	return error_hint(e, "make room, or name another file with -o%s",
	    w->whole < 0 ? "" : "; the file keeps all experiments up to then");
}

void recorder_deinit(struct recorder *w)
{
	profile_deinit(&w->profile);
	if (w->out)
		fclose(w->out);
	free(w->experiment_lines);
	free(w->counts_before);
	free(w->free_before);
	*w = (struct recorder){0};
}
