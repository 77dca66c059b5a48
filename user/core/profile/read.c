// SPDX-License-Identifier: BSD-3-Clause
/* Reading of profile.coz, from files that may be cut off, damaged or made by another tool. Each
 * line is first taken apart (core/profile/line.c), then turned into a record
 * (core/profile/records.c), which is added to the profile here; what is not understood is counted
 * and skipped. */
#include "core/profile/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/input.h"

#define BEGIN_BYTES (1 << 20) /* of a file, in which a profile has records */
#define MAX_LINE (1 << 20)    /* bytes; a line longer than this is damage: paths end at 4096 */

struct profile_reader {
	struct profile *p;
	struct text_input in;
	const char *name;
	struct text_line ahead; /* a startup that was not taken yet; text NULL: none */
	bool empty;             /* no line has anything in it */
	size_t *samples;        /* by name: 1 + where its last samples record is; 0: nowhere */
	size_t n_samples;
	bool in_run;        /* a run is open, the last one of p->runs */
	bool in_experiment; /* point records belong to the last one of p->experiments */
	size_t known;       /* records understood */
	bool failed;        /* out of memory */
};

/* profile_grow(), counted. */
static void *grow(struct profile_reader *r, void *items, size_t n, size_t size)
{
	if (!(n & (n - 1)))
		r->p->bytes += (n ? n : 1) * size;
	return profile_grow(items, n, size);
}

/* Records: each returns false when the line is no good. Memory that is short sets failed and counts
 * as good. */

static bool out_of_memory(struct profile_reader *r)
{
	r->failed = true;
	return true;
}

/* The profile's own copy. The type is that of records that own their names. */
static char *copy(struct profile_reader *r, const char *s, uint32_t *ret_id)
{
	if (!names_copy(&r->p->names, s, ret_id))
		return (char *)r->p->names.items[*ret_id];
	r->failed = true;
	return NULL;
}

/* Those of the rows of FIELD_TEXT; NULL: there is none, or no memory. */
static void copy_texts(
    struct profile_reader *r, const struct line *l, const struct record_type *type, void *record)
{
	uint32_t id;

	for (size_t i = 0; i < type->n_rows; i++) {
		const struct field_row *f = &type->rows[i];

		if (f->unit == FIELD_TEXT && field_text(l, f->key))
			*(char **)((char *)record + f->at) = copy(r, field_text(l, f->key), &id);
	}
}

static struct run_record *new_run(struct profile_reader *r)
{
	struct profile *p = r->p;
	struct run_record *runs = grow(r, p->runs, p->n_runs, sizeof(*runs));

	if (!runs) {
		r->failed = true;
		return NULL;
	}
	p->runs = runs;
	memset(&runs[p->n_runs], 0, sizeof(*runs));
	r->in_run = true;
	r->in_experiment = false;
	return &runs[p->n_runs++];
}

/* The run that a record belongs to; records before any startup are a run of their own. */
static struct run_record *current_run(struct profile_reader *r)
{
	return r->in_run ? &r->p->runs[r->p->n_runs - 1] : new_run(r);
}

