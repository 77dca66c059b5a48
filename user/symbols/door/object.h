/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/door/: an open object on our side, which is open files and facts, and how
 * a reader is asked about it. */
#ifndef COZBPF_DOOR_OBJECT_H
#define COZBPF_DOOR_OBJECT_H

#include "symbols/reading.h"
#include "symbols/sandbox/sandbox.h"

/* A file of an object, kept open for the readers. */
struct held_file {
	int fd; /* -1: none */
	uint64_t size;
	char *path;
};

struct object {
	char *file, *path, *root; /* see struct object_place */
	char *real_path;          /* see struct image_parts */
	char probe_path[32];
	struct held_file main, debug, alt;
	/* The main file as a program has it mapped; never looked at. The kernel judges the
	 * instruction below a uprobe at once where somebody has the file mapped so, not writable.
	 * Else the probe fails in silence, later. */
	void *mapped;
	char *debug_note;
	bool fetches; /* see struct object_place */
	bool is_static, is_go, has_debug_info;
	uint8_t build_id[20];
	uint32_t build_id_len;
	uint64_t dev, ino;
};

/* What a reader is to do with the object: in the reader, with @arg of the asker. */
typedef int door_work(struct image *image, void *arg, struct out *out, struct error *e);

struct question {
	door_work *work;
	void *arg;
	bool needs_debug; /* sections of debug information */
	const bool *stop; /* ends the reading; NULL: as reading_stops_when() says */
	bool *opens;      /* set where further files were opened; NULL: nobody wants to know */
};

/* key.c: puts what tells the object's files from all others, and from what they may be later.
 * False: nothing does. */
bool object_key(const struct object *o, struct out *key);

/* Asks a reader. 0 with the answer, the caller's to in_free(), or -1 with @e. */
int object_ask(const struct object *o, const struct question *q, struct in *ret, struct error *e);

/* Ends the reading of an answer: 0, or -1 with @e when something of it was bad or is left. */
int object_answered(const struct object *o, struct in *in, struct error *e);

/* Whether reading_stops_when() has been told of something that says so. */
bool reading_is_to_stop(void);

/* What a line map may hold: lines, functions or blocks, or functions with their lines behind each.
 */
enum unit_kind { UNITS_LINES, UNITS_FUNCTIONS, UNITS_BOTH };

/* units.c: a reader's line map as bytes. @n_units: of them in scope. */
int put_units(struct out *out, const struct line_map *m, size_t n_units, struct error *e);
/* Adds the units to ours; others than of @kind are bad. The ranges with our ids, @n of them, are
 * the caller's to free. */
struct line_range *get_units(
    struct in *in, enum unit_kind kind, struct line_map *map, size_t *n, size_t *n_units);

/* answers.c: results as bytes and back. What is got has to be freed, good or bad. */
void put_sites(struct out *out, const struct probe_site *sites, size_t n);
void get_sites(struct in *in, struct probe_site **ret, size_t *n);
void put_probes(struct out *out, const struct sdt_probe *probes, size_t n);
void get_probes(struct in *in, struct sdt_probe **ret, size_t *n);
void put_markers(struct out *out, const struct marker *markers, size_t n);
void get_markers(struct in *in, struct marker **ret, size_t *n);

#endif
