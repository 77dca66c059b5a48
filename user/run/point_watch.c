// SPDX-License-Identifier: BSD-3-Clause
/* The watch as it goes on: slices of time, system calls, probes that are visited too often; see
 * point_watch.h. Which places are probed is in point_watch_places.c. */
#include "run/point_watch_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/files.h"
#include "run/points.h"

/* of CPU time, between two stacks: some 250 in half a second of one CPU are enough for a share of 5
 * percent */
#define STACK_PERIOD_NS 2000000ULL
/* of the slices, in which stacks are taken, before the functions on them are counted */
#define LOOK_PART 3
/* a slice that took so long is no slice: this program was kept from looking */
#define SLICE_LATE_NS (CANDIDATE_SLICE_NS + CANDIDATE_SLICE_NS / 5)
/* The rates at probes are looked at so soon after they have come, and then ever more rarely. */
#define CHECK_FIRST_NS 2000000ULL
#define CHECK_LAST_NS 50000000ULL

/* The rest (epoll_wait, futex, clock_nanosleep) are calls by which a program waits, not works. What
 * leaves the program is likelier the end of a unit of work than what comes in. */
static const struct {
	unsigned number;
	const char *name, *spec, *what;
	double weight;
} calls[] = {
#define CALL(name, what, weight)                                                           \
	{                                                                                  \
		SYS_##name, "sys_exit_" #name,                                             \
		    "sys_exit_" #name "=tracepoint:syscalls:sys_exit_" #name, what, weight \
	}
    CALL(sendto, "sends", 1),
    CALL(sendmsg, "sends", 1),
    CALL(sendmmsg, "sends", 1),
    CALL(sendfile, "sends", 1),
    CALL(write, "writes", 1),
    CALL(writev, "writes", 1),
    CALL(pwrite64, "writes", 0.9),
    CALL(pwritev, "writes", 0.9),
    CALL(fsync, "makes data safe", 0.9),
    CALL(fdatasync, "makes data safe", 0.9),
    CALL(accept4, "accepts", 0.8),
    CALL(accept, "accepts", 0.8),
    CALL(recvfrom, "receives", 0.6),
    CALL(recvmsg, "receives", 0.6),
    CALL(read, "reads", 0.6),
    CALL(readv, "reads", 0.6),
    CALL(pread64, "reads", 0.5),
    CALL(io_uring_enter, "submits", 0.4),
#undef CALL
};
#define N_CALLS (sizeof(calls) / sizeof(*calls))

static struct watch *watch_of(struct points *p)
{
	return (struct watch *)p->watch;
}

static void add_calls(struct point_watch *w)
{
	for (size_t i = 0; i < N_CALLS; i++)
		w->all[w->n++] = (struct candidate){.kind = CANDIDATE_CALL,
		    .number = calls[i].number,
		    .name = calls[i].name,
		    .spec = calls[i].spec,
		    .what = calls[i].what,
		    .weight = calls[i].weight,
		    .cost_ns = CANDIDATE_COST_CALL};
}

static bool keep_text(struct watch *w, char *text)
{
	char **bigger;

	if (w->n_texts == w->texts_room) {
		bigger = reallocarray(w->texts, w->texts_room + 64, sizeof(*bigger));
		if (!bigger)
			return false;
		w->texts = bigger;
		w->texts_room += 64;
	}
	w->texts[w->n_texts++] = text;
	return true;
}

struct candidate *watch_add(struct watch *w, enum candidate_kind kind, char *name, char *spec)
{
	struct candidate *c = &w->shown.all[w->shown.n];

	if (!name || w->n_probes == COZBPF_CANDIDATES || !keep_text(w, name)) {
		free(name);
		free(spec);
		return NULL;
	}
	if (!keep_text(w, spec)) {
		free(spec);
		spec = NULL;
	}
	*c = (struct candidate){
	    .kind = kind, .number = w->n_probes++, .name = name, .spec = spec, .what = ""};
	w->shown.n++;
	return c;
}

