// SPDX-License-Identifier: BSD-3-Clause
/* Probes in blocks, for a window of time, and what they have counted; see blocks.h. What they cost
 * is in block_costs.c. */
#include "kernel/blocks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cozbpf/block_visit.h>
#include "kernel/closer.h"
#include "kernel/compat.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define SLOTS COZBPF_BLOCK_SLOTS

struct window {
	bool is_open;
	unsigned n_fds, n_slots;
	int fds[SLOTS];
	unsigned slots[SLOTS];
};

struct session_blocks {
	struct window windows[SLOTS];
	bool has_window[SLOTS]; /* by slot */
	bool refused[SLOTS];
	unsigned entry_sorts[SLOTS], exit_sorts[SLOTS]; /* of visits */
	uint32_t generation;
	uint64_t probes_ns; /* of slots before they were cleared */
	struct closer *closer;
	struct cozbpf_block_stats *values; /* room for one lookup: a value for each possible CPU */
};

int blocks_prepare(struct session *s, struct error *e)
{
	struct btf *btf = s->config.blocks ? btf__load_vmlinux_btf() : NULL;
	bool has = !btf || compat_has_uprobe_multi(btf);

	btf__free(btf);
	if (!has) {
		error_set(e, EXIT_FORBIDDEN,
		    "blocks are probed many at once, which this kernel cannot do");
		return error_hint(e, "use Linux 6.6 or later");
	}
	bpf_program__set_autoload(s->bpf->progs.on_block, s->config.blocks);
	multi_prepare(s->bpf->progs.on_block);
	bpf_map__set_max_entries(s->bpf->maps.block_stats, s->config.blocks ? SLOTS : 1);
	if (!s->config.blocks)
		return 0;
	s->blocks = calloc(1, sizeof(*s->blocks));
	if (!s->blocks)
		return error_set(e, EXIT_OTHER, "out of memory");
	s->blocks->closer = closer_create();
	s->blocks->values = calloc((size_t)s->n_cpu_values, sizeof(*s->blocks->values));
	if (!s->blocks->closer || !s->blocks->values)
		return error_set(e, EXIT_OTHER, "out of memory");
	return 0;
}

void blocks_detach(struct session *s)
{
	if (!s->blocks)
		return;
	for (int i = 0; i < SLOTS; i++)
		if (s->blocks->windows[i].is_open)
			session_close_blocks(s, i);
	closer_destroy(s->blocks->closer);
	s->blocks->closer = NULL;
}

void blocks_deinit(struct session *s)
{
	if (!s->blocks)
		return;
	blocks_detach(s);
	free(s->blocks->values);
	free(s->blocks);
	s->blocks = NULL;
}

static bool is_counted(const struct block_probe *p)
{
	return p->entry == p->exit;
}

/* The places of @n blocks of one file. */
struct places {
	uint64_t offsets[2 * SLOTS], cookies[2 * SLOTS];
	size_t n;
};

static void add_place(struct places *ret, uint64_t offset, uint64_t cookie)
{
	ret->offsets[ret->n] = offset;
	ret->cookies[ret->n] = cookie;
	ret->n++;
}

static void add_block(struct places *ret, const struct block_probe *p, uint32_t generation)
{
	unsigned entry = is_counted(p) ? COZBPF_BLOCK_COUNTED : COZBPF_BLOCK_ENTRY,
		 entry_stepped = !p->entry_is_cheap, exit_stepped = !p->exit_is_cheap;

	add_place(ret, p->entry,
	    COZBPF_BLOCK_COOKIE(generation, p->slot, entry, entry_stepped, entry_stepped));
	if (!is_counted(p))
		add_place(ret, p->exit,
		    COZBPF_BLOCK_COOKIE(
			generation, p->slot, COZBPF_BLOCK_EXIT, exit_stepped, entry_stepped));
}

/* Probes these places in whatever process has the file mapped: a child has its parent's probes at
 * once, and Linux before 6.10 probes one thread of a process only, when asked for a process. */
static int attach(struct session *s, struct window *w, const char *path, const struct places *at)
{
	const struct multi_sites sites = {
	    .path = path, .offsets = at->offsets, .cookies = at->cookies, .n = at->n};
	int fd = multi_attach(s->bpf->progs.on_block, &sites);

	if (fd < 0)
		return fd;
	w->fds[w->n_fds++] = fd;
	return 0;
}

