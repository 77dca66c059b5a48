// SPDX-License-Identifier: BSD-3-Clause
/* Windows as they open and close, and for how much of the time each block is in one; see
 * core/blocks/windows.h for the arithmetic. */
#include <stdlib.h>

#include "run/blocks_private.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/options.h"

/* blocks of which nothing is known yet, in one window: their probes come all at once */
#define MOST_TRIALS 32
/* blocks that are so seldom watched cost much */
#define HOT_EVERY 3
/* what a window tells of a block's cost, beside all that was before */
#define DECAY 0.9
/* What probes take is looked at after so much CPU time. Less than a hundredth of the cost would
 * leave nothing to measure. */
#define THRIFT_NS 100e6
#define LEAST_THRIFT 0.01
/* a block that is executed less often tells little of a window */
#define LEAST_OTHER 100
/* the part of a window that its own probes may take */
#define OTHER_COST 0.1
/* a block that is watched all the time goes on to be while its cost is below twice its part */
#define STAYS 0.5

static bool any_new(const struct blocks *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->candidates[i].state == CANDIDATE_NEW)
			return true;
	return false;
}

static uint64_t executed(const struct blocks *b)
{
	return session_executed_ns(b->rooms.session);
}

/* What the slots of a window have counted by now. */
static void refresh(struct blocks *b, const struct open_window *w)
{
	struct block_reading r;

	for (size_t i = 0; i < w->n; i++) {
		struct candidate *c = &b->candidates[w->members[i].candidate];

		session_read_block(b->rooms.session, (unsigned)c->slot, &r);
		c->entries = r.entries;
		c->probe_ns = r.probe_ns;
	}
}

static void refresh_all(struct blocks *b)
{
	for (size_t i = 0; i < b->n_windows; i++)
		refresh(b, &b->windows[i]);
}

static void learn_cost(struct blocks *b, struct window_member *m, uint64_t now)
{
	struct candidate *c = &b->candidates[m->candidate];

	if (now <= m->since_executed_ns)
		return;
	c->probed_ns = DECAY * c->probed_ns + (double)(c->probe_ns - m->since_probe_ns);
	c->executed_ns = DECAY * c->executed_ns + (double)(now - m->since_executed_ns);
	m->since_probe_ns = c->probe_ns;
	m->since_executed_ns = now;
}

struct block_probe candidate_probe(const struct blocks *b, const struct candidate *c)
{
	return (struct block_probe){.path = b->objects[c->object].probe_path,
	    .entry = c->site.entry,
	    .exit = c->site.exit,
	    .entry_is_cheap = c->site.entry_is_cheap,
	    .exit_is_cheap = c->site.exit_is_cheap,
	    .slot = (unsigned)c->slot};
}

static int open_probes(struct blocks *b, const struct open_window *w, struct error *e)
{
	struct block_probe probes[COZBPF_BLOCK_SLOTS];

	for (size_t i = 0; i < w->n; i++)
		probes[i] = candidate_probe(b, &b->candidates[w->members[i].candidate]);
	return session_open_blocks(b->rooms.session, probes, w->n, e);
}

/* None of them could be probed, each tried alone. */
static void refuse(struct blocks *b, const struct open_window *w, const struct error *why)
{
	for (size_t i = 0; i < w->n; i++) {
		struct candidate *c = &b->candidates[w->members[i].candidate];

		if (session_block_is_refused(b->rooms.session, (unsigned)c->slot))
			c->state = CANDIDATE_REFUSED;
	}
	if (!b->said_refused)
		console_say(b->rooms.console, "warning: a block cannot be probed: %s", why->cause);
	b->said_refused = true;
}

