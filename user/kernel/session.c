// SPDX-License-Identifier: BSD-3-Clause
/* Attaching and steering the BPF programs; see session.h. Loading is in load.c, sampling events are
 * in sampling.c. */
#include "kernel/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cozbpf.skel.h"
#include "kernel/compat.h"
#include "kernel/events.h"
#include "kernel/sampling.h"
#include "kernel/session_private.h"

/* a program that makes threads all the time has new ones at each; those of its threads that are
 * known are */
#define ADOPT_READINGS 20
/* eight ticks of the loop: after a longer stop (Ctrl-Z, a file system that hangs) of ours the
 * target runs at its own speed */
#define UNWATCHED_NS 2000000000ULL
/* between two looks whether CPUs went or came: each interrupts all of them for a microsecond */
#define CPUS_NS 1000000000ULL
/* the two clocks are read one after the other; no machine sleeps for less */
#define SLEPT_NS 500000000LL

uint64_t session_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* For how long the machine has been suspended, of which our clock knows nothing. */
static int64_t slept_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec - (int64_t)session_now_ns();
}

static int on_event(void *context, void *data, size_t size)
{
	struct session *s = context;
	struct cozbpf_counter_event event;

	if (s->handle && event_read(data, size, &event))
		s->handle(&event, s->handle_arg);
	return 0;
}

int session_create(const struct session_config *c, const struct line_map *lines,
    struct session **ret, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error_set(e, EXIT_OTHER, "out of memory");
	s->config = *c;
	s->ranges = MAP_FAILED;
	s->unwind_rows = MAP_FAILED;
	s->line_counts = MAP_FAILED;
	s->wait_ids = MAP_FAILED;
	s->wait_lines = MAP_FAILED;
	s->points = MAP_FAILED;
	s->counter_sets = MAP_FAILED;
	s->latencies = MAP_FAILED;
	s->earners = MAP_FAILED;
	err = session_load(s, lines, e);
	if (err || session_add_lines(s, lines, e) || session_adopt(s, e)) {
		session_destroy(s);
		return -1;
	}
	s->events = ring_buffer__new(bpf_map__fd(s->bpf->maps.events), on_event, s, NULL);
	if (!s->events) {
		error_set(e, EXIT_OTHER, "cannot read the event ring: %s", strerror(errno));
		session_destroy(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void session_detach(struct session *s)
{
	sampling_stop(s->sampling);
	s->sampling = NULL;
	session_unhook(s, true);
	points_take_out(s);
	points_forget(s);
	session_forget_probes(s);
	session_drop_calls(s, 0);
	session_drop_spins(s, 0);
	session_drop_goroutines(s, 0);
	blocks_detach(s);
}

const struct pause_mode *session_pause_mode(const struct session *s)
{
	return s->mode;
}

void session_destroy(struct session *s)
{
	if (!s)
		return;
	session_detach(s);
	ring_buffer__free(s->events);
	if (s->ranges != MAP_FAILED)
		munmap(s->ranges, s->ranges_size);
	if (s->unwind_rows != MAP_FAILED)
		munmap(s->unwind_rows, s->unwind_rows_size);
	if (s->line_counts != MAP_FAILED)
		munmap(s->line_counts, s->line_counts_size);
	if (s->wait_ids != MAP_FAILED)
		munmap(s->wait_ids, s->wait_ids_size);
	if (s->wait_lines != MAP_FAILED)
		munmap(s->wait_lines, s->wait_lines_size);
	if (s->points != MAP_FAILED)
		munmap(s->points, s->points_size);
	if (s->counter_sets != MAP_FAILED)
		munmap(s->counter_sets, s->counter_sets_size);
	if (s->latencies != MAP_FAILED)
		munmap(s->latencies, s->latencies_size);
	if (s->earners != MAP_FAILED)
		munmap(s->earners, s->earners_size);
	free(s->cpu_values);
	blocks_deinit(s);
	cozbpf_bpf__destroy(s->bpf);
	session_forget_log(s);
	free(s);
}

void session_set_kernel(struct session *s, uint32_t first, uint32_t n)
{
	s->bpf->bss->control.kernel_first = first;
	s->bpf->bss->control.kernel_count = n;
}

int session_add_lines(struct session *s, const struct line_map *lines, struct error *e)
{
	if (lines->n_ranges > s->ranges_room || lines->n_lines > s->lines_room)
		return error_set(e, EXIT_OTHER,
		    "no room for %zu more address ranges in the line table",
		    lines->n_ranges - s->ranges_used);
	for (size_t i = s->ranges_used; i < lines->n_ranges; i++) {
		const struct line_range *r = &lines->ranges[i];

		s->ranges[i] = (struct cozbpf_range){
		    .lo = r->lo, .len = (uint32_t)(r->hi - r->lo), .line = r->line};
	}
	s->ranges_used = lines->n_ranges;
	return 0;
}

size_t session_add_unwind_rows(
    struct session *s, const struct cozbpf_unwind_row *rows, size_t n, uint32_t *first)
{
	size_t room = s->config.unwind_rows - s->unwind_rows_used;

	if (n > room)
		n = room;
	*first = (uint32_t)s->unwind_rows_used;
	if (n)
		memcpy(s->unwind_rows + s->unwind_rows_used, rows, n * sizeof(*rows));
	if (n && n == room)
		s->unwind_rows[s->unwind_rows_used + n - 1].kind =
		    COZBPF_UNWIND_NONE; /* it stands for the rest */
	s->unwind_rows_used += n;
	return n;
}

int session_add_process(struct session *s, int pid, int pidfd, const char *comm, struct error *e)
{
	struct cozbpf_thread t = {.member = 1,
	    .tgid = (uint32_t)pid,
	    .filter = COZBPF_FILTER_OURS,
	    .order = (uint32_t)s->bpf->bss->control.born};
	struct cozbpf_proc_stats stats = {0};
	uint32_t key = (uint32_t)pid;

	snprintf(stats.comm, sizeof(stats.comm), "%s", comm);
	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.proc_stats), &key, &stats, BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(s->bpf->maps.threads), &pidfd, &t, BPF_NOEXIST))
		return error_set(
		    e, EXIT_OTHER, "cannot make process %d the target: %s", pid, strerror(errno));
	s->bpf->bss->control.threads = 1;
	__sync_fetch_and_add(&s->bpf->bss->control.born, 1);
	s->bpf->bss->control.root = key;
	s->points_used |= 1ULL << COZBPF_POINT_EXIT;
	return 0;
}

