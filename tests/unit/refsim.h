/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reference simulator for the delay rules: threads that run small programs on simulated CPUs, and a
 * profiler beside them that drives include/cozbpf/delay.h as the BPF programs do. It knows the true
 * answer, because it can run the same program with the line really shortened.
 *
 * To try a rule: change delay.h, run test_delay_sim, read the table. To try a knob: struct
 * sim_rules, from the environment (sim_rules_read()). To add a case: programs are arrays of struct
 * sim_op, see test_delay_sim.c. Time is ns, everything is deterministic for a seed.
 */
#ifndef COZBPF_TESTS_REFSIM_H
#define COZBPF_TESTS_REFSIM_H

#include "refsim_profiler.h"

static void sim_progress(struct sim *s, struct sim_cpu *cpu)
{
	struct sim_thread *t = cpu->cur;
	uint64_t from = cpu->at > cpu->free_at ? cpu->at : cpu->free_at,
		 ran = s->now > from ? s->now - from : 0;

	cpu->at = s->now;
	if (t && !t->in_handler && !t->spins)
		t->remaining -= ran < t->remaining ? ran : t->remaining;
}

/* How many want the CPU. */
static unsigned sim_load(const struct sim_cpu *cpu)
{
	return cpu->n_queue + !!cpu->cur;
}

static void sim_enqueue(struct sim *s, struct sim_thread *t, bool woken)
{
	struct sim_cpu *cpu = &s->cpus[t->cpu];
	bool front = woken && s->c->wake_preempts;

	for (unsigned i = 0; i < s->c->cpus; i++) {
		struct sim_cpu *other = &s->cpus[i];
		unsigned load = sim_load(other), best = sim_load(cpu);

		/* a woken thread goes where it waits least, one that ran stays unless that is much
		 * better */
		if (load + (woken ? 0 : 1) < best)
			cpu = other;
	}
	t->cpu = (unsigned)(cpu - s->cpus);
	if (!cpu->cur && !cpu->n_queue)
		cpu->kick_at = s->now + s->c->wake_ns;
	if (front)
		memmove(cpu->queue + 1, cpu->queue, cpu->n_queue * sizeof(*cpu->queue));
	cpu->queue[front ? 0 : cpu->n_queue] = t;
	cpu->n_queue++;
	if (front && cpu->slice_end > s->now)
		cpu->slice_end = s->now;
}

/* The next thread for a CPU: its own queue first, else one that waits elsewhere. */
static struct sim_thread *sim_pick(struct sim *s, struct sim_cpu *cpu)
{
	struct sim_cpu *from = cpu;
	struct sim_thread *t;

	for (unsigned i = 0; i < s->c->cpus && !cpu->n_queue; i++)
		if (sim_load(&s->cpus[i]) > s->cpus[i].n_queue &&
		    s->cpus[i].n_queue > from->n_queue)
			from = &s->cpus[i];
	if (!from->n_queue)
		return NULL;
	t = from->queue[0];
	from->n_queue--;
	memmove(from->queue, from->queue + 1, from->n_queue * sizeof(*from->queue));
	t->cpu = (unsigned)(cpu - s->cpus);
	return t;
}

/* The current thread, if any, leaves; another, if any, comes. */
static void sim_switch(struct sim *s, struct sim_cpu *cpu, bool runnable)
{
	struct sim_thread *out = cpu->cur, *in;

	sim_progress(s, cpu);
	if (out)
		out->runs = false;
	cpu->cur = NULL;
	if (out && runnable)
		sim_enqueue(s, out, false);
	in = sim_pick(s, cpu);
	sim_on_switch(s, cpu, out, runnable ? DELAY_PREEMPTED : DELAY_BLOCKED, in);
	cpu->cur = in;
	cpu->free_at = s->now + SIM_SWITCH_NS;
	cpu->slice_end = s->now + SIM_SLICE_NS;
	if (in)
		in->runs = true;
}

