/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks of waits of a profile, over all runs, and who ended waits: what the texts of
 * wait_fields.h are about, by name. */
#ifndef COZBPF_WAIT_STACKS_H
#define COZBPF_WAIT_STACKS_H

#include "core/profile/profile.h"
#include "core/profile/wait_fields.h"
#include "core/text/names.h"

/* Samples records by what their runs call them. */
struct line_ids {
	const struct samples_record **records;
	size_t n;
};
/* 0 or -ENOMEM. */
int line_ids_init(struct line_ids *ids, const struct profile *p);
/* NULL: a run has no line of that id. */
const struct samples_record *line_ids_find(const struct line_ids *ids, uint32_t run, uint32_t id);
void line_ids_deinit(struct line_ids *ids);

/* How often a unit of waits was sampled on a stack. */
struct unit_stack {
	const char *unit;                     /* borrowed from the profile */
	const struct samples_record **frames; /* the innermost caller first; borrowed */
	size_t n;                             /* above 0 */
	uint64_t count;
	uint64_t cpu_ns; /* the sampling periods that they stand for */
};

struct unit_stacks {
	struct unit_stack *stacks; /* by unit */
	size_t n;
	/* private */
	size_t room, n_frames, frames_room;
	const struct samples_record **frames;
	struct names keys;
};

/* @functions: callers are told apart by function, where that is known, else by line. 0 or -ENOMEM;
 * unit_stacks_deinit() is to be called in both cases. */
int unit_stacks_init(struct unit_stacks *s, const struct profile *p, bool functions);
/* The first stack of a unit, and how many follow it, itself included. */
const struct unit_stack *unit_stacks_find(
    const struct unit_stacks *s, const char *unit, size_t *ret_n);
void unit_stacks_deinit(struct unit_stacks *s);

/* What a frame is called: the function that holds the line, if @functions and that is known. */
const char *frame_name(const struct samples_record *frame, bool functions);

/* *@to and @more, at most UINT64_MAX: profiles are other people's. */
void add_capped(uint64_t *to, uint64_t more);
/* The same with @samples times the period. */
void add_periods(uint64_t *cpu_ns, uint64_t samples, uint64_t period_ns);

#endif
