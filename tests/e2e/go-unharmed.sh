#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Go programs, launched and attached to. They are static by default, or linked with C, handle every
# signal, move their stacks and preempt goroutines by signals. One does all that a profiler could
# harm. The line under test has 60 % of the time: ending it gains 60 %, and the test only checks
# that the gain is large. Three attach cycles on a server; go-server.sh has more.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=fixtures/golib.sh
. "$root/tests/e2e/fixtures/golib.sh"
sources=$root/tests/workloads/go
line=go/$(go_line "$sources/abab.go" LINE_A)
fixtures=$root/tests/e2e/fixtures
in_c=$(go_line "$fixtures/cgo.go" LINE_A)
length=$((100 * slowness))ms
rate=$("$workloads/go-abab" --calibrate) || skip "'make workloads' had no Go"
go_build abab "$sources/abab.go" "$sources/work.go"

# profile LINE SECONDS [OPTIONS...]: attaches to the target, which is paused meanwhile, goes on, and
# shows nothing afterwards that it did not show before.
profile() {
	rm -f "$dir/p.coz"
	look "$dir/before"
	run 0 "${in_front[@]}" "$tool" -v --no-tui -P unit=main.progress --fixed-line "$1" \
		--fixed-speedup 0,100 --experiment-length "$length" -d $(($2 * slowness)) \
		"${@:3}" -o "$dir/p.coz" -p "$target_pid"
	says 'pause handler taken out;' "^ +(1 )? *${1##*/}[: ]"
	paused
	look "$dir/after"
	check "nothing is left behind" diff "$dir/before" "$dir/after"
	check "it goes on" kill -0 "$target_pid"
}

echo "-- launched: static, and with C"
CGO_ENABLED=1 go_build cgo "$fixtures/cgo.go"
run 0 "${in_front[@]}" "$tool" run -v --no-tui -P unit=main.progress --fixed-line "$line" \
	--fixed-speedup 0,100 --experiment-length "$length" -o "$dir/l.coz" -- \
	"$dir/abab" --iters-per-ms "$rate" --rounds 400
prints '^visits 400 seconds '
says "${line##*/}"
check "all visits were counted" [ "$(total unit)" = 400 ]
paused '[0-9]+ \(abab\)'
start "$tool" run -v --no-tui -P unit=main.progress --fixed-line "$in_c" --fixed-speedup 0,100 \
	--experiment-length "$length" -o "$dir/c.coz" -- "$dir/cgo"
# The preloaded handler comes before the runtime, whose handlers take its place.
wait_for 20 has "$dir/err" 'pause handler injected' || bad "the handler comes after the runtime"
# Of six, three ask for pauses.
# shellcheck disable=SC2317 # called by wait_for
experiments() { [ "$(grep -c '^experiment' "$dir/c.coz")" -ge "$1" ]; }
wait_for 20 experiments 6 || bad "it experiments"
kill -TERM "$tool_pid"
ended 20 0 "it ends as the program does"
prints '^end [1-9]'
paused '[0-9]+ \(cgo\)'

echo "-- stacks that move, the collector, panics, timers, signals, children"
go_build unharmed "$fixtures/unharmed.go"
"$dir/unharmed" $((16000 * slowness)) >"$dir/alone"
check "alone it ends with its status" [ $? -eq 7 ]
# Its goroutines are short, and hardly one owes a pause. The threads that run them do.
ways=(auto off)
! brief || ways=(off)
for accounts in "${ways[@]}"; do
	run 7 "$tool" run -v --no-tui -P unit=main.progress --experiment-length "$length" \
		--fixed-line "$(go_line "$fixtures/unharmed.go" HOT)" --fixed-speedup 0,100 \
		--goroutines "$accounts" -o "$dir/u.coz" -- "$dir/unharmed" $((16000 * slowness))
	check "profiled it prints the same: $(cat "$dir/alone")" same "$dir/alone" "$dir/out"
done
paused '[0-9]+ \(unharmed\)'

echo "-- attached"
# With some priority: beside other programs 5 s had too few visits for the gain. With more the
# script itself would starve.
begin nice -n -5 "$dir/abab" --iters-per-ms "$rate" --announce
profile "$line" 5
at_speed "the line leads, with a large gain" has "$dir/err" "^ +1  ${line##*/} +\+0\.[3-9]"
end
begin "$dir/cgo"
profile "$in_c" 2
end

echo "-- goroutines are preempted by signals as before"
# One P and rounds of 200 ms without a call: the ticks come by SIGURG, five a second without it.
begin "${in_front[@]}" "$dir/abab" --iters-per-ms "$rate" --announce --procs 1 \
	--a-us 190000 --b-us 10000 --tick-us 10000
profile "$line" 3
end
read -r seconds ticks < <(awk '$1 == "visits" { s = $4 } $1 == "ticks" { t = $2 }
	END { print s, t }' "$dir/target")
check "ticks: $ticks in $seconds s, at least 10 a second" is "$ticks" '>=' \
	"$(awk "BEGIN { print 10 * $seconds }")"

echo "-- a server under load"
check "three attach cycles" tests/e2e/go-server.sh 3
finish
