// SPDX-License-Identifier: BSD-3-Clause
/* Threads that close descriptors; see closer.h. */
#include "kernel/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Each closes some 20 links a second. A link that waits for one goes on to cost the target. */
#define THREADS 32

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_t threads[THREADS];
	unsigned n_threads, n_idle;
	bool ends;
	int *waiting; /* a stack of descriptors */
	size_t n_waiting, room;
};

struct closer *closer_create(void)
{
	struct closer *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	return c;
}

static void *close_all(void *closer)
{
	struct closer *c = closer;
	int fd;

	pthread_mutex_lock(&c->lock);
	while (c->n_waiting || !c->ends) {
		if (!c->n_waiting) {
			c->n_idle++;
			pthread_cond_wait(&c->more, &c->lock);
			c->n_idle--;
			continue;
		}
		fd = c->waiting[--c->n_waiting];
		pthread_mutex_unlock(&c->lock);
		close(fd);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals are the main thread's. */
static bool start_thread(struct closer *c)
{
	sigset_t every, before;
	bool started;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	started = !pthread_create(&c->threads[c->n_threads], NULL, close_all, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	c->n_threads += started;
	return started;
}

/* With the lock held. False: somebody else has to close it. */
static bool put(struct closer *c, int fd)
{
	int *bigger;

	if (c->n_idle <= c->n_waiting && c->n_threads < THREADS)
		start_thread(c);
	if (!c->n_threads)
		return false;
	if (c->n_waiting == c->room) {
		bigger = reallocarray(c->waiting, 2 * c->room + 1, sizeof(*bigger));
		if (!bigger)
			return false;
		c->waiting = bigger;
		c->room = 2 * c->room + 1;
	}
	c->waiting[c->n_waiting++] = fd;
	return true;
}

void closer_add(struct closer *c, int fd)
{
	bool taken;

	pthread_mutex_lock(&c->lock);
	taken = put(c, fd);
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
	if (!taken)
		close(fd);
}

void closer_destroy(struct closer *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->ends = true;
	pthread_cond_broadcast(&c->more);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->n_threads; i++)
		pthread_join(c->threads[i], NULL);
	pthread_cond_destroy(&c->more);
	pthread_mutex_destroy(&c->lock);
	free(c->waiting);
	free(c);
}
