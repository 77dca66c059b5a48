// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of the profile's fields: for each sort of record what it is made of, in the order in
 * which it is written. The counters of a runtime record are in counters.def. Fields that are no
 * plain numbers have functions of their own, which stand above the table.
 */
#include "core/profile/private.h"
#include "core/profile/wait_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cozbpf/latency.h>

/* startup */

/* What is no build id is as good as none. */
static bool read_build_id(const struct line *l, void *record, bool *ret_no_memory)
{
	const char *build_id = field_text(l, "build-id");
	struct run_record *r = record;

	if (build_id && strlen(build_id) < sizeof(r->build_id) &&
	    strspn(build_id, "0123456789abcdef") == strlen(build_id))
		strcpy(r->build_id, build_id);
	return true;
}

static void write_build_id(FILE *out, const void *record)
{
	const struct run_record *r = record;

	if (r->build_id[0])
		fprintf(out, "\tbuild-id=%s", r->build_id);
}

/* A mode of another version is as good as none, unless it is a word. */
static bool read_pause(const struct line *l, void *record, bool *ret_no_memory)
{
	const char *pause = field_text(l, "pause");
	struct run_record *r = record;

	if (pause && strlen(pause) < sizeof(r->pause) &&
	    strspn(pause, "abcdefghijklmnopqrstuvwxyz") == strlen(pause))
		strcpy(r->pause, pause);
	return true;
}

static void write_pause(FILE *out, const void *record)
{
	const struct run_record *r = record;

	if (r->pause[0])
		fprintf(out, "\tpause=%s", r->pause);
}

/* experiment */

static bool read_speedup(const struct line *l, void *record, bool *ret_no_memory)
{
	return field_fraction(l, "speedup", &((struct experiment_record *)record)->speedup);
}

/* Not through "%.2f", whose decimal sign follows the locale. */
static void write_speedup(FILE *out, const void *record)
{
	double speedup = ((const struct experiment_record *)record)->speedup;
	long hundredths = lround((speedup < 0 ? 0 : speedup > 1 ? 1 : speedup) * 100);

	fprintf(out, "\tspeedup=%ld.%02ld", hundredths / 100, hundredths % 100);
}

/* How many items a list in @text has, which commas separate. */
static size_t count_items(const char *text)
{
	size_t ret = 1;

	for (; *text; text++)
		ret += *text == ',';
	return ret;
}

/* By rising id, so that none is there twice. */
static bool read_items(const char *text, struct experiment_record *x)
{
	while (1) {
		uint64_t id, opening, observed;

		if (!take_u64(&text, ':', UINT32_MAX, &id) ||
		    !take_u64(&text, ':', MAX_COUNT, &opening) ||
		    !take_u64(&text, 0, MAX_COUNT, &observed))
			return false;
		if (!opening || id <= (x->n_lines ? x->lines[x->n_lines - 1].id : 0))
			return false;
		x->lines[x->n_lines++] = (struct baseline_line){(uint32_t)id, opening, observed};
		if (*text != ',')
			return !*text;
		text++;
	}
}

/* `lines` of a baseline, and `observed`, which means nothing without, except in a sum. */
static bool read_lines(const struct line *l, void *record, bool *ret_no_memory)
{
	const char *text = field_text(l, "lines");
	struct experiment_record *x = record;

	if (!text && field_find(l, "lines"))
		return false;
	if (!text)
		return !experiment_is_sum(x) || field_own(l, "observed", MAX_NS, &x->observed_ns);
	if (!field_u64(l, "observed", MAX_NS, &x->observed_ns) || !x->observed_ns)
		return false;
	x->lines = calloc(count_items(text), sizeof(*x->lines));
	*ret_no_memory = !x->lines;
	return x->lines && read_items(text, x);
}

/* One field for all lines: a record for each would be a dozen times as long, and Coz's viewer warns
 * of records it does not know. */
static void write_lines(FILE *out, const void *record)
{
	const struct experiment_record *x = record;

	if ((x->n_lines || experiment_is_sum(x)) && x->observed_ns)
		fprintf(out, "\tobserved=%" PRIu64, x->observed_ns);
	for (size_t i = 0; i < x->n_lines; i++)
		fprintf(out, "%s%" PRIu32 ":%" PRIu64 ":%" PRIu64,
		    i ? "," : "\tlines=", x->lines[i].id, x->lines[i].opening,
		    x->lines[i].observed);
}

/* latency-point */

/* Visits, where they are not the departures. */
static bool read_delta(const struct line *l, void *record, bool *ret_no_memory)
{
	struct point_record *p = record;

	p->delta = p->departures;
	return field_own(l, "delta", MAX_COUNT, &p->delta);
}

static void write_delta(FILE *out, const void *record)
{
	const struct point_record *p = record;

	if (p->delta != p->departures)
		fprintf(out, "\tdelta=%" PRIu64, p->delta);
}

static bool read_pairs_sum(const struct line *l, void *record, bool *ret_no_memory)
{
	struct point_record *p = record;

	return !field_find(l, "pairs-sum") || field_s64(l, "pairs-sum", MAX_SUM, &p->pairs_ns);
}

