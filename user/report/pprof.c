// SPDX-License-Identifier: BSD-3-Clause
/*
 * Samples and gains as a profile.proto (pprof/profile.proto says what a field means). A profile
 * holds stacks of waits alone, so any other line or function in scope is one sample of one frame.
 * The file is
 * written in pieces, since messages that follow each other are one message, whose lists go on.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.pb-c.h"

#include "core/profile/runs.h"
#include "core/places/waits.h"
#include "core/text/paths.h"
#include "core/text/utf8.h"
#include "report/gzip.h"
#include "report/words.h"

typedef Perftools__Profiles__Profile pb_profile;
typedef Perftools__Profiles__ValueType pb_type;
typedef Perftools__Profiles__Sample pb_sample;
typedef Perftools__Profiles__Mapping pb_mapping;
typedef Perftools__Profiles__Location pb_location;
typedef Perftools__Profiles__Line pb_line;
typedef Perftools__Profiles__Function pb_function;

#define PIECE_TEXTS 16 /* the first piece has 12 at most */
#define MAX_TYPES 4
#define MAX_COMMENTS 3
#define MAIN_MAPPING 1 /* modules follow, in the order of their ids */
#define MAX_GAIN 1e6   /* times; larger ones are noise, and have to fit into an integer */

struct writer {
	ProtobufCBuffer buffer; /* the first member: append() casts it back */
	struct gzip gzip;
	struct names strings, modules;
	uint64_t n_units;
	struct names frames; /* callers of waits, by line */
	uint64_t *frame_ids; /* of their locations, in the order of these names */
	const struct unit_stacks *stacks;
	bool has_cpu_ns, has_waits, no_memory;
};

/* A part of the profile, with the strings that no earlier piece has. */
struct piece {
	pb_profile profile;
	char *texts[PIECE_TEXTS];
};

/* What a line gains, in millionths. */
struct gain {
	const char *line;
	int64_t ppm;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
	gzip_write(&((struct writer *)buffer)->gzip, data, size);
}

static int64_t capped(uint64_t v)
{
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

static void piece_init(struct piece *m)
{
	perftools__profiles__profile__init(&m->profile);
	m->profile.string_table = m->texts;
}

static void piece_write(struct piece *m, struct writer *w)
{
	if (!w->no_memory)
		perftools__profiles__profile__pack_to_buffer(&m->profile, &w->buffer);
	for (size_t i = 0; i < m->profile.n_string_table; i++)
		free(m->texts[i]);
}

/* The index of @text in the string table. */
static int64_t add_text(struct piece *m, struct writer *w, const char *text)
{
	size_t n = w->strings.n;
	uint32_t id = 0;
	char *added;

	if (names_copy(&w->strings, text, &id)) {
		w->no_memory = true;
	} else if (w->strings.n > n) {
		/* Strings are UTF-8, by the standard of proto3. */
		added = utf8_repaired(text);
		if (added)
			m->texts[m->profile.n_string_table++] = added;
		else
			w->no_memory = true;
	}
	return id;
}

static int64_t add_text_part(struct piece *m, struct writer *w, const char *text, size_t length)
{
	char *part = strndup(text, length);
	int64_t ret = 0;

	if (part)
		ret = add_text(m, w, part);
	else
		w->no_memory = true;
	free(part);
	return ret;
}

static pb_type type_of(struct piece *m, struct writer *w, const char *type, const char *unit)
{
	pb_type ret = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;

	ret.type = add_text(m, w, type);
	ret.unit = add_text(m, w, unit);
	return ret;
}

/* The period of all runs; 0: they differ, or do not say it. */
static uint64_t common_period(const struct profile *p)
{
	for (size_t i = 1; i < p->n_runs; i++)
		if (p->runs[i].period_ns != p->runs[0].period_ns)
			return 0;
	return p->n_runs ? p->runs[0].period_ns : 0;
}

/* When the first run began; 0: not known. */
static uint64_t first_startup(const struct profile *p)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < p->n_runs; i++) {
		uint64_t at = p->runs[i].startup_time_ns;

		if (at && (!ret || at < ret))
			ret = at;
	}
	return ret;
}

/* "progress point: requests" */
static int64_t add_point(struct piece *m, struct writer *w, const struct estimate_line *first)
{
	char *text;
	int64_t ret;

	if (asprintf(&text, "progress point: %s", first->progress) < 0) {
		w->no_memory = true;
		return 0;
	}
	ret = add_text(m, w, text);
	free(text);
	return ret;
}

static void add_comments(struct piece *m, struct writer *w, const struct estimate *e,
    const struct estimate_line *first, const char *version, int64_t *comments)
{
	char text[256];

	snprintf(text, sizeof(text), "cozbpf %s", version);
	comments[m->profile.n_comment++] = add_text(m, w, text);
	snprintf(text, sizeof(text),
	    "causal_gain_25: the %s that a %s saves when it is 25 %% faster, in millionths; gains "
	    "of %ss do not add up",
	    first && first->is_latency ? "mean latency" : "time per visit", estimate_unit(e),
	    estimate_unit(e));
	comments[m->profile.n_comment++] = add_text(m, w, text);
	if (first)
		comments[m->profile.n_comment++] = add_point(m, w, first);
	m->profile.comment = comments;
}

