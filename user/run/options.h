/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user has asked for: `cozbpf run` fills it (cmd/run.c), the rooms read it. */
#ifndef COZBPF_RUN_OPTIONS_H
#define COZBPF_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/places/scope.h"
#include "core/text/string_list.h"

/* functions that --spin may name: a bit each */
#define SPIN_NAMES 64
/* lines that are faster, virtually, each alone and all at once */
#define FIXED_LINES 2

/* Of `cozbpf blocks`: words up to a NULL, and the line of the inputs that they are from; 0: they
 * are those of our own command line. */
struct run_command {
	char **argv;
	unsigned line;
};

struct blocks_options {
	const struct run_command *commands; /* run i has number i % n_commands */
	size_t n_commands;
	double cost;    /* the part of the CPU time that probes may take */
	double share;   /* least part of the samples that makes a block a candidate */
	double perturb; /* the part of the samples that get a delay */
};

struct run_options {
	struct string_list progress, latency, sources, binaries, pids, spins, fixed_lines;
	const char *cgroup, *output, *fixed_speedup, *user, *until, *sync, *units, *pause, *off_cpu,
	    *disk, *goroutines, *duty, *pause_above, *pause_if, *metrics, *pprof, *rotate, *peers,
	    *peers_key;
	uint64_t duration_ns, runs, seed, period_ns, length_ns;
	bool end_to_end, no_follow, quiet, verbose, tui, no_tui, sleep_pauses, any_stack, no_spin,
	    sync_uprobe, inclusive;
	/* of `cozbpf suggest`: no experiments; the list as JSON */
	bool suggests, json;
	/* of `cozbpf blocks`: no experiments; NULL: another command */
	const struct blocks_options *blocks;
	/* derived */
	bool no_goroutines;
	char **command;
	char *job_output; /* `output` with the job's numbers in it */
	char *node;       /* the name of this machine; NULL: not known */
	char *again; /* for a shell: us, and the options that another command line would need */
	unsigned *speedups;
	enum granularity granularity;
	uint32_t waits;     /* classes of waits that are units, a bit each */
	uint32_t wait_disk; /* of `disk`, as the kernel numbers devices; 0: none was given */
	enum kernel_units kernel;
	size_t n_speedups;
	/* half a width of the leading lines' intervals, as a fraction; 0: none was given */
	double until_width;
	double duty_share;     /* of the time that experiments may take; 0: no --duty */
	double load_most;      /* a load average; 0: any */
	uint64_t rotate_bytes; /* of all files of the profile; 0: any number */
};

void run_options_deinit(struct run_options *o);

/* Nothing that they ask for delays the target, so no process needs a pause handler. */
static inline bool run_only_watches(const struct run_options *o)
{
	return o->suggests || (o->blocks && o->blocks->perturb <= 0);
}

/* Does what they ask for, from set-up to report. Returns the tool's exit status. */
int run_profile(const struct run_options *o);
/* Only watches, and lists what could be a progress point. */
int run_suggest(const struct run_options *o);
/* Watches blocks, and appends what each run told of them to the log. *@ret_whole: all were
 * made, and nobody has interrupted them. */
int run_blocks(const struct run_options *o, bool *ret_whole);

#endif
