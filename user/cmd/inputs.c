// SPDX-License-Identifier: BSD-3-Clause
/* Reads files into one profile; see inputs.h. user/core/profile/runs.c tells about its runs. */
#include "cmd/inputs.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/input_files.h"
#include "core/estimate/sums.h"
#include "core/profile/runs.h"
#include "report/say.h"
#include "run/console.h"
#include "symbols/elf/privileges.h"

int parse_sort(const char *name, enum sort_key *ret, struct error *e)
{
	for (int key = 0; key < N_SORT_KEYS; key++) {
		if (!strcmp(name, sort_name((enum sort_key)key))) {
			*ret = (enum sort_key)key;
			return 0;
		}
	}
	error_set(e, EXIT_USAGE, "unknown sort key '%s'", name);
	return error_hint(e, "the keys are slope, max, payback and impact");
}

struct text_options terminal_options(void)
{
	struct text_options ret = {0};
	struct winsize size;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		ret.width = size.ws_col;
	/* Only the character set: numbers are printed as in the C locale. */
	setlocale(LC_CTYPE, "");
	ret.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return ret;
}

#define MOST_NAMED 10  /* files that are no profiles, in warnings */
#define MANY_FILES 500 /* so many take seconds, and how far it is shows */
#define FILES_STEP 100

/* The files of the runs, and what is said about them once all are read. */
struct sources {
	struct input_files files;
	struct console console; /* for how far it is */
	size_t n;               /* of them that were read, or are being read */
	size_t *end;            /* by file: index of the first run after its own */
	size_t n_summed;        /* runs that were added up here, whose sources have been moved */
	size_t n_foreign;       /* files found that are no profiles */
	size_t n_twins;
	const char *twin, *holder; /* a file with a run that is there twice, and the other */
	bool *moved;               /* by --source-prefix: there was something */
	bool chosen;               /* a run is of --build */
	const char *other;         /* else, the file of the last run, */
	char other_build[sizeof(((struct run_record *)0)->build_id)]; /* and its build */
};

static const char *file_of(const struct sources *s, size_t run)
{
	size_t i = 0;

	while (i + 1 < s->n && run >= s->end[i])
		i++;
	return s->files.v[i].name;
}

static FILE *open_input(const char *name, struct error *e)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "re") : stdin;

	if (in && input_check(in, name, e)) {
		fclose(in);
		return NULL;
	}
	if (!in) {
		int err = errno;

		error_set(e, EXIT_OTHER, "cannot open '%s': %s", name, strerror(err));
		if (err == ENOENT)
			error_hint(
			    e, "'cozbpf -- cmd' profiles a command and writes %s", DEFAULT_PROFILE);
		if (err == EACCES && getenv("SUDO_UID"))
			error_hint(e, "files are read with the rights of the user who called sudo");
	}
	return in;
}

int input_read(struct profile *p, const char *name, struct error *e)
{
	FILE *in = open_input(name, e);
	int ret;

	if (!in)
		return -1;
	privileges_lower();
	ret = profile_read(p, in, name, e);
	privileges_raise();
	if (in != stdin)
		fclose(in);
	return ret;
}

static int out_of_memory(struct error *e)
{
	return error_set(e, EXIT_OTHER, "out of memory");
}

/* Takes runs out of the profile, and out of the list of files. */
static void drop(struct profile *p, struct sources *s, const bool *dropped)
{
	size_t left = 0, run = 0, n_summed = s->n_summed;

	for (size_t i = 0; i < n_summed; i++)
		s->n_summed -= dropped[i];
	for (size_t i = 0; i < s->n; i++) {
		for (; run < s->end[i]; run++)
			left += !dropped[run];
		s->end[i] = left;
	}
	runs_drop(p, dropped);
}

static int choose_build(struct profile *p, struct sources *s, const char *build, struct error *e)
{
	bool *dropped = calloc(p->n_runs + 1, sizeof(*dropped));

	if (!dropped)
		return out_of_memory(e);
	for (size_t i = 0; i < p->n_runs; i++) {
		dropped[i] = !runs_is_of(&p->runs[i], build);
		s->chosen |= !dropped[i];
	}
	if (p->n_runs && !s->chosen) {
		s->other = file_of(s, p->n_runs - 1);
		strcpy(s->other_build, p->runs[p->n_runs - 1].build_id);
	}
	drop(p, s, dropped);
	free(dropped);
	return 0;
}

