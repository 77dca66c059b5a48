#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Progress points of every kind, each passed once per unit of work: all count the same visits. In an
# experiment counts may differ by one at each end of the window, since the points of a unit lie a
# microsecond or so apart. No other difference is tolerated.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture points
line=$(line_of points WORK)
inlined=$(line_of points INLINED)
echo 'void late_unit(void); void late_unit(void) { __asm__ volatile(""); }' >"$dir/late.c"
gcc -O1 -g -shared -fPIC -o "$dir/libcozlate.so" "$dir/late.c"
length=$((100 * slowness))ms
lab=(--no-tui --experiment-length "$length" --fixed-speedup "0,50" --fixed-line "$line")

echo "-- one count for all kinds"
run 0 "$tool" -v "${lab[@]}" -o "$dir/p.coz" -P fn=progress \
	-P "ret=uretprobe:$dir/points:progress" -P "inl=$inlined" \
	-P tp=tracepoint:syscalls:sys_enter_write -P "late=libcozlate.so:late_unit" \
	-P "work=sampled:$line" -P "rest=sampled:$(line_of points REST)" \
	-- "$dir/points" $((5000 * slowness)) "$dir/libcozlate.so"
says "progress point 'late' is awaited: cannot open 'libcozlate.so'" \
	"progress point 'late' is in '.*/libcozlate.so'"
check "two copies of the inlined line" [ "$(grep -c "progress point 'inl' at" "$dir/err")" -eq 2 ]
for name in ret inl tp; do
	check "'$name' counts as the function's entry does" same_visits fn "$name"
