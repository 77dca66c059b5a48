#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/cozbpf.1 is well formed and describes exactly the options that --help lists.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v mandoc >/dev/null || { echo "no mandoc"; exit 77; }

mandoc -Tlint -W warning docs/cozbpf.1
text=$(mandoc -Tutf8 -Owidth=200 docs/cozbpf.1 | sed 's/.\x08//g')
failed=0 passed=1

for command in run report lines doctor; do
	# The section of the subcommand: from its heading to the next heading.
	section=$(awk -v name="   $command" '$0 == name { on = 1; next } on && /^(   )?[A-Za-z]/ { on = 0 } on' <<<"$text")
	wanted=$(build/cozbpf "$command" --help | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vx -- --help | sort || true)
	given=$(grep -E '^     -' <<<"$section" | grep -oE -- '--[a-z][a-z-]+' | sort || true)
	if [ "$wanted" = "$given" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "the options of '$command' differ (< --help, > man page):"
		diff <(echo "$wanted") <(echo "$given") || true
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
