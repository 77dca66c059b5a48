/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel side of one profiling session: BPF objects, maps, perf events, probes. Everything
 * hangs on file descriptors of this process: when it goes, however it goes, the kernel takes it all
 * down. Not thread safe. Times are CLOCK_MONOTONIC ns.
 */
#ifndef COZBPF_SESSION_H
#define COZBPF_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include <cozbpf/latency.h>
#include "core/experiment/readings.h"
#include "core/places/linemap.h"
#include "core/text/errors.h"
#include "core/profile/profile.h"
#include "core/profile/wait_fields.h"
#include "kernel/pause_mode.h"

struct session;

struct session_config {
	int signal; /* number of the pause signal */
	bool follow_children;
	bool sleep_pauses, any_stack, sync_uprobe, inclusive; /* see cozbpf_config */
	unsigned n_cpus; /* with sleep_pauses: those that the target may use */
	uint32_t min_debt_ns;
	size_t spare_ranges, spare_lines; /* room for objects that come later */
	size_t unwind_rows;               /* room for those of all objects */
	bool latencies;                   /* there are latency pairs */
	/* see cozbpf_config; of waits the first id is line_map_add_waits()'s */
	uint32_t waits, wait_first, wait_disk, call_first, kernel_unit;
	bool goroutines; /* those of Go programs have accounts; their runtime: */
	struct cozbpf_go go;
	bool peers;        /* nodes share their delays (kernel/peers.h) */
	bool watches_only; /* no experiment will open: scheduler events stay as they are */
	/* Blocks are timed (kernel/blocks.h), of threads: not with goroutines. Then watches_only
	 * leaves switches be attached. */
	bool blocks;
	/* Without an experiment: so many of the samples, in 1/COZBPF_PERTURB_ONE, make their thread
	 * pause for a random time. It follows from the seed, the thread and its sample. While
	 * session_watch() is called. */
	uint32_t perturb;
	uint64_t perturb_seed;
	const char *pause; /* name of the mode of pausing; NULL: the best that works */
	bool sleeps;       /* session_sleep() will be called */
};

/* Loads the programs with room for @lines. Nothing is attached yet. -1 with @e: EXIT_FORBIDDEN when
 * the kernel refuses. */
int session_create(const struct session_config *c, const struct line_map *lines,
    struct session **ret, struct error *e);
void session_destroy(struct session *s); /* detaches everything; accepts NULL */

/* Takes programs, probes and sampling down; counters and maps can still be read. */
void session_detach(struct session *s);
const struct pause_mode *session_pause_mode(const struct session *s);

/* Copies objects that were added to the line map since the last call into the kernel's line table.
 * -1 with @e when there is no room. */
int session_add_lines(struct session *s, const struct line_map *lines, struct error *e);

/* Gives names to the units of waits that have come since the last call. */
void session_name_waits(struct session *s, struct line_map *lines);
/* The unit of waits of @class in @line, 0: of all lines. Before session_attach(). 0: there is none.
 */
uint32_t session_add_wait(struct session *s, struct line_map *lines, unsigned class, uint32_t line);

/* Takes all that waits were counted for by stack and by waker: later ones count anew. The caller's
 * to free; without memory it is less. */
void session_take_waits(const struct session *s, struct wait_counts *ret);

/* The ranges @first to @first + @n are the kernel's, by addresses. Before session_attach(). */
void session_set_kernel(struct session *s, uint32_t first, uint32_t n);
/* Room for @n ranges that may be written again, for good; *@first is its place. 0 or -ENOSPC. */
int session_reserve_ranges(struct session *s, size_t n, uint32_t *first);
/* Writes some of them: disjoint, by address. No process may have them mapped meanwhile. */
void session_set_ranges(
    struct session *s, uint32_t first, const struct line_range *ranges, size_t n);
/* How many of the map's lines have counts: ids below that. */
size_t session_lines(const struct session *s, const struct line_map *lines);
/* How many more lines there is room for. */
size_t session_spare_lines(const struct session *s, const struct line_map *lines);