/* Whether experiments select what the thread begins to wait for, by @op. */
static bool sim_is_selected(const struct sim *s, const struct sim_op *op)
{
	if (s->c->selects == SIM_SLEEPS)
		return op->kind == SIM_SLEEP && op->arg == SIM_SELECTED;
	return s->c->selects == SIM_LOCKS && op->kind == SIM_LOCK;
}

static void sim_block(struct sim *s, struct sim_thread *t, enum sim_kind kind, unsigned arg)
{
	t->blocked = true;
	t->wait_kind = kind;
	t->wait_arg = arg;
	t->wait_seq = s->seq++;
	sim_switch(s, &s->cpus[t->cpu], false);
}

static void sim_wake(struct sim *s, struct sim_thread *t, struct sim_thread *by)
{
	sim_on_wake(s, t, by);
	t->blocked = false;
	t->timer_at = SIM_NEVER;
	if (by && s->c->wake_here)
		t->cpu = by->cpu;
	sim_enqueue(s, t, true);
}

/* Wakes up to @n threads that wait for this, the longest waiting ones first. */
static void sim_wake_waiters(
    struct sim *s, struct sim_thread *by, enum sim_kind kind, unsigned arg, unsigned n)
{
	while (n--) {
		struct sim_thread *first = NULL;

		for (struct sim_thread *t = s->threads; t < s->threads + SIM_THREADS; t++)
			if (t->blocked && t->wait_kind == kind && t->wait_arg == arg &&
			    (!first || t->wait_seq < first->wait_seq))
				first = t;
		if (!first)
			return;
		sim_wake(s, first, by);
	}
}

static struct sim_thread *sim_start(
    struct sim *s, const struct sim_op *program, struct sim_thread *parent)
{
	struct sim_thread *t = s->threads;

	while (t->alive)
		if (++t == s->threads + SIM_THREADS)
			abort();
	memset(t, 0, sizeof(*t));
	t->alive = true;
	t->program = program;
	t->outsider = program->kind == SIM_AWAY;
	t->turn_at = s->now;
	t->timer_at = SIM_NEVER;
	t->rng.state = rng_next(&s->rng);
	t->cpu = parent ? parent->cpu : (unsigned)(t - s->threads) % s->c->cpus;
	t->d.member = !t->outsider;
	t->d.number = ++s->born;
	if (parent) {
		t->parent = (unsigned)(parent - s->threads);
		parent->children++;
		if (s->r) {
			sim_look(s, parent);
			delay_on_fork(&t->d, &parent->d, &s->x, s->now);
		}
	}
	if (s->r)
		delay_on_born(&t->d, &s->x, s->now);
	sim_enqueue(s, t, true);
	return t;
}

/* A thread is about to wait as @op says. */
static void sim_begin_wait(struct sim *s, struct sim_thread *t, const struct sim_op *op)
{
	t->d.wait = sim_is_selected(s, op) ? SIM_SELECTED : 0;
	t->d.wait_is_lock = op->kind == SIM_LOCK;
}

static const struct sim_op outsider[] = {{.kind = SIM_AWAY}, {.kind = SIM_BURST}, LOOP};

static uint64_t sim_work(struct sim *s, struct sim_thread *t, const struct sim_op *op)
{
	uint64_t spread = op->ns * s->c->jitter_pct / 100,
		 ns = op->ns - spread + (spread ? rng_below(&t->rng, 2 * spread + 1) : 0);

	if (op->kind == SIM_SLEEP && op->arg != SIM_SELECTED)
		return op->ns;
	if (op->kind == SIM_SLEEP && s->c->selects != SIM_SLEEPS)
		return ns;
	return sim_is_line(s->c, op->arg) ? ns - ns * s->shorter_pct / 100 : ns;
}

static void sim_spin(struct sim *s, struct sim_thread *t, enum sim_kind kind, unsigned arg)
{
	t->spins = true;
	t->wait_kind = kind;
	t->wait_arg = arg;
	t->wait_seq = s->seq++;
	sim_on_spin(s, t, true);
}

