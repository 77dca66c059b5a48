// SPDX-License-Identifier: BSD-3-Clause
/* Profiles of a fleet, for tests/bench/merge.sh: merge DIRECTORY PROFILES EXPERIMENTS. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/fleet.h"

int main(int argc, char **argv)
{
	unsigned profiles = argc == 4 ? (unsigned)atoi(argv[2]) : 0,
		 experiments = argc == 4 ? (unsigned)atoi(argv[3]) : 0;

	if (!profiles || !experiments) {
		fprintf(stderr, "usage: merge DIRECTORY PROFILES EXPERIMENTS\n");
		return 2;
	}
	for (unsigned i = 0; i < profiles; i++) {
		char name[4096];
		FILE *out;

		snprintf(name, sizeof(name), "%s/profile-%05u.coz", argv[1], i);
		out = fopen(name, "we");
		if (out)
			fleet_write(out, i, experiments);
		if (!out || fclose(out)) {
			perror(name);
			return 1;
		}
	}
	return 0;
}
