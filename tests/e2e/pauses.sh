#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The modes of pausing that this kernel takes: each finds what a line gains, and no pause is lost.
# The best one is what all other scripts run in, so it is left out where there are others.
# LINE_A of abab.c has 6 of 10 ms, so ending it gains 0.6. No line can save the time that others
# take, hence 0.3 to 0.85, as in profile.sh. Mode `write` needs fentry or kprobes: where the kernel
# has neither it is refused, and tests/vm tries it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=abab.c:$(grep -n 'LINE_A \*/' "$root/tests/workloads/abab.c" | cut -d: -f1)
fixed=(-v --no-tui -P progress --fixed-line "$line" --fixed-speedup "0,100"
	--experiment-length $((200 * slowness))ms)

# count WHAT: of the only process, as -v tells
count() {
	sed -nE "s/.*[ ,]([0-9]+) (pauses )?$1([, ].*|\$)/\\1/p" "$dir/err" | head -n 1
}

# gains MODE: what was found
gains() {
	local asked begun gain
	says "^cozbpf: pauses: $1, "
	check "the profile tells" grep -q "^startup.*	pause=$1\$" "$dir/profile.coz"
	asked=$(count asked) begun=$(count begun)
	check "${asked:=0} pauses are asked for" is "$asked" '>=' 10
	# One may be on its way at the end; where the CPU was taken away, an ask is withdrawn.
	check "${begun:=0} begin" is "$begun" '>=' $((asked * 9 / 10))
	check "and no more" is "$begun" '<=' "$asked"
	gain=$("$tool" report --json "$dir/profile.coz" | python3 -c 'import json, sys
print([p for p in json.load(sys.stdin)["lines"][0]["points"]
	if p["line_speedup"] == 1][0]["program_speedup"])')
	at_speed "ending the line gains ${gain:=nothing} of 0.6" is "$gain" '>=' 0.3
	at_speed "and no more than 0.85" is "$gain" '<=' 0.85
}

# begin_abab: a process to attach to
begin_abab() {
	"${in_front[@]}" "$workloads/abab" --seconds $((120 * slowness)) >/dev/null &
	target_pid=$!
	started+=("$target_pid")
	wait_for 20 is_abab || bad "the target starts"
}

# shellcheck disable=SC2317 # called by wait_for
is_abab() {
	[ "$(readlink "/proc/$target_pid/exe")" = "$workloads/abab" ]
}

modes=()
for mode in value write quanta; do
	rm -f "$dir/profile.coz"
	"$tool" "${fixed[@]}" --pause=$mode -d 10ms -o "$dir/profile.coz" -- \
		"$workloads/abab" --seconds 0.1 >"$dir/out" 2>"$dir/err" </dev/null
	[ $? -ne 3 ] && modes+=("$mode") && continue
	says "error: this kernel does not take '--pause=$mode'" 'hint: leave it out'
done
best=${modes[0]}
[ ${#modes[@]} -eq 1 ] || modes=("${modes[@]:1}")
for mode in "${modes[@]}"; do
	echo "-- $mode: a command"
	rm -f "$dir/profile.coz"
	run 0 "${in_front[@]}" "$tool" "${fixed[@]}" --pause="$mode" -o "$dir/profile.coz" -- \
		"$workloads/abab" --seconds $((4 * slowness))
	gains "$mode"
	echo "-- $mode: a process that runs"
	rm -f "$dir/profile.coz"
	begin_abab
	run 0 "${in_front[@]}" "$tool" "${fixed[@]}" --pause="$mode" -d $((4 * slowness))s \
		-o "$dir/profile.coz" -p "$target_pid"
	gains "$mode"
	check "it lives" is_state "$target_pid" '[RS]'
	kill -KILL "$target_pid"
done

echo "-- a page that was left is used in another mode"
begin_abab
rm -f "$dir/profile.coz"
start "$tool" "${fixed[@]}" --pause=quanta -d 60s -o "$dir/profile.coz" -p "$target_pid"
wait_for 20 has "$dir/profile.coz" '^experiment' || bad "an experiment is done"
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
rm -f "$dir/profile.coz"
run 0 "${in_front[@]}" "$tool" "${fixed[@]}" --pause="$best" -d $((4 * slowness))s \
	-o "$dir/profile.coz" -p "$target_pid"
gains "$best"
kill -KILL "$target_pid"

echo "-- the environment of a command, which is too short for an answer"
run 4 "$tool" --no-tui --pause=quanta --end-to-end -o "$dir/profile.coz" -- env
prints '^COZBPF_QUANTUM=200000$'
finish
