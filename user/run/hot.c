// SPDX-License-Identifier: BSD-3-Clause
/* A short look at what runs; see hot.h. */
#include "run/hot.h"

#include <stdlib.h>
#include <time.h>

#include "kernel/session.h"
#include "kernel/watch.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"

/* A library with a twentieth of the time of one thread has five samples in a look. */
#define LOOK_NS 100000000L
#define SAMPLE_NS 1000000
/* The kernel side has room for 500 stacks. */
#define COLLECT_NS 10000000L
/* A process that maps more than four tables' worth of files is looked at no further. */
#define MAX_ROUNDS 4
/* Of a group of thousands some stand for all: to read the mappings of one takes up to 1 ms. */
#define MAX_PROCESSES 100

/* All that a process maps is in some round's table. The number of rounds that it takes. */
static size_t tell_round(struct files *f, int pid, size_t round)
{
	struct cozbpf_mapping table[COZBPF_MAPPINGS];
	size_t n, used = 0;
	struct map_entry *all;

	if (maps_read(pid, &all, &n))
		return 0;
	for (size_t i = round * COZBPF_MAPPINGS; i < n && used < COZBPF_MAPPINGS; i++) {
		const struct file *file = files_mapped(f, pid, &all[i]);

		table[used++] = (struct cozbpf_mapping){.start = all[i].start,
		    .end = all[i].end,
		    .offset = all[i].offset,
		    .file = file ? file->number : 0};
	}
	free(all);
	session_set_mappings(f->session, pid, table, used);
	return (n + COZBPF_MAPPINGS - 1) / COZBPF_MAPPINGS;
}

static size_t tell_all(struct files *f, size_t round)
{
	size_t rounds = 0;

	for (size_t i = 0; i < f->n_running && i < MAX_PROCESSES; i++) {
		size_t n = tell_round(f, f->running[i], round);

		if (n > rounds)
			rounds = n;
	}
	return rounds < MAX_ROUNDS ? rounds : MAX_ROUNDS;
}

static void count(const struct cozbpf_stack *stack, void *files)
{
	struct file *file = stack->n ? files_numbered(files, stack->frames[0].file) : NULL;

	if (file)
		file->samples++;
}

static int sample(struct files *f, struct watcher *w, size_t rounds, struct error *e)
{
	const struct timespec step = {0, COLLECT_NS};

	for (size_t round = 0; round < rounds; round++) {
		if (round)
			tell_all(f, round);
		if (watcher_take_stacks(w, SAMPLE_NS, e))
			return -1;
		for (long slept = 0; slept < LOOK_NS / (long)rounds; slept += COLLECT_NS) {
			nanosleep(&step, NULL);
			watcher_stacks(w, count, f);
		}
		watcher_leave_stacks(w);
	}
	return 0;
}

bool hot_may_look(const struct files *f)
{
	return f->n_running && !f->has_looked;
}

void hot_look(struct files *f)
{
	struct watcher *w = NULL;
	struct error e = {0};
	size_t rounds;

	if (!hot_may_look(f))
		return;
	f->has_looked = true;
	/* Who has a table is of the target. */
	rounds = tell_all(f, 0);
	if (session_adopt(f->session, &e) || watcher_open(f->session, &w, &e) ||
	    sample(f, w, rounds, &e))
		console_say(f->console, "warning: what runs most is not known: %s", e.cause);
	watcher_close(w);
	for (const struct file *file = f->all; f->o->verbose && file; file = file->next)
		if (file->samples)
			console_say(f->console, "'%s': %zu samples of a first look", file->path,
			    file->samples);
}
