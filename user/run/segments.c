// SPDX-License-Identifier: BSD-3-Clause
/* Which file is which, and what is removed; see segments.h. */
#include "run/segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/console.h"
#include "run/recorder.h"
#include "target/identity.h"

/* The name of a file; NULL without memory. The caller frees it. */
static char *name_of(const struct segments *s, unsigned i)
{
	char *ret;

	if (!i)
		return strdup(s->path);
	return asprintf(&ret, "%s.%u", s->path, i) < 0 ? NULL : ret;
}

static uint64_t size_of(const struct segments *s, unsigned i)
{
	char *name = name_of(s, i);
	struct stat st;
	uint64_t ret = name && !stat(name, &st) ? (uint64_t)st.st_size : 0;

	free(name);
	return ret;
}

/* File @i gets the name of file @to; SEGMENTS: it is removed. False: it keeps its own. */
static bool move(const struct segments *s, unsigned i, unsigned to)
{
	char *from = name_of(s, i), *name = to < SEGMENTS ? name_of(s, to) : NULL;
	int err = -1;

	if (from && (name || to == SEGMENTS))
		err = identity_rename(s->identity, from, name);
	free(from);
	free(name);
	return !err || err == -ENOENT;
}

static void remove_file(struct segments *s, unsigned i)
{
	move(s, i, SEGMENTS);
	recorder_forget(s->recorder, s->runs[i]);
	s->runs[i] = 0;
}

/* Removes the oldest files until @room bytes more are within the bound. */
static void make_room(struct segments *s, uint64_t room)
{
	uint64_t all = room;

	for (unsigned i = 1; i < SEGMENTS; i++)
		all += size_of(s, i);
	for (unsigned i = SEGMENTS - 1; i > 0 && all > s->most; i--) {
		all -= size_of(s, i);
		remove_file(s, i);
	}
}

static bool is_there(const struct segments *s, unsigned i)
{
	char *name = name_of(s, i);
	struct stat st;
	bool ret = !name || !lstat(name, &st);

	free(name);
	return ret;
}

/* The oldest first: a file is never written over, and after a crash none is lost. An attempt that
 * failed has left a gap, from which the next one goes on. */
static bool shift(struct segments *s)
{
	unsigned last = 0;

	while (last < SEGMENTS - 1 && is_there(s, last))
		last++;
	if (last)
		remove_file(s, last);
	for (unsigned i = last; i > 0; i--) {
		if (!move(s, i - 1, i))
			return false;
		s->runs[i] = s->runs[i - 1];
		s->runs[i - 1] = 0;
	}
	return true;
}

/* Begins another file. The next run tries again where that failed, as on a full disk. */
static void rotate(struct segments *s)
{
	bool was_stuck = s->is_stuck;
	struct error e = {0};

	s->is_stuck = true;
	if (!shift(s))
		error_set(&e, EXIT_OTHER, "'%s' cannot be renamed, and grows on", s->path);
	else if (!recorder_reopen(s->recorder, s->identity, &e))
		s->is_stuck = false;
	if (!s->is_stuck) {
		/* Runs since an attempt that failed are in the file that was renamed then. */
		s->runs[1] += s->runs[0];
		s->runs[0] = 0;
	}
	if (s->is_stuck && !was_stuck)
		console_say(s->console, "warning: %s", e.cause);
}

void segments_begin_run(struct segments *s)
{
	uint64_t size = recorder_size(s->recorder), share = s->most / SEGMENTS;

	if (!s->most)
		return;
	if (s->runs[0] && size - s->before > s->largest)
		s->largest = size - s->before;
	if (size && size + s->largest > share)
		rotate(s);
	make_room(s, s->largest > share ? s->largest : share);
	s->before = recorder_size(s->recorder);
	s->runs[0]++;
}
