// SPDX-License-Identifier: BSD-3-Clause
/* Address ranges of functions: the lists of DWARF 3 to 5 (.debug_ranges, .debug_rnglists). */
#include "symbols/dwarf/codewalk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

int code_range_add(struct code_walker *w, uint64_t lo, uint64_t hi)
{
	/* Empty ranges count too: reading a long list of them takes time. */
	if (!w->ranges_left)
		return -EINVAL;
	w->ranges_left--;
	if (lo >= hi)
		return 0;
	if (w->n_ranges == w->ranges_cap) {
		size_t cap = w->ranges_cap ? w->ranges_cap * 2 : 64;
		struct code_range *grown = reallocarray(w->ranges, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->ranges = grown;
		w->ranges_cap = cap;
	}
	w->ranges[w->n_ranges++] = (struct code_range){lo, hi};
	return 0;
}

/* DWARF 3 and 4: pairs relative to a base, up to (0, 0). */
static int read_old(struct code_walker *w, const struct unit *u, struct reader *r)
{
	uint64_t base = u->low_pc, max = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;
	int err = 0;

	while (!err && !r->bad) {
		uint64_t lo = read_uint(r, u->addr_size), hi = read_uint(r, u->addr_size);

		if (r->bad || (!lo && !hi))
			break;
		if (lo == max) {
			base = hi;
			lo = hi = 0;
		} else {
			lo += base;
			hi += base;
		}
		err = code_range_add(w, lo, hi);
	}
	return err;
}

/* DWARF 5. */
static int read_new(struct code_walker *w, const struct unit *u, struct reader *r)
{
	uint64_t base = u->low_pc;
	int err = 0;

	while (!err && !r->bad) {
		uint8_t kind = read_u8(r);
		uint64_t lo = 0, hi = 0;

		switch (kind) {
		case DW_RLE_base_addressx:
			base = unit_addr_at(w->sections, u, read_uleb(r));
			break;
		case DW_RLE_base_address:
			base = read_uint(r, u->addr_size);
			break;
		case DW_RLE_startx_endx:
			lo = unit_addr_at(w->sections, u, read_uleb(r));
			hi = unit_addr_at(w->sections, u, read_uleb(r));
			break;
		case DW_RLE_startx_length:
			lo = unit_addr_at(w->sections, u, read_uleb(r));
			hi = lo + read_uleb(r);
			break;
		case DW_RLE_offset_pair:
			lo = base + read_uleb(r);
			hi = base + read_uleb(r);
			break;
		case DW_RLE_start_end:
			lo = read_uint(r, u->addr_size);
			hi = read_uint(r, u->addr_size);
			break;
		case DW_RLE_start_length:
			lo = read_uint(r, u->addr_size);
			hi = lo + read_uleb(r);
			break;
		default: /* DW_RLE_end_of_list, and what nobody knows */
			return 0;
		}
		if (!r->bad)
			err = code_range_add(w, lo, hi);
	}
	return err;
}

int code_ranges_read(struct code_walker *w, const struct unit *u, uint64_t value, bool is_index)
{
	struct bytes b = u->version >= 5 ? w->sections->rnglists : w->sections->ranges;
	struct reader r;

	if (is_index) {
		/* The table of offsets follows the base, and its entries count from there. */
		if (value > b.size)
			return 0;
		r = reader_at(b, u->rnglists_base + value * u->offset_size, u->offset_size);
		value = u->rnglists_base + read_uint(&r, u->offset_size);
		if (r.bad)
			return 0;
	}
	if (u->version < 5)
		value += u->ranges_base;
	if (value >= b.size)
		return 0;
	r = reader_at(b, value, b.size - value);
	return u->version >= 5 ? read_new(w, u, &r) : read_old(w, u, &r);
}
