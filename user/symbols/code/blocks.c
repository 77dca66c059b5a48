// SPDX-License-Identifier: BSD-3-Clause
/* Basic blocks as units of a line map, and where they are probed. Where their boundaries are is
 * told by blockmap.c. */
#include "symbols/reading.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/paths.h"
#include "symbols/code/blockmap.h"

#define NAME_SIZE (NAME_MAX + 8192)

/* Units as they are collected. */
struct collected {
	const struct block_map *blocks;
	const struct line_map *within; /* NULL: all are wanted */
	struct line_map *map;
	struct line_range *ranges;
	size_t n, room;
};

static const char *function_of(const struct block_map *b, const struct block *block)
{
	return b->functions.lines[b->functions.ranges[block->range].line].file;
}

static uint64_t offset_in_function(const struct block_map *b, const struct block *block)
{
	return block->lo - b->first[b->functions.ranges[block->range].line];
}

/* False: out of memory. */
static bool add_block(struct collected *c, const struct block *block)
{
	char name[NAME_SIZE];
	uint32_t unit;

	if (c->within && (!c->within->n_objects || !line_map_lookup(c->within, 0, block->lo)))
		return true;
	if (c->n == c->room) {
		size_t room = 2 * c->room + 64;
		struct line_range *bigger = reallocarray(c->ranges, room, sizeof(*bigger));

		if (!bigger)
			return false;
		c->ranges = bigger;
		c->room = room;
	}
	snprintf(name, sizeof(name), "%s+0x%llx", function_of(c->blocks, block),
	    (unsigned long long)offset_in_function(c->blocks, block));
	unit = line_map_line(c->map, name, 0);
	c->ranges[c->n++] = (struct line_range){block->lo, block->hi, unit};
	return unit;
}

static int add_blocks(struct collected *c)
{
	const struct line_map *functions = &c->blocks->functions;
	struct line_object object = {.path = c->blocks->o->path};
	struct block block;

	for (size_t i = 0; i < functions->n_ranges; i++)
		for (uint64_t at = functions->ranges[i].lo; block_next(c->blocks, i, at, &block);
		     at = block.hi)
			if (!add_block(c, &block))
				return -1;
	return line_map_add_object(c->map, &object, c->ranges, c->n);
}

static int none(const struct image *o, struct error *e)
{
	error_set(e, EXIT_NO_RESULT, "no function of '%s' is known that has blocks", image_path(o));
	return error_hint(
	    e, "symbols and .eh_frame tell where functions are; or give --granularity function");
}

int image_add_blocks(struct image *o, const struct line_map *within, struct line_map *map,
    size_t *n_units, struct error *e)
{
	struct block_map blocks;
	struct collected c = {.blocks = &blocks, .within = within, .map = map};
	size_t before = map->n_lines;
	int err = block_map_init(&blocks, o, e);

	if (!err && add_blocks(&c))
		err = error_set(e, EXIT_OTHER, "out of memory");
	block_map_deinit(&blocks);
	free(c.ranges);
	if (err)
		return -1;
	*n_units = map->n_lines - before;
	return !*n_units && !within ? none(o, e) : 0;
}

/* A block as its instructions are read. */
struct look {
	struct block_map *b;
	uint64_t addr, end; /* of the block */
	struct block_insn insn;
	struct bytes code;
};

static bool look_begin(struct look *l, struct block_map *b, uint64_t lo, uint64_t hi)
{
	*l = (struct look){.b = b};
	if (!image_address(b->o, lo, &l->addr))
		return false;
	l->code = decoder_code(&b->reader.d, b->o, l->addr);
	l->end = l->addr + (hi - lo);
	return true;
}

static bool look_next(struct look *l)
{
	return l->addr < l->end && insn_next(&l->b->reader, &l->code, &l->addr, &l->insn);
}

/* The last instruction's, and of all of them. */
struct summary {
	unsigned last, all;
	uint64_t target; /* of the last one */
	uint32_t n;
};

