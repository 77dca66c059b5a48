#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One system call of cozbpf goes wrong while it attaches, makes three short experiments and
# detaches. docs/security.md has what came of that.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
line=$(grep -n '/\* HOT \*/' tests/fault/target.c | cut -d: -f1)
faults attach --seconds "${FAULT_SECONDS:-25}" --line "target.c:$line"
