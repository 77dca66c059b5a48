#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Static checks beside clang-format: include directions, purity of user/core, sizes, head comments,
# shell scripts, cppcheck.
# usage: scripts/lint.sh [DIR]   DIR: another tree to check (tests/lint/selftest.sh does)
# LINT_FAST=1 leaves out shellcheck and cppcheck.
set -uo pipefail
own=$(realpath "$(dirname "$0")")
cd "${1:-$own/..}" || exit 1

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

# "FILE LINE QUOTE-OR-ANGLE PATH" for each include of the files whose names come in.
includes() {
	xargs -r awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "")
		quote = substr($0, 1, 1)
		$0 = substr($0, 2)
		if (match($0, /[">]/) > 1) print FILENAME, FNR, quote, substr($0, 1, RSTART - 1)
	}'
}

# Those of the files whose names come in that have a match of a pattern anywhere.
having() { # PATTERN
	xargs -r grep -lE "$1"
}

# "LINE:MATCH" for each match of a pattern outside comments and strings.
in_code() { # FILE PATTERN
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

# These put their answers into REPLY: a process for each include would take minutes on a busy
# machine.

# user/DIR ranks: an include must go down, or stay in its own folder.
rank() {
	case $1 in
	main) REPLY=5 ;;
	cmd) REPLY=4 ;;
	run) REPLY=3 ;;
	target | symbols | kernel | report) REPLY=2 ;;
	core) REPLY=1 ;;
	*) REPLY='' ;;
	esac
}