/* @w has its members. False: it could not be opened. */
static bool open_window(struct blocks *b, struct open_window *w)
{
	struct error e = {0};
	struct counters counters;

	if (!w->n || b->n_windows == MAX_WINDOWS)
		return false;
	w->id = open_probes(b, w, &e);
	if (w->id < 0) {
		refuse(b, w, &e);
		return false;
	}
	refresh_all(b);
	refresh(b, w);
	w->executed_ns = executed(b);
	w->probed_ns = session_probes_ns(b->rooms.session);
	session_read(b->rooms.session, &counters);
	w->samples = counters.samples;
	w->in_kernel = counters.kernel_samples;
	for (size_t i = 0; i < OTHERS; i++)
		if (b->others[i] != SIZE_MAX)
			w->other_entries[i] = b->candidates[b->others[i]].entries;
	for (size_t i = 0; i < w->n; i++) {
		struct window_member *m = &w->members[i];
		struct candidate *c = &b->candidates[m->candidate];

		m->entries = c->entries;
		m->since_probe_ns = c->probe_ns;
		m->since_executed_ns = w->executed_ns;
		m->samples = candidate_samples(b, c);
		if (session_block_is_refused(b->rooms.session, (unsigned)c->slot))
			c->state = CANDIDATE_REFUSED;
		else if (w->is_always)
			c->state = CANDIDATE_ALWAYS;
	}
	b->windows[b->n_windows++] = *w;
	return true;
}

/* What probes have taken is no time of the target. */
static struct window_counts counts_of(
    const struct blocks *b, const struct open_window *w, uint64_t now)
{
	double took = (double)(session_probes_ns(b->rooms.session) - w->probed_ns);
	double all = (double)(now - w->executed_ns);

	return (struct window_counts){
	    .executed = all > took ? all - took : 0, .probed = all > took ? took : all};
}

/* How often another block was executed stands in place of time. */
static void compare_with_others(
    struct blocks *b, const struct open_window *w, const struct window_member *m, double entries)
{
	struct candidate *c = &b->candidates[m->candidate];

	if (w->is_always || m->is_trial)
		return;
	for (size_t i = 0; i < OTHERS; i++) {
		struct window_counts counts = {.entries = entries, .is_other = true};

		if (b->others[i] == SIZE_MAX || b->others[i] == m->candidate)
			continue;
		counts.executed =
		    (double)(b->candidates[b->others[i]].entries - w->other_entries[i]);
		window_sums_add(&c->by_other[i], m->every, &counts);
	}
}

static void take_counts(struct blocks *b, const struct open_window *w, struct window_member *m,
    struct window_counts counts, uint64_t now)
{
	struct candidate *c = &b->candidates[m->candidate];

	if (c->state == CANDIDATE_REFUSED)
		return;
	learn_cost(b, m, now);
	counts.entries = (double)(c->entries - m->entries);
	/* what another block's probes take hides what the target has executed */
	window_sums_add(
	    m->is_trial || (w->is_hot && m->every && m->every < HOT_EVERY) ? &c->trial : &c->sums,
	    m->every, &counts);
	compare_with_others(b, w, m, counts.entries);
	if (!w->is_always)
		c->window_samples += candidate_samples(b, c) - m->samples;
	if (m->is_trial && c->executed_ns > 0)
		c->state = CANDIDATE_SAMPLED;
}

/* What a random window tells of the cost of probes. */
static void add_window(struct blocks *b, const struct open_window *w, const struct window_counts *c)
{
	struct probe_time *all = &b->run.windows;
	struct counters now;

	session_read(b->rooms.session, &now);
	all->executed += c->executed + c->probed;
	all->probed += c->probed;
	all->samples += (double)(now.samples - w->samples);
	all->in_kernel += (double)(now.kernel_samples - w->in_kernel);
}

static void close_window(struct blocks *b, size_t index)
{
	struct open_window *w = &b->windows[index];
	struct window_counts counts;
	struct candidate *c;
	uint64_t now;

	refresh_all(b);
	now = executed(b);
	session_close_blocks(b->rooms.session, w->id);
	counts = counts_of(b, w, now);
	if (!w->is_always)
		add_window(b, w, &counts);
	for (size_t i = 0; i < w->n; i++) {
		take_counts(b, w, &w->members[i], counts, now);
		c = &b->candidates[w->members[i].candidate];
		if (c->state == CANDIDATE_ALWAYS)
			c->state = CANDIDATE_CHEAP;
	}
	*w = b->windows[--b->n_windows];
}

