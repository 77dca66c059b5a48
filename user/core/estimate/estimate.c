// SPDX-License-Identifier: BSD-3-Clause
/* From a profile to ranked lines with verdicts: puts together cells.c, regression.c and
 * bootstrap.c. */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/counters.h"
#include "core/places/couple.h"
#include "core/profile/runs.h"
#include "core/estimate/shares.h"

#define DEFAULT_SPEEDUPS 5 /* paper section 2 leaves out lines with fewer */
/* Of the slope, which is the program speedup at a line speedup of 100 %. */
#define MIN_EFFECT 0.01 /* less is no effect, however sure: nobody optimizes for it */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
	    "optimize", "contention", "no-effect", "not-enough-data"};

	return names[v];
}

const char *sort_name(enum sort_key key)
{
	static const char *const names[N_SORT_KEYS] = {[SORT_SLOPE] = "slope",
	    [SORT_MAX] = "max",
	    [SORT_PAYBACK] = "payback",
	    [SORT_IMPACT] = "impact"};

	return names[key];
}

/*
 * How many speedups a line needs: with a list of the user's all of it, up to 5. Coz's profiles do
 * not say whether there was a list, but they show it. Say there are more than three experiments per
 * speedup, and speedups are drawn from twenty. Then fewer than five different ones come up once in
 * 8,000 profiles (one in four draws: 20^-3) or less.
 */
static size_t needed_speedups(const struct profile *p, const struct estimate_options *o)
{
	bool seen[1001] = {false};
	size_t different = 0, n = 0, list;
	struct run_record totals;

	if (o->min_speedups > 0)
		return (size_t)o->min_speedups;
	runs_total(p, &totals);
	list = totals.fixed_speedups;
	if (list)
		return list < DEFAULT_SPEEDUPS ? list : DEFAULT_SPEEDUPS;
	for (size_t i = 0; i < p->n_experiments; i++) {
		uint32_t permille = speedup_permille(p->experiments[i].speedup);

		if (!permille)
			continue;
		n++;
		different += !seen[permille];
		seen[permille] = true;
	}
	return different < DEFAULT_SPEEDUPS && n > 3 * different ? different : DEFAULT_SPEEDUPS;
}

/* Samples */

/* By line id; those of a function are those of its lines. */
struct totals {
	bool *run_counts;
	double *samples, *free_samples;
	const char **functions; /* NULL: not held by one */
	bool *are_functions, *are_couples;
	struct wait_calls **calls; /* NULL: none are known */
	uint64_t all_samples;
	double outsiders; /* their share of the CPU time wanted */
	double misplaced; /* threads waited beside an idle CPU, likewise */
	struct phase_totals phase;
};

static void add_samples(struct totals *t, const struct samples_record *s, uint32_t line)
{
	if (line == UINT32_MAX)
		return;
	t->samples[line] += (double)s->count;
	if (s->has_free && t->run_counts[s->run])
		t->free_samples[line] += (double)s->free;
}

/* Of a line and of what holds it. */
static int add_calls(struct totals *t, const struct samples_record *s, uint32_t line)
{
	if (line == UINT32_MAX || !s->calls)
		return 0;
	if (!t->calls[line])
		t->calls[line] = calloc(1, sizeof(*t->calls[line]));
	if (!t->calls[line])
		return -ENOMEM;
	wait_calls_parse(t->calls[line], s->calls, s->count);
	return 0;
}

static int sum_samples(struct totals *t, const struct profile *p, const struct observations *o)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct samples_record *s = &p->samples[i];
		uint32_t line = names_find(&o->lines, s->location),
			 function = s->function ? names_find(&o->lines, s->function) : UINT32_MAX;

		t->all_samples += s->count;
		add_samples(t, s, line);
		add_samples(t, s, function);
		if (add_calls(t, s, line) || add_calls(t, s, function))
			return -ENOMEM;
		if (line != UINT32_MAX && s->function)
			t->functions[line] = s->function;
		if (function != UINT32_MAX)
			t->are_functions[function] = true;
	}
	return 0;
}

/* A couple's samples are those of its units. They count for all samples once, as the units'. */
static int sum_couple(struct totals *t, const struct observations *o, uint32_t couple)
{
	const char *name = o->lines.items[couple], *second = NULL;
	size_t length;

	while (!t->are_couples[couple] && (second = couple_split(name, second, &length))) {
		char *first = strndup(name, length);
		uint32_t a, b = names_find(&o->lines, second);

		if (!first)
			return -ENOMEM;
		a = names_find(&o->lines, first);
		free(first);
		if (a == UINT32_MAX || b == UINT32_MAX)
			continue;
		t->are_couples[couple] = true;
		t->samples[couple] = t->samples[a] + t->samples[b];
		t->free_samples[couple] = t->free_samples[a] + t->free_samples[b];
	}
	return 0;
}