static void write_pairs_sum(FILE *out, const void *record)
{
	const struct point_record *p = record;

	if (p->pairs)
		fprintf(out, "\tpairs-sum=%" PRId64, p->pairs_ns);
}

/* By rising index, so that none is there twice; their sum is the number of pairs. */
static bool read_cells(const char *text, struct point_record *p)
{
	uint64_t index, count, sum = 0;

	while (1) {
		if (!take_u64(&text, ':', COZBPF_LATENCY_CELLS - 1, &index) ||
		    !take_u64(&text, 0, MAX_COUNT, &count) || !count)
			return false;
		if (p->n_cells && index <= p->cells[p->n_cells - 1].index)
			return false;
		p->cells[p->n_cells++] = (struct latency_cell){(uint32_t)index, count};
		sum += count;
		if (*text != ',')
			return !*text && sum == p->pairs;
		text++;
	}
}

static bool read_histogram(const struct line *l, void *record, bool *ret_no_memory)
{
	const char *text = field_text(l, "histogram");
	struct point_record *p = record;
	size_t n = text ? count_items(text) : 0;

	if (!text)
		return !p->pairs;
	if (n > COZBPF_LATENCY_CELLS)
		return false;
	p->cells = calloc(n, sizeof(*p->cells));
	*ret_no_memory = !p->cells;
	return p->cells && read_cells(text, p);
}

static void write_histogram(FILE *out, const void *record)
{
	const struct point_record *p = record;

	for (size_t i = 0; i < p->n_cells; i++)
		fprintf(out, "%s%" PRIu32 ":%" PRIu64, i ? "," : "\thistogram=", p->cells[i].index,
		    p->cells[i].count);
}

/* Counts that contradict each other are damage. */

static bool are_visits_sound(const void *record)
{
	const struct point_record *p = record;

	return p->bursts <= p->delta && p->span_delta <= p->delta;
}

static bool are_samples_sound(const void *record)
{
	const struct samples_record *s = record;

	return s->free <= s->count;
}

/* The table */

#define AT(type, name) .at = offsetof(struct type, name)
#define KNOWN(type, name) .known = offsetof(struct type, name)
#define OTHER(name) FIELD_OTHER, MUST, .take = read_##name, .put = write_##name
#define RECORD(rows) rows, sizeof(rows) / sizeof((rows)[0])

static const struct field_row startup[] = {
    {"time", FIELD_REALTIME, MUST, AT(run_record, startup_time_ns)},
    {"build-id", OTHER(build_id)},
    {"node", FIELD_TEXT, UNLESS_0, AT(run_record, node)},
    {"speedups", FIELD_SPEEDUPS, UNLESS_0, AT(run_record, fixed_speedups)},
    {"period", FIELD_NS, UNLESS_0, AT(run_record, period_ns)},
    {"sample-cost", FIELD_NS, UNLESS_0, AT(run_record, sample_ns)},
    {"runs", FIELD_COUNT, UNLESS_0, AT(run_record, runs)},
    {"experiments", FIELD_COUNT, UNLESS_0, AT(run_record, experiments)},
    {"pause", OTHER(pause)},
};
const struct record_type record_startup = {"startup", NULL, RECORD(startup), NULL};

static const struct field_row member[] = {
    {"time", FIELD_REALTIME, MUST, AT(member_record, startup_time_ns)},
    {"first", FIELD_REALTIME, MUST, AT(member_record, first)},
};
const struct record_type record_member = {"member", NULL, RECORD(member), NULL};

#define NODE_KEYS                                                            \
	{"point", FIELD_TEXT, UNLESS_0, AT(node_record, point)},             \
	{                                                                    \
		"latency", FIELD_FLAG, UNLESS_0, AT(node_record, is_latency) \
	}
#define NODE(key, unit, name)                            \
	{                                                \
		key, unit, ALWAYS, AT(node_record, name) \
	}

static const struct field_row node_speed[] = {
    NODE_KEYS,
    NODE("baselines", FIELD_COUNT, speed.baselines),
    NODE("time", FIELD_NS, speed.time_ns),
    NODE("count", FIELD_COUNT, speed.count),
    NODE("error", FIELD_NS, speed.error_ns),
    NODE("df", FIELD_COUNT, speed.df),
    NODE("quarter-error", FIELD_NS, speed.quarter_error_ns),
    NODE("quarter-df", FIELD_COUNT, speed.quarter_df),
    NODE("half-error", FIELD_NS, speed.half_error_ns),
    NODE("half-df", FIELD_COUNT, speed.half_df),
    NODE("run-error", FIELD_NS, speed.run_error_ns),
    NODE("run-df", FIELD_COUNT, speed.run_df),
};
const struct record_type record_node_speed = {"node-speed", "node", RECORD(node_speed), NULL};

