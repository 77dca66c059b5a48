/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of `cozbpf plot`: one file that needs no network. The tool's build makes it from html/
 * and Chart.js (scripts/embed-page.sh); this adds the data as JSON. Beside the estimate it shows
 * the profile's experiments and the sources, which the caller has read.
 */
#ifndef COZBPF_HTML_H
#define COZBPF_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/estimate/estimate.h"
#include "core/profile/profile.h"

/* Limits of the page, for any profile; the page says what it leaves out. */
#define HTML_MAX_SERIES 6000        /* charts, best first; 1500 make a page of some 3 MB */
#define HTML_MAX_RECORDS 100000     /* experiments and their visits behind the folds */
#define HTML_MAX_SOURCE (8UL << 20) /* bytes of source text */
#define HTML_MAX_COLUMNS 300        /* bytes of a line of source */
#define HTML_MAX_NODES 1000         /* speeds of nodes behind the fold */
#define HTML_CONTEXT 4              /* lines of source above and below a line */

struct html_source {
	const char *file; /* as the profile's lines name it */
	const char *text;
	size_t size;
	bool changed; /* since the profile was made */
};

struct html_options {
	const char *const *profiles; /* file names */
	size_t n_profiles;
	enum sort_key sort;
	const struct html_source *sources; /* those that could be read */
	size_t n_sources;
	const char *reason; /* why there is no estimate; NULL: there is one */
};

/* Returns 0, -1 when the stream has failed, or -ENOMEM. */
int report_html(
    FILE *out, const struct profile *p, const struct estimate *e, const struct html_options *o);

#endif
