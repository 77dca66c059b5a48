// SPDX-License-Identifier: BSD-3-Clause
/* The report as one JSON object. Scripts depend on it, so additions need a good reason. */
#include "report/json_machines.h"
#include "report/jsontext.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "core/places/waits.h"
#include "core/estimate/contradiction.h"
#include "core/estimate/interaction.h"
#include "core/places/linemap.h"
#include "core/profile/counters.h"
#include "core/profile/wait_fields.h"

static cJSON *interval(double lo, double hi)
{
	cJSON *ret = cJSON_CreateArray();

	if (ret && cJSON_AddItemToArray(ret, json_figure(lo)) &&
	    cJSON_AddItemToArray(ret, json_figure(hi)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* Times in ns: a tenth of a ns is noise. */
static cJSON *nanoseconds(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(round(v)) : cJSON_CreateNull();
}

static bool add_figure(
    cJSON *object, const char *key, const char *interval_key, const struct latency_figure *f)
{
	cJSON *ends = cJSON_CreateArray();

	if (!ends || !cJSON_AddItemToArray(ends, nanoseconds(f->lo)) ||
	    !cJSON_AddItemToArray(ends, nanoseconds(f->hi))) {
		cJSON_Delete(ends);
		return false;
	}
	return json_add(object, key, nanoseconds(f->value)) && json_add(object, interval_key, ends);
}

static bool add_figures(cJSON *object, const struct latency_figures *f)
{
	return add_figure(object, "mean", "mean_ci", &f->mean) &&
	       add_figure(object, "p50", "p50_ci", &f->p50) &&
	       add_figure(object, "p90", "p90_ci", &f->p90) &&
	       add_figure(object, "p99", "p99_ci", &f->p99) &&
	       json_add(object, "pairs_mean", nanoseconds(f->pairs_mean)) &&
	       json_add(object, "pairs", json_figure((double)f->pairs));
}

static cJSON *figures(const struct latency_figures *f)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add_figures(ret, f))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *point(const struct estimate_point *p, const struct latency_figures *latency)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "line_speedup", json_figure(p->line_speedup)) &&
	    json_add(ret, "program_speedup", json_figure(p->program_speedup)) &&
	    json_add(ret, "raw_program_speedup", json_figure(p->raw_program_speedup)) &&
	    json_add(ret, "ci", interval(p->ci_lo, p->ci_hi)) &&
	    json_add(ret, "experiments", json_figure((double)p->experiments)) &&
	    json_add(ret, "visits", json_figure((double)p->visits)) &&
	    (!latency || add_figures(ret, latency)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *points(const struct estimate_line *l)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < l->n_points; i++) {
		cJSON *item = point(&l->points[i], l->latencies ? &l->latencies[1 + i] : NULL);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

/* Where the profile has waits: its share of all of them, or of all that was executed. */
static bool add_share(cJSON *object, const struct estimate *e, const struct estimate_line *l)
{
	size_t length;

	if (!e->waiting.off)
		return true;
	if (wait_of_unit(l->line, &length) >= 0)
		return json_add(
		    object, "off_cpu", json_figure(waiting_share(l->samples, e->waiting.off)));
	return json_add(object, "on_cpu", json_figure(waiting_share(l->samples, e->waiting.on)));
}

/* In which system calls a unit of waits is. */
static cJSON *calls(const struct wait_calls *w)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < w->n; i++) {
		cJSON *item = cJSON_CreateObject();

		if (item && json_add(item, "call", json_text(w->v[i].name)) &&
		    json_add(item, "share", json_figure(wait_calls_share(w, i))) &&
		    cJSON_AddItemToArray(ret, item))
			continue;
		cJSON_Delete(item);
		cJSON_Delete(ret);
		return NULL;
	}
	return ret;
}