/* Up to @n threads that spin for this go on, the longest waiting ones first. False: none did. */
static bool sim_release_spinners(struct sim *s, enum sim_kind kind, unsigned arg, unsigned n)
{
	bool found = false;

	while (n--) {
		struct sim_thread *first = NULL;

		for (struct sim_thread *t = s->threads; t < s->threads + SIM_THREADS; t++)
			if (t->alive && t->spins && t->wait_kind == kind && t->wait_arg == arg &&
			    (!first || t->wait_seq < first->wait_seq))
				first = t;
		if (!first)
			return found;
		sim_on_spin(s, first, false);
		first->spins = false;
		first->remaining = 0;
		found = true;
	}
	return found;
}

/* One op that takes no time. False when the thread left its CPU or spins. */
static bool sim_op_sync(struct sim *s, struct sim_thread *t, const struct sim_op *op)
{
	unsigned a = op->arg;

	switch (op->kind) {
	case SIM_LOCK:
		if (sim_is_selected(s, op) && s->shorter_pct == 100)
			break;
		sim_begin_wait(s, t, op);
		if (s->locked[a])
			return sim_block(s, t, SIM_LOCK, a), false;
		s->locked[a] = true;
		break;
	case SIM_UNLOCK:
		s->locked[a] = false;
		sim_wake_waiters(s, t, SIM_LOCK, a, 1);
		break;
	case SIM_BARRIER:
		t->pc++;
		if (++s->waiting[a] < op->ns)
			return sim_block(s, t, SIM_BARRIER, a), false;
		s->waiting[a] = 0;
		sim_wake_waiters(s, t, SIM_BARRIER, a, SIM_THREADS);
		return true;
	case SIM_SPIN_BARRIER:
		t->pc++;
		if (++s->waiting[a] < op->ns)
			return sim_spin(s, t, SIM_SPIN_BARRIER, a), false;
		s->waiting[a] = 0;
		sim_release_spinners(s, SIM_SPIN_BARRIER, a, SIM_THREADS);
		return true;
	case SIM_TICKET:
		t->pc++;
		if (s->locked[a])
			return sim_spin(s, t, SIM_TICKET, a), false;
		s->locked[a] = true;
		return true;
	case SIM_GIVE:
		s->locked[a] = sim_release_spinners(s, SIM_TICKET, a, 1);
		break;
	case SIM_PUSH:
		if (s->entries[a] >= op->ns)
			return sim_block(s, t, SIM_PUSH, a), false;
		s->entries[a]++;
		sim_wake_waiters(s, t, SIM_POP, a, 1);
		break;
	case SIM_OFFER:
		if (s->entries[a] >= op->ns)
			break;
		s->entries[a]++;
		sim_wake_waiters(s, t, SIM_POP, a, 1);
		break;
	case SIM_POP:
		if (!s->entries[a])
			return sim_block(s, t, SIM_POP, a), false;
		s->entries[a]--;
		sim_wake_waiters(s, t, SIM_PUSH, a, 1);
		break;
	case SIM_JOIN:
		if (t->children)
			return sim_block(s, t, SIM_JOIN, (unsigned)(t - s->threads)), false;
		break;
	default:
		break;
	}
	t->pc++;
	return true;
}

/* The thread has nothing left to execute: goes through its program until it has, or leaves its CPU.
 */
