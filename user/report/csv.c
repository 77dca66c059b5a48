// SPDX-License-Identifier: BSD-3-Clause
/* The curves as comma-separated values, one row for each line, progress point and line speedup: R,
 * pandas and spreadsheets read that. */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* RFC 4180: text with separators is quoted, and quotes are doubled. Spreadsheets take text that
 * begins like a formula for one, and names come from profiles of others: an apostrophe goes before
 * (OWASP, CSV Injection). */
static void print_text(FILE *out, const char *s)
{
	const char *mark = *s && strchr("=+-@\t\r", *s) ? "'" : "";

	if (!s[strcspn(s, ",\"\r\n")]) {
		fprintf(out, "%s%s", mark, s);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

/* Six decimals, as in the JSON; an unknown value is an empty field. */
static void print_number(FILE *out, double v)
{
	putc(',', out);
	if (isfinite(v))
		fprintf(out, "%.6g", round(v * 1e6) / 1e6 + 0.0);
}

int report_csv(FILE *out, const struct estimate *e)
{
	fputs("line,line_speedup,program_speedup,ci_lo,ci_hi,progress,kind,raw_program_speedup,"
	      "experiments,visits,verdict,function\n",
	    out);
	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];

		for (size_t j = 0; j < l->n_points; j++) {
			const struct estimate_point *p = &l->points[j];

			print_text(out, l->line);
			print_number(out, p->line_speedup);
			print_number(out, p->program_speedup);
			print_number(out, p->ci_lo);
			print_number(out, p->ci_hi);
			putc(',', out);
			print_text(out, l->progress);
			fputs(l->is_latency ? ",latency" : ",throughput", out);
			print_number(out, p->raw_program_speedup);
			fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%s,", p->experiments, p->visits,
			    verdict_name(l->verdict));
			print_text(out, l->function ? l->function : "");
			putc('\n', out);
		}
	}
	return ferror(out) ? -1 : 0;
}
