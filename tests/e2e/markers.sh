#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Markers of coz.h are found without -P: launched and attached, in libraries, in hundreds. gains.sh
# compares what they predict.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=$(line_of markers LINE_A)
here=$root/tests/e2e/fixtures/$(line_of markers UNNAMED)
lab=(-v --no-tui --fixed-line "$line" --experiment-length 100ms)
g++ -O1 -g -shared -fPIC -Iinclude -o "$dir/libmarkers_late.so" \
	tests/e2e/fixtures/markers_late.cc || bad "the library builds"
fixture markers -Iinclude

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
	-- "$dir/markers" 1 6 "$dir/libmarkers_late.so"
says "progress point 'late' by coz.h at 2 places of '$dir/libmarkers_late.so'"
counted=$(total late)
passed_late=$(sed -n 's/^end .* late //p' "$dir/out")
# The tool looks for it twice a second.
check "it was counted soon after it had come: $counted of $passed_late" is "${counted:-0}" '>=' \
	"$((passed_late / 2))"
check "not more often than it was passed" is "${counted:-0}" '<=' "$passed_late"
check "from then on it counts as the others do" same_visits unit late late
attach 0 "$dir/markers" 1 0 "$dir/libmarkers_late.so" -- --fixed-speedup 0,50 -b MAIN \
	-b '%/libmarkers_late.so' -d 5s
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
check "it took $((SECONDS - begun)) s" [ $((SECONDS - begun)) -le $((15 * slowness)) ]
kill "${started[-1]}"

# Linux 6.18 makes a call of a nop of five bytes that is probed.
if [ "$(uname -m)" = x86_64 ]; then
	echo "-- what a function has below the stack pointer outlives visits"
	fixture redzone -O2 -Iinclude
	kept=(-v --no-tui --experiment-length "$((100 * slowness))ms" --fixed-speedup "0,50"
		--fixed-line "$(line_of redzone WORK)" -o "$dir/kept.coz")
	passes=("$dir/redzone" $((1500 * slowness)))
	run 0 "$tool" "${kept[@]}" -- "${passes[@]}"
	says "progress point 'kept': [0-9]{3,} visits in all"
	prints '^[0-9]{3,} looks, 0 wrong$'
	echo "-- a SPEC that names such a nop: the next instruction is probed, or nothing"
	rm -f "$dir/kept.coz"
	run 0 "$tool" "${kept[@]}" -P "nop=$(line_of redzone NOP)" -- "${passes[@]}"
	says "progress point 'nop': [0-9]{3,} visits in all"
	prints '^[0-9]{3,} looks, 0 wrong$'
	run 0 "$tool" doctor
	makes_call=$(grep -c 'makes a call of its long nop' "$dir/out")
	rm -f "$dir/kept.coz"
	run $((2 * makes_call)) "$tool" "${kept[@]}" -P "$(line_of redzone PAD)" \
		-- "${passes[@]}"
	if [ "$makes_call" -gt 0 ]; then
		says 'is a nop of five bytes: .* this kernel overwrites' \
			'hint: name another line'
	else
		says '[0-9]{3,} visits in all'
		prints '^[0-9]{3,} looks, 0 wrong$'
	fi
fi
finish
