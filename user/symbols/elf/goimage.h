/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/elf/: where a Go program keeps what gotable.h reads. */
#ifndef COZBPF_GOIMAGE_H
#define COZBPF_GOIMAGE_H

#include "symbols/elf/gotable.h"

/* What is known of a Go program; made on first use. */
struct go_state {
	bool is_go_known, is_go, table_loaded, has_table, build_loaded, root_loaded;
	struct go_table table;
	char *version, *module; /* NULL: not known */
	/* Where the standard library's sources are, with a '/' at its end; "": named without a
	 * folder (-trimpath); NULL: not known. */
	char *root;
};

struct go_state *go_state_of(struct image *o); /* NULL: memory is short */

/* Bytes of the file from a link-time address up to the end of its segment. */
struct bytes go_data_at(const struct image *o, uint64_t addr);
/* The address that the program finds at an address; 0: none. Programs that may be loaded anywhere
 * have it in their relocations. */
uint64_t go_pointer_at(const struct image *o, uint64_t addr);

/* A place that may hold the table. */
struct go_found {
	struct bytes bytes;
	uint64_t addr;
	/* Where the search goes on. */
	unsigned stage, n_searched;
	size_t segment;
	uint64_t at, left;
};

/* The next place: the section, and where there is none, what looks like the table's header. False:
 * there is no further one. */
bool go_find_table(const struct image *o, struct go_found *f);
/* The address of runtime.firstmoduledata, which begins with those of the table and of its names; 0:
 * not found. */
uint64_t go_find_module(const struct image *o, uint64_t table, uint64_t names);
/* The address at which the linker's code section begins; 0: there is no such section. */
uint64_t go_text_section(const struct image *o);

/* The bytes of .go.buildinfo; .data is NULL: not found. */
struct bytes go_find_build(const struct image *o);

#endif
