#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A net/http server under a closed loop of its own client, which checks every answer. cozbpf
# attaches and leaves again and again, then measures latency; without names it is profiled once. The
# counts are exact: one failure is one too many.
# usage: tests/e2e/go-server.sh [CYCLES]
# default: 50, without names too, and 50 on a build with the race detector
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=fixtures/golib.sh
. "$root/tests/e2e/fixtures/golib.sh"
cycles=${1:-50}
builds=(plain)
[ $# -gt 0 ] || builds+=(stripped race)
source=$root/tests/e2e/fixtures/goserver.go
line=$(go_line "$source" HOT)
go_build plain "$source"
brief=(-v --no-tui -P main.leave --fixed-line "$line" --fixed-speedup 100
	--experiment-length $((50 * slowness))ms)

# shellcheck disable=SC2317 # by check
not() {
	! "$@"
}
cycle() { # N times
	local i n begun=0 bad_cycles=0
	for ((i = 1; i <= $1; i++)); do
		rm -f "$dir/p.coz"
		timeout -k 5 $((60 * slowness)) "${in_front[@]}" "$tool" "${brief[@]}" \
			-d $((300 * slowness))ms -o "$dir/p.coz" -p "$target_pid" \
			>"$dir/out" 2>"$dir/err" </dev/null
		case $? in 0 | 4) ;; *)
			bad_cycles=$((bad_cycles + 1))
			bad "cycle $i"
			;;
		esac
		n=$(sed -nE "s/^cozbpf: process $target_pid .* ([0-9]+) begun\$/\1/p" "$dir/err")
		begun=$((begun + ${n:-0}))
	done
	check "$1 cycles" [ "$bad_cycles" -eq 0 ]
	check "it was paused meanwhile ($begun times)" [ "$begun" -ge "$1" ]
}

latency() {
	run 0 "${in_front[@]}" "$tool" -v --no-tui -L 'request=main.enter..main.leave,key=arg0' \
		--fixed-line "$line" --fixed-speedup 0,100 -d $((3 * slowness)) \
		-o "$dir/latency.coz" -p "$target_pid"
	says '^latency request$' '^now mean [0-9.]+ [mu]s.*, p50 '
	says_not 'ends had no begin'
}
# Without symbols and debug information it has lines. Progress is a reply, which the server writes
# by one call.
no_names() {
	run 0 "${in_front[@]}" "$tool" -v --no-tui -P reply=tracepoint:syscalls:sys_enter_write \
		-d $((2 * slowness)) -o "$dir/stripped.coz" -p "$target_pid"
	says 'goserver\.go:[0-9]+'
	check "replies were counted: $(total reply)" is "$(total reply)" '>' 100
}

for build in "${builds[@]}"; do
	echo "-- $build"
	case $build in
	race) CGO_ENABLED=1 go_build race -race "$source" ;;
	stripped) strip -o "$dir/stripped" "$dir/plain" ;;
	esac
	begin "$dir/$build" serve
	port=$(awk '{ print $3 }' "$dir/target")
	"$dir/plain" load "$port" 4 >"$dir/load" 2>&1 &
	load=$!
	started+=("$load")
	wait_for 30 has "$dir/load" '^ready' || bad "the load starts"
	look "$dir/before"
	if [ "$build" = stripped ]; then
		no_names
	else
		cycle "$cycles"
		latency
	fi
	look "$dir/after"
	check "nothing has grown" diff "$dir/before" "$dir/after"
	kill -TERM "$load"
	wait "$load"
	check "every request was answered: $(tail -n 1 "$dir/load")" grep -qE \
		'^end requests [1-9][0-9]+ failed 0$' "$dir/load"
	end
	check "the race detector is silent" not grep -q 'DATA RACE' "$dir/target"
done
finish