bool watch_add_sites(struct watch_group *g, const struct candidate *c,
    const struct probe_site *sites, size_t n, uint64_t semaphore)
{
	if (n > COZBPF_CANDIDATES - g->n)
		return false;
	for (size_t i = 0; i < n; i++) {
		g->offsets[g->n] = sites[i].offset;
		g->semaphores[g->n] = semaphore;
		g->numbers[g->n++] = c->number;
	}
	return true;
}

static uint64_t visits(const struct watch *w, const struct candidate *c)
{
	return c->kind == CANDIDATE_CALL ? watcher_calls(w->watcher, c->number)
					 : watcher_visits(w->watcher, c->number);
}

static uint64_t executed(const struct points *p)
{
	struct cpu_use use;

	session_cpu_use(p->session, &use);
	return use.executed_ns;
}

/* A slice begins. */
static void begin_slice(struct points *p, struct watch *w, uint64_t now)
{
	for (size_t i = 0; i < w->shown.n; i++)
		w->before[i] = visits(w, &w->shown.all[i]);
	w->cpu_before = executed(p);
	w->slice_ns = now;
}

static void end_slice(struct points *p, struct watch *w)
{
	struct candidate_watch *f = &w->shown.figures;

	for (size_t i = 0; i < w->shown.n; i++)
		w->shown.all[i].slices[f->n] = visits(w, &w->shown.all[i]) - w->before[i];
	f->cpu_ns[f->n++] = executed(p) - w->cpu_before;
}

/* The probes of the group come, or come back without those of candidates that were removed. */
static void probe(struct points *p, struct watch *w, struct watch_group *g)
{
	const struct watch_sites at = {
	    .offsets = g->offsets, .semaphores = g->semaphores, .numbers = g->numbers, .n = g->n};
	struct watch_sites in_file = at;
	struct object *o;
	struct error e;

	if (!g->n || files_open(p->files, g->file, &o, &e))
		return;
	in_file.path = object_probe_path(o);
	g->fd = watcher_probe(w->watcher, &in_file);
	files_close(p->files);
}