int session_visit_tasks(struct session *s)
{
	struct bpf_link *link = bpf_program__attach_iter(s->bpf->progs.on_adopt, NULL);
	char none[64];
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno, err = fd < 0 ? fd : 0;
	ssize_t n = 0;

	while (fd >= 0 && (n = read(fd, none, sizeof(none))) > 0)
		;
	if (n < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

int session_adopt(struct session *s, struct error *e)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;
	uint64_t before;
	int err;

	for (int i = 0; i < ADOPT_READINGS; i++) {
		before = __atomic_load_n(&c->adopted, __ATOMIC_RELAXED);
		err = session_visit_tasks(s);
		if (err)
			return error_set(e, EXIT_FORBIDDEN,
			    "the threads of the target cannot be listed by a BPF iterator: %s",
			    strerror(-err));
		if (__atomic_load_n(&c->adopted, __ATOMIC_RELAXED) == before)
			break;
	}
	return 0;
}

void session_trust_filters(struct session *s, int pid, bool good)
{
	struct cozbpf_control *c = &s->bpf->bss->control;

	c->filters_good = good;
	__atomic_store_n(&c->filters_of, (uint32_t)pid, __ATOMIC_RELEASE);
	for (int i = 0; i < ADOPT_READINGS && session_visit_tasks(s); i++)
		;
	__atomic_store_n(&c->filters_of, 0, __ATOMIC_RELEASE);
}

int session_set_mappings(
    struct session *s, int pid, const struct cozbpf_mapping *mappings, size_t n)
{
	struct cozbpf_proc proc = {0};
	uint32_t key = (uint32_t)pid;

	proc.n_mappings = (uint32_t)(n < COZBPF_MAPPINGS ? n : COZBPF_MAPPINGS);
	memcpy(proc.mappings, mappings, proc.n_mappings * sizeof(*mappings));
	return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.procs), &key, &proc, BPF_ANY) ? -errno
											  : 0;
}

void session_drop_mappings(struct session *s, int pid)
{
	uint32_t key = (uint32_t)pid;

	/* The kernel side has done so, unless they were read meanwhile. */
	bpf_map_delete_elem(bpf_map__fd(s->bpf->maps.procs), &key);
}

bool session_mappings(const struct session *s, int pid, struct cozbpf_proc *ret)
{
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.procs), &key, ret) &&
	       ret->n_mappings <= COZBPF_MAPPINGS;
}

/* session_watch_yields() and watcher_open() attach theirs. Where nothing is delayed membership will
 * do. */