/* The first piece: all but samples. */
static void write_head(
    struct writer *w, const struct profile *p, const struct estimate *e, const char *version)
{
	const char *build = runs_only_build(p);
	pb_type types[MAX_TYPES], *type_list[MAX_TYPES], period;
	pb_mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mapping_list = &mapping;
	int64_t comments[MAX_COMMENTS];
	struct piece m;

	piece_init(&m);
	add_text(&m, w, ""); /* number 0, as the format wants it */
	/* Number 1, as among the types: some versions of speedscope take one for the other. */
	if (w->has_cpu_ns)
		m.profile.default_sample_type = add_text(&m, w, "cpu");
	types[m.profile.n_sample_type++] = type_of(&m, w, "samples", "count");
	if (w->has_cpu_ns)
		types[m.profile.n_sample_type++] = type_of(&m, w, "cpu", "nanoseconds");
	else
		m.profile.default_sample_type = types[0].type;
	types[m.profile.n_sample_type++] = type_of(&m, w, "causal_gain_25", "ppm");
	if (w->has_waits)
		types[m.profile.n_sample_type++] = type_of(&m, w, "off_cpu", "nanoseconds");
	for (size_t i = 0; i < m.profile.n_sample_type; i++)
		type_list[i] = &types[i];
	m.profile.sample_type = type_list;
	m.profile.period = capped(common_period(p));
	if (m.profile.period) {
		period = type_of(&m, w, "cpu", "nanoseconds");
		m.profile.period_type = &period;
	}
	m.profile.time_nanos = capped(first_startup(p));
	m.profile.duration_nanos = capped(e->totals.runtime_ns);
	/* The first mapping is the main executable. A profile does not name it, nor tell which
	 * lines are in it. */
	mapping.id = MAIN_MAPPING;
	mapping.build_id = add_text(&m, w, build ? build : "");
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	m.profile.mapping = &mapping_list;
	m.profile.n_mapping = 1;
	add_comments(&m, w, e, e->n_lines ? &e->lines[0] : NULL, version, comments);
	piece_write(&m, w);
}

/* The mapping of a module, and whether it is a new one: then @ret is filled. */
static uint64_t find_mapping(
    struct piece *m, struct writer *w, const char *unit, size_t length, pb_mapping *ret)
{
	size_t n = w->modules.n;
	int64_t text = add_text_part(m, w, unit, length);
	uint32_t id = 0;

	if (w->no_memory || names_id(&w->modules, w->strings.items[text], &id)) {
		w->no_memory = true;
		return 0;
	}
	if (w->modules.n > n) {
		ret->id = id + MAIN_MAPPING + 1;
		ret->filename = text;
		ret->has_functions = true;
		m->profile.n_mapping = 1;
	}
	return id + MAIN_MAPPING + 1;
}

/* A line or function, called @name: a function of one line, at one location, whose id it returns.
 */
static uint64_t write_place(struct writer *w, const char *name, const char *unit)
{
	pb_mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mapping_list = &mapping;
	pb_function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *function_list = &function;
	pb_line line = PERFTOOLS__PROFILES__LINE__INIT, *line_list = &line;
	pb_location location = PERFTOOLS__PROFILES__LOCATION__INIT, *location_list = &location;
	size_t number, length = path_of_line(unit, &number);
	uint64_t id = ++w->n_units;
	struct piece m;

	piece_init(&m);
	function.id = line.function_id = location.id = id;
	function.name = add_text(&m, w, name);
	if (length) {
		function.filename = add_text_part(&m, w, unit, length);
		line.line = (int64_t)number;
	} else {
		length = path_of_function(unit);
		if (length && unit[length])
			location.mapping_id = find_mapping(&m, w, unit, length, &mapping);
	}
	location.n_line = 1;
	location.line = &line_list;
	m.profile.mapping = &mapping_list;
	m.profile.n_function = m.profile.n_location = 1;
	m.profile.function = &function_list;
	m.profile.location = &location_list;
	piece_write(&m, w);
	return id;
}

/* The place of a caller, which is written once. 0 without memory. */
static uint64_t write_frame(struct writer *w, const struct samples_record *frame)
{
	size_t n = w->frames.n;
	uint32_t at = 0;

	if (w->no_memory || names_id(&w->frames, frame->location, &at)) {
		w->no_memory = true;
		return 0;
	}
	if (w->frames.n == n)
		return w->frame_ids[at];
	if (!(n & (n - 1))) {
		uint64_t *bigger = reallocarray(w->frame_ids, n ? 2 * n : 1, sizeof(*bigger));

		if (!bigger) {
			w->no_memory = true;
			return 0;
		}
		w->frame_ids = bigger;
	}
	w->frame_ids[at] = write_place(w, frame_name(frame, true), frame->location);
	return w->frame_ids[at];
}

