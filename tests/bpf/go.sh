#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The BPF programs of a Go program, whose goroutines have accounts: they load and verify, each
# within a budget of instructions (load.sh).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
go=$(command -v go || compgen -G "${COZBPF_GO:-/var/tmp/cozbpf-go}/*/go" | sort -V | tail -n 1)
case $(uname -mr) in
[0-5].* | 6.[0-9].* | 6.1[0-2].* | *aarch64)
	echo "budgets are of x86-64 from Linux 6.13 on"
	exit 77
	;;
esac
[ -n "$go" ] || {
	echo "there is no Go: run 'sudo scripts/install-deps.sh go'"
	exit 77
}
exec tests/bpf/load.sh go "$go"
