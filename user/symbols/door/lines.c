// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers for lines and source files. A reader fills a line map of its own, which is added to
 * ours. */
#include "symbols/door/object.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/places/linegroups.h"
#include "symbols/door/cache.h"

#define PATH_SIZE (2 * PATH_MAX)
/* A reading of this length and longer is kept: shorter ones nobody waits for. */
#define KEPT_NS 20000000ULL

/* What a reader makes: lines, functions, and both in the order of line_map_group(). */
struct unit_maps {
	struct line_map lines, functions, both;
};

/* Files are told apart by lines. */
static struct line_map *fill_blocks(struct unit_maps *maps, struct image *image,
    const struct scope *scope, size_t *ret_n, struct error *e)
{
	const struct line_map *within = scope->n_sources ? &maps->lines : NULL;

	if (within && image_add_lines(image, scope, &maps->lines, ret_n, e))
		return NULL;
	return image_add_blocks(image, within, &maps->functions, ret_n, e) ? NULL
									   : &maps->functions;
}

static struct line_map *fill_maps(struct unit_maps *maps, struct image *image,
    const struct scope *scope, size_t *ret_n, struct error *e)
{
	size_t n;

	if (!scope)
		return image_add_functions(image, &maps->functions, ret_n, e) ? NULL
									      : &maps->functions;
	if (scope->granularity == GRANULARITY_BLOCK)
		return fill_blocks(maps, image, scope, ret_n, e);
	if (image_add_lines(image, scope, &maps->lines, ret_n, e))
		return NULL;
	if (!scope_has_both(scope))
		return &maps->lines;
	if (image_add_functions(image, &maps->functions, &n, e))
		return NULL;
	if (!line_map_group(&maps->lines, &maps->functions, &maps->both))
		return &maps->both;
	error_set(e, EXIT_OTHER, "out of memory");
	return NULL;
}

/* Lines or blocks in the scope @arg; functions where there is none. */
static int read_units(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct unit_maps maps = {0};
	struct line_map *all[] = {&maps.lines, &maps.functions, &maps.both}, *filled = NULL;
	int err = 0;
	size_t n = 0;

	for (size_t i = 0; i < 3; i++)
		err |= line_map_init(all[i]);
	if (err)
		error_set(e, EXIT_OTHER, "out of memory");
	else
		filled = fill_maps(&maps, image, arg, &n, e);
	err = filled ? put_units(out, filled, n, e) : -1;
	for (size_t i = 0; i < 3; i++)
		line_map_deinit(all[i]);
	return err;
}

static int out_of_memory(const struct object *o, struct error *e)
{
	return error_set(
	    e, EXIT_OTHER, "out of memory while reading the debug information of '%s'", o->path);
}

/* All that an answer about units depends on; false: on more than this. */
static bool key_of(const struct object *o, const struct scope *scope, struct out *key)
{
	put_u64(key, scope ? 1 + (uint64_t)scope->granularity : 0);
	for (size_t i = 0; scope && i < scope->n_sources; i++)
		put_string(key, scope->sources[i]);
	return object_key(o, key);
}

/* A reading of units that may be kept for the next run, or was kept by an earlier one. */
struct keeping {
	struct out key;
	bool has_key, was_kept;
	bool opens; /* files that the key does not name */
	uint64_t ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool needs_lines(const struct scope *scope)
{
	return scope && (scope->granularity != GRANULARITY_BLOCK || scope->n_sources);
}

static int ask_for_units(const struct object *o, const struct scope *scope, struct keeping *k,
    struct in *ret, struct error *e)
{
	const struct question q = {
	    read_units, (void *)scope, .needs_debug = needs_lines(scope), .opens = &k->opens};
	uint64_t from = now_ns();
	int err = 0;

	k->has_key = key_of(o, scope, &k->key);
	k->was_kept = k->has_key && cache_get(&k->key, ret);
	if (!k->was_kept)
		err = object_ask(o, &q, ret, e);
	k->ns = now_ns() - from;
	return err;
}

/* Not what was soon read, and not what the files were no longer in the end. */
static void keep_units(
    const struct object *o, const struct scope *scope, const struct keeping *k, const struct in *in)
{
	struct out key = {0};

	if (k->has_key && !k->was_kept && !k->opens && k->ns >= KEPT_NS && in_is_whole(in) &&
	    key_of(o, scope, &key) && key.n == k->key.n && !memcmp(key.data, k->key.data, key.n))
		cache_put(&key, in);
	out_free(&key);
}

/* @scope: of lines or blocks; NULL: functions. */
static int add_units(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_units, struct error *e)
{
	bool names = !scope || scope->granularity == GRANULARITY_BLOCK;
	enum unit_kind kind = names                   ? UNITS_FUNCTIONS
			      : scope_has_both(scope) ? UNITS_BOTH
						      : UNITS_LINES;
	struct line_object object = object_identity(o);
	struct keeping k = {0};
	struct line_range *ranges;
	struct in in;
	size_t n, found;
	int err;

	*n_units = 0;
	err = ask_for_units(o, scope, &k, &in, e);
	if (!err) {
		ranges = get_units(&in, kind, map, &n, &found);
		keep_units(o, scope, &k, &in);
		err = object_answered(o, &in, e);
		if (!err && line_map_add_object(map, &object, ranges, n))
			err = out_of_memory(o, e);
		if (!err)
			*n_units = found;
		free(ranges);
	}
	out_free(&k.key);
	return err;
}

int object_add_lines(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e)
{
	struct scope lines = *scope;

	lines.granularity = GRANULARITY_LINE;
	return add_units(o, &lines, map, n_lines, e);
}

int object_add_functions(struct object *o, struct line_map *map, size_t *n_units, struct error *e)
{
	return add_units(o, NULL, map, n_units, e);
}

int object_add_units(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_units, struct error *e)
{
	bool counts =
	    scope->granularity == GRANULARITY_BLOCK || scope_has_lines(scope, o->has_debug_info);

	return add_units(o, counts ? scope : NULL, map, n_units, e);
}

static int list_files(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct source_file *files;
	size_t n;

	if (image_source_files(image, arg, &files, &n, e))
		return -1;
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_string(out, files[i].path);
		put_u64(out, files[i].n_lines);
		put_u32(out, files[i].in_scope);
	}
	return 0;
}

int object_source_files(struct object *o, const struct scope *scope, struct source_file **ret,
    size_t *n, struct error *e)
{
	const struct question q = {list_files, (void *)scope, .needs_debug = true};
	struct source_file *files;
	size_t count, made = 0;
	struct in in;

	if (object_ask(o, &q, &in, e))
		return -1;
	count = get_count(&in, 17);
	files = calloc(count + 1, sizeof(*files));
	in.bad |= !files;
	for (; made < count && !in.bad; made++) {
		files[made].path = get_copy(&in, PATH_SIZE);
		files[made].n_lines = (size_t)get_u64(&in);
		files[made].in_scope = get_u32(&in) != 0;
	}
	if (object_answered(o, &in, e)) {
		source_files_free(files, made);
		return -1;
	}
	*ret = files;
	*n = count;
	return 0;
}
