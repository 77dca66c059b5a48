/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress points of a program that was built with Coz's own coz.h: the preloaded shim hands out
 * the counters that the program's places ask for, and samples look at them. */
#ifndef COZBPF_RUN_POINT_COUNTERS_H
#define COZBPF_RUN_POINT_COUNTERS_H

#include <stdbool.h>

#include <cozbpf/abi.h>

struct points;

/* Makes points as the program's places are reached. False: it has no such places. */
bool point_counters_watch(struct points *p);
void point_counters_on_event(struct points *p, const struct cozbpf_counter_event *c);

#endif
