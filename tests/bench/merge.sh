#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Merges 10,000 simulated profiles of 1,000 experiments (or what the arguments say), and reports the
# result. Fails above a minute, 1 GB, or 2 s for the report, and where a slope is not the true one.
# usage: merge.sh [PROFILES] [EXPERIMENTS]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build} profiles=${1:-10000} experiments=${2:-1000}
dir=$(mktemp -d -p "${TMPDIR:-/var/tmp}") # 3 GB: not every /tmp has room for that
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/in"
"$build/tests/bench/merge" "$dir/in" "$profiles" "$experiments"
failed=0

# timed NAME SECONDS MEGABYTES COMMAND...: says what it took, and whether that was too much.
timed() {
	local name=$1 seconds=$2 megabytes=$3 took
	shift 3
	took=$( { /usr/bin/time -f '%e %M %U' "$@" >"$dir/out"; } 2>&1 | tail -1)
	awk -v name="$name" -v s="$seconds" -v mb="$megabytes" '{
		printf "%-24s %6.1f s (CPU %.1f s), at most %g; %5.0f MB, at most %g\n",
			name, $1, $3, s, $2 / 1024, mb
		exit $1 > s || $2 / 1024 > mb
	}' <<<"$took" || failed=1
}

du -sm "$dir/in" | awk -v n="$profiles" '{ print n, "profiles,", $1, "MB" }'
timed merge 60 1024 "$build/cozbpf" merge -o "$dir/all.coz" "$dir/in"
cat "$dir/out"
timed 'report of the merged' 2 1024 "$build/cozbpf" report --json "$dir/all.coz"
cp "$dir/out" "$dir/all.json"
timed 'report of the profiles' 60 1024 "$build/cozbpf" report --json "$dir/in"
cmp "$dir/out" "$dir/all.json" || failed=1
# The slopes are known: k / 20 of line 100 + k up to 5. The true one is in the interval.
jq -r '.lines[] | "\(.line) \(.slope) \(.slope_ci[0]) \(.slope_ci[1])"' "$dir/all.json" | sort |
	awk '{
		k = substr($1, index($1, ":") + 1) - 100
		truth = k < 6 ? k / 20 : 0
		printf "%s: %.4f (%.4f to %.4f), true %.2f\n", $1, $2, $3, $4, truth
		bad += truth < $3 || truth > $4
	}
	END { exit NR != 12 || bad > 2 }' || failed=1
exit "$failed"
