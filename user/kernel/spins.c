// SPDX-License-Identifier: BSD-3-Clause
/* Probes in loops that wait by trying again; see session.h. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define CLOSERS 8    /* threads that close links */
#define MAX_ENDED 64 /* links of processes that are gone: a descriptor each, until so many */

/* A link with places of one file in one process; it ends with the process. */
struct process_spins {
	int pid, fd; /* -1: the kernel took none */
	uint64_t dev, ino;
	size_t n; /* places */
	struct process_spins *next;
};

void session_look_for_spins(struct session *s, unsigned what)
{
	__atomic_store_n(&s->bpf->bss->control.look_for, what, __ATOMIC_RELAXED);
}

void session_set_spin_cost(struct session *s, uint64_t ns)
{
	__atomic_store_n(&s->bpf->bss->control.spin_probe_ns, ns, __ATOMIC_RELAXED);
}

uint64_t session_spin_samples(const struct session *s, unsigned what)
{
	return __atomic_load_n(
	    &s->bpf->bss->control.spin_samples[what == COZBPF_SPINS_YIELD], __ATOMIC_RELAXED);
}

int session_watch_yields(struct session *s, struct error *e)
{
	return session_hook(s, s->bpf->progs.on_yield)
		   ? error_set(e, EXIT_FORBIDDEN, "calls of sched_yield() cannot be watched: %s",
			 strerror(errno))
		   : 0;
}

bool session_take_spots(struct session *s, struct cozbpf_spot ret[COZBPF_SPOTS])
{
	const struct cozbpf_spots *spots = &s->bpf->bss->spots;
	uint64_t n = __atomic_load_n(&spots->n, __ATOMIC_RELAXED);

	if (n - s->spots_taken < COZBPF_SPOTS)
		return false;
	s->spots_taken = n;
	memcpy(ret, spots->at, sizeof(spots->at));
	return true;
}

struct cozbpf_loop session_loop(const struct session *s, unsigned loop)
{
	const struct cozbpf_loop *l = &s->bpf->bss->loops[loop % COZBPF_LOOPS];

	return (struct cozbpf_loop){.turned = __atomic_load_n(&l->turned, __ATOMIC_RELAXED),
	    .left = __atomic_load_n(&l->left, __ATOMIC_RELAXED)};
}

size_t session_count_spins(const struct session *s, int pid, uint64_t dev, uint64_t ino)
{
	size_t n = 0;

	for (const struct process_spins *p = s->spins; p; p = p->next)
		if (p->pid == pid && p->dev == dev && p->ino == ino)
			n += p->n;
	return n;
}

int session_add_spins(struct session *s, const struct spin_sites *at, struct error *e)
{
	const struct multi_sites sites = {.pid = at->pid,
	    .path = at->path,
	    .offsets = at->offsets,
	    .cookies = at->cookies,
	    .n = at->n};
	struct process_spins *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct process_spins){at->pid, multi_attach(s->bpf->progs.on_spin, &sites), at->dev,
	    at->ino, at->n, s->spins};
	s->spins = p;
	if (p->fd >= 0)
		return 0;
	error_set(e, EXIT_FORBIDDEN, "the kernel does not take %zu probes: %s", at->n,
	    multi_refusal(-p->fd));
	return error_hint_files(e, -p->fd);
}

static void *close_all(void *first)
{
	struct process_spins *next;

	for (struct process_spins *p = first; p; p = next) {
		next = p->next;
		if (p->fd >= 0)
			close(p->fd);
		free(p);
	}
	return NULL;
}

/* The kernel takes some 30 ms to close one, which it spends waiting, so many are closed at once. */
static void close_at_once(struct process_spins *all)
{
	struct process_spins *parts[CLOSERS] = {NULL}, *next;
	pthread_t threads[CLOSERS];
	sigset_t every, before;
	unsigned n = 0;

	for (unsigned i = 0; all; all = next, i = (i + 1) % CLOSERS) {
		next = all->next;
		all->next = parts[i];
		parts[i] = all;
	}
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	while (n < CLOSERS && parts[n] && !pthread_create(&threads[n], NULL, close_all, parts[n]))
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (unsigned i = n; i < CLOSERS; i++)
		close_all(parts[i]);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void close_ended(struct session *s)
{
	close_at_once(s->spins_ended);
	s->spins_ended = NULL;
	s->n_spins_ended = 0;
}

static bool is_of(const struct process_spins *p, const struct process_spins *which)
{
	return (!which->pid || p->pid == which->pid) &&
	       (!which->ino || (p->dev == which->dev && p->ino == which->ino));
}

/* Takes the links of a process and of a file out of the list; 0: of all of them. */
static struct process_spins *take(struct session *s, struct process_spins which)
{
	struct process_spins **at = &s->spins, *ret = NULL;

	while (*at) {
		struct process_spins *p = *at;

		if (!is_of(p, &which)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		p->next = ret;
		ret = p;
	}
	return ret;
}

void session_drop_spins(struct session *s, int pid)
{
	close_at_once(take(s, (struct process_spins){.pid = pid}));
	if (!pid)
		close_ended(s);
}

void session_drop_file_spins(struct session *s, uint64_t dev, uint64_t ino)
{
	close_at_once(take(s, (struct process_spins){.dev = dev, .ino = ino}));
}

void session_end_spins(struct session *s, int pid)
{
	struct process_spins *next;

	for (struct process_spins *p = take(s, (struct process_spins){.pid = pid}); p; p = next) {
		next = p->next;
		p->next = s->spins_ended;
		s->spins_ended = p;
		s->n_spins_ended++;
	}
	if (s->n_spins_ended >= MAX_ENDED)
		close_ended(s);
}