static void sim_step(struct sim *s, struct sim_thread *t)
{
	for (;;) {
		const struct sim_op *op = &t->program[t->pc];

		if (t->call != op)
			sim_on_return(s, t);
		switch (op->kind) {
		case SIM_RUN:
			t->pc++;
			t->line = op->arg;
			t->remaining = sim_work(s, t, op);
			if (t->remaining)
				return;
			break;
		case SIM_VISIT:
			t->pc++;
			sim_on_visit(s, t);
			break;
		case SIM_SLEEP:
		case SIM_TICK:
			t->pc++;
			t->timer_at = op->kind == SIM_SLEEP ? s->now + sim_work(s, t, op)
							    : (s->now / op->ns + 1) * op->ns;
			sim_begin_wait(s, t, op);
			sim_block(s, t, SIM_SLEEP, 0);
			return;
		case SIM_AWAY:
			t->pc++;
			t->turn_at += s->c->outsider_every_ns / 2 +
				      rng_below(&t->rng, s->c->outsider_every_ns);
			if (t->turn_at <= s->now)
				break;
			t->timer_at = t->turn_at;
			sim_block(s, t, SIM_SLEEP, 0);
			return;
		case SIM_BURST:
			t->pc++;
			t->remaining = s->c->outsider_ns;
			return;
		case SIM_SPAWN:
			t->pc++;
			sim_start(s, s->c->programs[op->arg], t);
			break;
		case SIM_EXIT:
			if (!--s->threads[t->parent].children)
				sim_wake_waiters(s, t, SIM_JOIN, t->parent, 1);
			if (s->r) {
				sim_look(s, t);
				delay_on_exit(&t->d, &s->x, s->now);
			}
			t->alive = false;
			sim_switch(s, &s->cpus[t->cpu], false);
			return;
		case SIM_LOOP:
			t->pc = 0;
			break;
		default:
			if (sim_on_call(s, t, op) || !sim_op_sync(s, t, op))
				return;
		}
	}
}

/* The signal arrives: the handler pauses for a quantum, and the next signal waits for its end. */
static void sim_deliver_quantum(struct sim *s, struct sim_thread *t)
{
	uint64_t end = s->now + s->r->quantum_ns;
	bool more = delay_owes_quantum(&t->d, s->r->quantum_ns, end);

	delay_on_quantum(&t->d, &s->x, more, end, s->now);
	t->in_handler = true;
	t->handler_end = end;
	t->signalled = more;
	t->signal_at = end;
}

/* The signal arrives: the handler pauses until the end that it was sent with. */
static void sim_deliver(struct sim *s, struct sim_cpu *cpu)
{
	struct sim_thread *t = cpu->cur;

	if (s->r->quantum_ns) {
		sim_deliver_quantum(s, t);
		return;
	}
	t->signalled = false;
	if (t->d.pause == COZBPF_PAUSE_ASKED && t->d.pause_end == t->signal_end)
		delay_on_deliver(&t->d, &s->x, s->now);
	if (s->now >= t->signal_end)
		return;
	t->in_handler = true;
	t->handler_end = t->signal_end;
	if (t->hold)
		return;
	t->d.wait = 0;
	t->timer_at =
	    t->signal_end + s->r->oversleep_ns / 2 + rng_below(&s->rng, s->r->oversleep_ns);
	sim_block(s, t, SIM_SLEEP, 0);
}

/* When the thread on a CPU does its next thing of its own. */
static uint64_t sim_next(const struct sim_cpu *cpu)
{
	const struct sim_thread *t = cpu->cur;
	uint64_t from = cpu->at > cpu->free_at ? cpu->at : cpu->free_at, next;

	if (t->in_handler)
		next = t->handler_end > cpu->free_at ? t->handler_end : cpu->free_at;
	else
		next = t->spins ? SIM_NEVER : from + t->remaining;
	if (t->signalled && !t->in_handler) {
		uint64_t at = t->signal_at > cpu->free_at ? t->signal_at : cpu->free_at;

		next = at < next ? at : next;
	}
	return cpu->n_queue && cpu->slice_end < next ? cpu->slice_end : next;
}

