#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What of tests/bpf/load.sh depends most on the kernel; CI has no time for all of it.
COZBPF_TEST_BRIEF=load exec bash "$(dirname "$0")/../bpf/load.sh"
