/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer so far for others to collect, after each series (--metrics, --pprof). */
#ifndef COZBPF_PUBLISH_H
#define COZBPF_PUBLISH_H

struct runner;

/* Replaces the files. One that cannot be written is told of once. */
void publish(struct runner *r);

#endif
