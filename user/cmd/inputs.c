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
#include "core/profile/runs.h"
#include "report/say.h"
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

/* The files of the runs. */
struct sources {
	char **names;
	size_t n;
	size_t *end; /* by file: index of the first run after its own */
};

static const char *file_of(const struct sources *s, size_t run)
{
	size_t i = 0;

	while (i + 1 < s->n && run >= s->end[i])
		i++;
	return s->names[i];
}

int input_read(struct profile *p, const char *name, struct error *e)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	int ret;

	if (!in) {
		int err = errno;

		error_set(e, EXIT_OTHER, "cannot open '%s': %s", name, strerror(err));
		if (err == ENOENT)
			error_hint(
			    e, "'cozbpf -- cmd' profiles a command and writes %s", DEFAULT_PROFILE);
		if (err == EACCES && getenv("SUDO_UID"))
			error_hint(e, "files are read with the rights of the user who called sudo");
		return -1;
	}
	privileges_lower();
	ret = profile_read(p, in, name, e);
	privileges_raise();
	if (in != stdin)
		fclose(in);
	return ret;
}

static int read_files(struct profile *p, const struct sources *s, struct error *e)
{
	for (size_t i = 0; i < s->n; i++) {
		if (input_read(p, s->names[i], e))
			return -1;
		s->end[i] = p->n_runs;
	}
	if (p->n_skipped)
		say("warning: %zu record%s not understood and skipped", p->n_skipped,
		    p->n_skipped == 1 ? "" : "s");
	return 0;
}

static int out_of_memory(struct error *e)
{
	return error_set(e, EXIT_OTHER, "out of memory");
}

/* Takes runs out of the profile, and out of the list of files. */
static void drop(struct profile *p, struct sources *s, const bool *dropped)
{
	size_t left = 0, run = 0;

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
	size_t n = 0;

	if (!dropped)
		return out_of_memory(e);
	for (size_t i = 0; i < p->n_runs; i++) {
		dropped[i] = !runs_is_of(&p->runs[i], build);
		n += !dropped[i];
	}
	if (n) {
		drop(p, s, dropped);
	} else {
		error_set(e, EXIT_USAGE, "no run is of the build '%s'", build);
		if (p->n_runs && p->runs[p->n_runs - 1].build_id[0])
			error_hint(e, "the last one, in '%s', is of build %s",
			    file_of(s, p->n_runs - 1), p->runs[p->n_runs - 1].build_id);
	}
	free(dropped);
	return n ? 0 : -1;
}

static int drop_twins(struct profile *p, struct sources *s, struct error *e)
{
	uint32_t *twins = calloc(p->n_runs + 1, sizeof(*twins));
	bool *dropped = calloc(p->n_runs + 1, sizeof(*dropped));
	int ret = twins && dropped && !runs_find_twins(p, twins) ? 0 : out_of_memory(e);
	size_t n = 0, last = 0;

	for (size_t i = 0; !ret && i < p->n_runs; i++) {
		dropped[i] = twins[i] != i;
		if (dropped[i]) {
			last = i;
			n++;
		}
	}
	if (n) {
		say("warning: %zu run%s there twice and counted once, such as one of '%s' that "
		    "is in '%s' as well",
		    n, n == 1 ? " is" : "s are", file_of(s, last), file_of(s, twins[last]));
		drop(p, s, dropped);
	}
	free(twins);
	free(dropped);
	return ret;
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
	size_t a, b, unknown = runs_without_build(p);

	if (runs_other_build(p, &a, &b)) {
		if (!o->mixed_builds)
			return refuse_builds(p, s, a, b, e);
		say("warning: runs of %zu builds are added: a line of one need not be the same "
		    "in another",
		    runs_count_builds(p));
	}
	if (unknown && p->n_runs > 1 && (s->n > 1 || unknown < p->n_runs))
		say("warning: %zu of %zu runs do not say their build (Coz's never do) and are "
		    "taken for the same",
		    unknown, p->n_runs);
	return 0;
}

static int move_sources(struct profile *p, const struct input_options *o, struct error *e)
{
	for (size_t i = 0; i < o->sources.n; i++) {
		const char *equals = strchr(o->sources.items[i], '=');
		char *old;
		long n;

		if (!equals || equals == o->sources.items[i])
			return error_set(e, EXIT_USAGE, "--source-prefix takes OLD=NEW, not '%s'",
			    o->sources.items[i]);
		old = strndup(o->sources.items[i], (size_t)(equals - o->sources.items[i]));
		n = old ? runs_move_sources(p, old, equals + 1) : -ENOMEM;
		free(old);
		if (n < 0)
			return out_of_memory(e);
		if (!n)
			say("warning: no source lies below '%.*s'",
			    (int)(equals - o->sources.items[i]), o->sources.items[i]);
	}
	return 0;
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

int inputs_read(
    struct profile *p, char **names, int n, const struct input_options *o, struct error *e)
{
	static char standard_name[] = DEFAULT_PROFILE, *standard[] = {standard_name};
	struct sources s = {n ? names : standard, n ? (size_t)n : 1, NULL};
	int ret = -1;

	s.end = calloc(s.n, sizeof(*s.end));
	if (!s.end)
		return out_of_memory(e);
	if (!read_files(p, &s, e) && !(o->build && choose_build(p, &s, o->build, e)) &&
	    !drop_twins(p, &s, e) && !check_builds(p, &s, o, e) && !move_sources(p, o, e) &&
	    !tell_moved(p, &s, e))
		ret = 0;
	free(s.end);
	return ret;
}