done
# The library comes after a quarter of the time, and the tool looks for it twice a second.
check "so does the point of the library, from when it has come" same_visits fn late late
# REST does two thirds of WORK's work. Some 3,000 samples fall in the windows of all experiments
# together. The ratio has a standard deviation of 4 % if samples fall independently; five of these
# are allowed.
share=$(python3 -c 'import sys
a, b = (sum(int(n) for n in t.split()) for t in sys.argv[1:])
print(round(b / a, 3))' "$(deltas work)" "$(deltas rest)")
check "time executed in two lines: $share where the program has 0.667" \
	python3 -c "import sys; sys.exit(not 0.53 < $share < 0.8)"
run 0 "$tool" report --json "$dir/p.coz"
read_again=$(python3 -c 'import json, sys
print(*sorted({l["progress"] for l in json.load(sys.stdin)["lines"]}))' <"$dir/out")
check "the points' records are all read again" [ "$read_again" = "fn inl late rest ret tp work" ]
check "none is left out" [ ! -s "$dir/err" ]

if ! brief; then
echo "-- a program that is started by another, and replaced meanwhile"
cp "$dir/points" "$dir/copy"
cat >"$dir/twice.sh" <<END
#!/bin/sh
"\$1" $((2000 * slowness))
cp "\$1" "\$1.new"
mv "\$1.new" "\$1"
exec "\$1" $((2000 * slowness))
END
chmod +x "$dir/twice.sh"
run 0 "$tool" --no-tui --experiment-length "$length" -b '%/copy' -o "$dir/p.coz" -P progress \
	-- "$dir/twice.sh" "$dir/copy"
says "progress point 'progress' is awaited: it names no binary" \
	"progress point 'progress' is in '$dir/copy'$" \
	"progress point 'progress' is in '$dir/copy', too"
# Of the last ones, one may have met other programs.
at_speed "experiments after the replacement have visits" python3 -c "
import sys
n = [int(x) for x in '$(deltas progress)'.split()]
sys.exit(not (len(n) > 15 and sum(x > 5 for x in n[-5:]) >= 4))"

echo "-- a point that is visited too often"
cat >"$dir/fast.c" <<'END'
#include <time.h>
__attribute__((noinline)) long quick(long x) { return x + 1; }
int main(void)
{
	long v = 0;
	while (clock() < LENGTH_S * CLOCKS_PER_SEC)
		for (int i = 0; i < 1000; i++)
			v = quick(v);
	return v < 0;
}
END
gcc -O1 -g -DLENGTH_S=$((2 * slowness)) -o "$dir/fast" "$dir/fast.c"
run 0 "$tool" --no-tui -o "$dir/f.coz" -P quick -- "$dir/fast"
cost="at [0-9]+ ns a visit or more that is [0-9]+ % of the program's CPU time"
says "warning: 'quick' is visited [0-9]+ times a second; $cost. Cheaper are"
check "it is said once" [ "$(grep -c 'is visited' "$dir/err")" -eq 1 ]

echo "-- never there"
run 4 "$tool" "${lab[@]}" -o "$dir/n.coz" -P libnosuch.so:f -- "$dir/points" 700
says "progress point 'libnosuch.so:f' was never found: cannot open 'libnosuch.so'" \
	'mapped no file that has it'

echo "-- names of C++ and of Rust"
g++ -O1 -g -fno-omit-frame-pointer -Wall -Wextra -o "$dir/names" tests/e2e/fixtures/names.cc ||
	bad "the fixture builds"
names=(cxx='ns::f(int)' path="$dir/names:ns::once" \
	return="uretprobe:$dir/names:ns::(anonymous namespace)::hidden" template='ns::box<int>::put'
	legacy=m::inner::twice trait='<m::Square as m::Shape>::area' v0='v0::inner::twice::<u64>' \
		type=v0::Once::call closure='v0::main::{closure#0}')
specs=(-P fn=progress)
for name in "${names[@]}"; do
	specs+=(-P "$name")
done
rm -f "$dir/p.coz"
run 0 "$tool" -v --no-tui --experiment-length "$length" --fixed-speedup 0,50 -o "$dir/p.coz" \
	"${specs[@]}" -- "$dir/names" $((2600 * slowness))
for name in "${names[@]}"; do
	check "'${name##*/}' counts as the function's entry does" same_visits fn "${name%%=*}"
done
check "two functions that differ in their hash" \
	[ "$(grep -c "progress point 'legacy' at 0x.* in m::inner::twice$" "$dir/err")" -eq 2 ]
run 2 "$tool" -q -o "$dir/n.coz" -P ns::f -- "$dir/names" 100
says "error: 'ns::f' in '$dir/names' can be more than one function" \
	"hint: name one of 'ns::f\((int|double)\)', 'ns::f\((int|double)\)'$"
run 2 "$tool" -q -o "$dir/n.coz" -P v0::inner::twice -- "$dir/names" 100
says "hint: name one of 'v0::inner::twice::<u(64|32)>', 'v0::inner::twice::<u(64|32)>'$"
run 2 "$tool" -q -o "$dir/n.coz" -P m::inner::twcie -- "$dir/names" 100
says "hint: did you mean 'm::inner::twice'"

echo "-- returns of Go"
# What Go's linker leaves in a program suffices to recognise it.
objcopy --add-section .go.buildinfo="$dir/late.c" "$dir/points" "$dir/gopher"
run 2 "$tool" -q -o "$dir/n.coz" -P "uretprobe:$dir/gopher:progress" -- "$dir/gopher" 100
crash='its stacks move, so a probe at a return would crash it'
says "error: '$dir/gopher' is a Go program: $crash" \
	"hint: probe the function's entry, or a line .*-P FILE:LINE"
run 0 "$tool" -q --experiment-length "$length" -o "$dir/n.coz" \
	-P "uprobe:$dir/gopher:progress" -- "$dir/gopher" $((1200 * slowness))
fi

echo "-- attached to a server: a tracepoint counts its threads' calls, and no other program's"
fixture server
"$dir/server" serve 4 >"$dir/server.out" &
server=$!
started+=("$server")
dd if=/dev/zero of=/dev/null bs=1 2>"$dir/dd.err" & # a write after the other, millions of them
stranger=$!
started+=("$stranger")
wait_for 20 has "$dir/server.out" '^ready' || bad "the server starts"
"$dir/server" load "$(awk '{ print $3 }' "$dir/server.out")" 8 >"$dir/load.out" &
load=$!
started+=("$load")
wait_for 20 has "$dir/load.out" '^ready' || bad "the load starts"
rm -f "$dir/p.coz"
run 0 "$tool" -v --no-tui --experiment-length "$length" --fixed-speedup 0,50 \
	--fixed-line "$(line_of server HOT)" -P fn=progress \
	-P write=tracepoint:syscalls:sys_enter_write -o "$dir/p.coz" -d $((3 * slowness))s \
	-p "$server"
kill -TERM "$load"
wait "$load"
kill -TERM "$server" "$stranger"
wait "$server" "$stranger" 2>/dev/null
# A request is one write, then progress(). Four threads may each stand between the two at either end
# of an experiment. Where the machine stood still a window may be empty. On an emulated machine the
# two counts were a tenth apart at times.
at_speed "in each experiment as many as requests" python3 -c "
import sys
a, b = ([int(n) for n in t.split()] for t in ('$(deltas fn)', '$(deltas write)'))
near = all(abs(x - y) <= 8 for x, y in zip(a, b))
sys.exit(not (len(a) == len(b) and sum(n > 20 for n in a) >= 5 and near))"
check "the server goes on unharmed" has "$dir/load.out" '^end requests [1-9][0-9]+ failed 0$'
finish
