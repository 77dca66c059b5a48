// SPDX-License-Identifier: BSD-3-Clause
/*
 * Most files have many idle loops that hardly run. So samples tell which pieces of files are hot, a
 * reader tells whether there are idle loops, and samples tell whether threads are in these. See
 * idle.h.
 */
#include "run/idle.h"

#include <stdlib.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/spin_places.h"
#include "target/maps.h"

#define PIECE 64 /* bytes; struct spin_question */
/* To ask takes a reader. Not more than 200 pieces of a program have a two hundredth of its time. */
#define MAX_ASKED 256
#define LOOPS_PER_FILE 1024
/* A look is at 256 ms of the target's CPU time, by default. So many visits to a probe take 0.6 ms.
 */
#define LEFT_MANY 1000

struct idle_loop {
	struct file *file;
	struct spin_site at;
	uint64_t samples, since; /* in the loop, of all since so many had been looked at */
	struct cozbpf_loop went; /* up to the last look */
	enum { LOOP_KNOWN, LOOP_PROBED, LOOP_LEFT } state;
};

struct idle_search {
	struct idle_loop loops[COZBPF_LOOPS];
	size_t n;
	uint64_t looked; /* at so many samples */
};

/* Where a sample was. */
struct place {
	struct file *file;
	uint64_t offset;
};

static int compare_spots(const void *a, const void *b)
{
	const struct cozbpf_spot *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->file != y->file)
		return x->file->number < y->file->number ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* False: in no file that can be probed. */
static bool find_place(
    struct files *f, const struct cozbpf_proc *proc, uint64_t ip, struct place *ret)
{
	for (uint32_t i = 0; i < proc->n_mappings; i++) {
		const struct cozbpf_mapping *m = &proc->mappings[i];

		if (ip < m->start || ip >= m->end)
			continue;
		*ret = (struct place){files_numbered(f, m->file), ip - m->start + m->offset};
		return ret->file && ret->file->ino && !maps_is_shim(ret->file->path);
	}
	return false;
}

/* The places of samples, in order; returns how many. */
static size_t find_all(struct files *f, struct cozbpf_spot *spots, struct place *ret)
{
	struct cozbpf_proc proc = {0};
	size_t n = 0;

	qsort(spots, COZBPF_SPOTS, sizeof(*spots), compare_spots);
	for (size_t i = 0; i < COZBPF_SPOTS; i++) {
		if ((!i || spots[i].tgid != spots[i - 1].tgid) &&
		    !session_mappings(f->session, (int)spots[i].tgid, &proc))
			proc.n_mappings = 0;
		n += find_place(f, &proc, spots[i].ip, &ret[n]);
	}
	qsort(ret, n, sizeof(*ret), compare_places);
	return n;
}

/* Remembers that loops are sought in that piece of the file. False: they were, or the file has been
 * asked for too many. */
static bool is_new_piece(struct spin_places *p, uint64_t offset)
{
	uint64_t *bigger;

	if (p->is_refused || p->n_asked == MAX_ASKED)
		return false;
	for (size_t i = 0; i < p->n_asked; i++)
		if (p->asked[i] == offset / PIECE)
			return false;
	bigger = realloc(p->asked, (p->n_asked + 1) * sizeof(*bigger));
	if (!bigger)
		return false;
	p->asked = bigger;
	p->asked[p->n_asked++] = offset / PIECE;
	return true;
}

static void add_loop(struct idle_search *s, struct file *file, const struct spin_site *at)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->loops[i].file == file && s->loops[i].at.offset == at->offset)
			return;
	if (s->n < COZBPF_LOOPS)
		s->loops[s->n++] =
		    (struct idle_loop){.file = file, .at = *at, .since = s->looked - COZBPF_SPOTS};
}

static void ask(struct files *f, struct file *file, const uint64_t *around, size_t n_around)
{
	const struct spin_question q = {COZBPF_SPINS_IDLE, around, n_around, LOOPS_PER_FILE};
	struct spin_site *sites;
	struct error e = {0};
	struct object *o;
	size_t n;

	if (files_open(f, file, &o, &e) || object_spin_sites(o, &q, &sites, &n, &e)) {
		file->spins->is_refused = true;
		if (f->o->verbose)
			console_say(f->console, "'%s' may wait without PAUSE unseen: %s",
			    file->path, e.cause);
		return;
	}
	for (size_t i = 0; i < n; i++)
		add_loop(f->idle_loops, file, &sites[i]);
	if (n)
		spin_places_hold(file->spins, o);
	free(sites);
}

