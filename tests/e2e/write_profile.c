// SPDX-License-Identifier: BSD-3-Clause
/* For viewer.sh: writes a profile with the tool's own writer, reads it back and prints what the
 * tool makes of it as JSON. usage: write_profile FILE [own-keys] */
#include <stdbool.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "report/report.h"

#define SPEEDUPS 6

/* Two lines, two points, six speedups and a baseline of three experiments each; all counts differ.
 * A baseline says that it sampled no line but its own, so it serves no other: the viewer does not
 * share baselines. */
static int write_profile(FILE *out, bool own_keys)
{
	static char *names[] = {"requests done", "src/main.c:12"};
	struct run_record run = {.startup_time_ns = 1427398799607767367, .runtime_ns = 30000000000};
	struct samples_record samples[2] = {{.location = "src/a.c:10", .count = 1234},
	    {.location = "/usr/src/dir with blank/b.cpp:2", .count = 99}};
	int ret = 0;

	if (own_keys) {
		run.free_ns = 20000000000;
		run.samples = 5000;
		run.fixed_speedups = SPEEDUPS;
		samples[0].free = 800;
		for (uint32_t i = 0; i < 2; i++) {
			samples[i].has_free = true;
			samples[i].id = 1 + i;
		}
	}
	ret |= profile_write_startup(out, &run);
	for (uint64_t i = 0; i < 2 * 3 * (SPEEDUPS + 1); i++) {
		uint64_t cell = i / 6;
		struct point_record points[2] = {
		    {.name = names[0], .delta = 100 + i}, {.name = names[1], .delta = 50 + 3 * i}};
		struct baseline_line line = {.id = i % 2 ? 1 : 2, .opening = 5 + i, .observed = 50};
		struct experiment_record x = {
		    .selected = i % 2 ? "src/a.c:10" : "/usr/src/dir with blank/b.cpp:2",
		    .speedup = (double)cell * 0.15,
		    .duration_ns = 500000000 - cell * 40000000 + i * 1000,
		    .selected_samples = 60 + i,
		    .points = points,
		    .n_points = 2};

		if (own_keys) {
			x.elapsed_ns = 500000000;
			x.start_ns = 1 + i * 510000000;
			x.observed_ns = 499000000;
			x.lines = &line;
			x.n_lines = !cell;
			for (int j = 0; j < 2; j++) {
				points[j].bursts = points[j].delta;
				points[j].span_delta = points[j].delta - 1;
				points[j].span_ns = x.duration_ns - 777;
			}
		}
		ret |= profile_write_experiment(out, &x);
	}
	for (int i = 0; i < 2; i++)
		ret |= profile_write_samples(out, &samples[i]);
	return ret | profile_write_runtime(out, &run);
}

int main(int argc, char **argv)
{
	struct estimate_options options = {.seed = 1};
	struct estimate estimate;
	struct profile profile;
	struct error e;
	FILE *file;

	if (argc < 2)
		return EXIT_USAGE;
	file = fopen(argv[1], "w");
	if (!file || write_profile(file, argc > 2) || fclose(file))
		return EXIT_OTHER;
	file = fopen(argv[1], "r");
	profile_init(&profile);
	if (!file || profile_read(&profile, file, argv[1], &e) || profile.n_skipped ||
	    estimate_profile(&profile, &options, &estimate))
		return EXIT_OTHER;
	fclose(file);
	report_json(stdout, &estimate);
	estimate_deinit(&estimate);
	profile_deinit(&profile);
	return 0;
}
