// SPDX-License-Identifier: BSD-3-Clause
/* What a run told, for the log and for the terminal; see blocks_private.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/blocks/shorten.h"
#include "core/text/shell.h"
#include "report/ending.h"
#include "report/say.h"
#include "run/blocks_private.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/target.h"

/* Relative error of what windows tell. Below it samples are left out: where probes stand in what a
 * block calls, it has more samples than it should. */
#define VAGUE 0.2
/* of the time that is left to the target in a block's windows */
#define MOST_PROBED 0.2

/* executions of which most are long: fewer may all have met an interrupt */
#define LEAST_TIMED 10

_Static_assert(COZBPF_BLOCK_CELLS == BLOCK_CELLS, "the log has the cells that are counted");

/* The block's place in the log. False: out of memory. */
static bool add_place(struct blocks *b, struct candidate *c)
{
	const struct block_object *o = &b->objects[c->object];
	struct block_place *bigger;

	if (c->place != NO_PLACE)
		return true;
	bigger = realloc(b->places, (b->n_places + 1) * sizeof(*bigger));
	if (!bigger)
		return false;
	b->places = bigger;
	c->place = (uint32_t)b->n_places++;
	b->places[c->place] = (struct block_place){.object = o->path,
	    .start = c->site.start,
	    .end = c->site.end,
	    .offset = c->site.function_offset,
	    .calls = c->site.calls};
	memcpy(b->places[c->place].build_id, o->build_id, sizeof(o->build_id));
	return true;
}

/* Candidates move as they become more. */
static void set_names(struct blocks *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct candidate *c = &b->candidates[i];

		if (c->place == NO_PLACE)
			continue;
		b->places[c->place].function = c->site.function;
		b->places[c->place].lines = c->site.lines;
	}
}

static void fill_times(const struct block_reading *r, struct block_figures *ret)
{
	ret->timed = r->timed;
	if (!r->timed)
		return;
	ret->min_ns = (double)r->min_ns;
	ret->max_ns = (double)r->max_ns;
	ret->avg_ns = (double)r->sum_ns / (double)r->timed;
	ret->wall_avg_ns = (double)r->wall_ns / (double)r->timed;
	for (size_t i = 0; i < BLOCK_CELLS; i++)
		ret->cells[i] = r->cells[i] < UINT32_MAX ? (uint32_t)r->cells[i] : UINT32_MAX;
}

static double own_ns(const struct blocks *b)
{
	uint64_t others = b->run.probed_ns;

	return b->run.executed_ns > others ? (double)(b->run.executed_ns - others) : 0;
}

/* By the time in windows. */
static struct window_estimate by_time(const struct blocks *b, const struct candidate *c)
{
	struct window_estimate e =
	    window_estimate(c->sums.executed > 0 ? &c->sums : &c->trial, own_ns(b), &b->cost);
	bool was_too_hot = c->got_hot && !c->sums.n;

	/* One that was watched all the time, until it got hot, was not watched when it was. */
	return c->sums.executed <= 0 || was_too_hot ? window_unknown(e) : e;
}

/* By how often it is executed for each time that another block is; of several others by that with
 * the least error. */
static struct window_estimate by_others(const struct blocks *b, const struct candidate *c)
{
	struct window_estimate best = {0};

	for (size_t i = 0; i < OTHERS; i++) {
		struct window_estimate other, e;

		if (b->others[i] == SIZE_MAX || c == &b->candidates[b->others[i]])
			continue;
		other = by_time(b, &b->candidates[b->others[i]]);
		e = window_relative_to(
		    window_estimate(&c->by_other[i], other.frequency, &b->cost), other);
		/* The other's executions that windows cut in two are worth a count's own error. */
		e.se = hypot(e.se, e.frequency / sqrt(fmax(1, c->by_other[i].watched)));
		if (best.frequency <= 0 ||
		    (e.frequency > 0 && e.se * best.frequency < best.se * e.frequency))
			best = e;
	}
	return best;
}

/* Where probes take much of a window, the little time that is left is a small difference of two
 * large ones, and off by a factor. */
static struct window_estimate by_windows(const struct blocks *b, const struct candidate *c)
{
	struct window_estimate others = by_others(b, c);

