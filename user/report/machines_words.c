// SPDX-License-Identifier: BSD-3-Clause
/* Nodes that differ by more than chance, in words; see words.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/words.h"

#define MOST_SPEEDS 3 /* slower ones, and faster ones, at each progress point */
#define MOST_NAMES 5  /* on which a line does not matter */

struct layout {
	FILE *out;
	const struct machines *m;
	size_t prefix;
	bool several; /* progress points, so each is named */
};

static void print_point(const struct layout *l, const char *progress, bool is_latency)
{
	if (l->several)
		fprintf(l->out, " at %s%s", is_latency ? "latency " : "", progress);
}

static void print_speed(const struct layout *l, const struct machine_speed *s)
{
	bool is_slower = s->slower > 0;

	fprintf(l->out, "node %s is %.0f %% %s than %s", l->m->names[s->machine],
	    100 * fabs(s->slower), is_slower ? "slower" : "faster",
	    s->other == UINT32_MAX ? "the median node" : l->m->names[s->other]);
	print_point(l, s->progress, s->is_latency);
	fprintf(l->out, " (%.0f to %.0f %%)\n", 100 * (is_slower ? s->lo : -s->hi),
	    100 * (is_slower ? s->hi : -s->lo));
}

/* The @n nodes at one progress point, the slowest first. */
static void print_speeds(const struct layout *l, const struct machine_speed *s, size_t n)
{
	size_t slower = 0, faster = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].differs && s[i].slower > 0 && slower++ < MOST_SPEEDS)
			print_speed(l, &s[i]);
	for (size_t i = n; i-- > 0;)
		if (s[i].differs && s[i].slower < 0 && faster++ < MOST_SPEEDS)
			print_speed(l, &s[i]);
	if (slower <= MOST_SPEEDS && faster <= MOST_SPEEDS)
		return;
	fprintf(l->out, "in all %zu of %zu nodes are slower and %zu faster", slower, n, faster);
	print_point(l, s->progress, s->is_latency);
	putc('\n', l->out);
}

/* The @n nodes at one line and progress point. */
static void print_line(const struct layout *l, const struct machine_line *line, size_t n)
{
	size_t without = 0, shown = 0;
	char room[UNIT_ROOM];

	for (size_t i = 0; i < n; i++)
		without += line[i].no_effect;
	if (!without)
		return;
	fprintf(l->out, "%s does not matter", unit_label(line->line, l->prefix, room));
	print_point(l, line->progress, line->is_latency);
	fprintf(l->out, " on %zu of %zu nodes: ", without, n);
	for (size_t i = 0; i < n && shown < MOST_NAMES; i++)
		if (line[i].no_effect)
			fprintf(l->out, "%s%s", shown++ ? ", " : "", l->m->names[line[i].machine]);
	if (without > shown)
		fprintf(l->out, " and %zu more", without - shown);
	putc('\n', l->out);
}

static bool is_same_point(const struct machine_speed *a, const struct machine_speed *b)
{
	return a->is_latency == b->is_latency && !strcmp(a->progress, b->progress);
}

static bool is_same_line(const struct machine_line *a, const struct machine_line *b)
{
	return a->is_latency == b->is_latency && !strcmp(a->progress, b->progress) &&
	       !strcmp(a->line, b->line);
}

void machines_words(FILE *out, const struct machines *m, size_t prefix)
{
	struct layout l = {out, m, prefix, false};
	size_t end;

	for (size_t i = 1; i < m->n_speeds; i++)
		l.several |= !is_same_point(&m->speeds[0], &m->speeds[i]);
	for (size_t i = 0; i < m->n_speeds; i = end) {
		for (end = i + 1;
		     end < m->n_speeds && is_same_point(&m->speeds[i], &m->speeds[end]); end++)
			;
		print_speeds(&l, &m->speeds[i], end - i);
	}
	for (size_t i = 0; i < m->n_lines; i = end) {
		for (end = i + 1; end < m->n_lines && is_same_line(&m->lines[i], &m->lines[end]);
		     end++)
			;
		print_line(&l, &m->lines[i], end - i);
	}
}