static bool is_wanted(const struct session *s, const struct bpf_program *prog)
{
	const struct cozbpf_bpf *bpf = s->bpf;
	bool tracing = bpf_program__type(prog) == BPF_PROG_TYPE_TRACING &&
		       bpf_program__expected_attach_type(prog) != BPF_TRACE_ITER;

	if (!bpf_program__autoload(prog) ||
	    (!tracing && prog != compat_pause_program(bpf, s->mode)))
		return false;
	if (s->config.watches_only)
		return prog == bpf->progs.on_fork || prog == bpf->progs.on_exec ||
		       prog == bpf->progs.on_exit ||
		       (s->config.blocks && prog == bpf->progs.on_switch) ||
		       (s->config.perturb && prog == compat_pause_program(bpf, s->mode));
	return prog != bpf->progs.on_yield && prog != bpf->progs.on_syscall;
}

/* The period that samples have is a little shorter than the one asked for. */
static void learn_period(struct session *s)
{
	s->period_ns = s->bpf->bss->control.period_ns = sampling_period(s->sampling);
}

int session_attach(struct session *s, uint64_t period_ns, struct error *e)
{
	struct bpf_program *prog;

	s->bpf->bss->control.period_ns = period_ns;
	if (s->config.perturb)
		s->bpf->bss->control.expires_ns = session_now_ns() + UNWATCHED_NS;
	bpf_object__for_each_program(prog, s->bpf->obj)
	{
		if (is_wanted(s, prog) && session_hook(s, prog))
			return session_fail(s, errno, e);
	}
	if (sampling_start(compat_sample_program(s->bpf, s->mode), period_ns, &s->sampling, e))
		return -1;
	learn_period(s);
	return 0;
}

void session_set_period(struct session *s, uint64_t period_ns)
{
	sampling_begin_anew(s->sampling, period_ns);
	learn_period(s);
}

int session_event_fd(const struct session *s)
{
	return ring_buffer__epoll_fd(s->events);
}

void session_events(struct session *s,
    void (*handle)(const struct cozbpf_counter_event *event, void *arg), void *arg)
{
	s->handle = handle;
	s->handle_arg = arg;
	ring_buffer__consume(s->events);
	s->handle = NULL;
}

void session_ask_line(struct session *s)
{
	struct cozbpf_control *c = &s->bpf->bss->control;

	__atomic_store_n(&c->picked, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->pick_from, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->pick, 1, __ATOMIC_RELEASE);
}

void session_open_experiment(struct session *s, const struct opening *o)
{
	struct cozbpf_control *c = &s->bpf->bss->control;
	uint64_t required;

	__atomic_store_n(&c->pick, 0, __ATOMIC_RELAXED);
	points_reset(s);
	sampling_set_period(s->sampling, o->period);
	c->period_ns = (uint64_t)((double)s->period_ns * o->period);
	c->line = o->line;
	c->n_lines = o->n_lines;
	c->other = o->other;
	c->n_others = o->n_others;
	c->speedup_pct = o->speedup_pct;
	c->bucket_shift = o->shift;
	required = c->required;
	c->required = 0;
	c->selected_samples = 0;
	c->selected_ns = 0;
	c->idle = (struct cozbpf_idle){0};
	c->wait_lock = 0;
	c->other_lock = 0;
	c->loop_ns = 0;
	c->loops = 0;
	s->samples_at_open = c->samples;
	s->deep_debt_at_open = c->deep_debt;
	session_cpu_use(s, &s->use_at_open);
	s->was_disturbed = false;
	s->stops_at_open = __atomic_load_n(&c->stops, __ATOMIC_RELAXED);
	s->slept_at_open = slept_ns();
	c->opened_ns = session_now_ns();
	c->expires_ns = c->opened_ns + UNWATCHED_NS;
	c->counted_ns = c->opened_ns + o->settle_ns;
	/* Next to the epoch: in between, a virtual time that is to last is off by that much. */
	c->required_before += required;
	/* A thread enters the experiment behind DELAY_ACQUIRE() of the epoch, and then sees all of
	 * the above. Programs that look at `active` alone may see an older value of the rest on
	 * arm64, for some nanoseconds: one visit may lie in a wrong bucket. */
	__atomic_store_n(&c->epoch, c->epoch + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&c->active, 1, __ATOMIC_RELEASE);
}

/* Suspending takes all CPUs but one offline, so it is noticed there, too. */
static void look_at_cpus(struct session *s, uint64_t now)
{
	s->cpus_ns = now + CPUS_NS;
	s->unsampled = (struct error){0};
	if (s->sampling && sampling_revive(s->sampling, &s->unsampled))
		s->was_disturbed = true;
	s->unsampled_told &= s->unsampled.status != 0;
}

bool session_lost_cpu(struct session *s, struct error *ret)
{
	if (!s->unsampled.status || s->unsampled_told)
		return false;
	s->unsampled_told = true;
	*ret = s->unsampled;
	return true;
}

void session_watch(struct session *s)
{
	struct cozbpf_control *c = &s->bpf->bss->control;
	uint64_t now = session_now_ns();

	if (now < c->expires_ns) /* else threads owe what nobody was there to end */
		__atomic_store_n(&c->expires_ns, now + UNWATCHED_NS, __ATOMIC_RELAXED);
	if (now >= s->cpus_ns)
		look_at_cpus(s, now);
}