static void note_slot(struct session *s, struct window *w, const struct block_probe *p)
{
	struct session_blocks *b = s->blocks;

	w->slots[w->n_slots++] = p->slot;
	b->refused[p->slot] = false;
	b->entry_sorts[p->slot] = COZBPF_BLOCK_SORT_OF(
	    is_counted(p) ? COZBPF_BLOCK_COUNTED : COZBPF_BLOCK_ENTRY, !p->entry_is_cheap);
	b->exit_sorts[p->slot] = COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_EXIT, !p->exit_is_cheap);
}

/* We have too little of something at the moment; the place is none that cannot be probed. */
static bool is_passing(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* Those of the probes that are in the file of the @first one. Where the kernel does not take them
 * together, one block after the other: returns how many it takes; *@err is of one that it does not
 * take. */
static unsigned attach_file(struct session *s, struct window *w, const struct block_probe *probes,
    size_t n, size_t first, int *err)
{
	const char *path = probes[first].path;
	struct places all = {.n = 0}, one;
	unsigned ret = 0, blocks = 0;

	for (size_t i = first; i < n; i++) {
		if (strcmp(probes[i].path, path) != 0)
			continue;
		add_block(&all, &probes[i], s->blocks->generation);
		blocks++;
	}
	*err = attach(s, w, path, &all);
	if (!*err)
		return blocks;
	for (size_t i = first; i < n; i++) {
		int refused;

		if (strcmp(probes[i].path, path) != 0)
			continue;
		one.n = 0;
		add_block(&one, &probes[i], s->blocks->generation);
		refused = attach(s, w, path, &one);
		s->blocks->refused[probes[i].slot] = refused && !is_passing(refused);
		*err = refused ? refused : *err;
		ret += !refused;
	}
	return ret;
}

static bool is_first_of_file(const struct block_probe *probes, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(probes[j].path, probes[i].path))
			return false;
	return true;
}

static int check_probes(
    const struct session *s, const struct block_probe *probes, size_t n, struct error *e)
{
	bool taken[SLOTS];

	if (!s->blocks)
		return error_set(e, EXIT_OTHER, "this session has no blocks");
	memcpy(taken, s->blocks->has_window, sizeof(taken));
	for (size_t i = 0; i < n; i++) {
		if (probes[i].slot >= SLOTS || taken[probes[i].slot])
			return error_set(
			    e, EXIT_OTHER, "slot %u of blocks is not free", probes[i].slot);
		taken[probes[i].slot] = true;
	}
	return 0;
}

static void close_links(struct session *s, struct window *w)
{
	while (w->n_fds)
		closer_add(s->blocks->closer, w->fds[--w->n_fds]);
}

int session_open_blocks(
    struct session *s, const struct block_probe *probes, size_t n, struct error *e)
{
	struct window *w = NULL;
	unsigned placed = 0;
	int err = -ENOENT, one = 0;

	if (check_probes(s, probes, n, e))
		return -1;
	for (int i = 0; i < SLOTS && !w; i++)
		w = s->blocks->windows[i].is_open ? NULL : &s->blocks->windows[i];
	if (!w || !n)
		return error_set(e, EXIT_OTHER, "no blocks to probe");
	w->n_slots = 0;
	s->blocks->generation += s->blocks->generation == UINT32_MAX ? 2 : 1;
	for (size_t i = 0; i < n; i++)
		note_slot(s, w, &probes[i]);
	for (size_t i = 0; i < n; i++) {
		if (!is_first_of_file(probes, i))
			continue;
		placed += attach_file(s, w, probes, n, i, &one);
		err = one ? one : err;
	}
	if (!placed) {
		close_links(s, w);
		error_set(e, EXIT_FORBIDDEN, "the kernel does not take probes in %zu blocks: %s", n,
		    multi_refusal(-err));
		return error_hint_files(e, -err);
	}
	w->is_open = true;
	for (unsigned i = 0; i < w->n_slots; i++) {
		s->blocks->has_window[w->slots[i]] = true;
		__atomic_store_n(&s->bpf->bss->blocks.generation[w->slots[i]],
		    s->blocks->generation, __ATOMIC_RELAXED);
	}
	return (int)(w - s->blocks->windows);
}

