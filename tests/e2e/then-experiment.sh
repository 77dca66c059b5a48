#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf blocks --then-experiment`: blocks whose executions are long now and then are found, and
# experiments tell what would be gained if each took the median. Every fifth job of `sometimes`
# takes 6 ms in place of 1 ms; all other work of a round takes 1 ms. So a round would take 2 ms in
# place of 3 ms, whichever block around the job is asked for: a gain of 0.33. Here gains were 0.23
# to 0.40 in six runs, a standard deviation of 0.07 about 0.31. So 0.05 and 0.57 are 3.9 of them
# away, and no gain and a job without time, 0.67, are outside.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture sometimes
cd "$dir" || exit 1
# "LINES PCT GAIN" of each block around the job that was experimented on
gains='import json, re, sys
lines = {re.search(r":(\S+)", l["line"])[1]: l for l in json.load(sys.stdin)["lines"]}
for line in open("err"):
    m = re.match(r"cozbpf: experiments on ((?:main|job)\+\S+), (\S+), by (\d+) % f", line)
    if m:
        print(m[2], m[3], lines[m[1]]["points"][-1]["program_speedup"])'
tried() {
	"$tool" report --json profile.coz | python3 -c "$gains" | tee tried
}

# The job takes 2 ms on average: by 50 % faster it takes its median. The run tells that from 200
# jobs: 40 to 55 %, a standard deviation of 4.3 about 45 in 18 runs. It is told in steps of 5 %, so
# what is refused is 4 of them away, below 27.5 and above 62.5 %.
gained() {
	check "the job's block is tried" \
		grep -qE "^sometimes\.c:13-15 (30|35|40|45|50|55|60) " tried
	check "each of them gains a third" awk '{ bad += $3 < 0.05 || $3 > 0.57 }
		END { exit bad || !NR }' tried
}

echo "-- whole runs of a command"
run 0 "${in_front[@]}" "$tool" blocks -n 3 --then-experiment -- "$dir/sometimes" 200
tried
gained

echo "-- a process that runs already, by its progress point"
rm -f profile.coz
begin "$dir/sometimes" 100000
run 0 "${in_front[@]}" "$tool" blocks -d 3s --then-experiment -P progress -p "$target_pid"
tried
gained
kill "$target_pid"

echo "-- earlier runs of the log do not count"
run 4 "$tool" blocks --then-experiment -- true
says 'error: no block was watched in any run'
run 4 "$tool" blocks --then-experiment -- false
says 'error: the only run failed: exit status 1'

echo "-- what is refused"
run 2 "$tool" blocks --then-experiment -p $$
says "'--then-experiment' needs '--progress' where a process runs already"
run 2 "$tool" blocks --then-experiment -P progress -p $$
says "'--then-experiment' needs '--duration' where a process runs already"
run 2 "$tool" blocks -P progress -- true
says "'--progress' needs '--then-experiment'"
run 2 "$tool" blocks --then-experiment --inputs /dev/null -- true
says "'--then-experiment' and inputs exclude each other"
finish
