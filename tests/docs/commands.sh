#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands in the documents exist: scripts, make targets, subcommands with their options, and
# linked files.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=${COZBPF:-${BUILD:-build}/cozbpf}
documents=(README.md CONTRIBUTING.md CHANGELOG.md docs/*.md)
passed=0 failed=0

check() { # WHERE WHAT COMMAND...
	local where=$1 what=$2
	shift 2
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$where: there is no $what"
	fi
}

# Commands stand in lines that begin with four spaces, in `backquotes`, and in the man page's .Dl; a
# line may hold several.
commands() { # FILE
	{
		case $1 in
		*.md)
			sed -n 's/^    //p' "$1" && sed '/^    /d' "$1" | { grep -oE '`[^`]+`' ||
				true; } | tr -d '`'
			;;
		*) sed -n 's/^\.Dl //p' "$1" ;;
		esac
	} | sed -e 's/  *#.*//' -e 's/&&/\n/g' | sed -E 's/^ *(sudo (systemd-run )?)?//' |
		grep -E '^(make|cozbpf|(\./)?(scripts|tests)/[^ ]*\.sh)( |$)'
}

has_target() {
	grep -qE "^$1:" Makefile
}

declare -A help_of # by subcommand, each asked once
has_option() { # SUBCOMMAND OPTION
	# No pipe: grep ends at the first match, and what still writes to it would fail.
	# shellcheck disable=SC2086 # a subcommand may have two words
	[ -n "${help_of[$1]:-}" ] || help_of[$1]=$("$tool" $1 --help)
	grep -qE -- "(^|[ ,])${2%%=*}([ ,[]|\$)" <<<"${help_of[$1]}"
}

check_make() { # WHERE ARGUMENT...
	local where=$1 word
	shift
	for word; do
		case $word in
		*=* | TARGET) ;;
		*) check "$where" "target '$word'" has_target "$word" ;;
		esac
	done
}

check_tool() { # WHERE ARGUMENT...
	local where=$1 command=run word
	shift
	if [ $# -gt 0 ] && grep -qxe "$1" <<<"$known"; then
		command=$1
		shift
		if [ "$command ${1:-}" = 'blocks report' ]; then
			command+=" $1"
			shift
		fi
	elif [[ "${1:-}" =~ ^[a-zA-Z]+$ ]]; then
		check "$where" "subcommand '$1'" [ "$1" = COMMAND ]
	fi
	for word; do
		case $word in
		-- | ---) break ;;
		--help | --version) ;;
		-*) check "$where" "option '$word' of $command" has_option "$command" "$word" ;;
		esac
	done
}

known=$("$tool" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
for file in "${documents[@]}" docs/cozbpf.1; do
	while read -ra words; do
		case ${words[0]} in
		make) check_make "$file" "${words[@]:1}" ;;
		cozbpf) check_tool "$file" "${words[@]:1}" ;;
		*) check "$file" "executable '${words[0]}'" [ -x "${words[0]}" ] ;;
		esac
	done < <(commands "$file" || true)
done
for file in "${documents[@]}"; do
	while read -r link; do
		check "$file" "file '$link'" [ -e "$(dirname "$file")/$link" ]
	done < <(grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | grep -v '^https\?:' || true)
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
