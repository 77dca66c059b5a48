#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lines of user/ that tests have executed: per file, least covered first, per folder, and the sum.
# usage: scripts/coverage.sh DIR [FOLDER=PERCENT...] (make coverage)
# The exit status is 1 when a FOLDER has less than PERCENT of its lines covered.
set -euo pipefail
dir=$1
shift
find "$dir/asan" -name '*.gcno' -exec gcov -n {} + 2>/dev/null | awk -v floors="$*" '
	/^File / { file = substr($2, 2, length($2) - 2) }
	/^Lines executed:/ && file ~ /^user\/.*\.c$/ {
		split(substr($2, 10), percent, "%")
		printf "%6.1f %% of %4d  %s\n", percent[1], $4, file | "sort -n"
		split(file, part, "/")
		folder = part[1] "/" part[2]
		covered[folder] += percent[1] * $4 / 100; lines[folder] += $4
		covered["all"] += percent[1] * $4 / 100; lines["all"] += $4
	}
	/^Lines executed:/ { file = "" }
	END {
		close("sort -n")
		for (folder in lines)
			printf "%6.1f %% of %5d  %s\n", 100 * covered[folder] / lines[folder],
				lines[folder], folder | "sort -k 5"
		close("sort -k 5")
		n = split(floors, floor, " ")
		for (i = 1; i <= n; i++) {
			split(floor[i], pair, "=")
			if (100 * covered[pair[1]] < pair[2] * lines[pair[1]]) {
				printf "coverage: %s is below %s %%\n", pair[1], pair[2]
				failed = 1
			}
		}
		exit failed || !lines["all"]
	}'