static int check_choice(const struct sources *s, const char *build, struct error *e)
{
	if (!build || s->chosen)
		return 0;
	error_set(e, EXIT_USAGE, "no run is of the build '%s'", build);
	if (s->other && s->other_build[0])
		error_hint(e, "the last one, in '%s', is of build %s", s->other, s->other_build);
	return -1;
}

static int refuse_torn(const char *name, struct error *e)
{
	error_set(e, EXIT_USAGE,
	    "'%s' has runs added up, some of which are in another of the files, too", name);
	return error_hint(
	    e, "they cannot be taken out again: merge the profiles that it was made of");
}

static int drop_twins(struct profile *p, struct sources *s, struct error *e)
{
	uint32_t *twins = calloc(p->n_runs + 1, sizeof(*twins));
	bool *dropped = calloc(p->n_runs + 1, sizeof(*dropped));
	int ret = twins && dropped && !runs_find_twins(p, twins) ? 0 : out_of_memory(e);
	size_t torn = SIZE_MAX, n = s->n_twins;

	for (size_t i = 0; !ret && i < p->n_runs; i++)
		dropped[i] = twins[i] != i;
	if (!ret && runs_find_members(p, dropped, &torn))
		ret = out_of_memory(e);
	if (torn != SIZE_MAX)
		ret = refuse_torn(file_of(s, torn), e);
	for (size_t i = 0; !ret && i < p->n_runs; i++) {
		if (!dropped[i])
			continue;
		s->n_twins += p->runs[i].runs ? p->runs[i].runs : 1;
		s->twin = file_of(s, i);
		s->holder = twins[i] != i ? file_of(s, twins[i]) : NULL;
	}
	if (!ret && s->n_twins > n)
		drop(p, s, dropped);
	free(twins);
	free(dropped);
	return ret;
}

static void tell_twins(const struct sources *s)
{
	const char *are = s->n_twins == 1 ? " is" : "s are";

	if (s->n_twins && s->holder)
		say("warning: %zu run%s there twice and counted once, such as one of '%s' that "
		    "is in '%s' as well",
		    s->n_twins, are, s->twin, s->holder);
	else if (s->n_twins)
		say("warning: %zu run%s there twice and counted once, such as one of '%s'",
		    s->n_twins, are, s->twin);
}

/*
 * Refused, not just warned of: a line number of one build is another line in the next, so a mixed
 * result means nothing. And the default profile.coz, which is appended to, collects builds without
 * anybody's intention.
 */
static int refuse_builds(
    const struct profile *p, const struct sources *s, size_t a, size_t b, struct error *e)
{
	const char *file_a = file_of(s, a), *file_b = file_of(s, b);

	if (file_a == file_b)
		error_set(e, EXIT_USAGE, "'%s' holds runs of different builds: %.12s and %.12s",
		    file_a, p->runs[a].build_id, p->runs[b].build_id);
	else
		error_set(e, EXIT_USAGE, "'%s' and '%s' are of different builds: %.12s and %.12s",
		    file_a, file_b, p->runs[a].build_id, p->runs[b].build_id);
	return error_hint(e,
	    "report, plot and merge take the runs of one with --build %.12s, 'cozbpf compare' "
	    "holds one profile against another, "
	    "--mixed-builds "
	    "adds them all the same",
	    p->runs[b].build_id);
}

static int check_builds(const struct profile *p, const struct sources *s,
    const struct input_options *o, struct error *e)
{
	size_t a, b;

	return !o->mixed_builds && runs_other_build(p, &a, &b) ? refuse_builds(p, s, a, b, e) : 0;
}

