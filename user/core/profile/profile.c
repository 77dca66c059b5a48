// SPDX-License-Identifier: BSD-3-Clause
/* The profile in memory and the writing of its records, in Coz's legacy spelling. Reading is in
 * core/profile/read.c. */
#include "core/profile/private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void profile_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
}

void profile_deinit(struct profile *p)
{
	bool own_names = !p->names.items;

	for (size_t i = 0; i < p->n_experiments; i++) {
		struct experiment_record *x = &p->experiments[i];

		for (size_t j = 0; j < x->n_points; j++) {
			if (own_names)
				free(x->points[j].name);
			free(x->points[j].cells);
		}
		free(x->points);
		free(x->lines);
		if (own_names)
			free(x->selected);
	}
	for (size_t i = 0; own_names && i < p->n_samples; i++)
		free(p->samples[i].location);
	names_deinit(&p->names);
	free(p->experiments);
	free(p->samples);
	free(p->runs);
	profile_init(p);
}

void experiment_stretch(struct experiment_record *x, double by)
{
	x->duration_ns = (uint64_t)((double)x->duration_ns * by);
	for (size_t i = 0; i < x->n_points; i++) {
		x->points[i].span_ns = (uint64_t)((double)x->points[i].span_ns * by);
		x->points[i].integral_ns = (int64_t)((double)x->points[i].integral_ns * by);
	}
}

/* Not through "%.2f", whose decimal sign follows the locale. */
static void write_speedup(FILE *out, double speedup)
{
	long hundredths = lround((speedup < 0 ? 0 : speedup > 1 ? 1 : speedup) * 100);

	fprintf(out, "\tspeedup=%ld.%02ld", hundredths / 100, hundredths % 100);
}

static int finish(FILE *out)
{
	putc('\n', out);
	return ferror(out) ? -1 : 0;
}

int profile_write_startup(FILE *out, const struct run_record *r)
{
	fprintf(out, "startup\ttime=%" PRIu64, r->startup_time_ns);
	if (r->build_id[0])
		profile_write_text(out, "build-id", r->build_id);
	profile_write_own(out, "speedups", r->fixed_speedups);
	return finish(out);
}

/* One field for all lines: a record for each would be a dozen times as long, and Coz's viewer warns
 * of records it does not know. */
static void write_lines(FILE *out, const struct experiment_record *x)
{
	if (!x->n_lines)
		return;
	profile_write_own(out, "observed", x->observed_ns);
	for (size_t i = 0; i < x->n_lines; i++)
		fprintf(out, "%s%" PRIu32 ":%" PRIu64 ":%" PRIu64,
		    i ? "," : "\tlines=", x->lines[i].id, x->lines[i].opening,
		    x->lines[i].observed);
}

int profile_write_experiment(FILE *out, const struct experiment_record *x)
{
	fputs("experiment", out);
	profile_write_text(out, "selected", x->selected);
	write_speedup(out, x->speedup);
	fprintf(out, "\tduration=%" PRIu64 "\tselected-samples=%" PRIu64, x->duration_ns,
	    x->selected_samples);
	if (x->has_selected_ns)
		fprintf(out, "\tselected-time=%" PRIu64, x->selected_ns);
	profile_write_own(out, "elapsed", x->elapsed_ns);
	profile_write_own(out, "start", x->start_ns);
	profile_write_own(out, "fixed", x->fixed);
	profile_write_own(out, "unpaid", x->unpaid_ns);
	write_lines(out, x);
	putc('\n', out);
	for (size_t i = 0; i < x->n_points; i++)
		point_write(out, &x->points[i]);
	return ferror(out) ? -1 : 0;
}

int profile_write_samples(FILE *out, const struct samples_record *s)
{
	fputs("samples", out);
	profile_write_text(out, "location", s->location);
	fprintf(out, "\tcount=%" PRIu64, s->count);
	if (s->has_free)
		fprintf(out, "\tfree=%" PRIu64, s->free);
	profile_write_own(out, "id", s->id);
	return finish(out);
}

int profile_write_runtime(FILE *out, const struct run_record *r)
{
	fprintf(out, "runtime\ttime=%" PRIu64, r->runtime_ns);
	profile_write_own(out, "free", r->free_ns);
	profile_write_own(out, "lost", r->lost);
	profile_write_own(out, "dropped", r->dropped);
	profile_write_own(out, "samples", r->samples);
	profile_write_own(out, "in-scope", r->in_scope);
	profile_write_own(out, "executed", r->executed_ns);
	profile_write_own(out, "outsiders", r->outsiders_ns);
	return finish(out);
}
