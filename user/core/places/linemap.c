// SPDX-License-Identifier: BSD-3-Clause
/* The line map: interned lines and files, sorted disjoint ranges, look-up by offset. linefind.c
 * finds by name. */
#include "core/places/linemap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cozbpf/abi.h>
#include "core/places/couple.h"
#include "core/places/syscalls.h"
#include "core/places/waits.h"
#include "core/text/hash.h"

/* A hash table with open addressing, a power of two in size, at most half full. A slot holds an id
 * plus 1, or 0. */
struct slots {
	uint32_t *v;
	size_t size, used;
};

/* A module that is called otherwise. */
struct renamed {
	char *module, *name;
};

struct line_index {
	char **files;
	size_t n_files, files_cap;
	size_t lines_cap, ranges_cap, objects_cap;
	struct slots by_name, by_line;
	struct renamed *renamed;
	size_t n_renamed, renamed_cap;
};

/* "FILE:LINE [io]"; of a function "NAME [io]"; of a class "[io]". */
static char *wait_unit_name(const struct source_line *l)
{
	const char *class = wait_name(l->wait - 1U);
	char *name = NULL;

	if (!l->file)
		return asprintf(&name, "[%s]", class) < 0 ? NULL : name;
	if (l->line)
		return asprintf(&name, "%s:%u [%s]", l->file, l->line, class) < 0 ? NULL : name;
	return asprintf(&name, "%s [%s]", l->file, class) < 0 ? NULL : name;
}

char *source_line_name(const struct source_line *l)
{
	char *name = NULL;

	if (l->wait)
		return wait_unit_name(l);
	if (l->is_couple)
		return strdup(l->file);
	if (l->line)
		return asprintf(&name, "%s:%u", l->file, l->line) < 0 ? NULL : name;
	return asprintf(&name, "%s%s", l->file, l->inclusive ? INCLUSIVE_SUFFIX : "") < 0 ? NULL
											  : name;
}

bool source_line_is_inclusive(const char *name)
{
	size_t length = strlen(name), suffix = strlen(INCLUSIVE_SUFFIX);

	return length > suffix && !strcmp(name + length - suffix, INCLUSIVE_SUFFIX);
}

int line_map_init(struct line_map *m)
{
	struct line_index *x = calloc(1, sizeof(*x));

	memset(m, 0, sizeof(*m));
	m->lines = calloc(1, sizeof(*m->lines));
	if (!x || !m->lines) {
		free(x);
		free(m->lines);
		m->lines = NULL;
		return -ENOMEM;
	}
	x->lines_cap = 1;
	m->n_lines = 1;
	m->index = x;
	return 0;
}

void line_map_deinit(struct line_map *m)
{
	struct line_index *x = m->index;

	if (x) {
		for (size_t i = 0; i < x->n_files; i++)
			free(x->files[i]);
		free(x->files);
		for (size_t i = 0; i < x->n_renamed; i++) {
			free(x->renamed[i].module);
			free(x->renamed[i].name);
		}
		free(x->renamed);
		free(x->by_name.v);
		free(x->by_line.v);
		free(x);
	}
	for (size_t i = 0; i < m->n_objects; i++)
		free(m->objects[i].path);
	free(m->objects);
	free(m->ranges);
	free(m->lines);
	memset(m, 0, sizeof(*m));
}

/* Makes room for @need elements of @elem bytes in *@array. */
static int reserve(void *array, size_t *cap, size_t need, size_t elem)
{
	void **p = array, *grown;
	size_t want = *cap * 2 > need ? *cap * 2 : need;

	if (need <= *cap)
		return 0;
	if (want < 16)
		want = 16;
	grown = reallocarray(*p, want, elem);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}

static uint64_t hash_line(const void *table, const char *file, uint32_t line)
{
	return hash_number(table, (uintptr_t)file ^ hash_number(table, line));
}

/* The hash of @id of @s in a table at @table. */
static uint64_t hash_id(
    const struct line_map *m, const struct slots *s, const void *table, uint32_t id)
{
	const struct line_index *x = m->index;

	return s == &x->by_name ? hash_text(table, x->files[id])
				: hash_line(table, m->lines[id].file, m->lines[id].line);
}

/* Into the table @v of @size slots. */
static void put_id(
    const struct line_map *m, const struct slots *s, uint32_t *v, size_t size, uint32_t id)
{
	size_t at = hash_id(m, s, v, id) & (size - 1);

	while (v[at])
		at = (at + 1) & (size - 1);
	v[at] = id + 1;
}