static cJSON *line(const struct estimate *e, const struct estimate_line *l)
{
	cJSON *ret = cJSON_CreateObject();
	size_t length;
	int wait = l->is_couple ? -1 : wait_of_unit(l->line, &length);

	if (ret && json_add(ret, "line", json_text(l->line)) &&
	    (!l->function || json_add(ret, "function", json_text(l->function))) &&
	    (wait < 0 || json_add(ret, "wait", cJSON_CreateString(wait_name((unsigned)wait)))) &&
	    (!l->calls || json_add(ret, "calls", calls(l->calls))) && add_share(ret, e, l) &&
	    json_add(ret, "progress", json_text(l->progress)) &&
	    json_add(ret, "kind", cJSON_CreateString(l->is_latency ? "latency" : "throughput")) &&
	    json_add(ret, "slope", json_figure(l->slope)) &&
	    json_add(ret, "slope_ci", interval(l->slope_lo, l->slope_hi)) &&
	    json_add(ret, "max_speedup", json_figure(l->max_speedup)) &&
	    json_add(ret, "verdict", cJSON_CreateString(verdict_name(l->verdict))) &&
	    (!l->latencies || json_add(ret, "baseline", figures(l->latencies))) &&
	    json_add(ret, "points", points(l)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *lines(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < e->n_lines; i++) {
		cJSON *item = line(e, &e->lines[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

/* A latency point as a whole: its present figures over all baselines, and the data behind them. */
static cJSON *latency(const struct estimate_latency *l)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "progress", json_text(l->name)) && add_figures(ret, &l->now) &&
	    json_add(ret, "in_flight", json_figure(l->in_flight)) &&
	    json_add(ret, "arrivals", json_figure((double)l->arrivals)) &&
	    json_add(ret, "departures", json_figure((double)l->departures)) &&
	    json_add(ret, "stable", cJSON_CreateBool(!(l->growth > 0))) &&
	    json_add(ret, "unmatched_ends", json_figure((double)l->unmatched)) &&
	    json_add(ret, "abandoned_begins", json_figure((double)l->abandoned)) &&
	    json_add(ret, "lost_begins", json_figure((double)l->lost)) &&
	    json_add(ret, "in_flight_before", json_figure((double)l->missing)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *latencies(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < e->n_latencies; i++) {
		cJSON *item = latency(&e->latencies[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

/* The counters that are shown so. */
static bool add_counters(cJSON *object, const struct run_record *totals, enum counter_shown shown)
{
	bool ret = true;

	for (size_t i = 0; ret && i < n_run_counters; i++) {
		const struct counter *c = &run_counters[i];

		if (c->shown == shown && c->json)
			ret = json_add(object, c->json,
			    json_figure(shown == COUNTER_SHARE ? counter_share(c, totals)
							       : (double)counter_value(c, totals)));
	}
	return ret;
}

static cJSON *summary(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "experiments", json_figure((double)e->experiments)) &&
	    json_add(ret, "samples", json_figure((double)e->samples)) &&
	    (!e->n_lines || source_line_is_inclusive(e->lines[0].line) ||
		json_add(ret, "decided", json_figure(estimate_decided_share(e, &e->lines[0])))) &&
	    add_counters(ret, &e->totals, COUNTER_LOSS) &&
	    json_add(ret, "runtime_s", json_figure(e->runtime_s)) &&
	    json_add(ret, "lines_dropped", json_figure((double)e->n_dropped)) &&
	    add_counters(ret, &e->totals, COUNTER_SHARE) &&
	    json_add(ret, "runs", json_figure((double)e->runs)) &&
	    json_add(ret, "builds", json_figure((double)e->builds)) &&
	    (!e->n_lines || !(e->lines[0].scatter > 0) ||
		(json_add(ret, "scatter", json_figure(e->lines[0].scatter)) &&
		    json_add(ret, "wider", json_figure(e->lines[0].wider)))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* Classes of waits without any are left out. */
static cJSON *classes(const uint64_t *classes, uint64_t all)
{
	cJSON *ret = cJSON_CreateObject();

	for (unsigned i = 0; ret && i < COZBPF_WAIT_CLASSES; i++) {
		if (!classes[i] ||
		    json_add(ret, wait_name(i), json_figure(waiting_share(classes[i], all))))
			continue;
		cJSON_Delete(ret);
		return NULL;
	}
	return ret;
}

static cJSON *waiting_line(const struct waiting *w, const struct waiting_line *l)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "line", json_text(l->line)) &&
	    json_add(ret, "on_cpu", json_figure(l->on_share)) &&
	    json_add(ret, "off_cpu", json_figure(l->off_share)) &&
	    (!l->off || json_add(ret, "waits", classes(l->classes, w->off))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* A line, or what is no line by its name; neither: a thread in no line in scope. */
static cJSON *waker(const struct waiting_unit *u, size_t i)
{
	const struct waiting_waker *w = &u->wakers[i];
	const char *name = waker_name(w->waker);
	cJSON *ret = cJSON_CreateObject();

	if (ret &&
	    (w->line ? json_add(ret, "line", json_text(w->line))
		     : json_add(ret, "waker", cJSON_CreateString(name ? name : "thread"))) &&
	    json_add(ret, "share", json_figure(waiting_share(w->count, u->woken))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *wakers(const struct waiting_unit *u)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < u->n; i++) {
		cJSON *item = waker(u, i);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

static cJSON *waiting_unit(const struct waiting *w, const struct waiting_unit *u)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "line", json_text(u->unit)) &&
	    json_add(ret, "off_cpu", json_figure(waiting_share(u->count, w->off))) &&
	    json_add(ret, "woken_by", wakers(u)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *waiting_lines_array(const struct waiting *w)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < w->n; i++) {
		cJSON *item = waiting_line(w, &w->lines[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

static cJSON *leading(const struct waiting *w)
{
	const struct waiting_unit *units[WAITING_UNITS];
	cJSON *ret = cJSON_CreateArray();
	size_t n = waiting_leading(w, units);

	for (size_t i = 0; ret && i < n; i++) {
		cJSON *item = waiting_unit(w, units[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

/* Shares of the whole are of the time of all threads, other ones of all executed or all waited. */
static cJSON *waiting(const struct waiting *w)
{
	double on = (double)w->on / ((double)w->on + (double)w->off);
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "on_cpu", json_figure(on)) &&
	    json_add(ret, "off_cpu", json_figure(1 - on)) &&
	    json_add(ret, "waits", classes(w->classes, w->off)) &&
	    json_add(ret, "lines", waiting_lines_array(w)) && json_add(ret, "leading", leading(w)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* NULL: out of memory. */
static cJSON *contradiction(const struct contradiction *c)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "line", json_text(c->worth->line)) &&
	    json_add(ret, "optimize", json_text(c->worth->progress)) &&
	    json_add(ret, "not", json_text(c->not_worth->progress)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static bool add_gain(cJSON *object, const char *key, const char *interval_key, const struct gain *g)
{
	return json_add(object, key, json_figure(g->value)) &&
	       json_add(object, interval_key, interval(g->lo, g->hi));
}

static const char *dependence_name(enum dependence d)
{
	static const char *const names[] = {"unknown", "more", "less"};

	return names[d];
}

static cJSON *couple_point(const struct interaction_point *p)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && json_add(ret, "line_speedup", json_figure(p->line_speedup)) &&
	    add_gain(ret, "first", "first_ci", &p->first) &&
	    add_gain(ret, "second", "second_ci", &p->second) &&
	    add_gain(ret, "both", "both_ci", &p->both) &&
	    add_gain(ret, "interaction", "interaction_ci", &p->interaction) &&
	    add_gain(ret, "worth", "worth_ci", &p->worth) &&
	    json_add(ret, "together", cJSON_CreateString(dependence_name(p->dependence))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *couple(const struct interaction *x)
{
	cJSON *ret = cJSON_CreateObject(), *points = cJSON_CreateArray();
	bool done = ret && points && json_add(ret, "line", json_text(x->both->line)) &&
		    json_add(ret, "first", json_text(x->first->line)) &&
		    json_add(ret, "second", json_text(x->second->line)) &&
		    json_add(ret, "progress", json_text(x->both->progress)) &&
		    json_add(ret, "kind",
			cJSON_CreateString(x->both->is_latency ? "latency" : "throughput"));

	for (size_t i = 0; done && i < x->n_points; i++) {
		cJSON *item = couple_point(&x->points[i]);

		done = item && cJSON_AddItemToArray(points, item);
		if (!done)
			cJSON_Delete(item);
	}
	if (done && json_add(ret, "points", points))
		return ret;
	if (!done)
		cJSON_Delete(points);
	cJSON_Delete(ret);
	return NULL;
}

/* NULL: out of memory. */
static cJSON *couples(const struct interactions *x)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < x->n; i++) {
		cJSON *item = couple(&x->items[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

int report_json(FILE *out, const struct estimate *e)
{
	cJSON *root = cJSON_CreateObject();
	struct interactions x = {0};
	struct contradiction c;
	char *text = NULL;

	if (root && !estimate_contradiction(e, &c) && !interactions_init(&x, e) &&
	    json_add(root, "schema", cJSON_CreateString("cozbpf-report/1")) &&
	    json_add(root, "summary", summary(e)) &&
	    (!e->n_latencies || json_add(root, "latencies", latencies(e))) &&
	    (!c.worth || json_add(root, "contradiction", contradiction(&c))) &&
	    (!e->waiting.off || json_add(root, "waiting", waiting(&e->waiting))) &&
	    (!x.n || json_add(root, "couples", couples(&x))) &&
	    (e->machines.n < 2 || json_add(root, "nodes", json_machines(&e->machines))) &&
	    json_add(root, "lines", lines(e)))
		text = cJSON_Print(root);
	interactions_deinit(&x);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_Delete(root);
	if (!text)
		return -1;
	cJSON_free(text);
	return ferror(out) ? -1 : 0;
}
