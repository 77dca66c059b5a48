// SPDX-License-Identifier: BSD-3-Clause
/* Loading, attaching and steering the BPF programs; see session.h. Sampling events are in
 * sampling.c. */
#include "kernel/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cozbpf.skel.h"
#include "core/experiment/rules.h"
#include <cozbpf/delay_rules.h>
#include "kernel/compat.h"
#include "kernel/events.h"
#include "kernel/sampling.h"
#include "kernel/session_private.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* what shim_pause and the vDSO use below the signal frame, generously */
#define HANDLER_STACK 1024
/* a program that makes threads all the time has new ones at each; those of its threads that are
 * known are */
#define ADOPT_READINGS 20
/* return from the handler: sigreturn and the restore of the registers (bench-overhead) */
#define PAUSE_EXIT_NS 1000
/* eight ticks of the loop: after a longer stop (Ctrl-Z, a file system that hangs) of ours the
 * target runs at its own speed */
#define UNWATCHED_NS 2000000000ULL
/* between two looks whether CPUs went or came: each interrupts all of them for a microsecond */
#define CPUS_NS 1000000000ULL
/* the two clocks are read one after the other; no machine sleeps for less */
#define SLEPT_NS 500000000LL

static struct session *log_session;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[1024], *log;
	size_t used, n;

	if (level == LIBBPF_DEBUG || !log_session)
		return 0;
	log = log_session->log;
	vsnprintf(text, sizeof(text), format, args);
	used = strlen(log);
	n = strlen(text);
	if (used + n >= sizeof(log_session->log)) { /* the reason stands in the last words */
		memmove(log, log + used / 2, used - used / 2 + 1);
		used = strlen(log);
	}
	snprintf(log + used, sizeof(log_session->log) - used, "%s", text);
	return 0;
}

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

/* mmap lengths are whole pages. */
static size_t page_round(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

static void *map_array(struct bpf_map *map, size_t value, size_t n, size_t *ret_size)
{
	*ret_size = page_round(value * n);
	return mmap(NULL, *ret_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
}

static int fail_load(struct session *s, int err, struct error *e)
{
	char *end = s->log + strlen(s->log);
	const char *missing;

	if (err == EPERM) { /* libbpf's words would lead astray: they are about limits and kernel
			       options */
		error_set(
		    e, EXIT_FORBIDDEN, "the kernel does not let this process load BPF programs");
		return error_hint(e, ADVICE_PRIVILEGE "; `cozbpf doctor` tells what is missing");
	}
	missing = compat_missing();
	if (missing) {
		error_set(e, EXIT_FORBIDDEN, "this kernel lacks %s", missing);
		return error_hint(e, "use Linux 5.15 or later");
	}
	while (end > s->log && (end[-1] == '\n' || end[-1] == ' '))
		*--end = 0;
	for (char *c = s->log; *c; c++)
		*c = *c == '\n' ? ' ' : *c; /* a message is one line */
	error_set(e, EXIT_FORBIDDEN, "the kernel does not take the BPF programs: %s%s%.600s",
	    strerror(err), s->log[0] ? ": " : "",
	    s->log + (strlen(s->log) > 600 ? strlen(s->log) - 600 : 0));
	return error_hint(e,
	    "run `cozbpf doctor`: it names what this machine lacks and the command that mends it");
}

/* The states of the CPUs know whose they are. */
static int number_cpus(struct session *s)
{
	uint32_t zero = 0;

	for (int i = 0; i < s->n_cpu_values; i++)
		s->cpu_values[i].number = (uint32_t)i + 1;
	return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.cpus), &zero, s->cpu_values, BPF_ANY);
}

static int map_all(struct session *s, struct error *e)
{
	if (!s->bpf->bss) /* libbpf tries whether maps can be mapped, and goes on when not */
		return error_set(e, EXIT_FORBIDDEN, "the kernel maps no BPF maps: out of memory?");
	s->ranges =
	    map_array(s->bpf->maps.ranges, sizeof(*s->ranges), s->ranges_room, &s->ranges_size);
	s->unwind_rows = map_array(s->bpf->maps.unwind_rows, sizeof(*s->unwind_rows),
	    s->config.unwind_rows + 1, &s->unwind_rows_size);
	s->line_counts = map_array(
	    s->bpf->maps.line_counts, sizeof(*s->line_counts), s->lines_room, &s->line_counts_size);
	s->points =
	    map_array(s->bpf->maps.points, sizeof(*s->points), COZBPF_POINTS, &s->points_size);
	s->counter_sets = map_array(s->bpf->maps.counter_sets, sizeof(*s->counter_sets),
	    COZBPF_COUNTER_SETS, &s->counter_sets_size);
	s->latencies = map_array(s->bpf->maps.latencies, sizeof(*s->latencies),
	    s->config.latencies ? COZBPF_POINTS : 1, &s->latencies_size);
	s->earners = map_array(
	    s->bpf->maps.earners, sizeof(*s->earners), (size_t)s->n_cpu_values, &s->earners_size);
	if (s->ranges == MAP_FAILED || s->unwind_rows == MAP_FAILED ||
	    s->line_counts == MAP_FAILED || s->points == MAP_FAILED ||
	    s->counter_sets == MAP_FAILED || s->latencies == MAP_FAILED || s->earners == MAP_FAILED)
		return error_set(e, EXIT_OTHER, "cannot map the BPF maps: %s", strerror(errno));
	return 0;
}

