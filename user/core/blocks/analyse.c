// SPDX-License-Identifier: BSD-3-Clause
/* Algorithm 2 over the runs of logs; see analyse.h. What runs tell of each other is in pool.c,
 * intervals are in resample.c, slow runs in slow.c. */
#include "core/blocks/analyse_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double block_range_ns(enum block_range kind, double frequency, double min_ns, double max_ns)
{
	double once = fmax(0, max_ns - min_ns);

	return kind == BLOCK_RANGE_RUN ? frequency * once : once;
}

double block_nearness(const struct block_analysis *a, const struct block_result *r)
{
	return fmin(r->significance_ns, r->range_ns) / a->threshold_ns;
}

/* Runs */

static bool any_succeeded(const struct block_logs *l)
{
	for (size_t i = 0; i < l->n_runs; i++)
		if (l->runs[i].run.ended && !l->runs[i].run.status)
			return true;
	return false;
}

static int choose_runs(struct block_analysis *a)
{
	const struct block_logs *l = a->logs;
	/* A server is cut off by nature, so where no run has succeeded these are the runs. */
	bool succeeded = any_succeeded(l);
	struct names commands = {0};
	double sum = 0;
	int ret = 0;

	a->runs = calloc(l->n_runs + 1, sizeof(*a->runs));
	a->commands = calloc(l->n_runs + 1, sizeof(*a->commands));
	a->failed = calloc(l->n_runs + 1, sizeof(*a->failed));
	if (!a->runs || !a->commands || !a->failed)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_runs && !ret; i++) {
		const struct block_read_run *r = &l->runs[i];

		if (!a->options.failed && (r->run.ended ? r->run.status != 0 : succeeded)) {
			a->failed[a->n_failed++] = r;
			continue;
		}
		a->has_cut |= !a->options.failed && !r->run.ended;
		a->runs[a->n_runs] = r;
		sum += (double)r->run.cpu_ns;
		ret = names_id(&commands, r->run.command, &a->commands[a->n_runs++]);
	}
	a->n_commands = commands.n;
	names_deinit(&commands);
	a->cpu_ns = a->n_runs ? sum / (double)a->n_runs : 0;
	a->threshold_ns = a->cpu_ns * a->options.threshold_pct / 100;
	return ret;
}

/* Entries by place */

static void average_by_samples(struct block_in_run *in, double cpu_ns)
{
	double average = in->frequency > 0 ? in->share * cpu_ns / in->frequency : 0;

	if (average <= 0 || (in->is_known && average >= BLOCK_CERTAIN_NS))
		return;
	in->is_sampled = true;
	in->time_ns = in->share * cpu_ns;
	in->avg_ns = average;
	in->min_ns = fmin(in->min_ns, average);
	in->max_ns = fmax(in->max_ns, average);
}

static struct block_in_run in_run_of(uint32_t run, const struct block_entry *e)
{
	struct block_in_run ret = {.run = run,
	    .timed = e->timed,
	    .frequency = e->frequency,
	    .frequency_se = e->frequency_se,
	    .told = e->frequency,
	    .is_known = e->frequency_se < BLOCK_UNKNOWN * e->frequency || e->frequency <= 0,
	    .share = e->share,
	    .min_ns = e->min_ns,
	    .avg_ns = e->avg_ns,
	    .max_ns = e->max_ns};

	if (!e->timed)
		ret.min_ns = ret.avg_ns = ret.max_ns = NAN;
	return ret;
}

/* Two places that are one where builds are mixed. */
static void merge_in_run(struct block_in_run *to, const struct block_in_run *from)
{
	double both = to->frequency + from->frequency;

	if (!to->timed)
		to->avg_ns = from->avg_ns;
	else if (from->timed && both > 0)
		to->avg_ns = (to->avg_ns * to->frequency + from->avg_ns * from->frequency) / both;
	to->min_ns = fmin(to->min_ns, from->min_ns);
	to->max_ns = fmax(to->max_ns, from->max_ns);
	to->frequency = to->told = both;
	to->frequency_se = hypot(to->frequency_se, from->frequency_se);
	to->is_known &= from->is_known;
	to->share = fmin(1, to->share + from->share);
	to->timed += from->timed;
}

