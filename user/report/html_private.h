/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that write the page's data: html.c, html_experiments.c, html_machines.c and
 * html_sources.c. */
#ifndef COZBPF_HTML_PRIVATE_H
#define COZBPF_HTML_PRIVATE_H

#include <stdint.h>

#include "report/html.h"
#include "report/jsonout.h"

/* Strings and their numbers: the page's data names each line and each progress point once. */
struct name_set {
	struct name_item {
		const char *name; /* borrowed */
		uint32_t id;      /* in the order of their first appearance */
	} * items;                /* by name */
	size_t n;
};

#define NAME_NONE UINT32_MAX

/* The different names of the first @n lines of @e: lines, or their progress points. Returns 0 or
 * -ENOMEM. */
int name_set_init(struct name_set *s, const struct estimate *e, size_t n, bool progress);
void name_set_deinit(struct name_set *s);
uint32_t name_set_find(const struct name_set *s, const char *name);
/* The names by id; NULL: out of memory. The caller frees the array. */
const char **name_set_order(const struct name_set *s);

/* "experiments": those of each line, as many as there is room for. Returns 0 or -ENOMEM. */
int html_experiments(struct json *j, const struct profile *p, const struct name_set *lines,
    const struct name_set *points);

/* "sources": the text around each line, with the samples of each. Returns 0 or -ENOMEM. */
int html_sources(struct json *j, const struct profile *p, const struct name_set *lines,
    const struct html_options *o);

/* "nodes": what differs between machines, in sentences, and the speed of each. Nothing where fewer
 * than two are known. Returns 0 or -ENOMEM. */
int html_machines(struct json *j, const struct machines *m, size_t prefix);

#endif