/* What a sample counts. @cpu_ns: of waits the time waited. */
struct values {
	uint64_t count, cpu_ns;
	int64_t gain_ppm;
	bool waits;
};

/* @locations: the innermost one first. */
static void write_sample(struct writer *w, uint64_t *locations, size_t n, const struct values *v)
{
	pb_sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *sample_list = &sample;
	int64_t values[MAX_TYPES];
	struct piece m;

	piece_init(&m);
	values[sample.n_value++] = capped(v->count);
	if (w->has_cpu_ns)
		values[sample.n_value++] = v->waits ? 0 : capped(v->cpu_ns);
	values[sample.n_value++] = v->gain_ppm;
	if (w->has_waits)
		values[sample.n_value++] = v->waits ? capped(v->cpu_ns) : 0;
	sample.value = values;
	sample.n_location_id = n;
	sample.location_id = locations;
	m.profile.n_sample = 1;
	m.profile.sample = &sample_list;
	piece_write(&m, w);
}

/* Waits on a stack: the unit's location @unit, below its callers. Takes them out of @rest. */
static void write_stack(
    struct writer *w, uint64_t unit, const struct unit_stack *s, struct values *rest)
{
	uint64_t locations[1 + COZBPF_WAIT_CALLERS] = {unit};
	const struct values v = {.count = s->count, .cpu_ns = s->cpu_ns, .waits = true};

	for (size_t i = 0; i < s->n; i++)
		locations[1 + i] = write_frame(w, s->frames[i]);
	write_sample(w, locations, 1 + s->n, &v);
	rest->count -= s->count < rest->count ? s->count : rest->count;
	rest->cpu_ns -= s->cpu_ns < rest->cpu_ns ? s->cpu_ns : rest->cpu_ns;
}

/* A line or function, in one sample; of waits in one for each stack, and one for what is left and
 * for the gain, which is no stack's alone. */
static void write_unit(
    struct writer *w, const char *unit, uint64_t count, uint64_t cpu_ns, int64_t gain_ppm)
{
	size_t before, n;
	struct values rest = {count, cpu_ns, gain_ppm, wait_of_unit(unit, &before) >= 0};
	const struct unit_stack *s = unit_stacks_find(w->stacks, unit, &n);
	uint64_t id = write_place(w, unit, unit);

	for (size_t i = 0; i < n; i++)
		write_stack(w, id, &s[i], &rest);
	if (!n || rest.count || rest.gain_ppm)
		write_sample(w, &id, 1, &rest);
}

static int compare_gains(const void *a, const void *b)
{
	const struct gain *x = a, *y = b;

	return strcmp(x->line, y->line);
}

/* Fills @ret, which has room for all lines, by name. Returns how many have a gain. */
static size_t find_gains(const struct estimate *e, struct gain *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_lines; i++) {
		double gain = example_gain(&e->lines[i]);

		if (isfinite(gain) && estimate_same_point(&e->lines[i], &e->lines[0]))
			ret[n++] = (struct gain){
			    e->lines[i].line, llround(fmax(-MAX_GAIN, fmin(gain, MAX_GAIN)) * 1e6)};
	}
	if (n)
		qsort(ret, n, sizeof(*ret), compare_gains);
	return n;
}

/* Lines that were sampled, and those that have a gain: a killed run leaves no counts. Both are in
 * the order of their names. */
static void write_units(
    struct writer *w, const struct line_counts *c, const struct gain *gains, size_t n_gains)
{
	size_t i = 0, j = 0;

	while ((i < c->n || j < n_gains) && !w->no_memory) {
		int order = i == c->n      ? 1
			    : j == n_gains ? -1
					   : strcmp(c->lines[i].line, gains[j].line);

		if (order > 0)
			write_unit(w, gains[j].line, 0, 0, gains[j].ppm);
		else
			write_unit(w, c->lines[i].line, c->lines[i].count, c->lines[i].cpu_ns,
			    order ? 0 : gains[j].ppm);
		i += order <= 0;
		j += order >= 0;
	}
	if (c->outside)
		write_unit(w, "[outside the scope]", c->outside, c->outside_cpu_ns, 0);
}

int report_pprof(FILE *out, const struct profile *p, const struct line_counts *c,
    const struct unit_stacks *stacks, const struct estimate *e, const char *version)
{
	struct writer w = {.buffer.append = append,
	    .stacks = stacks,
	    .has_cpu_ns = c->has_cpu_ns,
	    .has_waits = c->has_cpu_ns && e->totals.waits > 0};
	struct gain *gains = calloc(e->n_lines + 1, sizeof(*gains));
	int ret = -ENOMEM;

	if (gains && !gzip_init(&w.gzip, out)) {
		write_head(&w, p, e, version);
		write_units(&w, c, gains, find_gains(e, gains));
		ret = gzip_end(&w.gzip);
		if (w.no_memory)
			ret = -ENOMEM;
	}
	names_deinit(&w.modules);
	names_deinit(&w.frames);
	free(w.frame_ids);
	names_deinit(&w.strings);
	free(gains);
	return ret;
}
