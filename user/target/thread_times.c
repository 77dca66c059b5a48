// SPDX-License-Identifier: BSD-3-Clause
/* Reads /proc/PID/task/TID/schedstat, sched and stat; see thread_times.h. */
#include "target/thread_times.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "target/procfs.h"

#define NS 1000000000ULL

static uint64_t boottime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* @tid 0: of the process. */
static bool read_file(int pid, int tid, const char *name, char *ret, size_t size)
{
	char path[64], task[32] = "";
	FILE *f;
	size_t n;

	if (tid)
		snprintf(task, sizeof(task), "task/%d/", tid);
	snprintf(path, sizeof(path), "/proc/%d/%s%s", pid, task, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(ret, 1, size - 1, f);
	ret[n] = 0;
	fclose(f);
	return n > 0;
}

/* "nr_switches       :       12" in a line of its own. */
static uint64_t find_number(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint64_t ret = 0;

	at = at ? strchr(at, ':') : NULL;
	return at && sscanf(at + 1, "%" SCNu64, &ret) == 1 ? ret : 0;
}

static bool read_thread(int pid, int tid, struct thread_reading *ret)
{
	char text[8192];

	*ret = (struct thread_reading){0};
	if (!read_file(pid, tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &ret->executed_ns, &ret->runnable_ns) != 2)
		return false;
	/* not there without CONFIG_SCHED_DEBUG */
	if (!read_file(pid, tid, "sched", text, sizeof(text)))
		return true;
	ret->switches = find_number(text, "\nnr_switches");
	ret->preemptions = find_number(text, "\nnr_involuntary_switches");
	ret->migrations = find_number(text, "\nse.nr_migrations");
	return true;
}

/* Places among the numbers of stat that follow the name, which may hold blanks, and the state. */
enum { STAT_MINOR = 6, STAT_MAJOR = 8, STAT_START = 18, STAT_NUMBERS };

static bool read_stat(int pid, int tid, uint64_t ret[STAT_NUMBERS])
{
	char text[1024], *at;

	if (!read_file(pid, tid, "stat", text, sizeof(text)) || !(at = strrchr(text, ')')) ||
	    strlen(at) < 4)
		return false;
	at += 3;
	for (size_t i = 0; i < STAT_NUMBERS; i++)
		ret[i] = strtoull(at, &at, 10);
	return true;
}

static uint64_t born_ns(int pid, int tid)
{
	uint64_t numbers[STAT_NUMBERS];

	return read_stat(pid, tid, numbers)
		   ? numbers[STAT_START] * (NS / (uint64_t)sysconf(_SC_CLK_TCK))
		   : 0;
}

bool process_faults(int pid, struct fault_counts *ret)
{
	uint64_t numbers[STAT_NUMBERS];

	if (!read_stat(pid, 0, numbers))
		return false;
	*ret = (struct fault_counts){numbers[STAT_MINOR], numbers[STAT_MAJOR]};
	return true;
}

void thread_times_begin(struct thread_times *t)
{
	t->began_ns = boottime_ns();
	t->n = 0;
}

static struct thread_seen *add(
    struct thread_times *t, int pid, int tid, const struct thread_reading *now)
{
	size_t room = t->room * 2 + 16;
	struct thread_seen *bigger;
	uint64_t born = born_ns(pid, tid);

	if (t->n == t->room) {
		bigger = realloc(t->threads, room * sizeof(*bigger));
		if (!bigger)
			return NULL;
		t->threads = bigger;
		t->room = room;
	}
	t->threads[t->n] = (struct thread_seen){.tid = tid, .from_ns = born};
	/* what was before the run is none of it */
	if (born < t->began_ns) {
		t->threads[t->n].from_ns = boottime_ns();
		t->threads[t->n].first = *now;
	}
	return &t->threads[t->n++];
}

/* A number may be given again: that thread has executed less. */
static struct thread_seen *find(struct thread_times *t, int tid, const struct thread_reading *now)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->threads[i].tid == tid)
			return now->executed_ns >= t->threads[i].last.executed_ns ? &t->threads[i]
										  : NULL;
	return NULL;
}

struct look {
	struct thread_times *t;
	uint64_t now;
};

static bool look_at(int pid, int tid, void *arg)
{
	struct look *l = arg;
	struct thread_reading now;
	struct thread_seen *seen;

	if (!read_thread(pid, tid, &now))
		return true;
	seen = find(l->t, tid, &now);
	if (!seen)
		seen = add(l->t, pid, tid, &now);
	if (!seen)
		return false;
	seen->last = now;
	seen->to_ns = l->now;
	return true;
}

void thread_times_look(struct thread_times *t, int pid)
{
	struct look l = {t, boottime_ns()};

	procfs_threads(pid, look_at, &l);
}

void thread_times_sum(const struct thread_times *t, struct thread_sums *ret)
{
	*ret = (struct thread_sums){0};
	for (size_t i = 0; i < t->n; i++) {
		const struct thread_seen *s = &t->threads[i];
		uint64_t ran = s->last.executed_ns - s->first.executed_ns,
			 waited = s->last.runnable_ns - s->first.runnable_ns,
			 lived = s->to_ns > s->from_ns ? s->to_ns - s->from_ns : 0;

		ret->runnable_ns += waited;
		ret->blocked_ns += lived > ran + waited ? lived - ran - waited : 0;
		/* A thread that ends meanwhile may be read in part. */
		if (s->last.switches < s->first.switches)
			continue;
		ret->switches += s->last.switches - s->first.switches;
		ret->preemptions += s->last.preemptions - s->first.preemptions;
		ret->migrations += s->last.migrations - s->first.migrations;
	}
}

void thread_times_deinit(struct thread_times *t)
{
	free(t->threads);
	*t = (struct thread_times){0};
}
