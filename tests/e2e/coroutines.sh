#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that run coroutines, whose stacks are carved out of other memory: a pause must not write
# beyond them. Where the user says that they have room, threads are paused there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture coroutines
options=(--no-tui -v -P progress --fixed-line "$(line_of coroutines HOT)" --fixed-speedup 100
	--experiment-length 100ms -o "$dir/p.coz")
begun() {
	sed -nE 's/^cozbpf: process .* \(coroutines\): .* ([0-9]+) begun$/\1/p' "$dir/err"
}

for thread in "" thread; do
	echo "-- stacks of 3 kB, of the ${thread:-main thread}"
	# shellcheck disable=SC2086 # empty: no argument
	run 0 "$tool" "${options[@]}" -- "$dir/coroutines" 3000 $thread
	prints '^overrun 0$'
	says 'warning: process .* could not be paused .* stacks that it has made .* --any-stack'
done

echo "-- stacks of 64 kB, which the user vouches for"
run 0 "$tool" "${options[@]}" --any-stack -- "$dir/coroutines" 65536
prints '^overrun 0$'
says_not 'could not be paused .* stacks that it has made'
n=$(begun)
check "its coroutines were paused ($n times)" is "$n" '>=' 20
finish
