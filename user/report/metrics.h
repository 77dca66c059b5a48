/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer so far as Prometheus' text format 0.0.4, for the textfile collector of its node
 * exporter: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
#ifndef COZBPF_METRICS_H
#define COZBPF_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "core/estimate/estimate.h"

/* Units with a verdict that are told of: of a progress point the first in rank order, and of all.
 * Each is six samples. */
#define METRICS_OF_POINT 20
#define METRICS_UNITS 100
/* A longer name is left out, for a cut one may be that of another unit, too. */
#define METRICS_NAME 1024

/* How `--duty` goes. Strings are borrowed. */
struct metrics_facts {
	const char *target, *profile; /* name of the program, and of the file: they tell apart */
	double started_s;             /* realtime */
	uint64_t series, refusals, experiments;
	double series_s; /* how long all series took */
};

/* @e NULL: there is no answer yet. 0, or -1 when the stream has failed. */
int report_metrics(FILE *out, const struct metrics_facts *f, const struct estimate *e);

#endif