/* Whether threads of the target were stopped or went on in this experiment, or some stood still and
 * none ran, of @samples. One that stands still all the time does so in baselines, too. */
static bool any_stopped(const struct session *s, uint64_t samples)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;

	return __atomic_load_n(&c->stops, __ATOMIC_RELAXED) != s->stops_at_open ||
	       (__atomic_load_n(&c->stopped, __ATOMIC_RELAXED) > 0 && !samples);
}

void session_close_experiment(struct session *s, struct snapshot *ret)
{
	struct cozbpf_control *c = &s->bpf->bss->control;

	ret->closed_ns = session_now_ns();
	__atomic_store_n(&c->active, 0, __ATOMIC_SEQ_CST);
	ret->required_ns = __atomic_load_n(&c->required, __ATOMIC_SEQ_CST);
	ret->opened_ns = c->opened_ns;
	ret->counted_ns = c->counted_ns;
	ret->selected_samples = c->selected_samples;
	ret->selected_ns = c->selected_ns;
	ret->loop_ns = c->loop_ns;
	ret->loops = c->loops;
	ret->samples = c->samples - s->samples_at_open;
	ret->deep_debt = c->deep_debt - s->deep_debt_at_open;
	session_cpu_use(s, &ret->use);
	ret->use.executed_ns -= s->use_at_open.executed_ns;
	ret->use.outsiders_ns -= s->use_at_open.outsiders_ns;
	ret->use.virtual_ns -= s->use_at_open.virtual_ns;
	look_at_cpus(s, ret->closed_ns); /* last: this interrupts each CPU */
	ret->was_disturbed = s->was_disturbed || any_stopped(s, ret->samples) ||
			     ret->closed_ns >= c->expires_ns ||
			     slept_ns() - s->slept_at_open > SLEPT_NS;
}

uint64_t session_period(const struct session *s)
{
	return s->period_ns;
}

void session_cpu_use(const struct session *s, struct cpu_use *ret)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;
	uint32_t zero = 0;

	*ret = (struct cpu_use){
	    .executed_ns = (c->samples - c->wait_samples + c->in_pause) * s->period_ns};
	/* When that fails, the values before stand: sums must not fall. */
	bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.cpus), &zero, s->cpu_values);
	for (int i = 0; i < s->n_cpu_values; i++) {
		ret->outsiders_ns += s->cpu_values[i].outsiders_ns;
		ret->virtual_ns += s->cpu_values[i].executed_ns;
		ret->cpus += s->cpu_values[i].executed_ns > 0;
		ret->edges += s->cpu_values[i].joins;
		ret->other_wakes += s->cpu_values[i].other_wakes;
		ret->spun_ns += __atomic_load_n(&s->earners[i].spun_ns, __ATOMIC_RELAXED);
	}
}

uint64_t session_pause_horizon(const struct session *s)
{
	return __atomic_load_n(&s->bpf->bss->control.pause_horizon, __ATOMIC_RELAXED);
}

void session_read(const struct session *s, struct counters *ret)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;

	*ret = (struct counters){.picked_line = __atomic_load_n(&c->picked, __ATOMIC_ACQUIRE),
	    .required_ns = __atomic_load_n(&c->required, __ATOMIC_RELAXED),
	    .pause_horizon_ns = session_pause_horizon(s),
	    .samples = c->samples,
	    .in_scope = c->in_scope,
	    .kernel_samples = c->kernel_samples,
	    .wait_samples = c->wait_samples,
	    .sync_calls = c->sync_calls,
	    .threads = c->threads,
	    .born = c->born,
	    .opened_ns = c->opened_ns,
	    .counted_ns = c->counted_ns};
}

const struct cozbpf_line_count *session_line_counts(const struct session *s)
{
	return s->line_counts;
}

void session_process(const struct session *s, int pid, struct cozbpf_proc_stats *ret)
{
	uint32_t key = (uint32_t)pid;

	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.proc_stats), &key, ret))
		*ret = (struct cozbpf_proc_stats){0};
}

bool session_has_process(const struct session *s, int pidfd)
{
	struct cozbpf_thread t;

	return !bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.threads), &pidfd, &t) && t.member;
}

void session_processes(const struct session *s,
    void (*handle)(int pid, const struct cozbpf_proc_stats *stats, void *arg), void *arg)
{
	int fd = bpf_map__fd(s->bpf->maps.proc_stats);
	struct cozbpf_proc_stats stats;
	uint32_t key, *last = NULL;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &stats))
			handle((int)key, &stats, arg);
		last = &key;
	}
}
