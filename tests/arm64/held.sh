#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A process of one thread is held again and again while it waits in each kind of call, and makes
# calls for us. Each call ends as if nobody had held it, and each signal arrives once (held.c).
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0")/guest.sh"

for kind in running vectors nanosleep futex poll epoll semaphore sigtimedwait read sigsuspend \
	epoll_signal; do
	"$held/held" $kind 6 >"$dir/out" 2>&1 &
	target_pid=$!
	started+=("$target_pid")
	check "$kind: it is ready" wait_for 20 has "$dir/out" '^ready'
	"$held/holder" "$target_pid" 200 10000 >"$dir/err"
	cat "$dir/err"
	check "$kind: it was held" has "$dir/err" '^[0-9]{2,} holds, 0 failed,'
	wait "$target_pid"
	check "$kind: nothing went wrong" [ $? -eq 0 ]
	tail -n 1 "$dir/out"
done
finish
