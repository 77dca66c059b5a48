/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs of `cozbpf blocks`, read: every whole run of several files. A run that is torn or damaged is
 * left out and counted, wherever it stands. How a log is written: core/blocks/blockformat.h.
 */
#ifndef COZBPF_BLOCKREAD_H
#define COZBPF_BLOCKREAD_H

#include "core/blocks/blocklog.h"
#include "core/text/names.h"

struct block_cell {
	uint32_t index, count;
};

/* struct block_figures, without the cells that are empty. */
struct block_entry {
	uint32_t place; /* index in block_logs.places */
	uint32_t n_cells;
	size_t first_cell; /* in block_logs.cells */
	double frequency, frequency_se, share;
	uint64_t timed;
	double min_ns, max_ns, avg_ns, wall_avg_ns;
};

struct block_read_run {
	struct block_run run; /* its number counts the runs of its log, damaged ones included */
	uint32_t log;         /* index in block_logs.logs */
	struct block_session session;
	size_t first, n; /* in block_logs.entries */
};

struct block_logs {
	const char **logs; /* their names, borrowed */
	size_t n_logs;
	struct block_place *places; /* all different */
	size_t n_places;
	struct block_read_run *runs; /* in the order of the files */
	size_t n_runs;
	struct block_entry *entries;
	size_t n_entries;
	struct block_cell *cells;
	size_t n_cells;
	/* What was left out: damaged stretches of a file, the first of them; figures whose block's
	 * name was damaged; runs that had been read before. */
	size_t n_damaged, damaged_line, n_nameless, n_twins;
	const char *damaged_log;
	/* Blocks of different builds are one where object, function and offset are the same. To be
	 * set before the first log is read. */
	bool mix_builds;
	/* Private. */
	struct names texts, keys, locals, twins;
	uint32_t *places_of; /* by id of locals */
	size_t room_places, room_of, room_runs, room_entries, room_cells;
};

void block_logs_init(struct block_logs *l);
void block_logs_deinit(struct block_logs *l);

/*
 * Adds the runs of a log, the @n bytes at @text, to @l. @name is borrowed. -1 with @e: it is no log
 * of blocks, or an empty one (EXIT_NO_RESULT). A log without a whole run is none of these.
 */
int block_logs_read(
    struct block_logs *l, const char *text, size_t n, const char *name, struct error *e);

/* Whether runs of different builds are there; then @ret_a and @ret_b are two of them, or where only
 * a library differs @ret_place and @ret_other are its places (else NULL). */
bool block_logs_other_build(const struct block_logs *l, size_t *ret_a, size_t *ret_b,
    const struct block_place **ret_place, const struct block_place **ret_other);

#endif