void windows_leave(struct blocks *b, size_t candidate)
{
	for (size_t i = b->n_windows; i-- > 0;) {
		const struct open_window *w = &b->windows[i];
		bool is_there = false;

		for (size_t m = 0; m < w->n; m++)
			is_there |= w->members[m].candidate == candidate;
		if (is_there)
			close_window(b, i);
	}
}

void windows_close(struct blocks *b)
{
	while (b->n_windows)
		close_window(b, b->n_windows - 1);
}

static void add_member(const struct blocks *b, struct open_window *w, size_t candidate)
{
	const struct candidate *c = &b->candidates[candidate];

	w->is_hot |= c->state == CANDIDATE_NEW || (!w->is_always && c->turn.every >= HOT_EVERY);
	w->members[w->n++] = (struct window_member){.candidate = candidate,
	    .is_trial = c->state == CANDIDATE_NEW,
	    .every = w->is_always ? 0 : c->turn.every};
}

static void open_cheap(struct blocks *b)
{
	struct open_window w = {.is_always = true};

	/* Random windows need a place. All that are watched all the time come back as one. */
	if (b->n_windows + 1 >= MAX_WINDOWS)
		windows_close(b);
	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++)
		if (b->slots[s] != SIZE_MAX && b->candidates[b->slots[s]].state == CANDIDATE_CHEAP)
			add_member(b, &w, b->slots[s]);
	open_window(b, &w);
}

static void open_random(struct blocks *b)
{
	struct open_window w = {0};
	unsigned trials = 0;

	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++) {
		struct candidate *c = &b->candidates[b->slots[s] == SIZE_MAX ? 0 : b->slots[s]];

		if (b->slots[s] == SIZE_MAX)
			continue;
		if ((c->state == CANDIDATE_NEW && trials++ < MOST_TRIALS) ||
		    (c->state == CANDIDATE_SAMPLED && window_turn_take(&c->turn, &b->rng)))
			add_member(b, &w, b->slots[s]);
	}
	open_window(b, &w);
}

static bool is_other(const struct blocks *b, size_t candidate)
{
	bool ret = false;

	for (size_t i = 0; i < OTHERS; i++)
		ret |= b->others[i] == candidate;
	return ret;
}

static void apply(struct blocks *b, size_t candidate, double share)
{
	struct candidate *c = &b->candidates[candidate];
	uint32_t every = window_every(share);

	if (c->state == CANDIDATE_ALWAYS && share >= STAYS)
		return;
	if (c->state == CANDIDATE_ALWAYS) {
		windows_leave(b, candidate);
		c->got_hot |= every > 0;
	}
	c->state = every ? CANDIDATE_SAMPLED : CANDIDATE_CHEAP;
	if (every)
		window_turn_set(&c->turn, is_other(b, candidate) ? 1 : every);
}

/* What probes have taken since the last look, beside what they may. */
static void be_thrifty(struct blocks *b, uint64_t now)
{
	uint64_t probed = session_probes_ns(b->rooms.session);
	double took = (double)(probed - b->thrift_probed_ns),
	       executed_ns = (double)(now - b->thrift_executed_ns),
	       may = b->rooms.o->blocks->cost * executed_ns;

	if (executed_ns < THRIFT_NS)
		return;
	b->thrift *= took > 2 * may ? 0.5 : took > may / 1.25 ? may / took : 1.25;
	b->thrift = b->thrift > 1 ? 1 : b->thrift < LEAST_THRIFT ? LEAST_THRIFT : b->thrift;
	b->thrift_probed_ns = probed;
	b->thrift_executed_ns = now;
}

/* Its own probes are no burden in each of the windows. */
static bool may_tell(const struct candidate *c)
{
	return (c->state == CANDIDATE_ALWAYS || (c->state == CANDIDATE_SAMPLED && c->turn.every)) &&
	       c->probed_ns < OTHER_COST * c->executed_ns;
}

/* Executions in all windows. */
static double told(const struct candidate *c)
{
	return (double)c->entries * (c->state == CANDIDATE_ALWAYS ? WINDOW_DUTY : c->turn.every);
}

