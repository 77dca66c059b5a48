/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports, made from an estimate and nothing else. Text for people, JSON as in design.md section 11. */
#ifndef COZBPF_REPORT_H
#define COZBPF_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/estimate.h"

struct text_options {
	int width;        /* columns to keep to; 0: 100 */
	bool unicode;     /* small curves in block characters, else in ASCII */
	size_t max_lines; /* ranked lines shown; 0: all */
};

int report_text(FILE *out, const struct estimate *e, const struct text_options *o);
int report_json(FILE *out, const struct estimate *e);

#endif
