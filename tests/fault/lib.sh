# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds what tests/fault needs, in a directory of its own; sourced, not run. `faults WHAT ARGS...`
# runs the cases of faults.py: ALL=1 takes all of them, SEED=N draws the same ones again, ONLY=FAULT
# or ONLY=FAULT:CALL leaves out the others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ "$(id -u)" -eq 0 ] || {
	echo "needs root"
	exit 77
}
[ "$(uname -m)" = x86_64 ] || {
	echo "x86-64 only: the injector changes registers"
	exit 77
}
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND PKEXEC_UID DOAS_USER LD_PRELOAD
tool=$(realpath "${COZBPF:-${BUILD:-build}/cozbpf}")
dir=$(mktemp -d --tmpdir=/tmp --suffix=.cozbpf-fault)
trap 'rm -rf "$dir"' EXIT
for name in inject target; do
	gcc -O1 -g -fno-omit-frame-pointer -Wall -Wextra -o "$dir/$name" "tests/fault/$name.c" \
		-lpthread
done

faults() {
	mkdir -p "$dir/cases"
	python3 tests/fault/faults.py "$tool" "$dir/inject" "$dir/target" "$dir/cases" "$@" \
		${ALL:+--all} ${SEED:+--seed "$SEED"} ${ONLY:+--only "$ONLY"}
}
