#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# With more than 50 MB of debug information in the command, less than 1 s passes from the start of
# cozbpf to the command's first output. One unit is compiled, and copies of its object under other
# names are linked: that takes some ten seconds instead of minutes. Other programs can only add to
# the time, so the best of three counts, with priority. The limit is the aim itself, and a
# quiet machine stays far below it. What was read is kept, and found again as long as the program is
# the same.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
command -v g++ >/dev/null || skip "needs g++"
unit=$root/tests/e2e/fixtures/bigunit.cc
g++ -std=c++17 -O1 -g -c -o "$dir/unit.o" "$unit" || exit 1
g++ -std=c++17 -O1 -g -DMAIN -c -o "$dir/main.o" "$unit" || exit 1
for i in $(seq 40); do
	objcopy --redefine-sym big_unit="big_unit_$i" "$dir/unit.o" "$dir/unit_$i.o"
done
g++ -o "$dir/big" "$dir/main.o" "$dir"/unit*.o
megabytes=$(size -A "$dir/big" | awk '/^\.debug_/ { n += $2 } END { printf "%d", n / 1000000 }')
check "the program has $megabytes MB of debug information" [ "$megabytes" -ge 50 ]

best=
for _ in 1 2 3; do
	rm -rf "$dir/cache"
	start=$(date +%s%N)
	run 0 "${in_front[@]}" "$tool" run -v --no-tui -P progress --experiment-length 20ms \
		-o "$dir/profile.coz" -- "$dir/big"
	began=$(sed -n 's/^began //p' "$dir/out")
	took=$(((${began:-0} - start) / 1000000))
	grep 'read in' "$dir/err"
	echo "     first output after $took ms"
	if [ -z "$best" ] || [ $took -lt "$best" ]; then best=$took; fi
	[ "$best" -lt 0 ] || [ "$best" -ge 1000 ] || break
done
check "the command's first output comes after cozbpf's start" is "$best" '>' 0
check "and within 1 s ($best ms)" is "$best" '<' 1000
lines=$(sed -nE 's/^cozbpf: ([0-9]+) lines, .*/\1/p' "$dir/err")
check "its lines are in scope (${lines:-none})" is "${lines:-none}" '>=' 20

# An entry that is used keeps its number and gets a new time; one that is written anew has another
# number.
entry() { stat -c '%i %Y' "$dir"/cache/cozbpf/*; }
sleep 3 # what has changed just now is not kept
age() { touch -d '-1 hour' "$dir"/cache/cozbpf/*; }
rm -rf "$dir/cache"
run 0 "$tool" lines "$dir/big"
cp "$dir/out" "$dir/first"
check "what was read is kept" [ "$(entry | wc -l)" -eq 1 ]
age
before=$(entry)
run 0 "$tool" lines "$dir/big"
check "the next run finds it" [ "${before% *}" = "$(entry | cut -d' ' -f1)" ]
check "... and uses it" [ "$before" != "$(entry)" ]
check "... with the same lines" cmp -s "$dir/first" "$dir/out"
chmod 666 "$dir"/cache/cozbpf/*
run 0 "$tool" lines "$dir/big"
check "what others can write to is read anew" [ "${before% *}" != "$(entry | cut -d' ' -f1)" ]
check "... with the same lines" cmp -s "$dir/first" "$dir/out"
run 0 "$tool" lines -s "%bigunit.cc" "$dir/big"
check "other options have an answer of their own" [ "$(entry | wc -l)" -eq 2 ]
sed 's/progress/progressing/' "$unit" >"$dir/bigunit.cc"
g++ -std=c++17 -O1 -g -DMAIN -c -o "$dir/main.o" "$dir/bigunit.cc" &&
	g++ -o "$dir/big" "$dir/main.o" "$dir"/unit*.o
run 0 "$tool" lines "$dir/big"
check "another build is read anew" grep -q "$dir/bigunit.cc" "$dir/out"
finish
