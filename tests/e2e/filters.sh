#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Targets whose system calls are restricted live on: where a pause would kill a thread, attaching is
# refused with the reason, and doctor says the same.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture sandboxed
hot=$(line_of sandboxed LINE_A)
options=(-v --no-tui -P progress --fixed-line "$hot" --fixed-speedup 100
	--experiment-length 50ms -d 1s -o "$dir/profile.coz")

# The kernel prints a process's groups, in 5 kB here, before what it tells of signals and seccomp.
groups=$(seq -s , 1000 1999)
refused() { # WAY PATTERN
	echo "-- $1"
	begin setpriv --groups "$groups" "$dir/sandboxed" "$1"
	run 3 "${tool_in_front[@]}" doctor -p "$target_pid"
	prints "^missing +system calls +process $target_pid $2"
	run 3 "${tool_in_front[@]}" "${options[@]}" -p "$target_pid"
	says "process $target_pid $2" 'hint: '
	end
}

echo "-- all"
begin "$dir/sandboxed" all
run 0 "${tool_in_front[@]}" doctor -p "$target_pid"
prints '^ok +system calls +its seccomp filter allows what pauses need'
run 0 "${tool_in_front[@]}" "${options[@]}" -p "$target_pid"
paused
end
echo "-- mdwe"
begin "$dir/sandboxed" mdwe
run 0 "${tool_in_front[@]}" doctor -p "$target_pid"
run 0 "${tool_in_front[@]}" "${options[@]}" -p "$target_pid"
paused
end
refused sleep 'has a seccomp filter that forbids clock_nanosleep\(\)'
refused clock 'has a seccomp filter that forbids clock_gettime\(\)'
refused return 'has a seccomp filter that forbids rt_sigreturn\(\)'
refused one 'has a seccomp filter that forbids clock_nanosleep\(\)'
refused dispatch 'dispatches its system calls to itself'
refused strict "is in seccomp's strict mode"

# What comes while the target is profiled is noticed in the kernel, before a pause is asked for.
unpaused='could not be paused [0-9]+ times of [0-9]+: its system calls are restricted'
experiments() {
	grep -c '^experiment' "$dir/profile.coz"
}
# shellcheck disable=SC2317 # wait_for calls it
has_experiments() {
	[ "$(experiments)" -ge "$1" ]
}
# later WAY OUTPUT PATTERN: the target, whose output is there, is restricted when an experiment has
# been done. Profiling ends when the pattern has been said, and three experiments later: of three in
# a row one at least is no baseline.
later() {
	wait_for 20 has "$dir/profile.coz" '^experiment' || bad "an experiment is done"
	kill -USR1 "$target_pid"
	wait_for 20 has "$2" '^restricted' || bad "the target is restricted"
	wait_for 20 has "$dir/err" "$3"
	upto=$(($(experiments) + 4)) # the first of them has begun before
	wait_for 20 has_experiments "$upto" || bad "experiments go on"
}
ways=(sleep dispatch all) turns=(1 2 3 4)
! brief || ways=(dispatch all) turns=(1 2)
for way in "${ways[@]}"; do
	echo "-- $way, later"
	said='attached to 1 process'
	[ "$way" != sleep ] ||
		said='warning: process [0-9]+ has a seccomp filter .* clock_nanosleep'
	[ "$way" != all ] || said='process [0-9]+: its seccomp filters let pauses be'
	rm -f "$dir/profile.coz"
	begin "$dir/sandboxed" "$way" later
	start "${tool_in_front[@]}" "${options[@]}" -d 60s -p "$target_pid"
	later "$way" "$dir/target" "$said"
	kill -INT "$tool_pid"
	ended 20 0 "it ends when told to"
	says "$said"
	[ "$way" = all ] || says "warning: process $target_pid .* $unpaused"
	[ "$way" != all ] || paused
	end
done
echo "-- launched, and sleep later"
rm -f "$dir/profile.coz"
start "$tool" "${options[@]}" -d 60s -- "$dir/sandboxed" sleep later
wait_for 20 has "$dir/out" '^ready' || bad "the command starts"
target_pid=$(sed -n 's/^ready //p' "$dir/out")
later sleep "$dir/out" 'warning: process [0-9]+ has a seccomp filter .* clock_nanosleep'
kill -TERM "$target_pid"
ended 20 0 "it ends with the command"
says "warning: process $target_pid .* $unpaused"
check "the command lives to its end" [ "$(tail -n 1 "$dir/out")" = end ]
echo "-- restartable sequences: no increment is lost"
fixture restartable
begin "$dir/restartable"
for _ in "${turns[@]}"; do
	start "${tool_in_front[@]}" "${options[@]/#"$hot"/$(line_of restartable LINE_A)}" -d 60s \
		-p "$target_pid"
	wait_for 20 has "$dir/err" 'attached to 1 process' || bad "it attaches"
	kill -INT "$tool_pid"
	wait "$tool_pid"
done
end
lost=$(sed -n 's/^end lost \(.*\) of.*/\1/p' "$dir/target")
check "none was lost ($(tail -n 1 "$dir/target"))" [ "${lost:--1}" -eq 0 ]

echo "-- children that are forked while the handler is taken out"
fixture forker
# One program looks at all: they live for 4 s, and a busy machine takes longer for a program each.
# The pause signal 44 is bit 43 of the caught signals.
# Who is about to end (PF_EXITING) keeps what it has.
handlers() {
	local pids pid flags
	mapfile -t pids < <(cat /proc/[0-9]*/status 2>/dev/null |
		awk '/^Name:/ { ours = $2 == "forker" }
			/^Pid:/ { pid = $2 }
			/^SigCgt:/ && ours && substr($2, 6, 1) ~ /[89a-f]/ { print pid }')
	caught=0
	for pid in "${pids[@]}"; do
		flags=$(cut -d' ' -f9 "/proc/$pid/stat" 2>/dev/null) || continue
		[ $((flags & 4)) -ne 0 ] || caught=$((caught + 1))
	done
}
begin "$dir/forker"
# Nobody tells of children that are not followed.
follows=(--no-follow-children --follow-children)
! brief || follows=(--no-follow-children)
for follow in "${follows[@]}"; do
	rm -f "$dir/profile.coz"
	start "${tool_in_front[@]}" "${options[@]/#"$hot"/$(line_of forker LINE_A)}" "$follow" \
		-d 60s -p "$target_pid"
	wait_for 20 has "$dir/profile.coz" '^experiment' || bad "an experiment is done"
	sleep 0.5
	handlers
	check "$follow: $caught processes have the handler while profiled" \
		is "$caught" '>=' 1
	kill -INT "$tool_pid"
	wait "$tool_pid"
	kill -STOP "$target_pid"
	handlers
	kill -CONT "$target_pid"
	check "$caught processes have the handler afterwards" is "$caught" == 0
	# A kernel that takes long to remove probes lets nobody fork meanwhile.
	taken=$(grep -c 'pause handler taken out' "$dir/err")
	check "it was taken out of $taken" is "$taken" '>=' 5
done
end
finish
