#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Children and threads of every kind belong to the target: forked, exec'd, in pipelines,
# short-lived, without a main thread, left behind. Samples come each millisecond of CPU time, so
# work of 500 ms gives hundreds. The test asks for 100, and for half of a process's samples in its
# own lines.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture parent
fixture victim
as=static_victim fixture victim -static
fixture threads
as=mirror_a fixture mirror
as=mirror_b fixture mirror
profile=$dir/profile.coz
ms=$((1000 * slowness)) short=$((50 * slowness))ms

# profile_run STATUS OPTIONS... -- COMMAND...
profile_run() {
	local want=$1
	shift
	rm -f "$profile"
	run "$want" "$tool" run -v --no-tui -o "$profile" --experiment-length "$short" "$@"
}

samples_at() { # FILE TAG: how often that line was sampled
	sed -nE "s|^samples.location=.*/$(line_of "$1" "$2").count=([0-9]+).*|\1|p" "$profile" |
		awk '{ n += $1 } END { print n + 0 }'
}

sampled() { # FILE TAG
	local n
	n=$(samples_at "$1" "$2")
	check "line $2 of $1.c was sampled ($n times)" [ "$n" -ge 100 ]
}

in_scope() { # COMM: of its samples, half or more are in lines in scope
	local text
	text=$(sed -nE \
		"s/^cozbpf: process [0-9]+ \($1\): ([0-9]+) samples, ([0-9]+) in scope,.*/\1 \2/p" \
		"$dir/err" | sort -n | tail -n 1)
	check "process $1 is seen in its lines (${text% *} samples, ${text#* } in scope)" \
		awk -v t="$text" \
		'BEGIN { split(t, n, " "); exit !(n[1] >= 100 && n[2] * 2 >= n[1]) }'
}

action() { # SET PID: whether the pause signal is in that set of the process's status
	local set
	set=$(sed -n "s/^$1:\t//p" "/proc/$2/status")
	echo "$((0x${set:-ffffffffffffffff} >> 43 & 1))"
}

is_taken_out() { # PID
	check "what was injected is taken out" is "$(action SigCgt "$1")" == 0
}

# No event, and no thread. A pause that did not begin in time counts as lost, too: other programs
# may have had the CPU just then. That was one of 285 pauses here, beside programs with a third of
# the CPUs, and one in three storms. So 4 and 2 % of them may be late: 9 where one is to be
# expected, and more than 4 in 3 of 100,000 storms.
nothing_lost() {
	local lost asked late
	lost=$(sed -nE 's/^[0-9]+ experiments?,.* ([0-9]+) lost.*/\1/p' "$dir/err")
	read -r asked late < <(
		sed -nE 's/^.* ([0-9]+) pauses asked, ([0-9]+) begun$/\1 \2/p' "$dir/err" |
			awk '{ n += $1; late += $1 - $2 } END { print n + 0, late + 0 }')
	[ "$late" -le $((4 + asked / 50)) ] || late=0
	at_speed "$lost lost, all of them late pauses of $asked" is "$lost" '<=' "$late"
	# A warning of a point's cost, of other programs, or of periods that differ, may be right.
	at_speed "no warning" lacks "$dir/err" "warning: ([^'op]|o[^t]|p[^e])"
}

echo "-- fork"
profile_run 0 -P progress -- "$dir/parent" fork $ms
prints '^exited 0$'
sampled parent CHILD
nothing_lost
profile_run 0 -P progress --no-follow-children -- "$dir/parent" fork $ms
prints '^exited 0$'
sampled parent HOT
check "--no-follow-children: the child is not sampled" [ "$(samples_at parent CHILD)" -eq 0 ]

echo "-- exec"
profile_run 0 -P progress -b MAIN -b '%/victim' -- "$dir/parent" exec "$dir/victim" $ms
prints '^victim [0-9]+ alive' '^exited 0$'
sampled victim CHILD
sampled parent HOT
profile_run 0 -P progress -- "$dir/parent" exec "$dir/victim" $ms
check "without -b its lines are out of scope" [ "$(samples_at victim CHILD)" -eq 0 ]
# No preloaded library reaches a static program, and no injected handler one that another process
# traces: its handler comes later.
profile_run 0 -P progress --fixed-line "$(line_of parent HOT)" --fixed-speedup 100 -- \
	"$dir/parent" traced "$dir/static_victim" $((2 * ms))
says 'warning: process [0-9]+ is being traced by process [0-9]+ \(parent\)' \
	'process [0-9]+: pause handler injected'
paused '[0-9]+ \(static_victim\)'
prints '^victim [0-9]+ alive' '^exited 0$'
for way in self thread; do
	export MIRROR_MS=$ms MIRROR_END=7
	profile_run 7 -P progress -P "end=$dir/mirror_a:progress" -b MAIN -b '%/mirror_a' \
		-- "$dir/parent" $way "$dir/mirror_a"
	unset MIRROR_MS MIRROR_END
	sampled parent BEFORE
	sampled mirror HOT
	nothing_lost
done

echo "-- a pipeline"
export MIRROR_MS=$ms MIRROR_BYTES=100000
"$dir/mirror_a" 2>/dev/null | "$dir/mirror_b" 2>/dev/null | sha256sum >"$dir/plain.out"
profile_run 0 -P "a=$dir/mirror_a:progress" -P "b=$dir/mirror_b:progress" -b '%/mirror_a' \
	-b '%/mirror_b' -- \
	sh -c "$dir/mirror_a 2>/dev/null | $dir/mirror_b 2>/dev/null | sha256sum"
