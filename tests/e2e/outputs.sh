#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What becomes of the target and of the answer when nothing can be written: a closed pipe, a limit
# on the size of files, a full file system, a profile that another run is writing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
work=$workloads/abab
hot=abab.c:$(grep -n LINE_A tests/workloads/abab.c | cut -d: -f1)
short=(run --no-tui --experiment-length 20ms -P progress --fixed-line "$hot")
# A millisecond a visit: short experiments have many.
brisk=("$work" --threads 1 --a-us 600 --b-us 400)
full=$dir/full
mkdir "$full"
mount -t tmpfs -o size=4k none "$full" || bad "a small file system"
# shellcheck disable=SC2317 # the trap calls it
cleanup_full() {
	umount "$full" 2>/dev/null
	cleanup
}
trap cleanup_full EXIT

# whole FILE: the file ends with a whole record, and `report` reads it without a word of damage.
# Status 4: no verdict, since what fits into the file may have too few visits on a busy machine.
whole() {
	check "the file ends with a line" [ "$(tail -c 1 "$1" | wc -l)" -eq 1 ]
	"$tool" report --csv "$1" >"$dir/out" 2>"$dir/err"
	check "report reads it" grep -qx '[04]' <<<$?
	prints '^line,line_speedup,' 'abab\.c:[0-9]+,'
	says_not 'not understood|damaged|truncated'
}

echo "-- a full file system"
run 1 "$tool" "${short[@]}" -o "$full/profile.coz" -- "${brisk[@]}" --seconds 4
prints '^visits [0-9]+ seconds'
says 'abab\.c:[0-9]+' "^cozbpf: error: cannot write the profile '.*': No space left" \
	'^cozbpf: hint: make room'
experiments=$(grep -c '^experiment' "$full/profile.coz")
check "the file keeps experiments ($experiments)" is "$experiments" '>=' 3
cp "$full/profile.coz" "$dir/kept.coz"
whole "$dir/kept.coz"

echo "-- a limit on the size of files"
(
	ulimit -f 4
	exec "$tool" "${short[@]}" -o "$dir/limit.coz" -- "${brisk[@]}" --seconds 4
) >"$dir/out" 2>"$dir/err"
check "exit status 1" [ $? -eq 1 ]
prints '^visits [0-9]+ seconds'
says "^cozbpf: error: cannot write the profile '.*': File too large"
whole "$dir/limit.coz"

echo "-- the command has its own signals"
own=(sh -c "${brisk[*]} --seconds 1.5 >/dev/null; grep -E '^Sig(Blk|Ign):' /proc/self/status")
run 0 "${own[@]}"
cp "$dir/out" "$dir/alone"
run 0 "$tool" run -q --experiment-length 50ms -b "$work" -P "$work:progress" -o "$dir/own.coz" -- \
	"${own[@]}"
check "as without us" same "$dir/out" "$dir/alone"

echo "-- standard error is closed while attached"
start "${brisk[@]}" --seconds 60
target=$tool_pid
handlers() { # PID
	grep -E '^Sig(Cgt|Blk|Ign):' "/proc/$1/status"
}
# shellcheck disable=SC2317 # wait_for calls it
works() { # its main thread blocks signals while it makes the others
	has "/proc/$target/status" '^Threads:.2' && has "/proc/$target/status" '^SigBlk:.0+$'
}
wait_for 20 works || bad "the target has its threads"
before=$(handlers "$target")
mkfifo "$dir/fifo"
timeout 60 "$tool" "${short[@]}" -v -d 2s -o "$dir/pipe.coz" -p "$target" 2>"$dir/fifo" >/dev/null &
profiler=$!
head -n 1 "$dir/fifo" >/dev/null # and closes it
wait "$profiler"
rc=$?
check "the profiler ends by itself (status $rc)" [ "$rc" -lt 124 ]
check "the target lives" kill -0 "$target"
check "its signals are as before" [ "$(handlers "$target")" = "$before" ]
check "no page of ours is left" [ "$(grep -c cozbpf "/proc/$target/maps")" -eq 0 ]
check "the profile has experiments" is "$(grep -c '^experiment' "$dir/pipe.coz")" '>=' 3

echo "-- two runs into one profile"
timeout 90 "$tool" "${short[@]}" -q -d 60s -o "$dir/one.coz" -p "$target" >/dev/null 2>&1 &
profiler=$!
# shellcheck disable=SC2317 # wait_for calls it
some() { has "$dir/one.coz" "^experiment"; }
wait_for 20 some || bad "the first run is under way"
run 1 "$tool" "${short[@]}" -o "$dir/one.coz" -- "${brisk[@]}" --seconds 1
says "another cozbpf is writing the profile '.*one.coz'" '^cozbpf: hint: name another file with -o'
check "the command was not started" [ ! -s "$dir/out" ]
kill -INT "$profiler"
wait "$profiler"
check "there is one run in it" [ "$(grep -c '^startup' "$dir/one.coz")" -eq 1 ]
kill "$target"
finish
