// SPDX-License-Identifier: BSD-3-Clause
/* The answer so far, in the middle of a run: the leading line for the progress line, and whether
 * --until has come true. */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/text/names.h"
#include "core/text/paths.h"

#define LEADER_NS 3000000000ULL /* between two estimates: some milliseconds of work each */
/* as long again as one takes: with thousands of experiments it takes more */
#define LEADER_TIMES 50
#define LEADER_REPLICATES 100 /* order, and widths to a tenth */
/* some 50 ms: a program of one hot line that is known has its experiments all the same */
#define REFUSED_MAX 30
#define BASELINES_FIRST 8 /* before fewer of them are made */
#define LINES_MANY 16     /* no fewer baselines than a fifth: they have to be near in time, too */
#define SETTLED_REPLICATES 400 /* ends of intervals */

bool run_line_samples(const struct runner *r, size_t line, struct samples_record *ret)
{
	const struct cozbpf_line_count *count = &session_line_counts(r->session)[line];
	bool named = !r->files.fixed_line &&
		     !r->o.end_to_end; /* the run's baselines refer to lines by their ids */

	*ret = (struct samples_record){.count = count->all - r->recorder.counts_before[line],
	    .free = count->free - r->recorder.free_before[line],
	    .has_free = true,
	    .run = r->recorder.run,
	    .id = named ? (uint32_t)line : 0};
	return ret->count && asprintf(&ret->location, "%s:%u", r->files.lines.lines[line].file,
				 r->files.lines.lines[line].line) >= 0;
}

/* Adds what a run's end will add to the records: its samples and its times. False: out of memory.
 */
static bool add_this_run(const struct runner *r, uint64_t now, struct profile *p, size_t n_before)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct run_record *run;

	if (!p->samples || !p->runs || !p->n_runs)
		return false;
	if (n_before) /* in a first run there are none, and no array either */
		memcpy(p->samples, r->recorder.profile.samples, n_before * sizeof(*p->samples));
	memcpy(p->runs, r->recorder.profile.runs, p->n_runs * sizeof(*p->runs));
	for (size_t i = 1; i < r->files.lines.n_lines && i < r->recorder.counts_room; i++)
		p->n_samples += run_line_samples(r, i, &p->samples[p->n_samples]);
	run = &p->runs[p->n_runs - 1];
	run->runtime_ns = now - r->recorder.started_ns;
	run->free_ns = run->runtime_ns > r->experiments.delayed_ns
			   ? run->runtime_ns - r->experiments.delayed_ns
			   : 0;
	run->samples = c->samples - r->recorder.before.samples;
	run->in_scope = c->in_scope - r->recorder.before.in_scope;
	return true;
}

void run_free_answer(struct answer *a)
{
	estimate_deinit(&a->estimate);
	if (a->is_own) {
		for (size_t i = a->n_before; i < a->profile.n_samples; i++)
			free(a->profile.samples[i].location);
		free(a->profile.samples);
		free(a->profile.runs);
	}
	*a = (struct answer){0};
}

/* 0, or -1: there is none. The caller frees it, while the runner's records are there. */
static int estimate_so_far(
    const struct runner *r, uint64_t now, const struct estimate_options *o, struct answer *ret)
{
	struct profile *p = &ret->profile;

	*ret = (struct answer){.profile = r->recorder.profile,
	    .n_before = r->recorder.profile.n_samples,
	    .is_own = r->loop.profiling};
	if (r->loop.profiling) {
		p->samples = calloc(r->recorder.profile.n_samples + r->files.lines.n_lines + 1,
		    sizeof(*p->samples));
		p->runs = calloc(r->recorder.profile.n_runs + 1, sizeof(*p->runs));
	}
	if ((!r->loop.profiling || add_this_run(r, now, p, r->recorder.profile.n_samples)) &&
	    !estimate_profile(p, o, &ret->estimate))
		return 0;
	run_free_answer(ret);
	return -1;
}

/* How much an experiment on a line is wanted, at the last look. */
struct wanted {
	uint32_t line;
	double share;
};

static struct wanted *find_wanted(const struct runner *r, uint32_t line)
{
	for (size_t i = 0; i < r->answer.n_wanted; i++)
		if (r->answer.wanted[i].line == line)
			return &r->answer.wanted[i];
	return NULL;
}

/* The line of experiments of one name; line 0: there is none. */
struct named_line {
	uint32_t line;
	size_t wanted; /* 1 + its place in r->answer.wanted; 0: it has none */
};

/* @lines: by id of @names. False: out of memory. */
static bool name_lines(const struct runner *r, struct names *names, struct named_line *lines)
{
	uint32_t id;

	for (size_t i = 0; i < r->recorder.profile.n_experiments; i++) {
		if (names_id(names, r->recorder.profile.experiments[i].selected, &id))
			return false;
		lines[id].line = lines[id].line ? lines[id].line : r->recorder.experiment_lines[i];
	}
	return true;
}

