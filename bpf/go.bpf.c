// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Goroutines: Go's scheduler says which of them a thread runs, which ones wait, and who lets them
 * go on. The probes are in the runtime's functions for that, all of them on the stack of the
 * scheduler (docs/design.md, Goroutines). Attached once the program runs.
 */
#include "go.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Numbers of threads and of goroutines are apart. */
#define GO_NUMBER 0x80000000U
/* Go counts them from 1. More than that within a program's life is no number of a goroutine. */
#define GO_MOST (1ULL << 48)

/* Of zeros: what a goroutine begins as is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cozbpf_thread);
} blank SEC(".maps");

/* The new state of a goroutine that has none; NULL: there is no room. */
static __always_inline struct cozbpf_thread *create(const struct cozbpf_thread *own, __u64 goid)
{
	struct cozbpf_goroutine key = {.goid = goid, .tgid = own->tgid};
	struct cozbpf_thread *t;
	__u32 zero = 0;

	t = bpf_map_lookup_elem(&blank, &zero);
	if (t)
		bpf_map_update_elem(&goroutines, &key, t, BPF_NOEXIST);
	t = goroutine(own, goid);
	if (!t) {
		__sync_fetch_and_add(&control.go_crowded, 1);
		return NULL;
	}
	t->tgid = own->tgid;
	t->number = GO_NUMBER | (__u32)goid;
	return t;
}

/* Whether the runtime of the current thread, whose scheduler executes as @g0, is as config.go says:
 * with wrong offsets nothing is right. Once for each thread. */
static __always_inline bool is_sound(struct cozbpf_thread *own, __u64 g0)
{
	struct go_now n;
	__u64 its = 0;

	if (own->runs.what >= COZBPF_RUNS_RUNTIME)
		return true;
	if (go_read(&n) && n.g == g0 && go_word(n.m, config.go.m_g0, &its) && its == g0) {
		if (own->runs.what == COZBPF_RUNS_ITSELF)
			own->runs.what = COZBPF_RUNS_OWN;
		return true;
	}
	if (!control.go_bad) /* a line that others read */
		control.go_bad = 1;
	return false;
}

/* The current thread goes over to goroutine @goid at @g. What it ran before, if that has not left
 * yet, is runnable: it has yielded, or was preempted. */
__attribute__((noinline, weak)) int go_execute(
    struct cozbpf_thread *own, __u64 g, __u64 goid, __u64 now)
{
	struct cozbpf_cpu *cpu = this_cpu();
	struct cozbpf_thread *t;

	if (!own || !cpu)
		return 0;
	if (own->runs.what == COZBPF_RUNS_GOROUTINE && own->runs.goid == goid)
		return 0;
	cpu->go_switches++;
	if (own->runs.what != COZBPF_RUNS_RUNTIME)
		go_leave(own, DELAY_PREEMPTED, now);
	if (go_enter(own, g, goid, now))
		return 0;
	t = create(own, goid);
	if (!t)
		return go_enter_own(own, now);
	delay_on_adopt(t, &control);
	__sync_fetch_and_add(&control.go_adopted, 1);
	return go_enter(own, g, goid, now);
}

/*
 * Goroutine @goid becomes runnable, by the one that the current thread runs, as its scheduler,
 * which executes as @g0, says. Else by a timer. One that the collector has stopped for a moment was
 * not blocked.
 */
__attribute__((noinline, weak)) int go_ready(
    struct cozbpf_thread *own, __u64 g0, __u64 goid, __u64 now)
{
	struct cozbpf_thread *by = NULL, *t;
	struct cozbpf_cpu *cpu = this_cpu();
	enum delay_cause cause;
	struct go_now n;

	if (!own || !cpu)
		return 0;
	t = goroutine(own, goid);
	if (!t || !t->blocked_at)
		return 0;
	if (go_m(g0, &n) && n.curg && n.curg == own->runs.g)
		by = run_by(own);
	if (!by || by == t) {
		cpu->other_wakes++;
		delay_on_wake(t, DELAY_BY_OUTSIDE, NULL, 0, 0, &control, now);
		return 0;
	}
	cpu->joins++;
	go_excuse(by, now);
	/* Who waits for goroutines to end waits for a counter that each of them takes down last. */
	cause = by->maker == t->number ? DELAY_BY_EXIT : DELAY_BY_THREAD;
	delay_on_wake(t, cause, by, (__u32)(goid * 0x9e3779b97f4a7c15ULL >> 32), 0, &control, now);
	if (DELAY_READ(control.spins))
		spin_show(by);
	return 0;
}

