#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The soak in a minute and a half: what is exact, and what of the servers may grow. No speeds, and
# not the kernel's memory: other tests run beside, and get what the clients leave of the CPUs.
exec "$(dirname "$0")/soak.sh" --seconds 80 --cycle 6 --long 0 --rounds 0 --gentle
