/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loop carries from room to room; user/run/tell.c. Times are CLOCK_MONOTONIC ns. */
#ifndef COZBPF_RUN_TELL_H
#define COZBPF_RUN_TELL_H

#include <stdbool.h>
#include <stdint.h>

struct runner;

/* Every few seconds, between experiments: the leader, and where experiments are wanted. */
void run_look(struct runner *r, uint64_t now);
/* Whether --until has come true. Looks every few seconds, and only at new experiments. */
bool run_settled(struct runner *r, uint64_t now);

void run_open_view(struct runner *r);
/* A picture or a progress line, unless something is due at @due. */
void run_show(struct runner *r, uint64_t now, uint64_t due);

#endif
