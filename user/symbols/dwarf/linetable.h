/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: one line table (DWARF 2 to 5), read sequence by sequence.
 *
 * Own code, not libdw's: dwarf_getsrclines() takes 4 times as long and keeps all rows (`make
 * bench-startup`: 1.0 s and 356 MB at 537 MB, ours 0.24 s and 1 MB). It also sorts the rows of all
 * sequences into one list, in which discarded copies at address 0 cannot be told apart.
 */
#ifndef COZBPF_LINETABLE_H
#define COZBPF_LINETABLE_H

#include "symbols/elf/image.h"

struct line_row {
	uint64_t addr;
	uint32_t file, line;
	bool is_stmt;
};

struct line_file {
	const char *name; /* in the section */
	uint32_t dir;
};

/* Reused from table to table; zero-initialised before the first. */
struct line_table {
	uint16_t version;
	uint8_t min_inst, line_range, opcode_base, addr_size, offset_size;
	int8_t line_base;
	bool default_is_stmt;
	uint8_t op_lengths[256];
	struct reader program;
	const char *comp_dir; /* of the unit; NULL: none */
	/* Indexed as in the table: before DWARF 5, 0 is the compilation directory. */
	const char **dirs;
	struct line_file *files; /* indexed as in the table: before DWARF 5, 0 is unused */
	size_t n_dirs, dirs_cap, n_files, files_cap;
	struct line_row *rows;
	size_t n_rows, rows_cap;
};

/* Gets the rows of one sequence by address; the last row is its end. Any result but 0 ends the
 * reading and is returned. */
typedef int line_sequence_fn(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n);

/* Reads the header of the table at @offset of .debug_line, if the table has at most *@length bytes
 * there. *@length then is its size, for a damaged table as well; 0: the size cannot be told, or is
 * too large. 0, -EINVAL (damaged) or -ENOMEM. */
int line_table_read(struct line_table *t, const struct debug_sections *s, uint64_t offset,
    uint8_t addr_size, const char *comp_dir, uint64_t *length);

/* Runs the program of a table that has been read. 0, -EINVAL, -ENOMEM or what @fn returned. */
int line_table_run(struct line_table *t, line_sequence_fn *fn, void *ctx);

/* Normalised path of file @index; false when there is no such file or the name is too long. */
bool line_table_path(const struct line_table *t, uint32_t index, char *buf, size_t size);

void line_table_deinit(struct line_table *t);

#endif
