/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which goroutine the current thread runs, as the memory of Go's runtime says, and what follows
 * from it. That memory is the target's and may hold anything: it is compared, and makes keys of the
 * map of goroutines, no more. All of it is skipped in programs that are not Go.
 */
#ifndef COZBPF_GO_BPF_H
#define COZBPF_GO_BPF_H

#include "spin.bpf.h"

#define GO_SYSCALL 3 /* status of a goroutine in a system call, or in C; runtime/runtime2.go */

/* Of the current thread: where the runtime says that it is. */
struct go_now {
	__u64 g; /* its stack: a goroutine's, the scheduler's, that of signals; 0: none of Go's */
	__u64 m; /* 0 with g */
	__u64 curg; /* the goroutine that it runs; 0: none */
};

static __always_inline bool go_word(__u64 base, __u32 offset, __u64 *ret)
{
	return !bpf_probe_read_user(ret, sizeof(*ret), (const void *)(base + offset));
}

static __always_inline bool go_m(__u64 g, struct go_now *ret)
{
	ret->g = g;
	return go_word(g, config.go.g_m, &ret->m) && go_word(ret->m, config.go.m_curg, &ret->curg);
}

/* False: it cannot be read. */
static __always_inline bool go_read(struct go_now *ret)
{
	__u64 g, at = compat_thread_pointer(bpf_get_current_task_btf()) + (__u64)config.go.tls_g;

	*ret = (struct go_now){};
	if (!go_word(at, 0, &g))
		return false;
	return !g || go_m(g, ret);
}

/* Number of the goroutine whose code the current thread executes; left as it is where there is
 * none.
 */
__attribute__((noinline, weak)) int go_running(__u64 *ret)
{
	struct go_now n;

	if (ret && go_read(&n) && n.g && n.g == n.curg)
		go_word(n.g, config.go.g_goid, ret);
	return 0;
}

/* The collector's workers may not be paused, so they owe nothing: who waits for one of them need
 * not pay what it owes. */
static __always_inline void go_excuse(struct cozbpf_thread *t, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 required = DELAY_READ(control.required);

	if (t->runs.what != COZBPF_RUNS_COLLECTOR)
		return;
	delay_advance(t, &control, now);
	if (a->paid < required)
		a->paid = required;
}

/* The current thread @own stops to run what it has run: that leaves as @how says. Nothing leaves
 * where another thread was faster to go over to it, as from the queue that it was put into. */
__attribute__((noinline, weak)) int go_leave(struct cozbpf_thread *own, int how, __u64 now)
{
	struct cozbpf_thread *t = run_by(own);
	struct cozbpf_cpu *cpu = this_cpu();
	bool gone;

	if (!own || !cpu)
		return 0;
	gone = own->runs.what == COZBPF_RUNS_GOROUTINE && t && t->runs.by != own->number;
	own->runs.what = COZBPF_RUNS_RUNTIME;
	if (!t || gone)
		return 0;
	if (DELAY_READ(control.spins))
		spin_released(t, now);
	go_excuse(t, now);
	delay_on_switch(t, how, NULL, 0, &control, cpu, now);
	if (DELAY_READ(control.spins))
		spin_show(NULL);
	return 0;
}

/*
 * Nobody has told that goroutine @t became runnable: a thread that looked for work has found its
 * socket ready. Where a thread looks only after its last goroutine, none was idle, and it may have
 * been ready for as long.
 */
static __always_inline void go_find(
    struct cozbpf_thread *t, const struct cozbpf_cpu *cpu, __u64 now)
{
	if (!t->blocked_at || t->runnable_at)
		return;
	delay_on_wake(t, DELAY_BY_OUTSIDE, NULL, 0, 0, &control, now);
	t->runnable_at = cpu->go_busy > t->blocked_at ? cpu->go_busy : t->blocked_at;
}

/* The current thread @own, of which the runtime had the CPU, goes on with @t, its own account or a
 * goroutine's. */
static __always_inline void go_on_with(
    struct cozbpf_thread *own, struct cozbpf_thread *t, __u32 what, __u64 now)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	if (!cpu->go_busy)
		cpu->go_busy = now;
	if (what == COZBPF_RUNS_GOROUTINE)
		go_find(t, cpu, now);
	delay_on_switch(NULL, 0, t, 0, &control, cpu, now);
	if (DELAY_READ(control.spins))
		spin_show(t);
	own->runs.what = what;
}