/* Makes the single-threaded process @pid (and with follow_children all that it forks) the target.
 */
int session_add_process(struct session *s, int pid, int pidfd, const char *comm, struct error *e);

/*
 * Makes all threads of the processes whose mappings have been told (session_set_mappings()) the
 * target's, as far as they are not; after session_attach(). Called without any such process it only
 * finds out in whose PID namespace we are, which every session does first.
 */
int session_adopt(struct session *s, struct error *e);

/* The seccomp filters that the process's threads have at the moment let pauses be, or do not: only
 * threads whose filters do are paused. Those attached to have been looked at before. */
void session_trust_filters(struct session *s, int pid, bool good);

/* Adds rows for unwinding, as many as there is room for: returns how many, with the place of the
 * first. */
size_t session_add_unwind_rows(
    struct session *s, const struct cozbpf_unwind_row *rows, size_t n, uint32_t *first);

/* Tells where objects are mapped in a process; replaces what was told before. */
int session_set_mappings(
    struct session *s, int pid, const struct cozbpf_mapping *mappings, size_t n);

/* Of a process that has ended. */
void session_drop_mappings(struct session *s, int pid);

/* What a process maps, as was told of it, or of the process that it was forked from. False: nothing
 * was. */
bool session_mappings(const struct session *s, int pid, struct cozbpf_proc *ret);

/* Attaches lifecycle and scheduler programs, then starts sampling on every CPU; @period_ns is the
 * CPU time between its samples, as the user gave it. */
int session_attach(struct session *s, uint64_t period_ns, struct error *e);
/* Another period than session_attach() was given, before the first experiment. */
void session_set_period(struct session *s, uint64_t period_ns);

/*
 * Between experiments: takes out all that costs the target something, without a thread of it in a
 * pause. Births, execs and ends of its threads are still followed, so the target stays known.
 * Probes of waits by trying again, of goroutines and of calls are dropped: whoever wakes the
 * session adds them again.
 */
void session_sleep(struct session *s);
/* -1 with @e: not all of it could be put in again. Accounts of threads begin anew. */
int session_wake(struct session *s, struct error *e);

bool session_is_asleep(const struct session *s);

/* The mean CPU time between samples, a little less than what the user gave. */
uint64_t session_period(const struct session *s);

/* For how long a sample keeps its thread from executing, and the part of that before its program
 * looks at the clock. */
struct sample_cost {
	uint64_t whole_ns, entry_ns;
};

/*
 * Measures what a sample costs, for 64 to 128 periods of a millisecond at most (costs.c). Pauses
 * take it into account from now on, and virtual time is without it where @sample_free. 0: it cannot
 * be told, where others have the CPU.
 */
struct sample_cost session_measure_samples(struct session *s, bool sample_free);

/* As measured last, in virtual time: 0 where that is without samples, or the cost is not known. */
uint64_t session_sample_cost(const struct session *s);

/* A place whose visits count for a point. Several may serve one point. */
struct point_probe {
	unsigned index, role, key; /* of the point; COZBPF_ROLE_*; see COZBPF_COOKIE() */
	const char *path;          /* object_probe_path(), or NULL: a tracepoint */
	const char *file;          /* the same file, for messages */
	uint64_t offset;           /* in the file */
	uint64_t
	    semaphore; /* file offset of a counter to be raised while the probe is there; 0: none */
	bool at_return; /* of the function that begins there */
	const char *category, *name;
};
/*
 * Uprobes are there after session_place_probes() only, those of a file as one link of the kernel:
 * it takes some 120 ms to remove each link. @p's strings are to live as long. -1 with @e:
 * EXIT_USAGE where a place cannot be probed or there is no such tracepoint, EXIT_FORBIDDEN where
 * the machine does not allow it.
 */
int session_add_probe(struct session *s, const struct point_probe *p, struct error *e);
int session_place_probes(struct session *s, struct error *e);
void session_forget_probes(struct session *s); /* that are not there yet */

