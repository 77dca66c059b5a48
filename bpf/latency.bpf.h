/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Latency pairs: a begin waits in a map, by its key, for the end (paper 3.3).
 * Counting of visits is in maps.bpf.h. */
#ifndef COZBPF_LATENCY_BPF_H
#define COZBPF_LATENCY_BPF_H

#include "go.bpf.h"
#include <cozbpf/latency.h>

#define EEXIST 17

/*
 * Begins without an end yet, and their virtual time. Written by progress. Threads exit, processes
 * exec and programs give requests up, so some begins never end: the map is one whose least recently
 * used entries make room, and these are the oldest begins. It needs no sweeping, and never keeps a
 * new request from being measured; a request that is still alive when it is dropped shows as an end
 * without a begin.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct cozbpf_latency_key);
	__type(value, __u64);
} begins SEC(".maps") __weak;

/* What pairs have seen, by the index of their begins; written by progress, reset by the loader
 * between experiments. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_latency);
} latencies SEC(".maps") __weak;

static __always_inline __u64 extend(__u64 v, const struct cozbpf_arg *a)
{
	__u32 unused = 64 - 8 * a->size;

	if (unused > 56)
		return v;
	return a->is_signed ? (__u64)((__s64)(v << unused) >> unused) : v << unused >> unused;
}

/* A goroutine is a thread that the kernel knows nothing of. One that runs since before its
 * scheduler was probed is in no account yet, but the runtime names it all the same. */
static __always_inline void key_of_goroutine(
    const struct cozbpf_thread *t, struct cozbpf_latency_key *ret)
{
	const struct cozbpf_thread *own = member_of(bpf_get_current_task_btf());
	__u64 goid = 0;

	if (own && own != t)
		goid = own->runs.goid;
	else if (own)
		go_running(&goid);
	if (!goid)
		return;
	ret->tgid = t->tgid;
	ret->key = goid;
}

/* What joins the two ends: the thread or goroutine, or an argument. 0: it cannot be read. @ctx is
 * struct pt_regs where the key is no thread. */
static __always_inline int read_key(
    void *ctx, const struct cozbpf_thread *t, __u64 cookie, struct cozbpf_latency_key *ret)
{
	__u32 index = COZBPF_COOKIE_KEY(cookie), off;
	const struct cozbpf_arg *a;
	__u64 v = 0;

	ret->tgid = 0;
	ret->key = (__u64)t->order << 32 | (__u32)bpf_get_current_pid_tgid();
	if (!index && config.goroutines)
		key_of_goroutine(t, ret);
	if (!index)
		return 1;
	index--;
	a = bpf_map_lookup_elem(&args, &index);
	if (!a)
		return 0;
	off = a->reg_off;
	ret->tgid = t->tgid;
	ret->key = (__u64)a->value;
	if (a->kind == COZBPF_ARG_CONST)
		return 1;
	/* The verifier takes no variable offset into the context. */
	if (off > sizeof(struct pt_regs) - 8 ||
	    bpf_probe_read_kernel(&v, sizeof(v), (char *)ctx + off))
		return 0;
	if (a->kind == COZBPF_ARG_MEM &&
	    bpf_probe_read_user(&v, sizeof(v), (const void *)(v + (__u64)a->value)))
		return 0;
	ret->key = extend(v, a);
	return 1;
}

/*
 * Virtual time that goes on from one experiment to the next: less what was inserted in those
 * before, too. Between experiments nothing is credited, so a request that crosses their border
 * lasts as long as it does in each.
 */
static __always_inline __u64 lasting_time(__u64 v)
{
	return v - DELAY_READ(control.required_before);
}

/*
 * A request whose begin does not wait in the map. Where ends know their begins, such a request
 * never came for Little's law: it was given up, had no memory, or began before the probes were
 * there. Elsewhere it is in doubt, and the loader decides when that is known.
 * @by: how many in flight it stands for now. Returns whether it may count.
 */
