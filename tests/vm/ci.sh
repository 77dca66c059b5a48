#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What CI tries on other kernels: programs load on each, in the mode of pausing that it has, and
# the oldest is refused. tests/vm/run.sh does it. What else is in tests/vm/expected takes a quarter
# of an hour: `make check-vm`.
# usage: tests/vm/ci.sh
# A kernel that cannot be had is no fault of the tree: mirrors fail and drop releases, and a machine
# may have no network. Such a kernel is named, counts as a skip, and fails nothing. One that was
# fetched and does not pass fails.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
cache=${COZBPF_KERNELS:-/var/tmp/cozbpf-kernels}
load=tests/vm/brief-load.sh
plan=("6.12:$load" "6.1+lockdown=integrity:$load" "newest:$load" 5.10:tests/vm/refused.sh)
# A guest has one processor to itself here, so its limits and its work are shorter than usual.
export VM_JOBS=2 VM_LIMIT=450 VM_SLOWNESS=3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

mapfile -t versions < <(printf '%s\n' "${plan[@]%%[:+]*}" | awk '!seen[$0]++')
start=$SECONDS rc=0
timeout -k 5 150 tests/vm/fetch.sh qemu "${versions[@]}" >"$log" 2>&1 || rc=$?
cat "$log"
echo "vm: fetched in $((SECONDS - start)) s"
case $rc in
0 | 4) ;;
124) echo "fetch: error: stopped after 150 s" >>"$log" ;;
*) exit 1 ;;
esac
newest=$(sed -n 's/^newest is //p' "$log")
own=$(qemu-system-x86_64 --version | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
# The machine's own qemu may be too old for it (tests/vm/fetch.sh).
[ -d "$cache/qemu" ] || [ "${own:-0}" -ge 10 ] || newest=

trials=() missing=()
for trial in "${plan[@]}"; do
	trial=${trial/#newest/${newest:-newest}}
	if [ -d "$cache/${trial%%[:+]*}" ]; then
		trials+=("$trial")
	else
		missing+=("$trial")
	fi
done
rc=0
[ ${#trials[@]} -eq 0 ] || tests/vm/run.sh "${trials[@]}" || rc=$?
[ ${#missing[@]} -eq 0 ] || {
	echo "vm: NOT TRIED, for they could not be fetched: ${missing[*]%%:*}"
	grep -E '^fetch: error: ' "$log"
	[ -z "${COZBPF_TOTALS:-}" ] || echo "0 0 ${#missing[@]}" >>"$COZBPF_TOTALS"
}
exit "$rc"