static struct summary summarize(struct look l)
{
	struct summary ret = {0};

	while (look_next(&l)) {
		ret.n++;
		ret.last = l.insn.kinds;
		ret.all |= l.insn.kinds;
		ret.target = l.insn.target;
	}
	return ret;
}

/* The first instruction of the first quarter that costs little, as long as nothing is called; else
 * the first one that can be probed; else the first one. */
static void find_entry(struct look l, uint64_t lo, uint32_t n, struct block_site *ret)
{
	uint64_t start = l.addr, found = UINT64_MAX;

	ret->entry = lo;
	for (uint32_t i = 0; look_next(&l); i++) {
		bool quarter = i == 0 || (uint64_t)i * 4 < n;

		if (l.insn.kinds & INSN_CHEAP && quarter) {
			found = l.insn.addr;
			ret->entry_is_cheap = true;
			break;
		}
		if (found == UINT64_MAX && !(l.insn.kinds & INSN_REFUSED))
			found = l.insn.addr;
		if (l.insn.kinds & (INSN_CALLS | INSN_REPEATS) || (!quarter && found != UINT64_MAX))
			break;
	}
	if (found != UINT64_MAX)
		ret->entry += found - start;
}

/* The last instruction that can be probed. */
static void find_exit(struct look l, uint64_t lo, struct block_site *ret)
{
	uint64_t start = l.addr;

	ret->exit = ret->entry;
	ret->exit_is_cheap = ret->entry_is_cheap;
	while (look_next(&l)) {
		if (l.insn.kinds & INSN_REFUSED || lo + (l.insn.addr - start) < ret->entry)
			continue;
		ret->exit = lo + (l.insn.addr - start);
		ret->exit_is_cheap = l.insn.kinds & INSN_CHEAP;
	}
}

/* What the last instruction calls is over only at the next one, which others may pass as well. */
static bool find_exit_behind(struct block_map *b, const struct block *block, struct block_site *ret)
{
	struct look behind;

	if (block->hi >= b->functions.ranges[block->range].hi ||
	    !look_begin(&behind, b, block->hi, block->hi + 1) || !look_next(&behind) ||
	    behind.insn.kinds & INSN_REFUSED)
		return false;
	ret->exit = block->hi;
	ret->exit_is_cheap = behind.insn.kinds & INSN_CHEAP;
	return true;
}

static void name_site(const struct block_map *b, const struct block *block, struct block_site *ret)
{
	const char *name = function_of(b, block), *module = path_base(image_path(b->o));
	size_t length = strlen(module);

	if (!strncmp(name, module, length) && name[length] == ':')
		name += length + 1;
	snprintf(ret->function, sizeof(ret->function), "%s", name);
	ret->function_offset = offset_in_function(b, block);
}

static void describe(struct block_map *b, const struct block *block, struct block_site *ret)
{
	struct summary s;
	struct look l;

	if (!look_begin(&l, b, block->lo, block->hi))
		return;
	s = summarize(l);
	*ret = (struct block_site){.start = block->lo,
	    .end = block->hi,
	    .calls = s.all & INSN_CALLS,
	    .loops = s.target == l.addr && s.last & INSN_ENDS,
	    .instructions = s.n};
	find_entry(l, block->lo, s.n, ret);
	if (!(s.last & (INSN_CALLS | INSN_REPEATS)) || !find_exit_behind(b, block, ret))
		find_exit(l, block->lo, ret);
	name_site(b, block, ret);
}

int image_block_sites(
    struct image *o, const uint64_t *starts, size_t n, struct block_site *ret, struct error *e)
{
	struct block_map blocks;
	struct block block;
	int err = block_map_init(&blocks, o, e);

	for (size_t i = 0; !err && i < n; i++) {
		ret[i] = (struct block_site){0};
		if (block_at(&blocks, starts[i], &block))
			describe(&blocks, &block, &ret[i]);
	}
	block_map_deinit(&blocks);
	return err;
}
