// SPDX-License-Identifier: BSD-3-Clause
/* An analysis of blocks as one JSON object, schema cozbpf-blocks/1. Times are in ns, shares and
 * chances are fractions, unknown values are null. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "report/blocks.h"
#include "report/jsontext.h"

static bool add_number(cJSON *object, const char *key, double v)
{
	return json_add(object, key, json_figure(v));
}

static bool add_count(cJSON *object, const char *key, uint64_t v)
{
	return json_add(object, key, json_integer(v));
}

static cJSON *numbers(const double *v, size_t n)
{
	cJSON *ret = cJSON_CreateArray();
	bool ok = ret;

	for (size_t i = 0; ok && i < n; i++)
		ok = json_add(ret, NULL, json_figure(v[i]));
	return json_whole(ret, ok);
}

static bool add_interval(cJSON *object, const char *key, const struct block_interval *i)
{
	return json_add(object, key, numbers((const double[]){i->lo, i->hi}, 2));
}

static cJSON *run(const struct block_analysis *a, const struct block_read_run *r, bool counts)
{
	const struct block_run *x = &r->run;
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret, ret && json_add(ret, "log", json_text(a->logs->logs[r->log])) &&
				   add_count(ret, "number", x->number) &&
				   json_add(ret, "counts", cJSON_CreateBool(counts)) &&
				   json_add(ret, "command", json_text(x->command)) &&
				   add_number(ret, "status", x->status) &&
				   json_add(ret, "ended", cJSON_CreateBool(x->ended)) &&
				   add_count(ret, "started_ns", x->started_ns) &&
				   add_count(ret, "wall_ns", x->wall_ns) &&
				   add_count(ret, "cpu_ns", x->cpu_ns) &&
				   add_count(ret, "probed_ns", x->probed_ns) &&
				   add_count(ret, "paused_ns", x->paused_ns) &&
				   add_count(ret, "blocked_ns", x->blocked_ns) &&
				   add_count(ret, "runnable_ns", x->runnable_ns) &&
				   add_count(ret, "switches", x->switches) &&
				   add_count(ret, "preemptions", x->preemptions) &&
				   add_count(ret, "migrations", x->migrations) &&
				   add_count(ret, "minor_faults", x->minor_faults) &&
				   add_count(ret, "major_faults", x->major_faults) &&
				   json_add(ret, "program", json_text(r->session.program)) &&
				   json_add(ret, "build_id", json_text(r->session.build_id)) &&
				   add_count(ret, "perturb_pct", r->session.perturb_pct) &&
				   add_count(ret, "seed", r->session.seed));
}

static bool add_place(cJSON *o, const struct block_place *p)
{
	return json_add(o, "object", json_text(p->object)) &&
	       json_add(o, "build_id", json_text(p->build_id)) &&
	       json_add(o, "function", json_text(p->function)) &&
	       add_count(o, "offset", p->offset) && add_count(o, "start", p->start) &&
	       add_count(o, "end", p->end) &&
	       json_add(o, "lines", *p->lines ? json_text(p->lines) : cJSON_CreateNull()) &&
	       json_add(o, "calls", cJSON_CreateBool(p->calls));
}

/* [[value, runs], ...] for each figure */
static cJSON *values(const struct block_result *r)
{
	static const char *const keys[] = {"frequency", "min_ns", "avg_ns", "max_ns"};
	struct block_value *v = calloc(r->n_in + 1, sizeof(*v));
	cJSON *ret = cJSON_CreateObject();
	bool ok = ret && v;

	for (int i = 0; ok && i < N_FIGURES; i++) {
		size_t n = block_values(r, (enum block_figure)i, v);
		cJSON *list = cJSON_AddArrayToObject(ret, keys[i]);

		ok = list;
		for (size_t j = 0; ok && j < n; j++)
			ok = json_add(
			    list, NULL, numbers((const double[]){v[j].value, v[j].runs}, 2));
	}
	free(v);
	return json_whole(ret, ok);
}

/* A block in each run that executed it. */
static cJSON *in_runs(const struct block_result *r)
{
	cJSON *ret = cJSON_CreateArray();
	bool ok = ret;

	for (uint32_t i = 0; ok && i < r->n_in; i++) {
		const struct block_in_run *in = &r->in[i];
		cJSON *one = cJSON_CreateObject();

		ok = json_add(ret, NULL,
		    json_whole(one, one && add_count(one, "run", in->run) &&
					add_number(one, "frequency", in->frequency) &&
					add_number(one, "frequency_se", in->frequency_se) &&
					add_count(one, "timed", in->timed) &&
					add_number(one, "min_ns", in->min_ns) &&
					add_number(one, "avg_ns", in->avg_ns) &&
					add_number(one, "max_ns", in->max_ns)));
	}
	return json_whole(ret, ok);
}

static cJSON *difference(const struct block_difference *d)
{
	static const char *const names[] = {"blocked_ns", "runnable_ns", "switches", "preemptions",
	    "migrations", "minor_faults", "major_faults", "block_frequency"};
	cJSON *ret = cJSON_CreateObject(), *other;
	bool ok = ret && json_add(ret, "what", cJSON_CreateString(names[d->feature]));

	if (ok && d->other) {
		other = cJSON_CreateObject();
		ok = json_add(ret, "block", json_whole(other, other && add_place(other, d->other)));
	}
	return json_whole(ret,
	    ok && add_number(ret, "slow", d->slow) && add_number(ret, "usual", d->usual) &&
		add_number(ret, "distance", d->distance) && add_number(ret, "chance", d->chance));
}

