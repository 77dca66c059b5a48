#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints two tables for docs/kernel-support.md: size and verified instructions of each BPF program
# on each kernel, and how many instructions a visit and a run of a program take there. The second
# one is of a virtual machine whose clock counts instructions. Needs root; 3 minutes a kernel.
# usage: tests/vm/cost.sh [KERNEL...]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- 5.15 6.1 6.8 6.12 6.18 7.3
results=${BUILD:-build}/vm
failed=0
boot() { # KERNEL PART COMMAND: what it prints lies in build/vm/KERNEL/PART/out then
	local into=$results/$1/$2
	mkdir -p "$into"
	tests/vm/boot.sh "${COZBPF_KERNELS:-/var/tmp/cozbpf-kernels}/$1" "$into" "$3" \
		>/dev/null 2>"$into/boot" || {
		echo "cost: error: $1: see $into" >&2
		failed=1
	}
}

for kernel in "$@"; do
	tests/vm/fetch.sh qemu "$kernel"
	echo "cost: $kernel" >&2
	boot "$kernel" programs 'bash tests/bpf/load.sh'
	VM_COUNT=1 boot "$kernel" cost 'python3 tests/vm/cost.py'
done

# table TITLE PART PATTERN: a row for each name; PATTERN makes lines "NAME VALUE" of the outputs.
table() {
	local kernel
	printf '\n| %s |' "$1"
	printf ' %s |' "${kernels[@]}"
	printf '\n|'
	printf ' --- |%.0s' - "${kernels[@]}"
	printf '\n'
	for kernel in "${kernels[@]}"; do
		tr -d '\r' <"$results/$kernel/$2/out" | sed -nE "$3" | sed "s/^/$kernel /"
	done | awk -v kernels="${kernels[*]}" '
		!seen[$2]++ { names[++n] = $2 }
		{ value[$2, $1] = $3 }
		END {
			m = split(kernels, k, " ")
			for (i = 1; i <= n; i++) {
				printf "| %s |", names[i]
				for (j = 1; j <= m; j++) {
					v = value[names[i], k[j]]
					printf " %s |", v == "" ? "-" : v
				}
				printf "\n"
			}
		}'
}

kernels=("$@")
table 'program: verified / size' programs \
	's/^(on_[a-z_]+) ([0-9]+) ([0-9]+) [a-z_]+ True$/\1 \3\/\2/; s/_plain//; /\//p'
table 'instructions' cost 's/^cost ([a-z_-]+) ([0-9]+)$/\1 \2/p'
exit $failed
