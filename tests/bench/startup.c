// SPDX-License-Identifier: BSD-3-Clause
/* Reads the debug information or the unwinding rows of a program once, by our own readers or by
 * libdw's, and prints what it found, the time and the memory. tests/bench/bigdebug.sh compares the
 * two. */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../unit/direct.h"
#include "core/text/paths.h"
#include "symbols/dwarf/codewalk.h"
#include "symbols/dwarf/tables.h"

/* What one reading found. The sums do not depend on the order, so that equal sums mean the same
 * rows or ranges. */
struct found {
	uint64_t n, sum;
	const char *path; /* of the last row, with its hash: rows of one file come in groups */
	uint64_t path_hash;
};

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 32) ^ b) * 0xbf58476d1ce4e5b9ULL;
	return (h ^ (h >> 29) ^ c) * 0x94d049bb133111ebULL;
}

static void add_row(struct found *f, uint64_t addr, uint64_t line, const char *path)
{
	if (path && path != f->path) {
		f->path = path;
		f->path_hash = 0;
		for (const char *p = path_base(path); *p; p++)
			f->path_hash = f->path_hash * 31 + (unsigned char)*p;
	}
	f->n++;
	f->sum += mix(addr, line, path ? f->path_hash : 0);
}

static void add_range(struct found *f, uint64_t lo, uint64_t hi, uint64_t call_line)
{
	f->n++;
	f->sum += mix(lo, hi, call_line);
}

struct own_lines {
	struct found *f;
	struct source_set sources;
};

static bool pick_all(const void *ctx, const char *path)
{
	return true;
}

static int own_table(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct own_lines *l = ctx;

	return source_set_table(&l->sources, t);
}

static int own_sequence(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n)
{
	struct own_lines *l = ctx;

	for (size_t i = 0; i + 1 < n; i++) {
		uint32_t source = source_of_file(&l->sources, t, rows[i].file);

		add_row(l->f, rows[i].addr, rows[i].line,
		    source == NO_SOURCE ? NULL : l->sources.v[source].path);
	}
	return 0;
}

static int own_read_lines(struct object *o, struct found *f)
{
	struct own_lines l = {.f = f};
	struct table_visitor visitor = {own_table, own_sequence, NULL, &l};
	struct error e = {0};

	source_set_init(&l.sources, pick_all, NULL);
	return tables_visit(o, &visitor, &e);
}

static int own_die(void *ctx, const struct code_die *d)
{
	for (size_t i = 0; i < d->n_ranges; i++)
		add_range(ctx, d->ranges[i].lo, d->ranges[i].hi, d->call_line);
	return 0;
}

static int own_read_entries(struct object *o, struct found *f)
{
	struct unit_iter units;
	struct code_walker w;
	struct unit u;
	int err = 0;

	unit_iter_init(&units, o->dwarf, &o->sections);
	code_walker_init(&w, &o->sections);
	while (!err && unit_next(&units, &u) > 0)
		err = code_walk(&w, &u, own_die, f);
	return err;
}

static int libdw_read_lines(struct object *o, struct found *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(o->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		Dwarf_Lines *lines;
		size_t n;

		if (dwarf_getsrclines(&die, &lines, &n))
			continue;
		for (size_t i = 0; i < n; i++) {
			Dwarf_Line *row = dwarf_onesrcline(lines, i);
			Dwarf_Addr addr;
			bool ends;
			int line;

			if (dwarf_lineaddr(row, &addr) || dwarf_lineendsequence(row, &ends) ||
			    dwarf_lineno(row, &line))
				return -1;
			if (!ends && object_is_code(o, addr))
				add_row(f, addr, (uint64_t)line, dwarf_linesrc(row, NULL, NULL));
		}
	}
	return 0;
}

/* Adds the ranges of one function or inlined copy; false: it has none. */
static bool add_die(Dwarf_Die *die, struct found *f)
{
	Dwarf_Addr base, lo, hi;
	Dwarf_Attribute attr;
	Dwarf_Word line = 0;
	ptrdiff_t at = 0;
	bool any = false;

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return false;
	if (dwarf_attr(die, DW_AT_call_line, &attr))
		dwarf_formudata(&attr, &line);
	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo < hi)
			add_range(f, lo, hi, line);
		any |= lo < hi;
	}
	return any;
}

/* Goes into the entries that may hold code, as our own walk does. */
static void libdw_walk(Dwarf_Die *parent, struct found *f)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			if (add_die(&die, f))
				libdw_walk(&die, f);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
		case DW_TAG_entry_point:
			libdw_walk(&die, f);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static int libdw_read_entries(struct object *o, struct found *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(o->dwarf, cu, &cu, NULL, NULL, &die, NULL))
		libdw_walk(&die, f);
	return 0;
}

