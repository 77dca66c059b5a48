#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the screens of docs/live.md again: attaches to tests/workloads/forkjoin in tmux, waits for a
# ranking, presses keys, and copies what is shown.
# usage: sudo scripts/screens.sh [SECONDS]   time for the ranking to form (default: 15)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-15}
page=docs/live.md
[ "$(id -u)" -eq 0 ] || {
	echo "screens: error: profiling needs root" >&2
	exit 3
}
make -s all workloads
dir=$(mktemp -d)
tm=(tmux -u -S "$dir/tmux" -f /dev/null)
work=
finish() {
	"${tm[@]}" kill-server 2>/dev/null || true
	[ -z "$work" ] || kill "$work" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT

screen() {
	"${tm[@]}" capture-pane -p
}
wait_for() { # PATTERN
	local end=$((SECONDS + 120))
	until screen | grep -qE -e "$1"; do
		[ "$SECONDS" -lt "$end" ] || {
			screen >&2
			echo "screens: error: there is no '$1'" >&2
			exit 1
		}
		sleep 0.1
	done
}
# shot NAME: puts the screen into the page, between the fences after the line <!-- NAME -->.
shot() {
	screen | sed 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$dir/shot"
	awk -v name="<!-- $1 -->" -v file="$dir/shot" '
		on && /^```$/ { on = 0 }
		!on { print }
		$0 == name { wanted = 1 }
		wanted && /^```text$/ {
			while ((getline row < file) > 0) print row
			wanted = 0; on = 1
		}' "$page" >"$dir/page"
	cat "$dir/page" >"$page"
}

nice -n -15 build/tests/workloads/forkjoin >"$dir/out" 2>&1 &
work=$!
attach="build/cozbpf -P progress --experiment-length 100ms -o '$dir/p.coz' -p $work"
"${tm[@]}" new-session -d -x 100 -y 26 "LC_ALL=C.UTF-8 nice -n -15 $attach"
sleep "$seconds"
wait_for '^  1  .*(optimize|no effect|contention)'
wait_for '^ now .*(faster|baseline)'
shot list
"${tm[@]}" send-keys Enter
wait_for '^> *[0-9]'
shot line
"${tm[@]}" send-keys q o
wait_for '^ gain .*share of the samples'
wait_for '^ now .*(faster|baseline)'
shot overview
"${tm[@]}" send-keys o
"${tm[@]}" resize-window -x 60 -y 12
wait_for '^ q:end'
wait_for '^ now .*(faster|baseline)'
shot small
