/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said at the end of `cozbpf run`: warnings about what the answer is worth, or the reason
 * why there is none. Pure: the counters come in, the messages come out.
 */
#ifndef COZBPF_ENDING_H
#define COZBPF_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/estimate/estimate.h"
#include "core/experiment/run_choice.h"
#include "core/text/errors.h"

/* A progress point. A pair is two in a row: its begins, then its ends. */
struct ending_point {
	const char *name;  /* in the profile */
	const char *label; /* as the user wrote it */
	uint64_t visits;
	bool is_begin;               /* of a pair */
	bool is_sampled;             /* time executed is counted */
	bool is_paced;               /* by a periodic timer, in the last experiment */
	uint64_t pace_ns;            /* period of the timer that feeds its visits; 0: none does */
	const struct error *missing; /* why it has no place; NULL: it has one */
};

struct ending_process {
	int pid;
	struct cozbpf_proc_stats stats;
};

/* How many experiments were dropped, by reason. */
struct ending_spoilt {
	uint64_t stop;    /* the target or the machine was stopped */
	uint64_t debt;    /* threads owed too much */
	uint64_t busy;    /* other programs had the CPUs */
	uint64_t no_time; /* the speedup has taken all of the time */
	uint64_t peers;   /* another node was missing */
	uint64_t cut;     /* a whole run was none: it failed, or was told to end */
};

/* Code that a process has made while it ran, and that no perf map names. */
struct ending_made {
	int pid; /* 0: none */
	const char *comm;
	const char *path; /* of the map that it could have; NULL: lines are selected */
	uint64_t samples;
};

/* How a run has ended. All pointers are borrowed. */
struct ending_facts {
	bool is_verbose, is_end_to_end;
	bool is_cut;  /* the target had not ended when profiling did */
	int ended_by; /* the signal that ended the command; 0: none */
	int left_pid; /* a process that the command, which has ended, left; 0: none */
	char left_comm[16];
	bool sleeps;        /* pauses sleep: --sleep-pauses */
	bool has_probes;    /* of calls: --sync=uprobe */
	const char *path;   /* of the program */
	const char *unit;   /* what is made faster: "line" or "function" */
	const char *binary; /* the first pattern of -b; NULL: there is none */
	size_t n_objects;   /* mapped files in scope */
	uint64_t samples, in_scope;
	bool asks_waits;       /* --off-cpu */
	uint64_t wait_samples; /* of the samples, those of waits */
	uint64_t experiments;
	struct ending_spoilt spoilt;
	unsigned stretched; /* experiments that count as longer, to fit the CPUs */
	size_t runs;
	uint64_t last_run_ns, all_runs_ns; /* time profiled */
	struct ending_made made;
	uint64_t threads; /* that the target had, in all runs */
	/* for a further command line: ours as far as it holds for that, and the command's words up
	 * to a NULL. NULL: there is none, processes were attached to */
	const char *again;
	char *const *command;
	struct run_advice advice;         /* of whole runs as units */
	uint64_t period_ns;               /* CPU time between samples */
	uint64_t throttled_ns;            /* by CPU quotas, CPUs added up */
	uint64_t executed_ns;             /* CPU time of the target */
	uint64_t spun_ns;                 /* of that, waiting by trying again and again */
	uint64_t edges, other_wakes;      /* wake-ups by its own threads, by anything else */
	uint64_t goroutines, go_switches; /* of Go programs; switches of threads to goroutines */
	uint64_t calls, probe_ns; /* probed calls that were made, and what one of them costs */
	const struct ending_point *points;
	size_t n_points;
	const struct ending_process *processes;
	size_t n_processes;
};

/* Messages in the order in which they are to be said. */
struct ending {
	char **messages;
	size_t n_messages;
};

/* Fills @ret. 0: there is an answer. -1 with @e (EXIT_NO_RESULT): there is none, and the messages
 * go before the error. */
int ending_judge(const struct ending_facts *f, struct ending *ret, struct error *e);
/* -1 with @e (EXIT_NO_RESULT): no file that the command has mapped matches @binary (NULL: no
 * pattern), the first pattern of -b. */
int ending_fail_mapped(const char *binary, struct error *e);
/* Where runs are experiments, and none of their lines has a verdict in @e: adds how many more would
 * tell. */
void ending_say_more(const struct ending_facts *f, const struct estimate *e, struct ending *g);
void ending_deinit(struct ending *g);

#endif