/* The thing that sim_next() found. */
static void sim_act(struct sim *s, struct sim_cpu *cpu)
{
	struct sim_thread *t = cpu->cur;

	sim_progress(s, cpu);
	if (cpu->n_queue && s->now >= cpu->slice_end) {
		sim_switch(s, cpu, true);
	} else if (t->in_handler) {
		t->in_handler = false;
		cpu->free_at = s->now + s->r->exit_ns;
	} else if (t->signalled && s->now >= t->signal_at) {
		sim_deliver(s, cpu);
	} else {
		if (s->r && s->r->oracle) {
			sim_look(s, t);
			delay_advance(&t->d, &s->x, s->now);
		}
		sim_step(s, t);
	}
}

/* Runs until @until; one event at a time, earliest first. */
static void sim_run(struct sim *s, uint64_t until)
{
	for (;;) {
		struct sim_thread *timer = NULL;
		struct sim_cpu *actor = NULL;
		uint64_t next = until;
		int what = 0;

		for (struct sim_thread *t = s->threads; t < s->threads + SIM_THREADS; t++)
			if (t->alive && t->blocked && t->timer_at < next)
				next = t->timer_at, timer = t, what = 1;
		for (struct sim_cpu *cpu = s->cpus; cpu < s->cpus + s->c->cpus; cpu++) {
			uint64_t at = cpu->cur       ? sim_next(cpu)
				      : cpu->n_queue ? cpu->kick_at
						     : SIM_NEVER;

			if (at < next)
				next = at, actor = cpu, what = 2;
			if (s->r && cpu->sample_at < next)
				next = cpu->sample_at, actor = cpu, what = 3;
		}
		s->now = next > s->now ? next : s->now;
		if (!what)
			return;
		if (what == 1) {
			sim_wake(s, timer, NULL);
		} else if (what == 2 && actor->cur) {
			sim_act(s, actor);
		} else if (what == 2) {
			sim_switch(s, actor, false);
		} else {
			actor->sample_at += s->r->period_ns;
			sim_progress(s, actor);
			if (actor->cur && !actor->cur->outsider)
				sim_on_sample(s, actor);
		}
	}
}

static void sim_init(
    struct sim *s, const struct sim_case *c, const struct sim_rules *r, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->c = c;
	s->r = r;
	s->rng.state = seed;
	s->now = 1000000000;
	for (unsigned i = 0; i < c->cpus; i++)
		s->cpus[i].d.number = s->cpus[i].earner.number = i + 1;
	for (unsigned i = 0; r && i < c->cpus; i++)
		s->cpus[i].sample_at = s->now + r->period_ns * (i + 1) / (c->cpus + 1) +
				       rng_below(&s->rng, r->period_ns / 4 + 1);
	for (unsigned i = 0; i < c->n_threads; i++)
		sim_start(s, c->programs[i], NULL);
	for (unsigned i = 0; i < c->outsiders; i++)
		sim_start(s, outsider, NULL);
}

static uint64_t sim_executed(const struct sim *s)
{
	uint64_t ret = 0;

	for (unsigned i = 0; i < s->c->cpus; i++)
		ret += s->cpus[i].d.executed_ns;
	return ret;
}

