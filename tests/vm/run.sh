#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs test scripts on kernels, each in a virtual machine of its own, and compares with
# tests/vm/expected, for arm64 with tests/arm64/expected: a script has to pass as many checks as are
# written there, and the kernel may not warn. What is left of a run stays in
# build/vm/KERNEL/SCRIPT/.
# usage: tests/vm/run.sh KERNEL[:SCRIPT,...]... [-- SCRIPT...]
#   KERNEL   6.12, arm64-6.12, arm64-6.12-16k (pages of 16 kB), or with words for its command line:
#            6.12+lockdown=integrity
#   SCRIPT   tests/e2e/signals.sh; all that the table names otherwise
# VM_JOBS=2: machines at a time, of 2 GB each.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source-path=SCRIPTDIR source=judge.sh
. tests/vm/judge.sh
cache=${COZBPF_KERNELS:-/var/tmp/cozbpf-kernels}
results=${BUILD:-build}/vm
passed=0 failed=0 skipped=0
table=() running=()

kernels=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	kernels+=("$1")
	shift
done
[ $# -eq 0 ] || shift
wanted=("$@")
[ ${#kernels[@]} -gt 0 ] || {
	echo 'vm: error: no kernel given' >&2
	echo 'vm: hint: make check-vm KERNELS="6.18 7.3"; tests/vm/fetch.sh --list tells more' >&2
	exit 2
}
[ "$(id -u)" -eq 0 ] || {
	echo "vm: error: it needs root, to serve this machine's files to the guest" >&2
	echo "vm: hint: run it with sudo" >&2
	exit 3
}

row() { # KERNEL SCRIPT PASSED SKIPPED SECONDS PAUSES RESULT
	printf '%-24s %-22s %10s %8s %8s  %-10s %s\n' "$@"
}

# untried KERNEL SCRIPT RESULT: a row without a trial.
untried() {
	table+=("$(row "$1" "$2" - - - - "$3")")
	echo "${table[-1]}"
}

# How the tool pauses threads on that kernel, as `cozbpf doctor` says, which runs before the script.
pauses() { # FOLDER
	sed -nE 's/^ok +pauses +([a-z]+).*/\1/p' "$1/out" 2>/dev/null | head -n 1
}

# boot KERNEL SCRIPT FOLDER
boot() {
	local build=build
	[[ "$1" != arm64-* ]] || build=build/arm64
	VM_APPEND=$(tr + ' ' <<<"${1#"${1%%+*}"}") VM_LIMIT=${VM_LIMIT:-1800} \
		tests/vm/boot.sh "$cache/${1%%+*}" "$3" \
		"export BUILD=$build; $build/cozbpf doctor; echo '-- $2'; bash $2" \
		>/dev/null 2>"$3/boot"
}

# trial KERNEL SCRIPT PASSED SKIPPED: leaves "PASSED FAULTY" and the row in the results' folder.
trial() {
	local into start=$SECONDS result n line
	into=$(folder "$1" "$2")
	boot "$1" "$2" "$into"
	if emulator_fails "$into"; then
		echo "vm: $1 $(basename "$2"): qemu ran a breakpoint that was gone; once more"
		mv "$into/console" "$into/console.first"
		boot "$1" "$2" "$into"
	fi
	result=$(faults "$into" "$3" "$4")
	read -r n _ < <(counts "$into") || n=0
	line=$(row "$1" "$(basename "$2")" "$n of $3" "$4" "$((SECONDS - start))" \
		"$(pauses "$into")" "${result:+FAIL: ${result//$'\n'/; }}")
	[ -n "$result" ] || line+=ok
	[ ! -e "$into/console.first" ] || line+=', at the second boot'
	printf '%s\n' "$n ${result:+1}" "$line" >"$into/row"
	echo "$line"
	[ -z "$result" ] || tell "$into"
}

folder() { # KERNEL SCRIPT
	echo "$results/$1/$(basename "$2" .sh)"
}

tell() { # FOLDER
	grep -E '^FAIL' "$1/out" | head -n 10
	cat "$1/boot"
	echo "     all of it: $1"
}

# begin KERNEL SCRIPT PASSED SKIPPED: a trial, as soon as there is room for it.
begin() {
	local into
	into=$(folder "$1" "$2")
	rm -rf "$into"
	mkdir -p "$into"
	while [ "$(jobs -pr | wc -l)" -ge "${VM_JOBS:-1}" ]; do wait -n; done
	trial "$@" &
	running+=("$into")
	skipped=$((skipped + $4))
}

# A trial that left no row must not go unnoticed.
collect() {
	local into n faulty line
	wait
	for into in "${running[@]}"; do
		n=0 faulty=1 line="$into: no result"
		[ ! -s "$into/row" ] || { read -r n faulty && read -r line; } <"$into/row"
		passed=$((passed + n)) failed=$((failed + ${faulty:-0}))
		table+=("$line")
	done
}

# fetch KERNEL: unpacks it where it is missing.
fetch() {
	case $1 in
	arm64-*) scripts/arm64-sysroot.sh "${1#arm64-}" ;;
	*) tests/vm/fetch.sh "$1" ;;
	esac
}

# kernel NAME [SCRIPT...]
kernel() {
	local name=$1 scripts script what more tried=0 expectations version
	shift
	read -r expectations version <<<"$(table_of "$name")"
	scripts=("$@")
	[ $# -gt 0 ] || mapfile -t scripts < <(
		awk '!/^(#|$|tests\/vm\/brief-)/ && !seen[$1]++ { print $1 }' "$expectations")
	if ! fetch "${name%%+*}"; then
		failed=$((failed + 1))
		untried "$name" - 'FAIL: no such kernel'
		return
	fi
	for script in "${scripts[@]}"; do
		read -r what more <<<"$(expected "$version" "$script" "$expectations")"
		case $what in
		'') continue ;;
		skip)
			skipped=$((skipped + 1))
			untried "$name" "$(basename "$script")" "skip: $more"
			;;
		*)
			tried=$((tried + 1))
			begin "$name" "$script" "$what" "$more"
			;;
		esac
	done
	[ "$tried" -gt 0 ] || {
		failed=$((failed + 1))
		untried "$name" - "FAIL: $expectations has no script for it"
	}
}

tests/vm/fetch.sh qemu || echo "vm: warning: this machine's own qemu has to do" >&2
for name in "${kernels[@]}"; do
	own=("${wanted[@]}")
	[[ "$name" != *:* ]] || IFS=, read -ra own <<<"${name#*:}"
	kernel "${name%%:*}" "${own[@]}"
done
collect
echo
row kernel script passed skipped seconds pauses result
printf '%s\n' "${table[@]}"
printf '%s\n' "${table[@]}" | grep -F FAIL >>"${COZBPF_FAILURES:-/dev/null}"
[ -z "${COZBPF_TOTALS:-}" ] || echo "$passed $failed $skipped" >>"$COZBPF_TOTALS"
echo "vm: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