/* The entries of runs that count, by place; @begin: by place, where its entries begin. */
struct by_place {
	size_t *begin;
	size_t *entries;
	uint32_t *runs;
};

static int sort_entries(const struct block_analysis *a, struct by_place *b)
{
	const struct block_logs *l = a->logs;

	b->begin = calloc(l->n_places + 2, sizeof(*b->begin));
	b->entries = malloc((l->n_entries + 1) * sizeof(*b->entries));
	b->runs = malloc((l->n_entries + 1) * sizeof(*b->runs));
	if (!b->begin || !b->entries || !b->runs)
		return -ENOMEM;
	/* begin[p + 2] counts place p; then begin[p + 1] is where its next one goes, and at last
	 * where the next place begins. */
	for (size_t i = 0; i < a->n_runs; i++)
		for (size_t j = 0; j < a->runs[i]->n; j++)
			b->begin[l->entries[a->runs[i]->first + j].place + 2]++;
	for (size_t i = 2; i < l->n_places + 2; i++)
		b->begin[i] += b->begin[i - 1];
	for (size_t i = 0; i < a->n_runs; i++) {
		for (size_t j = a->runs[i]->first; j < a->runs[i]->first + a->runs[i]->n; j++) {
			size_t at = b->begin[l->entries[j].place + 1]++;

			b->entries[at] = j;
			b->runs[at] = (uint32_t)i;
		}
	}
	return 0;
}

/* Times of all executions */

struct histogram {
	double cells[BLOCK_CELLS];
	double total;
};

/* Runs weigh as much as they executed the block, whatever part of that was timed. */
static void add_cells(
    struct histogram *h, const struct block_logs *l, const struct block_entry *entry)
{
	double weight = entry->timed ? entry->frequency / (double)entry->timed : 0;

	for (size_t i = 0; i < entry->n_cells; i++) {
		const struct block_cell *c = &l->cells[entry->first_cell + i];

		h->cells[c->index] += weight * c->count;
		h->total += weight * c->count;
	}
}

/* The part of a cell in which times were seen. */
static void cell_ends(const struct block_result *r, unsigned cell, double *lo, double *hi)
{
	*lo = fmax((double)block_cell_ns(cell), r->min_ns);
	*hi = fmax(*lo, fmin((double)block_cell_ns(cell + 1), r->max_ns));
	if (cell == BLOCK_CELLS - 1)
		*hi = fmax(*lo, r->max_ns);
}

static double quantile(const struct histogram *h, const struct block_result *r, double q)
{
	double left = q * h->total, lo = r->max_ns, hi;

	for (unsigned i = 0; i < BLOCK_CELLS; i++) {
		if (h->cells[i] <= 0 || left > h->cells[i]) {
			left -= h->cells[i];
			continue;
		}
		cell_ends(r, i, &lo, &hi);
		return lo + (hi - lo) * left / h->cells[i];
	}
	return lo;
}

/* Cells are a quarter wide, so the mean by cells may be wrong by some percent, and quantiles alike:
 * both are scaled by the mean that was measured. */
static void fill_quantiles(struct block_result *r, const struct histogram *h)
{
	static const double at[BLOCK_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};
	double sum = 0, lo, hi, scale;

	for (unsigned i = 0; i < BLOCK_CELLS; i++) {
		cell_ends(r, i, &lo, &hi);
		sum += h->cells[i] * (lo + hi) / 2;
	}
	scale = sum > 0 ? r->mean_ns * h->total / sum : NAN;
	for (unsigned i = 0; i < BLOCK_QUANTILES; i++)
		r->quantiles[i] = fmin(fmax(quantile(h, r, at[i]) * scale, r->min_ns), r->max_ns);
	r->typical_ns = r->quantiles[2];
}

/* Results */

