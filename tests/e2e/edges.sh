#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Which wake-ups a thread of the target causes (docs/design.md, What is an edge). Each way of
# waiting is used a thousand times, and the wake-ups of either kind are counted, not timed. A
# handful more come from starting and ending threads, or where a waiter is woken twice. A round is
# missed when the waiter seemed asleep in another wait, or when an interrupt fell into the same 3 us
# as a softirq of a send. A tenth either way is allowed; counting the wrong kind would be wrong by
# all of them.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture edges
rounds=1000

# woken KIND: the number of wake-ups by threads (1) or by others (2) that the last run printed
woken() {
	sed -nE "s/.* ([0-9]+) wake-ups by threads of the program, ([0-9]+) by .*/\\$1/p" "$dir/err"
}

# profile HOW: status 3 of the command means that this kernel does not have it. One line does nearly
# all the work. A first experiment at 100 % would leave it no time, and a second one does not end
# within the second that this takes: hence 50 %.
profile() {
	rm -f "$dir/profile.coz"
	timeout -k 5 60 "$tool" run -v --no-tui -o "$dir/profile.coz" -P round_done \
		--fixed-speedup 50 -- "$dir/edges" "$1" $rounds >"$dir/out" 2>"$dir/err"
}

# made HOW STATUS
made() {
	check "$1: the profile is made" [ "$2" -eq 0 ]
	[ "$2" -eq 0 ] || tail -n 5 "$dir/err"
}

for how in futex process pipe eventfd epoll unix tcp udp signal fault; do
	profile $how </dev/null
	rc=$?
	if [ $rc -eq 3 ]; then
		echo "skip $how: not in this kernel"
		continue
	fi
	made $how $rc
	by=$(woken 1)
	check "$how: $by of $rounds wake-ups are a thread's" is "${by:-none}" \
		'>=' $((rounds * 9 / 10))
	check "$how: and no more" is "${by:-none}" '<=' $((rounds * 11 / 10))
done

for how in sleep timerfd uring stdin; do
	if [ $how = stdin ]; then
		for _ in $(seq $rounds); do
			printf x
			read -rt 0.001 <> <(:) || true
		done | profile $how
	else
		profile $how </dev/null
	fi
	rc=$?
	if [ $rc -eq 3 ]; then
		echo "skip $how: not in this kernel"
		continue
	fi
	made $how $rc
	by=$(woken 1) others=$(woken 2)
	check "$how: $by wake-ups are a thread's" is "${by:-none}" '<=' $((rounds / 10))
	[ $how = stdin ] || check "$how: $others are not" is "${others:-none}" \
		'>=' $((rounds * 9 / 10))
done
echo "-- threads execute in debt, then wait for a lock: what they executed has to fit the CPUs"
# At 100 % the lock is free, and twice as many threads want the CPUs. In six runs 46 of 62
# experiments were over by more than the tolerated 2 %, so none of ten happens once in 700,000 runs.
# Where others have a quarter of the CPUs, 1 or 2 of 20 are, whatever priority the run has. So only
# a run that others left alone is looked at; the simulator has the rule, too (FIT_CPUS).
others=$(python3 -c '
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "tests/bench")
import machine
run = machine.run(sys.argv[2:], 60)
open(sys.argv[1], "w").write(run.stderr)
print(round(100 * run.others))
sys.exit(run.status)' "$dir/err" "${in_front[@]}" taskset -c 0,1 "$tool" -v --no-tui -P progress \
	--fixed-line "mutex.c:$(grep -n 'SPIN.*LINE_A' tests/workloads/mutex.c | cut -d: -f1)" \
	--fixed-speedup 100 --experiment-length 200ms -d 5s \
	-o "$dir/p.coz" -- "$workloads/mutex" --threads 4 --seconds 6)
check "the run succeeds" [ $? -eq 0 ]
if [ "${others:-0}" -ge 5 ]; then
	echo "     others had $others % of the CPUs"
else
	says 'in [1-9][0-9]* experiments threads executed more, virtually, than the CPUs have'
fi
finish
