#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf report` from the outside: what goes to which stream, and exit statuses, for profiles good,
# foreign, damaged, empty and missing. Needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"
words=(report)

# A line with a slope of 0.4, six experiments at each of six speedups, periods that scatter by 1 %.
{
	printf 'startup\ttime=1\n'
	for cell in 0 1 2 3 4 5; do
		for i in 0 1 2 3 4 5; do
			printf 'experiment\tselected=/src/a.c:7\tspeedup=%s' \
				"0.$((cell * 16 / 10))$((cell * 16 % 10))"
			printf '\tduration=%d\tselected-samples=50\n' \
				$(((1000000 - 64000 * cell) * (99 + i % 3)))
			printf 'throughput-point\tname=done\tdelta=100\n'
		done
	done
	printf 'samples\tlocation=/src/a.c:7\tcount=4000\nruntime\ttime=3000000000\n'
} >good.coz
sed 's/^startup\ttime=1$/startup\ttime=2/' good.coz >second.coz
head -c 1000 good.coz >cut.coz
: >empty.coz
printf 'startup\ttime=1\nruntime\ttime=1000\tsamples=77\n' >none.coz
{ head -n -1 good.coz && printf 'runtime\ttime=3000000000\tsamples=4060\tin-scope=4000\n'; } \
	>scope.coz
printf 'startup\ttime=1\nsamples\tlocation=/src/a.c:7\tcount=9\n' >none-yet.coz
sed 's/^startup\ttime=1$/&\tperiod=2000000/' good.coz >period.coz
head -c 20000 /dev/urandom >noise.coz

expect 1 '' "cannot open 'profile.coz': No such file"
expect 1 '' "cannot read '/dev/zero': it is a device" /dev/zero
expect 0 'optimize' '' good.coz
expect 0 'making a.c:7 .* faster would raise throughput by' '' --text good.coz
expect 0 '^        little time, much gain' '' --overview good.coz
expect 0 '^  1  a.c:7 +100\.0 % +[+]40\.0 % +[+]3.* optimize$' '' --overview good.coz
expect 0 '^  1  .* 98\.5 % ' '' --overview scope.coz
expect 0 '"schema":.*"cozbpf-report/1"' '' --json good.coz
expect 0 '"experiments":.*72' '2 of 2 runs do not say their build' --json good.coz second.coz
expect 0 '"experiments":.*36' '1 run is there twice and counted once' --json good.coz good.coz
expect 0 'optimize' '' - <good.coz
expect 0 '^/src/a.c:7,0\.16,0\.064,0\.0[0-9]*,0\.0[0-9]*,done,throughput,0\.064,6,600,optimize,$' \
	'' --csv good.coz