/* @n: of all lines. */
static void totals_deinit(struct totals *t, size_t n)
{
	for (size_t i = 0; t->calls && i < n; i++)
		free(t->calls[i]);
	free(t->calls);
	free(t->run_counts);
	free(t->samples);
	free(t->free_samples);
	free(t->functions);
	free(t->are_functions);
	free(t->are_couples);
}

/* Of all that is wanted. */
static double share_of(uint64_t part, uint64_t rest)
{
	return part ? (double)part / (double)(part + rest) : 0;
}

/* What there is after -ENOMEM is totals_deinit()'s as well. */
static int totals_init(struct totals *t, const struct profile *p, const struct observations *o)
{
	struct run_record all;

	memset(t, 0, sizeof(*t));
	runs_total(p, &all);
	t->outsiders = share_of(all.outsiders_ns, all.executed_ns);
	t->misplaced = share_of(all.misplaced_ns, all.executed_ns);
	t->run_counts = calloc(p->n_runs + 1, sizeof(*t->run_counts));
	t->samples = calloc(o->lines.n + 1, sizeof(*t->samples));
	t->free_samples = calloc(o->lines.n + 1, sizeof(*t->free_samples));
	t->functions = calloc(o->lines.n + 1, sizeof(*t->functions));
	t->are_functions = calloc(o->lines.n + 1, sizeof(*t->are_functions));
	t->are_couples = calloc(o->lines.n + 1, sizeof(*t->are_couples));
	t->calls = calloc(o->lines.n + 1, sizeof(struct wait_calls *));
	if (!t->run_counts || !t->samples || !t->free_samples || !t->functions ||
	    !t->are_functions || !t->are_couples || !t->calls)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_runs; i++) {
		t->run_counts[i] = p->runs[i].free_ns;
		t->phase.free_time += (double)p->runs[i].free_ns;
	}
	if (sum_samples(t, p, o))
		return -ENOMEM;
	t->phase.run_counts = t->run_counts;
	t->phase.free_samples = t->free_samples;
	for (uint32_t i = 0; i < o->lines.n; i++)
		if (sum_couple(t, o, i))
			return -ENOMEM;
	return 0;
}

static void fill_summary(struct estimate *e, const struct profile *p, const struct totals *t)
{
	runs_total(p, &e->totals);
	e->experiments = profile_experiments(p);
	e->runs = profile_runs(p);
	e->builds = runs_count_builds(p);
	e->samples = e->totals.samples ? e->totals.samples : t->all_samples;
	e->runtime_s = (double)e->totals.runtime_ns / 1e9;
}

/* Lines */

static enum verdict verdict_of(const struct estimate_line *l, double allowed)
{
	bool is_sure = l->chance <= allowed;

	if (is_sure && l->slope_lo > 0 && l->slope >= MIN_EFFECT)
		return VERDICT_OPTIMIZE;
	if (is_sure && l->slope_hi < 0 && l->slope <= -MIN_EFFECT)
		return VERDICT_CONTENTION;
	if (l->slope_hi - l->slope_lo <= NO_EFFECT_WIDTH &&
	    fmax(-l->slope_lo, l->slope_hi) <= NO_EFFECT_WIDTH)
		return VERDICT_NO_EFFECT;
	return VERDICT_NOT_ENOUGH_DATA;
}

/* Verdicts have to hold together: all those at one progress point, of the lines that have an
 * interval. */
static int judge(struct estimate *e)
{
	struct shares shares = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < e->n_lines; i++)
		if (e->lines[i].shortage == SHORT_NONE)
			ret = shares_add(&shares, e->lines[i].progress, e->lines[i].samples);
	for (size_t i = 0; !ret && i < e->n_lines; i++) {
		struct estimate_line *l = &e->lines[i];

		if (l->shortage != SHORT_NONE)
			continue;
		l->verdict = verdict_of(l, shares_chance(&shares, l->progress, l->samples));
		if (l->verdict == VERDICT_NOT_ENOUGH_DATA)
			l->shortage = SHORT_INTERVAL;
	}
	shares_deinit(&shares);
	return ret;
}

