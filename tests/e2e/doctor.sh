#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# cozbpf doctor says yes as root. Without privilege it names what is missing and the command that
# repairs it, with status 3.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# An unprivileged user must be able to reach the tool, wherever the clone lies.
built=${COZBPF:-${BUILD:-build}/cozbpf}
cp "$built" "$(dirname "$built")/libcozbpf-shim.so" "$dir"
chmod -R a+rX "$dir"
tool=$dir/cozbpf
passed=0

fail() {
	echo "FAIL $1"
	cat "$dir/out" "$dir/err"
	echo "$passed passed, 1 failed"
	exit 1
}

# run STATUS COMMAND...
run() {
	local want=$1 rc=0
	shift
	"$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
	[ "$rc" -eq "$want" ] || fail "'$*' gives status $rc, not $want"
	passed=$((passed + 1))
}

# says PATTERN: on standard output
says() {
	grep -qE -- "$1" "$dir/out" || fail "nothing like '$1' is said"
	passed=$((passed + 1))
}

run 0 "$tool" doctor
says '^ok +privilege '
says '^ok +BPF programs '
says '^ok +pauses '
says '^ok +shim library +/'
says '^cozbpf can profile here$'
if grep -q '^missing' "$dir/out"; then fail 'something is missing all the same'; fi

run 3 setpriv --reuid=65534 --regid=65534 --clear-groups "$tool" doctor
says '^missing +privilege .*CAP_BPF, CAP_PERFMON'
says '-> run it with sudo, .*docs/security.md'
says '^cozbpf cannot profile here: 1 of '

run 3 setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-bpf,-sys_admin "$tool" doctor
says '^missing +privilege .*CAP_BPF$'

run 3 env COZBPF_SHIM=/nonexistent "$tool" doctor
says "^missing +shim library .*'/nonexistent'"

# Other processes keep the machine's own limit.
echo 1000 >"$dir/rate"
lowered=(unshare -m sh -c
	'mount --bind "$0" /proc/sys/kernel/perf_event_max_sample_rate && exec "$@"' "$dir/rate")
run 0 "${lowered[@]}" "$tool" doctor
says '^warning +sampling .*kernel.perf_event_max_sample_rate is too low'
says '-> sudo sysctl kernel.perf_event_max_sample_rate='

run 3 bash -c 'ulimit -i 0 && exec "$0" doctor' "$tool"
says '^missing +pending signals '
says '-> ulimit -i '

elsewhere=(unshare --time --monotonic 1000 --fork --kill-child)
if "${elsewhere[@]}" true 2>/dev/null; then
	run 3 "${elsewhere[@]}" "$tool" doctor
	says '^missing +clock .*is in a time namespace'
	says '-> run it outside'
	run 3 "${elsewhere[@]}" "$tool" --no-tui -P progress -o /dev/null -- true
	grep -q 'is in a time namespace' "$dir/err" || fail 'a run is not refused for its clock'
	passed=$((passed + 1))
fi

run 0 "$tool" doctor --help
says '^usage: cozbpf doctor'
run 2 "$tool" doctor extra
grep -q "not 'extra'" "$dir/err" || fail 'the message does not name the argument'
passed=$((passed + 1))
echo "$passed passed, 0 failed"
