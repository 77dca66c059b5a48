#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Windows on known blocks of a program: what is counted, what is timed, and what is left out
# (blocks.c).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
[ "$(id -u)" -eq 0 ] || {
	echo "needs root"
	exit 77
}
exec "${BUILD:-build}/tests/bpf/blocks"
