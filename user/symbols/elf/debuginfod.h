/* SPDX-License-Identifier: BSD-3-Clause */
/* libdebuginfod: debug files from the network, into the cache that it shares with gdb and others.
 * Its servers and its environment are the user's, so a process without rights calls it. */
#ifndef COZBPF_DEBUGINFOD_LIBRARY_H
#define COZBPF_DEBUGINFOD_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

/* Loads the library; false: it is not installed. */
bool debuginfod_load(void);

/*
 * The debug file of @build_id, in hex: a descriptor, the caller's to close, or -errno; -ENOSYS
 * without a library. @progress is called many times a second meanwhile, with the bytes that have
 * come, of @of, 0: not known. If @progress returns true, the download ends.
 */
int debuginfod_fetch(const char *build_id, bool (*progress)(uint64_t bytes, uint64_t of));

#endif
