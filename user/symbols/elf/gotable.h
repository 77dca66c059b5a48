/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: what Go's linker puts into each program for the runtime's own use, so
 * that strip does not take it: functions, files, lines and inlined calls (.gopclntab), and how the
 * program was built (.go.buildinfo). The layouts are those of cmd/link and runtime/symtab.go, Go
 * 1.16 and later.
 */
#ifndef COZBPF_GOTABLE_H
#define COZBPF_GOTABLE_H

#include "symbols/elf/reader.h"

struct image;

/* Layouts of the table, each named after the first Go version that writes it. */
enum go_layout { GO_LAYOUT_116, GO_LAYOUT_118, GO_LAYOUT_120 };

struct go_table {
	enum go_layout layout;
	uint8_t quantum; /* bytes: distances of code are multiples of it */
	size_t n_functions, n_files;
	uint64_t text; /* link-time address that functions count from */
	/* Parts of the table, each up to the end of the whole. */
	struct bytes names, units, files, values, functions;
	/* What the trees of inlined calls count from; .data is NULL: they are not found. */
	struct bytes trees;
};

/* A function of the table; addresses are those of the linker. */
struct go_function {
	uint64_t lo, hi;
	const char *name;             /* as in "main.(*T).f", in the table */
	uint32_t unit;                /* where its file numbers count from */
	uint32_t files, lines, calls; /* for go_values_start(); 0: there are none */
	uint32_t tree;                /* offset in ->trees; UINT32_MAX: nothing is inlined */
};

/* The program's table; NULL: there is none, or its header is damaged. Belongs to the image. */
const struct go_table *image_go_table(struct image *o);

/* Function @i by address; false: its entry is damaged. */
bool go_function_at(const struct go_table *t, size_t i, struct go_function *ret);

/* Whether one begins at @addr. */
bool go_function_begins(const struct go_table *t, uint64_t addr);

/* Numbers that belong to the code of a function: file numbers, lines, or inlined calls. */
struct go_values {
	struct reader r;
	uint64_t lo, hi; /* the code that .value is for */
	int32_t value;
	uint8_t quantum;
	bool first;
};

/* Before the first stretch of @f's numbers at @offset. */
void go_values_start(
    const struct go_table *t, const struct go_function *f, uint32_t offset, struct go_values *ret);
/* Goes on to the next stretch. False: at the end, or damaged; .lo and .hi are then the same. */
bool go_values_next(struct go_values *v);

/* Offset in ->files of the name of @f's file @number; false: there is none. */
bool go_file_at(
    const struct go_table *t, const struct go_function *f, int32_t number, uint32_t *ret);

/* Inlined call @i of @f: the distance of the call from the function's start. False: damaged. */
bool go_call_at(const struct go_table *t, const struct go_function *f, uint32_t i, uint32_t *ret);

/* The name of the function that inlined call @i is of; NULL: damaged. */
const char *go_call_name(const struct go_table *t, const struct go_function *f, uint32_t i);

/* Of .go.buildinfo; "" where it is not known. Belongs to the image. */
const char *image_go_version(struct image *o); /* "go1.23.4" */
/* What module the program is of: "example.com/x" of "example.com/x/cmd/y". */
const char *image_go_module(struct image *o);

/* The number after "go1." in a version that is one of a release; 0: it is another one. */
unsigned go_minor(const char *version);

/* Whether a source file may be the program's own, and not of the standard library, of the module
 * cache, or vendored. (goscope.c) */
bool image_go_owns(struct image *o, const char *path);

#endif
