/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The overview of a progress point, pure: each unit's share of the samples against its gain, drawn
 * in cells. `report --overview` and the live view draw it by overview_draw(). The page has the same
 * picture in html/overview.js.
 *
 * The gain is the slope: the program speedup at a line speedup of 100 %, by regression. Both axes
 * are fractions, so a unit that alone holds the program up lies on gain = share, where a usual
 * profiler would guess all of them.
 */
#ifndef COZBPF_OVERVIEW_H
#define COZBPF_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"
#include "report/terminal.h"

#define OVERVIEW_WIDTH 30    /* columns, at least */
#define OVERVIEW_HEIGHT 9    /* rows, at least */
#define OVERVIEW_NUMBERED 99 /* units with a number in the picture; others have a mark */

struct overview_dot {
	const struct estimate_line *line; /* borrowed */
	size_t rank;    /* in the list of its progress point, from 1; 0: below its function */
	double share;   /* of all samples */
	bool is_ranked; /* has a verdict */
	bool is_placed; /* overview_places(); else it has only a share */
	/* Once drawn: its cell, counted from the box, or -1; the rank of the unit whose cell it
	 * would have had, or 0. */
	int column, row;
	size_t behind;
};

struct overview_scale {
	double lo, hi, step; /* step: between two ticks, which are its multiples */
};

struct overview {
	uint64_t samples; /* of the profile; 0: there is nothing to draw */
	struct overview_dot *dots;
	size_t n, n_placed;
	struct overview_scale share, gain; /* once drawn */
};

struct overview_box {
	int x, y, width, height;
	size_t selected; /* index of a dot; SIZE_MAX: none */
};

/* Returns 0 or -ENOMEM; overview_deinit() is to be called in both cases. */
int overview_init(struct overview *o, uint64_t samples, size_t room);
void overview_deinit(struct overview *o);
/* The caller adds at most as many as there is room for, best first. @rank: as in overview_dot. */
void overview_add(struct overview *o, const struct estimate_line *l, size_t rank);

/* Draws into the box, which is blank; a box that is too small stays so. Returns 0 or -ENOMEM. */
int overview_draw(struct overview *o, struct terminal_screen *ret, const struct overview_box *box);

/* Whether a unit has a place: a verdict, or an interval that is only too wide for one. */
bool overview_places(const struct estimate_line *l);

/* How a unit without a verdict is marked. */
const char *overview_hollow(bool unicode);

#endif