bool session_block_is_refused(const struct session *s, unsigned slot)
{
	return s->blocks->refused[slot % SLOTS];
}

void session_close_blocks(struct session *s, int window)
{
	struct window *w = &s->blocks->windows[window];

	if (!w->is_open)
		return;
	for (unsigned i = 0; i < w->n_slots; i++) {
		__atomic_store_n(&s->bpf->bss->blocks.generation[w->slots[i]], 0, __ATOMIC_RELAXED);
		s->blocks->has_window[w->slots[i]] = false;
	}
	close_links(s, w);
	w->is_open = false;
}

/* What all CPUs have counted in a slot. */
static void read_stats(const struct session *s, unsigned slot, struct cozbpf_block_stats *ret)
{
	struct cozbpf_block_stats *values = s->blocks->values;
	uint32_t key = slot;

	memset(ret, 0, sizeof(*ret));
	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.block_stats), &key, values))
		return;
	for (int i = 0; i < s->n_cpu_values; i++)
		block_add(ret, &values[i]);
}

static uint64_t probe_ns(
    const struct session *s, unsigned slot, const struct cozbpf_block_stats *stats)
{
	const uint64_t *cost = (const uint64_t *)s->bpf->bss->blocks.cost_ns;

	return stats->entries * cost[s->blocks->entry_sorts[slot]] +
	       stats->exits * cost[s->blocks->exit_sorts[slot]];
}

void session_clear_block(struct session *s, unsigned slot)
{
	struct cozbpf_block_stats stats;
	uint32_t key = slot;

	read_stats(s, slot, &stats);
	s->blocks->probes_ns += probe_ns(s, slot, &stats);
	memset(s->blocks->values, 0, (size_t)s->n_cpu_values * sizeof(*s->blocks->values));
	bpf_map_update_elem(
	    bpf_map__fd(s->bpf->maps.block_stats), &key, s->blocks->values, BPF_ANY);
}

void session_read_block(const struct session *s, unsigned slot, struct block_reading *ret)
{
	struct cozbpf_block_stats stats;

	read_stats(s, slot, &stats);
	*ret = (struct block_reading){.entries = stats.entries,
	    .sum_ns = stats.sum_ns,
	    .max_ns = stats.max_ns,
	    .wall_ns = stats.wall_ns,
	    .probe_ns = probe_ns(s, slot, &stats)};
	for (int i = 0; i < COZBPF_BLOCK_CELLS; i++) {
		ret->cells[i] = stats.cells[i];
		ret->timed += stats.cells[i];
	}
	if (ret->timed)
		ret->min_ns = ~stats.not_min_ns;
}

uint64_t session_probes_ns(const struct session *s)
{
	const struct cozbpf_blocks *blocks = &s->bpf->bss->blocks;
	uint64_t ret = s->blocks->probes_ns;
	struct cozbpf_block_stats stats;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		read_stats(s, slot, &stats);
		ret += probe_ns(s, slot, &stats);
	}
	for (int i = 0; i < COZBPF_BLOCK_SORTS; i++)
		ret += __atomic_load_n(&blocks->stale[i], __ATOMIC_RELAXED) * blocks->cost_ns[i];
	return ret;
}

void blocks_forget_probes(struct session *s)
{
	s->blocks->probes_ns = 0;
}

uint64_t session_executed_ns(struct session *s)
{
	uint32_t zero = 0;
	uint64_t ret = 0, now;

	/* When that fails, the values before stand. */
	bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.cpus), &zero, s->cpu_values);
	now = session_now_ns();
	for (int i = 0; i < s->n_cpu_values; i++) {
		const struct cozbpf_cpu *cpu = &s->cpu_values[i];

		ret += cpu->ran_ns;
		ret += cpu->ran_since && now > cpu->ran_since ? now - cpu->ran_since : 0;
	}
	/* What turns out to be a pause, or a sample's program, is taken back: the sum must not
	 * fall.
	 */
	if (ret > s->executed_told)
		s->executed_told = ret;
	return s->executed_told;
}

struct perturbation session_perturbation(const struct session *s)
{
	const struct cozbpf_control *c = &s->bpf->bss->control;

	return (struct perturbation){.pauses = __atomic_load_n(&c->perturbed, __ATOMIC_RELAXED),
	    .paused_ns = __atomic_load_n(&c->perturbed_ns, __ATOMIC_RELAXED)};
}