	if (others.frequency > 0 && c->sums.probed > MOST_PROBED * c->sums.executed)
		return others;
	return window_merge(by_time(b, c), others);
}

/* Most executions are so long that probes tell their time. A mean says nothing of that, which one
 * interrupt may double. */
static bool is_certain(const struct block_figures *f, double certain_ns)
{
	uint64_t shorter = 0;

	for (unsigned i = 0; i < BLOCK_CELLS && (double)block_cell_ns(i) < certain_ns; i++)
		shorter += f->cells[i];
	return f->timed >= LEAST_TIMED && 2 * shorter < f->timed;
}

/* Outside of the block's windows, in which its probes are sampled as well. */
static struct window_samples samples_of(
    const struct blocks *b, const struct candidate *c, const struct block_figures *f)
{
	struct block_probe probe = candidate_probe(b, c);
	double probe_ns = (double)session_block_cost_ns(b->rooms.session, &probe);

	return (struct window_samples){.in_block = (double)(c->run_samples - c->window_samples),
	    .all = (double)b->run.samples - b->run.windows.samples,
	    .avg_ns = f->timed ? fmax(f->avg_ns, 1) : 0,
	    .probe_ns = probe_ns,
	    .is_certain = is_certain(f, window_certain_ns(probe_ns))};
}

/* What lies of the two probes between their readings of the clock, by what was measured before. */
static double bias_ns(const struct blocks *b, const struct candidate *c)
{
	struct block_probe probe = candidate_probe(b, c);

	return (double)session_block_bias_ns(b->rooms.session, &probe);
}

/* False: nothing is known of how often it was executed. */
static bool fill(const struct blocks *b, const struct candidate *c, struct block_figures *ret)
{
	struct window_estimate e = by_windows(b, c);
	struct window_samples s;

	*ret = (struct block_figures){.block = c->place};
	fill_times(&c->reading, ret);
	if (ret->timed)
		block_figures_shorten(ret, (b->cost.factor - 1) * bias_ns(b, c));
	s = samples_of(b, c, ret);
	block_figures_shorten(ret, window_time_excess(e, &s, own_ns(b)));
	if (e.se > VAGUE * e.frequency || e.frequency <= 0)
		e = window_merge(e, window_from_samples(&s, own_ns(b)));
	e = window_at_least(e, fmax(c->sums.seen + c->trial.seen, s.in_block > 0));
	if (c->sums.executed + c->trial.executed <= 0 && e.frequency <= 0)
		return false;
	ret->frequency = e.frequency;
	ret->frequency_se = e.se;
	ret->share = s.all > 0 ? fmin(s.in_block / s.all, 1) : 0;
	return true;
}

static struct block_figures *list_figures(struct blocks *b, size_t *ret_n)
{
	struct block_figures *ret = calloc(b->n + 1, sizeof(*ret));

	*ret_n = 0;
	for (size_t i = 0; ret && i < b->n; i++) {
		struct candidate *c = &b->candidates[i];

		if (!c->was_watched || c->state == CANDIDATE_REFUSED || !add_place(b, c))
			continue;
		if (fill(b, c, &ret[*ret_n]))
			(*ret_n)++;
	}
	set_names(b);
	return ret;
}

static char *command_text(const struct blocks *b)
{
	char *text = NULL;

	for (char **w = b->rooms.o->command; *w; w++)
		if (shell_append(&text, *w)) {
			free(text);
			return NULL;
		}
	return text ? text : strdup(b->rooms.target->path);
}

/* A process that has ended takes its faults with it. */
static uint64_t since(uint64_t now, uint64_t from)
{
	return now > from ? now - from : 0;
}

/* The kernel tells of a command that has ended what /proc can no longer tell. */
static void fill_usage(const struct blocks *b, struct block_run *ret)
{
	const struct target *t = b->rooms.target;

	if (!t->ops->restarts) {
		ret->minor_faults = since(b->run.faults.minor, b->run.faults_from.minor);
		ret->major_faults = since(b->run.faults.major, b->run.faults_from.major);
		return;
	}
	ret->status = t->ended_by ? -t->ended_by : t->exit_status;
	ret->switches = (uint64_t)(t->usage.ru_nvcsw + t->usage.ru_nivcsw);
	ret->preemptions = (uint64_t)t->usage.ru_nivcsw;
	ret->minor_faults = (uint64_t)t->usage.ru_minflt;
	ret->major_faults = (uint64_t)t->usage.ru_majflt;
}