#define ALL_ROWS 100000000

static void add_frame(struct found *f, uint64_t lo, const struct cozbpf_unwind_row *row)
{
	f->n++;
	f->sum += mix(lo, row->kind, (uint64_t)(uint16_t)row->cfa << 8 | (uint8_t)row->slot);
}

static int own_read_frames(struct object *o, struct found *f)
{
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	size_t n;

	if (object_unwind_rows(o, ALL_ROWS, &stop, &rows, &n, NULL))
		return -1;
	for (size_t i = 0; i < n; i++)
		add_frame(f, rows[i].lo, &rows[i]);
	return 0;
}

/* The rule of one row as our rows have it. The program has no PLT. */
static void row_of_frame(Dwarf_Frame *frame, struct cozbpf_unwind_row *row)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, 16, mem, &ops, &n) || n != 2 ||
	    ops[1].atom != DW_OP_plus_uconst || (int64_t)ops[1].number != -8)
		return;
	if (dwarf_frame_register(frame, 6, mem, &ops, &n) || n > 2)
		return;
	if (n == 2)
		row->slot = (int8_t)((int64_t)ops[1].number / 8);
	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1 || ops[0].atom != DW_OP_bregx) {
		row->slot = 0;
		return;
	}
	row->kind = ops[0].number == 7 ? COZBPF_UNWIND_RSP : COZBPF_UNWIND_RBP;
	row->cfa = (int16_t)ops[0].number2;
}

/* Where no function is, the next address is tried: libdw has no list of functions with frames. */
static void libdw_frames_of(
    struct object *o, Dwarf_CFI *cfi, const struct segment *code, struct found *f)
{
	struct cozbpf_unwind_row last = {.kind = 255}, row;
	uint64_t at = code->lo, end = code->hi, step;

	if (!object_clip(o, &at, &end))
		return;
	for (uint64_t addr = code->lo; at < end; at += step, addr += step) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr from, to = addr;
		bool is_signal;

		row = (struct cozbpf_unwind_row){0};
		step = 1;
		if (!dwarf_cfi_addrframe(cfi, addr, &frame) &&
		    dwarf_frame_info(frame, &from, &to, &is_signal) >= 0 && to > addr) {
			step = to - addr;
			row_of_frame(frame, &row);
		}
		free(frame);
		if (row.kind != last.kind || row.cfa != last.cfa || row.slot != last.slot)
			add_frame(f, at, &row);
		last = row;
	}
}

static int libdw_read_frames(struct object *o, struct found *f)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(o->main.elf);

	for (size_t i = 0; cfi && i < o->n_code; i++)
		libdw_frames_of(o, cfi, &o->code[i], f);
	return cfi ? 0 : -1;
}

static const struct reading {
	const char *what, *reader;
	int (*read)(struct object *o, struct found *f);
} readings[] = {
    {"lines", "own", own_read_lines},
    {"lines", "libdw", libdw_read_lines},
    {"entries", "own", own_read_entries},
    {"entries", "libdw", libdw_read_entries},
    {"frames", "own", own_read_frames},
    {"frames", "libdw", libdw_read_frames},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Memory of this process that is not the file's, in kilobytes. */
static long anonymous_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "RssAnon: %ld", &kb) != 1)
		;
	if (f)
		fclose(f);
	return kb;
}

/* Nothing is freed before the memory has been counted, nor afterwards: the process ends. */
static int run_reading(const struct reading *r, const char *path)
{
	struct found f = {0};
	struct rusage usage;
	struct object *o;
	struct error e = {0};
	double begun = now(), took;

	if (object_open(path, "", &o, &e) || !object_has_debug_info(o) || r->read(o, &f)) {
		fprintf(stderr, "startup: '%s' cannot be read: %s\n", path, e.cause);
		return 1;
	}
	took = now() - begun;
	getrusage(RUSAGE_SELF, &usage);
	printf("%.1f %ld %ld %llu %llx\n", took, usage.ru_maxrss / 1024, anonymous_kb() / 1024,
	    (unsigned long long)f.n, (unsigned long long)f.sum);
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof(readings) / sizeof(*readings); i++)
		if (!strcmp(argv[1], readings[i].what) && !strcmp(argv[2], readings[i].reader))
			return run_reading(&readings[i], argv[3]);
	fprintf(stderr, "usage: startup lines|entries|frames own|libdw FILE\n"
			"prints milliseconds, peak and anonymous MB, how many were found, a sum\n");
	return 2;
}
