// SPDX-License-Identifier: BSD-3-Clause
/* The walk over functions and inlined copies. entries.c tells why libdw's tree functions are not
 * used. */
#include "symbols/dwarf/codewalk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define SPLIT_BYTES (4ULL << 30)

/* The attributes of a function, before it is known which of them matter. */
struct code_values {
	uint64_t low, high, ranges;
	bool has_low, has_high, high_is_addr, has_ranges, ranges_is_index;
	uint64_t sibling;
};

static void read_code_value(const struct code_walker *w, const struct unit *u, struct reader *r,
    const struct abbrev_attr *attr, struct code_die *d, struct code_values *v)
{
	struct reader value = *r;

	value_skip(u, r, attr);
	if (!value_is_number(attr))
		return;
	switch (attr->name) {
	case DW_AT_sibling:
		v->sibling =
		    attr->form == DW_FORM_ref_addr ? 0 : u->offset + value_number(&value, attr);
		break;
	case DW_AT_low_pc:
		v->has_low = value_is_addr(attr);
		v->low = v->has_low ? unit_addr(w->sections, u, &value, attr) : 0;
		break;
	case DW_AT_high_pc:
		v->has_high = true;
		v->high_is_addr = value_is_addr(attr);
		v->high = v->high_is_addr ? unit_addr(w->sections, u, &value, attr)
					  : value_number(&value, attr);
		break;
	case DW_AT_ranges:
		v->has_ranges = true;
		v->ranges_is_index = attr->form == DW_FORM_rnglistx;
		v->ranges = value_number(&value, attr);
		break;
	case DW_AT_call_file:
		d->call_file = value_number(&value, attr);
		break;
	case DW_AT_call_line:
		d->call_line = value_number(&value, attr);
		break;
	default:
		break;
	}
}

/* Reads a function or inlined copy, with its ranges in w->ranges (none: it has no code). */
static int read_code(struct code_walker *w, const struct unit *u, struct reader *r,
    const struct abbrev *a, struct code_die *d, uint64_t *sibling)
{
	struct code_values v = {0};
	int err = 0;

	w->n_ranges = 0;
	for (uint32_t i = 0; i < a->n_attrs && !r->bad; i++)
		read_code_value(w, u, r, &w->abbrevs.attrs[a->first_attr + i], d, &v);
	if (v.has_low && v.has_high)
		err = code_range_add(w, v.low, v.high_is_addr ? v.high : v.low + v.high);
	else if (v.has_ranges)
		err = code_ranges_read(w, u, v.ranges, v.ranges_is_index);
	d->ranges = w->ranges;
	d->n_ranges = w->n_ranges;
	*sibling = v.sibling;
	return err;
}

/* Goes to @sibling, which must lie ahead. False when it does not. */
static bool jump(const struct code_walker *w, struct reader *r, uint64_t sibling)
{
	uint64_t at = (uint64_t)(r->p - w->sections->info.data);

	if (sibling <= at || sibling - at > reader_left(r))
		return false;
	r->p += sibling - at;
	return true;
}

/* Passes over the children of an entry whose values have just been read. */
static void skip_children(
    const struct code_walker *w, const struct unit *u, struct reader *r, uint64_t sibling)
{
	uint64_t depth = 1;

	if (jump(w, r, sibling))
		return;
	while (depth && r->p < r->end) {
		uint64_t code = read_uleb(r);
		const struct abbrev *a;

		if (!code) {
			depth--;
			continue;
		}
		a = abbrev_find(&w->abbrevs, code);
		if (!a) {
			reader_fail(r);
			return;
		}
		values_skip(&w->abbrevs, u, r, a, &sibling);
		if (a->has_children && !jump(w, r, sibling))
			depth++;
	}
}

/* The position of the walk: which of the open entries stand for code. */
struct walk {
	bool is_code[CODE_MAX_LEVEL];
	unsigned depth, level;
};

/* Reads one entry and opens it or passes over its children. */
static int walk_entry(struct code_walker *w, const struct unit *u, struct reader *r,
    struct walk *walk, code_die_fn *fn, void *ctx)
{
	struct code_die d = {
	    .offset = (uint64_t)(r->p - w->sections->info.data), .level = walk->level};
	uint64_t code = read_uleb(r), sibling;
	const struct abbrev *a;
	bool is_code, descend;
	int ret;

	if (!code) {
		walk->depth--;
		walk->level -= walk->depth && walk->is_code[walk->depth];
		return 0;
	}
	a = abbrev_find(&w->abbrevs, code);
	if (!a)
		return -EINVAL;
	is_code = a->kind == DIE_FUNCTION || a->kind == DIE_INLINED;
	/* Rust has the functions of a type inside of the type. */
	descend = a->kind == DIE_CONTAINER || (a->kind == DIE_TYPE && u->is_rust);
	if (is_code) {
		d.inlined = a->kind == DIE_INLINED;
		ret = read_code(w, u, r, a, &d, &sibling);
		if (!ret && !r->bad && d.n_ranges) {
			ret = fn(ctx, &d);
			descend = ret == 0;
		}
		if (ret < 0)
			return ret;
	} else {
		values_skip(&w->abbrevs, u, r, a, &sibling);
	}
	if (!a->has_children)
		return 0;
	if (!descend) {
		skip_children(w, u, r, sibling);
		return 0;
	}
	if (walk->depth >= CODE_MAX_LEVEL)
		return -EINVAL;
	walk->is_code[walk->depth++] = is_code;
	walk->level += is_code;
	return 0;
}

int code_walk(struct code_walker *w, const struct unit *u, code_die_fn *fn, void *ctx)
{
	struct reader r = reader_at(w->sections->info, u->die, u->end - u->die);
	struct walk walk = {.depth = 1};
	const struct abbrev *root;
	uint64_t sibling;
	int err = r.bad ? -EINVAL : abbrevs_read(&w->abbrevs, u);

	if (err)
		return err;
	root = abbrev_find(&w->abbrevs, read_uleb(&r));
	if (!root)
		return -EINVAL;
	values_skip(&w->abbrevs, u, &r, root, &sibling);
	if (!root->has_children)
		return 0;
	while (!err && walk.depth && r.p < r.end)
		err = walk_entry(w, u, &r, &walk, fn, ctx);
	return err ?: r.bad ? -EINVAL : 0;
}

void code_walker_init(struct code_walker *w, const struct debug_sections *s)
{
	memset(w, 0, sizeof(*w));
	w->sections = s;
	abbrevs_init(&w->abbrevs, s->abbrev);
	/* A range takes two bytes at least, and hardly any list is named twice. */
	w->split_left = SPLIT_BYTES;
	w->ranges_left = (uint64_t)s->info.size + s->ranges.size + s->rnglists.size;
}

void code_walker_deinit(struct code_walker *w)
{
	abbrevs_deinit(&w->abbrevs);
	free(w->ranges);
	memset(w, 0, sizeof(*w));
}
