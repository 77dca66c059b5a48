#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process of one thread is held again and again while it waits in each kind of call, and makes
# calls for us. Each call ends as if nobody had held it, and each signal arrives once (held.c).
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0" | sed 's|^/$|tests/arm64|')/guest.sh"
emulated "$0" tests/arm64/held tests/arm64/holder

for kind in running nanosleep futex poll epoll semaphore sigtimedwait read sigsuspend \
	epoll_signal; do
	tests/arm64/held $kind 6 >/tmp/target 2>&1 &
	held=$!
	ready /tmp/target
	tests/arm64/holder "$pid" 200 10000 >/tmp/err
	cat /tmp/err
	check "$kind: it was held" grep -qE '^[0-9]{2,} holds, 0 failed,' /tmp/err
	wait $held
	check "$kind: nothing went wrong" test $? -eq 0
	tail -n 1 /tmp/target
done
finish 30
