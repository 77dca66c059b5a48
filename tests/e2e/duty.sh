#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --duty: series of experiments with rests between them. A day of them is simulated in
# tests/unit/test_duty.c; here the kernel side sleeps and wakes, guards are asked, and files are
# written. With 50 % there is a series of 5 s in each 10 s. By arithmetic the slope of the line is
# 0.6, so its verdict needs a few baselines and a few experiments at 50 %: 20 s hold 60 of both.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture running
line=$(line_of running LINE_A)
profile=$dir/profile.coz
often=(-v --no-tui -P progress --fixed-line "$line" --fixed-speedup "0,50"
	--experiment-length 150ms --seed 5 --duty "50%" -o "$profile")

hook='^(raw_tracepoint|tracing)$' # types of links; a hook has one or the other
# Links of the kernel that the tool holds, by type: "3 raw_tracepoint".
links() {
	cat /proc/"$tool_pid"/fdinfo/* 2>/dev/null | awk '/^link_type:/ { print $2 }' | sort |
		uniq -c
}
n_of() { # TYPE
	links | awk -v t="$1" '$2 ~ t { n += $1 } END { print n + 0 }'
}
# shellcheck disable=SC2317 # wait_for calls these
rests() {
	[ "$(grep -c resting "$dir/err")" -ge "$1" ]
}
# shellcheck disable=SC2317
works() { # SERIES: so many have begun
	[ "$(grep -c '^startup' "$profile")" -ge "$1" ]
}
stop() { # STATUS WHAT
	kill -TERM "$tool_pid"
	ended 20 "$1" "$2"
}

echo "-- series and rests"
begin "$dir/running" plain 2
start "$tool" "${often[@]}" --rotate 64k --metrics "$dir/a.prom" --pprof "$dir/a.pb.gz" -d 42s \
	-p "$target_pid"
wait_for 20 rests 1 || bad "it rests"
check "in a rest there are births, execs and ends" [ "$(n_of "$hook")" -eq 3 ]
cpus=$(getconf _NPROCESSORS_ONLN) # each has its event of samples, which rests
check "and no probe of the point" [ "$(n_of "^perf")" -eq "$cpus" ]
check "metrics are there before there is an answer" has "$dir/a.prom" '^cozbpf_series_total.* 0$'
wait_for 20 works 1 || bad "a series begins"
check "in a series there are hooks" [ "$(n_of "$hook")" -gt 6 ]
check "and the probe" [ "$(n_of "^perf")" -eq $((cpus + 1)) ]
ended 60 0 "it ends with -d"
says 'resting' "$line .*optimize"
check "the target is as it was" [ -d "/proc/$target_pid" ]
files=("$profile"*)
check "there are several files" [ "${#files[@]}" -gt 2 ]
check "of 64 kB at most" [ "$(cat "${files[@]}" | wc -c)" -le 65536 ]
for f in "${files[@]}"; do
	check "${f##*/} is a profile of whole runs" \
		[ "$(grep -c '^startup' "$f")" -eq "$(grep -c '^runtime' "$f")" ]
done
check "their time is half at most, and one experiment" "$(
	cat "${files[@]}" | awk -F'[\t=]' '/^runtime/ { ns += $3 }
		END { print (ns > 8e9 && ns <= 22e9) ? "true" : "false" }'
)"
run 0 "$tool" report "${files[@]}"
prints "$line .*optimize"
run 0 "$tool" merge -o "$dir/all.coz" "${files[@]}"
check "each run has a baseline" "$(
	awk -F'\t' '/^startup/ { if (n && !base) bad = 1; n++; base = 0 }
		/^experiment/ && /speedup=0(\t|$|\.0)/ { base = 1 }
		END { print (n > 1 && base && !bad) ? "true" : "false" }' "$dir/all.coz"
)"

echo "-- the answer for others"
check "metrics tell of the line" has "$dir/a.prom" "^cozbpf_verdict.*$line\"} 1$"
run 0 python3 - "$dir/a.prom" <<'END'
import re
import sys

label = r'[a-z_]+="(?:[^"\\\n]|\\[\\n"])*"'
sample = re.compile(r'([a-z0-9_]+)\{' + label + '(?:,' + label + r')*\} -?[0-9.e+-]+\n')
types, last = {}, None
for line in open(sys.argv[1], encoding='utf-8'):
    if line.startswith('# TYPE '):
        _, _, name, kind = line.split()
        assert name not in types and kind in ('gauge', 'counter'), line
        types[name] = kind
        last = name
    elif not line.startswith('# HELP '):
        assert sample.fullmatch(line).group(1) == last, line
assert len(types) == 11, types
END
check "the profile for pprof is whole" gzip -t "$dir/a.pb.gz"
go=$(command -v go || find /var/tmp/cozbpf-go -path "*/go/bin/go" 2>/dev/null | sort | tail -n 1)
if [ -n "$go" ]; then
	run 0 env HOME="$dir" "$go" tool pprof -top -sample_index=causal_gain_25 "$dir/a.pb.gz"
	prints 'running.c'
else
	skipped=$((skipped + 1))
	echo "skip pprof: no Go toolchain"
fi
end

