/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the target's processes map which files, and what follows from it: lines in scope, probes,
 * slices of unwind tables. Files that were not there at the start are read when they are first
 * seen. */
#ifndef COZBPF_RUN_MAPPINGS_H
#define COZBPF_RUN_MAPPINGS_H

#include <stdbool.h>

#include "core/text/errors.h"

struct file;
struct files;

/* Chooses between lines and functions, unless the user has: by the program, or whether any of
 * several has debug information. @maker: a process that has written which functions it has made,
 * which have no lines; 0: none. Before lines are read. */
void mappings_decide_units(struct files *f, bool has_debug_info, int maker);

/* Reads what process @pid maps, and tells the kernel side and the watcher. @probed: whether its
 * calls are probed (--sync=uprobe), which is done unless it is; NULL: they are not to be. */
void mappings_read(struct files *f, int pid, bool *probed);

/* Adds the lines of a program that process @pid runs already, to the kernel's table as well once
 * the session is there; it counts as MAIN, and the first one becomes the main object. -1 with @e.
 */
int mappings_read_program(struct files *f, int pid, struct file *file, struct error *e);

#endif
