#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Markers of coz.h are found without -P. One binary gives the same curve launched and attached to,
# and so does its static build. Two predictions of one curve differ by more than 2.5 x the root of
# the sum of their squared half-widths (4.9 standard deviations; intervals of 95 % have 1.96) in one
# of 1,000,000 comparisons with normal deviations. With the tails of some 40 experiments for a pair
# (t of 40 degrees of freedom) that is one of 60,000. Four comparisons give a false alarm in one of
# 15,000 runs. What a busy machine adds within a run is in its interval.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=$(line_of markers LINE_A)
here=$root/tests/e2e/fixtures/$(line_of markers UNNAMED)
lab=(-v --no-tui --fixed-line "$line" --experiment-length 100ms)
g++ -O1 -g -shared -fPIC -Iinclude -o "$dir/libmarkers_late.so" \
	tests/e2e/fixtures/markers_late.cc || bad "the library builds"
fixture markers -Iinclude
as=markers-static fixture markers -Iinclude -static 2>"$dir/err"

# attach STATUS PROGRAM_ARGUMENTS -- OPTIONS...: attaches to a program of its own; its last line is
# in $dir/end
attach() {
	local want=$1
	local -a program=()
	shift
	while [ "$1" != -- ]; do
		program+=("$1")
		shift
	done
	shift
	: >"$dir/end"
	"${program[@]}" >"$dir/end" &
	started+=("$!")
	wait_for 20 has "$dir/end" '^ready' || bad "the target starts"
	rm -f "$dir/p.coz"
	run "$want" "$tool" "${lab[@]}" -o "$dir/p.coz" "$@" -p "${started[-1]}"
	kill -TERM "${started[-1]}"
	wait "${started[-1]}"
}

echo "-- without being asked for, launched"
rm -f "$dir/p.coz"
run 0 "$tool" "${lab[@]}" --fixed-speedup 0,50 -o "$dir/p.coz" -- "$dir/markers" 1 3
says "progress point 'unit' by coz.h at 2 places of '$dir/markers'" \
	"progress point '$here' by coz.h at 1 place of"
says_not 'no progress point given' "'late'"
check "the inlined marker counts as the other does" same_visits unit "$here"
check "every unit was counted: $(total unit)" has "$dir/out" "^end units $(total unit) late 0$"

echo "-- in a library that comes later, and a template's"
rm -f "$dir/p.coz"
run 0 "$tool" "${lab[@]}" --fixed-speedup 0,50 -b MAIN -b '%/libmarkers_late.so' -o "$dir/p.coz" \
	-- "$dir/markers" 1 4 "$dir/libmarkers_late.so"
says "progress point 'late' by coz.h at 2 places of '$dir/libmarkers_late.so'"
counted=$(total late)
passed_late=$(sed -n 's/^end .* late //p' "$dir/out")
# The tool looks for it twice a second.
check "it was counted soon after it had come: $counted of $passed_late" is "${counted:-0}" '>=' \
	"$((passed_late / 2))"
check "not more often than it was passed" is "${counted:-0}" '<=' "$passed_late"
check "from then on it counts as the others do" same_visits unit late late
attach 0 "$dir/markers" 1 0 "$dir/libmarkers_late.so" -- --fixed-speedup 0,50 -b MAIN \
	-b '%/libmarkers_late.so' -d 3s
check "attached, too" same_visits unit late late

echo "-- markers are left alone where points are given, and with --end-to-end"
run 0 "$tool" "${lab[@]}" --fixed-speedup 0,50 -P fn=progress -P "line=$line" -o "$dir/n.coz" \
	-- "$dir/markers" 1 2
says_not "'unit'"
says "warning: progress point 'fn' was never visited"
run 0 "$tool" "${lab[@]}" --end-to-end -o "$dir/n.coz" -- "$dir/markers" 1 1
says_not "'unit'"

