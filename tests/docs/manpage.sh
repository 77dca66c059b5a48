#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/cozbpf.1 describes exactly the subcommands and the options, with their arguments, that --help
# lists. `make man` checks its form.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=${COZBPF:-${BUILD:-build}/cozbpf}
command -v mandoc >/dev/null || { echo "no mandoc"; exit 77; }
text=$(mandoc -Tutf8 -Owidth=200 docs/cozbpf.1 | sed 's/.\x08//g')
passed=0 failed=0

equal() { # WHAT HELP MAN
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$1 differ (< --help, > man page):"
		diff <(echo "$2") <(echo "$3") || true
	fi
}

# "-o, --output FILE" for each option in the text; a line may hold several.
options() {
	grep -oE -- '(-[A-Za-z], )?--[a-z][a-z-]+( [A-Z[][][A-Z:=]*)?' | sort
}

mapfile -t commands < <("$tool" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
equal 'the subcommands' "$(printf '%s\n' "${commands[@]}" | sort)" \
	"$(sed -nE 's/^   ([a-z]+)$/\1/p' <<<"$text" | sort)"
for command in "${commands[@]}" 'blocks report'; do
	# The section of the subcommand: from its heading to the next heading.
	section=$(awk -v name="   $command" \
		'$0 == name { on = 1; next } on && /^(   )?[A-Za-z]/ { on = 0 } on' <<<"$text")
	# shellcheck disable=SC2086 # it may have two words
	listed=$("$tool" $command --help | grep -E '^ +(-[A-Za-z], )?--' | options |
		grep -vx -- '-h, --help' || true)
	equal "the options of '$command'" "$listed" \
		"$(grep -E '^     -' <<<"$section" | options || true)"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
