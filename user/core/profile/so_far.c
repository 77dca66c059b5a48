// SPDX-License-Identifier: BSD-3-Clause
/* The profile in the middle of a run; see so_far.h. */
#include "core/profile/so_far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool so_far_line(const struct run_so_far *s, size_t line, struct samples_record *ret)
{
	return s->counts[line].all != s->counts_before[line] && so_far_any_line(s, line, ret);
}

bool so_far_any_line(const struct run_so_far *s, size_t line, struct samples_record *ret)
{
	const struct cozbpf_line_count *count = &s->counts[line];

	*ret = (struct samples_record){.count = count->all - s->counts_before[line],
	    .free = count->free - s->free_before[line],
	    .has_free = true,
	    .run = s->run,
	    .id = s->has_ids ? (uint32_t)line : 0};
	ret->location = source_line_name(&s->lines[line]);
	if (s->lines[line].function)
		ret->function = source_line_name(&s->lines[s->lines[line].function]);
	return ret->location;
}

void so_far_times(const struct run_so_far *s, struct run_record *ret)
{
	ret->runtime_ns = s->runtime_ns;
	ret->free_ns = s->runtime_ns > s->delayed_ns ? s->runtime_ns - s->delayed_ns : 0;
}

int so_far_init(struct so_far *s, const struct profile *before, const struct run_so_far *now)
{
	struct profile *p = &s->profile;

	*s = (struct so_far){.profile = *before, .n_before = before->n_samples};
	p->samples = calloc(before->n_samples + (now ? now->n_lines : 0) + 1, sizeof(*p->samples));
	p->runs = calloc(before->n_runs + 1, sizeof(*p->runs));
	if (!p->samples || !p->runs) {
		p->n_samples = 0;
		return -ENOMEM;
	}
	/* of none there is no array to copy from */
	if (before->n_samples)
		memcpy(p->samples, before->samples, before->n_samples * sizeof(*p->samples));
	if (before->n_runs)
		memcpy(p->runs, before->runs, before->n_runs * sizeof(*p->runs));
	for (size_t i = 1; now && i < now->n_lines; i++)
		p->n_samples += so_far_line(now, i, &p->samples[p->n_samples]);
	if (now && p->n_runs) {
		struct run_record *run = &p->runs[p->n_runs - 1];

		so_far_times(now, run);
		run->samples = now->samples;
		run->in_scope = now->in_scope;
	}
	return 0;
}

void so_far_deinit(struct so_far *s)
{
	for (size_t i = s->n_before; i < s->profile.n_samples; i++)
		samples_free_names(&s->profile.samples[i]);
	free(s->profile.samples);
	free(s->profile.runs);
	memset(s, 0, sizeof(*s));
}
