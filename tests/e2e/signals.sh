#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals sent to cozbpf and keys pressed on its terminal reach the command, each once. A stop stops
# both. Pauses leave the program's calls and registers alone. Counts of signals are exact, and each
# wait is for an event that must come, with a limit. Three seconds of CPU time at 100 % hold
# hundreds of pauses; a badly disturbed run still reaches 50. Undelayed, an experiment of 500 ms
# ends after 625 ms at the latest: 900 ms are well above that and below the stop's second.
# At 100 % hardly any virtual time passes in such programs: an experiment may not end in their time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture signaled
fixture waits
fixture registers
cozbpf=("$tool" run -q -o "$dir/profile.coz" -P progress --fixed-line "$(line_of signaled HOT)" \
	--fixed-speedup 50 --experiment-length 20ms --)
experiments() {
	grep -c '^experiment' "$dir/profile.coz" 2>/dev/null
}
# shellcheck disable=SC2317 # wait_for calls it
some_experiments() {
	[ "$(experiments)" -gt "${1:-0}" ]
}

echo "-- signals sent to cozbpf"
others=(USR1 HUP TERM)
! brief || others=()
for signal in INT "${others[@]}"; do
	rm -f "$dir/profile.coz"
	start "${cozbpf[@]}" "$dir/signaled"
	wait_for 20 has "$dir/out" '^ready' || bad "the command starts"
	wait_for 20 some_experiments || bad "an experiment is done"
	kill -"$signal" "$tool_pid"
	check "SIG$signal reaches the command" wait_for 20 has "$dir/out" "^${signal,,} 1|^end"
	[ "$signal" = TERM ] || kill -TERM "$tool_pid"
	ended 20 0 "a command that handles SIGTERM and exits 0 gives 0"
	want="int 0 usr1 0 hup 0 term 1"
	[ "$signal" = TERM ] || want=${want/${signal,,} 0/${signal,,} 1}
	prints "^end $want\$"
done

other_signals() {
	rm -f "$dir/profile.coz"
	start env --default-signal=USR2 "${cozbpf[@]}" "$dir/signaled"
	wait_for 20 has "$dir/out" '^ready' || bad "the command starts"
	wait_for 20 some_experiments || bad "an experiment is done"
	kill -USR2 "$tool_pid"
	ended 20 $((128 + $(kill -l USR2))) "a signal that kills the command gives 128 + its number"

	echo "-- the keys of a terminal"
	front=(python3 "$root/tests/e2e/fixtures/terminal.py")
	run 0 "${front[@]}" c "${cozbpf[@]}" "$dir/signaled" $((3000 * slowness))
	prints 'int 1.?$' '^end int 1 usr1 0 hup 0 term 0' '^status 0'
	rm -f "$dir/profile.coz"
	run 0 "${front[@]}" zc "$tool" run -q -o "$dir/profile.coz" -P progress \
		--fixed-line "$(line_of signaled HOT)" --fixed-speedup 50 \
		--experiment-length 500ms -- "$dir/signaled" $((3500 * slowness))
	prints 'states T T.?$' '^continued.?$' '^end int 1 usr1 0 hup 0 term 0' '^status 0'
	longest=$(sed -n 's/^experiment.*elapsed=\([0-9]*\).*/\1/p' "$dir/profile.coz" | sort -n |
		tail -n 1)
	at_speed "no experiment holds the second of the stop (longest: ${longest:-none} ns)" \
		is "${longest:-none}" '<' 900000000
}
brief || other_signals

echo "-- a stop of the command alone"
rm -f "$dir/profile.coz"
start setsid "${cozbpf[@]}" "$dir/signaled"
wait_for 20 has "$dir/out" '^ready' || bad "the command starts"
wait_for 20 some_experiments || bad "an experiment is done"
command_pid=$(sed -n 's/^ready //p' "$dir/out")
# No shell is here to let cozbpf go on, so it does not stop as well.
for who in "$command_pid" "$tool_pid"; do
	kill -STOP "$command_pid"
	check "the command is stopped" wait_for 20 is_state "$command_pid" T
	! wait_for 1 is_state "$tool_pid" T || bad "cozbpf goes on"
	before=$(experiments)
	kill -CONT "$who"
	check "it goes on" wait_for 20 is_state "$command_pid" [RS]
	check "experiments go on" wait_for 20 some_experiments "$before"
done
kill -TERM "$tool_pid"
ended 20 0 "the run ends well"

interrupted_runs() {
	echo "-- no further run after an interrupt"
	rm -f "$dir/profile.coz"
	start "$tool" run -q -o "$dir/profile.coz" -P progress \
		--fixed-line "$(line_of signaled HOT)" --experiment-length 20ms -n 3 \
		-- "$dir/signaled"
	wait_for 20 has "$dir/out" '^ready' || bad "the command starts"
	wait_for 20 some_experiments || bad "an experiment is done"
	kill -TERM "$tool_pid"
	ended 20 0 "-n 3 ends with the first run"
	check "there is one run in the profile" [ "$(grep -c '^startup' "$dir/profile.coz")" -eq 1 ]
}
brief || interrupted_runs

# paused FIXTURE MILLISECONDS: runs it for that much CPU time, pauses all of its threads as much as
# possible, and checks that they were paused.
paused() {
	local name=$1 begun
	run 0 "$tool" run -v --no-tui -o "$dir/$name.coz" -P progress \
		--fixed-line "$(line_of "$name" HOT)" --fixed-speedup 100 --experiment-length 50ms \
		-- "$dir/$name" "$2"
	begun=$(sed -nE "s/.*\($name\): .* ([0-9]+) begun\$/\1/p" "$dir/err")
	check "its threads were paused (${begun:-0} times)" is "${begun:-0}" '>=' 50
}

echo "-- pauses and blocking calls"
paused waits $((3000 * slowness))
check "each kind of call has been waited in" \
	[ "$(grep -cE '^[a-z_]+: [1-9][0-9]+ waits, ' "$dir/out")" -eq 7 ]
check "none of them came back with EINTR" [ "$(grep -c ' 0 EINTR$' "$dir/out")" -eq 7 ]
cat "$dir/out"

echo "-- pauses and registers"
paused registers $((3000 * slowness))
prints '^[1-9][0-9]+ looks, 0 wrong$'
finish
