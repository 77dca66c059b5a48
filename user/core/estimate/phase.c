// SPDX-License-Identifier: BSD-3-Clause
/* The phase factor of a line. */
#include "core/estimate/private.h"

#include <math.h>

/* in baselines; with fewer, chance moves the factor by a third or more */
#define MIN_PHASE_SAMPLES 10

/*
 * Paper 3.4.4: a line that runs only in phases gets experiments only in them. Their result holds
 * for the share tA / T of the time, with tA = s t_obs / s_obs. s and T are of delay-free time, so
 * t_obs and s_obs have to be as well. They come from the baselines that serve the line, by the same
 * weights. The share is at most 1; any excess is noise.
 */
void group_phase(struct group *g, const struct phase_totals *t)
{
	double time = 0, samples = 0, squares = 0;

	if (g->is_fixed || g->end_to_end || !t->free_time || !t->free_samples[g->line_id])
		return;
	for (size_t i = 0; i < g->baselines; i++) {
		const struct observation *o = &g->obs[i];

		if (!t->run_counts[o->run])
			continue;
		g->phase_baselines++;
		time += o->weight * o->sampled;
		samples += o->weight * o->samples;
		squares += o->weight * o->weight * o->samples;
	}
	/* With weights: the number of unweighted samples with the same scatter. */
	if (samples <= 0 || samples * samples < squares * MIN_PHASE_SAMPLES)
		return;
	g->has_phase = true;
	g->phase_runs = t->run_counts;
	g->phase_rate = samples / time;
	g->phase_unclamped = t->free_samples[g->line_id] / t->free_time / g->phase_rate;
	g->phase = fmin(g->phase_unclamped, 1);
}