# Go's scheduler and loops that spin have probes that come anew in each series.
echo "-- a command is launched; accounts of all sorts begin anew"
for work in go-forkjoin spinlock; do
	if ! [ -x "$workloads/$work" ]; then
		skipped=$((skipped + 1))
		echo "skip $work: no Go toolchain"
		continue
	fi
	point=progress
	[[ $work != go-* ]] || point=main.progress
	run 0 "$tool" -v --no-tui --duty "50%" --seed 5 -P "$point" -d 21s \
		-o "$dir/$work.coz" -- "$workloads/$work" --seconds 23
	check "$work: two series" [ "$(grep -c '^runtime' "$dir/$work.coz")" -ge 2 ]
	says_not 'warning: .*(after a rest|no accounts|spin unseen)'
	check "$work: each has experiments" "$(
		awk '/^startup/ { if (n++ && !any) bad = 1; any = 0 } /^experiment/ { any = 1 }
			END { print (any && !bad) ? "true" : "false" }' "$dir/$work.coz"
	)"
	[[ $work != go-* ]] ||
		check "goroutines are followed in each" \
			[ "$(grep -c 'are followed' "$dir/err")" -ge 2 ]
done

echo "-- guards"
rm -f "$profile"*
begin "$dir/running" plain 2
touch "$dir/busy"
# The tool raises its own limit of descriptors.
start bash -c 'ulimit -Sn 512 && exec "$@"' bash "$tool" "${often[@]}" \
	--pause-if "ulimit -Sn >'$dir/limit'; test -e '$dir/busy'" -p "$target_pid"
wait_for 20 rests 1 || bad "it rests"
check "the command has the limits that cozbpf had" wait_for 5 has "$dir/limit" '^512$'
wait_for 12 false
check "no series while the command says so" [ ! -s "$profile" ]
rm "$dir/busy"
wait_for 30 works 1 || bad "a series begins when it says no more"
touch "$dir/busy"
wait_for 3 rests 2 || bad "and ends when it says so again"
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
check "the target goes on when the tool is killed" [ -d "/proc/$target_pid" ]
run 0 "$tool" merge -o "$dir/killed.coz" "$profile"
rm -f "$profile"
start "$tool" "${often[@]}" --pause-above 0.000001 -d 15s -p "$target_pid"
ended 30 4 "no series at any load: no result"
says 'no series of experiments has begun: load'
start "$tool" "${often[@]}" --pause-if 'exit 3' -d 12s -p "$target_pid"
ended 30 4 "a guard that fails is a no"
says "warning: 'exit 3' has failed"

echo "-- the target ends, and the tool is told to"
start "$tool" "${often[@]}" -p "$target_pid"
wait_for 20 works 1 || bad "a series begins"
end
check "the tool ends with its target" wait_for 20 gone "$tool_pid"
begin "$dir/running" plain 2
start "$tool" "${often[@]}" --duty "0.01%" -p "$target_pid"
wait_for 20 rests 1 || bad "it rests"
stop 4 "SIGTERM ends a rest"
says 'no series of experiments has begun$' 'there is one in 50000 s'
end

echo "-- whose files"
rm -f "$profile"
begin "$dir/running" plain 2
mkdir "$dir/own"
chown nobody "$dir/own"
start env SUDO_UID="$(id -u nobody)" "$tool" "${often[@]}" -o "$dir/own/p.coz" \
	--metrics "$dir/own/b.prom" -p "$target_pid"
wait_for 20 rests 1 || bad "it rests"
check "metrics are the user's" [ "$(stat -c %U "$dir/own/b.prom" 2>/dev/null)" = nobody ]
check "and nothing else is left" [ "$(find "$dir/own" -type f | wc -l)" -eq 2 ]
stop 4 "it ends"
end

echo "-- a disk that is full for a while"
full=$dir/full
mkdir "$full"
mount -t tmpfs -o size=16k none "$full" || bad "a small file system"
# shellcheck disable=SC2317 # the trap calls it
cleanup_full() {
	umount "$full" 2>/dev/null
	cleanup
}
trap cleanup_full EXIT
head -c 12288 /dev/zero >"$full/filler"
begin "$dir/running" plain 2
start "$tool" "${often[@]}" -o "$full/p.coz" -p "$target_pid"
wait_for 60 has "$dir/err" 'No space left.*tried again with each series' || bad "that is told"
before=$(grep -c '^startup' "$full/p.coz")
check "what there is room for is in the file" is "$before" '>=' 1
rm "$full/filler"
# shellcheck disable=SC2317 # wait_for calls it
goes_on() { [ "$(grep -c '^startup' "$full/p.coz")" -gt "$before" ]; }
wait_for 30 goes_on || bad "series are written again"
stop 1 "it ends with the error"
says 'error: cannot write the profile'
run 0 "$tool" report "$full/p.coz"
says_not 'not understood|damaged|truncated'
end

echo "-- what makes no sense"
for share in 0 60% x -1; do
	run 2 "$tool" --duty "$share" -p 1
	says "is not a share of the time|invalid|option"
done
run 2 "$tool" --duty 1% --end-to-end -n 3 -- true
says "'--duty' and '--end-to-end' exclude each other"
run 2 "$tool" --duty 1% -n 3 -- true
says "'--duty' and '--runs' exclude each other"
for same in "$dir/same" "$dir/./same"; do
	: >"$dir/same"
	run 2 "$tool" --duty 1% --metrics "$dir/same" --pprof "$same" -p 1
	says "'$same' is the file of both"
done
run 2 "$tool" --duty 1% --pprof - -p 1
says "is replaced after each series, not printed"
run 2 "$tool" --metrics x.prom -p 1
says "'--metrics' is of no use without '--duty'"
run 2 "$tool" --duty 1% --rotate 10 -p 1
says "'10' is not a size for a profile"
run 2 "$tool" --duty 1% --pause-above -3 -p 1
says "'-3' is not a load average"
finish
