/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile of bounded size (--rotate): FILE is written, FILE.1 to FILE.7 hold what came before,
 * the latest first. Each is a profile of whole runs.
 */
#ifndef COZBPF_SEGMENTS_H
#define COZBPF_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct console;
struct identity;
struct recorder;

#define SEGMENTS 8
/* a run of a small program takes some 8 kB */
#define SEGMENTS_BYTES_LEAST (64ULL << 10)

struct segments {
	/* borrowed */
	const char *path;
	const struct identity *identity;
	struct recorder *recorder;
	const struct console *console;
	uint64_t most; /* bytes of all files; 0: they grow */
	/* private: runs of ours in each, the file that is written first; how large that was before
	 * the last run, and the largest run */
	size_t runs[SEGMENTS];
	uint64_t before, largest;
	bool is_stuck; /* the last attempt to begin a file failed, which was said */
};

/* A run is about to be written: makes room for one like those before. What is in no file any more
 * is forgotten. */
void segments_begin_run(struct segments *s);

#endif
