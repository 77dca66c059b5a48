#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A short profile of a program of known behaviour, from the records in profile.coz to the report:
# appended, repeatable, and of the right order. abab does 60 % of its work in LINE_A, so removing
# that line gains 0.6. Twelve runs of 0.2 s, with priority, come within 0.1. No line can save the
# time that others take, hence 0.3 to 0.85: a wrong sign or a missing baseline does not pass. A
# report needs 5 speedups of one line: the two runs do 70 experiments on two lines, with priority,
# and 45 of them beside a loop that never sleeps.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
work=$workloads/abab
line=abab.c:$(grep -n LINE_A tests/workloads/abab.c | cut -d: -f1)
look=(python3 "$root/tests/e2e/fixtures/profile.py")
rate=$("$work" --calibrate)
short=(--no-tui --experiment-length 50ms -P progress)
# Where speedups are not judged. A visit each millisecond suffices for the shortest experiments.
one=("$work" --threads 1 --iters-per-ms "$rate" --a-us 600 --b-us 400)

# figure KEY: a figure of the latest output
figure() {
	sed -n "s/^$1 //p" "$dir/figures"
}

looked() { # WHAT ARGUMENTS...: of profile.py
	local what=$1
	shift
	if "${look[@]}" "$@" >"$dir/figures" 2>"$dir/err"; then ok "$what"; else bad "$what"; fi
}

# ended PROFILE: sets `gain` to what removing the line gains
ended() {
	run 0 "$tool" report --json "$1"
	cp "$dir/out" "$dir/report.json"
	looked "the JSON report keeps the contract" json "$dir/report.json"
	gain=$(figure "gain $line 1.0")
	gain=${gain:-$(figure "gain $line 1")}
}

echo "-- records"
run 0 "${in_front[@]}" "$tool" "${short[@]}" -v --seed 1 -o "$dir/a.coz" -- "${one[@]}" \
	--seconds $((4 * slowness))
says 'abab\.c:' 'progress point progress'
prints '^visits [0-9]+ seconds'
sed -n '/^progress point/,$p' "$dir/err" >"$dir/said"
# Samples take at most an eighth of the time, with 330 us or with 500. With 1 ms the cost is
# measured a third time: where something disturbed the others any may follow, or none is told.
cost=$(sed -n 's/.*a sample costs \([0-9.]*\) us.*/\1/p' "$dir/err")
period=$(sed -n 's/.*a sample each \([0-9]*\) us$/\1/p' "$dir/err")
case $period in
330) check "a sample of $cost us each 330 us takes an eighth at most" is "$cost" '<=' 41.3 ;;
500) check "a sample of $cost us each 500 us takes an eighth at most" is "$cost" '<=' 62.6 ;;
*) check "samples seemed dear (${cost:-?} us), so there is one each 1 ms" [ "$period" = 1000 ] ;;
esac
looked "the profile is one of one run" coz "$dir/a.coz" 1
check "it holds experiments ($(figure experiment))" is "$(figure experiment)" '>=' 10
check "the hot line was sampled ($(figure "at $line"))" is "$(figure "at $line")" '>=' 100
"$tool" report "$dir/a.coz" | sed -n '/^progress point/,$p' >"$dir/reported"
check "a report says what the run said at its end" same "$dir/said" "$dir/reported"
run 0 "${in_front[@]}" "$tool" "${short[@]}" --seed 2 -o "$dir/a.coz" -- "${one[@]}" \
	--seconds $((2 * slowness))
says_not 'another build'
looked "a second run is appended" coz "$dir/a.coz" 2
says_all='^startup.*\tnode=[^\t]+\tperiod=(325|493|986)[0-9]{3}(\tsample-cost=[0-9]+)?'
says_all+='\tpause=[a-z]+$'
check "each says its node, its period and how it pauses" \
	[ "$(grep -cP "$says_all" "$dir/a.coz")" -eq 2 ]
check "which is what it told" \
	grep -q "^startup.*period=$((period * 1000 * 6099 / 6180 / 1000))" "$dir/a.coz"
told=$(sed -nE '1s/.*\tsample-cost=([0-9]+)\t.*/\1/p' "$dir/a.coz") # of the first run
told=$(awk -v ns="${told:-none}" 'BEGIN { print ns == "none" ? ns : sprintf("%.1f", ns / 1e3) }')
check "and what a sample costs, in us: $told" [ "${cost:-none}" = "$told" ]

echo "-- a kernel that takes fewer samples"
# Other processes keep the machine's own limit: what the kernel really drops is in docs/design.md.
for most in 2000 1000; do
	echo "$most" >"$dir/most"
	run 0 unshare -m sh -c \
		'mount --bind "$0" /proc/sys/kernel/perf_event_max_sample_rate && exec "$@"' \
		"$dir/most" "$tool" "${short[@]}" -v -o "$dir/rate.coz" -- "${one[@]}" \
		--seconds "$slowness.5"
	says 'a sample each 1000 us$'
	"says$([ "$most" = 1000 ] || echo _not)" 'max_sample_rate is too low$'
done

echo "-- appended to runs of another build"
gcc -O1 -g -fno-omit-frame-pointer -Iinclude -Itests/workloads \
	-Wl,--build-id=0x2222222222222222222222222222222222222222 -o "$dir/abab" \
	tests/workloads/abab.c -lpthread -lm || bad "another build of the program"
first=$(sed -n 's/^startup.*build-id=\(.\{12\}\).*/\1/p' "$dir/a.coz" | head -n 1)
cp "$dir/a.coz" "$dir/b.coz"
run 0 "$tool" "${short[@]}" -o "$dir/b.coz" -- "$dir/abab" \
	"${one[@]:1}" --seconds "$slowness.5"
