// SPDX-License-Identifier: BSD-3-Clause
/* The profile in memory, and each sort of record to a file. Reading is in core/profile/read.c. */
#include "core/profile/private.h"

#include <stdlib.h>
#include <string.h>

void profile_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
}

static void free_experiment(struct experiment_record *x, bool own_names)
{
	for (size_t i = 0; i < x->n_points; i++) {
		if (own_names)
			free(x->points[i].name);
		free(x->points[i].cells);
	}
	free(x->points);
	free(x->lines);
	if (own_names)
		free(x->selected);
}

void profile_deinit(struct profile *p)
{
	bool own_names = !p->names.items;

	for (size_t i = 0; i < p->n_experiments; i++)
		free_experiment(&p->experiments[i], own_names);
	for (size_t i = 0; own_names && i < p->n_samples; i++)
		samples_free_names(&p->samples[i]);
	names_deinit(&p->names);
	free(p->experiments);
	free(p->samples);
	free(p->runs);
	free(p->members);
	free(p->nodes);
	profile_init(p);
}

void profile_drop_runs(struct profile *p, uint32_t n)
{
	size_t experiments = 0, samples = 0;

	for (size_t i = 0; i < p->n_experiments; i++) {
		struct experiment_record x = p->experiments[i];

		if (x.run < n) {
			free_experiment(&x, true);
			continue;
		}
		x.run -= n;
		p->experiments[experiments++] = x;
	}
	for (size_t i = 0; i < p->n_samples; i++) {
		struct samples_record s = p->samples[i];

		if (s.run < n) {
			samples_free_names(&s);
			continue;
		}
		s.run -= n;
		p->samples[samples++] = s;
	}
	if (n)
		memmove(p->runs, p->runs + n, (p->n_runs - n) * sizeof(*p->runs));
	p->n_runs -= n;
	p->n_experiments = experiments;
	p->n_samples = samples;
}

void *profile_grow(void *items, size_t n, size_t size)
{
	return n & (n - 1) ? items : realloc(items, (n ? n * 2 : 1) * size);
}

static size_t array_bytes(size_t n, size_t size)
{
	size_t room = 1;

	while (room < n)
		room *= 2;
	return n ? room * size : 0;
}

size_t profile_bytes(const struct profile *p)
{
	size_t ret = array_bytes(p->n_experiments, sizeof(*p->experiments)) +
		     array_bytes(p->n_samples, sizeof(*p->samples)) +
		     array_bytes(p->n_runs, sizeof(*p->runs)) +
		     array_bytes(p->n_members, sizeof(*p->members)) +
		     array_bytes(p->n_nodes, sizeof(*p->nodes));

	for (size_t i = 0; i < p->n_experiments; i++) {
		const struct experiment_record *x = &p->experiments[i];

		ret +=
		    array_bytes(x->n_points, sizeof(*x->points)) + x->n_lines * sizeof(*x->lines);
		for (size_t j = 0; j < x->n_points; j++)
			ret += x->points[j].n_cells * sizeof(*x->points[j].cells);
	}
	return ret;
}

bool profile_is_summed(const struct profile *p)
{
	bool ret = false;

	for (size_t i = 0; i < p->n_runs; i++)
		ret |= p->runs[i].runs > 0;
	return ret;
}

uint64_t profile_runs(const struct profile *p)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < p->n_runs; i++)
		ret += p->runs[i].runs ? p->runs[i].runs : 1;
	return ret;
}

uint64_t profile_experiments(const struct profile *p)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < p->n_experiments; i++)
		ret += !experiment_is_sum(&p->experiments[i]);
	for (size_t i = 0; i < p->n_runs; i++)
		ret += p->runs[i].experiments;
	return ret;
}

void samples_free_names(struct samples_record *s)
{
	free(s->location);
	free(s->function);
	free(s->stacks);
	free(s->wakers);
	free(s->calls);
}

void experiment_stretch(struct experiment_record *x, double by)
{
	x->duration_ns = (uint64_t)((double)x->duration_ns * by);
	for (size_t i = 0; i < x->n_points; i++) {
		x->points[i].span_ns = (uint64_t)((double)x->points[i].span_ns * by);
		x->points[i].integral_ns = (int64_t)((double)x->points[i].integral_ns * by);
	}
}

int profile_write_startup(FILE *out, const struct run_record *r)
{
	return record_write(out, &record_startup, NULL, r);
}

int profile_write_experiment(FILE *out, const struct experiment_record *x)
{
	record_write(out, &record_experiment, x->selected, x);
	for (size_t i = 0; i < x->n_points; i++)
		record_write(out, x->points[i].is_latency ? &record_latency : &record_throughput,
		    x->points[i].name, &x->points[i]);
	return ferror(out) ? -1 : 0;
}

int profile_write_samples(FILE *out, const struct samples_record *s)
{
	return record_write(out, &record_samples, s->location, s);
}

int profile_write_runtime(FILE *out, const struct run_record *r)
{
	return record_write(out, &record_runtime, NULL, r);
}

int profile_write_member(FILE *out, const struct member_record *m)
{
	return record_write(out, &record_member, NULL, m);
}

int profile_write_node(FILE *out, const struct node_record *n)
{
	return record_write(out, n->line ? &record_node_line : &record_node_speed, n->node, n);
}
