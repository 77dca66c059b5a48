#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of one layer (unit binaries or scripts) one after the other and adds up their results.
# usage: scripts/run-tests.sh LAYER TEST...
# A test binary prints "N passed, N failed"; a script prints nothing of the kind and counts as one. Exit 77 is a skip, whose reason is the
# last line printed. COZBPF_ALLOW_SKIP=1 lets skips pass; in CI (CI set) an unexpected skip fails. Totals go to $COZBPF_TOTALS when set.
set -u
layer=$1
shift
[ $# -gt 0 ] || { echo "run-tests: no test in layer '$layer'" >&2; exit 1; }
passed=0 failed=0 skipped=0
for t in "$@"; do
	name=$layer/$(basename "$t")
	log=$(mktemp)
	start=$(date +%s)
	timeout -k 10 "${COZBPF_TEST_TIMEOUT:-300}" "$t" >"$log" 2>&1
	rc=$?
	took=$(($(date +%s) - start))
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	if [ $rc -eq 77 ]; then
		skipped=$((skipped + 1))
		echo "skip $name: $(tail -n 1 "$log")"
	elif [ -n "$counts" ]; then
		p=${counts%% *} f=${counts#*, }
		f=${f%% *}
		[ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
		passed=$((passed + p)) failed=$((failed + f))
		if [ "$f" -gt 0 ]; then echo "FAIL $name ($counts, status $rc)"; cat "$log"; else echo "ok   $name ($p cases, $took s)"; fi
	elif [ $rc -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok   $name ($took s)"
	else
		failed=$((failed + 1))
		echo "FAIL $name (status $rc)"
		cat "$log"
	fi
	rm -f "$log"
done
[ -n "${COZBPF_TOTALS:-}" ] && echo "$passed $failed $skipped" >>"$COZBPF_TOTALS"
echo "$layer: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && { [ $skipped -eq 0 ] || [ -z "${CI:-}" ] || [ -n "${COZBPF_ALLOW_SKIP:-}" ]; }
