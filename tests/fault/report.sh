#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One system call of `cozbpf report` goes wrong.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
{
	printf 'startup\ttime=1\n'
	for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
		printf 'experiment\tselected=/src/a.c:7\tspeedup=0.%s\t' $((i % 2 * 5))
		printf 'duration=%d\tselected-samples=50\n' \
			$(((1000000 - 200000 * (i % 2)) * (99 + i % 3)))
		printf 'throughput-point\tname=done\tdelta=100\n'
	done
	printf 'samples\tlocation=/src/a.c:7\tcount=4000\nruntime\ttime=3000000000\n'
} >"$dir/p.coz"
faults report --seconds 10 --profile "$dir/p.coz"
