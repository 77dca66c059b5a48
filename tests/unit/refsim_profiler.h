/* SPDX-License-Identifier: BSD-3-Clause */
/* The profiler beside the simulated machine (refsim.h): each function drives include/cozbpf/delay.h
 * as the hook of bpf/ does that it stands for. */
#ifndef COZBPF_TESTS_REFSIM_PROFILER_H
#define COZBPF_TESTS_REFSIM_PROFILER_H

#include "refsim_model.h"

/* Before any hook looks at a thread: the share that the knobs ask for. */
static void sim_look(struct sim *s, struct sim_thread *t)
{
	delay_enter(&t->d, &s->x);
	if (s->r->oracle || s->r->lumps)
		t->d.account.ring_weight +=
		    !t->d.account
			 .ring_weight; /* no first sample that speaks for the time before it */
	if (s->r->oracle)
		t->d.account.share = sim_is_line(s->c, t->line) && !t->spins ? COZBPF_SHARE_ONE : 0;
	if (s->r->lumps)
		t->d.account.share = 0;
	if (s->r->oracle || s->r->lumps)
		t->d.account.last_valid = 0; /* nor a forecast to put right */
}

/* The thread begins to spin, or has spun up to now. */
static void sim_on_spin(struct sim *s, struct sim_thread *t, bool begins)
{
	struct cozbpf_earner *leader = NULL;
	uint64_t most = 0;

	if (!s->r || !t->runs || t->in_handler)
		return;
	sim_look(s, t);
	/* Between two events of the simulator it goes through its loop many times. */
	if (!begins && t->d.account.spun_at)
		t->d.account.spun_at = s->now;
	for (unsigned i = 0; i < s->c->cpus; i++) {
		uint64_t shown = i == t->cpu ? 0 : delay_shown(&s->cpus[i].earner, &s->x, s->now);

		if (begins)
			delay_released(
			    &t->d, &s->x, &s->cpus[t->cpu].earner, &s->cpus[i].earner, s->now);
		if (shown > most) {
			most = shown;
			leader = &s->cpus[i].earner;
		}
	}
	s->x.spins = 1;
	delay_on_spin(
	    &t->d, &s->x, &s->cpus[t->cpu].earner, leader, t->wait_kind * 5 + t->wait_arg, s->now);
}

/* Before a hook looks at the thread of @cpu: those that spin have been seen all the while, and
 * those that do no more have gone on. */
static void sim_see_spinners(struct sim *s, struct sim_cpu *cpu, struct sim_thread *looked_at)
{
	if (!s->x.spins)
		return;
	for (struct sim_thread *t = s->threads; t < s->threads + SIM_THREADS; t++)
		if (t->alive && t->spins)
			sim_on_spin(s, t, false);
	for (unsigned i = 0; looked_at && i < s->c->cpus; i++)
		delay_released(&looked_at->d, &s->x, &cpu->earner, &s->cpus[i].earner, s->now);
}

static void sim_on_switch(
    struct sim *s, struct sim_cpu *cpu, struct sim_thread *out, int how, struct sim_thread *in)
{
	struct delay_wait wait;
	uint64_t ran = 0;

	if (in && in->outsider) {
		how = how == DELAY_PREEMPTED ? DELAY_OUSTED : how;
		in->came_at = s->now;
		in = NULL;
	}
	if (out && out->outsider) {
		ran = s->now - out->came_at;
		out = NULL;
	}
	if (!s->r || (!out && !in))
		return;
	sim_see_spinners(s, cpu, out);
	if (out)
		sim_look(s, out);
	if (in)
		sim_look(s, in);
	if (out)
		out->d.queue = s->c->selects == SIM_QUEUES && !out->in_handler ? SIM_SELECTED : 0;
	delay_on_switch_waiter(
	    out ? &out->d : NULL, how, in ? &in->d : NULL, ran, &s->x, &cpu->d, s->now, &wait);
	if (out && out->d.wait)
		delay_begin_wait(&out->d, &s->x, (uint32_t)(out - s->threads), s->now);
	delay_show(&cpu->earner, in ? &in->d.account : NULL);
}

/* As a hash of what the thread waits for: the waker names the same object. */
static uint32_t sim_object(const struct sim_thread *t)
{
	return t->wait_kind * 5 + t->wait_arg;
}

static void sim_on_wake(struct sim *s, struct sim_thread *t, struct sim_thread *by)
{
	enum delay_cause cause = !by                                    ? DELAY_BY_TIMER
				 : s->r && s->r->uprobe                 ? DELAY_BY_CALLER
				 : by->program[by->pc].kind == SIM_EXIT ? DELAY_BY_EXIT
									: DELAY_BY_THREAD;
	struct delay_wait wait;

	if (!s->r || t->outsider)
		return;
	sim_look(s, t);
	if (by)
		sim_look(s, by);
	delay_on_wake_waiter(
	    &t->d, cause, by ? &by->d : NULL, sim_object(t), t->timer_at, &s->x, s->now, &wait);
	if (by)
		delay_show(&s->cpus[by->cpu].earner, &by->d.account);
	if (by && s->r->waker && t->d.pause != COZBPF_PAUSE_BEGUN)
		t->d.account.paid = by->d.account.paid;
}

