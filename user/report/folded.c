// SPDX-License-Identifier: BSD-3-Clause
/* The plain samples in the folded format of flamegraph.pl and speedscope: `file;file:line count`,
 * of functions `module;module:function count`. The two frames are not a stack, since a profile
 * holds none. A sample counts for the innermost line in scope. */
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

int report_folded(FILE *out, const struct line_counts *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *line = c->lines[i].line;
		size_t number, length = path_of_line(line, &number);

		if (!length)
			length = path_of_function(line);
		if (length && line[length]) {
			print_frame(out, line, length);
			putc(';', out);
		}
		print_frame(out, line, strlen(line));
		fprintf(out, " %" PRIu64 "\n", c->lines[i].count);
	}
	if (c->outside)
		fprintf(out, "[outside the scope] %" PRIu64 "\n", c->outside);
	return ferror(out) ? -1 : 0;
}
