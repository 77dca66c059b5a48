#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Progress points found by themselves: `cozbpf suggest`, and launched commands without -P. The
# fixture ends each round with a system call; its function busy() is above all work.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture functions
fixture rounds -O2
fixture usdt tests/e2e/fixtures/usdt_guarded.c
fixture markers -Iinclude
strip -o "$dir/bare" "$dir/functions"

# field NAME KEY: of a candidate in the JSON.
field() {
	python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["candidates"]:
    if c["name"] == sys.argv[2]:
        print(c[sys.argv[3]])' "$1" "$2" "$3"
}

echo "-- a running process, which is left as it is"
"${in_front[@]}" "$dir/rounds" 40000 >"$dir/target" &
target=$!
started+=("$target")
wait_for 20 has "$dir/target" '^ready' || bad "it starts"
run 0 "${in_front[@]}" "$tool" suggest -d 2s -p "$target"
prints '^rounds, watched for 2\.0 s$' '^  1  sys_exit_write .* writes; ' \
	'^     -P sys_exit_write=tracepoint:syscalls:sys_exit_write$' \
	'function above [0-9]+ % of the work'
check "no handler was put into it" [ "$(sed -n 's/^SigCgt:\t//p' "/proc/$target/status")" = \
	0000000000000000 ]
run 0 "${in_front[@]}" "$tool" suggest --json -d 2s -p "$target"
check "each round makes one call, and one of busy()" python3 -c '
import sys
a, b = map(float, sys.argv[1:])
sys.exit(not 0.8 < a / b < 1.25)' "$(field "$dir/out" sys_exit_write rate)" \
	"$(field "$dir/out" busy rate)"
check "tiny(), called a million times a second, was never probed" \
	[ -z "$(field "$dir/out" tiny rate)" ]
kill "$target"

echo "-- a command, which goes on when the time is over"
run 7 "$tool" suggest -d 1s -- sh -c '"$1" 2500; exit 7' sh "$dir/rounds"
says '^  1  sys_exit_write ' 'waiting for the command to end'
prints '^ready'
run 4 "$tool" suggest -d 1s -- "$dir/bare" 500 alone
says 'did nothing in this time that could be a progress point' 'hint: .*--end-to-end -n 40'
run 4 "$tool" suggest -- true
says 'watched for 0\.[0-4] s$'

echo "-- functions without a name, which do the work themselves"
run 0 "$tool" suggest -d 1.5s -- "$dir/bare" 2500 quiet
says '^  1  bare\+0x[0-9a-f]+ +[0-9]+ .* function that does [2-9][0-9] % of the work itself' \
	'^     -P bare\+0x[0-9a-f]+=\+0x[0-9a-f]+$'
hot=$(nm "$dir/functions" | sed -n 's/^0*\([0-9a-f]*\) t hot$/\1/p')
check "hot() is one of them" has "$dir/err" "^     -P bare\+0x$hot=\+0x$hot$"
run 0 "$tool" -v --no-tui --experiment-length 100ms -o "$dir/p.coz" -P "at=+0x$hot" -P by=hot -- \
	"$dir/functions" 2600
check "that -P counts $(total at) visits, as one with the name" is "$(total at)" '==' "$(total by)"
check "all of them" is "$(total at)" '>' 100
run 4 "$tool" suggest -d 1.5s -- "$dir/rounds" 2500 tiny
says '^     tiny .* itself; (above 20000 visits a second|visits would cost)'

echo "-- static probes and markers"
run 0 "$tool" suggest -d 1s -- "$dir/usdt" 1800
says '^  [1-3]  fixture:plain +[0-9]+ .* 475 ns  static probe; ' '^  [1-3]  fixture:guarded ' \
	'^  [1-3]  fixture:twice ' 'static probe; .*; (1\.0[01]|0\.99) per fixture:' \
	"^     -P usdt:$dir/usdt:fixture:twice\$"
check "the semaphore was raised, and is down again" \
	[ "$(sed -n 's/^semaphore //p' "$dir/out" | tr '\n' ' ')" = "0 1 0 " ]
run 0 "$tool" suggest -d 1s -- "$dir/markers" 1 2
says '^  [12]  unit +[0-9]+ .* marker of coz\.h; ' '^     found without -P$'
check "the two markers of a unit keep their ratio" grep -qE '; (1\.00|0\.99|1\.01) per ' "$dir/err"

echo "-- wrong usage"
run 2 "$tool" suggest
says 'no command given'
run 2 "$tool" suggest -p $$ -- true
says "'--pid' and a command exclude each other"
run 2 "$tool" suggest -d 90s -- true
says 'cannot be watched for 90 s' 'between 1s and 60s'
run 2 "$tool" suggest -d 0.5s -- true
says 'cannot be watched for 0.5 s'

echo "-- a launched command without -P"
run 0 "${in_front[@]}" "$tool" --no-tui -o "$dir/w.coz" -- "$dir/functions" 6000
says 'watching what the program does for 2 s' \
	'progress point chosen: sys_exit_write of functions, [0-9]+/s, .*; -P to choose another$' \
	'^progress point sys_exit_write$'
check "the profile names the point" grep -q 'name=sys_exit_write' "$dir/w.coz"

echo "-- which has none, and then one"
run 4 "$tool" --no-tui -o "$dir/n.coz" -- "$dir/bare" 3000 alone
says 'nothing found that could be a progress point: the whole run is one unit' \
	'error: the command took .*: one run tells nothing'
run 0 "${in_front[@]}" "$tool" --no-tui -o "$dir/l.coz" -- \
	sh -c '"$1" 3000 alone; exec "$1" 5000' sh "$dir/bare"
says 'nothing found that could be a progress point' 'progress point chosen: sys_exit_write of'
run 4 "$tool" --no-tui -d 3s -o "$dir/d.coz" -- "$dir/bare" 4000 alone
says 'waiting for the command to end'
finish
