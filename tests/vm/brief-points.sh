#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What of tests/e2e/points.sh depends most on the kernel; CI has no time for all of it.
COZBPF_TEST_BRIEF=points exec bash "$(dirname "$0")/../e2e/points.sh"
