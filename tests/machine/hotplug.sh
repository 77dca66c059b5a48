#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A CPU goes offline and comes back: sampling goes on there, and the experiment meanwhile does not
# count. This takes a CPU from everybody on the machine, so it is apart from the other tests.
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || skip "CPU 1 cannot be taken offline here"
fixture speed

"$dir/speed" >"$dir/target" 2>&1 </dev/null &
target_pid=$!
started+=("$target_pid")
start "$tool" attach -q -o "$dir/p.coz" -P progress --fixed-line "$(line_of speed HOT)" \
	--fixed-speedup 0 --experiment-length 300ms -p "$target_pid"
# shellcheck disable=SC2317 # wait_for calls it
experiments() { # N
	[ "$(grep -cs '^experiment' "$dir/p.coz")" -ge "$1" ] 2>/dev/null
}
check "experiments are made" wait_for 20 experiments 2
echo 0 >$cpu || skip "CPU 1 cannot be taken offline here"
sleep 0.1
echo 1 >$cpu
taskset -a -p -c 1 "$target_pid" >/dev/null
n=$(grep -c '^experiment' "$dir/p.coz")
check "experiments are made again" wait_for 20 experiments $((n + 3))
kill -INT "$tool_pid"
ended 20 0 "profiling ends as it should"
check "the experiment meanwhile does not count" has "$dir/p.coz" '^runtime.*dropped=[1-9]'
# Two threads share the CPU, and one of them has the line.
samples=$(grep '^experiment' "$dir/p.coz" | tail -n 1 | sed 's/.*selected-samples=\([0-9]*\).*/\1/')
check "sampling goes on there: $samples samples" is "$samples" '>=' 50
kill -KILL "$target_pid"
finish
