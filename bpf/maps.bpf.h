/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Maps and globals of all programs. They are weak, so that every object may carry the definition
 * and the linker keeps one. */
#ifndef COZBPF_MAPS_BPF_H
#define COZBPF_MAPS_BPF_H

#include "compat.bpf.h"
#include <cozbpf/abi.h>

const volatile struct cozbpf_config config SEC(".rodata") __weak;

#include <cozbpf/delay.h> /* its rules look at config */

struct cozbpf_control control SEC(".bss") __weak;

/* Where samples meet threads; written by sample. How idle loops turn; written by spin. */
struct cozbpf_spots spots SEC(".bss") __weak;
struct cozbpf_loop loops[COZBPF_LOOPS] SEC(".bss") __weak;

/* With --peers: the run's; the loader's, and counted by peers. */
struct cozbpf_peering peering SEC(".bss") __weak;

/* Threads of the target. Written by all programs; created at fork (lifecycle) or by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cozbpf_thread);
} threads SEC(".maps") __weak;

/* Goroutines. Written by all programs; created and deleted by go, deleted by the loader where their
 * process is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct cozbpf_goroutine);
	__type(value, struct cozbpf_thread);
} goroutines SEC(".maps") __weak;

/* Line table; written by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_range);
} ranges SEC(".maps") __weak;

/* Unwind rows of all objects; written by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_unwind_row);
} unwind_rows SEC(".maps") __weak;

/* Samples per line id; written by sample, read by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_line_count);
} line_counts SEC(".maps") __weak;

/* Waits as units, by id of a line and class: the unit's id, 0: it has none yet. Of units, in the
 * order of their ids: which line it is; of a class how many lines it has. Written by waits, and by
 * the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, __u64); /* values of an array lie 8 bytes apart */
} wait_ids SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, COZBPF_WAIT_CLASSES *COZBPF_WAIT_UNITS);
	__type(key, __u32);
	__type(value, __u64);
} wait_lines SEC(".maps") __weak;

/* Samples of waits, by their stacks and by who ended them. Written by waits; read and emptied by
 * the loader between runs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COZBPF_WAIT_STACKS); /* 1 without --off-cpu, set by the loader */
	__type(key, struct cozbpf_wait_stack);
	__type(value, __u64);
} wait_stacks SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COZBPF_WAKERS); /* likewise */
	__type(key, struct cozbpf_waker);
	__type(value, __u64);
} wakers SEC(".maps") __weak;

/* Of waits that are units of lines: samples in each system call. Written by waits, emptied by the
 * loader between runs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct cozbpf_wait_call);
	__type(value, __u64);
} wait_call_counts SEC(".maps") __weak;

/* Mappings per process; written by the loader, copied at fork, deleted at exec and exit
 * (lifecycle). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, COZBPF_PROCESSES);
	__type(key, __u32);
	__type(value, struct cozbpf_proc);
} procs SEC(".maps") __weak;

/* Kept after the process has gone, for the report; the least recently used make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, COZBPF_PROCESSES);
	__type(key, __u32);
	__type(value, struct cozbpf_proc_stats);
} proc_stats SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cozbpf_cpu);
} cpus SEC(".maps") __weak;

/* What each CPU's thread earns, for those that spin; by the number of the CPU. Written by sample,
 * wake and spin, each on its own CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_earner);
} earners SEC(".maps") __weak;

/* Visits; written by progress, reset by the loader between experiments. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, COZBPF_POINTS);
	__type(key, __u32);
	__type(value, struct cozbpf_point);
} points SEC(".maps") __weak;

/* The set of counters (its index) of a process; written by the loader, copied at fork, deleted at
 * exec and exit (lifecycle). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, COZBPF_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} process_counters SEC(".maps") __weak;

/* Written by the loader, but for what has been seen of them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, COZBPF_COUNTER_SETS);
	__type(key, __u32);
	__type(value, struct cozbpf_counter_set);
} counter_sets SEC(".maps") __weak;

/* Where the keys of latency pairs are; written by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COZBPF_ARGS);
	__type(key, __u32);
	__type(value, struct cozbpf_arg);
} args SEC(".maps") __weak;

/* Blocks that threads have entered and not left; written by blocks, deleted at exec (lifecycle). */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cozbpf_block_thread);
} block_threads SEC(".maps") __weak;

