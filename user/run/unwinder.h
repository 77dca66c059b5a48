/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwind tables for the files that the target's processes map. A large library's takes tenths of a
 * second to make (a million rows: 0.2 s), so a thread of its own makes them, at a low priority.
 * Until a table is there, callers are found by frame pointers. The thread opens the code of a file
 * for itself, and it sees nothing of the registry: all functions here are the main thread's.
 */
#ifndef COZBPF_RUN_UNWINDER_H
#define COZBPF_RUN_UNWINDER_H

#include <stdbool.h>

#include <cozbpf/abi.h>

struct file;
struct files;

/* Adds the file's slice of the unwind table to a mapping, as far as it has been made; asks for it
 * to be made. */
void unwinder_slice(struct files *f, struct file *file, struct cozbpf_mapping *ret);
/* Whether some are being made. */
bool unwinder_waits(const struct files *f);
/* Hands those that are made to the kernel side. Whether there are new ones, so that mappings are to
 * be set again. */
bool unwinder_collect(struct files *f);
void unwinder_deinit(struct files *f);

#endif
