/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a log of `cozbpf blocks`. Fields are separated by tabs. The first line has the
 * version. Then each run is one piece that is written at once:
 *
 *   (an empty line: it ends what a torn write has left)
 *   run   session=ID   bytes=N   started=... status=... ... command=...
 *   place   session=ID   index=0   object=... ... sum=HEX      once in each session
 *   INDEX FREQUENCY SE SHARE TIMED MIN MAX AVERAGE WALL CELL:COUNT,CELL:COUNT,...
 *   end   sum=HEX
 *
 * N: bytes between the run's line and its end line. The sum of a run is over these and the run's
 * line. Lines of places have sums of their own, so those of a damaged run serve later runs.
 */
#ifndef COZBPF_BLOCKFORMAT_H
#define COZBPF_BLOCKFORMAT_H

#include <stdio.h>

#include "core/blocks/blocklog.h"

#define BLOCK_LOG_VERSION 1
#define BLOCK_LOG_TYPE "cozbpf-blocks"

/* The first line of a log. */
void block_format_version(FILE *out);

/* One run as a whole. @first_place: those before it have been written in this session, whose id is
 * @id. 0 or -ENOMEM. */
int block_format_run(FILE *out, uint64_t id, const struct block_session *session,
    const struct block_run *run, const struct block_place *places, size_t first_place,
    size_t n_places, const struct block_figures *figures, size_t n_figures);

/* Whether a file that begins with these bytes may be appended to. */
bool block_format_is_log(const char *text, size_t n);

/* Sum of a line or a run. */
uint64_t block_format_sum(const char *text, size_t n);

#endif