/* A line is wanted as much as at the progress point where it is wanted most. */
static void want(struct runner *r, struct named_line *at, double share)
{
	struct wanted *w;

	if (!at->wanted) {
		r->answer.wanted[r->answer.n_wanted++] = (struct wanted){.line = at->line};
		at->wanted = r->answer.n_wanted;
	}
	w = &r->answer.wanted[at->wanted - 1];
	w->share = fmax(w->share, share);
}

static void keep_wanted(struct runner *r, const struct estimate *e)
{
	struct wanted *bigger = realloc(r->answer.wanted, (e->n_lines + 1) * sizeof(*bigger));
	struct named_line *lines = calloc(r->recorder.profile.n_experiments + 1, sizeof(*lines));
	double *shares = calloc(e->n_lines + 1, sizeof(*shares));
	struct names names = {0};

	r->answer.wanted = bigger ? bigger : r->answer.wanted;
	if (bigger && lines && shares && name_lines(r, &names, lines) &&
	    !estimate_wanted(e, shares)) {
		r->answer.n_wanted = 0;
		for (size_t i = 0; i < e->n_lines; i++) {
			uint32_t id = names_find(&names, e->lines[i].line);

			if (id != UINT32_MAX && lines[id].line)
				want(r, &lines[id], shares[i]);
		}
	}
	names_deinit(&names);
	free(lines);
	free(shares);
}

static void name_leader(struct runner *r, const struct estimate *e)
{
	r->answer.leader[0] = 0;
	if (!e->n_lines || e->lines[0].verdict == VERDICT_NOT_ENOUGH_DATA)
		return;
	snprintf(r->answer.leader, sizeof(r->answer.leader), ", leading: %.100s",
	    path_base(e->lines[0].line));
}

void run_look(struct runner *r, uint64_t now)
{
	struct estimate_options o = {
	    .seed = r->o.seed, .replicates = LEADER_REPLICATES, .sort = run_view_sort(r)};
	struct answer a;
	uint64_t took;

	/* Between experiments: nothing closes late for it. */
	if (now < r->answer.leader_at_ns || !r->recorder.profile.n_experiments ||
	    (r->experiments.phase == PHASE_OPEN && !r->o.end_to_end))
		return;
	if (!estimate_so_far(r, now, &o, &a)) {
		name_leader(r, &a.estimate);
		if (!r->files.fixed_line && !r->o.end_to_end)
			keep_wanted(r, &a.estimate);
		run_view_take(r, &a);
	}
	took = monotonic_ns() - now;
	r->answer.leader_at_ns =
	    now + took + (took * LEADER_TIMES > LEADER_NS ? took * LEADER_TIMES : LEADER_NS);
}

/*
 * Which line is hit, and when, is decided by samples alone; whether an experiment is made of it, by
 * what is known of the line, and not by anything of the moment. So each line's experiments begin
 * when it runs, as often in each phase as without this, and no order is imposed (docs/accuracy.md).
 */
bool run_wants(struct runner *r, uint32_t line)
{
	const struct wanted *w = find_wanted(r, line);

	if (r->files.fixed_line || !w || r->answer.refused >= REFUSED_MAX ||
	    (double)rng_below(&r->experiments.schedule.rng, 1 << 20) < w->share * (1 << 20)) {
		r->answer.refused = 0;
		return true;
	}
	r->answer.refused++;
	return false;
}

/*
 * Baselines serve all lines, so with more lines a smaller part of the experiments has to be
 * baselines: 1 / (1 + sqrt(lines)) gives the differences the least variance (Dunnett's design:
 * several treatments and one control).
 */
bool run_wants_baseline(const struct runner *r)
{
	size_t lines = r->answer.n_wanted < LINES_MANY ? r->answer.n_wanted : LINES_MANY;

	return r->files.fixed_line || r->o.end_to_end ||
	       r->experiments.n_baselines < BASELINES_FIRST ||
	       (double)r->experiments.n_baselines * (1 + sqrt((double)lines)) <=
		   (double)r->recorder.profile.n_experiments;
}

void run_estimate_deinit(struct runner *r)
{
	free(r->answer.wanted);
	free(r->recorder.experiment_lines);
}

bool run_settled(struct runner *r, uint64_t now)
{
	struct estimate_options o = {.seed = r->o.seed, .replicates = SETTLED_REPLICATES};
	struct answer a;

	if (!r->o.until_width || r->answer.settled || now < r->answer.settled_at_ns ||
	    r->recorder.profile.n_experiments == r->answer.settled_experiments)
		return r->answer.settled;
	if (r->o.end_to_end && r->loop.profiling)
		return false; /* between runs */
	r->answer.settled_at_ns = now + LEADER_NS;
	r->answer.settled_experiments = r->recorder.profile.n_experiments;
	if (!estimate_so_far(r, now, &o, &a)) {
		r->answer.settled = estimate_settled(&a.estimate, r->o.until_width);
		run_free_answer(&a);
	}
	if (r->answer.settled)
		run_say(r, "the gains of the leading lines are known to within %s", r->o.until);
	return r->answer.settled;
}
