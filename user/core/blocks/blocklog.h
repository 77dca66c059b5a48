/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of `cozbpf blocks`: what each run of a program told of its basic blocks (Alam et al.,
 * papers/002, algorithm 1). Runs are appended whole, so a log that is cut off keeps each run
 * before. Times are ns of CPU time unless their name says wall.
 */
#ifndef COZBPF_BLOCKLOG_H
#define COZBPF_BLOCKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

/* Of the histogram of a block's times: cell i holds times from block_cell_ns(i) on. Four cells for
 * each power of two. */
#define BLOCK_CELLS 160

static inline uint64_t block_cell_ns(unsigned cell)
{
	return cell < 4 ? cell : (uint64_t)(4 + cell % 4) << (cell / 4 - 1);
}

/* Which cell a time lies in; the last one holds all longer ones as well. */
static inline unsigned block_cell_of(uint64_t ns)
{
	unsigned octave = ns < 4 ? 0 : 61 - (unsigned)__builtin_clzll(ns);
	uint64_t cell = 4 * octave + (ns >> octave);

	return cell < BLOCK_CELLS ? (unsigned)cell : BLOCK_CELLS - 1;
}

/* Which block it is, the same in each run of a build. Strings are owned by the log that is read,
 * and borrowed where a run is written. */
struct block_place {
	char *object;        /* path of the file */
	char build_id[41];   /* of that file, in hex; "": none */
	uint64_t start, end; /* [start, end) in file offsets */
	char *function;      /* that holds it, or the object's base name */
	uint64_t offset;     /* of the block in the function */
	char *lines;         /* "compress.c:612-618"; "": no debug information */
	bool calls;          /* times include what it calls */
};

/* A frequency whose error is so many times itself is not known: it may be too low by any factor. */
#define BLOCK_UNKNOWN 5

/* What one run told of one block. */
struct block_figures {
	uint32_t block;      /* index of its place */
	double frequency;    /* times it was executed in the run, as estimated from the windows */
	double frequency_se; /* standard error of that; 0: it was counted all the time */
	double share;        /* of the run's samples that met it or what it calls; 0 to 1 */
	uint64_t timed;      /* executions whose time is known; 0: the times below mean nothing */
	double min_ns, max_ns, avg_ns, wall_avg_ns;
	uint32_t cells[BLOCK_CELLS]; /* of the times */
};

/* One run of the program. */
struct block_run {
	uint64_t number;               /* in the log, from 1 */
	uint64_t started_ns;           /* CLOCK_REALTIME */
	char *command;                 /* as a shell would read it */
	int status;                    /* exit status; -N: ended by signal N */
	bool ended;                    /* false: it was ended by -d, or went on after that */
	uint64_t wall_ns, cpu_ns;      /* cpu_ns is without our probes and pauses */
	uint64_t probed_ns, paused_ns; /* what these took */
	/* What else may tell slow runs from usual ones. */
	uint64_t blocked_ns, runnable_ns; /* of all threads */
	uint64_t switches, preemptions, migrations, minor_faults, major_faults;
};

/* The name of the program and what it was asked: one for each invocation. */
struct block_session {
	char *program; /* path of the main object */
	char build_id[41];
	unsigned perturb_pct;
	uint64_t seed;
};

/*
 * Appends to the log at @path, which is made where there is none, with the rights of the user who
 * called sudo. Places of one session are written once. -1 with @e: it cannot be opened, or is no
 * log of blocks. Several processes may append at once. user/run/blocklog.c has the three.
 */
struct block_log;
int block_log_open(
    const char *path, const struct block_session *session, struct block_log **ret, struct error *e);
/* Appends a run in one write, and syncs it. @places are all that @figures' indices name; those that
 * earlier calls were told of come first, unchanged. */
int block_log_add(struct block_log *log, const struct block_run *run,
    const struct block_place *places, size_t n_places, const struct block_figures *figures,
    size_t n_figures, struct error *e);
void block_log_close(struct block_log *log); /* accepts NULL */

#endif
