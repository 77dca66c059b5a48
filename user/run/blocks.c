// SPDX-License-Identifier: BSD-3-Clause
/* The order of things in the runs of `cozbpf blocks`; see blocks.h. */
#include "run/blocks.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/blocks_private.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/target.h"

/* A look at samples and at threads, some 1 ms: soon after the begin, then seldom. */
#define FIRST_LOOK_NS 20000000ULL
#define LAST_LOOK_NS 250000000ULL
/* a look at so many threads takes 5 ms */
#define MANY_THREADS 100
#define MANY_LOOK_NS 1000000000ULL
/* that long a block is watched before another one gets its slot */
#define ROTATE_NS 2000000000ULL

static int open_log(struct blocks *b, struct error *e)
{
	const struct run_options *o = b->rooms.o;
	const struct files *f = b->rooms.files;
	struct block_session s = {.program = (char *)b->rooms.target->path,
	    .perturb_pct = (unsigned)ceil(100 * o->blocks->perturb),
	    .seed = o->seed};
	uint8_t id[20];
	uint32_t n = f->main_object ? object_build_id(f->main_object, id) : 0;

	for (uint32_t i = 0; i < n && i < sizeof(id); i++)
		snprintf(s.build_id + (size_t)(2 * i), 3, "%02x", id[i]);
	return block_log_open(o->output, &s, &b->log, e);
}

int blocks_open(const struct blocks_rooms *rooms, struct blocks **ret, struct error *e)
{
	struct blocks *b = calloc(1, sizeof(*b));

	*ret = b;
	if (!b)
		return error_set(e, EXIT_OTHER, "out of memory");
	b->rooms = *rooms;
	b->rng.state = rooms->o->seed;
	b->thrift = 1;
	b->cost = probe_cost_estimate(&b->in_windows, &b->elsewhere);
	for (size_t i = 0; i < OTHERS; i++)
		b->others[i] = SIZE_MAX;
	slots_init(b);
	return session_calibrate_blocks(rooms->session, e) || open_log(b, e) ? -1 : 0;
}

void blocks_close(struct blocks *b)
{
	if (!b)
		return;
	candidates_free(b);
	thread_times_deinit(&b->threads);
	block_log_close(b->log);
	free(b->places);
	free(b);
}

const struct run_command *blocks_command(const struct blocks *b, uint64_t run)
{
	const struct blocks_options *o = b->rooms.o->blocks;

	return &o->commands[run % o->n_commands];
}

static uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t paused_ns(const struct blocks *b)
{
	return session_perturbation(b->rooms.session).paused_ns;
}

/* Of processes that run already; a command's come with its end. */
static void read_faults(const struct blocks *b, struct fault_counts *ret)
{
	struct fault_counts one;

	for (const struct process *p = b->rooms.target->processes; p; p = p->next) {
		if (!process_faults(p->pid, &one))
			continue;
		ret->minor += one.minor;
		ret->major += one.major;
	}
}

void blocks_begin_run(struct blocks *b)
{
	uint64_t now = monotonic_ns();
	struct counters counters;

	memset(&b->run, 0, sizeof(b->run));
	for (size_t i = 0; i < b->n; i++) {
		struct candidate *c = &b->candidates[i];

		c->sums = c->trial = (struct window_sums){0};
		memset(c->by_other, 0, sizeof(c->by_other));
		c->reading = (struct block_reading){0};
		c->was_watched = c->got_hot = false;
		c->window_samples = 0;
	}
	candidates_begin(b);
	slots_assign(b, false);
	windows_plan(b);
	b->run.began_ns = now;
	b->run.started_ns = realtime_ns();
	b->run.executed_from = session_executed_ns(b->rooms.session);
	b->run.probed_from = session_probes_ns(b->rooms.session);
	b->run.paused_from = paused_ns(b);
	session_read(b->rooms.session, &counters);
	b->run.kernel_from = counters.kernel_samples;
	b->look_after_ns = FIRST_LOOK_NS;
	b->look_ns = now + b->look_after_ns;
	b->rotate_ns = now + ROTATE_NS;
	thread_times_begin(&b->threads);
	read_faults(b, &b->run.faults_from);
	windows_begin(b, now);
}

/* What ends a command leaves its figures for a moment. */
static bool is_ending(const struct blocks *b)
{
	struct pollfd fd = {.fd = target_fd(b->rooms.target), .events = POLLIN};

	return fd.fd >= 0 && poll(&fd, 1, 0) == 1;
}

static void look_at_threads(struct blocks *b)
{
	for (const struct process *p = b->rooms.target->processes; p; p = p->next)
		thread_times_look(&b->threads, p->pid);
}

static void look(struct blocks *b, uint64_t now)
{
	look_at_threads(b);
	candidates_look(b);
	slots_assign(b, now >= b->rotate_ns);
	if (now >= b->rotate_ns)
		b->rotate_ns = now + ROTATE_NS;
	windows_plan(b);
	b->look_after_ns =
	    b->look_after_ns * 2 > LAST_LOOK_NS ? LAST_LOOK_NS : b->look_after_ns * 2;
	if (b->threads.n > MANY_THREADS)
		b->look_after_ns = MANY_LOOK_NS;
	b->look_ns = monotonic_ns() + b->look_after_ns;
}

void blocks_step(struct blocks *b, uint64_t now, uint64_t *due)
{
	bool is_open = windows_step(b, now, due);

	if (is_ending(b))
		look_at_threads(b);
	else if (!is_open && now >= b->look_ns)
		look(b, now);
	if (!is_open && b->look_ns < *due)
		*due = b->look_ns;
}

static void add_time(struct probe_time *sum, const struct probe_time *t, double sign)
{
	sum->executed += sign * t->executed;
	sum->probed += sign * t->probed;
	sum->samples += sign * t->samples;
	sum->in_kernel += sign * t->in_kernel;
}

/* What this run tells of the cost of probes, beside those before, and what its own have taken. */
static void learn_cost(struct blocks *b, uint64_t in_kernel)
{
	const struct probe_time all = {.executed = (double)b->run.executed_ns,
	    .probed = (double)b->run.probed_ns,
	    .samples = (double)b->run.samples,
	    .in_kernel = (double)in_kernel};

	add_time(&b->in_windows, &b->run.windows, 1);
	add_time(&b->elsewhere, &all, 1);
	add_time(&b->elsewhere, &b->run.windows, -1);
	b->cost = probe_cost_estimate(&b->in_windows, &b->elsewhere);
	b->run.probed_ns = (uint64_t)(b->cost.factor * (double)b->run.probed_ns);
}

void blocks_end_run(struct blocks *b, uint64_t now, bool target_ended)
{
	struct session *s = b->rooms.session;
	struct counters c;

	if (!target_ended)
		look_at_threads(b);
	windows_close(b);
	slots_free(b);
	session_read(s, &c);
	b->run.ended = target_ended;
	b->run.wall_ns = now - b->run.began_ns;
	b->run.samples = c.samples - b->all_before;
	for (size_t i = 0; i < b->n; i++)
		b->candidates[i].run_samples = candidate_samples(b, &b->candidates[i]);
	b->run.executed_ns = session_executed_ns(s) - b->run.executed_from;
	b->run.probed_ns = session_probes_ns(b->rooms.session) - b->run.probed_from;
	learn_cost(b, c.kernel_samples - b->run.kernel_from);
	b->run.paused_ns = paused_ns(b) - b->run.paused_from;
	read_faults(b, &b->run.faults);
}
