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
		t->d.ring_weight +=
		    !t->d.ring_weight; /* no first sample that speaks for the time before it */
	if (s->r->oracle)
		t->d.share = t->line == SIM_SELECTED && !t->spins ? COZBPF_SHARE_ONE : 0;
	if (s->r->lumps)
		t->d.share = 0;
	if (s->r->oracle || s->r->lumps)
		t->d.last_valid = 0; /* nor a forecast to put right */
}

static void sim_on_switch(
    struct sim *s, struct sim_cpu *cpu, struct sim_thread *out, int how, struct sim_thread *in)
{
	if (!s->r)
		return;
	if (out) {
		sim_look(s, out);
		delay_switch_out(&out->d, &s->x, &cpu->d, how, s->now);
	}
	if (in) {
		sim_look(s, in);
		s->joins += delay_switch_in(&in->d, &s->x, &cpu->d, s->now);
		delay_lone(&s->x, &cpu->d, &in->d, !cpu->n_queue, s->now);
	}
}

static void sim_on_wake(struct sim *s, struct sim_thread *t, struct sim_thread *by)
{
	if (!s->r)
		return;
	sim_look(s, t);
	if (by && !s->r->uprobe) {
		sim_look(s, by);
		delay_wake(&t->d, &by->d, &s->x, s->now);
		/* as a hash of what it waits for: the waker names the same object */
		delay_segment_ahead(&t->d, 2 * (t->wait_kind * 5 + t->wait_arg) + 1);
		delay_segment(&by->d, 2 * (t->wait_kind * 5 + t->wait_arg) + 2);
		if (s->r->waker && t->d.pause != COZBPF_PAUSE_BEGUN)
			t->d.paid = by->d.paid;
	} else if (!by) {
		delay_timer_wake(&t->d, &s->x, t->timer_at);
	}
	delay_runnable(&t->d, s->now);
}

static void sim_on_visit(struct sim *s, struct sim_thread *t)
{
	uint64_t v;

	s->visits++;
	if (!s->r)
		return;
	s->paced += t->d.paced;
	if (!s->x.active)
		return;
	if (t->d.epoch == s->x.epoch)
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
static void sim_trim_window(struct sim *s, struct cozbpf_thread *t)
{
	for (unsigned k = s->r->window; k < COZBPF_RING && k < t->ring_used; k++) {
		struct cozbpf_ring_entry *e = &t->ring[(t->ring_next - 1 - k) & (COZBPF_RING - 1)];

		t->ring_weight -= e->weight_ns;
		if (e->line == s->x.line)
			t->ring_hits -= e->weight_ns;
		e->weight_ns = 0;
	}
	delay_forecast(t);
}

/* Asks for a pause of @debt, which a sample's program found at @now or, not @sampled, a call's. */
static void sim_ask(struct sim *s, struct sim_cpu *cpu, struct sim_thread *t, bool sampled,
    uint64_t debt, uint64_t now)
{
	uint64_t end = delay_plan(&t->d, &s->x, sampled, debt, (uint32_t)s->r->exit_ns, now);
	unsigned threads = 0;

	if (!end)
		return;
	for (unsigned i = 0; i < SIM_THREADS; i++)
		threads += s->threads[i].alive;
	t->hold = !s->r->sleep || threads > s->c->cpus;
	delay_asked(&t->d, now, end, debt, t->hold);
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
	delay_settle(&t->d, &s->x, now);
	if (t->d.pause == COZBPF_PAUSE_BEGUN) {
		s->in_pause++;
		return;
	}
	cpu->free_at = s->now + s->r->sample_ns;
	line = t->spins ? 9 : t->line;
	delay_withdraw(&t->d, now);
	if (s->r->lumps && line == SIM_SELECTED && s->x.active) {
		delay_credit(&t->d, &s->x, now);
		t->d.paid += t->d.unsampled * s->x.speedup_pct / 100;
		delay_raise_required(&s->x, t->d.paid);
	}
	debt = delay_sample(&t->d, &s->x, line, now, s->r->min_debt_ns);
	delay_executed(&cpu->d, &t->d, &s->x, now);
	delay_lone(&s->x, &cpu->d, &t->d, !cpu->n_queue, now);
	sim_trim_window(s, &t->d);
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
	debt = delay_call(
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
	delay_return(&t->d, &s->x, true, sim_call_id(op), s->now);
}

#endif
