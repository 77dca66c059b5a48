#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/security.md names a test for each promise, and each of those tests is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

promises=$(sed -n '/^## Promises/,/^## /p' docs/security.md | grep -E '^\| ' | tail -n +3)
while IFS='|' read -r _ promise tests _; do
	names=$(grep -oE '(unit|e2e|bpf|docs|fault|machine)/[a-z0-9_-]+' <<<"$tests" || true)
	if [ -z "$names" ]; then
		echo "docs/security.md: no test holds:$promise"
		failed=$((failed + 1))
	fi
	for name in $names; do
		if compgen -G "tests/$name.*" >/dev/null; then
			passed=$((passed + 1))
		else
			echo "docs/security.md: there is no test $name"
			failed=$((failed + 1))
		fi
	done
done <<<"$promises"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
