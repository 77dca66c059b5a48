#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What each accounting rule is worth: how predictions' errors change when that rule alone is off.
# usage: rules.sh [--seeds N] [--jobs N] [--cases] [RULE...]   in the simulator: seconds per rule
#        rules.sh --real [CASES] [OPTION...]   on real programs, for hours; needs root and a quiet
#                                              machine; see rules.py --help
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
if [ "${1:-}" != --real ]; then
	exec "$build/rules/simulated" "$@"
fi
shift
make --no-print-directory BUILD="$build/rules" RULE_SWITCHES=1 all workloads
exec env BUILD="$build/rules" python3 tests/bench/rules.py --cozbpf "$build/rules/cozbpf" \
	--simulated "$build/rules/simulated" "$@"
