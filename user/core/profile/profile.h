/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: records of a profile.coz file, in memory and as text. The format is Coz's, with our
 * own keys beside Coz's. Legacy tab-separated and JSON-lines spellings are read, the legacy
 * spelling is written. What a field means stands here, how it is read and written in
 * core/profile/records.c. The counters of a run are in core/profile/counters.def.
 */
#ifndef COZBPF_PROFILE_H
#define COZBPF_PROFILE_H

/* The progress point of experiments that are whole runs of the command, as Coz names it. */
#define END_TO_END "end-to-end"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/text/errors.h"
#include "core/text/names.h"

/* A cell of a latency histogram (cozbpf/latency.h) that is not empty. */
struct latency_cell {
	uint32_t index;
	uint64_t count;
};

/*
 * throughput-point or latency-point. Visits count in virtual time, from V0 to the close at V1. The
 * visits of a latency point are its ends. A pair counts its own throughput, in the record of its
 * latency, since Coz's viewer takes points of one name for one point.
 */
struct point_record {
	char *name;
	uint64_t delta; /* visits with V0 < v <= V1 */
	/* Own key `bursts`: visits that came together count once; 0: not known (Coz's file). */
	uint64_t bursts;
	/* Own key `span-delta`: visits after the first burst, up to and including the last one. */
	uint64_t span_delta;
	/* Own key `paced`: a periodic timer paces most visits, so they follow real time: delta of
	 * them in this long; 0: not so. */
	uint64_t paced_ns;
	/* Own key `pace`: period of the periodic timer that feeds nearly all visits, whether their
	 * threads wait for it or are late; 0: not so. */
	uint64_t pace_ns;
	/* Own key `span`: virtual time from the first burst to the last one; 0: not known. */
	uint64_t span_ns;
	/* Of a latency-point. If its own key `delta` is absent, it equals departures: only ends
	 * that are paced count in real time. */
	bool is_latency;
	uint64_t arrivals, departures; /* begins and ends with V0 < v <= V1 */
	/* Requests in flight: in Coz's file at the close, in ours the mean over the time, rounded.
	 */
	int64_t difference;
	bool has_integral;   /* ours: integral_ns and least are known */
	int64_t integral_ns; /* own key `integral`: of the number in flight over virtual time */
	/* Own key `least`: smallest number in flight; below 0 where some were in flight before we
	 * looked. */
	int64_t least;
	uint64_t pairs; /* own key: begins and ends matched, the end with V0 < v */
	/* Own key `pairs-sum`: sum of the latencies of those pairs. A latency is below 0 if its
	 * request ended before it began, in virtual time. */
	int64_t pairs_ns;
	/* Own key `histogram=INDEX:COUNT,...`: those latencies by rising index; one below 0 counts
	 * as 0. */
	struct latency_cell *cells;
	size_t n_cells;
	/* Own keys, since the record before, in time and out of it: ends without a begin, begins
	 * without an end, begins that were lost to us. */
	uint64_t unmatched, abandoned, lost;
};

/*
 * How often a line was sampled in a baseline. The opening is the time between the sample that
 * picked the experiment's line and the first visit that counts: which line it is that gets the
 * experiment is as good as drawn from the lines sampled there. What comes after is kept apart, for
 * a sample that draws a line must not also be evidence of how often the line runs.
 */
struct baseline_line {
	uint32_t id;       /* samples_record.id of its location, in the same run */
	uint64_t opening;  /* samples in the opening; above 0 */
	uint64_t observed; /* samples in the rest of the experiment */
};