/* What makes a socket readable on this CPU; written by peers, read by wake. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cozbpf_arrival);
} arrivals SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps") __weak;

/* The state of a task of the target as a kernel thread, NULL for others. */
static __always_inline struct cozbpf_thread *member_of(struct task_struct *task)
{
	struct cozbpf_thread *t = bpf_task_storage_get(&threads, task, 0, 0);

	return t && t->member ? t : NULL;
}

/* The target's kernel thread @t stands still at somebody's request (compat_is_stopped()), or does
 * not any more. */
static __always_inline void set_stopped(struct cozbpf_thread *t, bool stopped)
{
	if (t->stopped == stopped)
		return;
	t->stopped = stopped;
	__sync_fetch_and_add(&control.stopped, stopped ? 1 : -1);
	__sync_fetch_and_add(&control.stops, 1);
}

/* The state of what the kernel thread @t, NULL for none, runs: its own, or a goroutine's. NULL: a
 * runtime's work, which is in nobody's account. */
static __always_inline struct cozbpf_thread *run_by(struct cozbpf_thread *t)
{
	struct cozbpf_goroutine key = {};

	if (!config.goroutines || !t || t->runs.what < COZBPF_RUNS_RUNTIME)
		return t;
	if (t->runs.what == COZBPF_RUNS_RUNTIME)
		return NULL;
	key.goid = t->runs.goid;
	key.tgid = t->tgid;
	return bpf_map_lookup_elem(&goroutines, &key);
}

/* The same of a task. */
static __always_inline struct cozbpf_thread *thread_of(struct task_struct *task)
{
	return config.goroutines ? run_by(member_of(task)) : member_of(task);
}

/* @n visits of a paced or late account. Visits that several timers feed in turn count as fed by
 * none of them. */
static __always_inline void count_paced(
    struct cozbpf_point *point, const struct cozbpf_account *a, __u64 n)
{
	if (a->paced == COZBPF_PACED)
		__sync_fetch_and_add(&point->paced, n);
	if (point->pace_phase == a->pace_phase && point->pace_ns == a->pace_ns)
		__sync_fetch_and_add(&point->fed, n);
	point->pace_phase = a->pace_phase;
	point->pace_ns = a->pace_ns;
}

/*
 * @n visits of thread @t, the current one, to a progress point, at virtual time @v; 0 where no
 * experiment is open: that is before all windows. What is not in the buckets of this experiment and
 * not before V0 counts as late, so that the loader can tell how many visits lay before V0, whenever
 * it looks.
 */
static __always_inline void count_visits_at(
    const struct cozbpf_thread *t, __u32 index, __u64 n, __u64 v)
{
	struct cozbpf_point *point = bpf_map_lookup_elem(&points, &index);
	__u32 epoch = DELAY_READ(control.epoch); /* before `active`: an experiment that opens
						    meanwhile takes the visit for one before V0 */
	__u64 bucket, from;

	if (!point)
		return;
	__sync_fetch_and_add(&point->visits, n);
	if (delay_is_fed(delay_account(t)))
		count_paced(point, delay_account(t), n);
	if (!DELAY_READ(control.active)) {
		__sync_fetch_and_add(&point->late[epoch & 1], n);
		return;
	}
	from = control.counted_ns;
	if (v <= from)
		return;
	v -= from;
	bucket = v >> (control.bucket_shift & 63);
	if (bucket >= COZBPF_BUCKETS) {
		__sync_fetch_and_add(&point->late[epoch & 1], n);
		return;
	}
	__sync_fetch_and_add(&point->buckets[bucket].count, n);
	__sync_fetch_and_add(&point->buckets[bucket].sum, n * v);
}

/* The same now, in virtual time. */
static __always_inline void count_visits(const struct cozbpf_thread *t, __u32 index, __u64 n)
{
	count_visits_at(t, index, n,
	    DELAY_READ(control.active) ? delay_virtual_time(t, &control, bpf_ktime_get_ns()) : 0);
}

static __always_inline struct cozbpf_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

#endif
