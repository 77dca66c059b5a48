#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Attaches to an epoll server under load and leaves it, again and again: no request fails, no call
# answers EINTR, nothing grows. The counts are exact: one failure is one too many. `make soak` does
# so with servers from packages.
# usage: tests/bench/attach.sh [CYCLES]   (500 unless told; make bench-attach)
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
cycles=${1:-500}
fixture server
: >"$dir/server.out"
"$dir/server" serve 4 >"$dir/server.out" &
server=$!
started+=("$server")
wait_for 20 has "$dir/server.out" '^ready' || bad "the server starts"
port=$(awk '{ print $3 }' "$dir/server.out")
"$dir/server" load "$port" 8 >"$dir/load.out" &
load=$!
started+=("$load")
wait_for 20 has "$dir/load.out" '^ready' || bad "the load starts"

look() { # FILE
	{
		sed -E 's/^[^ ]+ (....) [^ ]+ [^ ]+ [^ ]+ */\1 /' "/proc/$server/maps" |
			grep -v '\[uprobes\]' | sort | uniq -c
		grep -hE '^(SigCgt|SigIgn|Threads)' "/proc/$server/status"
		grep -hE '^SigBlk' /proc/"$server"/task/*/status
		find "/proc/$server/fd" -type l | wc -l
	} >"$1"
}
look "$dir/before"
begun=0 failed_cycles=0
for ((i = 1; i <= cycles; i++)); do
	"$tool" -v --no-tui -P progress --fixed-line "$(line_of server HOT)" --fixed-speedup 100 \
		--experiment-length 50ms -d 300ms -o "$dir/profile.coz" \
		-p "$server" >"$dir/out" 2>"$dir/err" </dev/null
	case $? in 0 | 4) ;; *)
		failed_cycles=$((failed_cycles + 1))
		bad "cycle $i"
		;;
	esac
	n=$(sed -nE "s/^cozbpf: process $server \(server\): .* ([0-9]+) begun\$/\1/p" "$dir/err")
	begun=$((begun + ${n:-0}))
	grep -ohE 'stood still for [0-9.]+' "$dir/err" | awk '{ print $4 }' >>"$dir/held"
done
check "$cycles cycles" [ "$failed_cycles" -eq 0 ]
check "it was paused meanwhile ($begun times)" [ "$begun" -ge "$cycles" ]
look "$dir/after"
if same "$dir/before" "$dir/after"; then
	ok "nothing has grown"
else
	bad "nothing has grown" "$(diff "$dir/before" "$dir/after")"
fi
kill -TERM "$load"
wait "$load"
kill -TERM "$server"
wait "$server"
check "every request was answered: $(tail -n 1 "$dir/load.out")" grep -qE \
	'^end requests [1-9][0-9]+ failed 0$' "$dir/load.out"
check "no call was cut short: $(tail -n 1 "$dir/server.out")" grep -qE \
	'^end requests [1-9][0-9]+ eintr 0 short 0$' "$dir/server.out"
# As cozbpf sees it, waits for a CPU included. With 12 threads for the CPUs the longest time depends
# on the scheduler; attach.sh looks at it from inside.
median=$(sort -n "$dir/held" |
	awk '{ v[NR] = $1 }
		END {
			median = v[int((NR + 1) / 2)]
			print median
			print "     held still, ms: median " median \
				", longest " v[NR] >"/dev/stderr"
		}')
check "a thread stood still for 5 ms at most, in the median ($median ms)" is "$median" '<=' 5
finish
