/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Visits to the probes of a block: which entry an exit belongs to, what is recorded, and the CPU
 * time that a thread has executed. Pure: no clock, no map, no helper.
 */
#ifndef COZBPF_BLOCK_VISIT_H
#define COZBPF_BLOCK_VISIT_H

#include <cozbpf/abi.h>
#include <cozbpf/delay_account.h>

/* What the thread has executed, @ran of it so far, was executed on this CPU since the last call. */
DELAY_INLINE void block_tell(struct cozbpf_thread *t, struct cozbpf_cpu *cpu, __u64 ran)
{
	cpu->ran_ns += ran - t->told_ns;
	t->told_ns = ran;
}

/* A sample, before delay_on_sample() begins to count anew. */
DELAY_INLINE void block_on_sample(struct cozbpf_thread *t, struct cozbpf_cpu *cpu, __u64 now)
{
	t->ran_ns += delay_unsampled(delay_account(t), now);
	block_tell(t, cpu, t->ran_ns);
	cpu->ran_since = now;
}

/*
 * A CPU has changed from thread @out to thread @in, NULL: not the target's. What an outsider had of
 * it counts as executed by OUSTED_SLOWER, and not as a block's.
 */
DELAY_INLINE void block_on_switch(
    struct cozbpf_thread *out, struct cozbpf_thread *in, struct cozbpf_cpu *cpu, __u64 now)
{
	if (out)
		block_tell(out, cpu, out->ran_ns + delay_account(out)->unsampled);
	cpu->ran_since = in ? now : 0;
	if (in && delay_account(in)->run_since < now)
		delay_account(in)->run_since = now;
}

/* False: the sample program, or a switch, has come in between. */
DELAY_INLINE int block_glance(const struct cozbpf_thread *t, __u64 now, __u64 *ret)
{
	const struct cozbpf_account *a = delay_account(t);
	__u64 from = DELAY_READ(a->run_since), ran = DELAY_READ(t->ran_ns);

	*ret = ran + DELAY_READ(a->unsampled) + (from && now > from ? now - from : 0);
	return DELAY_READ(a->run_since) == from && DELAY_READ(t->ran_ns) == ran;
}

/* CPU time that the current thread has executed so far: pauses, preemption and samples' programs
 * left out. Two looks: samples do not come that close. */
DELAY_INLINE __u64 block_executed(const struct cozbpf_thread *t, __u64 now)
{
	__u64 ret;

	if (!block_glance(t, now, &ret))
		block_glance(t, now, &ret);
	return ret;
}

/*
 * A block is entered. True: it is timed from now on. At a lower stack pointer than the open entry's
 * it is entered within itself. At the same or a higher one the open entry was left without its
 * exit, by an exception or longjmp().
 */
DELAY_INLINE int block_opens(struct cozbpf_block_open *o, __u32 generation, __u64 sp)
{
	if (o->generation == generation && sp < o->sp) {
		o->depth++;
		return 0;
	}
	o->generation = generation;
	o->sp = sp;
	o->depth = 0;
	return 1;
}

/* It is left. True: the open entry is that of the outermost one, and is taken. */
DELAY_INLINE int block_closes(struct cozbpf_block_open *o, __u32 generation)
{
	if (o->generation != generation)
		return 0;
	if (o->depth) {
		o->depth--;
		return 0;
	}
	o->generation = 0;
	return 1;
}

/* @ns less the bias, not below 0. */
DELAY_INLINE __u64 block_less(__s64 ns, __u64 bias)
{
	return ns > (__s64)bias ? (__u64)ns - bias : 0;
}

/*
 * Between the two readings of the clock were @cpu ns of the thread's time, and @wall ns, as
 * calibrated without other probes. Sums are exact where programs of two threads of a CPU interrupt
 * each other; a least or greatest time may be lost there.
 */
DELAY_INLINE void block_record(struct cozbpf_block_stats *s, __s64 cpu, __s64 wall, __u64 bias)
{
	__u64 ns = block_less(cpu, bias), wall_ns = block_less(wall, bias);
	__u32 cell = cozbpf_block_cell(ns);

	if (cell >= COZBPF_BLOCK_CELLS)
		return;
	__sync_fetch_and_add(&s->sum_ns, ns);
	__sync_fetch_and_add(&s->wall_ns, wall_ns > ns ? wall_ns : ns);
	__sync_fetch_and_add(&s->cells[cell], 1);
	if (ns > s->max_ns)
		s->max_ns = ns;
	if (~ns > s->not_min_ns)
		s->not_min_ns = ~ns;
}

/* Adds what a slot has seen on another CPU. */
static inline __attribute__((unused)) void block_add(
    struct cozbpf_block_stats *sum, const struct cozbpf_block_stats *s)
{
	sum->entries += s->entries;
	sum->exits += s->exits;
	sum->sum_ns += s->sum_ns;
	sum->wall_ns += s->wall_ns;
	if (s->max_ns > sum->max_ns)
		sum->max_ns = s->max_ns;
	if (s->not_min_ns > sum->not_min_ns)
		sum->not_min_ns = s->not_min_ns;
	for (int i = 0; i < COZBPF_BLOCK_CELLS; i++)
		sum->cells[i] += s->cells[i];
}

#endif
