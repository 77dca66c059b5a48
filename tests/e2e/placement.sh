#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that wait for a CPU beside one that the target has left idle: the time is counted and told
# (tests/unit/test_noise.c: intervals become wider). Two threads share a CPU, so one of them always
# waits: half of the CPU time wanted, less what other programs have of the other CPU. 0.15 is left
# where they have two thirds of it. A CPU that the target never leaves is never idle: exactly 0.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -ge 2 ] || skip "one CPU"
fixture placed

# placed WAY: profiles the fixture. The share is in $share, the report in $dir/out.
placed() {
	rm -f "$dir/p.coz"
	run 0 "$tool" run --no-tui -P progress --fixed-line "$(line_of placed COUNTED)" \
		--fixed-speedup 0,50 --experiment-length 100ms -o "$dir/p.coz" -- \
		"$dir/placed" "$1" 3000
	run 0 "$tool" report --json "$dir/p.coz"
	share=$(sed -nE 's/^.*"misplaced":[[:space:]]*([0-9.e-]+).*$/\1/p' "$dir/out")
	run 0 "$tool" report "$dir/p.coz"
}

placed idle
check "they wait beside an idle CPU: $share" is "$share" '>=' 0.15
prints 'warning: for [0-9]+ % of the CPU time that the program wanted threads waited '
placed busy
check "they do not where the CPU is busy: $share" [ "$share" = 0 ]
check "of that nothing is said" [ "$(grep -c 'threads waited' "$dir/out")" = 0 ]
finish