static const struct field_row node_line[] = {
    NODE_KEYS,
    {"line", FIELD_TEXT, UNLESS_0, AT(node_record, line)},
    NODE("base-time", FIELD_NS, gain.base_ns),
    NODE("base-count", FIELD_COUNT, gain.base_count),
    NODE("base-error", FIELD_NS, gain.base_error_ns),
    NODE("base-df", FIELD_COUNT, gain.base_df),
    NODE("experiments", FIELD_COUNT, gain.experiments),
    NODE("count", FIELD_NS, gain.count),
    NODE("time", FIELD_NS, gain.time),
    NODE("square", FIELD_NS, gain.square),
    NODE("error", FIELD_NS, gain.error),
};
const struct record_type record_node_line = {"node-line", "node", RECORD(node_line), NULL};

static const struct field_row runtime[] = {
    {"time", FIELD_NS, MUST, AT(run_record, runtime_ns)},
#define COUNTER(name, key, unit, ...) {key, FIELD_##unit, UNLESS_0, AT(run_record, name)},
#include "core/profile/counters.def"
};
const struct record_type record_runtime = {"runtime", NULL, RECORD(runtime), NULL};

static const struct field_row experiment[] = {
    {"speedup", OTHER(speedup)},
    {"duration", FIELD_NS, MUST, AT(experiment_record, duration_ns)},
    {"selected-samples", FIELD_COUNT, ALWAYS, AT(experiment_record, selected_samples)},
    {"selected-time", FIELD_NS, WHEN_KNOWN, AT(experiment_record, selected_ns),
	KNOWN(experiment_record, has_selected_ns)},
    {"loops", FIELD_COUNT, UNLESS_0, AT(experiment_record, loops)},
    {"loop-time", FIELD_NS, UNLESS_0, AT(experiment_record, loop_ns)},
    {"outsiders", FIELD_NS, UNLESS_0, AT(experiment_record, outsiders_ns)},
    {"elapsed", FIELD_NS, UNLESS_0, AT(experiment_record, elapsed_ns)},
    {"start", FIELD_NS, UNLESS_0, AT(experiment_record, start_ns)},
    {"fixed", FIELD_FLAG, UNLESS_0, AT(experiment_record, fixed)},
    {"experiments", FIELD_COUNT, UNLESS_0, AT(experiment_record, experiments)},
    {"served", FIELD_COUNT, UNLESS_0, AT(experiment_record, served)},
    {"lines", OTHER(lines)},
};
const struct record_type record_experiment = {"experiment", "selected", RECORD(experiment), NULL};

static const struct field_row samples[] = {
    {"count", FIELD_COUNT, MUST, AT(samples_record, count)},
    {"free", FIELD_COUNT, WHEN_KNOWN, AT(samples_record, free), KNOWN(samples_record, has_free)},
    {"id", FIELD_ID, UNLESS_0, AT(samples_record, id)},
    {"function", FIELD_TEXT, UNLESS_0, AT(samples_record, function)},
    {"stacks", FIELD_TEXT, UNLESS_0, AT(samples_record, stacks), .is_good = wait_stacks_sound},
    {"wakers", FIELD_TEXT, UNLESS_0, AT(samples_record, wakers), .is_good = wait_wakers_sound},
    {"calls", FIELD_TEXT, UNLESS_0, AT(samples_record, calls)},
};
const struct record_type record_samples = {
    "samples", "location", RECORD(samples), are_samples_sound};

/* Visits of a throughput-point, ends of a latency-point. */
#define VISIT(key, unit, name)                              \
	{                                                   \
		key, unit, UNLESS_0, AT(point_record, name) \
	}
#define VISITS                                                                              \
	VISIT("bursts", FIELD_COUNT, bursts), VISIT("span-delta", FIELD_COUNT, span_delta), \
	    VISIT("span", FIELD_NS, span_ns), VISIT("paced", FIELD_NS, paced_ns),           \
	    VISIT("pace", FIELD_NS, pace_ns)

static const struct field_row throughput[] = {
    {"delta", FIELD_COUNT, MUST, AT(point_record, delta)},
    VISITS,
};
const struct record_type record_throughput = {
    "throughput-point", "name", RECORD(throughput), are_visits_sound};

static const struct field_row latency[] = {
    {"arrivals", FIELD_COUNT, MUST, AT(point_record, arrivals)},
    {"departures", FIELD_COUNT, MUST, AT(point_record, departures)},
    {"difference", FIELD_BALANCE, MUST, AT(point_record, difference)},
    {"integral", FIELD_SUM_NS, WHEN_KNOWN, AT(point_record, integral_ns),
	KNOWN(point_record, has_integral)},
    {"least", FIELD_BALANCE, WITH_KNOWN, AT(point_record, least),
	KNOWN(point_record, has_integral)},
    {"delta", OTHER(delta)},
    {"pairs", FIELD_COUNT, UNLESS_0, AT(point_record, pairs)},
    {"pairs-sum", OTHER(pairs_sum)},
    {"unmatched", FIELD_COUNT, UNLESS_0, AT(point_record, unmatched)},
    {"abandoned", FIELD_COUNT, UNLESS_0, AT(point_record, abandoned)},
    {"lost", FIELD_COUNT, UNLESS_0, AT(point_record, lost)},
    {"histogram", OTHER(histogram)},
    VISITS,
};
const struct record_type record_latency = {
    "latency-point", "name", RECORD(latency), are_visits_sound};