struct experiment_record {
	char *selected;       /* file:line, a function, a wait, or a couple (places/couple.h) */
	double speedup;       /* 0 .. 1 */
	uint64_t duration_ns; /* virtual: elapsed - required delay */
	uint64_t selected_samples;
	/* Own key `selected-time`: executed by the selected line while visits counted. */
	uint64_t selected_ns;
	bool has_selected_ns; /* unset: that is not known */
	/* Own keys `loops` and `loop-time`: how often a fixed loop was timed, to tell the speed of
	 * the CPUs, and the sum of its times. 0 loops: not known, and neither is outsiders_ns. */
	uint64_t loops, loop_ns;
	/* Own key `outsiders`: for so long of `elapsed`, threads added up, the target's threads
	 * waited because other programs had their CPUs. */
	uint64_t outsiders_ns;
	uint64_t elapsed_ns; /* own key `elapsed`: real time; 0: not known */
	/* Own key `start`: monotonic time of the opening since the run's start. */
	uint64_t start_ns;
	/* Own key `fixed=1`: the user named the line, no sample picked it: no phase correction. */
	bool fixed;
	/* Own keys `experiments` and `served` of a sum, which is at one point
	 * (core/estimate/sums.h): so many experiments of the line are in it; or, where baselines of
	 * several lines serve it, so many of these. Both 0: it is one experiment. */
	uint64_t experiments, served;
	uint32_t run; /* index of the startup record it follows, from 0 */
	struct point_record *points;
	size_t n_points;
	/* Own key `lines=ID:OPENING:OBSERVED,...` of a baseline whose line was picked by a sample:
	 * all lines sampled in its opening, by id. None: not known. */
	struct baseline_line *lines;
	size_t n_lines;
	/* Own key `observed`: time in which the lines' `observed` was counted; of a sum, its
	 * selected_samples. */
	uint64_t observed_ns;
};

static inline bool experiment_is_sum(const struct experiment_record *x)
{
	return x->experiments || x->served;
}

/*
 * Makes what was measured in virtual time @by times as long: duration, spans, and with as many
 * requests in flight their latency by Little's law. Visits in real time stay, and so do the
 * latencies of pairs.
 */
void experiment_stretch(struct experiment_record *x, double by);

/* samples: how often a line was sampled in a run. In the file counts are cumulative; here there is
 * one record for each line and run, the last: they add up. */
struct samples_record {
	char *location;
	uint64_t count;
	/* Own key `free`: those taken in delay-free time (no experiment, or a baseline); 0 with
	 * has_free unset: not known. */
	uint64_t free;
	bool has_free;
	uint32_t id; /* own key `id`: what the run's baselines call the line; 0: nothing */
	/* Own key `function`: the unit that holds the line, whose samples are those of its lines;
	 * NULL: none is known. */
	char *function;
	/* Own keys of waits, as text (wait_fields.h): which lines had called it, and who ended the
	 * waits. NULL: not known. A line that is there for these alone has a count of 0. */
	char *stacks, *wakers;
	/* Own key `calls`: in which system calls waits were (wait_calls.h); NULL: that is not
	 * known. */
	char *calls;
	uint32_t run;
};

/* startup and runtime, the last one of the run. */
struct run_record {
	uint64_t startup_time_ns; /* realtime */
	/* Own key `build-id` of startup: of the main executable, in hex. */
	char build_id[41];
	/* Own key `node` of startup: the machine, by its name; borrowed. NULL: not known. */
	char *node;
	/* Own key `speedups` of startup: speedups above 0 on the user's list; 0: picked at random,
	 * or not known. */
	uint32_t fixed_speedups;
	/* Own key `period` of startup: mean CPU time between samples; 0: not known. */
	uint64_t period_ns;
	/* Own key `sample-cost` of startup: for so long a sample keeps its thread from executing.
	 * 0: not known, or virtual time is without it. */
	uint64_t sample_ns;
	/* Own key `pause` of startup: how threads learned the end of their pauses, the name of a
	 * mode
	 * (--pause); empty: not known. */
	char pause[8];
	/* Own keys `runs` and `experiments` of startup: it is the sum of so many; 0: it is one. */
	uint64_t runs, experiments;
	uint64_t runtime_ns;
	/* Own keys of runtime: counters.def. */
#define COUNTER(name, ...) uint64_t name;
#include "core/profile/counters.def"
};

/* member: a run that is in a sum, which is how it is known when it is met again. */
struct member_record {
	uint64_t startup_time_ns;
	uint64_t first; /* says which its first experiment was (runs_first()) */
	uint32_t run;   /* the sum */
};

/*
 * node-speed, node-line: what is left of a node's experiments in a sum, so that nodes can still be
 * compared. core/estimate/machine_tally.c fills it. Figures of more runs add up, and errors as the
 * root of their squares. An error is a standard deviation of a sum, by scatter.
 */
