#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --fixed-line given twice: each line alone and both at once, and whether they depend on each other.
#
# barrier: two threads that are equally long. At 75 % each line alone gains 0, for the other one is
# as long as ever, and both gain 0.75, all of it interaction. On two CPUs with six busy programs
# rounds are as long as the thread that was held up, so a line alone gains something. Four runs
# there had 0.59 to 0.69 for both, with a standard deviation of 0.05, and 0.47 to 0.53 for the
# interaction, 0.03. Half of 0.75 is four such deviations below. 0.1 of interaction is more than
# twelve below, and more than lines that do not wait for each other have.
#
# serial: one thread, so gains add up, and the interaction is 0. It is off by 2.5 half-widths of its
# interval (4.9 standard deviations; intervals of 95 % have 1.96) in one of 1,000,000 runs with
# normal deviations, and in one of 60,000 with those of some 25 experiments for a unit.
#
# sleep: what is virtually shorter is half of the thread's time by a line, and half by a wait. Both
# halved gain 0.5; without the wait 0.25 is all. 0.375 lies between.
# Units take turns, so each has as many experiments to within one, before some are spoilt. Where a
# third of 30 are, 20 +- 2.6 are left of each, and half of the most lies four deviations away.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture couple

# both MODE TAG TAG OPTIONS...: profiles both lines, into $dir/MODE.coz.
both() {
	local mode=$1 first second
	first=$(line_of couple "$2") second=$(line_of couple "$3")
	shift 3
	run 0 "${in_front[@]}" "$tool" --no-tui --fixed-line "$first${of[0]:-}" \
		--fixed-line "$second${of[1]:-}" --experiment-length 100ms -o "$dir/$mode.coz" \
		"$@" -- "$dir/couple" "$mode" $((cpu_ms * slowness))
}

# figure MODE EXPRESSION: of the greatest line speedup, p, in the report as JSON.
figure() {
	"$tool" report --json "$dir/$1.coz" | python3 -c "import json, sys
p = json.load(sys.stdin)['couples'][0]['points'][-1]
print($2)"
}

units='import collections, re, sys
text = open(sys.argv[1]).read()
found = collections.Counter(re.findall(r"(?m)^experiment\tselected=([^\t]*)\t", text))
names = sorted(found, key=lambda name: " + " in name)
print(dict(found))
sys.exit(len(names) != 3 or set(names[2].split(" + ")) != set(names[:2]) or
         min(found.values()) < 5 or 2 * min(found.values()) < max(found.values()))'

echo "-- two threads at a barrier"
cpu_ms=16000
both barrier LINE_A LINE_B -P progress --fixed-speedup 0,75
check "three units, as many experiments of each" python3 -c "$units" "$dir/barrier.coz"
says 'two at once, 75 % faster, by progress' '^  interaction +[+-]' \
	'^(after couple.c:[0-9]+, couple.c:[0-9]+ |they do not depend)'
gain=$(figure barrier 'p["both"]')
at_speed "both gain $gain of 0.75" is "$gain" '>=' 0.375
gain=$(figure barrier 'p["interaction"]')
at_speed "beyond what each gains: $gain" is "$gain" '>=' 0.1

echo "-- one thread"
cpu_ms=8000
both serial SERIAL_A SERIAL_B -P progress --fixed-speedup 0,50
check "three units, as many experiments of each" python3 -c "$units" "$dir/serial.coz"
# the end of the interval that is on the side of 0
far=$(figure serial 'p["interaction"] / (p["interaction"] - p["interaction_ci"][
    p["interaction"] < 0])')
check "an interaction of $(figure serial 'p["interaction"]'): $far half-widths" is "$far" '<=' 2.5
gain=$(figure serial 'p["both"]')
check "both gain $gain of 0.333" is "$gain" '>=' 0.167

echo "-- a line and a wait"
of=('' '[sleep]')
cpu_ms=3000
both sleep RUNS SLEEPS -P progress --fixed-speedup 0,50 --off-cpu=sleep
of=()
check "three units, as many experiments of each" python3 -c "$units" "$dir/sleep.coz"
gain=$(figure sleep 'p["both"]')
at_speed "both gain $gain of 0.5" is "$gain" '>=' 0.375

echo "-- whole runs"
cpu_ms=100
both serial SERIAL_A SERIAL_B --end-to-end -n 30 -o "$dir/runs.coz"
check "three units" [ "$(sed -n 's/^experiment\tselected=\([^\t]*\).*/\1/p' "$dir/runs.coz" |
	sort -u | wc -l)" -eq 3 ]
says 'by end-to-end'

echo "-- the profile is like any other"
first=$(line_of couple LINE_A) second=$(line_of couple LINE_B)
run 0 "$tool" merge -o "$dir/merged.coz" "$dir/barrier.coz" "$dir/barrier.coz"
run 0 "$tool" report "$dir/merged.coz"
prints '^two at once' "making $first \+ $second 75 % faster"
run 0 "$tool" compare "$dir/barrier.coz" "$dir/barrier.coz"
prints "$first \+ $second  +"
run 0 "$tool" plot -o "$dir/page.html" "$dir/barrier.coz"
check "the page names both" has "$dir/page.html" "$first \+ $second"
run 0 "$tool" report --folded "$dir/barrier.coz"
check "samples count once" [ "$(grep -c ' + ' "$dir/out")" -eq 0 ]

echo "-- refused"
refused() { # TEXT OPTIONS...
	local text=$1
	shift
	run 2 "$tool" -q -P progress "$@" -o "$dir/no.coz" -- "$dir/couple" serial 100
	says "$text"
}
refused "'--fixed-line' is given 3 times" --fixed-line "$first" --fixed-line "$second" \
	--fixed-line "$(line_of couple RUNS)"
refused "'--fixed-line $first' and '--fixed-line ./$first' are the same" \
	--fixed-line "$first" --fixed-line "./$first"
refused "of '--fixed-line $second' and '--fixed-line second' one holds the other" \
	--fixed-line "$second" --fixed-line second
refused "of '--fixed-line \[sleep\]' and '--fixed-line .* \[sleep\]' one holds the other" \
	--off-cpu --fixed-line '[sleep]' --fixed-line "$first [sleep]"
refused "no code at line 1 of" --fixed-line "$first" --fixed-line couple.c:1
refused "is about waits" --fixed-line "$first" --fixed-line "$second [io]"
finish
