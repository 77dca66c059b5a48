/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that run already, as the subcommands name them with -p, and the files that they have
 * mapped. */
#ifndef COZBPF_TARGET_FILE_H
#define COZBPF_TARGET_FILE_H

#include <stddef.h>

#include "core/text/errors.h"
#include "symbols/symbols.h"
#include "target/maps.h"

/* The process that @text names. 0, or -1 with @e, which is EXIT_USAGE for no number, no such
 * process, a thread, one of the kernel's, ourselves. */
int target_pid(const char *text, int *ret, struct error *e);

/* Path of its program, as the process sees it. 0 or -1 with @e. */
int target_program(int pid, char *ret, size_t size, struct error *e);

/* The first mapping of a file with @path. 0, or -1 with @e; its status is EXIT_OK when nothing of
 * that path is mapped. */
int target_mapping(int pid, const char *path, struct map_entry *ret, struct error *e);

/* Opens the very file with @path that the process has mapped. 0, or -1 with @e; its status is
 * as above. */
int target_object(int pid, const char *path, struct object **ret, struct error *e);

#endif
