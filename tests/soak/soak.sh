#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts Debian's nginx and PostgreSQL, two of each, in control groups of their own, and hands them
# to soak.py, which says what is done and looked at.
# usage: tests/soak/soak.sh [OPTIONS of soak.py]   (make soak; needs root and the network)
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=servers.sh
. "$root/tests/soak/servers.sh"
scripts/install-deps.sh soak >/dev/null || skip "its packages cannot be installed"
nginx_build 3500000 || bad "nginx's module builds"
pg_build 5000000 || bad "PostgreSQL's function builds"
for at in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ ! -e "$at/cgroup.controllers" ] || groups=$at/cozbpf-soak-$$
done
mkdir "${groups:?there is no cgroup v2}" || skip "no control group can be made here"
# An instance of the tracer holds the event that soak.py defines, and is named as the event is.
tracer=/sys/kernel/tracing
trace=$tracer/instances/cozbpf_soak_$$
trace_remove() { # INSTANCE
	[ -d "$1" ] || return 0
	echo 0 >"$1/events/enable"
	rmdir "$1"
	! grep -q "cozbpf_soak/${1##*/} " $tracer/uprobe_events ||
		echo "-:cozbpf_soak/${1##*/}" >>$tracer/uprobe_events
}
# A killed run cannot clean up, and the kernel keeps its event until the machine starts anew.
for left in "$tracer"/instances/cozbpf_soak_*; do
	[ -e "/proc/${left##*_}" ] || trace_remove "$left"
done
# shellcheck disable=SC2317 # at the end
undo() {
	local name
	for name in web web-fresh; do nginx_stop $name; done
	for name in db db-fresh; do pg_stop $name; done
	cleanup
	sleep 0.5
	trace_remove "$trace"
	rmdir "$groups"/* "$groups" 2>/dev/null
}
trap undo EXIT

in_group() { # NAME COMMAND...
	mkdir "$groups/$1"
	(echo "$BASHPID" >"$groups/$1/cgroup.procs" && "${@:2}") || bad "$1 starts"
}
port=$((20000 + $$ % 10000))
in_group web nginx_start web $port
in_group web-fresh nginx_start web-fresh $((port + 1))
in_group db pg_start db $((port + 2))
in_group db-fresh pg_start db-fresh $((port + 3))
[ "$failed" -eq 0 ] || finish
mkdir "$trace" || skip "the kernel has no instances of its tracer"
python3 tests/soak/soak.py --tool "$tool" --dir "$dir" --groups "$groups" --trace "$trace" \
	--pg "$pg" --port $port "$@"
