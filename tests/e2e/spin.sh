#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Busy waiting is found by itself, in a command and in a process that runs already, and is counted.
# It leaves nothing behind. Two threads share a lock for 4 of 6 ms, so that each waits for a third
# of its time: a tenth is asked for, and nothing without a lock. Halving LINE_A gains 0.5. Measured
# here: 0.48 in 8 quiet runs, standard deviation 0.008; 0.47 to 0.49 beside a loop that takes a
# quarter of the CPUs; 0.37 to 0.50 beside one that keeps a CPU; 0.18 where waiting counts as work.
# 0.3 lies between.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
rate=$("$workloads/spinlock" --calibrate)
line=spinlock.c:$(grep -n LINE_A tests/workloads/spinlock.c | cut -d: -f1)
spun='import sys
total = {}
for text in open(sys.argv[1]):
    for field in text.rstrip("\n").split("\t")[1:]:
        if text.startswith("runtime"):
            key, value = field.split("=")
            total[key] = int(value)
print(total.get("spun", 0) / total["executed"])'

profile() { # NAME WORKLOAD ARGUMENTS... [-- OPTIONS OF cozbpf]
	local name=$1 workload=$2
	shift 2
	run 0 "${in_front[@]}" "$tool" -v --no-tui -P progress -o "$dir/$name.coz" \
		"${more[@]}" \
		-- "$workloads/$workload" --iters-per-ms "$rate" "$@"
	share=$(python3 -c "$spun" "$dir/$name.coz")
}

gain_of() { # NAME PERCENT: of the line, as it was predicted
	"$tool" report --json "$dir/$1.coz" | python3 -c 'import json, sys
for p in json.load(sys.stdin)["lines"][0]["points"]:
    if round(100 * p["line_speedup"]) == int(sys.argv[1]):
        print(p["program_speedup"])' "$2"
}

leader_of() { # NAME: FILE:LINE
	"$tool" report --json "$dir/$1.coz" | python3 -c 'import json, sys
print(json.load(sys.stdin)["lines"][0]["line"].split("/")[-1])'
}

place_of() { # TAG: the line of a loop whose body is empty is that of its condition
	echo "$(($(grep -n "$1" tests/workloads/spinlock.c | cut -d: -f1) - 1))"
}

echo "-- a lock in user space, waiters call sched_yield()"
more=(--fixed-line "$line" --fixed-speedup "0,50")
profile ticket spinlock --seconds 8
check "threads spun for $share of their time" is "$share" '>=' 0.1
says 'threads spun for [1-9][0-9] % of their CPU time'
gain=$(gain_of ticket 50)
check "halving the line gains $gain of 0.5" is "$gain" '>=' 0.3

echo "-- waiters execute PAUSE"
more=()
profile pause spinlock --lock pause --seconds 3
says "spinlock': spins at 1 places" "libc.*': spins at [1-9][0-9]* places"
check "threads spun for $share of their time" is "$share" '>=' 0.1

echo "-- waiters only look, or try to take the lock: no PAUSE, and no system call"
more=(--fixed-line "$line" --fixed-speedup "0,25,50")
profile look spinlock --lock look --seconds 10
says "spinlock': waits in the loop at 0x[0-9a-f]+$"
says_not 'hardly waits|spins at'
check "threads spun for $share of their time" is "$share" '>=' 0.1
gain=$(gain_of look 50)
check "halving the line gains $gain of 0.5" is "$gain" '>=' 0.3
check "more than a quarter, $(gain_of look 25)" is "$gain" '>' "$(gain_of look 25)"
more=()
profile exchange spinlock --lock exchange --seconds 4
says "spinlock': waits in the loop at 0x[0-9a-f]+$"
check "threads spun for $share of their time" is "$share" '>=' 0.1
profile barrier pausebarrier --wait look --seconds 8
says "pausebarrier': waits in the loop at 0x[0-9a-f]+$"
check "threads spun for $share of their time" is "$share" '>=' 0.1
barrier=pausebarrier.c:$(grep -n LINE_A tests/workloads/pausebarrier.c | cut -d: -f1)
check "$barrier leads, of whose time A has most" [ "$(leader_of barrier)" = "$barrier" ]

echo "-- where that is; and a function that is named instead"
run 0 "$tool" lines --spins "$workloads/spinlock"
prints '/tests/workloads/spinlock.c:[0-9]+[[:space:]]0x[0-9a-f]+[[:space:]]PAUSE$' \
	"spinlock.c:$(place_of LINE_L)[[:space:]]0x[0-9a-f]+[[:space:]]loop$" \
	"spinlock.c:$(place_of LINE_E)[[:space:]]0x[0-9a-f]+[[:space:]]loop$"
more=(--spin is_served --spin no_such_function)
profile named spinlock --lock plain --seconds 2
check "threads spun for $share of their time" is "$share" '>=' 0.1
says "warning: no file .* has the function 'no_such_function' of --spin"
run 2 "$tool" --spin x --no-spin -P progress -- true
says "'--spin' and '--no-spin' exclude each other"

echo "-- nobody spins, and nobody is to be seen spinning"
more=()
profile none mutex --seconds 2
check "threads spun for $share of their time" is "$share" '<' 0.01
says_not 'spins at|waits in the loop'
more=(--no-spin)
profile unseen spinlock --seconds 3
check "threads spun for $share of their time" [ "$share" = 0.0 ]
profile unlooked spinlock --lock look --seconds 3
check "threads spun for $share of their time" [ "$share" = 0.0 ]
says_not 'waits in the loop'

echo "-- a loop made for waiting, at what is there already"
fixture passing
more=()
run 0 "$tool" -v --no-tui -P progress -o "$dir/passing.coz" -- "$dir/passing"
says "passing': waits in the loop at 0x[0-9a-f]+$" "passing': hardly waits in the loop at 0x"

echo "-- a process that runs already is left as it was"
"$workloads/spinlock" --lock pause --iters-per-ms "$rate" --seconds 60 >"$dir/target" &
target_pid=$!
started+=("$target_pid")
wait_for 10 grep -q libc "/proc/$target_pid/maps" || bad "the target starts"
run 0 "$tool" -v --no-tui -d 3s -P progress -o "$dir/attached.coz" -p "$target_pid"
says "libc.*': spins at [1-9][0-9]* places"
differ='import sys
memory = open(f"/proc/{sys.argv[1]}/mem", "rb")
for mapping in open(f"/proc/{sys.argv[1]}/maps"):
    where, rights, offset, _, _, *path = mapping.split()
    if "x" in rights and path and path[0].startswith("/"):
        start, end = (int(word, 16) for word in where.split("-"))
        memory.seek(start)
        file = open(path[0], "rb")
        file.seek(int(offset, 16))
        code = file.read(end - start)
        if memory.read(len(code)) != code:
            print(path[0])'
check "its code is that of its files" [ -z "$(python3 -c "$differ" "$target_pid")" ]
kill -TERM "$target_pid"
finish
