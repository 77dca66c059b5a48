#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of one layer (unit binaries or scripts) one after the other, or COZBPF_TEST_JOBS at
# a time, and adds up their results.
# usage: scripts/run-tests.sh LAYER TEST...
# A test prints "N passed, N failed", and ", N skipped" where it left checks out; a script that
# prints no such line counts as one. Exit 77 is a skip, and the last printed line is its reason.
# COZBPF_ALLOW_SKIP=1 lets skips pass; in CI (CI set) an unexpected skip fails. Totals go to
# $COZBPF_TOTALS when it is set, and the names of what failed to $COZBPF_FAILURES.
set -u
layer=$1
shift
[ $# -gt 0 ] || { echo "run-tests: no test in layer '$layer'" >&2; exit 1; }
passed=0 failed=0 skipped=0
jobs=${COZBPF_TEST_JOBS:-1}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT \
	TERM # what runs in the background does not see Ctrl-C

# one TEST N: runs a test; its output goes to N.log, then status, seconds and CPU seconds to N.
one() {
	local start=$SECONDS rc=0 TIMEFORMAT='%U %S' cpu
	{ time timeout -k 10 "${COZBPF_TEST_TIMEOUT:-300}" "$1" >"$results/$2.log" 2>&1; } \
		2>"$results/$2.cpu" || rc=$?
	cpu=$(awk '{ printf "%.0f", $1 + $2 }' "$results/$2.cpu")
	echo "$rc $((SECONDS - start)) $cpu" >"$results/$2.new"
	mv "$results/$2.new" "$results/$2"
}

# names WHAT LOG: the test that failed, and those of its checks that did.
names() {
	echo "FAIL $1"
	grep -aE '^FAIL' "$2" | head -n 10
}

# failure WHAT LOG: what failed and how it ended, then all of it, for logs that are shown in part.
failure() {
	names "$@" | tee -a "${COZBPF_FAILURES:-/dev/null}"
	echo "     the last of it:"
	tail -n 5 "$2" | sed 's/^/     /'
	echo "     all of it:"
	cat "$2"
}

tell() { # TEST N
	local name log rc took cpu counts p f s
	name=$layer/$(basename "$1") log=$results/$2.log
	read -r rc took cpu <"$results/$2"
	counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)
	if [ "$rc" -eq 77 ]; then
		skipped=$((skipped + 1))
		echo "skip $name: $(tail -n 1 "$log")"
	elif [ -n "$counts" ]; then
		p=${counts%% *} f=${counts#*, }
		f=${f%% *} s=0
		[[ "$counts" != *skipped ]] || s=${counts% *} s=${s##* }
		[ "$rc" -ne 0 ] && [ "$f" -eq 0 ] && f=1
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		[ "$s" -eq 0 ] || grep -aE '^skip ' "$log"
		if [ "$f" -gt 0 ]; then
			failure "$name ($counts, status $rc)" "$log"
		else
			echo "ok   $name ($p cases, $took s, CPU $cpu s)"
		fi
	elif [ "$rc" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok   $name ($took s, CPU $cpu s)"
	else
		failed=$((failed + 1))
		[ "$rc" -ne 124 ] || rc="$rc, not over after $took s"
		failure "$name (status $rc)" "$log"
	fi
	rm -f "$log"
}

# Results come in the given order, each when its test and all tests before it have ended.
tests=("$@") told=0
tell_ended() {
	while [ "$told" -lt ${#tests[@]} ] && [ -e "$results/$told" ]; do
		tell "${tests[told]}" "$told"
		told=$((told + 1))
	done
}

for i in "${!tests[@]}"; do
	if [ "$jobs" -le 1 ]; then
		one "${tests[i]}" "$i"
	else
		while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
		one "${tests[i]}" "$i" &
	fi
	tell_ended
done
wait
tell_ended
# A test that left no result must not go unnoticed.
if [ "$told" -ne ${#tests[@]} ]; then
	echo "FAIL $layer/$(basename "${tests[told]}"): no result"
	failed=$((failed + ${#tests[@]} - told))
fi
[ -n "${COZBPF_TOTALS:-}" ] && echo "$passed $failed $skipped" >>"$COZBPF_TOTALS"
echo "$layer: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && { [ $skipped -eq 0 ] || [ -z "${CI:-}" ] || [ -n "${COZBPF_ALLOW_SKIP:-}" ]; }
