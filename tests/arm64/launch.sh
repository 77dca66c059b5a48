#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A launched program on arm64. abab does 60 % of its work in LINE_A. Blocking calls are left alone
# in the modes of pausing that every kernel has; tests/e2e/signals.sh runs in the best one.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0")/guest.sh"

run 0 "$tool" --no-tui -P progress -o "$dir/p.coz" -- "$workloads/abab" --seconds $((12 * slowness))
cat "$dir/err"
leads "abab.c:$(grep -n '/\* LINE_A \*/' tests/workloads/abab.c | head -n 1 | cut -d: -f1)"

for mode in write quanta; do
	rm -f "$dir/p.coz"
	run 0 "$tool" run -v --no-tui -o "$dir/p.coz" -P progress --pause $mode \
		--fixed-line "$(line_of waits HOT)" --fixed-speedup 100 --experiment-length 50ms \
		-- "$fixtures/waits" $((3000 * slowness))
	mode_is $mode
	begun=$(sed -nE 's/.*\(waits\): .* ([0-9]+) begun$/\1/p' "$dir/err")
	check "threads that wait were paused (${begun:-0} times)" is "${begun:-0}" '>=' 50
	cat "$dir/out"
	check "in each kind of call" \
		[ "$(grep -cE '^[a-z_]+: [1-9][0-9]* waits, ' "$dir/out")" -eq 7 ]
	check "none came back with EINTR" [ "$(grep -c ' 0 EINTR$' "$dir/out")" -eq 7 ]
done
finish
