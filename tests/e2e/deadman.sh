#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# cozbpf is stopped (Ctrl-Z, a file system that hangs) while it holds a process back: the process
# goes on at its own speed, and profiling goes on when cozbpf does. Speeds are those of kill9.sh.
# Pauses leave a twentieth of the speed; other programs, on the other hyperthread, leave half or
# double it. So slow is below 35 % of an unprofiled run before, and fast is a median of what came
# since cozbpf was stopped.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture speed

"$dir/speed" >"$dir/target" 2>&1 </dev/null &
target_pid=$!
started+=("$target_pid")
rates() {
	grep -c '^rate' "$dir/target"
}
# shellcheck disable=SC2317 # wait_for calls them
has_rates() {
	[ "$(rates)" -ge "$1" ]
}
# shellcheck disable=SC2317
is_slow() { # the last two
	is "$(grep '^rate' "$dir/target" | tail -n 2 | cut -d' ' -f2 | sort -n | tail -n 1)" \
		'<' "$(echo "$reference" | awk '{ print $1 * 0.35 }')"
}
# shellcheck disable=SC2317
is_fast() { # the median of the last ten, all of them after the stop
	local median
	median=$(grep '^rate' "$dir/target" | tail -n 10 | cut -d' ' -f2 | sort -n | sed -n 5p)
	has_rates $((before + 10)) &&
		is "$median" '>=' "$(echo "$reference" | awk '{ print $1 * 0.35 }')"
}
wait_for 30 has_rates 12
reference=$(grep '^rate' "$dir/target" | cut -d' ' -f2 | sort -n | sed -n 6p)
check "an unprofiled run: $reference turns per millisecond" is "$reference" '>' 0

start "${in_front[@]}" "$tool" attach -q -o "$dir/p.coz" -P progress \
	--fixed-line "$(line_of speed HOT)" --fixed-speedup 100 \
	--experiment-length 2s -p "$target_pid"
check "the process is slowed down" wait_for 60 is_slow
kill -STOP "$tool_pid"
before=$(rates)
wait_for 10 has_rates $((before + 2))
check "cozbpf has stopped, and nobody ends the experiment" is_slow
check "the process goes on at its own speed" wait_for 10 is_fast
experiments=$(grep -c '^experiment' "$dir/p.coz")
kill -CONT "$tool_pid"
# shellcheck disable=SC2317
more() {
	[ "$(grep -c '^experiment' "$dir/p.coz")" -ge $((experiments + 2)) ]
}
check "cozbpf goes on, and makes experiments" wait_for 30 more
kill -INT "$tool_pid"
ended 20 0 "profiling ends as it should"
check "the experiment meanwhile does not count" has "$dir/p.coz" '^runtime.*dropped=[1-9]'
kill -KILL "$target_pid"
finish
