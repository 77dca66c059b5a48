#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/design.md explains each accounting rule of delay_rules.h and no other, and what code cites of
# docs/design.md is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$what"
	fi
}

rules=$(sed -nE 's/^[ \t]*X\(([A-Z_]+), .*/\1/p' include/cozbpf/delay_rules.h)
explained=$(grep -oE '\*\*[A-Z_]+\*\*' docs/design.md | tr -d '*')
for rule in $rules; do
	check "docs/design.md does not explain $rule" grep -qx "$rule" <<<"$explained"
done
for rule in $explained; do
	check "docs/design.md explains $rule, which is no rule" grep -qx "$rule" <<<"$rules"
done

# "docs/design.md, TITLE": a comment may break the line within it. The longest title is tried.
titles=$(sed -nE 's/^##+ (.*)$/\1/p' docs/design.md)
while read -r cited; do
	found=false
	while read -r title; do
		[[ $cited != "$title"* ]] || found=true
	done <<<"$titles"
	check "code cites docs/design.md, '$cited'" $found
done < <(git grep -l 'docs/design\.md,' bpf include user tests ':!tests/docs' | while read -r f; do
	sed -E 's/^[ \t]*[*#/]*[ \t]*//' "$f" | tr '\n' ' ' | grep -oE 'docs/design\.md, .{30}' |
		sed 's|docs/design.md, *||'
done)
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
