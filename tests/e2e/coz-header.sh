#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with Coz's markers in their source, built with Coz's own coz.h and with ours. Their
# points are found without options and count as many visits as the program itself does. Coz's
# counters are read once a sample. So visits of the last millisecond or two may be missing, and
# those before the program's first counter was known: some 10 of 7,000. One in a hundred is
# tolerated. Code without optimisation makes 700 units on an Intel Xeon, 7,000 with. A busy machine
# makes half of that or less in the same CPU time; then units take several milliseconds, so the same
# time at start and end is that of two units at most, and three are tolerated. Probes of our markers
# count all visits.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=$(line_of coz WORK)
lab=(-v --no-tui --experiment-length 100ms --fixed-speedup "0,50" --fixed-line "$line" \
	-o "$dir/p.coz")

# build COMPILER DIRECTORY OF coz.h [FLAGS...]: builds $dir/coz
build() {
	local compiler=$1 header=$2
	shift 2
	"$compiler" -g -fno-omit-frame-pointer -I"$header" "$@" \
		-o "$dir/coz" "$root/tests/e2e/fixtures/coz.c" -lpthread ||
		bad "it builds with $compiler $*"
}

# counted WHAT PERCENT: all units that the program has told, except for that many percent or three,
# were counted as visits to each of both points, and no more.
counted() {
	local units name visits
	units=$(awk '$2 == "units" { n += $1 } END { print n + 0 }' "$dir/out")
	for name in unit '[^ ]*coz.c:[0-9]+'; do
		visits=$(sed -nE "s/^cozbpf: progress point '$name': ([0-9]+) visits in all$/\1/p" \
			"$dir/err")
		check "$1: $visits visits of $units" python3 -c "import sys
v = int('0$visits')
sys.exit(not ($units > 100 and $units - max(3, $units * $2 / 100) <= v <= $units))"
	done
	says 'coz\.c:[0-9]+'
	rm -f "$dir/p.coz"
}

mkdir "$dir/coz-own"
cp /usr/include/coz.h "$dir/coz-own/" 2>/dev/null || skip "needs Coz's header: coz-profiler"

echo "-- Coz's own header"
compilers=("gcc -O2" "clang -O0" "g++ -x c++ -O2")
! brief || compilers=("clang -O0")
for compiler in "${compilers[@]}"; do
	# shellcheck disable=SC2086 # a command and its options
	build ${compiler%% *} "$dir/coz-own" ${compiler#* }
	run 0 "$tool" "${lab[@]}" -- "$dir/coz" 2500
	says "progress points as the program's places for Coz are reached" \
		"progress point 'unit' in process [0-9]+ by Coz's coz.h"
	prints '^counted$'
	counted "$compiler" 1
done

echo "-- points of the user's own: the program's places are given no counters to raise"
run 0 env COZBPF_COUNTERS=1 "$tool" "${lab[@]}" -P "work=sampled:$line" -- "$dir/coz" 1000
prints '^not counted$'
rm -f "$dir/p.coz"

echo "-- more places than there is room for, with names that differ at their ends only"
run 0 "$tool" "${lab[@]}" -- "$dir/coz" 1000 many
says "x/file.c:0': 10 visits in all" "x/file.c:30': 10 visits in all" \
	"'x+/file.c:64' in process [0-9]+ are not counted: there is room for 64 places" \
	"'x+/file.c:69' in process [0-9]+ are not counted"
rm -f "$dir/p.coz"

echo "-- two processes, and several runs"
build gcc "$dir/coz-own" -O1
run 0 "$tool" "${lab[@]}" -n 3 -- "$dir/coz" 1000 fork
counted "forked" 1

echo "-- our header"
build gcc "$root/include" -O2
run 0 "$tool" "${lab[@]}" -- "$dir/coz" 2500
says "progress point 'unit' by coz.h at 1 place of '.*/coz'"
counted "ours" 0

echo "-- Coz's own header, in a running program and in a static one: places found in the code"
# -O0 and -O1 keep the branch of each visit. Visits before and after the attachment do not count.
kinds=(-O0 "-O1 -no-pie")
! brief || kinds=("-O1 -no-pie")
for flags in "${kinds[@]}"; do
	# shellcheck disable=SC2086 # options
	build gcc "$dir/coz-own" $flags
	: >"$dir/units"
	"$dir/coz" $((4000 * slowness)) >"$dir/units" &
	started+=($!)
	run 0 "$tool" "${lab[@]}" -d $((2 * slowness))s -p $!
	says "progress point 'unit' by coz.h at 1 place"
	check "attached, $flags: the other place has as many in each experiment" same_visits unit \
		"$root/tests/e2e/fixtures/coz.c:$(grep -n 'COZ_PROGRESS;' tests/e2e/fixtures/coz.c |
		cut -d: -f1)"
	wait_for 20 test -s "$dir/units"
	rm -f "$dir/p.coz"
done
build gcc "$dir/coz-own" -O1 -static
run 0 "$tool" "${lab[@]}" -- "$dir/coz" 2500
counted "static" 0.1

echo "-- places that are never reached"
run 4 "$tool" "${lab[@]}" -- "$dir/coz" 0
finish
