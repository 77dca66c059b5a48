/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the specs of progress points lead, in files that are there at the start and in files that
 * the target maps later (dlopen, exec, a file that was replaced). A place has as many probes as its
 * spec has sites in as many files.
 */
#ifndef COZBPF_RUN_PLACES_H
#define COZBPF_RUN_PLACES_H

#include <stdbool.h>

#include "core/text/errors.h"

struct file;
struct object;
struct place;
struct point_kind;
struct points;
struct spec;

/* Adds a place of point @index, and looks for it in what is there. Takes over what is in @spec.
 * @arg: number of the argument that is the key of a latency; -1: the thread is. -1 with @e. */
int places_add(struct points *p, struct spec *spec, unsigned index, int arg, struct error *e);
/* A point by its [NAME=]SPEC, and its place. -1 with @e. */
int places_add_throughput(struct points *p, const char *text, struct error *e);

/* The same in two steps, for a place that no spec names. NULL: out of memory. */
struct place *places_new(struct points *p, const struct point_kind *kind);
/* Probes all sites of the place in the file: as place_in() of its kind. */
int places_try(
    struct points *p, struct place *at, struct file *file, struct object *o, struct error *e);

/* A probe is met by all processes that map its file. So a user who is not root may probe only what
 * own processes of the target map, or a program that the command is about to run as that user. -1
 * with @e. */
int places_may_probe(const struct points *p, const struct file *file, struct error *e);

/* Of a file_watcher: @points may have places in a file that the target maps. */
void places_mapped(void *points, struct file *file, bool in_scope);

/* Whether one is yet to be found. */
bool places_awaited(const struct points *p);
/* Why point @index has no place; NULL: it has. */
const struct error *places_missing(const struct points *p, unsigned index);
void places_deinit(struct points *p);

#endif
