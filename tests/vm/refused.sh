#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# On a kernel that is too old the tool says so, with status 3, before the command begins or a
# process is touched.
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
fixture signaled

refused() {
	says '^cozbpf: error: .*kernel' '^cozbpf: hint: use Linux 5\.15 or later$'
}

run 3 "$tool" doctor
prints '^missing ' '^ +-> ' '^cozbpf cannot profile here: [1-9]'
run 3 "$tool" run -q -o "$dir/profile.coz" -P progress -- "$dir/signaled" 100
refused
check "the command has not run" [ ! -s "$dir/out" ]
check "there is no profile" [ ! -s "$dir/profile.coz" ]
begin "$dir/signaled" 600000
run 3 "$tool" attach -q -o "$dir/profile.coz" -P progress -p "$target_pid"
refused
check "no code was mapped into the process" \
	[ "$(grep -c 'r-xp 00000000 00:00 0 *$' "/proc/$target_pid/maps")" -eq 0 ]
check "nobody traces it" has "/proc/$target_pid/status" '^TracerPid:.0$'
end
finish
