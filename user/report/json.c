// SPDX-License-Identifier: BSD-3-Clause
/* The report as one JSON object. Scripts depend on it, so additions need a good reason. */
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

/* Six decimals: more are noise, and print differently from machine to machine. What was not
 * estimated is null. */
static cJSON *number(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(round(v * 1e6) / 1e6) : cJSON_CreateNull();
}

/* cJSON's adders accept NULL and then return false, so the report is complete or not made at
 * all. */
static bool add(cJSON *object, const char *key, cJSON *item)
{
	if (item && cJSON_AddItemToObject(object, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static cJSON *interval(double lo, double hi)
{
	cJSON *ret = cJSON_CreateArray();

	if (ret && cJSON_AddItemToArray(ret, number(lo)) && cJSON_AddItemToArray(ret, number(hi)))
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
	return add(object, key, nanoseconds(f->value)) && add(object, interval_key, ends);
}

static bool add_figures(cJSON *object, const struct latency_figures *f)
{
	return add_figure(object, "mean", "mean_ci", &f->mean) &&
	       add_figure(object, "p50", "p50_ci", &f->p50) &&
	       add_figure(object, "p90", "p90_ci", &f->p90) &&
	       add_figure(object, "p99", "p99_ci", &f->p99) &&
	       add(object, "pairs_mean", nanoseconds(f->pairs_mean)) &&
	       add(object, "pairs", number((double)f->pairs));
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

	if (ret && add(ret, "line_speedup", number(p->line_speedup)) &&
	    add(ret, "program_speedup", number(p->program_speedup)) &&
	    add(ret, "raw_program_speedup", number(p->raw_program_speedup)) &&
	    add(ret, "ci", interval(p->ci_lo, p->ci_hi)) &&
	    add(ret, "experiments", number((double)p->experiments)) &&
	    add(ret, "visits", number((double)p->visits)) &&
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
		return add(object, "off_cpu", number(waiting_share(l->samples, e->waiting.off)));
	return add(object, "on_cpu", number(waiting_share(l->samples, e->waiting.on)));
}

/* In which system calls a unit of waits is. */
static cJSON *calls(const struct wait_calls *w)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < w->n; i++) {
		cJSON *item = cJSON_CreateObject();

		if (item && add(item, "call", json_text(w->v[i].name)) &&
		    add(item, "share", number(wait_calls_share(w, i))) &&
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

	if (ret && add(ret, "line", json_text(l->line)) &&
	    (!l->function || add(ret, "function", json_text(l->function))) &&
	    (wait < 0 || add(ret, "wait", cJSON_CreateString(wait_name((unsigned)wait)))) &&
	    (!l->calls || add(ret, "calls", calls(l->calls))) && add_share(ret, e, l) &&
	    add(ret, "progress", json_text(l->progress)) &&
	    add(ret, "kind", cJSON_CreateString(l->is_latency ? "latency" : "throughput")) &&
	    add(ret, "slope", number(l->slope)) &&
	    add(ret, "slope_ci", interval(l->slope_lo, l->slope_hi)) &&
	    add(ret, "max_speedup", number(l->max_speedup)) &&
	    add(ret, "verdict", cJSON_CreateString(verdict_name(l->verdict))) &&
	    (!l->latencies || add(ret, "baseline", figures(l->latencies))) &&
	    add(ret, "points", points(l)))
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

	if (ret && add(ret, "progress", json_text(l->name)) && add_figures(ret, &l->now) &&
	    add(ret, "in_flight", number(l->in_flight)) &&
	    add(ret, "arrivals", number((double)l->arrivals)) &&
	    add(ret, "departures", number((double)l->departures)) &&
	    add(ret, "stable", cJSON_CreateBool(!(l->growth > 0))) &&
	    add(ret, "unmatched_ends", number((double)l->unmatched)) &&
	    add(ret, "abandoned_begins", number((double)l->abandoned)) &&
	    add(ret, "lost_begins", number((double)l->lost)) &&
	    add(ret, "in_flight_before", number((double)l->missing)))
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
			ret = add(object, c->json,
			    number(shown == COUNTER_SHARE ? counter_share(c, totals)
							  : (double)counter_value(c, totals)));
	}
	return ret;
}

static cJSON *summary(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "experiments", number((double)e->experiments)) &&
	    add(ret, "samples", number((double)e->samples)) &&
	    (!e->n_lines || source_line_is_inclusive(e->lines[0].line) ||
		add(ret, "decided", number(estimate_decided_share(e, &e->lines[0])))) &&
	    add_counters(ret, &e->totals, COUNTER_LOSS) &&
	    add(ret, "runtime_s", number(e->runtime_s)) &&
	    add(ret, "lines_dropped", number((double)e->n_dropped)) &&
	    add_counters(ret, &e->totals, COUNTER_SHARE) &&
	    add(ret, "runs", number((double)e->runs)) &&
	    add(ret, "builds", number((double)e->builds)) &&
	    (!e->n_lines || !(e->lines[0].scatter > 0) ||
		(add(ret, "scatter", number(e->lines[0].scatter)) &&
		    add(ret, "wider", number(e->lines[0].wider)))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* Classes of waits without any are left out. */
static cJSON *classes(const uint64_t *classes, uint64_t all)
{
	cJSON *ret = cJSON_CreateObject();

	for (unsigned i = 0; ret && i < COZBPF_WAIT_CLASSES; i++) {
		if (!classes[i] || add(ret, wait_name(i), number(waiting_share(classes[i], all))))
			continue;
		cJSON_Delete(ret);
		return NULL;
	}
	return ret;
}

static cJSON *waiting_line(const struct waiting *w, const struct waiting_line *l)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "line", json_text(l->line)) &&
	    add(ret, "on_cpu", number(l->on_share)) && add(ret, "off_cpu", number(l->off_share)) &&
	    (!l->off || add(ret, "waits", classes(l->classes, w->off))))
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
	    (w->line ? add(ret, "line", json_text(w->line))
		     : add(ret, "waker", cJSON_CreateString(name ? name : "thread"))) &&
	    add(ret, "share", number(waiting_share(w->count, u->woken))))
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

	if (ret && add(ret, "line", json_text(u->unit)) &&
	    add(ret, "off_cpu", number(waiting_share(u->count, w->off))) &&
	    add(ret, "woken_by", wakers(u)))
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

	if (ret && add(ret, "on_cpu", number(on)) && add(ret, "off_cpu", number(1 - on)) &&
	    add(ret, "waits", classes(w->classes, w->off)) &&
	    add(ret, "lines", waiting_lines_array(w)) && add(ret, "leading", leading(w)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

/* NULL: out of memory. */
static cJSON *contradiction(const struct contradiction *c)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "line", json_text(c->worth->line)) &&
	    add(ret, "optimize", json_text(c->worth->progress)) &&
	    add(ret, "not", json_text(c->not_worth->progress)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static bool add_gain(cJSON *object, const char *key, const char *interval_key, const struct gain *g)
{
	return add(object, key, number(g->value)) &&
	       add(object, interval_key, interval(g->lo, g->hi));
}

static const char *dependence_name(enum dependence d)
{
	static const char *const names[] = {"unknown", "more", "less"};

	return names[d];
}

static cJSON *couple_point(const struct interaction_point *p)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "line_speedup", number(p->line_speedup)) &&
	    add_gain(ret, "first", "first_ci", &p->first) &&
	    add_gain(ret, "second", "second_ci", &p->second) &&
	    add_gain(ret, "both", "both_ci", &p->both) &&
	    add_gain(ret, "interaction", "interaction_ci", &p->interaction) &&
	    add_gain(ret, "worth", "worth_ci", &p->worth) &&
	    add(ret, "together", cJSON_CreateString(dependence_name(p->dependence))))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *couple(const struct interaction *x)
{
	cJSON *ret = cJSON_CreateObject(), *points = cJSON_CreateArray();
	bool done =
	    ret && points && add(ret, "line", json_text(x->both->line)) &&
	    add(ret, "first", json_text(x->first->line)) &&
	    add(ret, "second", json_text(x->second->line)) &&
	    add(ret, "progress", json_text(x->both->progress)) &&
	    add(ret, "kind", cJSON_CreateString(x->both->is_latency ? "latency" : "throughput"));

	for (size_t i = 0; done && i < x->n_points; i++) {
		cJSON *item = couple_point(&x->points[i]);

		done = item && cJSON_AddItemToArray(points, item);
		if (!done)
			cJSON_Delete(item);
	}
	if (done && add(ret, "points", points))
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
	    add(root, "schema", cJSON_CreateString("cozbpf-report/1")) &&
	    add(root, "summary", summary(e)) &&
	    (!e->n_latencies || add(root, "latencies", latencies(e))) &&
	    (!c.worth || add(root, "contradiction", contradiction(&c))) &&
	    (!e->waiting.off || add(root, "waiting", waiting(&e->waiting))) &&
	    (!x.n || add(root, "couples", couples(&x))) && add(root, "lines", lines(e)))
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