static __always_inline bool in_doubt(struct cozbpf_latency *l, __s64 by)
{
	if (latency_is_known(l))
		return false;
	__sync_fetch_and_add(&l->doubtful, by);
	return true;
}

/* The begin that waits under @key is overwritten. */
static __always_inline void give_up(const struct cozbpf_thread *t, __u32 index,
    struct cozbpf_latency *l, const struct cozbpf_latency_key *key)
{
	__u64 *begun = bpf_map_lookup_elem(&begins, key);

	if (!begun)
		return; /* it has ended at this very moment */
	__sync_fetch_and_add(&l->abandoned, 1);
	if (!in_doubt(l, 1))
		count_visits_at(t, index, -1ULL, *begun + DELAY_READ(control.required_before));
}

/* Whether the begin at @at waits for its end. */
static __always_inline bool remember(
    void *ctx, const struct cozbpf_thread *t, __u64 cookie, struct cozbpf_latency *l, __u64 at)
{
	struct cozbpf_latency_key key = {.point = COZBPF_COOKIE_POINT(cookie)};
	long err;

	if (!read_key(ctx, t, cookie, &key))
		return false;
	err = bpf_map_update_elem(&begins, &key, &at, BPF_NOEXIST);
	if (err == -EEXIST) {
		give_up(t, key.point, l, &key);
		err = bpf_map_update_elem(&begins, &key, &at, BPF_ANY);
	}
	return !err;
}

static __always_inline void begin_latency(void *ctx, const struct cozbpf_thread *t, __u64 cookie)
{
	__u32 index = COZBPF_COOKIE_POINT(cookie);
	struct cozbpf_latency *l = bpf_map_lookup_elem(&latencies, &index);
	__u64 v = delay_virtual_time(t, &control, bpf_ktime_get_ns());

	if (l && !remember(ctx, t, cookie, l, lasting_time(v))) {
		__sync_fetch_and_add(&l->lost, 1);
		if (!in_doubt(l, 1))
			return;
	}
	count_visits_at(t, index, 1, v);
}

/* Virtual time since the begin of the request that ends. False: it has none. */
static __always_inline bool since_begin(
    void *ctx, const struct cozbpf_thread *t, __u64 cookie, __u64 now, __s64 *took)
{
	struct cozbpf_latency_key key = {.point = COZBPF_COOKIE_POINT(cookie) - 1};
	__u64 *begun = NULL;

	if (read_key(ctx, t, cookie, &key))
		begun = bpf_map_lookup_elem(&begins, &key);
	if (!begun)
		return false;
	*took = (__s64)(now - *begun);
	/* Of two ends at the same moment one deletes it. */
	return !bpf_map_delete_elem(&begins, &key);
}

/*
 * An end in the window counts wherever it began: without those that began before it long requests
 * would be missing. V1 is not known yet, so the few that end between it and the close count, too.
 */
static __always_inline void end_latency(void *ctx, const struct cozbpf_thread *t, __u64 cookie)
{
	__u32 index = COZBPF_COOKIE_POINT(cookie) - 1;
	struct cozbpf_latency *l = bpf_map_lookup_elem(&latencies, &index);
	__u64 v = delay_virtual_time(t, &control, bpf_ktime_get_ns());
	__s64 took = 0;
	bool matches = l && since_begin(ctx, t, cookie, lasting_time(v), &took);
	__u32 cell;

	if (l && !matches) {
		__sync_fetch_and_add(&l->unmatched, 1);
		if (!in_doubt(l, -1))
			return;
	}
	count_visits_at(t, index + 1, 1, v);
	if (!matches)
		return;
	__sync_fetch_and_add(&l->matched, 1);
	if (!DELAY_READ(control.active) || v <= control.counted_ns)
		return;
	/* A thread that is ahead by its debt may hand over to one that has none: below 0, which has
	 * no cell. */
	cell = latency_index(took > 0 ? (__u64)took : 0);
	if (cell >= COZBPF_LATENCY_CELLS)
		return;
	__sync_fetch_and_add(&l->sum, took);
	__sync_fetch_and_add(&l->cells[cell], 1);
}

#endif
