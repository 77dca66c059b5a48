#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf blocks`: blocks are found and counted, runs of inputs are kept apart, whatever they end
# like, and the command is left as it is.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture blocks
strip -o "$dir/bare" "$dir/blocks"
log=$dir/blocks.log
cd "$dir" || exit 1

read_log() { # ARGUMENTS of blocks.py
	python3 "$root/tests/e2e/fixtures/blocks.py" "$log" "$@"
}

# of a block in the runs that knew it from their beginning, which is all but the first
later() { # TAG FIELD
	read_log block "$(line_of blocks "$1")" "$2" | tail -n +2
}

echo "-- a command, again and again"
run 7 "$tool" blocks -n 3 -- "$dir/blocks" 30000 usual 7
check "it prints what it does alone" \
	[ "$(grep -c '^rounds 60000 turns [0-9]* holds 120$' "$dir/out")" -eq 3 ]
says '^cozbpf: run 3 of 3: .* blocks, probes .*, exit status 7$' '^cozbpf: 3 runs, ' \
	"see: cozbpf blocks report blocks.log$" '3 of the runs failed'
check "each run is in the log" \
	[ "$(read_log runs | grep -c '^7 1 .*/blocks 30000 usual 7$')" -eq 3 ]
# Watched all the time it is counted exactly; in windows, where probes cost more than their part at
# the moment, to within the 10 % that are promised.
check "what is executed seldom is counted to within 10 %: $(later HOLD frequency | tr '\n' ' ')" \
	awk '{ bad += $1 < 108 || $1 > 132 } END { exit bad || NR != 2 }' <(later HOLD frequency)
check "most are timed" awk '{ bad += $1 < 60 } END { exit bad || NR != 2 }' <(later HOLD timed)
run 0 "$tool" blocks report --failed "$log"
prints 'blocks\.c:'

echo "-- inputs: one is slow, one fails, one does not start, one never ends"
rm -f "$log"
printf '\177ELF no program' >garbage
chmod 755 garbage
cat >inputs <<'END'
# one run for each line
'./blocks' 20000 usual
./blocks 20000 usual
./garbage

"./blocks" 10000 slow
./no-such-program x
./blocks 10000 usual 9
sleep 1000
END
run 1 "$tool" blocks --inputs inputs -d 4s
says 'line 4 of the inputs does not start: ' 'line 7 of the inputs does not start: ' \
	'2 commands did not start' '1 of the runs failed' \
	'ended by --duration'
check "the others are in the log" [ "$(read_log runs | awk '{ print $1, $2 }' | tr '\n' ';')" = \
	'0 1;0 1;0 1;9 1;-15 0;' ]
check "with their command lines" [ "$(read_log runs | grep -c ' ./blocks [12]0000 ')" -eq 4 ]
check "the slow run is seen: $(later HOLD max | tr '\n' ' ')" \
	is "$(later HOLD max | sort -g | tail -n 1)" '>' 50000000
check "the run that never ends is gone" [ -z "$(pgrep -f '^sleep 1000$')" ]
printf '5000\n' >words
run 0 "$tool" blocks -q -o words.log --inputs '!cat words; echo "10000 usual"' -- "$dir/blocks"
check "words of lines follow those of the command" \
	[ "$(awk '{ print $2 }' "$dir/out" | tr '\n' ' ')" = '10000 20000 ' ]
check "nothing is said with -q" [ ! -s "$dir/err" ]

echo "-- without debug information, and with delays"
log=$dir/bare.log
run 0 "$tool" blocks -n 2 --perturb 5 --seed 3 -o "$log" -- "$dir/bare" 10000
check "blocks are functions and offsets" \
	grep -qE $'^place\t.*\tfunction=[^\t]+\t.*\tlines=\t' "$log"
check "delays are told of" grep -qE $'^run\t.*\tpaused=[1-9]' "$log"

echo "-- a child left behind, with a handler that was injected"
as=static_parent fixture parent -static
run 0 "$tool" blocks --perturb 5 -o left.log -- "$dir/static_parent" left 20000
left=$(pgrep -f "^$dir/static_parent left")
caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$left/status")
check "it is taken out" is "$((0x${caught:-ffffffffffffffff} >> 43 & 1))" == 0
kill "$left"

echo "-- a process that runs already"
begin sh -c '"$1" 1000000 & echo ready; wait; echo end' sh "$dir/blocks"
pid=$(pgrep -P "$target_pid")
log=$dir/attached.log
run 0 "$tool" blocks -d 2s -o "$log" -p "$pid"
check "it was one run" [ "$(read_log runs | grep -c '^0 0 ')" -eq 1 ]
at_speed "its rounds were counted" \
	is "$(read_log block "$(line_of blocks ROUND)" frequency)" '>' 20000
check "it goes on" is_state "$pid" '[RS]'
kill "$pid"

echo "-- what is refused"
echo 'throughput-point' >foreign
run 1 "$tool" blocks -o foreign -- true
says "'foreign' is no log of blocks: line 1 is"
check "it stays as it is" [ "$(cat foreign)" = throughput-point ]
run 2 "$tool" blocks
says 'no command given'
run 2 "$tool" blocks --perturb 101 -- true
says "'--perturb 101' is no percentage" 'from 0 to 100'
run 1 "$tool" blocks --inputs /dev/zero -- true
says "error: cannot read '/dev/zero': it is a device"
run 2 "$tool" blocks --inputs nowhere
says "cannot open the inputs 'nowhere'"
printf 'a\n"b\n' >open
run 2 "$tool" blocks --inputs open
says 'line 2 of the inputs: a quote does not end'
finish
