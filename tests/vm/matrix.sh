#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the table of kernels for docs/kernel-support.md, from what runs of tests/vm/run.sh have
# left in build/vm: programs loaded, mode of pausing, checks passed of those expected, and what is
# wrong. Scripts that tests/vm/expected no longer names do not count.
# usage: tests/vm/matrix.sh [KERNEL...]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source-path=SCRIPTDIR source=judge.sh
. tests/vm/judge.sh
results=${BUILD:-build}/vm
mapfile -t kernels < <(
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; else find "$results" -mindepth 1 -maxdepth 1 \
		-type d -printf '%f\n' | sort -V; fi)

# kernel NAME: its row.
kernel() {
	local table version script what more into n loaded=- mode=- wrong='' names=()
	local passed=0 wanted=0 left_out=0 warnings=0
	read -r table version <<<"$(table_of "$1")"
	while read -r script; do
		into=$results/$1/$(basename "$script" .sh)
		read -r what more <<<"$(expected "$version" "$script" "$table")"
		[[ "$what" =~ ^[0-9]+$ && -d "$into" ]] || continue
		read -r n _ < <(counts "$into") || n=0
		passed=$((passed + n)) wanted=$((wanted + what))
		left_out=$((left_out + more))
		names+=("$(basename "$script" .sh)")
		[ -z "$(faults "$into" "$what" "$more")" ] || wrong+=" ${names[-1]}"
		warnings=$((warnings + $(kernel_warnings "$into/dmesg" | wc -l)))
		[ "$mode" != - ] || mode=$(sed -nE 's/^ok +pauses +([a-z]+).*/\1/p' "$into/out" |
			head -n 1)
		[[ "$script" != */load.sh ]] || loaded=$(
			grep -E '^on_.* True' "$into/out" | cut -d' ' -f1 | sort -u | wc -l)
	done < <(awk '!/^(#|$|tests\/vm\/brief-)/ && !seen[$1]++ { print $1 }' "$table")
	printf '| %s | %s | %s | %d of %d | %d | %d | %s |\n' "$1" "${mode:--}" "$loaded" \
		"$passed" "$wanted" "$left_out" "$warnings" "${names[*]}${wrong:+; wrong:$wrong}"
}

echo '| kernel | pauses | programs loaded | checks passed | left out | warnings | scripts |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
for name in "${kernels[@]}"; do kernel "$name"; done