static struct block_run describe(const struct blocks *b)
{
	struct thread_sums sums;

	thread_times_sum(&b->threads, &sums);
	return (struct block_run){.started_ns = b->run.started_ns,
	    .ended = b->run.ended,
	    .wall_ns = b->run.wall_ns,
	    .cpu_ns = (uint64_t)own_ns(b),
	    .probed_ns = b->run.probed_ns,
	    .paused_ns = b->run.paused_ns,
	    .blocked_ns = sums.blocked_ns,
	    .runnable_ns = sums.runnable_ns,
	    .switches = sums.switches,
	    .preemptions = sums.preemptions,
	    .migrations = sums.migrations};
}

static void say_run(const struct blocks *b, uint64_t run, const struct block_run *r, size_t n)
{
	char how[64] = "";

	if (!r->ended)
		snprintf(how, sizeof(how), ", ended by --duration");
	else if (r->status < 0)
		snprintf(how, sizeof(how), ", killed by signal %d", -r->status);
	else if (r->status)
		snprintf(how, sizeof(how), ", exit status %d", r->status);
	if (!b->rooms.target->ops->restarts)
		how[0] = 0;
	console_say(b->rooms.console,
	    "run %llu of %llu: %.3g s, CPU %.3g s, %zu blocks, probes %.1f %%%s",
	    (unsigned long long)run + 1, (unsigned long long)b->rooms.o->runs,
	    (double)r->wall_ns / 1e9, (double)r->cpu_ns / 1e9, n,
	    r->cpu_ns ? 100 * (double)r->probed_ns / (double)r->cpu_ns : 0, how);
}

int blocks_record(struct blocks *b, uint64_t run, struct error *e)
{
	struct block_run r = describe(b);
	size_t n;
	struct block_figures *figures = list_figures(b, &n);
	int err = -1;

	fill_usage(b, &r);
	r.number = run + 1;
	r.command = command_text(b);
	if (figures && r.command)
		err = block_log_add(b->log, &r, b->places, b->n_places, figures, n, e);
	else
		error_set(e, EXIT_OTHER, "out of memory");
	if (!err)
		say_run(b, run, &r, n);
	b->n_runs++;
	b->n_failed += r.ended && r.status;
	b->executed_ns += (double)r.cpu_ns;
	b->probed_ns += (double)r.probed_ns;
	free(r.command);
	free(figures);
	return err;
}

void blocks_not_started(struct blocks *b, uint64_t run, const struct error *why)
{
	b->n_not_started++;
	windows_close(b);
	slots_free(b);
	say("line %u of the inputs does not start: %s", blocks_command(b, run)->line, why->cause);
}

/* Why the log has no block. */
static int finish_empty(const struct blocks *b)
{
	const struct files *files = b->rooms.files;
	struct error e = {0};

	if (!files->lines.n_objects) {
		ending_fail_mapped(files->scope.n_binaries ? files->scope.binaries[0] : NULL, &e);
		return say_error(&e);
	}
	console_say(b->rooms.console,
	    "no block had %.3g %% of the samples: give it longer runs, or lower --share",
	    100 * b->rooms.o->blocks->share);
	return EXIT_OK;
}

int blocks_finish(const struct blocks *b)
{
	int status = b->n_not_started ? EXIT_OTHER : EXIT_OK;

	if (!b->n_runs)
		return status;
	console_say(b->rooms.console,
	    "%llu runs, %zu blocks in '%s'; probes made the program %.1f %% slower",
	    (unsigned long long)b->n_runs, b->n_places, b->rooms.o->output,
	    b->executed_ns > 0 ? 100 * b->probed_ns / b->executed_ns : 0);
	if (b->n_failed)
		console_say(b->rooms.console, "%llu of the runs failed: reports keep them apart",
		    (unsigned long long)b->n_failed);
	if (b->n_not_started)
		console_say(b->rooms.console, "%llu commands did not start",
		    (unsigned long long)b->n_not_started);
	if (b->n_places)
		console_say(b->rooms.console, "see: cozbpf blocks report %s", b->rooms.o->output);
	else
		status = finish_empty(b) ?: status;
	return status;
}
