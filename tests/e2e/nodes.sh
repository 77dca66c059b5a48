#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --peers: two parts of a program, each under a cozbpf of its own, on the loopback. What they
# refuse, what they share, and what happens when one of them goes.
#
# pingpong: part 0 works 1 ms, in the line, then part 1 works 1 ms. The line's speedup is half of
# the program's, so 100 % bring 0.5, less what the way through the sockets takes. The delays of part
# 0 have to get to part 1 with the data: else part 1 pays for what it has waited for, and the line
# brings nothing. 0.25 lies between. Over there, for part 1's line, it is the same.
# The second time messages are longer than a segment of the way, which is Ethernet's: with the
# option no segment may be longer, since TCP would find that out by a timeout of 200 ms.
#
# Experiments of 100 ms, and 200 ms with what lies between: ten in 6 s are a third of what there is
# time for.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
program=$workloads/nodes
line=nodes.c:$(grep -n '/\* LINE_A \*/' tests/workloads/nodes.c | cut -d: -f1)
peers=127.0.0.1:7461,127.0.0.1:7462
key=$dir/key
(umask 077 && head -c 32 /dev/urandom | base64 >"$key")
turns=$("$program" --calibrate)

echo "-- what makes no sense"
command=("$workloads/serial" --seconds 1)
run 2 "$tool" --peers a,b -- "${command[@]}"
says "'--peers' needs a progress point"
run 2 "$tool" -P progress --peers a,b -- "${command[@]}"
says "nodes need a key in common" 'hint: make one that all nodes read'
run 2 env COZBPF_PEERS_KEY=short "$tool" -P progress --peers a,b -- "${command[@]}"
says 'the key of the run is too short: 16 bytes are needed'
cp "$key" "$dir/open" && chmod 644 "$dir/open"
run 2 "$tool" -P progress --peers a,b --peers-key "$dir/open" -- "${command[@]}"
says "others may read the key '.*/open'" "chmod 600"
run 2 "$tool" -P progress --peers 198.51.100.1,198.51.100.2 --peers-key "$key" -- "${command[@]}"
says 'none of the nodes in --peers is this machine'
run 2 "$tool" -P progress --peers 127.0.0.1 --peers-key "$key" -- "${command[@]}"
says 'a run of one node has no peers'
run 2 "$tool" -P progress --peers job --peers-key "$key" -- "${command[@]}"
says 'no engine of jobs has named the nodes'
run 2 "$tool" --peers a,b --end-to-end -- "${command[@]}"
says "'--peers' and '--end-to-end' exclude each other"
run 2 "$tool" --peers-key "$key" -- "${command[@]}"
says "'--peers-key' is of no use without '--peers'"

space=()

# part NODE KEY COMMAND...: begins a part in the background, with output in $dir/NODE.out, .err.
part() {
	local node=$1 with=$2
	shift 2
	"${in_front[@]}" "${space[@]}" "$tool" --no-tui -v -P progress --peers "$peers" \
		--peers-key "$with" --experiment-length 100ms "${options[@]}" \
		-o "$dir/p.coz" -- "$@" \
		>"$dir/$node.out" 2>"$dir/$node.err" </dev/null &
	parts[node]=$!
	started+=($!)
}

# parted NODE STATUS: the part ends with it; its output is in $dir/out and $dir/err.
parted() {
	local rc=0
	wait_for 60 gone "${parts[$1]}" || bad "part $1 ends"
	wait "${parts[$1]}" || rc=$?
	cp "$dir/$1.out" "$dir/out"
	cp "$dir/$1.err" "$dir/err"
	check "part $1 ends with status $2" [ "$rc" -eq "$2" ]
}

# listening NODE: it has told which of the nodes it is.
# shellcheck disable=SC2317 # wait_for calls it
listening() { has "$dir/$1.err" '^cozbpf: node [0-9] of 2'; }

