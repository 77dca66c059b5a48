#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the machine does to a profile: other programs on its CPUs, and how long it takes until the
# answer is known (--until). No figure has a tolerance. A program on each CPU that never sleeps
# takes half of it from the thread there, or a third where both threads are on one CPU (a quarter to
# two thirds passes).
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
work=$workloads/abab
line=abab.c:$(grep -n LINE_A tests/workloads/abab.c | cut -d: -f1)
rate=$("$work" --calibrate)
# shellcheck disable=SC2054 # commas of lists
fixed=(--no-tui --experiment-length 50ms -P progress --fixed-line "$line" --fixed-speedup 0,50,100)

# profiled_s FILE: profiled seconds of the only run
profiled_s() {
	sed -n 's/^runtime\ttime=\([0-9]*\).*/\1/p' "$1" | awk '{ print $1 / 1e9 }'
}

echo "-- until the answer is known"
run 0 "$tool" "${fixed[@]}" --until 15pp -o "$dir/u.coz" -- "$work" --seconds 15 \
	--iters-per-ms "$rate"
says 'known to within 15pp' 'waiting for the command to end'
prints '^visits [0-9]+ seconds 1[45]'
check "it took $(profiled_s "$dir/u.coz") of 15 s" is "$(profiled_s "$dir/u.coz")" '<' 14
run 2 "$tool" --until soon -- true
says "'soon' is not a width"
run 2 "$tool" --until 0 -- true
run 2 "$tool" --until 3% -- true

echo "-- other programs"
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	started+=("$!")
	hogs+=("$!")
done
run 0 "$tool" "${fixed[@]}" -o "$dir/b.coz" -- "$work" --seconds 3 --iters-per-ms "$rate"
says 'warning: other programs had (2[5-9]|[345][0-9]|6[0-6]) % of the CPU time'
run 0 "$tool" report --json "$dir/b.coz"
prints '"outsiders":.0\.(2[5-9]|[345][0-9]|6[0-6])'
kill "${hogs[@]}"

finish
