#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# More processes than the limit on open files allows, in one control group; and what is said where
# even the hard limit is too low, or the group too large. The command keeps its own limit.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture crowd
options=(--no-tui -v --fixed-line "$(line_of crowd LINE_A)" --fixed-speedup 50 -P progress
	--experiment-length 200ms -d 3s)

echo "-- the command has the limit that cozbpf was started with"
run 0 sh -c 'ulimit -Sn 777 && exec "$@"' sh "${tool_in_front[@]}" "${options[@]}" -o "$dir/p.coz" \
	-- "$dir/crowd" 3 2
prints '^ready 777$'

for at in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
	[ -e "$at/cgroup.procs" ] && mkdir "$at/cozbpf-e2e-$$" 2>/dev/null &&
		group=$at/cozbpf-e2e-$$ && break
done
[ -n "${group:-}" ] || skip "no control group can be made here"
trap 'cleanup; sleep 0.3; rmdir "$group"' EXIT
begin_crowd() { # PROCESSES: in the group
	# shellcheck disable=SC2016 # expanded by that shell
	begin sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$dir/crowd" "$1" 600
}
begin_crowd 300

echo "-- 300 processes, and a soft limit of 256"
rm -f "$dir/p.coz"
# Each of them is held still twice. 1200 such stops took more than a minute beside other work.
slowness=2 run 0 sh -c 'ulimit -Sn 256 && exec "$@"' sh "${tool_in_front[@]}" "${options[@]}" \
	--cgroup "$group" -o "$dir/p.coz"
says 'attached to 300 processes with 300 threads'
says_not 'warning: process'
check "the profile has experiments" has "$dir/p.coz" '^experiment'
check "no process has been lost" [ "$(wc -l <"$group/cgroup.procs")" -eq 300 ]

# A process takes two files at least, so these limits are met in two places of the tool.
echo "-- a hard limit that is too low"
for files in 300 301; do
	# shellcheck disable=SC2016 # expanded by that shell
	run 1 sh -c 'ulimit -n "$0" && exec "$@"' "$files" "${tool_in_front[@]}" "${options[@]}" \
		--cgroup "$group" -o "$dir/p.coz"
	says 'error: .*process [0-9]+.*: Too many open files' 'hint: .*ulimit -n'
done
kill -KILL "$target_pid"

echo "-- more processes than there is room for"
begin_crowd 4100
run 3 "${tool_in_front[@]}" "${options[@]}" --cgroup "$group" -o "$dir/p.coz"
says "the control group '.*' has more than 4096 processes" 'hint: name a group below it'
kill -KILL "$target_pid"
finish