pingpong() { # A0 A1
	local node
	rm -f "$dir"/p*.coz
	for node in 0 1; do
		part $node "$key" "$program" --rank $node --pattern pingpong --a0 "$1" --a1 "$2" \
			--b0 $((1000 - $1)) --b1 $((1000 - $2)) --port 7463 --bytes 4096 \
			--seconds 6 --iters-per-ms "$turns"
		wait_for 20 listening $node || bad "part $node is listening"
	done
	if [ "${hostile:-}" ]; then
		python3 - <<'END'
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(300):
    s.sendto(os.urandom(i), ("127.0.0.1", 7461))
    s.sendto(b"CZBP\1\0\0\0" + os.urandom(i), ("127.0.0.1", 7462))
END
	fi
	parted 1 0
	says "node '127.0.0.1:7461' is there" \
		"the run's experiments are in the profile of node '127.0.0.1:7461'" \
		'dropped: [1-9][0-9]* foreign|another key, 0 of other'
	parted 0 0
	says "node '127.0.0.1:7462' is there" ' [0-9]{2,} waits joined'
}

gain() { # of the line at 100 %
	"$tool" report --json "$dir/p.coz" | python3 -c "import json, sys
lines = {l['line'].split('/')[-1]: l for l in json.load(sys.stdin)['lines']}
print(lines['$line']['points'][-1]['program_speedup'])"
}

experiments() { grep -c ^experiment "$dir/$1"; }

options=(--fixed-line "$line" --fixed-speedup "0,100")
echo "-- two parts, the line is in the first one; hostile datagrams"
hostile=yes
pingpong 1000 0
says 'dropped: [1-9]'
check "experiments are in the first profile" is "$(experiments p.coz)" '>=' 10
check "the second one has samples" grep -q '^samples' "$dir/p.1.coz"
check "and no experiments" is "$(experiments p.1.coz)" == 0
gained=$(gain)
at_speed "the line brings $gained of 0.5" is "$gained" '>' 0.25
check "no more than there is" is "$gained" '<' 0.75

echo "-- the line is in the second one; segments of Ethernet"
hostile=
unshare --net sleep 120 &
started+=($!)
space=(nsenter "--net=/proc/$!/ns/net")
# shellcheck disable=SC2317 # wait_for calls it
apart() { [ "$("${space[@]}" readlink /proc/self/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 10 apart || bad "there is a network namespace"
"${space[@]}" ip link set lo mtu 1500 up
pingpong 0 1000
too_long=$("${space[@]}" awk '$1 != "Ip:" { next }
	!at { for (at = 1; $at != "FragFails"; at++); next }
	{ print $at }' /proc/net/snmp)
check "no segment is too long" is "$too_long" == 0
space=()
gained=$(gain)
at_speed "the line brings $gained of 0.5" is "$gained" '>' 0.25
check "no more than there is" is "$gained" '<' 0.75

echo "-- one of two goes"
rm -f "$dir"/p*.coz
options=(--fixed-speedup "0,50")
part 0 "$key" "$workloads/serial" --seconds 7
wait_for 20 listening 0 || bad "part 0 is listening"
part 1 "$key" "$workloads/serial" --seconds 7
wait_for 20 has "$dir/1.err" "node '127.0.0.1:7461' is there" || bad "they meet"
wait_for 20 has "$dir/p.coz" '^experiment' || bad "there are experiments"
kill -KILL "${parts[1]}"
before=$(experiments p.coz)
parted 0 0
says "warning: node '127.0.0.1:7462' says nothing any more" \
	"an experiment is void: node '127.0.0.1:7462' (has gone|did not close it)"
check "the other one goes on" is "$(experiments p.coz)" '>=' $((before + 3))
pkill -KILL -P "${parts[1]}" 2>/dev/null

echo "-- another key, another build"
(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/other")
rm -f "$dir"/p*.coz
strangers() { # KEY PROGRAM MESSAGE: of the second part; what both say of each other
	part 0 "$key" "$workloads/serial" --seconds 3
	wait_for 20 listening 0 || bad "part 0 is listening"
	part 1 "$1" "$workloads/$2" --seconds 2
	parted 1 4
	says "node '127.0.0.1:7461' $3"
	parted 0 4
	says "node '127.0.0.1:7462' $3"
}
strangers "$dir/other" serial 'was not there: it has another key'
strangers "$key" pipe 'was refused: it runs another build of the program'
finish
