#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --sync=uprobe: the calls of every process of the target are probed, also after a fork or an exec.
# Debts are paid, and the tool says what it cannot see and what that costs. Five million lock and
# unlock pairs a second cost three probes of a microsecond each: on any machine that share is far
# above the warning's 5 %. Ending LINE_A of mutex.c gains 0.75, and nothing if there are no edges
# and every debt is paid twice: 0.45 to 0.95.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture parent
fixture parent
rate=$("$workloads/mutex" --calibrate)
line=mutex.c:$(grep -n LINE_A tests/workloads/mutex.c | cut -d: -f1)

echo "-- edges from probed calls"
run 0 "${in_front[@]}" "$tool" -v --no-tui --sync=uprobe --experiment-length 100ms -P progress \
	--fixed-line "$line" --fixed-speedup 0,100 -o "$dir/m.coz" -- \
	"$workloads/mutex" --seconds 6 --iters-per-ms "$rate"
says '[0-9]+ calls of .*libc.* are probed' '[0-9]{3,} probes of calls were hit, at [0-9]+ ns each' \
	': 0 wake-ups by threads of the program'
says_not 'warning: [0-9]+ probes'
run 0 "$tool" report --json "$dir/m.coz"
last_gain='import json, sys
print(json.load(sys.stdin)["lines"][0]["points"][-1]["program_speedup"])'
gain=$(python3 -c "$last_gain" <"$dir/out")
check "ending the line gains $gain of 0.75" is "$gain" '>=' 0.45
check "and no more than 0.95" is "$gain" '<=' 0.95

echo "-- a static program, and another C library: the calls are found where they are"
for compiler in "gcc -static" musl-gcc "musl-gcc -static"; do
	# shellcheck disable=SC2086 # a command and its option
	$compiler -O1 -g -fno-omit-frame-pointer -Iinclude -Itests/workloads \
		-idirafter /usr/include -idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-o "$dir/mutex" \
		tests/workloads/mutex.c -lm || bad "it builds with $compiler"
	run 0 "${in_front[@]}" "$tool" -v --no-tui --sync=uprobe -P progress \
		--experiment-length 100ms --fixed-line "$line" --fixed-speedup "0,100" \
		-o "$dir/s.coz" -- "$dir/mutex" --seconds 6 --iters-per-ms "$rate"
	says '[0-9]+ calls of .* are probed' \
		'[0-9]{3,} probes of calls were hit, at [1-9][0-9]* ns each' \
		'[0-9]+ pauses asked, [1-9][0-9]* begun'
	gain=$("$tool" report --json "$dir/s.coz" | python3 -c "$last_gain")
	check "$compiler: ending the line gains $gain of 0.75" is "$gain" '>=' 0.45
	rm -f "$dir/s.coz"
done

echo "-- forked and exec'd processes"
run 0 "$tool" -v --no-tui --sync=uprobe -o "$dir/c.coz" -P progress -- "$workloads/procs" \
	--seconds 3
check "a process and its fork are probed" [ "$(grep -c 'are probed' "$dir/err")" -eq 2 ]
says_not 'not probed'
run 0 "$tool" -v --no-tui --sync=uprobe -o "$dir/c.coz" -d 3s -P progress -- "$dir/parent" self \
	"$workloads/mutex" --seconds 1
check "a program and the one that takes its place are probed" \
	[ "$(grep -c 'are probed' "$dir/err")" -eq 2 ]

echo "-- what it cannot do"
run 0 "$tool" --no-tui --sync=uprobe -o "$dir/l.coz" -P progress -- "$workloads/lockheavy" \
	--seconds 2
says 'warning: [0-9]+ probes of calls were hit, .*use --sync=wake'
run 0 "$tool" --no-tui --sync=uprobe -o "$dir/p.coz" -P progress -- "$workloads/cpubound" \
	--seconds 3
says 'warning: no probed call was ever made'
run 2 "$tool" --sync=ptrace -- true
says "there is no '--sync=ptrace'" '--sync=wake or --sync=uprobe'
finish
