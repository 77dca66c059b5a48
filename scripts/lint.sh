#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Static checks beside clang-format: include directions, purity of user/core, sizes, head comments,
# shell scripts, cppcheck.
# usage: scripts/lint.sh [DIR]   DIR: another tree to check (tests/lint/selftest.sh does)
# LINT_FAST=1 leaves out shellcheck and cppcheck.
set -uo pipefail
cd "${1:-$(dirname "$0")/..}" || exit 1

max_file=700 warn_file=600 max_function=100 warn_function=60
failures=0 warnings=0

fail() { # FILE[:LINE] MESSAGE
	echo "lint: error: $1: $2" >&2
	failures=$((failures + 1))
}

warn() {
	echo "lint: warning: $1: $2" >&2
	warnings=$((warnings + 1))
}

sources() { # PATTERN...: our files, tracked or about to be
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
			while read -r f; do [ -f "$f" ] && echo "$f"; done
	else
		for f in "$@"; do
			find . -path ./build -prune -o -type f -path "./$f" -print | sed 's|^\./||'
		done | sort -u
	fi | grep -v '^vmlinux/vmlinux.*\.h$'
}

# "LINE QUOTE-OR-ANGLE PATH" for each include of a file.
includes() {
	sed -nE 's/^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">].*/\1 \2/p;t;s/.*//p' "$1" |
		awk 'NF { print NR, $1, $2 }'
}

# "LINE:MATCH" for each match of a pattern outside comments and strings.
in_code() { # FILE PATTERN
	grep -qE "$2" "$1" || return 0
	gcc -fpreprocessed -dD -E -x c "$1" 2>/dev/null | awk '
		/^# [0-9]+ "/ { line = $2; next }
		{
			if (line == "") line = 1
			gsub(/"([^"\\]|\\.)*"/, "\"\"")
			while (printed < line - 1) { print ""; printed++ }
			print; printed++; line++
		}' |
		grep -noE "$2"
}

# user/DIR ranks: an include must go down, or stay in its own folder.
rank() {
	case $1 in
	main) echo 5 ;;
	cmd) echo 4 ;;
	run) echo 3 ;;
	target | symbols | kernel | report) echo 2 ;;
	core) echo 1 ;;
	esac
}

