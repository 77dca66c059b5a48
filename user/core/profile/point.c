// SPDX-License-Identifier: BSD-3-Clause
/* The point records of an experiment, throughput and latency: from fields and to text. */
#include "core/profile/private.h"

#include <inttypes.h>
#include <stdlib.h>

#include <cozbpf/latency.h>

/* Visits of a throughput-point, ends of a latency-point. */
static bool read_visits(const struct line *l, struct point_record *ret)
{
	if (!field_own(l, "bursts", MAX_COUNT, &ret->bursts) ||
	    !field_own(l, "span-delta", MAX_COUNT, &ret->span_delta) ||
	    !field_own(l, "span", MAX_NS, &ret->span_ns) ||
	    !field_own(l, "paced", MAX_NS, &ret->paced_ns))
		return false;
	/* Counts that contradict each other are damage. */
	return ret->bursts <= ret->delta && ret->span_delta <= ret->delta;
}

/* By rising index, so that none is there twice; their sum is the number of pairs. */
static bool read_histogram(const char *text, struct point_record *ret, bool *ret_no_memory)
{
	uint64_t index, count, sum = 0;
	size_t room = 1;

	for (const char *s = text; *s; s++)
		room += *s == ',';
	ret->cells = room <= COZBPF_LATENCY_CELLS ? calloc(room, sizeof(*ret->cells)) : NULL;
	if (!ret->cells) {
		*ret_no_memory = room <= COZBPF_LATENCY_CELLS;
		return false;
	}
	while (1) {
		if (!take_u64(&text, ':', COZBPF_LATENCY_CELLS - 1, &index) ||
		    !take_u64(&text, 0, MAX_COUNT, &count) || !count)
			return false;
		if (ret->n_cells && index <= ret->cells[ret->n_cells - 1].index)
			return false;
		ret->cells[ret->n_cells++] = (struct latency_cell){(uint32_t)index, count};
		sum += count;
		if (*text != ',')
			return !*text && sum == ret->pairs;
		text++;
	}
}

static bool read_latency(const struct line *l, struct point_record *ret, bool *ret_no_memory)
{
	const char *histogram = field_text(l, "histogram");

	if (!field_u64(l, "arrivals", MAX_COUNT, &ret->arrivals) ||
	    !field_u64(l, "departures", MAX_COUNT, &ret->departures) ||
	    !field_s64(l, "difference", MAX_COUNT, &ret->difference))
		return false;
	ret->delta = ret->departures;
	if (!field_own(l, "delta", MAX_COUNT, &ret->delta))
		return false;
	ret->has_integral = field_find(l, "integral");
	if (ret->has_integral && (!field_s64(l, "integral", MAX_SUM, &ret->integral_ns) ||
				     !field_s64(l, "least", MAX_COUNT, &ret->least)))
		return false;
	if (field_find(l, "pairs-sum") && !field_s64(l, "pairs-sum", MAX_SUM, &ret->pairs_ns))
		return false;
	if (!field_own(l, "pairs", MAX_COUNT, &ret->pairs) ||
	    !field_own(l, "unmatched", MAX_COUNT, &ret->unmatched) ||
	    !field_own(l, "abandoned", MAX_COUNT, &ret->abandoned) ||
	    !field_own(l, "lost", MAX_COUNT, &ret->lost))
		return false;
	return histogram ? read_histogram(histogram, ret, ret_no_memory) : !ret->pairs;
}

bool point_read(const struct line *l, struct point_record *ret, bool *ret_no_memory)
{
	if (ret->is_latency ? !read_latency(l, ret, ret_no_memory)
			    : !field_u64(l, "delta", MAX_COUNT, &ret->delta))
		return false;
	return read_visits(l, ret);
}

static void write_latency(FILE *out, const struct point_record *p)
{
	fprintf(out, "\tarrivals=%" PRIu64 "\tdepartures=%" PRIu64 "\tdifference=%" PRId64,
	    p->arrivals, p->departures, p->difference);
	if (p->has_integral)
		fprintf(out, "\tintegral=%" PRId64 "\tleast=%" PRId64, p->integral_ns, p->least);
	if (p->delta != p->departures)
		fprintf(out, "\tdelta=%" PRIu64, p->delta);
	profile_write_own(out, "pairs", p->pairs);
	if (p->pairs)
		fprintf(out, "\tpairs-sum=%" PRId64, p->pairs_ns);
	profile_write_own(out, "unmatched", p->unmatched);
	profile_write_own(out, "abandoned", p->abandoned);
	profile_write_own(out, "lost", p->lost);
	for (size_t i = 0; i < p->n_cells; i++)
		fprintf(out, "%s%" PRIu32 ":%" PRIu64, i ? "," : "\thistogram=", p->cells[i].index,
		    p->cells[i].count);
}

void point_write(FILE *out, const struct point_record *p)
{
	fputs(p->is_latency ? "latency-point" : "throughput-point", out);
	profile_write_text(out, "name", p->name);
	if (p->is_latency)
		write_latency(out, p);
	else
		fprintf(out, "\tdelta=%" PRIu64, p->delta);
	profile_write_own(out, "bursts", p->bursts);
	profile_write_own(out, "span-delta", p->span_delta);
	profile_write_own(out, "span", p->span_ns);
	profile_write_own(out, "paced", p->paced_ns);
	putc('\n', out);
}