static void tell_builds(const struct profile *p, const struct sources *s)
{
	size_t unknown = runs_without_build(p), n = profile_runs(p), builds = runs_count_builds(p);

	if (builds > 1)
		say("warning: runs of %zu builds are added: a line of one need not be the same "
		    "in another",
		    builds);
	if (unknown && n > 1 && (s->n > 1 || unknown < n))
		say("warning: %zu of %zu runs do not say their build (Coz's never do) and are "
		    "taken for the same",
		    unknown, n);
}

static int move_sources(
    struct profile *p, struct sources *s, const struct input_options *o, struct error *e)
{
	for (size_t i = 0; i < o->sources.n; i++) {
		const char *equals = strchr(o->sources.items[i], '=');
		char *old;
		long n;

		if (!equals || equals == o->sources.items[i])
			return error_set(e, EXIT_USAGE, "--source-prefix takes OLD=NEW, not '%s'",
			    o->sources.items[i]);
		old = strndup(o->sources.items[i], (size_t)(equals - o->sources.items[i]));
		n = old ? runs_move_sources(p, s->n_summed, old, equals + 1) : -ENOMEM;
		free(old);
		if (n < 0)
			return out_of_memory(e);
		s->moved[i] |= n > 0;
	}
	return 0;
}

static void tell_unmoved(const struct sources *s, const struct input_options *o)
{
	for (size_t i = 0; i < o->sources.n; i++)
		if (!s->moved[i])
			say("warning: no source lies below '%.*s'",
			    (int)strcspn(o->sources.items[i], "="), o->sources.items[i]);
}

/* Paths come from the debug information, so they are the same for one build everywhere. */
static int tell_moved(const struct profile *p, const struct sources *s, struct error *e)
{
	const char *a, *b;
	size_t run;
	int moved = runs_find_moved(p, &run, &a, &b);

	if (moved < 0)
		return out_of_memory(e);
	if (moved) {
		say("warning: '%s' has no line in common with '%s', but lines that end alike: "
		    "%s and %s",
		    file_of(s, run), file_of(s, 0), b, a);
		say("hint: when these are the same file, --source-prefix OLD=NEW gives both "
		    "one path");
	}
	return 0;
}

/* A run that does not say its machine has one of its own, with the other runs of its file. */
static int name_machines(struct profile *p, const struct sources *s, struct error *e)
{
	size_t run = 0;
	uint32_t id;

	for (size_t i = 0; i < s->n; i++) {
		for (; run < s->end[i]; run++) {
			struct run_record *r = &p->runs[run];

			if (r->node || r->runs)
				continue;
			if (names_copy(&p->names, s->files.v[i].name, &id))
				return out_of_memory(e);
			r->node = (char *)p->names.items[id];
		}
	}
	return 0;
}

/* Leaves in @p what counts of the runs that were read so far. */
static int prepare(
    struct profile *p, struct sources *s, const struct input_options *o, struct error *e)
{
	if ((o->build && choose_build(p, s, o->build, e)) || drop_twins(p, s, e) ||
	    check_builds(p, s, o, e))
		return -1;
	return name_machines(p, s, e) || move_sources(p, s, o, e) ? -1 : 0;
}

/* The same, added up. */
static int add_up(
    struct profile *p, struct sources *s, const struct input_options *o, struct error *e)
{
	int err;

	if (prepare(p, s, o, e))
		return -1;
	err = profile_sum(p);
	if (err == -ENOMEM)
		return out_of_memory(e);
	for (size_t i = 0; !err && i < s->n; i++)
		s->end[i] = p->n_runs;
	s->n_summed = p->n_runs;
	if (!err && p->bytes + p->names.bytes <= PROFILE_FULL_BYTES / 2)
		return 0;
	error_set(e, EXIT_OTHER, "the profiles up to '%s' are too many to be added up",
	    s->files.v[s->n - 1].name);
	return error_hint(
	    e, "they have too many different lines, progress points, builds or sampling periods");
}