/*
 * What a visit costs the program at least at a probe of that sort, measured on a function of ours,
 * whose visits are not counted: ns, 0 when that fails. Takes some 100 ms, for the probe to be
 * removed.
 */
enum visit_sort {
	VISIT_CHEAP,   /* the kernel emulates the instruction */
	VISIT_STEPPED, /* it steps it singly */
	VISIT_RETURN,  /* of a function whose first instruction is emulated */
	VISIT_RETURN_STEPPED,
	VISIT_SORTS,
};
uint64_t session_visit_cost_ns(const struct session *s, enum visit_sort sort);

/* Time executed in a line (an id of the line map) counts as visits to a point: one for each
 * COZBPF_SAMPLED_UNIT_NS. -1 with @e: it is another point's. */
int session_add_sampled(struct session *s, unsigned index, uint32_t line, struct error *e);

/*
 * Of the pair whose begins are point @index and whose ends are the next one: what was matched, and
 * how many had begun and not ended at V0 of the experiment that was closed last, counted from the
 * time when the probes were attached.
 */
const struct cozbpf_latency *session_latency(const struct session *s, unsigned index);
int64_t session_in_flight(const struct session *s, unsigned index);

/* Says where a key is: *@ret becomes the `key` of probes. */
int session_add_key(
    struct session *s, const struct cozbpf_arg *arg, unsigned *ret, struct error *e);

/* Coz's coz.h: tells of new counters (COZBPF_EVENT_COUNTER) by a probe at @offset of the shim at
 * @path. */
int session_watch_counters(struct session *s, const char *path, uint64_t offset, struct error *e);
/* What a counter of process @pid grows by counts as visits to a point. -1 with @e when there is no
 * room. */
int session_add_counter(
    struct session *s, int pid, uint64_t address, unsigned point, struct error *e);
void session_drop_counters(
    struct session *s, int pid); /* of a process that has ended, or executes another program */

/* --sync=uprobe: calls of one process, at file offsets of @path. */
struct call_sites {
	int pid;
	const char *path;
	const uint64_t *offsets,
	    *cookies; /* @n of each; cookies: COZBPF_CALL_* and COZBPF_RESULT_* of abi.h */
	size_t n;
};

/* Probes calls, and the returns of those that may block. All probes of a process go with
 * session_drop_calls(), of every process for @pid 0. */
int session_add_calls(struct session *s, const struct call_sites *at, struct error *e);
void session_drop_calls(struct session *s, int pid);

/* Samples are to look for threads that wait by trying again: COZBPF_SPINS_*, 0: no more. */
void session_look_for_spins(struct session *s, unsigned what);
/* A probe in a loop that spins takes @ns. */
void session_set_spin_cost(struct session *s, uint64_t ns);
/* How many have found one so far, of the kind @what. */
uint64_t session_spin_samples(const struct session *s, unsigned what);
/* From now on calls of sched_yield() tell who spins. Each system call of the machine then costs
 * some 0.1 us more. */
int session_watch_yields(struct session *s, struct error *e);

/* The latest samples in user mode, all of them later than those of the call before. False: so many
 * have not come since then. */
bool session_take_spots(struct session *s, struct cozbpf_spot ret[COZBPF_SPOTS]);
/* How the probed branch of an idle loop went; @loop as in the cookie of its probe. */
struct cozbpf_loop session_loop(const struct session *s, unsigned loop);

