#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All BPF programs load on arm64, and are compiled. How many there are tests/bpf/load.sh says.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0" | sed 's|^/$|tests/arm64|')/guest.sh"
emulated "$0" tests/e2e/fixtures/speed tests/bpf/load.sh

./cozbpf doctor >/tmp/out 2>/tmp/err
check "the doctor is content" grep -q 'cozbpf can profile here' /tmp/out
./cozbpf run -q --sync=uprobe -o /tmp/p.coz -P progress -- tests/e2e/fixtures/speed \
	>/tmp/target 2>/tmp/err &
tool=$!
ready /tmp/target
cat /proc/$tool/fdinfo/* 2>/dev/null | awk '
	$1 == "prog_jited:" { jited = $2 }
	$1 == "prog_id:" { id = $2 }
	$1 == "verified_insns:" && id && !seen[id]++ { n++; compiled += jited; id = 0 }
	END { print n, compiled }' >/tmp/counts
read -r programs compiled </tmp/counts
check "as many programs as budgets" is "$programs" == \
	"$(grep -cE '^on_[a-z_]+ [0-9]+ [0-9]+$' tests/bpf/load.sh)"
check "all of them compiled" is "$compiled" == "$programs"
kill -9 $tool "$pid"
finish 4