check "its output is the same" same "$dir/out" "$dir/plain.out"
in_scope mirror_a
in_scope mirror_b
printf '#!/bin/sh\n"%s" 2>/dev/null\nexit 9\n' "$dir/mirror_a" >"$dir/script"
chmod +x "$dir/script"
profile_run 9 -P "$dir/mirror_a:progress" -b '%/mirror_a' -- "$dir/script"
in_scope mirror_a
unset MIRROR_MS MIRROR_BYTES

echo "-- many"
profile_run 0 -P progress --fixed-line "$(line_of threads HOT)" --fixed-speedup 100 \
	-- "$dir/threads" 4000
prints '^threads 4000, '
sampled threads SHORT
# The C library blocks all signals while it makes or ends a thread, and these threads do little
# else. On a slow day that was 10 of 142 pauses, which is told.
sed -i '/its threads block the pause signal/d' "$dir/err"
nothing_lost
# The rule for whoever waits for the ends of its threads (JOIN_EXIT) has to know the main thread,
# which nobody in the target has made.
# shellcheck disable=SC2317 # called by wait_for
is_maker() { # PID: of threads that have ended, in any session's variables
	python3 - "$1" <<'END'
import json, subprocess, sys
def bpftool(*words):
    out = subprocess.run(["bpftool", "-j", "map", *words], capture_output=True, text=True).stdout
    return json.loads(out or "[]")
def makers(at):
    if isinstance(at, dict):
        if "maker" in at and "ended" in at:
            yield at["maker"]
        at = at.values()
    if not isinstance(at, (str, int)) and at is not None:
        for inner in at:
            yield from makers(inner)
sessions = [m["id"] for m in bpftool("show") if m.get("name") == "cozbpf_b.bss"]
sys.exit(not any(int(sys.argv[1]) in makers(bpftool("dump", "id", str(i))) for i in sessions))
END
}
start "$tool" run -q -P progress --fixed-line "$(line_of threads HOT)" --fixed-speedup 100 \
	-o "$profile" -- "$dir/threads" 10000000
wait_for 20 pgrep -P "$tool_pid" -x threads >/dev/null
command_pid=$(pgrep -P "$tool_pid" -x threads)
check "the command's main thread is known as a maker" wait_for 20 is_maker "$command_pid"
kill -TERM "$command_pid"
ended 20 143 "it ends with its command"
profile_run 0 -P progress -- "$dir/parent" storm 1000
prints '^storm 1000$'
nothing_lost
told=$(grep -cE '^cozbpf: process [0-9]+ \(parent\)' "$dir/err")
check "every child is told of" [ "$told" -eq 1001 ]

echo "-- a main thread that has ended"
profile_run 0 -P progress -b MAIN -- "$dir/victim" $((2 * ms)) pthread_exit
prints '^victim [0-9]+ alive'
in_scope victim

echo "-- a child left behind"
profile_run 0 -P progress -b MAIN -b '%/victim' --fixed-line "$(line_of parent BEFORE)" \
	--fixed-speedup 100 -- "$dir/parent" leave "$dir/victim" $((5 * ms))
check "cozbpf does not wait for it" is "$(grep -c alive "$dir/out")" == 0
check "it lives on to its end" wait_for 40 has "$dir/out" '^victim [0-9]+ alive'
profile_run 0 -P progress -b MAIN -b '%/static_victim' --fixed-line "$(line_of parent BEFORE)" \
	--fixed-speedup 100 -- "$dir/parent" leave "$dir/static_victim" $((20 * ms))
says 'process [0-9]+: pause handler injected' 'process [0-9]+: pause handler taken out; a thread'
left=$(pgrep -f "^$dir/static_victim ")
is_taken_out "$left"
kill "$left"
# Nobody has told of these. Of such that nobody can hold it is said once.
as=static_parent fixture parent -static
for way in left left-ignoring left-stuck; do
	profile_run 0 -P progress --no-follow-children --fixed-line "$(line_of parent BEFORE)" \
		--fixed-speedup 100 -- "$dir/static_parent" $way $((20 * ms))
	readarray -t those < <(pgrep -f "^$dir/static_parent $way")
	case $way in
	left) is_taken_out "${those[0]}" ;;
	left-ignoring)
		is_taken_out "${those[0]}"
		check "its own action stays" is "$(action SigIgn "${those[0]}")" == 1
		;;
	left-stuck)
		told=$(grep -c 'warning: process .* no thread' "$dir/err")
		check "it is told of once" [ "$told" -eq 1 ]
		is_taken_out "${those[1]}"
		check "the page is its parent's as well" \
			has "/proc/${those[0]}/maps" ' r-xp .* 0 *$'
		;;
	esac
	kill -KILL "${those[@]}"
done
# shellcheck disable=SC2317 # called by wait_for
has_child() {
	left=$(pgrep -nf "^$dir/static_parent left")
	[ -n "$left" ] && [ "$(ps -o ppid= -p "$left")" -ne "$tool_pid" ]
}
start "$tool" run -q --no-tui -o "$profile" -P progress -- "$dir/static_parent" left $((20 * ms))
wait_for 20 has_child || bad "it makes a child"
until gone "$tool_pid"; do kill -INT "$tool_pid" 2>/dev/null; done
is_taken_out "$left" # however often cozbpf is told to end
kill "$left"
finish