static cJSON *input(const struct block_input *i)
{
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret, ret && json_add(ret, "command", json_text(i->command)) &&
				   add_count(ret, "slow", i->slow) &&
				   add_count(ret, "runs", i->runs));
}

static cJSON *slow(const struct block_slow *s)
{
	cJSON *ret = cJSON_CreateObject(), *list;
	bool ok = ret;

	list = ok ? cJSON_AddArrayToObject(ret, "runs") : NULL;
	ok = list;
	for (size_t i = 0; ok && i < s->n; i++)
		ok = json_add(list, NULL, cJSON_CreateNumber(s->runs[i]));
	list = ok ? cJSON_AddArrayToObject(ret, "differences") : NULL;
	ok = list;
	for (size_t i = 0; ok && i < s->n_differences; i++)
		ok = json_add(list, NULL, difference(&s->differences[i]));
	list = ok ? cJSON_AddArrayToObject(ret, "inputs") : NULL;
	ok = list;
	for (size_t i = 0; ok && i < s->n_inputs; i++)
		ok = json_add(list, NULL, input(&s->inputs[i]));
	return json_whole(ret, ok && json_add(ret, "too_few_runs", cJSON_CreateBool(s->too_few)));
}

static cJSON *block(const struct block_analysis *a, const struct block_result *r)
{
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret,
	    ret && add_place(ret, r->place) &&
		json_add(ret, "reported", cJSON_CreateBool(r->is_reported)) &&
		add_count(ret, "runs", r->n_in) &&
		add_number(ret, "probability", (double)r->n_in / (double)a->n_runs) &&
		add_number(ret, "frequency", r->frequency) &&
		json_add(ret, "known", cJSON_CreateBool(r->is_known)) &&
		json_add(ret, "counted", cJSON_CreateBool(r->is_counted)) &&
		add_number(ret, "min_ns", r->min_ns) && add_number(ret, "avg_ns", r->avg_ns) &&
		add_number(ret, "max_ns", r->max_ns) && add_count(ret, "timed", r->timed) &&
		json_add(ret, "average_by_samples", cJSON_CreateBool(r->is_sampled)) &&
		add_number(ret, "mean_ns", r->mean_ns) &&
		add_number(ret, "typical_ns", r->typical_ns) &&
		json_add(ret, "quantiles_ns", numbers(r->quantiles, BLOCK_QUANTILES)) &&
		add_number(ret, "samples_share", r->share) &&
		add_number(ret, "significance_ns", r->significance_ns) &&
		add_interval(ret, "significance_ci", &r->significance) &&
		add_number(ret, "range_ns", r->range_ns) &&
		add_interval(ret, "range_ci", &r->range) && add_number(ret, "run_ns", r->run_ns) &&
		add_number(ret, "cost_ns", r->cost_ns) && json_add(ret, "values", values(r)) &&
		json_add(ret, "in_runs", in_runs(r)) && json_add(ret, "slow", slow(&r->slow)));
}

static bool add_head(cJSON *root, const struct block_analysis *a)
{
	const struct block_logs *l = a->logs;
	const struct block_analysis_options *o = &a->options;
	cJSON *logs = cJSON_AddArrayToObject(root, "logs"), *damage = cJSON_CreateObject();
	bool ok = logs;

	for (size_t i = 0; ok && i < l->n_logs; i++)
		ok = json_add(logs, NULL, json_text(l->logs[i]));
	damage = json_whole(damage, damage && ok && add_count(damage, "parts", l->n_damaged) &&
					add_count(damage, "first_line", l->damaged_line) &&
					add_count(damage, "nameless", l->n_nameless));
	return json_add(root, "damaged", damage) && add_count(root, "twins", l->n_twins) &&
	       add_number(root, "cpu_ns", a->cpu_ns) &&
	       add_number(root, "threshold_pct", o->threshold_pct) &&
	       add_number(root, "threshold_ns", a->threshold_ns) &&
	       json_add(root, "range",
		   cJSON_CreateString(o->range == BLOCK_RANGE_RUN ? "run" : "once")) &&
	       add_count(root, "seed", o->seed) && add_count(root, "watched", a->n_results) &&
	       add_count(root, "timed", a->n_timed) && add_count(root, "reported", a->n_reported);
}

static bool fill(cJSON *root, const struct blocks_report *r)
{
	const struct block_analysis *a = r->analysis;
	bool ok =
	    json_add(root, "schema", cJSON_CreateString("cozbpf-blocks/1")) && add_head(root, a);
	cJSON *runs = ok ? cJSON_AddArrayToObject(root, "runs") : NULL, *failed, *blocks;

	failed = runs ? cJSON_AddArrayToObject(root, "failed") : NULL;
	blocks = failed ? cJSON_AddArrayToObject(root, "blocks") : NULL;
	ok = blocks;
	for (size_t i = 0; ok && i < a->n_runs; i++)
		ok = json_add(runs, NULL, run(a, a->runs[i], true));
	for (size_t i = 0; ok && i < a->n_failed; i++)
		ok = json_add(failed, NULL, run(a, a->failed[i], false));
	for (size_t i = 0; ok && i < blocks_shown(r); i++)
		ok = json_add(blocks, NULL, block(a, &a->results[i]));
	return ok;
}

int blocks_json(FILE *out, const struct blocks_report *r)
{
	cJSON *root = cJSON_CreateObject();
	char *text = root && fill(root, r) ? cJSON_Print(root) : NULL;

	cJSON_Delete(root);
	if (!text)
		return -ENOMEM;
	fprintf(out, "%s\n", text);
	cJSON_free(text);
	return ferror(out) ? -1 : 0;
}