/* Doubles the slots until @more of them do not fill over half. */
static int slots_grow(const struct line_map *m, struct slots *s, size_t more)
{
	size_t size = s->size ? s->size : 64;
	uint32_t *v;

	while ((s->used + more) * 2 > size)
		size *= 2;
	if (size == s->size)
		return 0;
	v = calloc(size, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < s->size; i++)
		if (s->v[i])
			put_id(m, s, v, size, s->v[i] - 1);
	free(s->v);
	s->v = v;
	s->size = size;
	return 0;
}

/* The map's own copy of @file; NULL: out of memory. */
static char *intern_file(struct line_map *m, const char *file)
{
	struct line_index *x = m->index;
	char *copy;
	size_t at;

	if (slots_grow(m, &x->by_name, 1) ||
	    reserve(&x->files, &x->files_cap, x->n_files + 1, sizeof(*x->files)))
		return NULL;
	for (at = hash_text(x->by_name.v, file) & (x->by_name.size - 1); x->by_name.v[at];
	     at = (at + 1) & (x->by_name.size - 1))
		if (!strcmp(x->files[x->by_name.v[at] - 1], file))
			return x->files[x->by_name.v[at] - 1];
	copy = strdup(file);
	if (!copy)
		return NULL;
	x->files[x->n_files++] = copy;
	x->by_name.v[at] = (uint32_t)x->n_files;
	x->by_name.used++;
	return copy;
}

int line_map_expect(struct line_map *m, size_t n_lines, size_t n_names)
{
	struct line_index *x = m->index;
	int err = slots_grow(m, &x->by_line, n_lines);

	return err ? err : slots_grow(m, &x->by_name, n_names);
}

int line_map_rename(struct line_map *m, const char *module, const char *name)
{
	struct line_index *x = m->index;
	struct renamed r;

	if (!strcmp(module, name))
		return 0;
	r = (struct renamed){strdup(module), strdup(name)};
	if (!r.module || !r.name ||
	    reserve(&x->renamed, &x->renamed_cap, x->n_renamed + 1, sizeof(r))) {
		free(r.module);
		free(r.name);
		return -ENOMEM;
	}
	x->renamed[x->n_renamed++] = r;
	return 0;
}

/* The map's own copy of the function's name, with that of its module; NULL: out of memory. */
static char *intern_function(struct line_map *m, const char *function)
{
	const struct line_index *x = m->index;
	char *name, *ret;

	for (size_t i = 0; i < x->n_renamed; i++) {
		const struct renamed *r = &x->renamed[i];
		size_t length = strlen(r->module);

		if (strncmp(function, r->module, length) || !strchr(":+", function[length]))
			continue;
		if (asprintf(&name, "%s%s", r->name, function + length) < 0)
			return NULL;
		ret = intern_file(m, name);
		free(name);
		return ret;
	}
	return intern_file(m, function);
}

uint32_t line_map_line(struct line_map *m, const char *file, uint32_t line)
{
	struct line_index *x = m->index;
	char *name = line ? intern_file(m, file) : intern_function(m, file);
	size_t at;

	if (!name || m->n_lines >= UINT32_MAX - 1 || slots_grow(m, &x->by_line, 1))
		return 0;
	for (at = hash_line(x->by_line.v, name, line) & (x->by_line.size - 1); x->by_line.v[at];
	     at = (at + 1) & (x->by_line.size - 1)) {
		const struct source_line *l = &m->lines[x->by_line.v[at] - 1];

		if (l->file == name && l->line == line)
			return x->by_line.v[at] - 1;
	}
	if (reserve(&m->lines, &x->lines_cap, m->n_lines + 1, sizeof(*m->lines)))
		return 0;
	m->lines[m->n_lines] =
	    (struct source_line){.file = name, .line = line, .inclusive = !line && m->inclusive};
	x->by_line.v[at] = (uint32_t)m->n_lines + 1;
	x->by_line.used++;
	return (uint32_t)m->n_lines++;
}

uint32_t line_map_add_waits(struct line_map *m)
{
	struct line_index *x = m->index;
	size_t first = m->n_lines, n = COZBPF_WAIT_CLASSES * COZBPF_WAIT_UNITS;
	char *nowhere = intern_file(m, "(no line)");

	if (!nowhere || reserve(&m->lines, &x->lines_cap, first + n, sizeof(*m->lines)))
		return 0;
	for (size_t i = 0; i < n; i++) {
		size_t class = i / COZBPF_WAIT_UNITS, at = i % COZBPF_WAIT_UNITS;

		m->lines[first + i] = (struct source_line){.file = at ? nowhere : NULL,
		    .wait = (uint8_t)(1 + class),
		    .n_lines = at ? 0 : COZBPF_WAIT_UNITS - 1,
		    .function = at ? (uint32_t)(first + class * COZBPF_WAIT_UNITS) : 0};
	}
	m->n_lines += n;
	return (uint32_t)first;
}

