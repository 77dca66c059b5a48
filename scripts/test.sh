#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs every layer of tests, even after a failed one. Needs
# root: sudo ./scripts/test.sh
# The last line is "N passed, M failed[, K skipped]"; what failed is told once more before that.
# The exit status is 0 only when nothing failed.
# In CI a test that skips itself is a failure as well. What other kernels leave out is counted.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

[ "$(id -u)" -eq 0 ] || {
	echo "test: error: the tests need root" >&2
	echo "test: hint: run 'sudo $0'; 'make check' alone needs no root" >&2
	exit 3
}

# Built files belong to the user who called sudo. The tests themselves see no sudo: a test that
# depends on it sets its variables.
owner=${SUDO_UID:-}:${SUDO_GID:-}
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND PKEXEC_UID DOAS_USER
# The clone may belong to another user than root.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$PWD

# The limits of the steps are for what hangs. They are twice what a quiet machine takes, or more: a
# busy one is slower.
# timeout ends everything that a step has started; on a terminal only the step itself, so Ctrl-C
# arrives.
foreground=()
[ ! -t 1 ] || foreground=(--foreground)
COZBPF_TOTALS=$(mktemp)
COZBPF_FAILURES=$COZBPF_TOTALS.failures
export COZBPF_TOTALS COZBPF_FAILURES
: >"$COZBPF_FAILURES"
beside=$(mktemp -d) # logs and totals of the steps in the background
beside_pids=()
finish() {
	local pid
	for pid in "${beside_pids[@]}"; do pkill -P "$pid"; done
	rm -rf "$COZBPF_TOTALS" "$COZBPF_FAILURES" "$beside"
	[ "$owner" = : ] || [ ! -d build ] || chown -R "$owner" build
}
trap finish EXIT

# step SECONDS NAME COMMAND... A step without totals of its own counts as one test; so does a
# failure that its totals do not show.
step() {
	local limit=$1 name=$2 start=$SECONDS rc=0 before now
	shift 2
	echo "== $name"
	before=$(wc -l <"$COZBPF_TOTALS")
	timeout "${foreground[@]}" -k 10 "$limit" "$@" </dev/null || rc=$?
	now=$(tail -n +$((before + 1)) "$COZBPF_TOTALS" |
		awk '{ n++; f += $2 } END { print n + 0, f + 0 }')
	if [ "$rc" -ne 0 ] && [ "${now#* }" -eq 0 ]; then
		echo "0 1 0" >>"$COZBPF_TOTALS"
	elif [ "${now% *}" -eq 0 ]; then
		echo "1 0 0" >>"$COZBPF_TOTALS"
	fi
	[ "$rc" -ne 124 ] || echo "test: $name: stopped after $limit s"
	echo "-- $name: status $rc, $((SECONDS - start)) s"
	[ "$rc" -eq 0 ] || echo "-- $name: status $rc" >>"$COZBPF_FAILURES"
	return "$rc"
}

# begin_beside, end_beside: a step that goes on while others do. What it prints and its totals come
# at its end.
begin_beside() { # SECONDS NAME COMMAND...
	local -x COZBPF_TOTALS=$beside/${#beside_pids[@]}.totals
	local foreground=()
	: >"$COZBPF_TOTALS"
	step "$@" >"${COZBPF_TOTALS%.totals}.log" 2>&1 &
	beside_pids+=("$!")
}
end_beside() { # all of them
	local i
	for i in "${!beside_pids[@]}"; do
		wait "${beside_pids[i]}"
		cat "$beside/$i.log"
		cat "$beside/$i.totals" >>"$COZBPF_TOTALS"
	done
	beside_pids=()
}

totals() {
	awk '{ p += $1; f += $2; s += $3 }
		END {
			skipped = s ? sprintf(", %d skipped", s) : ""
			printf "%d passed, %d failed%s\n", p, f, skipped
			exit f > 0 || p == 0
		}' "$COZBPF_TOTALS"
}

jobs=$(nproc)
export FEW_WORKLOADS=1
step 600 'install what is missing' scripts/install-deps.sh build test go vm
# A unit test wants toolchains by version: where none is unpacked, the machine's own is one.
own_go() { # FOLDER
	local version
	version=$(go env GOVERSION | sed -nE 's/^go([0-9]+\.[0-9]+).*/\1/p')
	mkdir -p "$1/$version"
	printf '%s\n' '#!/bin/sh' "export GOCACHE=$PWD/build/go/cache" \
		'export GOTOOLCHAIN=local GOPROXY=off' 'export GO111MODULE=auto GOFLAGS=-mod=mod' \
		'exec go "$@"' >"$1/$version/go"
	chmod 755 "$1/$version/go"
}
if ! compgen -G '/var/tmp/cozbpf-go/*/go' >/dev/null; then
	own_go "$beside/go"
	export COZBPF_GO=$beside/go
fi
step 600 build make -j"$jobs" WERROR=1 all workloads
# The soak sleeps most of the time and judges no speeds. Nothing beside it loads BPF programs into
# this kernel. Guests judge no speeds either, and mirrors let one wait.
begin_beside 600 'soak, short' make WERROR=1 check-soak
begin_beside 1000 'other kernels' make WERROR=1 check-vm-ci
step 600 lint make WERROR=1 lint
step 120 documents make WERROR=1 check-docs
step 120 'lint finds what it should' tests/lint/selftest.sh
step 900 'unit tests' make -j"$jobs" WERROR=1 check
step 300 'fuzzers, short' make -j"$jobs" WERROR=1 FUZZ_QUICK=1 TIME=4 fuzz
end_beside
step 400 'bpf tests' make WERROR=1 check-bpf
step 1800 'end-to-end tests' make WERROR=1 check-e2e
step 400 'faults on purpose' make WERROR=1 FAULT_SECONDS=15 check-fault
step 840 'accuracy, short' tests/bench/accuracy.sh --ci --cases barrier
echo "test: everything took $SECONDS s"
cat "$COZBPF_FAILURES"
totals