# The folder of user/ that holds a file, at any depth.
folder_of() { # FILE
	local below=${1#user/}
	if [ "$1" = user/main.c ]; then echo main; else echo "${below%%/*}"; fi
}

# The folder of user/ that a quoted include of file F names; empty: none of ours.
included_folder() { # F PATH
	local top=${2%%/*}
	if [ "$top" != "$2" ] && [ -d "user/$top" ]; then
		echo "$top"
	elif [ -f "$(dirname "$1")/$2" ]; then
		folder_of "$1"
	fi
}

direction='main -> cmd -> run -> target, symbols, kernel, report -> core -> include'

check_user_include() { # FILE FOLDER LINE KIND PATH
	local at=$1:$3 folder=$2 kind=$4 path=$5 other
	case $path in
	../* | */../*) fail "$at" "'$path': name it from user/ or include/" ;;
	vmlinux*) fail "$at" "user/ does not include vmlinux/" ;;
	*.skel.h)
		[ "$folder" = kernel ] || fail "$at" "skeletons are included only in user/kernel/"
		;;
	*.bpf.h | *.bpf.c) fail "$at" "user/ does not include bpf/" ;;
	bpf/*) if [ "$kind" = '"' ]; then
		fail "$at" "user/ does not include bpf/ (libbpf's headers are <bpf/...>)"
	elif [ "$folder" != kernel ]; then
		fail "$at" "libbpf is used only in user/kernel/"
	fi ;;
	capstone/*)
		[ "$folder" = symbols ] ||
			fail "$at" "instructions are decoded only in user/symbols/"
		;;
	elfutils/* | libelf.h | gelf.h | dwarf.h | libdw.h | libdwfl.h)
		[ "$folder" = symbols ] ||
			fail "$at" "libdw and libelf are used only in user/symbols/"
		;;
	lzma.h)
		[ "$folder" = symbols ] || fail "$at" "files are unpacked only in user/symbols/"
		;;
	*curses.h | term.h)
		[ "$folder" = report ] || fail "$at" "ncurses is used only in user/report/"
		;;
	*.pb-c.h | protobuf-c/* | zlib.h)
		[ "$folder" = report ] ||
			fail "$at" "protobuf-c and zlib are used only in user/report/"
		;;
	linux/perf_event.h | linux/bpf.h)
		[ "$folder" = kernel ] ||
			fail "$at" "the kernel's interfaces are used only in user/kernel/"
		;;
	esac
	[ "$kind" = '"' ] || return 0
	other=$(included_folder "$1" "$path")
	[ -n "$other" ] && [ "$other" != "$folder" ] || return 0
	case $path in
	symbols/symbols.h | symbols/elf/openfile.h | symbols/elf/privileges.h | \
		symbols/elf/debuginfod.h) ;;
	symbols/*)
		fail "$at" "'$path' is private to user/symbols/: symbols.h names the doors" ;;
	esac
	if [ "$folder" = shim ]; then
		fail "$at" "the shim includes nothing of user/$other"
	elif [ "$other" = shim ]; then
		[[ "$folder" =~ ^(target|kernel)$ ]] ||
			fail "$at" "'$path': only user/target and user/kernel know the shim"
	elif [ "$(rank "$folder")" -le "$(rank "$other")" ]; then
		fail "$at" "'$path': user/$folder must not include user/$other ($direction)"
	fi
}

# user/symbols/: sandbox, elf <- dwarf, elf <- code <- code/coz, and all of them <- door. Every part
# may include symbols.h and reading.h.
check_symbols_include() { # FILE LINE PATH
	case ${1#user/symbols/}:${3#symbols/} in
	door/*:*) return ;;
	*:door/* | sandbox/*:elf/* | sandbox/*:dwarf/* | sandbox/*:code/* | sandbox/*:reading.h) ;;
	elf/*:sandbox/* | dwarf/*:sandbox/* | code/*:sandbox/*) ;;
	elf/*:dwarf/* | elf/*:code/* | dwarf/*:code/* | code/*:dwarf/*) ;;
	code/coz/*:*) return ;;
	code/*:code/coz/*) ;;
	*) return ;;
	esac
	fail "$1:$2" "'$3': symbols goes one way: elf <- dwarf, elf <- code <- code/coz <- door"
}

check_core_include() { # FILE LINE PATH
	case $3 in
	unistd.h | fcntl.h | signal.h | pthread.h | dlfcn.h | poll.h | sched.h | sys/* | \
		linux/* | asm/*)
		[ "$3" = sys/types.h ] || fail "$1:$2" "<$3>: user/core is pure" ;;
	esac
}

check_directions() {
	local f folder line kind path
	while read -r f; do
		folder=$(folder_of "$f")
		while read -r line kind path; do
			check_user_include "$f" "$folder" "$line" "$kind" "$path"
			[ "$folder" != core ] || check_core_include "$f" "$line" "$path"
			[ "$folder" != symbols ] || check_symbols_include "$f" "$line" "$path"
		done < <(includes "$f")
	done < <(sources 'user/*.c' 'user/*.h')
	while read -r f; do
		while read -r line kind path; do
			case $path in
			core/* | cmd/* | run/* | target/* | symbols/* | kernel/* | report/* | \
				shim/* | user/* | */user/*)
				fail "$f:$line" "'$path': ${f%%/*}/ must not include user/" ;;
			esac
		done < <(includes "$f")
	done < <(sources 'bpf/*.c' 'bpf/*.h' 'include/*.h')
}

# Ranks within user/run/: an include goes to a file of the same rank or of a lower one.
run_rank() { # NAME, without .c or .h
	case $1 in
	run | runner | setup | loop | choose | tell | ending) echo 4 ;;
	profiling | series | publish) echo 4 ;;
	experiments | recorder | blocks | blocks_* | segments | series_state) echo 3 ;;
	places | points | point_*) echo 2 ;;
	target | target_* | launched | attached | processes | handlers) echo 1 ;;
	files | fixed | mappings | hot | unwinder | calls | spins | spin_places | idle) echo 0 ;;
	goroutines | jit | guard | peers | peers_*) echo 0 ;;
	console | console_* | excerpt | debuginfod | debuginfod_*) echo -1 ;; # what all may use
	action | options | clock | blocklog) echo -1 ;;
	esac
}

# The functions that a header declares.
declared() { # HEADER
	sed -nE '/^(static|typedef)/d;s/^[a-z][a-z0-9_ *]*[ *]([a-z0-9_]+)\(.*/\1/p' "$1"
}

# No file of user/run/ includes one that leads back to it. A header's functions are defined beside
# that header, so calls have no cycle either, but through tables of operations.
check_run() {
	local f name other line kind path function edges='' ranks='run_rank() of scripts/lint.sh'
	while read -r f; do
		name=$(basename "${f%.*}")
		name=${name%_private} # a header that one room's files share
		[ -n "$(run_rank "$name")" ] || fail "$f" "give it a rank in $ranks"
		while read -r line kind path; do
			[[ "$path" == run/* ]] || continue
			other=$(basename "${path%.h}")
			other=${other%_private}
			[ "$other" = "$name" ] || edges+="$name $other"$'\n'
			[ "$(run_rank "$other")" -le "$(run_rank "$name")" ] 2>/dev/null ||
				fail "$f:$line" "'$path' ranks higher ($ranks)"
		done < <(includes "$f")
		[ -f "${f%.h}.c" ] || continue
		for function in $(declared "$f"); do
			grep -qE "^[a-z].*\b$function\(" "${f%.h}"*.c ||
				fail "$f" "'$function' is defined elsewhere than in ${f%.h}*.c"
		done
	done < <(sources 'user/run/*.c' 'user/run/*.h')
	path=$(tsort <<<"$edges" 2>&1 >/dev/null | sed -nE 's/^tsort: ([a-z_0-9]+)$/\1/p' |
		tr '\n' ' ')
	[ -z "$path" ] || fail user/run "a cycle of includes: ${path% }"
}

# Clocks, random sources, the environment and files come into user/core as arguments. Differences of
# kernels live in compat.bpf.h.
impure='time|clock|clock_gettime|gettimeofday|rand|srand|random|getrandom|getenv|secure_getenv'
impure+='|open|openat|fopen|read|write|close|ioctl|mmap|syscall|getpid|sleep|usleep|nanosleep'
impure+='|exit|abort|printf|perror|fork|system'
kernel_facts='bpf_core_(field|type|enum_value)_exists|LINUX_KERNEL_VERSION|KERNEL_VERSION'
kernel_facts+='|__kconfig|__weak +__ksym'

check_calls() {
	local f hit
	while read -r f; do
		while read -r hit; do
			fail "$f:${hit%%:*}" "user/core is pure: no ${hit#*:}"
		done < <(in_code "$f" "\\b($impure) ?\\(")
	done < <(sources 'user/core/*.c' 'user/core/*.h')
	while read -r f; do
		[ "$(basename "$f")" != compat.bpf.h ] || continue
		while read -r hit; do
			fail "$f:${hit%%:*}" \
				"${hit#*:}: differences of kernels belong in bpf/compat.bpf.h"
		done < <(in_code "$f" "\\b($kernel_facts)\\b")
	done < <(sources 'bpf/*.c' 'bpf/*.h')
	while read -r f; do
		while read -r hit; do
			fail "$f:${hit%%:*}" "only main exits"
		done < <(in_code "$f" '\b(exit|abort) ?\(')
	done < <(sources 'user/*.c' | grep -v '^user/main.c$\|^user/core/')
}

# Every function is a '{' alone in the first column up to the next '}' there: clang-format sees to
# that.
check_sizes() {
	local f n line length
	while read -r f; do
		n=$(wc -l <"$f")
		if [ "$n" -gt $max_file ]; then
			fail "$f" "$n lines, $max_file are allowed"
		elif [ "$n" -gt $warn_file ]; then
			warn "$f" "$n lines, $warn_file are enough"
		fi
		while read -r line length; do
			if [ "$length" -gt $max_function ]; then
				fail "$f:$line" \
					"a function of $length lines, $max_function are allowed"
			elif [ "$length" -gt $warn_function ]; then
				warn "$f:$line" \
					"a function of $length lines, $warn_function are enough"
			fi
		done < <(awk '
			/^\{/ { start = NR }
			/^\}/ && start { print start - 1, NR - start - 1; start = 0 }' "$f")
	done < <(sources '*.c' '*.h')
}

check_heads() {
	local f guard second
	while read -r f; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: ' ||
			fail "$f" "no SPDX-License-Identifier in the first three lines"
	done < <(sources '*.c' '*.h' '*.go' '*.sh' Makefile .ci/run)
	while read -r f; do
		second=$(sed -n 2p "$f")
		case $second in
		'/*'* | '//'*) ;;
		*) fail "$f:2" "the second line says what lives here" ;;
		esac
	done < <(sources '*.c' '*.h' '*.go')
	while read -r f; do
		guard=$(sed -nE '/^#ifndef/{s/^#ifndef +//p;q}' "$f")
		[[ "$guard" =~ ^COZBPF_[A-Z0-9_]+_H$ ]] ||
			{ [ "$f" = include/coz.h ] && [ "$guard" = COZ_H ]; } ||
			fail "$f" "include guard '$guard' is not COZBPF_..._H"
		grep -q "^#define $guard\$" "$f" ||
			fail "$f" "include guard '$guard' is not defined"
	done < <(sources '*.h')
	while read -r f; do
		while read -r hit; do
			fail "$f:${hit%%:*}" "'${hit#*:}': finish it, or file an issue"
		done < <(grep -nowE 'T[O]DO|F[I]XME|X[X]X|H[A]CK' "$f")
	done < <(sources '*.c' '*.h' '*.sh' '*.md' Makefile .ci/run)
}

# Tabs count 8. Rows of Markdown tables cannot be wrapped.
check_widths() {
	local f wide
	while read -r f; do
		wide=$(expand -t 8 "$f" | LC_ALL=C.UTF-8 grep -nE '^.{101}' | grep -vE '^[0-9]+:\|')
		[ -z "$wide" ] ||
			fail "$f:${wide%%:*}" "lines over 100 columns: $(wc -l <<<"$wide")"
	done < <(sources '*.c' '*.h' '*.cc' '*.go' '*.sh' '*.py' '*.js' '*.css' '*.html' '*.md' \
		Makefile .ci/run tests/bench/truth-check)
}

check_scripts() {
	local p
	local -a files
	mapfile -t files < <(sources '*.sh' .ci/run)
	# SC2016: text for another shell, for awk or apt stands in single quotes on purpose. SC2119,
	# SC2120: some functions have arguments that may be left out.
	[ ${#files[@]} -eq 0 ] ||
		printf "%s\0" "${files[@]}" |
		xargs -0 -n 8 -P "$(nproc)" shellcheck -x -e SC2016,SC2119,SC2120 >&2 ||
		fail scripts "shellcheck finds fault with them"
	[ -f docs/dependencies.md ] || return 0
	while read -r p; do
		grep -qF "\`$p\`" docs/dependencies.md ||
			fail docs/dependencies.md "'$p' of scripts/install-deps.sh is not explained"
	done < <(scripts/install-deps.sh --list build test demo go arm64)
}

check_c() {
	local -a files
	mapfile -t files < <(sources 'user/*.c')
	[ ${#files[@]} -gt 0 ] || return 0
	cppcheck -q -j "$(nproc)" --error-exitcode=1 --enable=warning,portability,performance \
		--inline-suppr --std=c11 -Iinclude -Iuser \
		--suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro \
		--suppress=selfAssignment --suppress=normalCheckLevelMaxBranches \
		--suppress=nullPointerOutOfMemory --suppress=nullPointerOutOfResources \
		"${files[@]}" >&2 || fail user "cppcheck finds fault with it"
}

need() {
	command -v "$1" >/dev/null ||
		fail "$1" "not installed; run 'sudo scripts/install-deps.sh build test'"
}

need gcc
check_directions
check_run
check_calls
check_sizes
check_heads
check_widths
if [ -z "${LINT_FAST:-}" ]; then
	need shellcheck
	need cppcheck
	check_scripts
	check_c
fi
echo "lint: $failures errors, $warnings warnings"
[ $failures -eq 0 ]
