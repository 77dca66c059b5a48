// SPDX-License-Identifier: BSD-3-Clause
/* A comparison as one JSON object, schema cozbpf-compare/1. Speedups are fractions, times are in
 * ns, and unknown values are null. */
#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "core/profile/runs.h"
#include "report/compare.h"
#include "report/jsontext.h"

static bool add_figure(
    cJSON *object, const char *key, const char *interval_key, const struct compare_figure *f)
{
	cJSON *ends = cJSON_CreateArray();

	ends = json_whole(ends, ends && json_add(ends, NULL, json_figure(f->lo)) &&
				    json_add(ends, NULL, json_figure(f->hi)));
	return json_add(object, key, json_figure(f->value)) && json_add(object, interval_key, ends);
}

static cJSON *side(const char *name, const struct compare_side *s)
{
	cJSON *ret = cJSON_CreateObject();
	const struct estimate *e = s->estimate;
	const char *build = runs_only_build(s->profile);

	return json_whole(
	    ret, ret && json_add(ret, "file", json_text(name)) &&
		     json_add(ret, "experiments", json_figure((double)e->experiments)) &&
		     json_add(ret, "runs", json_figure((double)e->runs)) &&
		     json_add(ret, "builds", json_figure((double)e->builds)) &&
		     json_add(ret, "build", build ? json_text(build) : cJSON_CreateNull()));
}

static cJSON *rate(const struct compare_rate *r)
{
	cJSON *ret = cJSON_CreateObject();

	return json_whole(
	    ret, ret && json_add(ret, "period", json_figure(r->period)) &&
		     json_add(ret, "experiments", json_figure((double)r->experiments)) &&
		     json_add(ret, "visits", json_figure((double)r->visits)) &&
		     json_add(ret, "runs", json_figure((double)r->runs)));
}

static bool add_point(cJSON *object, const char *progress, bool is_latency)
{
	return json_add(object, "progress", json_text(progress)) &&
	       json_add(object, "kind", cJSON_CreateString(is_latency ? "latency" : "throughput"));
}

static cJSON *point(const struct compare_point *p)
{
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret, ret && add_point(ret, p->progress, p->is_latency) &&
				   json_add(ret, "before", rate(&p->before)) &&
				   json_add(ret, "after", rate(&p->after)) &&
				   add_figure(ret, "speedup", "speedup_ci", &p->speedup));
}

static cJSON *prediction(const struct compare_prediction *p)
{
	static const char *const sources[] = {"unknown", "point", "between", "slope"};
	static const struct compare_figure none = {NAN, NAN, NAN};
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret,
	    ret && json_add(ret, "line", json_text(p->line->line)) &&
		add_point(ret, p->line->progress, p->line->is_latency) &&
		add_figure(ret, "line_speedup", "line_speedup_ci", &p->at) &&
		json_add(ret, "source", json_text(sources[p->source])) &&
		add_figure(ret, "predicted", "predicted_ci", &p->predicted) &&
		add_figure(ret, "predicted_by_slope", "predicted_by_slope_ci", &p->by_slope) &&
		add_figure(ret, "measured", "measured_ci", p->point ? &p->point->speedup : &none) &&
		add_figure(ret, "difference", "difference_ci", &p->difference) &&
		json_add(
		    ret, "agreement", cJSON_CreateString(compare_agreement_name(p->agreement))));
}

static cJSON *rank(size_t r)
{
	return r ? cJSON_CreateNumber((double)r) : cJSON_CreateNull();
}

static cJSON *line(const struct compare_line *l)
{
	const struct estimate_line *any = l->before ? l->before : l->after;
	cJSON *ret = cJSON_CreateObject();

	return json_whole(ret,
	    ret && json_add(ret, "line", json_text(any->line)) &&
		add_point(ret, any->progress, any->is_latency) &&
		json_add(ret, "rank_before", rank(l->rank_before)) &&
		json_add(ret, "rank_after", rank(l->rank_after)) &&
		json_add(ret, "slope_before", json_figure(l->before ? l->before->slope : NAN)) &&
		json_add(ret, "slope_after", json_figure(l->after ? l->after->slope : NAN)) &&
		add_figure(ret, "slope_change", "slope_change_ci", &l->slope) &&
		json_add(ret, "change", cJSON_CreateString(compare_move_name(l->move))));
}

static bool fill(cJSON *points, cJSON *predictions, cJSON *lines, const struct comparison *c)
{
	bool ok = points && predictions && lines;

	for (size_t i = 0; ok && i < c->n_points; i++)
		ok = json_add(points, NULL, point(&c->points[i]));
	for (size_t i = 0; ok && i < c->n_predictions; i++)
		ok = json_add(predictions, NULL, prediction(&c->predictions[i]));
	for (size_t i = 0; ok && i < c->n_lines; i++)
		ok = json_add(lines, NULL, line(&c->lines[i]));
	return ok;
}

int compare_json(FILE *out, const struct compare_report *r)
{
	cJSON *root = cJSON_CreateObject(), *points = NULL, *predictions = NULL, *lines = NULL;
	char *text = NULL;

	if (root && json_add(root, "schema", cJSON_CreateString("cozbpf-compare/1")) &&
	    json_add(root, "before", side(r->before_name, r->before)) &&
	    json_add(root, "after", side(r->after_name, r->after))) {
		points = cJSON_AddArrayToObject(root, "progress");
		predictions = cJSON_AddArrayToObject(root, "predictions");
		lines = cJSON_AddArrayToObject(root, "lines");
	}
	if (fill(points, predictions, lines, r->comparison))
		text = cJSON_Print(root);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_Delete(root);
	if (!text)
		return -1;
	cJSON_free(text);
	return ferror(out) ? -1 : 0;
}