static void aggregate(struct block_result *r, const struct block_analysis *a)
{
	double executed = 0, time = 0, share = 0, timed_executed = 0;

	r->is_counted = true;
	r->min_ns = r->avg_ns = r->max_ns = NAN;
	for (uint32_t i = 0; i < r->n_in; i++) {
		const struct block_in_run *in = &r->in[i];

		r->frequency = fmax(r->frequency, in->frequency);
		r->min_ns = fmin(r->min_ns, in->min_ns);
		r->avg_ns = fmax(r->avg_ns, in->avg_ns);
		r->max_ns = fmax(r->max_ns, in->max_ns);
		r->is_known |= in->is_known;
		r->is_counted &= in->frequency_se == 0;
		r->is_sampled |= in->is_sampled;
		r->timed += in->timed;
		share += in->share;
		executed += in->frequency;
		if (in->timed) {
			timed_executed += in->frequency;
			time += in->frequency * in->avg_ns;
		}
	}
	r->share = share / (double)a->n_runs;
	r->mean_ns = timed_executed > 0 ? time / timed_executed : r->avg_ns;
	r->run_ns = timed_executed > 0 ? time * (executed / timed_executed) / (double)a->n_runs
		    : r->timed         ? 0
				       : NAN;
}

static void judge(struct block_result *r, const struct block_analysis *a, const struct histogram *h)
{
	const struct block_analysis_options *o = &a->options;

	r->typical_ns = r->cost_ns = r->significance_ns = r->range_ns = NAN;
	r->significance = r->range = (struct block_interval){NAN, NAN};
	for (unsigned i = 0; i < BLOCK_QUANTILES; i++)
		r->quantiles[i] = NAN;
	if (!r->timed)
		return;
	r->significance_ns = r->frequency * r->avg_ns;
	r->range_ns = block_range_ns(o->range, r->frequency, r->min_ns, r->max_ns);
	if (h->total > 0 && !r->is_sampled) {
		fill_quantiles(r, h);
		r->cost_ns =
		    r->mean_ns > 0 ? fmax(0, r->run_ns * (1 - r->typical_ns / r->mean_ns)) : 0;
	}
	r->is_reported = a->threshold_ns > 0 && block_nearness(a, r) >= 1;
}

static int make_result(struct block_analysis *a, uint32_t place, const struct by_place *b,
    size_t *n_in_runs, struct block_result *ret)
{
	const struct block_logs *l = a->logs;
	struct block_in_run *in = a->in_runs + *n_in_runs;
	struct block_result r = {.place = &l->places[place], .in = in};
	struct histogram h = {0};

	for (size_t i = b->begin[place]; i < b->begin[place + 1]; i++) {
		const struct block_entry *entry = &l->entries[b->entries[i]];
		struct block_in_run one = in_run_of(b->runs[i], entry);

		add_cells(&h, l, entry);
		if (r.n_in && in[r.n_in - 1].run == one.run)
			merge_in_run(&in[r.n_in - 1], &one);
		else
			in[r.n_in++] = one;
	}
	*n_in_runs += r.n_in;
	if (block_pool_runs(a, in, r.n_in))
		return -ENOMEM;
	for (uint32_t i = 0; i < r.n_in; i++) {
		in[i].time_ns = in[i].told * in[i].avg_ns;
		if (in[i].timed)
			average_by_samples(&in[i], (double)a->runs[in[i].run]->run.cpu_ns);
	}
	aggregate(&r, a);
	judge(&r, a, &h);
	*ret = r;
	return 0;
}

static double key_of(const struct block_result *r)
{
	return r->timed ? r->significance_ns : r->share - 1;
}