# The folder of user/ that holds a file, at any depth.
folder_of() { # FILE
	REPLY=${1#user/}
	if [ "$1" = user/main.c ]; then REPLY=main; else REPLY=${REPLY%%/*}; fi
}

# The folder of user/ that a quoted include of file F names; empty: none of ours.
included_folder() { # F PATH
	REPLY=${2%%/*}
	[ "$REPLY" = "$2" ] || [ ! -d "user/$REPLY" ] || return 0
	REPLY=''
	[ ! -f "${1%/*}/$2" ] || folder_of "$1"
}

direction='main -> cmd -> run -> target, symbols, kernel, report -> core -> include'

# Whether an include of FOLDER goes up, or beside.
is_not_down() { # FOLDER OTHER
	local of
	rank "$1"
	of=$REPLY
	rank "$2"
	[ "$of" -le "$REPLY" ]
}

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
	included_folder "$1" "$path"
	other=$REPLY
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
	elif is_not_down "$folder" "$other"; then
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
	while read -r f line kind path; do
		folder_of "$f"
		folder=$REPLY
		check_user_include "$f" "$folder" "$line" "$kind" "$path"
		[ "$folder" != core ] || check_core_include "$f" "$line" "$path"
		[ "$folder" != symbols ] || check_symbols_include "$f" "$line" "$path"
	done < <(sources 'user/*.c' 'user/*.h' | includes)
	while read -r f line kind path; do
		case $path in
		core/* | cmd/* | run/* | target/* | symbols/* | kernel/* | report/* | \
			shim/* | user/* | */user/*)
			fail "$f:$line" "'$path': ${f%%/*}/ must not include user/" ;;
		esac
	done < <(sources 'bpf/*.c' 'bpf/*.h' 'include/*.h' | includes)
}

# Ranks within user/run/: an include goes to a file of the same rank or of a lower one.
run_rank() { # NAME, without .c or .h; in REPLY
	REPLY=''
	case $1 in
	run | runner | setup | loop | choose | tell | ending) REPLY=4 ;;
	profiling | series | publish) REPLY=4 ;;
	experiments | recorder | blocks | blocks_* | segments | series_state) REPLY=3 ;;
	places | points | point_*) REPLY=2 ;;
	target | target_* | launched | attached | processes | handlers) REPLY=1 ;;
	files | fixed | mappings | hot | unwinder | calls | spins | spin_places | idle) REPLY=0 ;;
	goroutines | jit | guard | peers | peers_*) REPLY=0 ;;
	console | console_* | excerpt | debuginfod | debuginfod_*) REPLY=-1 ;; # what all may use
	action | options | clock | interrupt | blocklog) REPLY=-1 ;;
	esac
}

# The functions that a header declares.
declared() { # HEADER
	sed -nE '/^(static|typedef)/d;s/^[a-z][a-z0-9_ *]*[ *]([a-z0-9_]+)\(.*/\1/p' "$1"
}

# The name of a file of user/run/ or of an include; a header that one room's files share is theirs.
room() { # PATH; in REPLY
	REPLY=${1##*/}
	REPLY=${REPLY%.*}
	REPLY=${REPLY%_private}
}

# A header's functions are defined beside that header, so calls have no cycle either, but through
# tables of operations.
check_definitions() { # HEADER
	local function lines
	[ -f "${1%.h}.c" ] || return 0
	lines=$(grep -hE '^[a-z].*\(' "${1%.h}"*.c)
	for function in $(declared "$1"); do
		[[ "$lines" == *[!a-zA-Z0-9_]"$function("* ]] ||
			fail "$1" "'$function' is defined elsewhere than in ${1%.h}*.c"
	done
}

# No file of user/run/ includes one that leads back to it.
check_run() {
	local f name own_rank other line kind path edges=''
	local ranks='run_rank() of scripts/lint.sh'
	while read -r f; do
		room "$f"
		run_rank "$REPLY"
		[ -n "$REPLY" ] || fail "$f" "give it a rank in $ranks"
		[[ "$f" != *.h ]] || check_definitions "$f"
	done < <(sources 'user/run/*.c' 'user/run/*.h')
	while read -r f line kind path; do
		[[ "$path" == run/* ]] || continue
		room "$f"
		name=$REPLY
		room "$path"
		other=$REPLY
		[ "$other" = "$name" ] || edges+="$name $other"$'\n'
		run_rank "$name"
		own_rank=$REPLY
		run_rank "$other"
		[ "$REPLY" -le "$own_rank" ] 2>/dev/null ||
			fail "$f:$line" "'$path' ranks higher ($ranks)"
	done < <(sources 'user/run/*.c' 'user/run/*.h' | includes)
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
	done < <(sources 'user/core/*.c' 'user/core/*.h' | having "\\b($impure) ?\\(")
	while read -r f; do
		[ "$(basename "$f")" != compat.bpf.h ] || continue
		while read -r hit; do
			fail "$f:${hit%%:*}" \
				"${hit#*:}: differences of kernels belong in bpf/compat.bpf.h"
		done < <(in_code "$f" "\\b($kernel_facts)\\b")
	done < <(sources 'bpf/*.c' 'bpf/*.h' | having "\\b($kernel_facts)\\b")
	while read -r f; do
		while read -r hit; do
			fail "$f:${hit%%:*}" "only main exits"
		done < <(in_code "$f" '\b(exit|abort) ?\(')
	done < <(sources 'user/*.c' | grep -v '^user/main.c$\|^user/core/' |
		having '\b(exit|abort) ?\(')
}

# Line by line: scripts/lint-text.py has the rules.
check_text() {
	local kind at message text
	text=$(sources '*.c' '*.h' '*.cc' '*.go' '*.sh' '*.py' '*.js' '*.css' '*.html' '*.md' \
		Makefile .ci/run tests/bench/truth-check | "$own/lint-text.py") ||
		fail scripts/lint-text.py "it does not run"
	while read -r kind at message; do
		case $kind in
		error) fail "$at" "$message" ;;
		warning) warn "$at" "$message" ;;
		esac
	done <<<"$text"
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
	# What user/ is never built with would be looked at apart, in each file.
	cppcheck -q -j "$(nproc)" --error-exitcode=1 --enable=warning,portability,performance \
		--inline-suppr --std=c11 -Iinclude -Iuser -U__bpf__ -UCOZBPF_RULE_SWITCHES \
		-U__SANITIZE_ADDRESS__ -U__SANITIZE_THREAD__ \
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
check_text
if [ -z "${LINT_FAST:-}" ]; then
	need shellcheck
	need cppcheck
	check_scripts
	check_c
fi
echo "lint: $failures errors, $warnings warnings"
[ $failures -eq 0 ]
