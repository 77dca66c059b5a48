// SPDX-License-Identifier: BSD-3-Clause
/* The report as one JSON object (design.md section 11): a contract that scripts depend on. Nothing is added to it here lightly. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

/* Six decimals: more are noise, and print differently from machine to machine. What was not estimated is null. */
static cJSON *number(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(round(v * 1e6) / 1e6) : cJSON_CreateNull();
}

/* cJSON's adders accept NULL and then return false; a report is built whole or not at all. */
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

static cJSON *point(const struct estimate_point *p)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "line_speedup", number(p->line_speedup)) && add(ret, "program_speedup", number(p->program_speedup)) &&
	    add(ret, "raw_program_speedup", number(p->raw_program_speedup)) && add(ret, "ci", interval(p->ci_lo, p->ci_hi)) &&
	    add(ret, "experiments", number((double)p->experiments)) && add(ret, "visits", number((double)p->visits)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *points(const struct estimate_line *l)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < l->n_points; i++) {
		cJSON *item = point(&l->points[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

static cJSON *line(const struct estimate_line *l)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "line", cJSON_CreateString(l->line)) && add(ret, "progress", cJSON_CreateString(l->progress)) &&
	    add(ret, "kind", cJSON_CreateString("throughput")) && add(ret, "slope", number(l->slope)) &&
	    add(ret, "slope_ci", interval(l->slope_lo, l->slope_hi)) && add(ret, "max_speedup", number(l->max_speedup)) &&
	    add(ret, "verdict", cJSON_CreateString(verdict_name(l->verdict))) && add(ret, "points", points(l)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

static cJSON *lines(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateArray();

	for (size_t i = 0; ret && i < e->n_lines; i++) {
		cJSON *item = line(&e->lines[i]);

		if (!item || !cJSON_AddItemToArray(ret, item)) {
			cJSON_Delete(item);
			cJSON_Delete(ret);
			return NULL;
		}
	}
	return ret;
}

static cJSON *summary(const struct estimate *e)
{
	cJSON *ret = cJSON_CreateObject();

	if (ret && add(ret, "experiments", number((double)e->experiments)) && add(ret, "samples", number((double)e->samples)) &&
	    add(ret, "lost", number((double)e->lost)) && add(ret, "runtime_s", number(e->runtime_s)) &&
	    add(ret, "lines_dropped", number((double)e->n_dropped)) && add(ret, "outsiders", number(e->outsiders)))
		return ret;
	cJSON_Delete(ret);
	return NULL;
}

int report_json(FILE *out, const struct estimate *e)
{
	cJSON *root = cJSON_CreateObject();
	char *text = NULL;

	if (root && add(root, "schema", cJSON_CreateString("cozbpf-report/1")) && add(root, "summary", summary(e)) &&
	    add(root, "lines", lines(e)))
		text = cJSON_Print(root);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_Delete(root);
	if (!text)
		return -1;
	cJSON_free(text);
	return ferror(out) ? -1 : 0;
}
