#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes in a time namespace, whose clock is not the kernel's, pause as long as others do. How
# slow is slow: see deadman.sh.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
elsewhere=(unshare --time --monotonic 1000 --fork --kill-child)
"${elsewhere[@]}" true 2>/dev/null || skip "this kernel has no time namespaces"
fixture speed
options=(-q -o "$dir/p.coz" --fixed-speedup 100 --experiment-length 2s)

# shellcheck disable=SC2317 # wait_for calls them
has_rates() { # FILE N
	[ "$(grep -c '^rate' "$1")" -ge "$2" ]
}
# shellcheck disable=SC2317
is_slow() { # FILE: the last two
	is "$(grep '^rate' "$1" | tail -n 2 | cut -d' ' -f2 | sort -n | tail -n 1)" '<' \
		"$(echo "$reference" | awk '{ print $1 * 0.35 }')"
}

begin "$dir/speed"
wait_for 30 has_rates "$dir/target" 12
reference=$(grep '^rate' "$dir/target" | cut -d' ' -f2 | sort -n | sed -n 6p)
check "an unprofiled run: $reference turns per millisecond" is "$reference" '>' 0
kill -KILL "$target_pid"

echo "-- attached to"
begin "${elsewhere[@]}" "$dir/speed"
start "${tool_in_front[@]}" "${options[@]}" -P progress --fixed-line "$(line_of speed HOT)" \
	-p "$(pgrep -P "$target_pid")"
check "the process is slowed down" wait_for 60 is_slow "$dir/target"
kill -KILL "$target_pid"
wait_for 20 gone "$tool_pid" || bad "profiling ends with it"

# The lines come with the child, so none can be named; one of two is the right one.
echo "-- launched"
rm -f "$dir/p.coz"
start "${tool_in_front[@]}" "${options[@]}" -P "$dir/speed:progress" -b '%/speed' -- \
	"${elsewhere[@]}" "$dir/speed"
check "the process is slowed down" wait_for 60 is_slow "$dir/out"
kill -KILL "$(sed -n 's/^ready //p' "$dir/out")"
wait_for 20 gone "$tool_pid" || bad "profiling ends with it"
finish