warning="^cozbpf: warning: '$dir/b.coz' holds runs of another build, $first:"
warning+=" this one, 222222222222, is appended"
says "$warning" "^cozbpf: hint: 'cozbpf report --build 222222222222' "
check "before anything else" grep -qE "$warning" <(head -n 1 "$dir/err")
run 2 "$tool" report "$dir/b.coz"
says 'holds runs of different builds'
run 0 "$tool" merge --build 222222222222 -o "$dir/one.coz" "$dir/b.coz"
prints '^1 run, '

echo "-- reports"
run 0 "$tool" report "$dir/a.coz"
prints 'abab.c:'
run 0 "$tool" report --json "$dir/a.coz"
cp "$dir/out" "$dir/report.json"
looked "the JSON report keeps the contract" json "$dir/report.json"
check "it counts all experiments" is "$(figure experiments)" == \
	"$(grep -c ^experiment "$dir/a.coz")"

echo "-- several runs"
run 0 "$tool" "${short[@]}" -n 3 -o "$dir/n.coz" -- "${one[@]}" --rounds 800
looked "-n 3 is a profile of three runs" coz "$dir/n.coz" 3
check "the command ran three times" [ "$(grep -c '^visits 800 ' "$dir/out")" -eq 3 ]

echo "-- end to end"
run 0 "${in_front[@]}" "$tool" --no-tui --seed 3 --end-to-end -n 12 --fixed-line "$line" \
	--fixed-speedup 0,100 -o "$dir/e.coz" -- "$work" --rounds 40 --iters-per-ms "$rate"
looked "the profile is one of twelve runs" coz "$dir/e.coz" 12
ended "$dir/e.coz"
at_speed "ending the line gains ${gain:-nothing} of 0.6" is "${gain:-none}" '>=' 0.3
at_speed "and no more than 0.85" is "${gain:-none}" '<=' 0.85
check "the report names the point" has "$dir/report.json" '"end-to-end"'

echo "-- end to end, runs that fail"
# The third and the fifth of six end at once, with a status that the others do not have.
cat >"$dir/failing.c" <<-'END'
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		FILE *f = fopen(argv[argc - 1], "a");
		long n = f ? fseek(f, 0, SEEK_END) + fputc('x', f) + ftell(f) - 'x' : 0;
		for (volatile long i = 0; n != 3 && n != 5 && i < 100000000;)
			i++;
		return n == 3 || n == 5 ? 3 : f ? fclose(f) : 1;
	}
END
gcc -g -O1 -o "$dir/failing" "$dir/failing.c"
run 0 "$tool" --no-tui --seed 3 --end-to-end -n 6 --fixed-line failing.c:7 -o "$dir/f.coz" \
	-- "$dir/failing" "$dir/count"
says 'warning: 2 runs do not count: the command failed where it had succeeded before'

echo "-- short commands: two threads, of which the longer one matters"
# What the runs tell is left to tests/unit/test_whole_runs.c and docs/answers.md.
unequal=("$workloads/unequal" --rounds 1 --a-us 100000 --b-us 60000 --iters-per-ms "$rate")
run 0 "${in_front[@]}" "$tool" --no-tui --seed 3 --end-to-end -n 12 -o "$dir/s.coz" \
	-- "${unequal[@]}"
looked "the profile is one of twelve runs" coz "$dir/s.coz" 12
at_speed "few runs are spoilt ($(grep -c ^experiment "$dir/s.coz") of 11 are not)" \
	is "$(grep -c ^experiment "$dir/s.coz")" '>=' 6
check "there are few speedups" [ -z "$(grep -a ^experiment "$dir/s.coz" |
	grep -vP '\tspeedup=0\.(00|50|90)\t')" ]
run 0 "$tool" --no-tui --seed 3 --end-to-end -n 2 -o "$dir/t.coz" -- "${unequal[@]}"
says 'hint: runs add up in the profile; 1[89] more runs take about .* --end-to-end -n 1[89] -- '

echo "-- the time of a named line"
# 6 ms a visit at any speedup: the control variate depends on that (user/core/estimate/control.c).
# Twenty ratios, half of them beside three spinning programs, were 0.970 to 1.022 with a standard
# deviation of 0.016: nine of these are allowed.
run 0 "${in_front[@]}" "$tool" run -q --no-tui --seed 4 --experiment-length 250ms -P progress \
	--fixed-line "$line" --fixed-speedup 0,50,100 -o "$dir/l.coz" -- "$work" --seconds 5 \
	--iters-per-ms "$rate"
looked "the profile has it in each experiment" line "$dir/l.coz"
base=$(figure "line 0")
for speedup in 0.5 1; do
	percent=$(awk -v a="$(figure "line $speedup")" \
		-v b="$base" 'BEGIN { print (b > 0 ? 100 * a / b : "none") }')
	at_speed "at a speedup of $speedup it is $percent % of ${base:-none} ms" is "$percent" \
		'>=' 85
	at_speed "and no more than 115" is "$percent" '<=' 115
done

echo "-- the end of profiling"
mkdir "$dir/sub"
cd "$dir/sub" || exit 1
run 0 "$tool" --no-tui --experiment-length 50ms -P progress -d "$slowness"s -- "${one[@]}" \
	--seconds $((2 * slowness))
cd "$root" || exit 1
says 'profiling has ended; waiting for the command to end'
prints "^visits [0-9]+ seconds $((2 * slowness))\."
looked "without -o the profile is profile.coz, here" coz "$dir/sub/profile.coz" 1
ms=$(sed -nE 's/^runtime.*time=([0-9]+)[0-9]{6}(.free.*)?$/\1/p' "$dir/sub/profile.coz")
check "it ends in time ($ms ms)" is "${ms:-none}" '>=' $((1000 * slowness))
at_speed "and not with the command" is "${ms:-none}" '<' 1900
finish
