#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# CPU quotas of control groups: of a launched program, and of an attached one, whose group is not
# cozbpf's own. A quota of half a CPU holds two busy threads back for three quarters of the time,
# and for less on a busy machine. One percent suffices for the warning, which must not exceed the
# possible time. Taken for other programs' time, what the quota takes would be 75 % of what the
# program wants. Others that want a quarter of the machine, as much as the program may have, take
# 50 % of it at most.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
work=$workloads/abab
line=abab.c:$(grep -n LINE_A tests/workloads/abab.c | cut -d: -f1)
rate=$("$work" --calibrate)
# shellcheck disable=SC2054 # commas of lists
fixed=(--no-tui --experiment-length 50ms -P progress --fixed-line "$line" --fixed-speedup 0,50,100)
group=/sys/fs/cgroup/cpu/cozbpf-test-$$
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	group=/sys/fs/cgroup/cozbpf-test-$$
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
fi

# quota US: allows the group US of each 100 ms, and makes the group if needed; -1: no limit
quota() {
	[ -d "$group" ] || mkdir "$group" 2>/dev/null || return 1
	if [ -e "$group/cpu.max" ]; then
		echo "$1 100000" | sed 's/^-1/max/' >"$group/cpu.max"
	else
		echo "$1" 2>/dev/null >"$group/cpu.cfs_quota_us"
	fi
}
remove() {
	wait_for 5 rmdir "$group" 2>/dev/null
}
# shellcheck disable=SC2016 # expanded by that shell
in_group=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
# The workload in the group, already held back; its number is in $target.
begin_held() {
	"${in_group[@]}" "$work" --seconds 60 --iters-per-ms "$rate" \
		>"$dir/target" 2>&1 </dev/null &
	target=$!
	started+=("$target")
	wait_for 20 is_work || bad "it starts"
	wait_for 20 grep -q 'nr_throttled [1-9]' "$group/cpu.stat" || bad "it is held back"
}
# shellcheck disable=SC2317 # by wait_for
is_work() {
	[ "/proc/$target/exe" -ef "$work" ]
}
end_held() {
	kill -KILL "$target"
	wait "$target" 2>/dev/null
}
# held_back SECONDS: the warning's figure is possible.
held_back() {
	local s
	s=$(sed -nE \
		"s/.*a CPU quota held the program's control group back for ([0-9.]+) s.*/\\1/p" \
		"$dir/err")
	check "held back for ${s:-no} s, CPUs added up" is "${s:-none}" '>=' \
		"$(awk "BEGIN { print $1 / 100 }")"
	check "no longer than it was profiled, on all CPUs" is "${s:-none}" '<=' \
		"$(awk "BEGIN { print $1 * 1.1 * $(nproc) }")"
}
quota 50000 || skip "no control group with a CPU quota can be made here"

echo "-- a launched program"
run 0 "${in_group[@]}" "$tool" "${fixed[@]}" -o "$dir/l.coz" -- "$work" --seconds 3 \
	--iters-per-ms "$rate"
says 'warning: a CPU quota held .*--sleep-pauses'
says_not 'other programs had ([6-9].|100) %' # what the quota takes is not theirs
held_back 3

echo "-- a program attached to"
begin_held
run 0 "$tool" "${fixed[@]}" -d 3s -o "$dir/a.coz" -p "$target"
says 'warning: a CPU quota held .*--sleep-pauses'
says_not 'other programs had ([6-9].|100) %' # what the quota takes is not theirs
held_back 3
run 0 "$tool" "${fixed[@]}" --sleep-pauses -d 2s -o "$dir/s.coz" --cgroup "$group"
says 'warning: a CPU quota held'
says_not 'sleep-pauses'
held_back 2

echo "-- a group without a quota beside one that has one"
"$work" --seconds 60 --iters-per-ms "$rate" >"$dir/other" 2>&1 </dev/null &
other=$!
started+=("$other")
run 0 "$tool" "${fixed[@]}" -d 2s -o "$dir/t.coz" -p "$other" -p "$target"
held_back 2
kill -KILL "$other"
wait "$other" 2>/dev/null

echo "-- it ends while it is profiled, and its group goes with it, as a container's does"
start "$tool" "${fixed[@]}" -v -o "$dir/e.coz" -p "$target"
# shellcheck disable=SC2317 # by wait_for
some() {
	is "$(grep -c '^experiment' "$dir/e.coz" 2>/dev/null)" '>=' 5
}
wait_for 20 some || bad "it experiments"
end_held
remove
ended 20 0 "cozbpf ends with it"
held_back "$(sed -n 's/^runtime\ttime=\([0-9]*\).*/\1/p' "$dir/e.coz" | awk '{ print $1 / 1e9 }')"

echo "-- a quota that is there no longer"
quota 50000
begin_held
quota -1
run 0 "$tool" "${fixed[@]}" -d 1s -o "$dir/n.coz" -p "$target"
says_not 'a CPU quota'
end_held
remove
finish
