// SPDX-License-Identifier: BSD-3-Clause
/* The thread that makes unwind tables, and its queue; see unwinder.h. */
#include "run/unwinder.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "symbols/symbols.h"

/* libc has 25,000, libstdc++ 80,000 */
#define ROWS_PER_FILE (1 << 19)
/* a tenth of a CPU beside a target of our priority; at 19 a hundredth, and tables come when the run
 * is over */
#define NICER 10

/* A table that is asked for. The thread has it from the time when it is taken until it is made. */
struct table {
	struct file *of; /* the main thread's */
	char *file;      /* a copy: the registry may find another way to the file */
	char root[64];   /* of the process that maps it */
	struct cozbpf_unwind_row *rows;
	size_t n;
	struct error e; /* why there are none */
	bool is_taken, is_made;
	struct table *next;
};

struct unwinder {
	pthread_t thread;
	pid_t tid;            /* 0: it has not begun */
	pthread_mutex_t lock; /* of the queue and of what is in it */
	pthread_cond_t todo;
	bool stop;
	struct table *queue; /* in the order of asking, until they are collected */
};

static void make_rows(struct unwinder *u, struct table *t)
{
	struct cozbpf_unwind_row *rows = NULL;
	struct object *o = NULL;
	struct error e = {0};
	size_t n = 0;

	if (!object_open_code(t->file, t->root, &o, &e))
		object_unwind_rows(o, ROWS_PER_FILE, &u->stop, &rows, &n, &e);
	object_close(o);
	pthread_mutex_lock(&u->lock);
	t->rows = rows;
	t->n = n;
	t->e = e;
	t->is_made = true;
	pthread_mutex_unlock(&u->lock);
}

static void *work(void *arg)
{
	struct unwinder *u = arg;

	pthread_mutex_lock(&u->lock);
	u->tid = gettid();
	setpriority(PRIO_PROCESS, (id_t)u->tid, getpriority(PRIO_PROCESS, (id_t)u->tid) + NICER);
	while (!u->stop) {
		struct table *t = u->queue;

		while (t && t->is_taken)
			t = t->next;
		if (!t) {
			pthread_cond_wait(&u->todo, &u->lock);
			continue;
		}
		t->is_taken = true;
		pthread_mutex_unlock(&u->lock);
		make_rows(u, t);
		pthread_mutex_lock(&u->lock);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

/* The thread starts with the first file. NULL: there is none, and no table. */
static struct unwinder *unwinder_of(struct files *f)
{
	struct unwinder *u = f->unwinder;
	sigset_t all, before;
	int err;

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->todo, NULL);
	sigfillset(&all);
	/* A file may be cut off while it is read; see symbols/elf/mapped.h. */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&u->thread, NULL, work, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		free(u);
		return NULL;
	}
	f->unwinder = u;
	return u;
}

static void free_table(struct table *t)
{
	free(t->file);
	free(t->rows);
	free(t);
}

static void ask(struct unwinder *u, struct file *file)
{
	struct table *t = calloc(1, sizeof(*t)), **end = &u->queue;

	file->is_unwound = true;
	if (!t)
		return;
	t->of = file;
	t->file = strdup(file->file);
	files_root(file, t->root, sizeof(t->root));
	if (!t->file) {
		free(t);
		return;
	}
	pthread_mutex_lock(&u->lock);
	while (*end)
		end = &(*end)->next;
	*end = t;
	pthread_cond_signal(&u->todo);
	pthread_mutex_unlock(&u->lock);
}

void unwinder_slice(struct files *f, struct file *file, struct cozbpf_mapping *ret)
{
	struct unwinder *u = unwinder_of(f);

	if (!u)
		return;
	ret->unwind_first = file->unwind_first;
	ret->unwind_count = file->unwind_count;
	if (!file->is_unwound)
		ask(u, file);
}

/* Only the main thread adds to the queue and takes from it. */
bool unwinder_waits(const struct files *f)
{
	return f->unwinder && f->unwinder->queue;
}

static void store(struct files *f, struct table *t)
{
	struct file *file = t->of;

	file->unwind_count =
	    (uint32_t)session_add_unwind_rows(f->session, t->rows, t->n, &file->unwind_first);
	if (f->o->verbose)
		console_say(f->console, "'%s': %u rows for unwinding%s%s", file->path,
		    file->unwind_count, t->e.status ? "; " : "", t->e.cause);
}

bool unwinder_collect(struct files *f)
{
	struct unwinder *u = f->unwinder;
	bool any = false;

	if (!u)
		return false;
	pthread_mutex_lock(&u->lock);
	while (u->queue && u->queue->is_made) {
		struct table *t = u->queue;

		store(f, t);
		any |= t->of->unwind_count > 0;
		u->queue = t->next;
		free_table(t);
	}
	pthread_mutex_unlock(&u->lock);
	return any;
}

void unwinder_deinit(struct files *f)
{
	struct unwinder *u = f->unwinder;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	__atomic_store_n(&u->stop, true, __ATOMIC_RELAXED); /* read without the lock as well */
	if (u->tid) /* a saturated machine would let us wait for it */
		setpriority(PRIO_PROCESS, (id_t)u->tid, getpriority(PRIO_PROCESS, (id_t)gettid()));
	pthread_cond_signal(&u->todo);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
	while (u->queue) {
		struct table *next = u->queue->next;

		free_table(u->queue);
		u->queue = next;
	}
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->todo);
	free(u);
	f->unwinder = NULL;
}