struct node_speed {
	uint64_t baselines, time_ns, count; /* at the point; time / count is the period */
	/* Of time_ns, and its degrees of freedom: by scatter between experiments of a run, between
	 * its quarters and halves, and between runs. */
	uint64_t error_ns, df, quarter_error_ns, quarter_df, half_error_ns, half_df, run_error_ns,
	    run_df;
};
/* Of a line: its baselines, and its experiments with line speedups s, in permille. */
struct node_gain {
	uint64_t base_ns, base_count, base_error_ns, base_df;
	uint64_t experiments;
	/* Sums of s x count, of s x time, and of s x s x count / 1000; an error of s x time. */
	uint64_t count, time, square, error;
};
struct node_record {
	char *node, *point;
	char *line; /* NULL: it is a node-speed */
	bool is_latency;
	uint32_t run; /* the sum */
	union {
		struct node_speed speed;
		struct node_gain gain;
	};
};

struct profile {
	struct experiment_record *experiments;
	size_t n_experiments;
	struct samples_record *samples;
	size_t n_samples;
	struct run_record *runs;
	size_t n_runs;
	struct member_record *members; /* by run */
	size_t n_members;
	struct node_record *nodes; /* by run */
	size_t n_nodes;
	/* Records and lines that were not understood: skipped and counted, never fatal. */
	size_t n_skipped;
	/* Private. Of a profile that was read: it owns all names in it, and equal ones are one.
	 * Else (no items) each record owns its own. */
	struct names names;
	size_t bytes;     /* of what was read: records without their names */
	size_t max_bytes; /* 0: PROFILE_MAX_BYTES; for tests */
};

/*
 * What records in memory may take. Beyond PROFILE_FULL_BYTES, half a million experiments or more,
 * runs are added up (core/estimate/sums.h). A single run is not, and one that needs more than
 * PROFILE_MAX_BYTES is refused: that is a week of experiments at least. Estimation takes up to
 * twice as much again.
 */
#define PROFILE_FULL_BYTES (256ULL << 20)
#define PROFILE_MAX_BYTES (1ULL << 30)

/* Of a record that owns its names. */
void samples_free_names(struct samples_record *s);

/* Removes the first @n runs, with all of theirs, of a profile that was not read. */
void profile_drop_runs(struct profile *p, uint32_t n);

void profile_init(struct profile *p);
void profile_deinit(struct profile *p);

/*
 * Reads records from @in (named @name in messages) and adds them to @p, which holds nothing but
 * what was read so before. Of a line's samples records only the last one of a run is kept. A last
 * line that is cut off is counted in n_skipped. A file with no known record at all is an error (-1,
 * @e): it is not a profile. So is one that does not fit in @p's max_bytes.
 */
int profile_read(struct profile *p, FILE *in, const char *name, struct error *e);
/* Whether there is a record in the first MiB of @in. */
bool profile_is_one(FILE *in);

/*
 * The same run by run. profile_reader_next() returns 1, with all runs so far complete, when @p
 * takes more than @full bytes and another run follows: the caller may change all of @p and read on.
 * 0 is the end. Returns NULL, and -1, with @e.
 */
struct profile_reader;
struct profile_reader *profile_reader_new(
    struct profile *p, FILE *in, const char *name, struct error *e);
int profile_reader_next(struct profile_reader *r, size_t full, struct error *e);
/* Records that were understood so far. */
size_t profile_reader_known(const struct profile_reader *r);
void profile_reader_free(struct profile_reader *r);

/* Write one record each; the caller flushes. Negative when the stream has failed. */
int profile_write_startup(FILE *out, const struct run_record *r);
int profile_write_experiment(FILE *out, const struct experiment_record *x);
int profile_write_samples(FILE *out, const struct samples_record *s);
int profile_write_runtime(FILE *out, const struct run_record *r);
int profile_write_member(FILE *out, const struct member_record *m);
int profile_write_node(FILE *out, const struct node_record *n);

/* Whether there is a sum in it. */
bool profile_is_summed(const struct profile *p);
/* Runs and experiments, those in sums included. */
uint64_t profile_runs(const struct profile *p);
uint64_t profile_experiments(const struct profile *p);

/* What its records take, without their names. */
size_t profile_bytes(const struct profile *p);

/* Room for one more in an array of @n items of @size bytes that only ever grows by one: it is
 * reallocated at powers of two. NULL without memory. All arrays of a profile that was read are such
 * ones. */
void *profile_grow(void *items, size_t n, size_t size);

#endif
