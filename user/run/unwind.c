// SPDX-License-Identifier: BSD-3-Clause
/*
 * Unwind tables for the files that the target's processes map. A large library's takes tenths of a
 * second to make (a million rows: 0.2 s), so a thread of its own makes them, at a low priority;
 * until a table is there, callers are found by frame pointers.
 */
#include "run/run.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symbols/elf/unwind.h"

#define ROWS_PER_FILE (1 << 19) /* libc has 25,000, libstdc++ 80,000 */
/* a tenth of a CPU beside a target of our priority; at 19 a hundredth, and tables come when the run
 * is over */
#define NICER 10

struct unwind_file {
	uint64_t dev, ino;              /* as maps says */
	char *path, *file;              /* as the process and as we see it */
	struct cozbpf_unwind_row *rows; /* made, and not yet in the kernel's table */
	size_t n;
	uint32_t first, count; /* in the kernel's table */
	bool taken, made, stored;
	struct unwind_file *next;
};

struct unwinder {
	pthread_t thread;
	pid_t tid;            /* 0: it has not begun */
	pthread_mutex_t lock; /* of the list and of what is in it */
	pthread_cond_t todo;
	bool stop;
	struct unwind_file *files;
	unsigned waiting; /* files that are not in the kernel's table yet; the main thread's */
};

static void make_rows(struct unwinder *u, struct unwind_file *f)
{
	struct cozbpf_unwind_row *rows = NULL;
	struct object *o = NULL;
	struct error e = {0};
	size_t n = 0;

	if (!object_open_code(f->file, &o, &e))
		object_unwind_rows(o, ROWS_PER_FILE, &u->stop, &rows, &n);
	object_close(o);
	pthread_mutex_lock(&u->lock);
	f->rows = rows;
	f->n = n;
	f->made = true;
	pthread_mutex_unlock(&u->lock);
}

static void *work(void *arg)
{
	struct unwinder *u = arg;

	pthread_mutex_lock(&u->lock);
	u->tid = gettid();
	setpriority(PRIO_PROCESS, (id_t)u->tid, getpriority(PRIO_PROCESS, (id_t)u->tid) + NICER);
	while (!u->stop) {
		struct unwind_file *f = u->files;

		while (f && f->taken)
			f = f->next;
		if (!f) {
			pthread_cond_wait(&u->todo, &u->lock);
			continue;
		}
		f->taken = true;
		pthread_mutex_unlock(&u->lock);
		make_rows(u, f);
		pthread_mutex_lock(&u->lock);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

/* The thread starts with the first file. NULL: there is none, and no table. */
static struct unwinder *unwinder_of(struct runner *r)
{
	struct unwinder *u = r->files.unwinder;
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
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&u->thread, NULL, work, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		free(u);
		return NULL;
	}
	r->files.unwinder = u;
	return u;
}

void run_unwind_slice(struct runner *r, const struct map_entry *m, struct cozbpf_mapping *ret)
{
	struct unwinder *u = unwinder_of(r);
	struct unwind_file **f;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	for (f = &u->files;
	     *f && ((*f)->dev != m->dev || (*f)->ino != m->ino || strcmp((*f)->path, m->path));
	     f = &(*f)->next)
		;
	if (*f) {
		ret->unwind_first = (*f)->first;
		ret->unwind_count = (*f)->count;
	} else {
		*f = calloc(1, sizeof(**f));
		if (*f) {
			(*f)->dev = m->dev;
			(*f)->ino = m->ino;
			(*f)->path = strdup(m->path);
			(*f)->file = strdup(m->file);
			(*f)->taken = (*f)->stored = !(*f)->path || !(*f)->file;
			u->waiting += !(*f)->stored;
			pthread_cond_signal(&u->todo);
		}
	}
	pthread_mutex_unlock(&u->lock);
}

bool run_unwind_waits(const struct runner *r)
{
	return r->files.unwinder && r->files.unwinder->waiting;
}

bool run_unwind_collect(struct runner *r)
{
	struct unwinder *u = r->files.unwinder;
	bool any = false;

	if (!u)
		return false;
	pthread_mutex_lock(&u->lock);
	for (struct unwind_file *f = u->files; f; f = f->next) {
		if (!f->made || f->stored)
			continue;
		f->count = (uint32_t)session_add_unwind_rows(r->session, f->rows, f->n, &f->first);
		f->stored = true;
		u->waiting--;
		any |= f->count > 0;
		free(f->rows);
		f->rows = NULL;
		if (r->o.verbose)
			run_say(r, "'%s': %u rows for unwinding", f->path, f->count);
	}
	pthread_mutex_unlock(&u->lock);
	return any;
}

void run_unwind_deinit(struct runner *r)
{
	struct unwinder *u = r->files.unwinder;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	if (u->tid) /* a saturated machine would let us wait for it */
		setpriority(PRIO_PROCESS, (id_t)u->tid, getpriority(PRIO_PROCESS, (id_t)gettid()));
	pthread_cond_signal(&u->todo);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
	while (u->files) {
		struct unwind_file *next = u->files->next;

		free(u->files->path);
		free(u->files->file);
		free(u->files->rows);
		free(u->files);
		u->files = next;
	}
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->todo);
	free(u);
	r->files.unwinder = NULL;
}
