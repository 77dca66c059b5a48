/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: the source files that line tables name, and the lines seen in each.
 * Each file is resolved, stored and judged once. */
#ifndef COZBPF_SOURCES_H
#define COZBPF_SOURCES_H

#include "symbols/dwarf/linetable.h"

#define NO_SOURCE UINT32_MAX

struct source {
	char *path;
	bool picked;      /* by the set's function */
	uint32_t n_lines; /* distinct lines asked for */
};

/* One line of one source. The owner of the set keeps a number of its own in `id`. */
struct source_entry {
	uint32_t source, line, id;
};

struct source_set {
	bool (*pick)(const void *ctx, const char *path);
	const void *ctx;
	struct source *v;
	size_t n, cap;
	uint32_t *slots; /* path -> index + 1 */
	size_t n_slots;
	struct source_entry *lines; /* open addressing; line 0 marks a free one */
	size_t n_lines, lines_size;
	/* of the current table: file -> source + 1; 0: not resolved yet; NO_SOURCE: has none */
	uint32_t *of_file;
	size_t n_of_file, of_file_cap;
	size_t path_bytes_left; /* that may be resolved */
};

/* @pick judges each path once, with @ctx. */
void source_set_init(
    struct source_set *s, bool (*pick)(const void *ctx, const char *path), const void *ctx);
void source_set_deinit(struct source_set *s);

/* Call it for each table before asking for the table's files. 0 or -ENOMEM. */
int source_set_table(struct source_set *s, const struct line_table *t);

/* Source of file @file of the current table; NO_SOURCE when there is none (or no memory). */
uint32_t source_of_file(struct source_set *s, const struct line_table *t, uint32_t file);

/* The entry of a line (not 0); its id is 0 when it is new. NULL when memory is short. Valid until
 * the next call. */
struct source_entry *source_line_entry(struct source_set *s, uint32_t source, uint32_t line);

#endif
