#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Overhead bench; arguments go to overhead.py (see --help). Needs `make all workloads`, bpftool and
# root.
exec python3 "$(dirname "$0")/overhead.py" "$@"
