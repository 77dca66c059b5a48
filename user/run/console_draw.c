// SPDX-License-Identifier: BSD-3-Clause
/* One picture of the live view: from the figures of the run to what user/report/terminal.c draws.
 */
#include "run/console_private.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

#define READ_NS 500000000ULL /* between two readings of the points' visits */
#define DRAW_NS READ_NS      /* between two pictures, when nothing is pressed */

/* Visits in real time over the last readings. */
static void take_rates(struct view *v, const struct console_status *s, uint64_t now)
{
	const struct reading *first = &v->readings[0];
	struct reading *last;

	if (v->n_readings && now - v->readings[v->n_readings - 1].at_ns < READ_NS)
		return;
	if (v->n_readings == VIEW_RATES)
		memmove(v->readings, v->readings + 1, --v->n_readings * sizeof(v->readings[0]));
	last = &v->readings[v->n_readings++];
	last->at_ns = now;
	for (size_t i = 0; i < s->n_points; i++) {
		last->visits[i] = s->points[i].visits;
		v->per_s[i] = NAN;
		if (last->at_ns > first->at_ns && last->visits[i] >= first->visits[i])
			v->per_s[i] = (double)(last->visits[i] - first->visits[i]) * 1e9 /
				      (double)(last->at_ns - first->at_ns);
	}
}

/* Mean latency of a pair as the last estimate has it. */
static double mean_latency(const struct view *v, const char *name)
{
	for (size_t i = 0; v->has_estimate && i < v->estimate.n_latencies; i++)
		if (!strcmp(v->estimate.latencies[i].name, name))
			return v->estimate.latencies[i].now.mean.value;
	return NAN;
}

/* A pair is one point. Points whose visits are sampled time are left out. Returns the number of
 * points. */
static size_t list_points(
    const struct view *v, const struct console_status *s, struct terminal_point *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_points; i++) {
		const struct console_point *p = &s->points[i];

		if (p->is_sampled)
			continue;
		i += p->is_begin; /* its ends count */
		ret[n++] = (struct terminal_point){.name = s->points[i].name,
		    .is_latency = p->is_begin,
		    .per_s = v->per_s[i],
		    .latency_ns = p->is_begin ? mean_latency(v, s->points[i].name) : NAN};
	}
	return n;
}

void view_draw(struct view *v, const struct console_status *s, uint64_t now)
{
	const struct estimate *e = v->has_estimate ? &v->estimate : NULL;
	const char *looked_at = terminal_looked_at(&v->look, e);
	struct terminal_point points[COZBPF_POINTS];
	char experiment[4352];
	struct terminal_status t = {.target = v->target,
	    .elapsed_ns = now - s->started_ns,
	    .run = s->run,
	    .runs = s->runs,
	    .experiments = s->experiments,
	    .spoilt = s->spoilt,
	    .samples = s->samples,
	    .in_scope = s->in_scope,
	    .lost = v->lost,
	    .noise = s->noise,
	    .points = points,
	    .is_paused = s->is_paused,
	    .rests_ns = s->rests_ns,
	    .sorted = v->sorted,
	    .message = v->n_messages ? v->messages[v->n_messages - 1] : NULL,
	    .messages = v->n_messages,
	    .has_keys = v->has_keys};
	int width, height;

	take_rates(v, s, now);
	t.n_points = list_points(v, s, points);
	if (s->file) {
		if (s->line)
			snprintf(experiment, sizeof(experiment), "%s:%u", s->file, s->line);
		else
			snprintf(experiment, sizeof(experiment), "%s", s->file);
		t.experiment = experiment;
		t.speedup_pct = s->speedup_pct;
		t.open_ns = now > s->opened_ns ? now - s->opened_ns : 0;
		t.planned_ns = s->planned_ns;
	}
	if (looked_at) {
		excerpt_read(&v->source, looked_at, v->pid);
		t.source = v->source.text;
		t.source_first = v->source.first;
	}
	screen_size(v->screen, &width, &height);
	if (terminal_screen_init(&v->cells, width, height, !strcmp(nl_langinfo(CODESET), "UTF-8")))
		return;
	terminal_draw(&v->look, e, &t, &v->cells);
	screen_show(v->screen, &v->cells);
	v->drawn_ns = now;
	v->next_ns = now + DRAW_NS;
	v->is_dirty = false;
}