/* Who tells from now on, in the place of number @at. Windows before do not count for that. */
static void set_other(struct blocks *b, size_t at, size_t candidate)
{
	b->others[at] = candidate;
	if (candidate != SIZE_MAX && b->candidates[candidate].state == CANDIDATE_SAMPLED)
		window_turn_set(&b->candidates[candidate].turn, 1);
	for (size_t i = 0; i < b->n; i++)
		b->candidates[i].by_other[at] = (struct window_sums){0};
}

/* Those that serve stay, others come for those that do not. */
static void choose_others(struct blocks *b)
{
	for (size_t at = 0; at < OTHERS; at++) {
		size_t best = SIZE_MAX;

		if (b->others[at] != SIZE_MAX && may_tell(&b->candidates[b->others[at]]))
			continue;
		for (size_t i = 0; i < b->n; i++)
			if (may_tell(&b->candidates[i]) && !is_other(b, i) &&
			    told(&b->candidates[i]) >= LEAST_OTHER &&
			    (best == SIZE_MAX ||
				told(&b->candidates[i]) > told(&b->candidates[best])))
				best = i;
		if (best != b->others[at])
			set_other(b, at, best);
	}
}

static void learn_costs(struct blocks *b)
{
	uint64_t now;

	refresh_all(b);
	now = executed(b);
	for (size_t i = 0; i < b->n_windows; i++)
		for (size_t m = 0; m < b->windows[i].n; m++)
			learn_cost(b, &b->windows[i].members[m], now);
	be_thrifty(b, now);
}

void windows_plan(struct blocks *b)
{
	double loads[COZBPF_BLOCK_SLOTS], shares[COZBPF_BLOCK_SLOTS];
	size_t who[COZBPF_BLOCK_SLOTS], n = 0;

	learn_costs(b);
	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++) {
		const struct candidate *c =
		    b->slots[s] == SIZE_MAX ? NULL : &b->candidates[b->slots[s]];

		if (!c || c->executed_ns <= 0 || c->state == CANDIDATE_REFUSED)
			continue;
		loads[n] = c->probed_ns / c->executed_ns;
		who[n++] = b->slots[s];
	}
	if (window_shares(loads, n, b->rooms.o->blocks->cost * b->thrift, shares))
		return;
	for (size_t i = 0; i < n; i++)
		apply(b, who[i], shares[i]);
	choose_others(b);
}

void windows_begin(struct blocks *b, uint64_t now)
{
	for (size_t i = 0; i < OTHERS; i++)
		set_other(b, i, SIZE_MAX);
	b->thrift_executed_ns = executed(b);
	b->thrift_probed_ns = session_probes_ns(b->rooms.session);
	b->cycle = window_next(&b->rng, now);
	b->has_opened = false;
	open_cheap(b);
}

/* The random window that is open; SIZE_MAX: none is. */
static size_t find_random(const struct blocks *b)
{
	for (size_t i = 0; i < b->n_windows; i++)
		if (!b->windows[i].is_always)
			return i;
	return SIZE_MAX;
}

static void end_random(struct blocks *b, size_t index)
{
	bool has_trials = any_new(b);

	close_window(b, index);
	if (has_trials)
		windows_plan(b);
}

bool windows_step(struct blocks *b, uint64_t now, uint64_t *due)
{
	struct window_cycle *c = &b->cycle;
	size_t open = find_random(b);

	if (open != SIZE_MAX && now >= c->close_ns) {
		end_random(b, open);
		open = SIZE_MAX;
	}
	if (!b->has_opened && now >= c->open_ns) {
		uint64_t length = c->close_ns - c->open_ns;

		b->has_opened = true;
		open_random(b);
		c->close_ns = monotonic_ns() + length;
		open = find_random(b);
	}
	if (open == SIZE_MAX && b->has_opened && now >= c->end_ns) {
		*c = window_next(&b->rng, now);
		b->has_opened = false;
	}
	if (open == SIZE_MAX)
		open_cheap(b);
	*due = open != SIZE_MAX ? c->close_ns : b->has_opened ? c->end_ns : c->open_ns;
	return open != SIZE_MAX;
}
