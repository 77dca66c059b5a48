// SPDX-License-Identifier: BSD-3-Clause
/* The report in JSON: each node, and what it differs in; core/estimate/machines.h. */
#include "report/json_machines.h"

#include <stdlib.h>

#include "report/jsontext.h"

static cJSON *interval(double lo, double hi)
{
	cJSON *ret = cJSON_CreateArray();

	return ret ? json_whole(ret, json_add(ret, NULL, json_figure(lo)) &&
					 json_add(ret, NULL, json_figure(hi)))
		   : NULL;
}

static bool add_point(cJSON *object, const char *progress, bool is_latency)
{
	return json_add(object, "progress", json_text(progress)) &&
	       json_add(object, "kind", cJSON_CreateString(is_latency ? "latency" : "throughput"));
}

static cJSON *speed(const struct machine_speed *s)
{
	cJSON *ret = cJSON_CreateObject();

	return ret ? json_whole(
			 ret, add_point(ret, s->progress, s->is_latency) &&
				  json_add(ret, "baselines", json_figure((double)s->baselines)) &&
				  json_add(ret, "slower", json_figure(s->slower)) &&
				  json_add(ret, "slower_ci", interval(s->lo, s->hi)) &&
				  json_add(ret, "differs", cJSON_CreateBool(s->differs)))
		   : NULL;
}

static cJSON *line(const struct machine_line *l)
{
	cJSON *ret = cJSON_CreateObject();

	return ret ? json_whole(ret, json_add(ret, "line", json_text(l->line)) &&
					 add_point(ret, l->progress, l->is_latency) &&
					 json_add(ret, "slope", json_figure(l->slope)) &&
					 json_add(ret, "slope_ci", interval(l->lo, l->hi)) &&
					 json_add(ret, "others", json_figure(l->others)))
		   : NULL;
}

/* A node, with its lists, which are still empty. */
static bool add_node(cJSON *nodes, const char *name, cJSON **ret_speeds, cJSON **ret_lines)
{
	cJSON *node = cJSON_CreateObject();

	*ret_speeds = cJSON_CreateArray();
	*ret_lines = cJSON_CreateArray();
	if (!node || !json_add(node, "node", json_text(name)) ||
	    !json_add(node, "speeds", *ret_speeds)) {
		cJSON_Delete(*ret_lines);
		cJSON_Delete(node);
		return false;
	}
	if (json_add(node, "no_effect", *ret_lines))
		return json_add(nodes, NULL, node);
	cJSON_Delete(node);
	return false;
}

static bool add_all(cJSON *nodes, const struct machines *m, cJSON **speeds, cJSON **lines)
{
	bool done = true;

	for (size_t i = 0; done && i < m->n; i++)
		done = add_node(nodes, m->names[i], &speeds[i], &lines[i]);
	for (size_t i = 0; done && i < m->n_speeds; i++)
		done = json_add(speeds[m->speeds[i].machine], NULL, speed(&m->speeds[i]));
	for (size_t i = 0; done && i < m->n_lines; i++)
		if (m->lines[i].no_effect)
			done = json_add(lines[m->lines[i].machine], NULL, line(&m->lines[i]));
	return done;
}

cJSON *json_machines(const struct machines *m)
{
	cJSON **speeds = calloc(m->n + 1, sizeof(cJSON *)),
	      **lines = calloc(m->n + 1, sizeof(cJSON *)), *ret = cJSON_CreateArray();

	if (ret)
		ret = json_whole(ret, speeds && lines && add_all(ret, m, speeds, lines));
	free(speeds);
	free(lines);
	return ret;
}