static bool add_member(struct profile_reader *r, const struct line *l)
{
	struct profile *p = r->p;
	struct member_record m = {0}, *all;

	if (!r->in_run || !record_read(l, &record_member, &m, NULL))
		return false;
	m.run = (uint32_t)(p->n_runs - 1);
	all = grow(r, p->members, p->n_members, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	p->members = all;
	all[p->n_members++] = m;
	return true;
}

static bool add_node(struct profile_reader *r, const struct line *l, const struct record_type *type)
{
	struct profile *p = r->p;
	struct node_record n = {0}, *all;
	uint32_t id;

	if (!r->in_run || !record_read(l, type, &n, NULL) || !field_text(l, "point") ||
	    (type == &record_node_line && !field_text(l, "line")))
		return false;
	n.run = (uint32_t)(p->n_runs - 1);
	n.node = copy(r, field_text(l, type->name_key), &id);
	copy_texts(r, l, type, &n);
	all = r->failed ? NULL : grow(r, p->nodes, p->n_nodes, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	p->nodes = all;
	all[p->n_nodes++] = n;
	return true;
}

static bool add_startup(struct profile_reader *r, const struct line *l)
{
	struct run_record start = {0}, *run;

	if (!record_read(l, &record_startup, &start, NULL))
		return false;
	copy_texts(r, l, &record_startup, &start);
	run = new_run(r);
	if (run)
		*run = start;
	return true;
}

/* Takes @x over; false without memory. */
static bool keep_experiment(
    struct profile_reader *r, const char *selected, struct experiment_record *x)
{
	struct profile *p = r->p;
	struct experiment_record *all;
	uint32_t id;

	if (!current_run(r))
		return false;
	x->run = (uint32_t)(p->n_runs - 1);
	all = grow(r, p->experiments, p->n_experiments, sizeof(*all));
	if (!all)
		return !out_of_memory(r);
	p->experiments = all;
	x->selected = copy(r, selected, &id);
	if (!x->selected)
		return false;
	all[p->n_experiments++] = *x;
	r->p->bytes += x->n_lines * sizeof(*x->lines);
	r->in_experiment = true;
	return true;
}

static bool add_experiment(struct profile_reader *r, const struct line *l)
{
	struct experiment_record x = {0};
	bool no_memory = false;

	/* Points that follow a damaged experiment must not go to the one before it. */
	r->in_experiment = false;
	if (!record_read(l, &record_experiment, &x, &no_memory)) {
		free(x.lines);
		return no_memory && out_of_memory(r);
	}
	if (!keep_experiment(r, field_text(l, record_experiment.name_key), &x))
		free(x.lines);
	return true;
}

static bool add_point(
    struct profile_reader *r, const struct line *l, const struct record_type *type)
{
	struct experiment_record *x =
	    r->in_experiment ? &r->p->experiments[r->p->n_experiments - 1] : NULL;
	struct point_record p = {.is_latency = type == &record_latency}, *all;
	bool no_memory = false;
	uint32_t id;

	if (!x)
		return false;
	if (!record_read(l, type, &p, &no_memory)) {
		free(p.cells);
		return no_memory && out_of_memory(r);
	}
	all = grow(r, x->points, x->n_points, sizeof(*all));
	if (all)
		x->points = all;
	p.name = all ? copy(r, field_text(l, type->name_key), &id) : NULL;
	if (!p.name) {
		free(p.cells);
		return out_of_memory(r);
	}
	all[x->n_points++] = p;
	r->p->bytes += p.n_cells * sizeof(*p.cells);
	return true;
}

/* Where the record of the line that has the id @id is noted; NULL without memory. */
static size_t *noted_at(struct profile_reader *r, uint32_t id)
{
	if (id >= r->n_samples) {
		size_t room = r->n_samples ? r->n_samples * 2 : 64;
		size_t *larger;

		while (room <= id)
			room *= 2;
		larger = realloc(r->samples, room * sizeof(*larger));
		if (!larger) {
			r->failed = true;
			return NULL;
		}
		memset(larger + r->n_samples, 0, (room - r->n_samples) * sizeof(*larger));
		r->p->bytes += (room - r->n_samples) * sizeof(*larger);
		r->samples = larger;
		r->n_samples = room;
	}
	return &r->samples[id];
}

/*
 * Counts are cumulative: a record takes the place of the one before it on that line in that run.
 * With another id it is of a line that has become the same one since (runs_move_sources()).
 */
static bool add_samples(struct profile_reader *r, const struct line *l)
{
	struct profile *p = r->p;
	struct samples_record s = {0}, *all;
	size_t *at;
	uint32_t id;

	if (!record_read(l, &record_samples, &s, NULL))
		return false;
	if (!current_run(r))
		return true;
	s.run = (uint32_t)(p->n_runs - 1);
	copy_texts(r, l, &record_samples, &s);
	s.location = copy(r, field_text(l, record_samples.name_key), &id);
	at = s.location ? noted_at(r, id) : NULL;
	if (!at)
		return true;
	if (*at && p->samples[*at - 1].run == s.run && p->samples[*at - 1].id == s.id) {
		p->samples[*at - 1] = s;
		return true;
	}
	all = grow(r, p->samples, p->n_samples, sizeof(*all));
	if (!all)
		return out_of_memory(r);
	p->samples = all;
	all[p->n_samples++] = s;
	*at = p->n_samples;
	return true;
}

/* Figures of a run so far; the largest count, since old files repeat the record within a run. */
static bool add_runtime(struct profile_reader *r, const struct line *l)
{
	struct run_record now = {0}, *run;

	if (r->in_run)
		now = r->p->runs[r->p->n_runs - 1];
	if (!record_read(l, &record_runtime, &now, NULL))
		return false;
	run = current_run(r);
	if (run && now.runtime_ns >= run->runtime_ns)
		*run = now;
	return true;
}

/* The old end of a run, in realtime; it says the run's length where no runtime record does. */
static bool add_shutdown(struct profile_reader *r, const struct line *l)
{
	uint64_t time, samples = 0;
	struct run_record *run;

	if (!field_u64(l, "time", INT64_MAX, &time) ||
	    !field_own(l, "samples", MAX_COUNT, &samples))
		return false;
	run = current_run(r);
	if (!run)
		return true;
	if (run->startup_time_ns && time > run->startup_time_ns &&
	    time - run->startup_time_ns < MAX_NS && !run->runtime_ns)
		run->runtime_ns = time - run->startup_time_ns;
	if (!run->samples)
		run->samples = samples;
	return true;
}

static bool add_line(const struct line *l, void *arg)
{
	struct profile_reader *r = arg;
	const char *t = l->type;

	if (!strcmp(t, "experiment"))
		return add_experiment(r, l);
	/* progress-point is the old name, with a type that says how it was found. */
	if (!strcmp(t, "throughput-point") || !strcmp(t, "progress-point"))
		return add_point(r, l, &record_throughput);
	if (!strcmp(t, "latency-point"))
		return add_point(r, l, &record_latency);
	if (!strcmp(t, "samples"))
		return add_samples(r, l);
	if (!strcmp(t, "runtime"))
		return add_runtime(r, l);
	if (!strcmp(t, "startup"))
		return add_startup(r, l);
	if (!strcmp(t, "member"))
		return add_member(r, l);
	if (!strcmp(t, "node-speed"))
		return add_node(r, l, &record_node_speed);
	if (!strcmp(t, "node-line"))
		return add_node(r, l, &record_node_line);
	if (!strcmp(t, "shutdown"))
		return add_shutdown(r, l);
	return false;
}

/* Where a run begins, as cozbpf and Coz write it; no other whole line has either in it. */
static const char legacy_startup[] = "startup\ttime=", json_startup[] = "{\"type\":\"startup\"";

static bool begins_run(const char *text)
{
	return !strncmp(text, legacy_startup, sizeof(legacy_startup) - 1) ||
	       !strncmp(text, json_startup, sizeof(json_startup) - 1);
}

/* Where the line begins that is one of the profile. A run that was killed leaves half a line, and
 * the next one appends its startup to it. */
static char *skip_half(struct profile_reader *r, char *text)
{
	char *startup = strstr(text + 1, legacy_startup);

	if (!startup)
		startup = strstr(text + 1, json_startup);
	if (startup)
		r->p->n_skipped++;
	return startup ? startup : text;
}

static void take_line(struct profile_reader *r, char *text, bool complete)
{
	if (line_read(text, complete, add_line, r))
		r->known++;
	else
		r->p->n_skipped++;
}

/* Takes a line. False, with the line kept for later: it begins a run, and @p is full. */
static bool read_line(struct profile_reader *r, struct text_line *l, size_t full)
{
	char *text = l->text;

	r->empty &= text && !l->n;
	while (text && l->n && text[l->n - 1] == '\r')
		text[--l->n] = 0;
	if (!text || memchr(text, 0, l->n)) {
		r->p->n_skipped++;
		return true;
	}
	if (!l->n)
		return true;
	text = skip_half(r, text);
	if (r->p->n_runs && r->p->bytes + r->p->names.bytes > full && begins_run(text)) {
		r->ahead = (struct text_line){text, strlen(text), l->complete};
		return false;
	}
	take_line(r, text, l->complete);
	return true;
}

static int too_large(const struct profile *p, const char *name, size_t max, struct error *e)
{
	error_set(e, EXIT_OTHER,
	    "'%s' is too large: its records and those read before it take more than %zu MB of "
	    "memory (%zu experiments of %zu runs so far)",
	    name, max >> 20, p->n_experiments, p->n_runs);
	return error_hint(e, "report fewer files at once, or the runs of a file apart: each begins "
			     "with a line 'startup' and can be cut off before it");
}

/* What the reader knows of @p, which others may have changed since. */
static void begin(struct profile_reader *r)
{
	free(r->samples);
	r->samples = NULL;
	r->n_samples = 0;
	r->in_run = r->in_experiment = false;
}

static int ended(const struct profile_reader *r, struct error *e)
{
	const char *name = r->name;

	if (ferror(r->in.in))
		return error_set(e, EXIT_OTHER, "cannot read '%s': %s", name, strerror(errno));
	if (r->empty) {
		error_set(e, EXIT_NO_RESULT, "the profile '%s' is empty", name);
		return error_hint(e, "the run that wrote it ended before its first record; 'cozbpf "
				     "-- cmd' makes a profile");
	}
	if (!r->known) {
		error_set(e, EXIT_OTHER,
		    "'%s' is not a profile: it holds no record that Coz or cozbpf writes", name);
		return error_hint(e, "a profile is the file written by 'cozbpf -- cmd' or 'coz "
				     "run', profile.coz by default");
	}
	return 0;
}

struct profile_reader *profile_reader_new(
    struct profile *p, FILE *in, const char *name, struct error *e)
{
	struct profile_reader *r = calloc(1, sizeof(*r));

	if (!r || text_input_init(&r->in, in, MAX_LINE)) {
		free(r);
		error_set(e, EXIT_OTHER, "out of memory");
		return NULL;
	}
	r->p = p;
	r->name = name;
	r->empty = true;
	return r;
}

int profile_reader_next(struct profile_reader *r, size_t full, struct error *e)
{
	size_t max = r->p->max_bytes ? r->p->max_bytes : PROFILE_MAX_BYTES;
	struct text_line l = r->ahead;

	begin(r);
	r->ahead.text = NULL;
	if (l.text)
		take_line(r, l.text, l.complete);
	while (!r->failed && text_input_next(&r->in, &l)) {
		if (!read_line(r, &l, full))
			return 1;
		if (r->p->bytes + r->p->names.bytes > max)
			return too_large(r->p, r->name, max, e);
	}
	if (r->failed)
		return error_set(e, EXIT_OTHER, "out of memory while reading '%s'", r->name);
	return ended(r, e);
}

size_t profile_reader_known(const struct profile_reader *r)
{
	return r->known;
}

void profile_reader_free(struct profile_reader *r)
{
	if (!r)
		return;
	text_input_deinit(&r->in);
	free(r->samples);
	free(r);
}

int profile_read(struct profile *p, FILE *in, const char *name, struct error *e)
{
	struct profile_reader *r = profile_reader_new(p, in, name, e);
	int ret = r ? profile_reader_next(r, SIZE_MAX, e) : -1;

	profile_reader_free(r);
	return ret;
}

bool profile_is_one(FILE *in)
{
	char *text = malloc(BEGIN_BYTES);
	size_t n = text ? fread(text, 1, BEGIN_BYTES, in) : 0;
	FILE *begin = n ? fmemopen(text, n, "r") : NULL;
	struct error e;
	struct profile p;
	bool ret = false;

	profile_init(&p);
	if (begin) {
		ret = !profile_read(&p, begin, "", &e);
		fclose(begin);
	}
	profile_deinit(&p);
	free(text);
	return ret;
}