static int fill_points(struct estimate_line *l, const struct group *g)
{
	double weights[1001], y[1001];

	l->points = calloc(g->n_cells, sizeof(*l->points));
	if (!l->points)
		return -ENOMEM;
	l->n_points = g->n_cells - 1;
	for (size_t i = 1; i < g->n_cells; i++) {
		const struct cell *c = &g->cells[i];
		double raw = 1 - c->raw_period / g->cells[0].raw_period;

		y[i] = g->phase * (1 - c->period / g->cells[0].period);
		l->points[i - 1] = (struct estimate_point){.line_speedup = c->speedup,
		    .program_speedup = y[i],
		    .raw_program_speedup = raw,
		    .ci_lo = NAN,
		    .ci_hi = NAN,
		    .experiments = (uint64_t)c->experiments,
		    .visits = (uint64_t)c->visits};
	}
	if (l->n_points) {
		regression_weights(g, SORT_SLOPE, weights);
		l->slope = regression_slope(g, weights, y);
	}
	return g->is_latency ? latency_fill_line(g, l) : 0;
}

static int fill_intervals(struct estimate_line *l, const struct group *g, const struct shared *s,
    const struct estimate_options *o)
{
	if (g->end_to_end) {
		whole_runs_line(g, &s->runs, o, l);
		return 0;
	}
	return bootstrap_line(g, o, l);
}

static int fill_line(struct estimate_line *l, const struct group *g, const struct shared *s,
    const struct estimate_options *o, size_t need)
{
	size_t speedups = g->n_cells - g->has_baseline;

	l->line = g->line;
	l->progress = g->progress;
	l->is_latency = g->is_latency;
	l->slope = l->slope_lo = l->slope_hi = l->chance = l->df = l->rank_key = NAN;
	l->scatter = l->wider = NAN;
	for (int key = 0; key < N_SORT_KEYS; key++)
		l->rank_keys[key] = NAN;
	l->verdict = VERDICT_NOT_ENOUGH_DATA;
	l->phase_factor = g->phase;
	l->experiments = g->experiments;
	l->baselines = g->served;
	l->visits = (uint64_t)g->visits;
	if (!g->has_baseline)
		l->shortage = SHORT_BASELINE;
	else if (!speedups)
		l->shortage = SHORT_VISITS;
	else if (speedups < need && !g->end_to_end)
		l->shortage = SHORT_SPEEDUPS;
	if (g->has_baseline && (fill_points(l, g) || (speedups && fill_intervals(l, g, s, o))))
		return -ENOMEM;
	if (!g->is_latency && !g->end_to_end && group_noise(g, l))
		return -ENOMEM;
	l->rank_key = l->rank_keys[o->sort];
	if (l->shortage == SHORT_NONE && isnan(l->slope_lo))
		l->shortage = SHORT_EXPERIMENTS;
	return 0;
}

static int rank_of(const struct estimate_line *l)
{
	if (l->verdict != VERDICT_NOT_ENOUGH_DATA)
		return 0;
	return l->shortage == SHORT_INTERVAL ? 1 : 2;
}

static int compare_lines(const void *a, const void *b)
{
	const struct estimate_line *x = a, *y = b;
	double kx = isnan(x->rank_key) ? -INFINITY : x->rank_key,
	       ky = isnan(y->rank_key) ? -INFINITY : y->rank_key;
	int by_name = strcmp(x->line, y->line);

	if (rank_of(x) != rank_of(y))
		return rank_of(x) - rank_of(y);
	if (kx != ky)
		return kx > ky ? -1 : 1;
	if (!by_name)
		by_name = strcmp(x->progress, y->progress);
	return by_name ? by_name : x->is_latency - y->is_latency;
}

/* One line and point: the observations from @first up to @end. */
static int add_group(struct estimate *e, const struct observations *o, const struct shared *s,
    size_t first, size_t end, const struct totals *t, const struct estimate_options *options)
{
	struct estimate_line *l = &e->lines[e->n_lines];
	uint32_t line = o->items[first].line;
	struct group g;
	int ret;

	if (group_init(&g, o, s, first, end - first, options->period))
		return -ENOMEM;
	group_phase(&g, &t->phase);
	g.outsiders = t->outsiders;
	g.misplaced = t->misplaced;
	ret = fill_line(l, &g, s, options, e->need_speedups);
	e->n_lines++;
	l->samples = (uint64_t)t->samples[line];
	l->function = t->functions[line];
	l->is_function = t->are_functions[line];
	l->is_couple = t->are_couples[line];
	if (t->calls[line]) {
		l->calls = malloc(sizeof(*l->calls));
		if (l->calls)
			*l->calls = *t->calls[line];
		else
			ret = -ENOMEM;
	}
	group_deinit(&g);
	/* Counts what is left out of the ranking. A wide interval is not left out: it is an
	 * answer. */
	e->n_dropped += l->shortage != SHORT_NONE;
	return ret;
}

