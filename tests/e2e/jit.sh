#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Code that a program makes while it runs: functions of /tmp/perf-PID.map are units, as the process
# sees that file. One function takes 3 of 4 parts of the time, so halving it gains 0.375, and
# halving the other one 0.125. Measured here: 0.366 to 0.378 in 4 quiet runs. 0.25 lies between.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
case $(uname -m) in x86_64 | aarch64) ;; *) skip "no code for this machine" ;; esac
fixture jit
cp "$dir/jit" "$dir/lines"
strip "$dir/jit"
point=tracepoint:syscalls:sys_exit_write

forget() {
	rm -f "/tmp/perf-$target_pid.map" "/tmp/perf-$target_pid.map.other"
}
count() { # UNIT: its samples
	sed -nE "s/^\[jit\];\[jit\]:$1 ([0-9]+)$/\1/p" "$dir/out"
}
# brief COMMAND...: on a busy machine there may be no answer.
brief() {
	rm -f "$dir/p.coz"
	timeout --foreground -k 5 60 "$tool" -v --no-tui -P "$point" -o "$dir/p.coz" "$@" \
		>"$dir/out" 2>"$dir/err" </dev/null
	check "it ends: ${*##*/}" [ $? -lt 124 ]
}

echo "-- attached: by name"
begin "$dir/jit" 40000 map
rm -f "$dir/p.coz"
run 0 "${in_front[@]}" "$tool" -v --no-tui -P "$point" --fixed-line jit_hot --fixed-speedup 0,50 \
	--experiment-length 100ms -d 5s -o "$dir/p.coz" -p "$target_pid"
says "'/tmp/perf-$target_pid.map' of process $target_pid: 2 functions"
says_not 'warning:.*jit'
share=$("$tool" report --json "$dir/p.coz" | python3 -c 'import json, sys
lines = {l["line"]: l for l in json.load(sys.stdin)["lines"]}
print(lines["[jit]:jit_hot"]["points"][-1]["program_speedup"])')
check "halving it gains $share of 0.375" is "$share" '>=' 0.25
run 0 "$tool" report --folded "$dir/p.coz"
prints '^\[jit\];\[jit\]:jit_cool [1-9]'
run 2 "$tool" -P "$point" --fixed-line jit_hat -o "$dir/p.coz" -p "$target_pid"
says "did you mean 'jit_hot'"
brief -b MAIN -d 1s -p "$target_pid"
says_not "'/tmp/perf-"
end
forget

echo "-- launched: the code at an address changes"
brief -- "$dir/jit" 4000 renamed
run 0 "$tool" report --folded "$dir/p.coz"
for name in jit_hot jit_new jit_cool; do
	check "samples of $name: $(count $name)" is "$(count $name)" '>=' 100
done

echo "-- in namespaces of its own"
# The program may not lie below /tmp, which is another one in there.
aside=$(mktemp -d -p /var/tmp)
cp "$dir/jit" "$aside/jit"
begin unshare --mount --propagation private --pid --fork --kill-child sh -c \
	'mount -t tmpfs none /tmp && exec "$@" 40000 map' sh "$aside/jit"
inner=$(pgrep -P "$target_pid" | head -n 1)
check "it has a number of its own" has "$dir/target" '^ready 1$'
brief -d 2s -p "$inner"
says "'/tmp/perf-1.map' of process $inner: 2 functions"
run 0 "$tool" report --folded "$dir/p.coz"
prints '^\[jit\];\[jit\]:jit_hot [1-9]'
kill "$inner"
wait "$target_pid"
rm -rf "$aside"

echo "-- maps that are not read"
brief -- "$dir/jit" 1500 foreign
says "warning: '/tmp/perf-[0-9]+.map' of process [0-9]+ is not read: it is another user's" \
	'warning: (9[0-9]|100) % of the samples are in code that programs make while they run' \
	'hint: that file is written by .node --perf-basic-prof'
brief -- "$dir/jit" 1500 link
says "warning: '/tmp/perf-[0-9]+.map' of process [0-9]+ is not read: it is not a regular file"
brief -- "$dir/jit" 1500 old
says "is not read: it is older than the process"
brief -- "$dir/jit" 1500 none
says_not "is not read"
says 'no file /tmp/perf-[0-9]+.map names the functions of process [0-9]+ \(jit\)'
run 0 "$tool" report --folded "$dir/p.coz"
prints '^\[jit\] [1-9]'

echo "-- a program with debug information"
brief -- "$dir/lines" 1500 map
says 'warning: (9[0-9]|100) % of the samples are in code that process [0-9]+ \(lines\) has made' \
	'hint: with --granularity function they count'
begin "$dir/lines" 40000 map
brief -d 1s -p "$target_pid"
says "process $target_pid has a perf map of functions that it makes" 'functions are made faster'
brief -d 1s --granularity line -p "$target_pid"
says_not 'functions are made faster'
end
finish