/* Decides how threads are told the end of their pauses. */
static int choose_mode(struct session *s, struct error *e)
{
	const char *wanted = s->config.pause;
	int err;

	s->mode = pause_mode_choose(wanted, compat_try_pause, NULL, &err);
	if (s->mode)
		return 0;
	if (fail_load(s, -err, e) && (!wanted || err == -EPERM || compat_missing()))
		return -1;
	error_set(e, EXIT_FORBIDDEN, "this kernel does not take '--pause=%s'", wanted);
	return error_hint(e, "leave it out: the best mode that works is taken");
}

static void configure(const struct session *s)
{
	struct cozbpf_config *c = (struct cozbpf_config *)&s->bpf->rodata->config;
	unsigned long frame = getauxval(AT_MINSIGSTKSZ);

	c->signal = (uint32_t)s->config.signal;
	c->min_stack = (uint32_t)(frame ? frame : 2048) + HANDLER_STACK;
	c->follow_children = s->config.follow_children;
	c->min_debt_ns = s->config.min_debt_ns;
	if (c->min_debt_ns < s->mode->quantum_ns)
		c->min_debt_ns = s->mode->quantum_ns;
	c->pause_exit_ns = PAUSE_EXIT_NS;
	c->pauses = s->mode->by;
	c->quantum_ns = s->mode->quantum_ns;
	c->sleep_pauses = s->config.sleep_pauses && !s->mode->quantum_ns;
	c->any_stack = s->config.any_stack;
	c->sync_uprobe = s->config.sync_uprobe;
	c->inclusive = s->config.inclusive;
	c->n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static int load(struct session *s, const struct line_map *lines, struct error *e)
{
	int err;

	s->ranges_room = lines->n_ranges + s->config.spare_ranges + 1;
	s->lines_room = lines->n_lines + s->config.spare_lines + 1;
	s->n_cpu_values = libbpf_num_possible_cpus();
	s->cpu_values =
	    calloc(s->n_cpu_values > 0 ? (size_t)s->n_cpu_values : 1, sizeof(*s->cpu_values));
	if (s->n_cpu_values <= 0 || !s->cpu_values)
		return error_set(e, EXIT_OTHER, "the number of CPUs cannot be read");
	if (choose_mode(s, e))
		return -1;
	s->bpf = cozbpf_bpf__open();
	if (!s->bpf)
		return fail_load(s, errno, e);
	configure(s);
#ifdef COZBPF_RULE_SWITCHES
	if (!rules_turn_off(getenv("COZBPF_RULES_OFF")))
		return error_set(
		    e, EXIT_USAGE, "COZBPF_RULES_OFF names a rule that does not exist");
	((struct cozbpf_config *)&s->bpf->rodata->config)->rules_off = delay_rules_off;
#endif
	compat_prepare(s->bpf, s->mode);
	calls_prepare(s->bpf, s->config.sync_uprobe);
	multi_prepare(s->bpf->progs.on_visits);
	multi_prepare(s->bpf->progs.on_spin);
	multi_prepare(s->bpf->progs.on_candidate);
	bpf_map__set_max_entries(s->bpf->maps.earners, (uint32_t)s->n_cpu_values);
	bpf_map__set_max_entries(s->bpf->maps.ranges, (uint32_t)s->ranges_room);
	bpf_map__set_max_entries(s->bpf->maps.line_counts, (uint32_t)s->lines_room);
	bpf_map__set_max_entries(s->bpf->maps.unwind_rows, (uint32_t)s->config.unwind_rows + 1);
	bpf_map__set_max_entries(
	    s->bpf->maps.begins, s->config.latencies ? COZBPF_LATENCY_OPEN : 1);
	bpf_map__set_max_entries(s->bpf->maps.latencies, s->config.latencies ? COZBPF_POINTS : 1);
	err = cozbpf_bpf__load(s->bpf);
	if (!err)
		err = number_cpus(s);
	if (err)
		return fail_load(s, -err, e);
	return map_all(s, e);
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
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, limit;
	struct session *s = calloc(1, sizeof(*s));
	bool raised;
	int err;

	if (!s)
		return error_set(e, EXIT_OTHER, "out of memory");
	s->config = *c;
	s->ranges = MAP_FAILED;
	s->unwind_rows = MAP_FAILED;
	s->line_counts = MAP_FAILED;
	s->points = MAP_FAILED;
	s->counter_sets = MAP_FAILED;
	s->latencies = MAP_FAILED;
	s->earners = MAP_FAILED;
	log_session = s;
	libbpf_set_print(keep_log);
	/* Kernels before 5.11 count map memory here; where it fails loading tells. Put back at
	 * once: the command would inherit it. */
	raised = !getrlimit(RLIMIT_MEMLOCK, &limit) && !setrlimit(RLIMIT_MEMLOCK, &unlimited);
	err = load(s, lines, e);
	if (raised)
		setrlimit(RLIMIT_MEMLOCK, &limit);
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
	for (size_t i = 0; i < s->n_links; i++)
		bpf_link__destroy(s->links[i]);
	s->n_links = 0;
	for (size_t i = 0; i < s->n_multi_links; i++)
		close(s->multi_links[i]);
	s->n_multi_links = 0;
	session_forget_probes(s);
	session_drop_calls(s, 0);
	session_drop_spins(s, 0);
}

int session_signal(const struct session *s)
{
	return s->config.signal;
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
	if (s->points != MAP_FAILED)
		munmap(s->points, s->points_size);
	if (s->counter_sets != MAP_FAILED)
		munmap(s->counter_sets, s->counter_sets_size);
	if (s->latencies != MAP_FAILED)
		munmap(s->latencies, s->latencies_size);
	if (s->earners != MAP_FAILED)
		munmap(s->earners, s->earners_size);
	free(s->cpu_values);
	cozbpf_bpf__destroy(s->bpf);
	if (log_session == s)
		log_session = NULL;
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
	struct cozbpf_thread t = {.member = 1, .tgid = (uint32_t)pid, .filter = COZBPF_FILTER_OURS};
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

/* One reading of the iterator. 0 or -errno. */
static int adopt_once(struct session *s)
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
		err = adopt_once(s);
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
	for (int i = 0; i < ADOPT_READINGS && adopt_once(s); i++)
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
		       prog == bpf->progs.on_exit;
	return prog != bpf->progs.on_yield && prog != bpf->progs.on_syscall;
}

int session_attach(struct session *s, uint64_t period_ns, struct error *e)
{
	struct bpf_program *prog;

	s->period_ns = s->bpf->bss->control.period_ns = period_ns;
	bpf_object__for_each_program(prog, s->bpf->obj)
	{
		struct bpf_link *link;

		if (!is_wanted(s, prog))
			continue;
		link = bpf_program__attach(prog);
		if (!link)
			return fail_load(s, errno, e);
		s->links[s->n_links++] = link;
	}
	return sampling_start(
	    compat_sample_program(s->bpf, s->mode), s->period_ns, &s->sampling, e);
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
	c->line_span = o->line_span;
	c->speedup_pct = o->speedup_pct;
	c->bucket_shift = o->shift;
	required = c->required;
	c->required = 0;
	c->selected_samples = 0;
	c->selected_ns = 0;
	c->loop_ns = 0;
	c->loops = 0;
	s->samples_at_open = c->samples;
	s->deep_debt_at_open = c->deep_debt;
	session_cpu_use(s, &s->use_at_open);
	s->was_disturbed = false;
	s->slept_at_open = slept_ns();
	c->opened_ns = session_now_ns();
	c->expires_ns = c->opened_ns + UNWATCHED_NS;
	c->counted_ns = c->opened_ns + o->settle_ns;
	/* Next to the epoch: in between, a virtual time that is to last is off by that much. */
	c->required_before += required;
	/* A program that sees the new epoch sees all of the above; x86 and the release order keep
	 * it so. */
	__atomic_store_n(&c->epoch, c->epoch + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&c->active, 1, __ATOMIC_RELEASE);
}

/* Suspending takes all CPUs but one offline, so it is noticed there, too. */
static void look_at_cpus(struct session *s, uint64_t now)
{
	s->cpus_ns = now + CPUS_NS;
	if (s->sampling && sampling_revive(s->sampling))
		s->was_disturbed = true;
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
	ret->was_disturbed = s->was_disturbed || ret->closed_ns >= c->expires_ns ||
			     slept_ns() - s->slept_at_open > SLEPT_NS;
}

uint64_t session_period(const struct session *s)
{
	return sampling_period(s->sampling);
}

void session_cpu_use(const struct session *s, struct cpu_use *ret)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;
	uint32_t zero = 0;

	*ret = (struct cpu_use){.executed_ns = (c->samples + c->in_pause) * s->period_ns};
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
