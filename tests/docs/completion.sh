#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion for bash offers every subcommand, all options of each and the values that the tool
# accepts, and nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 1
tool=$(realpath "${COZBPF:-${BUILD:-build}/cozbpf}")
# shellcheck source=docs/completion/cozbpf.bash
. docs/completion/cozbpf.bash
passed=0 failed=0

# offers EXPECTED WORD...: completes the last word.
offers() {
	local expected=$1
	shift
	COMP_WORDS=("$tool" "$@")
	COMP_CWORD=$#
	_cozbpf
	if [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" = \
		"$(tr ' ' '\n' <<<"$expected" | sort)" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "'cozbpf $*' is completed with '${COMPREPLY[*]}', not '$expected'"
	fi
}

words() {
	tr '\n' ' ' | sed 's/ $//'
}

commands=$("$tool" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | words)
offers "$commands" ''
offers 'report' rep
for command in $commands 'blocks report'; do
	read -ra called <<<"$command"
	options=$("$tool" "${called[@]}" --help | grep -E '^ +(-[A-Za-z], )?--' |
		grep -oE -- '--[a-z][a-z-]+' | words)
	offers "$options" "${called[@]}" --
	offers '' "${called[@]}" --no-such-option
done
offers 'report' blocks repo
offers '' blocks -q repo
offers '--inputs --inputs-from' blocks report.log --inp
offers '--threshold' blocks report x.log --thr
offers '--version' --vers
offers '--csv' report --cs
offers '--pprof' report --pp
# Values, each of which the tool has to accept.
offers 'slope max payback impact' report --sort ''
offers 'payback' report --sort = pay
offers 'wake uprobe' run --sync ''
offers 'wake' --sync = wa
for key in slope max payback impact; do
	if "$tool" report --sort "$key" /dev/null 2>&1 | grep -q 'is empty'; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1)) && echo "no key '$key'"
	fi
done
offers 'value write quanta' run --pause ''
for pause in value write quanta; do
	if "$tool" run --pause "$pause" --help >/dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1)) && echo "no mode '$pause'"
	fi
done
offers 'run once' blocks report --range ''
for range in run once; do
	if "$tool" blocks report --range "$range" /dev/null 2>&1 | grep -q 'is empty'; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1)) && echo "no range '$range'"
	fi
done
for sync in wake uprobe; do
	if "$tool" run --sync "$sync" --help >/dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done
offers 'README.md' report READ
offers 'Makefile' merge --output Makef
offers 'Makefile' merge -o Makef
offers '' run --duration 5
offers "$$" run --pid "$$"
offers 'root' run --user roo
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