/* Places of one file in one process, each executed once in a turn of a loop that waits. */
struct spin_sites {
	int pid;
	const char *path;                  /* to open the file by */
	uint64_t dev, ino;                 /* as maps says, to know it by */
	const uint64_t *offsets, *cookies; /* @n of each; cookies: COZBPF_LOOP_COOKIE() */
	size_t n;
};
/* How many places of the file are probed in the process, those included that could not be. */
size_t session_count_spins(const struct session *s, int pid, uint64_t dev, uint64_t ino);
/* Probes further ones. -1 with @e: not again either. */
int session_add_spins(struct session *s, const struct spin_sites *at, struct error *e);
void session_drop_spins(struct session *s, int pid); /* of every process for @pid 0 */
/* All of one file, in every process. */
void session_drop_file_spins(struct session *s, uint64_t dev, uint64_t ino);
/* The process is gone: its probes go some time. */
void session_end_spins(struct session *s, int pid);

/* Whether the kernel takes the probes that goroutines need: 0, or -1 with @e. */
int session_takes_goroutines(struct error *e);
/* Where the runtime of a process calls its scheduler; cookies: COZBPF_GO_COOKIE() of abi_go.h. */
struct go_sites {
	int pid;
	const char *path;
	const uint64_t *offsets, *cookies; /* @n of each */
	size_t n;
};
/* Probes them, and so gives the goroutines of the process accounts; once for each process. -1 with
 * @e: not again either. */
bool session_has_goroutines(const struct session *s, int pid);
int session_add_goroutines(struct session *s, const struct go_sites *at, struct error *e);
/* Of a process that has ended, or executes another program; of every process for @pid 0. */
void session_drop_goroutines(struct session *s, int pid);
/* False: a thread's runtime is not as session_config says. */
bool session_go_is_sound(const struct session *s);

/* What a probe that is hit costs, measured on our own pthread_mutex_unlock(), which is at @offset
 * of @path: ns, 0 when that fails. */
uint64_t session_probe_cost_ns(const struct session *s, const char *path, uint64_t offset);

/* Readable when events wait; session_events() hands each to @handle. Only COZBPF_EVENT_COUNTER has
 * more than its `event`. */
int session_event_fd(const struct session *s);
void session_events(struct session *s,
    void (*handle)(const struct cozbpf_counter_event *event, void *arg), void *arg);

/* From now on each in-scope sample may be the answer, counters.picked_line, all of them equally
 * likely: the longer one waits, the more samples the answer is drawn from. */
void session_ask_line(struct session *s);

/* Opens an experiment; the buckets of all points are cleared. */
void session_open_experiment(struct session *s, const struct opening *o);
/*
 * To be called more often than each second: an experiment, or perturbation, that nobody has watched
 * for two asks for no more pauses, and does not count. Begins to sample on CPUs that have come, or
 * come back.
 */
void session_watch(struct session *s);
/* A CPU that is online could not be sampled again, for the reason in @ret: no experiment counts
 * meanwhile. True once. */
bool session_lost_cpu(struct session *s, struct error *ret);
void session_close_experiment(struct session *s, struct snapshot *ret);

void session_read(const struct session *s, struct counters *ret);
/* Latest time up to which a thread may still be in a pause. */
uint64_t session_pause_horizon(const struct session *s);
/* Fills visits, paced and buckets; these are read in place. */
void session_read_point(const struct session *s, unsigned index, struct point_reading *ret);
/* To a point, since the session began. */
uint64_t session_visits(const struct session *s, unsigned index);
/* By line id, below session_lines(); read in place. */
const struct cozbpf_line_count *session_line_counts(const struct session *s);

/* Fills the counters of a run that the kernel side counts (core/profile/counters.def), since the
 * session began. It looks at each process that there was: too much for each experiment. */
void session_run_counters(const struct session *s, struct run_record *ret);

/* Since the session began. */
void session_cpu_use(const struct session *s, struct cpu_use *ret);

/* What happened to a process so far; all 0 when it is not of the target. */
void session_process(const struct session *s, int pid, struct cozbpf_proc_stats *ret);

/* Whether the process is the target's, as long as its first thread lives. */
bool session_has_process(const struct session *s, int pidfd);

/* Statistics of every process seen; @handle gets each. */
void session_processes(const struct session *s,
    void (*handle)(int pid, const struct cozbpf_proc_stats *stats, void *arg), void *arg);

#endif
