#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that wait for a CPU beside one that the target has left idle: the time is counted and told
# (tests/unit/test_noise.c: intervals become wider). Two threads share a CPU, so one of them always
# waits: a third of the CPU time wanted and more on a quiet machine. An outsider on the other CPU
# ends what is counted until the target has had that CPU again, 2 ms later. So a tenth of the third
# is enough, and nothing where others leave that CPU idle for less than half of the time. A CPU that
# the target does not leave is not idle, but for a moment at the beginning and the end.
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

# idle_ticks: those of CPU 1, hundredths of a second.
idle_ticks() {
	awk '$1 == "cpu1" { print $5 + $6 }' /proc/stat
}

idle=$(idle_ticks) start=$SECONDS
placed idle
idle=$(($(idle_ticks) - idle))
if [ $((2 * idle)) -ge $((100 * (SECONDS - start))) ]; then
	check "they wait beside an idle CPU: $share" is "$share" '>=' 0.03
	prints 'warning: for [0-9]+ % of the CPU time that the program wanted threads waited '
else
	ok "other programs have that CPU"
fi
placed busy
check "they do not where the CPU is busy: $share" is "$share" '<' 0.003
check "of that nothing is said" [ "$(grep -c 'threads waited' "$dir/out")" = 0 ]
finish