/* "sys:all" holds the others. */
uint32_t line_map_add_syscalls(struct line_map *m)
{
	struct line_index *x = m->index;
	uint32_t first = (uint32_t)m->n_lines;
	char name[sizeof(SYSCALL_PREFIX) + SYSCALL_LABEL] = SYSCALL_PREFIX,
					   *label = name + strlen(SYSCALL_PREFIX);

	if (reserve(&m->lines, &x->lines_cap, first + COZBPF_SYSCALL_UNITS, sizeof(*m->lines)))
		return 0;
	for (uint32_t i = 0; i < COZBPF_SYSCALL_UNITS; i++) {
		if (i)
			syscall_label(i - 1, label);
		else
			strcpy(label, "all");
		m->lines[first + i] = (struct source_line){.file = intern_file(m, name),
		    .inclusive = m->inclusive,
		    .n_lines = i ? 0 : COZBPF_SYSCALL_UNITS - 1,
		    .function = i ? first : 0};
		if (!m->lines[first + i].file)
			return 0;
	}
	m->n_lines += COZBPF_SYSCALL_UNITS;
	return first;
}

uint32_t line_map_add_couple(struct line_map *m, uint32_t first, uint32_t second)
{
	char *one = source_line_name(&m->lines[first]), *two = source_line_name(&m->lines[second]),
	     *both = one && two ? couple_name(one, two) : NULL,
	     *file = both ? intern_file(m, both) : NULL;
	struct line_index *x = m->index;

	free(one);
	free(two);
	free(both);
	if (!file || reserve(&m->lines, &x->lines_cap, m->n_lines + 1, sizeof(*m->lines)))
		return 0;
	m->lines[m->n_lines] = (struct source_line){.file = file, .is_couple = true};
	return (uint32_t)m->n_lines++;
}

void line_map_name_wait(struct line_map *m, uint32_t id, uint32_t line)
{
	if (id >= m->n_lines || line >= m->n_lines || !m->lines[id].wait)
		return;
	m->lines[id].file = m->lines[line].file;
	m->lines[id].line = m->lines[line].line;
}

/* Stable sort by lo. A radix sort, since ranges come by the million: a comparison sort would be the
 * slowest part of loading them. */