/* One experiment and its cool-off; adds to the sums of its speedup. */
static void sim_experiment(struct sim *s, unsigned pct, uint64_t *duration, uint64_t *visits)
{
	struct point_record point, settled;
	uint64_t end, executed, all = s->visits, paced = s->paced, fed = s->fed;
	double fit;
	bool paused;

	s->x.line = SIM_SELECTED;
	s->x.n_lines = 1;
	s->x.other = s->c->other;
	s->x.n_others = s->c->other != 0;
	s->x.speedup_pct = pct;
	s->x.opened_ns = s->now;
	s->x.required = 0;
	s->x.period_ns = s->r->period_ns;
	s->x.sample_cost_ns = s->r->told ? s->r->sample_ns : 0;
	s->x.sample_entry_ns = s->r->told ? (uint32_t)s->r->entry_ns : 0;
	s->x.sample_free = s->r->accounted;
	s->x.bucket_shift = 0;
	while (s->r->length_ns >> s->x.bucket_shift >= COZBPF_BUCKETS)
		s->x.bucket_shift++;
	s->x.epoch++;
	s->x.active = 1;
	s->x.expires_ns = UINT64_MAX;
	memset(s->buckets, 0, sizeof(s->buckets));
	executed = sim_executed(s);
	sim_run(s, s->now + s->r->length_ns);
	s->x.active = 0;
	if ((s->paced - paced) * 2 > s->visits - all) {
		/* follow real time (check_pace() in user/core/experiment/tally.c) */
		*duration += s->now - s->x.opened_ns;
		*visits += s->visits - all;
	} else {
		visits_window(s->buckets, COZBPF_BUCKETS, s->x.bucket_shift,
		    s->now - s->x.opened_ns - s->x.required, &point);
		visits_window(
		    s->buckets, COZBPF_BUCKETS, s->x.bucket_shift, s->r->settle_ns, &settled);
		fit = (double)(sim_executed(s) - executed) /
		      ((double)(s->now - s->x.opened_ns - s->x.required) *
			  s->c->cpus); /* verdict_stretch() there */
		*duration +=
		    (uint64_t)((double)(s->now - s->x.opened_ns - s->x.required - s->r->settle_ns) *
			       (DELAY_RULE(FIT_CPUS) && s->c->selects != SIM_QUEUES && fit > 1.02
				       ? fit
				       : 1));
		*visits += point.delta - settled.delta;
	}
	s->bound_ns = (s->fed - fed) * 10 > (s->visits - all) * 9 ? s->pace_ns : 0;
	end = s->now + 5000000;
	do {
		paused = false;
		sim_run(s, end += 1000000);
		for (unsigned i = 0; i < SIM_THREADS; i++)
			paused |= s->threads[i].in_handler || s->threads[i].signalled;
	} while (paused);
}

/* Predicted speedups of the program, in percent, for @n speedups of the selected line. */
static void sim_predict(const struct sim_case *c, const struct sim_rules *r, const unsigned *pct,
    unsigned n, double *ret)
{
	static struct sim s;
	uint64_t duration[8] = {0}, visits[8] = {0};
	double base;

	sim_init(&s, c, r, r->seed);
	sim_run(&s, s.now + 100000000);
	for (unsigned round = 0; round < r->rounds; round++)
		for (unsigned i = 0; i <= n; i++) {
			unsigned k = (i + round) % (n + 1);

			if (r->cold)
				sim_init(&s, c, r, r->seed + round);
			sim_experiment(&s, k < n ? pct[k] : 0, &duration[k], &visits[k]);
		}
	base = (double)duration[n] / (double)visits[n];
	for (unsigned i = 0; i < n; i++) {
		double period = (double)duration[i] / (double)visits[i],
		       least = (double)s.bound_ns; /* least_period() in core/estimate/cells.c */

		if (DELAY_RULE(PACE_BOUND) && least < base) {
			if (!s.x.sample_free)
				least *= (double)r->period_ns /
					 (double)(r->period_ns - s.x.sample_cost_ns);
			least = least < base ? least : base;
			period = period > least ? period : least;
		}
		ret[i] = 100 * (1 - period / base);
	}
}

/* The same program with the line really shortened, and no profiler. */
static void sim_truth(const struct sim_case *c, const unsigned *pct, unsigned n, uint64_t length_ns,
    uint64_t seed, double *ret)
{
	static struct sim s;
	double base = 0;

	for (unsigned i = 0; i <= n; i++) {
		double period;

		sim_init(&s, c, NULL, seed);
		s.shorter_pct = i ? pct[i - 1] : 0;
		sim_run(&s, s.now + 100000000);
		s.visits = 0;
		sim_run(&s, s.now + length_ns);
		period = (double)length_ns / (double)s.visits;
		if (!i)
			base = period;
		else
			ret[i - 1] = 100 * (1 - period / base);
	}
}

#endif
