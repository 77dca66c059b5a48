// SPDX-License-Identifier: BSD-3-Clause
/* Loading the BPF programs of a session: which of them, how they are configured, what the kernel
 * says to them. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/experiment/rules.h"
#include <cozbpf/delay_rules.h>
#include "kernel/compat.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* what shim_pause and the vDSO use below the signal frame, generously */
#define HANDLER_STACK 1024
/* return from the handler: sigreturn and the restore of the registers (bench-overhead) */
#define PAUSE_EXIT_NS 1000

/* what loading takes from the heap, twice the kernel's types and more */
#define HEAP_BYTES (16 << 20)

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

int session_fail(struct session *s, int err, struct error *e)
{
	char *end = s->log + strlen(s->log);
	const char *missing;

	if (err == EPERM) { /* libbpf's words would lead astray: they are about limits and kernel
			       options */
		error_set(
		    e, EXIT_FORBIDDEN, "the kernel does not let this process load BPF programs");
		return error_hint(e, ADVICE_PRIVILEGE "; `cozbpf doctor` tells what is missing");
	}
	if (err == EMFILE) {
		error_set(e, EXIT_FORBIDDEN, "too few files may be open for the BPF programs");
		return error_hint(e, "raise the limit: ulimit -n 4096");
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
	s->wait_ids = map_array(s->bpf->maps.wait_ids, sizeof(*s->wait_ids),
	    bpf_map__max_entries(s->bpf->maps.wait_ids), &s->wait_ids_size);
	s->wait_lines = map_array(s->bpf->maps.wait_lines, sizeof(*s->wait_lines),
	    bpf_map__max_entries(s->bpf->maps.wait_lines), &s->wait_lines_size);
	s->points =
	    map_array(s->bpf->maps.points, sizeof(*s->points), COZBPF_POINTS, &s->points_size);
	s->counter_sets = map_array(s->bpf->maps.counter_sets, sizeof(*s->counter_sets),
	    COZBPF_COUNTER_SETS, &s->counter_sets_size);
	s->latencies = map_array(s->bpf->maps.latencies, sizeof(*s->latencies),
	    s->config.latencies ? COZBPF_POINTS : 1, &s->latencies_size);
	s->earners = map_array(
	    s->bpf->maps.earners, sizeof(*s->earners), (size_t)s->n_cpu_values, &s->earners_size);
	if (s->ranges == MAP_FAILED || s->unwind_rows == MAP_FAILED ||
	    s->line_counts == MAP_FAILED || s->wait_ids == MAP_FAILED ||
	    s->wait_lines == MAP_FAILED || s->points == MAP_FAILED ||
	    s->counter_sets == MAP_FAILED || s->latencies == MAP_FAILED || s->earners == MAP_FAILED)
		return error_set(e, EXIT_OTHER, "cannot map the BPF maps: %s", strerror(errno));
	return 0;
}

/* Calls of --sync=uprobe are thousands. */
static int check_calls(const struct session *s, struct error *e)
{
	struct btf *btf = s->config.sync_uprobe ? btf__load_vmlinux_btf() : NULL;
	bool has = !btf || compat_has_uprobe_multi(btf);

	btf__free(btf);
	if (has)
		return 0;
	error_set(e, EXIT_FORBIDDEN,
	    "'--sync=uprobe' probes many calls at once, which this kernel cannot do");
	return error_hint(e, "leave it out, or use Linux 6.6 or later");
}

/* Decides how threads are told the end of their pauses. */
static int choose_mode(struct session *s, struct error *e)
{
	const char *wanted = s->config.pause;
	int err;

	s->mode = pause_mode_choose(wanted, compat_try_pause, NULL, &err);
	if (s->mode) {
		s->log[0] = 0; /* the words about modes that do not work */
		return 0;
	}
	if (err == -EDEADLK && !wanted) {
		error_set(e, EXIT_FORBIDDEN, "%s", COMPAT_REALTIME_CAUSE);
		return error_hint(e, "%s", COMPAT_REALTIME_HINT);
	}
	if (session_fail(s, -err, e) && (!wanted || err == -EPERM || compat_missing()))
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
	c->waits = s->config.waits;
	c->wait_first = s->config.wait_first;
	c->wait_disk = s->config.wait_disk;
	c->call_first = s->config.call_first;
	c->kernel_unit = s->config.kernel_unit;
	c->goroutines = s->config.goroutines;
	c->go = s->config.go;
	c->blocks = s->config.blocks;
	c->perturb = s->config.perturb;
	c->perturb_seed = s->config.perturb_seed;
	c->n_cpus = s->config.n_cpus;
	c->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
}

/* @s is empty but for its configuration. */
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
	if (check_calls(s, e) || choose_mode(s, e))
		return -1;
	s->bpf = cozbpf_bpf__open();
	if (!s->bpf)
		return session_fail(s, errno, e);
	configure(s);
#ifdef COZBPF_RULE_SWITCHES
	if (!rules_turn_off(getenv("COZBPF_RULES_OFF")))
		return error_set(
		    e, EXIT_USAGE, "COZBPF_RULES_OFF names a rule that does not exist");
	((struct cozbpf_config *)&s->bpf->rodata->config)->rules_off = delay_rules_off;
#endif
	err = compat_prepare(s->bpf, s->mode);
	if (err)
		return session_fail(s, -err, e);
	calls_prepare(s->bpf, s->config.sync_uprobe);
	go_prepare(s->bpf, s->config.goroutines);
	s->bpf->bss->control.has_peers = s->config.peers;
	s->config.peers = peers_prepare(s->bpf, s->config.peers);
	((struct cozbpf_config *)&s->bpf->rodata->config)->peers = s->config.peers;
	waits_prepare(s->bpf, &s->config, s->lines_room);
	if (blocks_prepare(s, e))
		return -1;
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
		return session_fail(s, -err, e);
	return map_all(s, e);
}

/* libbpf reads the kernel's types, 6 MB, for the trial of a mode and for the programs. Most of the
 * time goes into fresh pages, so the heap keeps them, and the first ones are huge. */
static void heap_begin(void)
{
	char *room;

	mallopt(M_MMAP_THRESHOLD, 2 * HEAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
	room = malloc(HEAP_BYTES);
	if (room)
		madvise(
		    (void *)page_round((uintptr_t)room), HEAP_BYTES - page_round(1), MADV_HUGEPAGE);
	free(room);
}

int session_load(struct session *s, const struct line_map *lines, struct error *e)
{
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, limit;
	bool raised;
	int err;

	log_session = s;
	libbpf_set_print(keep_log);
	/* Kernels before 5.11 count map memory here; where it fails loading tells. Put back at
	 * once: the command would inherit it. */
	raised = !getrlimit(RLIMIT_MEMLOCK, &limit) && !setrlimit(RLIMIT_MEMLOCK, &unlimited);
	heap_begin();
	err = load(s, lines, e);
	malloc_trim(0);
	if (raised)
		setrlimit(RLIMIT_MEMLOCK, &limit);
	return err;
}

void session_forget_log(const struct session *s)
{
	if (log_session == s)
		log_session = NULL;
}