static void unprobe(struct watch_group *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

/* Takes out what is visited too often. */
static void remove_probes(struct points *p, struct watch *w, const bool *remove)
{
	for (struct watch_group *g = w->groups; g; g = g->next) {
		size_t n = 0;

		for (size_t i = 0; i < g->n; i++) {
			if (remove[g->numbers[i]])
				continue;
			g->offsets[n] = g->offsets[i];
			g->semaphores[n] = g->semaphores[i];
			g->numbers[n++] = g->numbers[i];
		}
		if (n == g->n)
			continue;
		unprobe(g);
		g->n = n;
		probe(p, w, g);
	}
}

/* Probes that are visited too often go at once. */
static void check_probes(struct points *p, struct watch *w, uint64_t now)
{
	uint64_t since[COZBPF_CANDIDATES] = {0}, count;
	bool remove[COZBPF_CANDIDATES] = {0}, any;

	for (size_t i = N_CALLS; i < w->shown.n; i++) {
		unsigned number = w->shown.all[i].number;

		count = watcher_visits(w->watcher, number);
		since[number] = count - w->checked[number];
		w->checked[number] = count;
	}
	any = candidates_remove(w->shown.all + N_CALLS, w->shown.n - N_CALLS, since,
	    (double)(now - w->checked_ns) / 1e9, &w->shown.figures, remove);
	if (any)
		remove_probes(p, w, remove);
	w->checked_ns = any ? monotonic_ns() : now;
	w->check_step_ns = any ? CHECK_FIRST_NS : w->check_step_ns * 2;
	if (w->check_step_ns > CHECK_LAST_NS)
		w->check_step_ns = CHECK_LAST_NS;
	w->check_ns = w->checked_ns + w->check_step_ns;
}

/* What else could be a point is counted from now on. */
static void look(struct points *p, struct watch *w, bool innermost)
{
	const struct watch_group *before = w->groups;
	size_t first = w->shown.n;

	watch_look(p, w, innermost);
	for (size_t i = first; i < w->shown.n; i++)
		w->shown.all[i].from = w->shown.figures.n;
	for (struct watch_group *g = w->groups; g != before; g = g->next)
		probe(p, w, g);
	w->checked_ns = monotonic_ns();
	w->check_step_ns = CHECK_FIRST_NS;
	w->check_ns = w->checked_ns + w->check_step_ns;
}

static void take_stack(const struct cozbpf_stack *stack, void *list)
{
	stacks_add(list, stack);
}

/* Enough stacks are there, or nothing has been found with them. True: it was looked. */
static bool look_further(struct points *p, struct watch *w)
{
	const struct candidate_watch *figures = &w->shown.figures;

	if (w->look_at && figures->n == w->look_at) {
		w->look_at = 0;
		watcher_leave_stacks(w->watcher);
		watcher_stacks(w->watcher, take_stack, &w->stacks);
		w->shown.stacks = w->stacks.n;
		look(p, w, false);
		return true;
	}
	if (!w->innermost_at || figures->n != w->innermost_at)
		return false;
	w->innermost_at = 0;
	if (candidates_serve(w->shown.all, w->shown.n, figures))
		return false;
	look(p, w, true);
	return true;
}

/* A slice's time is over. */
static void next_slice(struct points *p, struct watch *w, uint64_t now)
{
	/* On a machine that is always so busy late slices have to do. */
	if (now - w->slice_ns > SLICE_LATE_NS && w->late < w->slices)
		w->late++;
	else
		end_slice(p, w);
	if (look_further(p, w))
		now = monotonic_ns();
	begin_slice(p, w, now);
}

int point_watch_begin(struct points *p, unsigned slices, bool probes, uint64_t now, struct error *e)
{
	struct watch *w = calloc(1, sizeof(*w));
	size_t room = N_CALLS + COZBPF_CANDIDATES + 1;

	if (!w)
		return error_set(e, EXIT_OTHER, "out of memory");
	p->watch = &w->shown;
	w->slices = slices;
	w->look_at = probes ? slices / LOOK_PART : 0;
	w->innermost_at = probes ? 2 * slices / LOOK_PART : 0;
	w->shown.all = calloc(room, sizeof(*w->shown.all));
	w->before = calloc(room, sizeof(*w->before));
	if (!w->shown.all || !w->before)
		return error_set(e, EXIT_OTHER, "out of memory");
	add_calls(&w->shown);
	if (watcher_open(p->session, &w->watcher, e) ||
	    (probes && watcher_take_stacks(w->watcher, STACK_PERIOD_NS, e)))
		return -1;
	begin_slice(p, w, now);
	return 0;
}

bool point_watch_step(struct points *p, uint64_t now, uint64_t *ret_due)
{
	struct watch *w = watch_of(p);
	uint64_t due;

	watcher_stacks(w->watcher, take_stack, &w->stacks);
	if (w->check_ns && now >= w->check_ns)
		check_probes(p, w, now);
	if (now >= w->slice_ns + CANDIDATE_SLICE_NS)
		next_slice(p, w, now);
	due = w->slice_ns + CANDIDATE_SLICE_NS;
	*ret_due = w->check_ns && w->check_ns < due ? w->check_ns : due;
	return w->shown.figures.n < w->slices;
}

static void close_all(struct watch *w)
{
	for (struct watch_group *g = w->groups; g; g = g->next)
		unprobe(g);
	watcher_close(w->watcher);
	w->watcher = NULL;
}

void point_watch_end(struct points *p)
{
	struct watch *w = watch_of(p);

	close_all(w);
	w->shown.good = candidates_rank(w->shown.all, w->shown.n, &w->shown.figures);
	if (w->shown.figures.n < CANDIDATE_SLICES_MIN)
		w->shown.good = 0;
}

void point_watch_deinit(struct points *p)
{
	struct watch *w = watch_of(p);

	if (!w)
		return;
	p->watch = NULL;
	close_all(w);
	while (w->groups) {
		struct watch_group *next = w->groups->next;

		free(w->groups);
		w->groups = next;
	}
	for (size_t i = 0; i < w->n_texts; i++)
		free(w->texts[i]);
	free(w->texts);
	stacks_deinit(&w->stacks);
	free(w->before);
	free(w->shown.all);
	free(w);
}
