/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of a program at work: which functions are on how many of them. Whoever takes them hands
 * them over (run/point_watch.c). */
#ifndef COZBPF_STACKS_H
#define COZBPF_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/places/linemap.h"

/* One after the other, at most STACKS_MAX. Zeroed it is empty. */
struct stack_list {
	struct cozbpf_frame *frames;
	size_t n_frames, frames_room;
	size_t *ends; /* by stack: index of the frame behind its last one */
	size_t n, room;
};
#define STACKS_MAX 4096

/* Copies a stack. One that there is no room for is lost. */
void stacks_add(struct stack_list *l, const struct cozbpf_stack *stack);
void stacks_deinit(struct stack_list *l);

/* Whether a frame is in file number @file. */
bool stacks_have(const struct stack_list *l, uint32_t file);

/* A unit, and on how many stacks it is. */
struct on_stacks {
	uint32_t unit;
	size_t stacks;
	size_t last; /* private */
};

/*
 * Counts units of file number @file, whose ranges are the first object of @map. What is innermost
 * does the work itself, so that it may be called millions of times a second: it comes alone
 * (@innermost), or its callers without it. *@ret has map->n_lines elements, those on most stacks
 * first, and is the caller's to free. 0 or -ENOMEM.
 */
int stacks_count(const struct stack_list *l, uint32_t file, const struct line_map *map,
    bool innermost, struct on_stacks **ret);

#endif