/* Goroutine @goid has been made by the one that the current thread runs. */
__attribute__((noinline, weak)) int go_new(struct cozbpf_thread *own, __u64 goid, __u64 now)
{
	struct cozbpf_thread *by, *t;

	if (!own || goroutine(own, goid))
		return 0;
	t = create(own, goid);
	if (!t)
		return 0;
	by = run_by(own);
	if (by)
		delay_on_fork(t, by, &control, now);
	else
		delay_on_adopt(t, &control);
	delay_on_born(t, &control, now);
	__sync_fetch_and_add(&control.go_born, 1);
	return 0;
}

/* Goroutine @goid ends. */
__attribute__((noinline, weak)) int go_exit(struct cozbpf_thread *own, __u64 goid, __u64 now)
{
	struct cozbpf_goroutine key = {.goid = goid};
	struct cozbpf_thread *t;

	if (!own)
		return 0;
	key.tgid = own->tgid;
	t = goroutine(own, goid);
	if (t)
		delay_on_exit(t, &control, now);
	if (own->runs.what == COZBPF_RUNS_GOROUTINE && own->runs.goid == goid)
		go_leave(own, DELAY_BLOCKED, now);
	bpf_map_delete_elem(&goroutines, &key);
	return 0;
}

/* What the current thread runs is a worker of the collector. */
__attribute__((noinline, weak)) int go_collect(struct cozbpf_thread *own)
{
	struct cozbpf_thread *t =
	    own && own->runs.what == COZBPF_RUNS_GOROUTINE ? run_by(own) : NULL;

	if (t)
		t->runs.what = COZBPF_RUNS_COLLECTOR;
	return 0;
}

/* Number of the goroutine at @g; 0: it has none. The one that runs need not be asked. */
static __always_inline __u64 number_of(const struct cozbpf_thread *own, __u64 g)
{
	__u64 goid;

	if (own->runs.what == COZBPF_RUNS_GOROUTINE && own->runs.g == g)
		return own->runs.goid;
	return go_word(g, config.go.g_goid, &goid) && goid <= GO_MOST ? goid : 0;
}

/* Hook: uprobes in the runtime's scheduler, task context, with the attach cookie
 * COZBPF_GO_COOKIE(). No loops beyond delay.h's. */
SEC("uprobe")
int on_go(struct pt_regs *ctx)
{
	struct cozbpf_thread *own = member_of(bpf_get_current_task_btf());
	__u64 cookie = bpf_get_attach_cookie(ctx), g0 = compat_go_g(ctx), goid, now,
	      g = compat_go_argument(ctx, COZBPF_GO_COOKIE_RBX(cookie));

	if (!config.goroutines || !own || !is_sound(own, g0))
		return 0;
	if (COZBPF_GO_COOKIE_EVENT(cookie) == COZBPF_GO_COLLECT)
		return go_collect(own);
	goid = number_of(own, g);
	if (!goid)
		return 0;
	now = bpf_ktime_get_ns();
	switch (COZBPF_GO_COOKIE_EVENT(cookie)) {
	case COZBPF_GO_EXECUTE:
		return go_execute(own, g, goid, now);
	case COZBPF_GO_PARK:
		/* A sample in its execute() has made it leave (go_look()). */
		if (own->runs.what == COZBPF_RUNS_RUNTIME && own->runs.g == g)
			go_enter(own, g, goid, now);
		if (own->runs.what == COZBPF_RUNS_GOROUTINE && own->runs.g == g)
			return go_leave(own, DELAY_BLOCKED, now);
		return 0;
	case COZBPF_GO_READY:
		return go_ready(own, g0, goid, now);
	case COZBPF_GO_NEW:
		return go_new(own, goid, now);
	case COZBPF_GO_EXIT:
		return go_exit(own, goid, now);
	}
	return 0;
}
