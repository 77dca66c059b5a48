// SPDX-License-Identifier: BSD-3-Clause
/* The kernel side of choosing a progress point; see watch.h. */
#include "kernel/watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sampling.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

struct watcher {
	struct session *session; /* borrowed */
	struct bpf_link *calls;
	struct sampling *sampling; /* of stacks; NULL: none are taken */
	struct ring_buffer *stacks;
	unsigned n_cpus;
	uint64_t *per_cpu; /* room for one reading */
	void (*handle)(const struct cozbpf_stack *stack, void *arg);
	void *handle_arg;
};

static int on_stack(void *context, void *data, size_t size)
{
	struct watcher *w = context;
	const struct cozbpf_stack *stack = data;

	if (w->handle && size >= sizeof(*stack) && stack->n <= COZBPF_FRAMES)
		w->handle(stack, w->handle_arg);
	return 0;
}

int watcher_open(struct session *s, struct watcher **ret, struct error *e)
{
	struct watcher *w = calloc(1, sizeof(*w));
	int cpus = libbpf_num_possible_cpus();

	if (!w || cpus < 1) {
		free(w);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	w->session = s;
	w->n_cpus = (unsigned)cpus;
	w->per_cpu = calloc(w->n_cpus, sizeof(*w->per_cpu));
	w->stacks = ring_buffer__new(bpf_map__fd(s->bpf->maps.stacks), on_stack, w, NULL);
	if (w->per_cpu && w->stacks)
		w->calls = bpf_program__attach(s->bpf->progs.on_syscall);
	if (!w->calls) {
		error_set(e, EXIT_FORBIDDEN, "system calls cannot be counted: %s", strerror(errno));
		watcher_close(w);
		return -1;
	}
	*ret = w;
	return 0;
}

void watcher_close(struct watcher *w)
{
	if (!w)
		return;
	watcher_leave_stacks(w);
	ring_buffer__free(w->stacks);
	bpf_link__destroy(w->calls);
	free(w->per_cpu);
	free(w);
}

static uint64_t sum_of(const struct watcher *w, const struct bpf_map *map, unsigned key)
{
	uint64_t sum = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, w->per_cpu))
		return 0;
	for (unsigned i = 0; i < w->n_cpus; i++)
		sum += w->per_cpu[i];
	return sum;
}

uint64_t watcher_calls(const struct watcher *w, unsigned number)
{
	return sum_of(w, w->session->bpf->maps.syscalls, number);
}

uint64_t watcher_visits(const struct watcher *w, unsigned number)
{
	return sum_of(w, w->session->bpf->maps.candidates, number);
}

int watcher_take_stacks(struct watcher *w, uint64_t period_ns, struct error *e)
{
	return sampling_start(w->session->bpf->progs.on_watch, period_ns, &w->sampling, e);
}

void watcher_leave_stacks(struct watcher *w)
{
	sampling_stop(w->sampling);
	w->sampling = NULL;
}

void watcher_stacks(
    struct watcher *w, void (*handle)(const struct cozbpf_stack *stack, void *arg), void *arg)
{
	w->handle = handle;
	w->handle_arg = arg;
	ring_buffer__consume(w->stacks);
	w->handle = NULL;
}

int watcher_probe(struct watcher *w, const struct watch_sites *at)
{
	const struct multi_sites sites = {.path = at->path,
	    .offsets = at->offsets,
	    .semaphores = at->semaphores,
	    .cookies = at->numbers,
	    .n = at->n};

	return multi_attach(w->session->bpf->progs.on_candidate, &sites);
}