/* The records of one file. @ret_foreign: it holds none. */
static int read_records(struct profile *p, struct sources *s, FILE *in,
    const struct input_options *o, bool *ret_foreign, struct error *e)
{
	struct profile_reader *r = profile_reader_new(p, in, s->files.v[s->n - 1].name, e);
	int ret = r ? profile_reader_next(r, PROFILE_FULL_BYTES, e) : -1;
	bool failed = false;

	while (ret > 0 && !failed) {
		s->end[s->n - 1] = p->n_runs;
		failed = add_up(p, s, o, e);
		if (!failed)
			ret = profile_reader_next(r, PROFILE_FULL_BYTES, e);
	}
	*ret_foreign = r && !failed && !profile_reader_known(r);
	profile_reader_free(r);
	return failed ? -1 : ret;
}

static int read_file(struct profile *p, struct sources *s, const struct input_options *o,
    bool *ret_foreign, struct error *e)
{
	FILE *in = open_input(s->files.v[s->n - 1].name, e);
	int ret;

	*ret_foreign = !in;
	if (!in)
		return -1;
	privileges_lower();
	ret = read_records(p, s, in, o, ret_foreign, e);
	privileges_raise();
	if (in != stdin)
		fclose(in);
	return ret;
}

/* A file that is no profile is refused by name, but passed over where it was found in a
 * directory. */
static int read_or_skip(
    struct profile *p, struct sources *s, const struct input_options *o, struct error *e)
{
	size_t skipped = p->n_skipped;
	bool foreign;
	int ret = read_file(p, s, o, &foreign, e);

	s->end[s->n - 1] = p->n_runs;
	if (!ret || !foreign || !s->files.v[s->n - 1].found)
		return ret;
	console_clear_progress(&s->console);
	if (s->n_foreign++ < MOST_NAMED)
		say("warning: %s; skipped", e->cause);
	*e = (struct error){0};
	p->n_skipped = skipped;
	return 0;
}

static int check_foreign(const struct sources *s, struct error *e)
{
	if (!s->n_foreign)
		return 0;
	if (s->n_foreign == s->files.n)
		return error_set(
		    e, EXIT_NO_RESULT, "none of the %zu files found is a profile", s->n_foreign);
	say("warning: %zu of %zu files are no profiles and were skipped", s->n_foreign, s->files.n);
	return 0;
}

static void show_progress(struct sources *s)
{
	char text[64];

	if (s->files.n < MANY_FILES || s->n % FILES_STEP)
		return;
	snprintf(text, sizeof(text), "%zu of %zu files read", s->n, s->files.n);
	console_waits(&s->console, text);
}

static int read_files(
    struct profile *p, struct sources *s, const struct input_options *o, struct error *e)
{
	while (s->n < s->files.n) {
		s->n++;
		if (read_or_skip(p, s, o, e))
			return -1;
		show_progress(s);
	}
	console_clear_progress(&s->console);
	if (check_foreign(s, e))
		return -1;
	if (p->n_skipped)
		say("warning: %zu record%s not understood and skipped", p->n_skipped,
		    p->n_skipped == 1 ? "" : "s");
	return profile_is_summed(p) || o->sum ? add_up(p, s, o, e) : prepare(p, s, o, e);
}

int inputs_read(struct profile *p, char **names, int n, const struct input_options *o,
    size_t *ret_files, struct error *e)
{
	static char standard_name[] = DEFAULT_PROFILE, *standard[] = {standard_name};
	struct sources s = {0};
	int ret = input_files_init(
	    &s.files, n ? names : standard, n ? (size_t)n : 1, PROFILE_FULL_BYTES, e);

	if (!ret) {
		s.end = calloc(s.files.n + 1, sizeof(*s.end));
		s.moved = calloc(o->sources.n + 1, sizeof(*s.moved));
		ret = s.end && s.moved ? 0 : out_of_memory(e);
	}
	if (!ret)
		ret = read_files(p, &s, o, e) || check_choice(&s, o->build, e) ? -1 : 0;
	if (!ret) {
		tell_twins(&s);
		tell_builds(p, &s);
		tell_unmoved(&s, o);
		ret = tell_moved(p, &s, e);
	}
	if (ret_files)
		*ret_files = s.files.n - s.n_foreign;
	console_clear_progress(&s.console);
	input_files_deinit(&s.files);
	free(s.end);
	free(s.moved);
	return ret;
}
