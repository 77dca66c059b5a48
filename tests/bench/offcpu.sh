#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Off-CPU bench; arguments go to offcpu.py (see --help). Needs `make all workloads` and root.
exec python3 "$(dirname "$0")/offcpu.py" "$@"