static void sim_on_visit(struct sim *s, struct sim_thread *t)
{
	uint64_t v;

	s->visits++;
	if (!s->r)
		return;
	s->paced += t->d.account.paced == COZBPF_PACED;
	s->fed += (uint64_t)delay_is_fed(&t->d.account);
	s->pace_ns = t->d.account.pace_ns;
	if (!s->x.active)
		return;
	if (t->d.account.epoch == s->x.epoch)
		sim_look(s, t);
	v = delay_virtual_time(&t->d, &s->x, s->now);
	if (v <= s->x.opened_ns)
		return;
	v -= s->x.opened_ns;
	if (v >> s->x.bucket_shift >= COZBPF_BUCKETS)
		return;
	s->buckets[v >> s->x.bucket_shift].count++;
	s->buckets[v >> s->x.bucket_shift].sum += v;
}

/* Entries older than the window speak no longer. */
static void sim_trim_window(struct sim *s, struct cozbpf_account *a)
{
	for (unsigned k = s->r->window; k < COZBPF_RING && k < a->ring_used; k++) {
		struct cozbpf_ring_entry *e = &a->ring[(a->ring_next - 1 - k) & (COZBPF_RING - 1)];

		a->ring_weight -= e->weight_ns;
		if (delay_is_selected(&s->x, e->line))
			a->ring_hits -= e->weight_ns;
		e->weight_ns = 0;
	}
	delay_forecast(a);
}

/* Asks for a pause of @debt, which a sample's program found at @now or, not @sampled, a call's. */
static void sim_ask(struct sim *s, struct sim_cpu *cpu, struct sim_thread *t, bool sampled,
    uint64_t debt, uint64_t now)
{
	unsigned threads = 0;
	uint64_t end;

	for (unsigned i = 0; i < SIM_THREADS; i++)
		threads += s->threads[i].alive && !s->threads[i].outsider;
	end = delay_on_ask(&t->d, &s->x, sampled, debt, (uint32_t)s->r->exit_ns,
	    !s->r->sleep || threads > s->c->cpus, now);
	if (!end)
		return;
	t->hold = t->d.pause_hold;
	t->signalled = true;
	t->signal_at = (cpu->free_at > s->now ? cpu->free_at : s->now) + s->r->signal_ns;
	t->signal_end = end;
	cpu->free_at = t->signal_at;
	s->pauses++;
}

static void sim_on_sample(struct sim *s, struct sim_cpu *cpu)
{
	struct sim_thread *t = cpu->cur;
	uint64_t debt, now = s->now + s->r->entry_ns; /* it stands still since s->now */
	unsigned line;

	s->samples++;
	sim_look(s, t);
	if (delay_on_interrupt(&t->d, &s->x, now)) {
		s->in_pause++;
		return;
	}
	cpu->free_at = s->now + s->r->sample_ns;
	sim_see_spinners(s, cpu, t);
	if (t->spins && delay_on_spinning_sample(&t->d, &s->x, &cpu->d, &cpu->earner, now))
		return;
	line = t->spins ? 9 : t->line;
	delay_withdraw(&t->d, now);
	if (s->r->lumps && sim_is_line(s->c, line) && s->x.active) {
		delay_credit(&t->d.account, &s->x, now);
		t->d.account.paid += t->d.account.unsampled * s->x.speedup_pct / 100;
		delay_raise_required(&s->x, t->d.account.paid);
	}
	delay_follow_waits(&s->x, s->now);
	debt = delay_on_sample(&t->d, &s->x, &cpu->d, line, now, s->r->min_debt_ns);
	sim_trim_window(s, &t->d.account);
	delay_show(&cpu->earner, &t->d.account);
	if (!debt || t->d.pause != COZBPF_PAUSE_NONE || t->in_handler)
		return;
	delay_sample_entry(&t->d, &s->x, (int64_t)s->r->entry_ns);
	sim_ask(s, cpu, t, true, debt, now);
}

static uint32_t sim_call_id(const struct sim_op *op)
{
	return (op->kind == SIM_UNLOCK ? SIM_LOCK : op->kind) * 5 + op->arg;
}

/* The thread is about to make a call that may wake or block. True when it has to pause first. */
static bool sim_on_call(struct sim *s, struct sim_thread *t, const struct sim_op *op)
{
	uint64_t debt;

	if (!s->r || !s->r->uprobe || t->call == op)
		return false;
	t->call = op;
	sim_look(s, t);
	debt = delay_on_call(
	    &t->d, &s->x, op->kind != SIM_UNLOCK, sim_call_id(op), s->now, s->r->min_debt_ns);
	if (!debt || t->d.pause != COZBPF_PAUSE_NONE || t->in_handler)
		return false;
	sim_ask(s, &s->cpus[t->cpu], t, false, debt, s->now);
	return true;
}

static void sim_on_return(struct sim *s, struct sim_thread *t)
{
	const struct sim_op *op = t->call;

	if (!op)
		return;
	t->call = NULL;
	if (op->kind == SIM_UNLOCK)
		return;
	sim_look(s, t);
	delay_on_return(&t->d, &s->x, true, sim_call_id(op), s->now);
}

#endif