echo "-- notes that are damaged are not taken for none"
objcopy --dump-section ".note.stapsdt=$dir/notes" "$dir/markers"
printf '\377\377\377\377' | dd of="$dir/notes" bs=1 seek=4 conv=notrunc status=none
check "the notes are damaged" objcopy --update-section ".note.stapsdt=$dir/notes" "$dir/markers" \
	"$dir/markers-damaged"
run 0 "$tool" "${lab[@]}" --fixed-speedup 0,50 -n 2 -o "$dir/n.coz" -- "$dir/markers-damaged" 1 1
damaged="progress points of coz.h in '$dir/markers-damaged'"
says "warning: $damaged: the notes of static probes in .* are damaged" 'no progress point given'
check "that is said once" [ "$(grep -c 'are damaged' "$dir/err")" -eq 1 ]

echo "-- two hundred places, and left again soon"
{
	echo '#include <coz.h>'
	echo 'static volatile int sink;'
	echo 'int main(void) { for (unsigned long i = 0; i < 100000000; i++) {'
	echo 'for (volatile int n = 20000; n; n--) ; switch (i % 200) {'
	for ((i = 0; i < 200; i++)); do
		echo "case $i: sink += $i; COZ_PROGRESS_NAMED(\"many\"); break;"
	done
	echo '} } }'
} >"$dir/many.c"
gcc -O1 -g -Iinclude -o "$dir/many" "$dir/many.c" || bad "it builds"
"$dir/many" &
started+=("$!")
begun=$SECONDS
run 0 "$tool" -v --no-tui --experiment-length 100ms -o "$dir/n.coz" -d 2s -p "${started[-1]}"
says "progress point 'many' by coz.h at 200 places"
# One by one the kernel would take some 120 ms to remove each of them: 24 s.
check "it took $((SECONDS - begun)) s" [ $((SECONDS - begun)) -le 15 ]
kill "${started[-1]}"

echo "-- one curve"
curve=(--fixed-speedup "0,50,100")
# points FILE: "GAIN HALF-WIDTH" at 50 and 100 % for "unit", in per cent
points() {
	"$tool" report --json "$1" | python3 -c "
import json, sys
line = [l for l in json.load(sys.stdin)['lines'] if l['progress'] == 'unit'][0]
for p in line['points']:
    if p['line_speedup']:
        print(100 * p['program_speedup'], 50 * (p['ci'][1] - p['ci'][0]), p['experiments'])"
}
rm -f "$dir/p.coz"
run 0 "$tool" "${lab[@]}" "${curve[@]}" -o "$dir/p.coz" -- "$dir/markers" 2 7
points "$dir/p.coz" >"$dir/launched"
sed 's/^/     launched: /' "$dir/launched"
check "the curve has two points" [ "$(wc -l <"$dir/launched")" -eq 2 ]
# By arithmetic 60, apart from the method's largest error at such a gain in docs/accuracy.md and the
# width of its interval.
read -r gain half _ < <(sed -n 2p "$dir/launched")
check "it is that of the program" is \
	"$(awk -v a="$gain" 'BEGIN { d = a - 60; print d < 0 ? -d : d }')" '<=' \
	"$(awk -v h="$half" 'BEGIN { print 2.5 * h + 5 }')"
for how in 'attached' 'static, attached'; do
	case $how in
	attached) attach 0 "$dir/markers" 2 0 -- "${curve[@]}" -d 7s ;;
	*) attach 0 "$dir/markers-static" 2 0 -- "${curve[@]}" -d 7s ;;
	esac
	points "$dir/p.coz" >"$dir/other"
	sed "s/^/     $how: /" "$dir/other"
	for n in 1 2; do
		read -r gain half _ < <(sed -n "${n}p" "$dir/launched")
		read -r other_gain other_half _ < <(sed -n "${n}p" "$dir/other")
		allowed=$(awk -v a="$half" -v b="$other_half" \
			'BEGIN { print 2.5 * sqrt(a * a + b * b) }')
		check "$how: $other_gain, launched $gain, $allowed apart at most" is \
			"$(awk -v a="$gain" -v b="$other_gain" \
			'BEGIN { d = a - b; print d < 0 ? -d : d }')" '<=' "$allowed"
	done
done
finish
