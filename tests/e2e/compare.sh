#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf compare` from the outside, on invented profiles, so both the change and its prediction are
# known. Needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"
words=(compare)

# profile START BUILD VISIT_NS SLOPE_PCT FREE: visits to `done`, and requests that are in flight
# twice as long; a line of that slope at 0, 25, 50, 75 and 100 %.
profile() {
	printf 'startup\ttime=%s\tbuild-id=%s\tspeedups=4\n' "$1" "$2"
	for i in 0 1 2 3 4 5 6 7; do
		for cell in 0 25 50 75 100; do
			ns=$(($3 * (10000 - $4 * cell) * (99 + (i + cell / 25) % 3) / 10000))
			printf 'experiment\tselected=/src/a.c:7\tspeedup=%d.%02d' \
				$((cell / 100)) $((cell % 100))
			printf '\tduration=%d\tselected-samples=%d\n' $ns $(($5 * $3 / 20000000))
			printf 'throughput-point\tname=done\tdelta=100\n'
			printf 'latency-point\tname=request\tarrivals=100\tdepartures=100'
			printf '\tdifference=2\tintegral=%d\tleast=0\n' $((2 * ns))
		done
	done
	printf 'samples\tlocation=/src/a.c:7\tcount=4000\tfree=%s\tid=1\n' "$5"
	printf 'runtime\ttime=3000000000\tfree=2000000000'
	printf '\tsamples=4000\tin-scope=4000\texecuted=4000000000\n'
}
a=1111111111111111111111111111111111111111 b=2222222222222222222222222222222222222222
profile 1 $a 1000000 40 1000 >before.coz
profile 2 $b 800000 20 625 \
	>after.coz     # half as long per visit, and the program a fifth faster, as predicted
profile 3 $b 1000000 40 1000 >nothing.coz # nothing gained
sed 's/done/other/; /^latency/d' after.coz >other.coz

shorter='^a visit every 999 us before, 799 us after:'
shorter+=' 20.0 % \(1[89]\.[0-9] to 2[01]\.[0-9]\) shorter$'
expect 0 "$shorter" '' before.coz after.coz
expect 0 '^mean 2.00 ms before, 1.60 ms after: 20.0 %' '' before.coz after.coz
expect 0 '^ +1 +1 +/src/a.c:7 +\+0.40 +\+0.20 +-0.20 .* fell$' '' before.coz after.coz
expect 0 'after   after.coz: 40 experiments, 1 run, build 222222222222$' '' before.coz after.coz
expect 0 '25.0 % \([0-9. to]*\) longer$' '' after.coz before.coz
expect 0 '^/src/a.c:7 50 % faster$' '' --line a.c:7 --by 50 before.coz after.coz
expect 0 '^  predicted  19.9 % .* by its curve; by its regression 19.9 %' '' --line a.c:7 \
	--by 50 before.coz after.coz
expect 0 '^  they agree: the difference, ' '' --line a.c:7 --by 50% before.coz after.coz
expect 0 'faster by its samples per visit \(4[0-9] to 5[0-9]\)$' '' --line /src/a.c:7 before.coz \
	after.coz
expect 0 'by its curve, between two speedups measured; by' '' --line a.c:7 \
	--by 37.5 before.coz after.coz
expect 0 'it gained less than predicted, by 19.9 % \(1[0-9.]* to 2[0-9.]*\)$' '' --line a.c:7 \
	--by 50 before.coz nothing.coz
expect 0 'no difference for certain' '' before.coz nothing.coz
expect 0 'it gained more than predicted, by 10.2 %' '' --line a.c:7 --by 25 before.coz after.coz
expect 0 '"agreement":.*"agrees"' '' --json --line a.c:7 --by 50 before.coz after.coz
expect 0 '"schema":.*"cozbpf-compare/1"' '' --json before.coz after.coz
asserts='import json
c = json.load(open("out"))
p = c["progress"]
assert [x["kind"] for x in p] == ["throughput", "throughput", "latency"]
assert p[0]["speedup"] == 0.2
assert p[0]["speedup_ci"][0] < 0.2 < p[0]["speedup_ci"][1]
assert c["lines"][0]["change"] == "fell"
assert c["before"]["build"] == "1" * 40
assert c["predictions"] == []'
check "the JSON output: $(cat out)" python3 -c "$asserts"

expect 0 'no difference' 'both profiles are of one build, 111111111111' before.coz before.coz
expect 4 'after   other.coz: 40 experiments' 'no progress point has baselines in both profiles' \
	before.coz other.coz
# A single experiment of each tells nothing.
for i in before after; do head -3 $i.coz | sed 's/delta=100/delta=1/' >short-$i.coz; done
expect 4 'too few visits in baselines' 'there is too little in both profiles to compare' \
	short-before.coz short-after.coz
expect 4 '"schema":.*"cozbpf-compare/1"' 'too little in both' --json short-before.coz \
	short-after.coz
# A build is known where the first run does not tell its own.
sed 's/\tbuild-id=[^\t]*//; s/time=1\t/time=9\t/' before.coz >nameless.coz
cat nameless.coz before.coz >late.coz
expect 0 'before  late.coz: 80 experiments, 2 runs, build 111111111111$' \
	'both profiles are of one build, 111111111111' late.coz before.coz
expect 0 "\"build\":.\"$a\"" 'one build' --json late.coz before.coz
expect 2 '' 'compare takes two profiles, not 1' before.coz
expect 2 '' "no experiment in BEFORE was done on 'b.c:7'" --line b.c:7 --by 5 before.coz after.coz
expect 2 '' '--line does not name it' --by 5 before.coz after.coz
expect 2 '' "'0' is not a speedup" --line a.c:7 --by 0 before.coz after.coz
expect 2 '' "'101' is not a speedup" --line a.c:7 --by 101 before.coz after.coz
grep -v ^samples after.coz >gone.coz
expect 2 '' "say it with --by" --line a.c:7 before.coz gone.coz
cat before.coz after.coz >both.coz
expect 2 '' "'both.coz' holds runs of different builds" before.coz both.coz
expect 1 '' "cannot open 'missing.coz'" before.coz missing.coz
expect 0 '^usage: cozbpf compare' '' --help
finish
