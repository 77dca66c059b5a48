/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * What a CPU knows of the target's threads that had it: its clock, the last slice, what they have
 * executed. Each CPU looks at its own state only, and at control.idle, which is one CPU's at a
 * time. Part of delay.h.
 */
#ifndef COZBPF_DELAY_CPU_H
#define COZBPF_DELAY_CPU_H

#include <cozbpf/delay_advance.h>

/* FIT_CPUS: what the account executes from @now on is counted by the next delay_executed(). */
DELAY_INLINE void delay_executed_from(
    struct cozbpf_cpu *cpu, const struct cozbpf_account *a, __u64 now)
{
	cpu->executed_to = now;
	cpu->executed_paid = a->paid;
	cpu->executed_epoch = a->epoch;
}

/* Counts what it has executed since then: the time less what its L grew by, which is no time
 * virtually. At the opening of an experiment L is 0. */
DELAY_INLINE void delay_executed(struct cozbpf_cpu *cpu, const struct cozbpf_account *a,
    const struct cozbpf_control *x, __u64 now)
{
	int before = cpu->executed_epoch != a->epoch;
	__u64 began = cpu->executed_to,
	      from = before && began < x->opened_ns ? x->opened_ns : began,
	      paid = before ? 0 : cpu->executed_paid;
	__u64 executed =
	    now > from && now - from + paid > a->paid ? now - from + paid - a->paid : 0;

	delay_executed_from(cpu, a, now);
	if (DELAY_READ(x->active) && began)
		cpu->executed_ns += executed;
}

/* LAST_SLICE: a thread has got the CPU; its L is as it goes on with, and it executes since
 * run_since.
 */
DELAY_INLINE void delay_slice_begin(struct cozbpf_cpu *cpu, const struct cozbpf_account *a)
{
	cpu->began = a->run_since;
	cpu->began_paid = a->paid;
	cpu->began_epoch = a->epoch;
}

/* The thread leaves it. At the opening of an experiment L is 0. */
DELAY_INLINE void delay_slice_end(struct cozbpf_cpu *cpu, const struct cozbpf_account *a,
    const struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_slice *s = &cpu->slice;
	int begun_before = cpu->began_epoch != a->epoch;
	__u64 paid = begun_before ? 0 : cpu->began_paid,
	      from = begun_before && cpu->began < x->opened_ns ? x->opened_ns : cpu->began;

	s->from = cpu->began && from < now ? from : now;
	s->to = now;
	s->took = now - s->from + paid > a->paid ? now - s->from + paid - a->paid : 0;
	cpu->began = 0;
}

/* By how much L grew in the last slice of a thread of the target on this CPU, since @since. */
DELAY_INLINE __u64 delay_grown_since(const struct cozbpf_cpu *cpu, __u64 since)
{
	const struct cozbpf_slice *s = &cpu->slice;
	__u64 length = s->to - s->from, grown = length > s->took ? length - s->took : 0;

	if (s->to <= since || !grown)
		return 0;
	return s->from >= since ? grown : grown * (s->to - since) / length;
}

/* A thread of the target leaves the CPU of that @number idle. One idle CPU at a time is known. */
DELAY_INLINE void delay_idle_begins(struct cozbpf_control *x, __u32 number, __u64 now)
{
	if (!DELAY_READ(x->idle.cpu) && !__sync_val_compare_and_swap(&x->idle.cpu, 0, number))
		x->idle.from = now;
}

/* Whether the CPU is the one that is known to be idle. */
DELAY_INLINE int delay_is_idle(const struct cozbpf_control *x, __u32 number)
{
	return DELAY_READ(x->idle.cpu) == number;
}

/* Something is about to run on the CPU that was idle. */
DELAY_INLINE void delay_idle_ends(struct cozbpf_control *x, __u64 now)
{
	x->idle.to = now;
	x->idle.cpu = 0;
}

/* How much of the latest idle time lies between @since and @now. A CPU that has not written yet
 * since when it is idle shows the time before. */
DELAY_INLINE __u64 delay_idle_since(const struct cozbpf_control *x, __u64 since, __u64 now)
{
	__u64 from = DELAY_READ(x->idle.from), to = DELAY_READ(x->idle.to);

	if (DELAY_READ(x->idle.cpu) && from > to)
		to = now;
	from = from > since ? from : since;
	to = to < now ? to : now;
	return to > from ? to - from : 0;
}

#endif
