/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of a comparison of two profiles: text for people, JSON (schema cozbpf-compare/1) for
 * programs. */
#ifndef COZBPF_REPORT_COMPARE_H
#define COZBPF_REPORT_COMPARE_H

#include <stdio.h>

#include "core/estimate/compare.h"
#include "report/report.h"

struct compare_report {
	const char *before_name, *after_name;
	const struct compare_side *before, *after;
	const struct comparison *comparison;
};

int compare_text(FILE *out, const struct compare_report *r, const struct text_options *o);
int compare_json(FILE *out, const struct compare_report *r);

#endif
