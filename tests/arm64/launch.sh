#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A launched program on arm64. abab does 60 % of its work in LINE_A. Blocking calls and registers
# are left alone, as in tests/e2e/signals.sh.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0" | sed 's|^/$|tests/arm64|')/guest.sh"
emulated "$0" tests/workloads/abab tests/workloads/abab.c tests/e2e/fixtures/waits \
	tests/e2e/fixtures/waits.c tests/e2e/fixtures/speed

# line_of FILE TAG
line_of() {
	echo "${1##*/}:$(grep -n "/\* $2 \*/" "$1" | head -n 1 | cut -d: -f1)"
}

line=$(line_of tests/workloads/abab.c LINE_A)
./cozbpf --no-tui -P progress -o /tmp/p.coz -- tests/workloads/abab --seconds 30 \
	>/tmp/out 2>/tmp/err
check "status 0" test $? -eq 0
cat /tmp/err
leads "$line"

fixed=$(line_of tests/e2e/fixtures/waits.c HOT)
./cozbpf run -v --no-tui -o /tmp/w.coz -P progress --fixed-line "$fixed" --fixed-speedup 100 \
	--experiment-length 50ms -- tests/e2e/fixtures/waits 6000 >/tmp/out 2>/tmp/err
begun=$(sed -nE 's/.*\(waits\): .* ([0-9]+) begun$/\1/p' /tmp/err)
check "threads that wait were paused (${begun:-0} times)" is "${begun:-0}" '>=' 50
cat /tmp/out
check "in each kind of call" test "$(grep -cE '^[a-z_]+: [1-9][0-9]* waits, ' /tmp/out)" -eq 7
check "none came back with EINTR" test "$(grep -c ' 0 EINTR$' /tmp/out)" -eq 7
finish 7