static int compare_results(const void *a, const void *b)
{
	const struct block_result *x = a, *y = b;
	double kx = key_of(x), ky = key_of(y);

	if (x->is_reported != y->is_reported)
		return x->is_reported ? -1 : 1;
	if (kx != ky)
		return kx > ky ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int make_results(struct block_analysis *a, const struct by_place *b)
{
	const struct block_logs *l = a->logs;
	size_t n_in_runs = 0;

	a->results = calloc(l->n_places + 1, sizeof(*a->results));
	a->in_runs = malloc((b->begin[l->n_places] + 1) * sizeof(*a->in_runs));
	if (!a->results || !a->in_runs)
		return -ENOMEM;
	for (uint32_t p = 0; p < l->n_places; p++) {
		if (b->begin[p] == b->begin[p + 1])
			continue;
		if (make_result(a, p, b, &n_in_runs, &a->results[a->n_results]))
			return -ENOMEM;
		a->n_results++;
	}
	qsort(a->results, a->n_results, sizeof(*a->results), compare_results);
	for (size_t i = 0; i < a->n_results; i++) {
		const struct block_result *r = &a->results[i];

		a->n_reported += r->is_reported;
		a->n_timed += r->timed > 0;
		if (r->timed && a->threshold_ns > 0 &&
		    (!a->nearest || block_nearness(a, r) > block_nearness(a, a->nearest)))
			a->nearest = r;
	}
	return 0;
}

int block_analyse(
    const struct block_logs *l, const struct block_analysis_options *o, struct block_analysis *a)
{
	struct by_place b = {0};
	int ret;

	*a = (struct block_analysis){.logs = l, .options = *o};
	ret = choose_runs(a);
	if (!ret)
		ret = sort_entries(a, &b);
	if (!ret)
		ret = make_results(a, &b);
	free(b.begin);
	free(b.entries);
	free(b.runs);
	for (size_t i = 0; !ret && i < a->n_reported && i < BLOCK_INTERVALS; i++)
		ret = block_resample(a, &a->results[i]);
	for (size_t i = 0; !ret && i < a->n_reported && i < BLOCK_DETAILED; i++)
		ret = block_find_slow(a, &a->results[i]);
	if (ret)
		block_analysis_deinit(a);
	return ret;
}

void block_analysis_deinit(struct block_analysis *a)
{
	for (size_t i = 0; i < a->n_results; i++) {
		free(a->results[i].slow.runs);
		free(a->results[i].slow.differences);
		free(a->results[i].slow.inputs);
	}
	free(a->runs);
	free(a->commands);
	free(a->failed);
	free(a->results);
	free(a->in_runs);
	memset(a, 0, sizeof(*a));
}

/* Values */

static double rounded(double v)
{
	double unit = v >= 100 ? pow(10, floor(log10(v)) - 1) : 1;

	return round(v / unit) * unit;
}

static double value_of(const struct block_in_run *in, enum block_figure figure)
{
	switch (figure) {
	case FIGURE_FREQUENCY:
		return in->frequency_se > 0 ? rounded(in->frequency) : in->frequency;
	case FIGURE_MIN:
		return rounded(in->min_ns);
	case FIGURE_AVERAGE:
		return rounded(in->avg_ns);
	default:
		return rounded(in->max_ns);
	}
}

static int compare_values(const void *a, const void *b)
{
	const struct block_value *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

size_t block_values(const struct block_result *r, enum block_figure figure, struct block_value *ret)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < r->n_in; i++) {
		double value = value_of(&r->in[i], figure);

		if (!isnan(value))
			ret[n++] = (struct block_value){value, 1};
	}
	qsort(ret, n, sizeof(*ret), compare_values);
	for (size_t i = 0; i < n; i++) {
		if (kept && ret[kept - 1].value == ret[i].value)
			ret[kept - 1].runs++;
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

/* of a block's time: less may be the width of its histogram's cells */
#define LEAST_GAIN 0.05

static struct block_leader leader(const struct block_analysis *a, const struct block_result *r)
{
	return (struct block_leader){.place = r->place,
	    .mean_ns = r->mean_ns,
	    .typical_ns = r->typical_ns,
	    .cost_ns = r->cost_ns,
	    .is_elsewhere = strcmp(r->place->object, a->runs[r->in[0].run]->session.program) != 0};
}

size_t blocks_leading(const struct block_analysis *a, struct block_leader *ret, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n_reported && kept < n; i++) {
		const struct block_result *r = &a->results[i];

		if (r->cost_ns > 0 && r->cost_ns >= LEAST_GAIN * r->run_ns)
			ret[kept++] = leader(a, r);
	}
	return kept;
}
