/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling events: one software clock event per CPU, staggered, with a period off the multiples
 * of the scheduler's tick. */
#ifndef COZBPF_SAMPLING_H
#define COZBPF_SAMPLING_H

#include <stdint.h>

#include "core/text/errors.h"

struct bpf_program;
struct sampling;

#define SAMPLING_PERIOD_NS 330000 /* what is wanted where nothing speaks against it */
#define SAMPLING_RATE_HINT "sudo sysctl kernel.perf_event_max_sample_rate=100000"

/* The shortest period that the kernel lets through, by kernel.perf_event_max_sample_rate: of more
 * samples it drops all until its next tick, without a word. 0: not known. */
uint64_t sampling_shortest_period(void);
/* Starts an event on every online CPU, which runs @prog. @period_ns is what the user asked; the
 * real period differs by a little over 1 %. */
int sampling_start(
    struct bpf_program *prog, uint64_t period_ns, struct sampling **ret, struct error *e);
/* The real period. */
uint64_t sampling_period(const struct sampling *s);
/* Samples from now on at another period, which the user might as well have asked. */
void sampling_begin_anew(struct sampling *s, uint64_t period_ns);
/* Changes the period of all events to @factor times the original one. */
void sampling_set_period(struct sampling *s, double factor);
/* Starts anew on CPUs that were offline meanwhile, and on those that have come. Returns how many
 * CPUs were lost or won since the last call, or are online and cannot be sampled, which sets @e. */
int sampling_revive(struct sampling *s, struct error *e);
/* Takes no samples for a while; goes on, staggered as at the start. */
void sampling_rest(struct sampling *s);
void sampling_go_on(struct sampling *s);
void sampling_stop(struct sampling *s); /* accepts NULL */

#endif
