// SPDX-License-Identifier: BSD-3-Clause
/* See shorten.h. */
#include "core/blocks/shorten.h"

#include <string.h>

static double less(double a, double b)
{
	return a > b ? a - b : 0;
}

void block_figures_shorten(struct block_figures *f, double ns)
{
	uint32_t cells[BLOCK_CELLS] = {0};

	for (unsigned i = 0; i < BLOCK_CELLS; i++) {
		double middle = i + 1 < BLOCK_CELLS
				    ? ((double)block_cell_ns(i) + (double)block_cell_ns(i + 1)) / 2
				    : (double)block_cell_ns(i);

		cells[block_cell_of((uint64_t)less(middle, ns))] += f->cells[i];
	}
	memcpy(f->cells, cells, sizeof(cells));
	f->min_ns = less(f->min_ns, ns);
	f->max_ns = less(f->max_ns, ns);
	f->avg_ns = less(f->avg_ns, ns);
	f->wall_avg_ns = less(f->wall_avg_ns, ns);
}