/* The state of a goroutine in the process of thread @own. */
static __always_inline struct cozbpf_thread *goroutine(const struct cozbpf_thread *own, __u64 goid)
{
	struct cozbpf_goroutine key = {.goid = goid, .tgid = own->tgid};

	return bpf_map_lookup_elem(&goroutines, &key);
}

/* It goes over to the goroutine @goid at @g. 0: that has no account. */
__attribute__((noinline, weak)) int go_enter(
    struct cozbpf_thread *own, __u64 g, __u64 goid, __u64 now)
{
	struct cozbpf_thread *t;

	if (!own)
		return 0;
	t = goroutine(own, goid);
	if (!t)
		return 0;
	own->runs.g = g;
	own->runs.goid = goid;
	t->runs.by = own->number;
	t->filter = own->filter;
	go_on_with(own, t, COZBPF_RUNS_GOROUTINE, now);
	return 1;
}

/* It goes over to its own account, which owes nothing for what the thread did before. */
__attribute__((noinline, weak)) int go_enter_own(struct cozbpf_thread *own, __u64 now)
{
	if (!own)
		return 0;
	own->runnable_at = 0;
	own->blocked_at = 0;
	delay_on_adopt(own, &control);
	go_on_with(own, own, COZBPF_RUNS_OWN, now);
	return 0;
}

/*
 * Brings the current thread @own up to what it runs by now: a goroutine leaves without a call that
 * is probed where it yields, is preempted, or finds no P after a system call, and it is runnable
 * then. One is met in its own code where its execute() was not seen.
 */
__attribute__((noinline, weak)) int go_look(struct cozbpf_thread *own, __u64 now)
{
	struct go_now n;
	__u64 goid;

	if (!own || !own->runs.what || !go_read(&n))
		return 0;
	if (!n.g) { /* C, in a thread that Go knows nothing of */
		if (own->runs.what != COZBPF_RUNS_OWN) {
			go_leave(own, DELAY_PREEMPTED, now);
			go_enter_own(own, now);
		}
		return 0;
	}
	if (n.curg && own->runs.what == COZBPF_RUNS_GOROUTINE && own->runs.g == n.curg)
		return 0;
	if (own->runs.what == COZBPF_RUNS_GOROUTINE || !n.curg)
		go_leave(own, DELAY_PREEMPTED, now);
	if (n.curg && n.g == n.curg && own->runs.what == COZBPF_RUNS_RUNTIME &&
	    go_word(n.curg, config.go.g_goid, &goid))
		go_enter(own, n.curg, goid, now);
	return 0;
}

/* thread_of() @task, the current one. */
static __always_inline struct cozbpf_thread *current_of(struct task_struct *task)
{
	struct cozbpf_thread *own = member_of(task);

	if (config.goroutines && own && own->runs.what)
		go_look(own, bpf_ktime_get_ns());
	return run_by(own);
}

/* The same of @prev, which leaves its CPU to @next. An idle CPU has no work for goroutines, nor has
 * a runtime that waits for some. */
static __always_inline struct cozbpf_thread *leaving_of(
    struct task_struct *prev, const struct task_struct *next)
{
	struct cozbpf_thread *t = current_of(prev);
	struct cozbpf_cpu *cpu;

	if (!config.goroutines || (next->pid && (t || !member_of(prev))))
		return t;
	cpu = this_cpu();
	if (cpu)
		cpu->go_busy = 0;
	return t;
}

static __always_inline __u32 go_int(__u64 base, __u32 offset)
{
	__u32 value = 1;

	bpf_probe_read_user(&value, sizeof(value), (const void *)(base + offset));
	return value;
}

/*
 * Whether the current thread @own may be stopped by a signal now, as far as Go's runtime is
 * concerned: it runs a goroutine's code, or C for one, and holds none of the runtime's locks. What
 * cannot be read says no.
 */
__attribute__((noinline, weak)) int go_lets_pause(struct cozbpf_thread *own)
{
	__u64 g0 = 0, off = 1;
	struct go_now n;

	if (!own || !own->runs.what)
		return 1;
	if (!go_read(&n))
		return 0;
	if (!n.g)
		return 1;
	if (!n.curg)
		return 0;
	if (n.g != n.curg && (go_int(n.curg, config.go.g_atomicstatus) != GO_SYSCALL ||
				 !go_word(n.m, config.go.m_g0, &g0) || n.g != g0))
		return 0;
	go_word(n.m, config.go.m_preemptoff + 8, &off);
	return !off && !go_int(n.m, config.go.m_locks) && !go_int(n.m, config.go.m_mallocing);
}

#endif
