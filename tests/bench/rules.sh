#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What each accounting rule is worth: the change of the predictions' error when that rule alone is turned off.
# usage: rules.sh [--seeds N] [--jobs N] [--cases] [RULE...]      in the simulator: seconds per rule
#        rules.sh --real [CASES] [OPTION...]                      on real programs (see rules.py --help): needs root, a quiet machine, hours
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
if [ "${1:-}" != --real ]; then
	exec "$build/rules/simulated" "$@"
fi
shift
make --no-print-directory BUILD="$build/rules" RULE_SWITCHES=1 all workloads
exec env BUILD="$build/rules" python3 tests/bench/rules.py --simulated "$build/rules/simulated" "$@"
