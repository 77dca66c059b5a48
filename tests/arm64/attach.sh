#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Attaching on arm64, in each mode of pausing that every kernel has, and in the best one: the line
# that leads is the right one, pauses begin, and nothing is left behind. The work is 60 % in LINE_A.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0")/guest.sh"

# look FILE: mappings without addresses, actions and masks of signals, descriptors
look() {
	{
		sed -E 's/^[^ ]+ (....) [^ ]+ [^ ]+ [^ ]+ */\1 /' "/proc/$target_pid/maps" |
			grep -v uprobes | sort | uniq -c
		grep -hE '^(SigCgt|SigIgn|Threads|TracerPid)' "/proc/$target_pid/status"
		grep -hE '^SigBlk' "/proc/$target_pid"/task/*/status
		for fd in "/proc/$target_pid/fd"/*; do readlink "$fd"; done
	} >"$1"
}

# attached SECONDS OPTIONS...: nine checks
attached() {
	local asked='' begun=''
	begin "$fixtures/running" plain
	look "$dir/before"
	rm -f "$dir/p.coz"
	run 0 "$tool" -v --no-tui -P progress -d "$1"s -o "$dir/p.coz" "${@:2}" -p "$target_pid"
	look "$dir/after"
	says 'pause handler injected, signal [0-9]*;' 'pause handler taken out;'
	read -r asked begun < <(sed -nE \
		's/.* \(running\): .* ([0-9]+) pauses asked, ([0-9]+) begun$/\1 \2/p' "$dir/err")
	check "pauses were begun: $begun" is "${begun:-none}" '>' 0
	check "most of $asked" is "$((2 * begun))" '>=' "${asked:-none}"
	check "nothing is left" same "$dir/before" "$dir/after"
	end
	check "no signal of ours reached it" has "$dir/target" ' foreign 0 not_caught 0'
}

attached $((12 * slowness))
cat "$dir/err"
leads "$(line_of running LINE_A)"
for mode in write quanta; do
	attached $((4 * slowness)) --pause $mode --fixed-line "$(line_of running LINE_A)" \
		--fixed-speedup 100
	mode_is $mode
done
finish