static int sort_ranges(struct line_range **v, size_t n)
{
	struct line_range *from = *v, *to;
	uint64_t all_bits = 0;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		all_bits |= from[i].lo;
		sorted &= i == 0 || from[i - 1].lo <= from[i].lo;
	}
	if (sorted)
		return 0;
	to = malloc(n * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64 && all_bits >> shift; shift += 11) {
		size_t start[2048] = {0}, sum = 0;
		struct line_range *swap;

		for (size_t i = 0; i < n; i++)
			start[(from[i].lo >> shift) & 2047]++;
		for (size_t i = 0; i < 2048; i++) {
			size_t count = start[i];

			start[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[start[(from[i].lo >> shift) & 2047]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	*v = from;
	free(to);
	return 0;
}

/* Appends a range to the map, or extends its neighbour of the same line. The caller has made
 * room. */
static void put_range(struct line_map *m, size_t first, uint64_t lo, uint64_t hi, uint32_t line)
{
	struct line_range *last = m->n_ranges > first ? &m->ranges[m->n_ranges - 1] : NULL;

	if (lo >= hi || !line)
		return;
	if (last && last->hi == lo && last->line == line)
		last->hi = hi;
	else
		m->ranges[m->n_ranges++] = (struct line_range){lo, hi, line};
}

/* An open range, in a heap with the latest given (highest order) on top. */
struct open_range {
	uint32_t order, line;
	uint64_t hi;
};

static void heap_push(struct open_range *heap, size_t n, struct open_range r)
{
	while (n > 0 && heap[(n - 1) / 2].order < r.order) {
		heap[n] = heap[(n - 1) / 2];
		n = (n - 1) / 2;
	}
	heap[n] = r;
}

/* Removes the top; @n: size before. */
static void heap_pop(struct open_range *heap, size_t n)
{
	struct open_range r = heap[n - 1];
	size_t at = 0, child;

	n--;
	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && heap[child + 1].order > heap[child].order)
			child++;
		if (heap[child].order < r.order)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = r;
}

/* Emits what is visible of the open ranges in [from, to), and closes those that end there. */
static size_t sweep_to(
    struct line_map *m, size_t first, struct open_range *heap, size_t n, uint64_t from, uint64_t to)
{
	while (n > 0 && from < to) {
		uint64_t end = heap[0].hi < to ? heap[0].hi : to;

		if (heap[0].hi > from) {
			put_range(m, first, from, end, heap[0].line);
			from = end;
		}
		if (heap[0].hi <= from)
			heap_pop(heap, n--);
	}
	return n;
}

/* Adds ranges with their places in the caller's array, which tell who wins. `line` holds the place
 * while sorting. */
static int add_ranges(struct line_map *m, const struct line_range *given, size_t n)
{
	struct line_range *sorted = malloc((n + !n) * sizeof(*sorted));
	struct open_range *heap = malloc((n + !n) * sizeof(*heap));
	size_t first = m->n_ranges, n_open = 0, kept = 0;
	uint64_t at = 0;
	int err = -ENOMEM;

	if (!sorted || !heap)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (given[i].lo < given[i].hi && given[i].line)
			sorted[kept++] = (struct line_range){given[i].lo, given[i].hi, (uint32_t)i};
	err = sort_ranges(&sorted, kept);
	if (err)
		goto out;
	for (size_t i = 0; i < kept; i++) {
		const struct line_range *r = &sorted[i];

		n_open = sweep_to(m, first, heap, n_open, at, r->lo);
		at = r->lo;
		heap_push(heap, n_open++, (struct open_range){r->line, given[r->line].line, r->hi});
	}
	sweep_to(m, first, heap, n_open, at, UINT64_MAX);
out:
	free(sorted);
	free(heap);
	return err;
}

int line_map_add_object(
    struct line_map *m, const struct line_object *o, const struct line_range *ranges, size_t n)
{
	struct line_index *x = m->index;
	struct line_object *added;
	char *path = strdup(o->path);
	size_t first = m->n_ranges;

	/* n ranges make at most 2 n - 1 disjoint ones. */
	if (!path || n >= UINT32_MAX / 2 || first + 2 * n > UINT32_MAX ||
	    reserve(&m->ranges, &x->ranges_cap, first + 2 * n, sizeof(*ranges)) ||
	    reserve(&m->objects, &x->objects_cap, m->n_objects + 1, sizeof(*m->objects)) ||
	    add_ranges(m, ranges, n)) {
		free(path);
		m->n_ranges = first;
		return n >= UINT32_MAX / 2 || first + 2 * n > UINT32_MAX ? -E2BIG : -ENOMEM;
	}
	added = &m->objects[m->n_objects++];
	*added = *o;
	added->path = path;
	added->first = (uint32_t)first;
	added->count = (uint32_t)(m->n_ranges - first);
	return 0;
}

void line_map_cut(struct line_map *m, size_t n_objects, size_t n_lines)
{
	struct line_index *x = m->index;
	struct slots *s = &x->by_line;

	while (m->n_objects > n_objects) {
		m->n_ranges = m->objects[--m->n_objects].first;
		free(m->objects[m->n_objects].path);
	}
	if (m->n_lines <= n_lines)
		return;
	m->n_lines = n_lines;
	memset(s->v, 0, s->size * sizeof(*s->v));
	s->used = n_lines - 1; /* or fewer, where some are waits */
	for (uint32_t id = 1; id < n_lines; id++) {
		if (!m->lines[id].wait && !m->lines[id].is_couple) /* not found by name */
			put_id(m, s, s->v, s->size, id);
		if (m->lines[id].function >= n_lines)
			m->lines[id].function = 0;
		if (m->lines[id].n_lines >= n_lines - id)
			m->lines[id].n_lines = (uint32_t)n_lines - id - 1;
	}
}

static bool is_same_file(const struct line_object *a, const struct line_object *b)
{
	if (a->build_id_len && b->build_id_len)
		return a->build_id_len == b->build_id_len &&
		       !memcmp(a->build_id, b->build_id, a->build_id_len);
	return a->dev == b->dev && a->ino == b->ino;
}

int line_map_find_object(const struct line_map *m, const struct line_object *o)
{
	for (size_t i = 0; i < m->n_objects; i++)
		if (!strcmp(m->objects[i].path, o->path) && is_same_file(&m->objects[i], o))
			return (int)i;
	return -1;
}

size_t line_map_after(const struct line_map *m, size_t object, uint64_t offset)
{
	size_t lo, hi;

	if (object >= m->n_objects)
		return m->n_ranges;
	lo = m->objects[object].first;
	hi = lo + m->objects[object].count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->ranges[mid].hi <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool line_map_range_at(const struct line_map *m, size_t object, uint64_t offset, size_t *ret)
{
	*ret = line_map_after(m, object, offset);
	return object < m->n_objects &&
	       *ret - m->objects[object].first < m->objects[object].count &&
	       m->ranges[*ret].lo <= offset;
}

uint32_t line_map_lookup(const struct line_map *m, size_t object, uint64_t offset)
{
	size_t at;

	return line_map_range_at(m, object, offset, &at) ? m->ranges[at].line : 0;
}
