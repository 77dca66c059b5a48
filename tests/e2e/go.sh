#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Go programs, launched and attached to. They are static by default, handle every signal, move their
# stacks and preempt goroutines by signals. Each kind of build, and a program that does all that a
# profiler could harm. The line under test has 60 % of the time: ending it gains 60 %, and the test
# only checks that the gain is large. Three attach cycles on a server; go-server.sh has 100.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=fixtures/golib.sh
. "$root/tests/e2e/fixtures/golib.sh"
sources=$root/tests/workloads/go
abab=("$sources/abab.go" "$sources/work.go")
line=go/$(go_line "$sources/abab.go" LINE_A)
fixtures=$root/tests/e2e/fixtures
length=$((100 * slowness))ms
rate=$("$workloads/go-abab" --calibrate) || skip "'make workloads' had no Go"
go_build abab "${abab[@]}"

leads() { # LINE: it is ranked first, with a large gain
	says "^ +1  $1 +\+0\.[3-9]"
}
# profile LINE SECONDS [OPTIONS...]: attaches to the target, which is paused meanwhile, goes on, and
# shows nothing afterwards that it did not show before.
profile() {
	rm -f "$dir/p.coz"
	look "$dir/before"
	run 0 "$tool" -v --no-tui -P unit=main.progress --fixed-line "$1" \
		--fixed-speedup 0,100 --experiment-length "$length" -d $(($2 * slowness)) \
		"${@:3}" -o "$dir/p.coz" -p "$target_pid"
	says 'pause handler taken out;'
	paused
	look "$dir/after"
	check "nothing is left behind" diff "$dir/before" "$dir/after"
	check "it goes on" kill -0 "$target_pid"
}

echo "-- launched: a static program, its output and its status"
run 0 "$tool" run -v --no-tui -P unit=main.progress --fixed-line "$line" --fixed-speedup 0,100 \
	--experiment-length "$length" -o "$dir/l.coz" -- \
	"$dir/abab" --iters-per-ms "$rate" --rounds 500
prints '^visits 500 seconds '
leads ".*$line"
check "all visits were counted" [ "$(total unit)" = 500 ]

echo "-- stacks that move, the collector, panics, timers, signals, children"
go_build unharmed "$fixtures/unharmed.go"
"$dir/unharmed" $((4000 * slowness)) >"$dir/alone"
check "alone it ends with its status" [ $? -eq 7 ]
run 7 "$tool" run -v --no-tui -P unit=main.progress --experiment-length "$length" \
	--fixed-line "$(go_line "$fixtures/unharmed.go" HOT)" --fixed-speedup 0,100 \
	-o "$dir/u.coz" -- "$dir/unharmed" $((4000 * slowness))
check "profiled it prints the same: $(cat "$dir/alone")" same "$dir/alone" "$dir/out"
paused '[0-9]+ \(unharmed\)'

echo "-- attached"
begin "$dir/abab" --iters-per-ms "$rate" --announce
profile "$line" 4
leads ".*$line"
end

echo "-- goroutines are preempted by signals as before"
# One P and rounds of 2 s without a call: the ticks and the end come by SIGURG alone.
begin "$dir/abab" --iters-per-ms "$rate" --announce --procs 1 --a-us 1900000 --b-us 100000 \
	--tick-us 10000
profile "$line" 3
end
read -r seconds ticks < <(awk '$1 == "visits" { s = $4 } $1 == "ticks" { t = $2 }
	END { print s, t }' "$dir/target")
check "ticks: $ticks in $seconds s, at least 10 a second" is "$ticks" '>=' \
	"$(awk "BEGIN { print 10 * $seconds }")"

echo "-- other builds"
for how in pie cgo stripped; do
	case $how in
	pie) go_build $how -buildmode=pie "${abab[@]}" ;;
	cgo) CGO_ENABLED=1 go_build $how "$fixtures/cgo.go" ;;
	stripped) go_build $how -ldflags '-s -w' "${abab[@]}" ;;
	esac
	case $how in
	pie)
		begin "$dir/$how" --iters-per-ms "$rate" --announce
		profile "$line" 3
		leads ".*$line"
		;;
	cgo)
		begin "$dir/$how"
		profile "$(go_line "$fixtures/cgo.go" LINE_A)" 3
		leads ".*cgo\.go:[0-9]+"
		;;
	stripped)
		begin "$dir/$how" --iters-per-ms "$rate" --announce
		at=$(nm "$dir/abab" | awk '$3 == "main.progress" { print $1 }')
		look "$dir/before"
		run 0 "$tool" -v --no-tui -P "unit=+0x$at" --experiment-length "$length" \
			-d $((3 * slowness)) -o "$dir/s.coz" -p "$target_pid"
		says 'pause handler taken out;'
		paused
		check "visits of a function without a name: $(total unit)" is "$(total unit)" '>' 0
		look "$dir/after"
		check "nothing is left behind" diff "$dir/before" "$dir/after"
		;;
	esac
	end
done

echo "-- a server under load"
check "three attach cycles" tests/e2e/go-server.sh 3
finish
