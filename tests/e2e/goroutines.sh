#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Go programs, whose goroutines have accounts of their own: what is predicted where goroutines wait
# for each other, that the program runs as without, launched and attached to, and what is said where
# goroutines cannot have accounts. With each toolchain that is there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
case $(uname -mr) in
[0-5].* | 6.[0-9].* | 6.1[0-2].* | *aarch64) skip "goroutines have accounts from Linux 6.13 on" ;;
esac
# shellcheck source-path=SCRIPTDIR source=fixtures/golib.sh
. "$root/tests/e2e/fixtures/golib.sh"
versions=()
for go in $(go_toolchains); do
	version=$("$go" env GOVERSION)
	versions+=("${version#go}")
	CGO_ENABLED=0 go_build "$version" "$root/tests/e2e/fixtures/goroutines.go"
done
oldest=$dir/go${versions[0]}
line() { # TAG
	echo "goroutines.go:$(grep -n "// $1\$" "$root/tests/e2e/fixtures/goroutines.go" |
		cut -d: -f1)"
}
summary='import json, sys
print(json.load(sys.stdin)["summary"].get(sys.argv[1], 0))'
gain='import json, sys
print([l["points"][-1]["program_speedup"] for l in json.load(sys.stdin)["lines"]][0])'
ends='import json, sys
print(json.load(sys.stdin)["latencies"][0]["unmatched_ends"])'
in_report() { # PYTHON [ARGUMENT]
	"$tool" report --json "$dir/p.coz" | python3 -c "$@"
}
edges() {
	sed -nE 's/^cozbpf: ([0-9]+) wake-ups by threads of the program.*/\1/p' "$dir/err"
}

# predict PROGRAM TAG [OPTIONS...]: the gain by half of the line is in $share. The shape is the tag
# up to its underscore.
predict() {
	local shape=${2%_*}
	rm -f "$dir/p.coz"
	run 0 "${in_front[@]}" "$tool" --no-tui -v -P main.progress --fixed-line "$(line "$2")" \
		--fixed-speedup 0,50 -d "$((8 * slowness))s" -o "$dir/p.coz" "${@:3}" \
		-- "$1" "${shape,,}" $((${visits:-2200} * slowness))
	share=$(in_report "$gain")
	prints '^visits [0-9]+ bad 0$' '^end$'
}

# Half of the consumer's line gains 40 %, of the producer's nothing.
for version in "${versions[@]}"; do
	echo "-- Go $version"
	predict "$dir/go$version" CHANNEL_A
	at_speed "what is waited for gains $share" is "$share" '>=' 0.2
	says 'goroutines have accounts: go1' 'its goroutines are followed' \
		'[1-9][0-9]* goroutines, [1-9][0-9]* switches to them'
	says_not 'have no accounts'
	predict "$dir/go$version" CHANNEL_B
	at_speed "what waits gains $share" is "$share" '<=' 0.2
done

# Half of what is inside of the lock gains 50 %; half of the longer goroutine as well, of the
# shorter nothing.
echo "-- a lock, and goroutines that are made and waited for"
predict "$oldest" MUTEX_A
at_speed "the inside of the lock gains $share" is "$share" '>=' 0.25
predict "$oldest" JOIN_A
at_speed "the longer one gains $share" is "$share" '>=' 0.25
check "each is counted" is "$(in_report "$summary" goroutines)" '>=' 500
predict "$oldest" JOIN_B
at_speed "the shorter one gains $share" is "$share" '<=' 0.25

# Half of the line gains 0.27. Told are 0.20, with a standard deviation of 0.045, and without the
# rule for the collector's workers -0.14.
echo "-- beside the collector"
visits=6500 predict "$oldest" GARBAGE_A
at_speed "half of a line beside the collector gains $share" is "$share" '>' 0

# On one thread they wait for each other all the same.
echo "-- goroutines have accounts, or threads"
predict "$oldest" CHANNEL_A
n=$(edges)
GOMAXPROCS=1 predict "$oldest" CHANNEL_A
check "goroutines of one thread wake each other $(edges) times" is "$(edges)" '>=' $((n / 4))
GOMAXPROCS=1 predict "$oldest" CHANNEL_A --goroutines=off
check "the thread wakes itself $(edges) times" is "$(edges)" '<=' $((n / 20))
says_not 'goroutines (have|has)|goroutines, '
check "none has an account" [ "$(in_report "$summary" goroutines)" = 0 ]

for version in "${versions[@]}"; do
	echo "-- attached to, Go $version"
	begin "$dir/go$version" mix
	rm -f "$dir/p.coz"
	run 0 "$tool" --no-tui -v -P main.progress -L item=main.enter..main.leave \
		--fixed-line "$(line MIX_A)" --fixed-speedup 0,50,100 --experiment-length 100ms \
		-d 4s -o "$dir/p.coz" -p "$target_pid"
	says 'goroutines have accounts: go1' "process $target_pid: its goroutines are followed"
	says_not 'have no accounts'
	for key in goroutines goroutine_switches; do
		n=$(in_report "$summary" "$key")
		check "$key: $n" is "$n" '>=' 5
	done
	n=$(in_report "$ends")
	check "$n ends of waits on their goroutine have no begin" is "$n" '<=' 20
	end
	check "nothing was read or computed wrongly" has "$dir/target" '^visits [0-9]+ bad 0$'
done
finish
