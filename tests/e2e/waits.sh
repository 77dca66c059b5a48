#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What off-CPU predictions are judged by (make bench-off-cpu): programs whose wait under test gets
# really shorter, beside an outsider that serves them. A wait may last longer than was asked for on
# a busy machine, never less.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
outsider=$(realpath "${BUILD:-build}")/tests/bench/outsider
[ -c /dev/fuse ] || skip 'no /dev/fuse'
each_us=2000

# figure NAME: what the latest run printed of the wait under test, in us: mean, shortest, period.
figure() {
	awk -v of="$1" '/^waits/ { at["mean"] = 1e6 * $6 / $4 }
		/^shortest_us/ { at["shortest"] = $2 }
		/^visits/ { at["period"] = $6 } END { printf "%.0f\n", at[of] }' "$dir/out"
}

# shortened WHAT COMMAND...: the wait takes its 2 ms, half as long, hardly any time. With an
# outsider the counters are its own, so the workload's line speedup gets there. of=period: the
# client may be held up between sending and waiting, so only the whole call has a least time.
shortened() {
	local what=$1 whole of=${of:-mean}
	shift
	run 0 "$@" --rounds 50
	whole=$(figure "$of")
	check "$what: the wait takes its time, $whole us" [ "$whole" -ge $each_us ]
	run 0 "$@" --rounds 50 --line-speedup 50
	check "$what: half is left" [ "$(figure "$of")" -ge $((each_us / 2)) ]
	run 0 "$@" --rounds 50 --line-speedup 100
	check "$what: nothing is left of the shortest, $(figure shortest) us" \
		[ "$(figure shortest)" -lt $((each_us / 2)) ]
}

for disk in disk cached-disk; do
	shortened "fsync, $disk" "$outsider" $disk --service-us $each_us -- \
		"$workloads/fsyncloop" --bystanders 0
done
for via in direct cache; do
	shortened "read, $via" "$outsider" disk --service-us $each_us -- "$workloads/readscan" \
		--via $via
done
shortened 'read ahead' "$outsider" disk --service-us $each_us -- "$workloads/readscan" --ahead 2
of=period shortened call "$outsider" sleep --service-us $each_us -- "$workloads/rpc" --threads 1
shortened sleep "$workloads/sleeper2"

run 0 "$workloads/convoy" --rounds 50
shared=$(figure mean)
run 0 "$workloads/convoy" --rounds 50 --line-speedup 100
check "a lock for each thread: $(figure mean) us of $shared" [ "$(figure mean)" -lt "$shared" ]
# are_on CPUS: the four threads of runq are bound to so many CPUs.
# shellcheck disable=SC2317 # called by wait_for
are_on() {
	awk '/^Cpus_allowed_list/ && $2 !~ /[-,]/ { threads++; cpus += !seen[$2]++ }
		END { exit threads != 4 || cpus != "'"$1"'" }' "/proc/$tool_pid/task/"*/status
}

# binds LINE_SPEEDUP CPUS
binds() {
	start "$workloads/runq" --threads 4 --line-speedup "$1"
	check "at $1 % four threads have $2 of the CPUs" wait_for 30 are_on "$2"
	kill "$tool_pid"
	ended 20 0 'runq ends'
}
if [ "$(nproc)" -gt 1 ]; then
	binds 0 1
	binds 100 2
	run 0 "$workloads/runq" --threads 4 --rounds 50
	prints '^waits 0 count [1-9]'
	run 0 "$workloads/runq" --via hand-over --rounds 50
	prints '^visits 50 '
	run 0 "$workloads/halo" --rounds 50
	prints '^visits 50 '
	run 0 "$workloads/halo" --pin 1 --procs 2 --rounds 50
	prints '^waits 0 count [1-9]'
	run 1 "$workloads/halo" --procs 1
	says 'processes are too few or too many'
else
	skipped=$((skipped + 1))
	echo 'skip runq, halo: they take two CPUs'
fi
cp "$workloads/fsyncloop" "$dir"
run 0 "$outsider" disk -- setpriv --reuid 65534 --clear-groups "$dir/fsyncloop" --rounds 20
prints '^waits 0 count' # of a user without rights, as under sudo
run 7 "$outsider" disk -- sh -c 'exit 7'
run 2 "$outsider" disk
run 1 "$workloads/fsyncloop"
says "outsider disk --"
run 1 "$workloads/rpc"
says "outsider sleep --"
# shellcheck disable=SC2016 # expanded by that shell
run 0 "$outsider" disk -- sh -c 'head -c 8192 "$WORK_DISK" | tr -d "\0" | wc -c'
prints '^0$' # of the bytes other than zeroes

run 0 tests/bench/offcpu.sh --truth-only --cases sleeper2,rpc --seconds-per-cell 0.2 --repeats 1 \
	--patience 0.1 --tries 1
check 'a row for each line speedup' [ "$(grep -cE '^\| (sleeper2|rpc) \|' "$dir/out")" -eq 8 ]
run 1 env BUILD="$dir" tests/bench/real.py --cases sqlite
says "sqlite is left out: no $dir/tests/bench/slowdir \(libfuse3-dev\)"
finish
