// SPDX-License-Identifier: BSD-3-Clause
/* Why an experiment is spoilt; see verdict.h. */
#include "core/experiment/verdict.h"

#include <cozbpf/delay_rules.h>

#include <math.h>

/* times what the CPUs have time for, and it still fits */
#define FITS 1.02
/* of the CPU time wanted: an experiment in which outsiders had more is dropped, */
#define BUSY_SHARE 0.1
/* if that is also as many times what they usually have: a machine that is always busy has
 * experiments, too */
#define BUSY_TIMES 2
/* before "usually" means anything */
#define BUSY_EXPERIMENTS 4
/* of the samples: threads that owe too much to be made to pay */
#define DEBT_PCT 5
/* real time beyond which nobody can have watched: twice the length planned, and this */
#define WATCHED_NS 1000000000ULL

static uint64_t elapsed_ns(const struct snapshot *s)
{
	return s->closed_ns - s->opened_ns;
}

/* Whether programs outside the target had an unusual share of the CPUs. */
static bool was_busy(struct verdicts *v, const struct cpu_use *use)
{
	double wanted = (double)(use->outsiders_ns + use->executed_ns),
	       share = wanted > 0 ? (double)use->outsiders_ns / wanted : 0;
	bool busy = v->busy_n >= BUSY_EXPERIMENTS && share > BUSY_SHARE &&
		    share > BUSY_TIMES * v->busy_sum / v->busy_n;

	v->busy_sum += share;
	v->busy_n++;
	return busy;
}

static bool owes_too_much(const struct judged *x)
{
	return x->speedup_pct && x->snap->deep_debt * 100 > x->snap->samples * DEBT_PCT;
}

enum spoilt verdict_window(struct verdicts *v, const struct judged *x)
{
	const struct snapshot *s = x->snap;
	uint64_t counted_ns = s->closed_ns - s->counted_ns;
	bool busy = was_busy(v, &s->use);

	if (x->spoilt)
		return x->spoilt;
	if (s->was_disturbed)
		return SPOILT_STOP;
	/* The close came before visits count, or much too late: a suspended machine, or a stop that
	 * nobody has seen. */
	if (s->closed_ns < s->counted_ns || counted_ns > 2 * x->planned_ns + WATCHED_NS)
		return SPOILT_STOP;
	if (owes_too_much(x))
		return SPOILT_DEBT;
	if (s->required_ns >= counted_ns)
		return SPOILT_NO_TIME;
	return busy ? SPOILT_BUSY : SPOILT_NOT;
}

enum spoilt verdict_run(const struct judged *x, uint64_t exits)
{
	if (x->spoilt)
		return x->spoilt;
	if (x->snap->was_disturbed)
		return SPOILT_STOP;
	if (exits != 1)
		return x->snap->required_ns < elapsed_ns(x->snap) ? SPOILT_STOP : SPOILT_NO_TIME;
	return owes_too_much(x) ? SPOILT_DEBT : SPOILT_NOT;
}

/*
 * N CPUs provide at most N seconds of execution per second, in virtual time too. Only CPUs count
 * that the program was seen on, for a program may be kept from the others. A thread may execute in
 * debt and then wait for another one: the thread need not pay, although its CPU was virtually
 * another thread's. Where such threads execute more than the CPUs have time for, the program would
 * have needed longer by as much. On saturated CPUs the two are equal to 0.2 %
 * (tests/unit/test_delay_sim.c), in a single experiment to 1 or 2 %, which is no finding.
 */
double verdict_stretch(struct verdicts *v, const struct snapshot *snap)
{
	uint64_t elapsed = elapsed_ns(snap),
		 passed = elapsed > snap->required_ns ? elapsed - snap->required_ns : elapsed;
	/* not a number where none has executed */
	double by = (double)snap->use.virtual_ns / ((double)passed * snap->use.cpus);

	if (!DELAY_RULE(FIT_CPUS) || !(by > FITS))
		return 1;
	v->stretched++;
	return by;
}

double verdict_noise(const struct verdicts *v)
{
	return v->busy_n ? v->busy_sum / v->busy_n : NAN;
}