static bool is_same_piece(const struct place *a, const struct place *b)
{
	return a->file == b->file && a->offset / PIECE == b->offset / PIECE;
}

/* Asks for the loops of pieces that are hot. */
static void learn(struct files *f, const struct place *places, size_t n)
{
	uint64_t around[COZBPF_SPOTS / SPIN_SAMPLES];
	size_t n_around = 0;

	for (size_t first = 0, next = 0; first < n; first = next) {
		struct file *file = places[first].file;

		while (next < n && is_same_piece(&places[first], &places[next]))
			next++;
		if (next - first >= SPIN_SAMPLES && spin_places(file) &&
		    is_new_piece(file->spins, places[first].offset))
			around[n_around++] = places[first].offset;
		if (n_around && (next == n || places[next].file != file)) {
			ask(f, file, around, n_around);
			n_around = 0;
		}
	}
	files_close(f);
}

/* Of loops within each other the inner one counts. */
static void count(struct idle_search *s, const struct place *place)
{
	struct idle_loop *inner = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct idle_loop *l = &s->loops[i];

		if (l->file == place->file && place->offset >= l->at.from &&
		    place->offset < l->at.to &&
		    (!inner || l->at.to - l->at.from < inner->at.to - inner->at.from))
			inner = l;
	}
	if (inner)
		inner->samples++;
}

static bool probe(struct files *f, struct idle_loop *l)
{
	const uint32_t number = (uint32_t)(l - f->idle_loops->loops);
	struct error e = {0};

	if (spin_places_add(l->file->spins, l->at.offset,
		l->at.condition ? COZBPF_LOOP_COOKIE(number, l->at.condition) : 0, &e))
		return false;
	l->state = LOOP_PROBED;
	f->spins_probed |= COZBPF_SPINS_IDLE;
	if (f->o->verbose)
		console_say(f->console, "'%s': waits in the loop at 0x%llx", l->file->path,
		    (unsigned long long)l->at.from);
	return true;
}

/* Who passes the loop's branch more often than it turns waits for less time than the probe takes.
 * Such is the check of a queue that is seldom empty, or of a lock that is seldom taken. */
static bool is_hardly_waiting(const struct files *f, struct idle_loop *l)
{
	struct cozbpf_loop now = session_loop(f->session, (unsigned)(l - f->idle_loops->loops));
	uint64_t turned = now.turned - l->went.turned, left = now.left - l->went.left;

	l->went = now;
	return left >= LEFT_MANY && left > turned;
}

/* The file's other places are probed again. */
static void leave(struct files *f, struct idle_loop *l)
{
	spin_places_remove(l->file->spins, l->at.offset);
	session_drop_file_spins(f->session, l->file->dev, l->file->ino);
	l->state = LOOP_LEFT;
	if (f->o->verbose)
		console_say(f->console, "'%s': hardly waits in the loop at 0x%llx, which is work",
		    l->file->path, (unsigned long long)l->at.from);
}

static bool decide(struct files *f, struct idle_loop *l)
{
	switch (l->state) {
	case LOOP_KNOWN:
		return spin_is_found(l->samples, f->idle_loops->looked - l->since) && probe(f, l);
	case LOOP_PROBED:
		if (!is_hardly_waiting(f, l))
			return false;
		leave(f, l);
		return true;
	default:
		return false;
	}
}

bool idle_look(struct files *f)
{
	struct cozbpf_spot spots[COZBPF_SPOTS];
	struct place places[COZBPF_SPOTS];
	struct idle_search *s = f->idle_loops;
	bool has_changed = false;
	size_t n;

	if (!s)
		s = f->idle_loops = calloc(1, sizeof(*s));
	if (!s || !session_take_spots(f->session, spots))
		return false;
	s->looked += COZBPF_SPOTS;
	n = find_all(f, spots, places);
	learn(f, places, n);
	for (size_t i = 0; i < n; i++)
		count(s, &places[i]);
	for (size_t i = 0; i < s->n; i++)
		has_changed |= decide(f, &s->loops[i]);
	return has_changed;
}

void idle_deinit(struct files *f)
{
	free(f->idle_loops);
	f->idle_loops = NULL;
}
