#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs all fuzzers, as many at a time as there are CPUs, for SECONDS in all. Each begins with
# tests/fuzz/corpus, with the seeds that a compiler has made, and with what earlier runs have found.
# Findings and corpus stay beside the fuzzer.
# usage: scripts/fuzz.sh SECONDS FUZZER...   (make fuzz)
set -euo pipefail
seconds=$1
shift
jobs=$(nproc)
[ "$jobs" -le $# ] || jobs=$#
each=$((seconds * jobs / $#))
[ "$each" -gt 0 ] || each=1
export each

fuzz() { # FUZZER
	local name=${1##*fuzz_} corpus=$1.corpus inputs
	local -a dirs=("$corpus")
	mkdir -p "$corpus"
	[ ! -d "tests/fuzz/corpus/$name" ] || dirs+=("tests/fuzz/corpus/$name")
	[ ! -d "${1%/*}/seeds/$name" ] || dirs+=("${1%/*}/seeds/$name")
	if "$1" -max_total_time="$each" -timeout=1800 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$1-" "${dirs[@]}" >"$1.log" 2>&1; then
		inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$1.log")
		echo "ok   fuzz_$name: $inputs inputs in $each s"
	else
		echo "FAIL fuzz_$name:"
		tail -n 40 "$1.log"
		return 1
	fi
}
export -f fuzz
printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" bash -c 'fuzz "$1"' fuzz