expect 0 '^/src/a.c;/src/a.c:7 4000$' '' --folded good.coz
expect 0 '^\[outside the scope\] 60$' '' --folded scope.coz
expect 4 '' 'holds no samples of lines' --folded cut.coz
expect 4 '' 'none of the 77 samples of the profile fell in code in scope' --folded none.coz
expect 0 'optimize' '' --sort payback good.coz
expect 2 '' "unknown sort key 'size'" --sort size good.coz
expect 2 '' 'exclude each other' --text --json good.coz
expect 2 '' 'exclude each other' --csv --folded good.coz
expect 2 '' 'exclude each other' --json --pprof good.coz
expect 4 '' 'holds no samples of lines' --pprof cut.coz
expect 0 . 'warning: causal_gain_25 is 0 everywhere' --pprof none-yet.coz
expect 2 '' 'exclude each other' --overview --json good.coz
expect 2 '' "did you mean '--json'" --jsno good.coz
expect 0 '^usage: cozbpf report' '' --help
expect 4 'left out for lack of data' 'no line has enough data yet' cut.coz
expect 4 '' "'empty.coz' is empty" empty.coz
expect 4 '0 experiments, 77 samples' 'none of the 77 samples' none.coz
expect 4 '0 experiments, 77 samples' 'none of the 77 samples' --overview none.coz
expect 4 '"lines":.*\[\]' 'none of the 77 samples' --json none.coz
expect 1 '' "'noise.coz' is not a profile" noise.coz
expect 1 '' "cannot open 'missing.coz'" good.coz missing.coz
mkdir nothing
expect 4 '' "no file is in the directory 'nothing'" nothing
cp good.coz profile.coz
expect 0 'optimize' ''
cat noise.coz good.coz >both.coz
expect 0 'optimize' 'warning: [0-9]+ records? not understood and skipped' both.coz
# Memory: a gigabyte would take CI a minute, so smaller files with a limit stand for it. A sample
# that a later record of the run supersedes is not kept: 900,000 of them would take 90 MB. The tool
# says where memory ends; tests/unit/test_runs.c checks what a profile may take. (ASan reserves
# terabytes.)
if ! grep -qa __asan_init "$tool"; then
	awk 'BEGIN {
		print "startup\ttime=1"
		for (i = 1; i <= 900000; i++)
			print "samples\tlocation=/src/directory/file.c:" i % 100 "\tcount=" i
	}' >samples.coz
	awk 'BEGIN {
		print "startup\ttime=1"
		for (i = 1; i <= 300000; i++) {
			print "experiment\tselected=a:1\tspeedup=0\tduration=9\tselected-samples=1"
			print "throughput-point\tname=x\tdelta=9"
		}
	}' >experiments.coz
	small() { # STATUS ARGS...: with 80 MB of address space
		local status=$1 rc
		shift
		(ulimit -v 80000 && exec "$tool" report "$@") >out 2>err
		rc=$?
		check "report $* in 80 MB: status $rc, not $status: $(cat err)" \
			[ "$rc" -eq "$status" ]
	}
	small 0 --folded samples.coz
	check 'the last record counts' grep -q \
		'^/src/directory/file.c;/src/directory/file.c:7 899907$' out
	small 1 experiments.coz
	check "the end of memory is told: $(cat err)" \
		grep -q "out of memory while reading 'experiments.coz'" err
fi
"$tool" report --json good.coz >a.json
"$tool" report --json good.coz >b.json
check 'a report is made twice the same' cmp a.json b.json
"$tool" report good.coz >/dev/full 2>err
check 'a full device is noticed' [ $? -ne 0 ]
"$tool" report --pprof good.coz >/dev/full 2>err
check 'by what is binary, too' [ $? -ne 0 ]
"$tool" report --pprof period.coz | gzip -d |
	protoc -I "$root/user/report/pprof" --decode=perftools.profiles.Profile profile.proto >out
check "another reader finds samples, CPU time and gain: $(cat out)" [ "$(sed -n \
	's/^  value: //p' out | tr '\n' ' ')" = '4000 8000000000 100000 ' ]
check 'and the line' grep -q '^string_table: "/src/a.c:7"$' out
script -qec "'$tool' report --pprof good.coz" /dev/null >out 2>&1 </dev/null
check 'a terminal gets a hint' [ $? -eq 2 ]
check "and nothing else: $(cat -v out)" grep -q 'hint: write it into a file: --pprof >' out
"$tool" report --overview good.coz >/dev/full 2>err
check 'by the overview as well' [ $? -ne 0 ]
if [ "$(id -u)" -eq 0 ]; then
	# While standard input is awaited, the report is being read.
	mkfifo held
	"$tool" report - <held >out 2>err &
	exec 9>held
	for _ in $(seq 100); do
		sed -n 's/^\(Cap[IPEA].*\|NoNew.*\):\s*/\1 /p' "/proc/$!/status" >rights
		! grep -q 'CapEff 0*$' rights || break
		sleep 0.05
	done
	exec 9>&-
	wait $!
	check 'no capability is effective while a profile is read' grep -q 'CapEff 0*$' rights
	check "those over files may come back: $(tr '\n' ' ' <rights)" grep -q 'CapPrm 0*b$' rights
	check 'and no others by an exec' grep -q 'NoNewPrivs 1$' rights
fi
finish
