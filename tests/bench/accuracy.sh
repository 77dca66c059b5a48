#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Accuracy bench; arguments go to accuracy.py (see --help). Needs `make all workloads` and root.
exec python3 "$(dirname "$0")/accuracy.py" "$@"
