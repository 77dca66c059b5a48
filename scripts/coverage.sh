#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lines of user/ that the unit tests have executed: per file, least covered first, and the sum.
# usage: scripts/coverage.sh DIR (make coverage)
set -euo pipefail
find "$1/asan" -name '*.gcda' -exec gcov -n {} + 2>/dev/null | awk '
	/^File / { file = substr($2, 2, length($2) - 2) }
	/^Lines executed:/ && file ~ /^user\/.*\.c$/ {
		split(substr($2, 10), percent, "%")
		printf "%6.1f %% of %4d  %s\n", percent[1], $4, file | "sort -n"
		covered += percent[1] * $4 / 100; lines += $4
	}
	/^Lines executed:/ { file = "" }
	END {
		close("sort -n")
		if (lines) printf "%6.1f %% of %4d  all\n", 100 * covered / lines, lines
		exit !lines
	}'
