#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Attaching on arm64: the line that leads is the right one, pauses begin, and nothing is left
# behind. The work is 60 % in LINE_A.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0" | sed 's|^/$|tests/arm64|')/guest.sh"
emulated "$0" tests/e2e/fixtures/running tests/e2e/fixtures/running.c

# look FILE: mappings without addresses, actions and masks of signals, descriptors
look() {
	{
		sed -E 's/^[^ ]+ (....) [^ ]+ [^ ]+ [^ ]+ */\1 /' "/proc/$pid/maps" |
			grep -v uprobes | sort | uniq -c
		grep -hE '^(SigCgt|SigIgn|Threads|TracerPid)' "/proc/$pid/status"
		grep -hE '^SigBlk' "/proc/$pid"/task/*/status
		for fd in "/proc/$pid/fd"/*; do readlink "$fd"; done
	} >"$1"
}

line=running.c:$(grep -n 'LINE_A \*/' tests/e2e/fixtures/running.c | head -n 1 | cut -d: -f1)
tests/e2e/fixtures/running plain >/tmp/target &
ready /tmp/target
look /tmp/before
./cozbpf -v --no-tui -P progress -d 30s -o /tmp/p.coz -p "$pid" >/tmp/out 2>/tmp/err
check "status 0" test $? -eq 0
look /tmp/after
cat /tmp/err
check "the handler was injected" grep -q 'pause handler injected, signal [0-9]*;' /tmp/err
check "and taken out" grep -q 'pause handler taken out;' /tmp/err
read -r asked begun <<END
$(sed -nE 's/.* \(running\): .* ([0-9]+) pauses asked, ([0-9]+) begun$/\1 \2/p' /tmp/err)
END
check "pauses were begun: $begun" is "$begun" '>' 0
check "most of $asked" is "$((2 * begun))" '>=' "$asked"
leads "$line"
check "nothing is left" cmp /tmp/before /tmp/after
kill "$pid"
wait "$pid"
cat /tmp/target
check "no signal of ours reached it" grep -q ' foreign 0 not_caught 0' /tmp/target
finish 11
