// SPDX-License-Identifier: BSD-3-Clause
/* The plain samples in the folded format of flamegraph.pl and speedscope: `file;file:line count`,
 * of functions `module;module:function count`. A sample counts for the innermost line in scope. The
 * two frames are not a stack, since a profile holds those of waits alone: `function;function;unit
 * count`. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/paths.h"

/* ';' separates frames, and a line is a record. */
static void print_frame(FILE *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putc(s[i] == ';' || s[i] == '\n' || s[i] == '\r' ? '_' : s[i], out);
}

/* The outermost frame first, as the format wants it. */
static void print_stack(FILE *out, const struct unit_stack *s)
{
	for (size_t i = s->n; i-- > 0;) {
		const char *name = frame_name(s->frames[i], true);

		print_frame(out, name, strlen(name));
		putc(';', out);
	}
	print_frame(out, s->unit, strlen(s->unit));
	fprintf(out, " %" PRIu64 "\n", s->count);
}

/* Without callers: below the file or the module. */
static void print_alone(FILE *out, const char *line, uint64_t count)
{
	size_t number, length = path_of_line(line, &number);

	if (!length)
		length = path_of_function(line);
	if (length && line[length]) {
		print_frame(out, line, length);
		putc(';', out);
	}
	print_frame(out, line, strlen(line));
	fprintf(out, " %" PRIu64 "\n", count);
}

int report_folded(FILE *out, const struct line_counts *c, const struct unit_stacks *stacks)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct line_count *line = &c->lines[i];
		const struct unit_stack *s;
		uint64_t rest = line->count;
		size_t n;

		s = unit_stacks_find(stacks, line->line, &n);
		for (size_t j = 0; j < n; j++) {
			print_stack(out, &s[j]);
			rest -= s[j].count < rest ? s[j].count : rest;
		}
		if (rest)
			print_alone(out, line->line, rest);
	}
	if (c->outside)
		fprintf(out, "[outside the scope] %" PRIu64 "\n", c->outside);
	return ferror(out) ? -1 : 0;
}
