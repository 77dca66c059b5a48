#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A race that a rare schedule brings about: a lock is held for 10 ms in place of 0.1 ms
# (tests/e2e/fixtures/race.c). How many runs does it take until that has happened, with --perturb
# and without? Are these runs named? Both kinds of runs take turns, since a machine's other work
# brings about such schedules as well. Needs root, and two CPUs that others leave alone.
# usage: race.sh [PCT [TURNS [ROUNDS [MARGIN_US]]]]
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
pct=${1:-50} turns=${2:-4} rounds=${3:-25} margin=${4:-700} runs=40
[ "$(nproc)" -ge 2 ] || skip "this needs two CPUs"
fixture race
cd "$dir" || exit 1

record() { # NAME [OPTIONS...]: so many more runs into NAME.log, what they print into NAME
	"${in_front[@]}" "$tool" blocks -q -n $runs -o "$1.log" "${@:2}" -- ./race "$rounds" \
		"$margin" >>"$1" 2>err </dev/null || bad "$1 runs"
}

# late NAME: "NUMBER ..." of the runs that held the lock long, from 1
late() {
	awk '$2 > 0 { print NR }' "$1"
}

# named NAME: the runs that the report calls slow for the blocks that hold the lock
named() {
	"$tool" blocks report --json --all --top 0 "$1.log" | python3 -c '
import json, re, sys
report, wanted, slow = json.load(sys.stdin), [int(n) for n in sys.argv[1:]], set()
for block in report["blocks"]:
    at = re.match(r"race\.c:(\d+)(?:-(\d+))?$", block["lines"] or "")
    if at and any(int(at[1]) <= n <= int(at[2] or at[1]) for n in wanted) and block["slow"]:
        slow |= set(block["slow"]["runs"])
print(*sorted(i + 1 for i in slow), sep="\n")' "$(line_of race LATE | cut -d: -f2)" \
		"$(line_of race TAKE | cut -d: -f2)"
}

for ((turn = 0; turn < turns; turn++)); do
	record plain --seed $((turn + 1))
	record perturbed --perturb "$pct" --seed $((turn + 1))
done
n=$((turns * runs))
for name in plain perturbed; do
	late $name >truth
	named $name >told
	wrong=$(sort told | comm -13 <(sort truth) - | wc -l)
	missed=$(sort told | comm -23 <(sort truth) - | wc -l)
	found=$(wc -l <truth)
	echo "$name: in $found of $n runs: $(paste -sd' ' truth)"
	echo "$name: named $(paste -sd' ' told): $missed missed, $wrong wrong"
	declare "$name=$found" "missed_$name=$missed" "wrong_$name=$wrong"
done
# shellcheck disable=SC2154 # declared above
check "it takes $(awk "BEGIN { print $n / ($perturbed + !$perturbed) }") runs on average, and \
$(awk "BEGIN { print $n / ($plain + !$plain) }") without delays" is "$perturbed" '>' "$plain"
# shellcheck disable=SC2154
check "nine of ten slow runs are named" is "$((10 * missed_perturbed))" '<=' "$perturbed"
# shellcheck disable=SC2154
check "one in twenty of the others is at most" is "$((20 * wrong_perturbed))" '<=' \
	"$((n - perturbed))"
finish