static int add_groups(struct estimate *e, const struct observations *o, const struct shared *s,
    const struct totals *t, const struct estimate_options *options)
{
	size_t n = 0, end;

	for (size_t i = 0; i < o->n; i++)
		n += !i || o->items[i].line != o->items[i - 1].line ||
		     o->items[i].point != o->items[i - 1].point;
	e->lines = calloc(n + 1, sizeof(*e->lines));
	if (!e->lines)
		return -ENOMEM;
	for (size_t i = 0; i < o->n; i = end) {
		end = i + 1;
		while (end < o->n && o->items[end].line == o->items[i].line &&
		       o->items[end].point == o->items[i].point)
			end++;
		if (add_group(e, o, s, i, end, t, options))
			return -ENOMEM;
	}
	if (judge(e))
		return -ENOMEM;
	if (e->n_lines)
		qsort(e->lines, e->n_lines, sizeof(*e->lines), compare_lines);
	return estimate_group_lines(e);
}

/* @ret stays empty where no two machines are to be held against each other. */
static int start_machines(
    struct machine_tally *ret, const struct profile *p, const struct estimate_options *options)
{
	const char *first = NULL;
	bool other = false;

	*ret = (struct machine_tally){0};
	for (size_t i = 0; options->machines && !other && i < p->n_runs + p->n_nodes; i++) {
		const char *node = i < p->n_runs ? p->runs[i].node : p->nodes[i - p->n_runs].node;

		other = first && node && strcmp(node, first) != 0;
		first = first ? first : node;
	}
	return other ? machine_tally_init(ret, p, NULL) : 0;
}

static int find_machines(struct estimate *e, struct machine_tally *m)
{
	machine_table_settle(&m->table);
	return machines_init(&e->machines, &m->table, e);
}

int estimate_profile(
    const struct profile *p, const struct estimate_options *options, struct estimate *ret)
{
	struct machine_tally m = {0};
	struct observations o = {0};
	struct shared s = {0};
	struct totals t = {0};
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->need_speedups = needed_speedups(p, options);
	err = observations_init(&o, p) || start_machines(&m, p, options) ||
	      observations_level_runs(&o, p->n_runs, m.p ? &m : NULL) || totals_init(&t, p, &o) ||
	      baselines_init(&s.baselines, &o, p);
	if (!err) {
		s.machines = m.p ? &m : NULL;
		whole_runs_init(&s.runs, &o);
		err = add_groups(ret, &o, &s, &t, options) || latency_fill_all(&o, ret) ||
		      find_machines(ret, &m);
		fill_summary(ret, p, &t);
	}
	baselines_deinit(&s.baselines);
	totals_deinit(&t, o.lines.n);
	machine_tally_deinit(&m);
	observations_deinit(&o);
	if (!err && options->waiting)
		err = waiting_init(&ret->waiting, p);
	if (err)
		estimate_deinit(ret);
	return err ? -ENOMEM : 0;
}

void estimate_deinit(struct estimate *e)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		free(e->lines[i].points);
		free(e->lines[i].latencies);
		free(e->lines[i].calls);
	}
	free(e->lines);
	free(e->latencies);
	waiting_deinit(&e->waiting);
	machines_deinit(&e->machines);
	names_deinit(&e->names);
	memset(e, 0, sizeof(*e));
}

/* @name, whose copy was made before. */
static const char *own(const struct estimate *e, const char *name)
{
	return e->names.items[names_find(&e->names, name)];
}

int estimate_own_names(struct estimate *e)
{
	uint32_t id;

	for (size_t i = 0; i < e->n_lines; i++)
		if (names_copy(&e->names, e->lines[i].line, &id) ||
		    names_copy(&e->names, e->lines[i].progress, &id) ||
		    (e->lines[i].function && names_copy(&e->names, e->lines[i].function, &id)))
			return -ENOMEM;
	for (size_t i = 0; i < e->n_latencies; i++)
		if (names_copy(&e->names, e->latencies[i].name, &id))
			return -ENOMEM;
	for (size_t i = 0; i < e->n_lines; i++) {
		e->lines[i].line = own(e, e->lines[i].line);
		e->lines[i].progress = own(e, e->lines[i].progress);
		if (e->lines[i].function)
			e->lines[i].function = own(e, e->lines[i].function);
	}
	for (size_t i = 0; i < e->n_latencies; i++)
		e->latencies[i].name = own(e, e->latencies[i].name);
	return 0;
}
