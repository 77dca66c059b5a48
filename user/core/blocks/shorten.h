/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a block that seem longer or shorter than they are. */
#ifndef COZBPF_BLOCK_SHORTEN_H
#define COZBPF_BLOCK_SHORTEN_H

#include "core/blocks/blocklog.h"

/* Takes @ns from each execution; below 0: adds to each. No time becomes less than 0. */
void block_figures_shorten(struct block_figures *f, double ns);

#endif
