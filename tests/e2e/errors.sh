#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No silent empty profile and no riddle: each way to measure nothing has its status, a message in
# lower case without a full stop, and a next step. Commands that do run have 1.2 s of work, so "too
# short" (under 1 s) is not the reason. Where they sleep, 2 s hold few samples.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
fixture mirror
fixture sleepy
work=$workloads/abab
out=(--no-tui -o "$dir/profile.coz")

# fails STATUS PATTERN HINT OPTIONS...: fails with that status, with a message and a hint like these
# (HINT -: none is needed).
fails() {
	local want=$1 message=$2 hint=$3 n
	shift 3
	run "$want" "$tool" "${out[@]}" "$@"
	n=$(grep -c '^cozbpf: error: ' "$dir/err")
	check "one error" [ "$n" -eq 1 ]
	says "^cozbpf: error: .*$message"
	[ "$hint" = - ] || says "^cozbpf: hint: .*$hint"
	if grep -E '^cozbpf: (error|hint): ' "$dir/err" |
		grep -qE '^cozbpf: [a-z]+: [A-Z][a-z]+ |[^.]\.$'; then
		bad "lower case, no full stop"
	else
		ok "lower case, no full stop"
	fi
	check "nothing on standard output" [ "$(grep -vc '^visits ' "$dir/out")" -eq 0 ]
}

echo "-- no privilege"
mkdir "$dir/open"
cp "$tool" "${tool%/*}/libcozbpf-shim.so" "$work" "$dir/open"
chmod -R a+rX "$dir/open"
for drop in '--reuid=65534 --regid=65534 --clear-groups' \
	'--bounding-set=-bpf,-sys_admin --inh-caps=-bpf,-sys_admin'; do
	# shellcheck disable=SC2086 # several options
	run 3 setpriv $drop "$dir/open/cozbpf" -P progress -o "$dir/open/profile.coz" \
		-- "$dir/open/abab" --seconds 1
	says '^cozbpf: error: the kernel does not let this process load BPF programs$' \
		'^cozbpf: hint: run it with sudo, .*docs/security.md.*cozbpf doctor'
	check "the command has not run" [ ! -s "$dir/out" ]
	# What is written wrong is told before anything is loaded.
	# shellcheck disable=SC2086 # several options
	run 2 setpriv $drop "$dir/open/cozbpf" -P name= -o "$dir/open/profile.coz" -- true
done

echo "-- no debug information"
strip -o "$dir/stripped" "$work"
fails 4 "'$dir/stripped' has no debug information" "-g" --granularity line -P progress \
	-- "$dir/stripped"
check "the command has not run" [ ! -s "$dir/out" ]
gcc -O1 -o "$dir/nodebug" tests/e2e/fixtures/sleepy.c
fails 4 "'$dir/nodebug' has no debug information" "-g" -s '%' -P progress -- "$dir/nodebug"

echo "-- scope"
fails 4 "no line of '.*/abab' is in scope" "source files are .*abab.c.*-s PATTERN" -P progress \
	-s 'nowhere/%' -- "$work"
fails 4 "no file with line tables matches -b '%/nowhere'" "whole paths" -P progress -b '%/nowhere' \
	-- "$work" --threads 1 --seconds 1.2
fails 4 'samples, but none in a line in scope' '-b PATTERN' -P progress -s '%/mirror.c' \
	-s '%/sleepy.c' -b "$dir/mirror" -b MAIN -s '%/nothing.c' -- \
	"$work" --threads 1 --seconds 1.2

echo "-- progress points"
cat >"$dir/locked.c" <<-'END'
	static long n;
	__attribute__((noinline)) void progress(void)
	{
		__asm__ volatile("lock incq %0" : "+m"(n));
	}
	int main(void) { progress(); return 0; }
END
gcc -O2 -g -o "$dir/locked" "$dir/locked.c"
[ "$(uname -m)" != x86_64 ] ||
	fails 2 "the instruction at offset 0x[0-9a-f]+ of '.*/locked' cannot be probed" \
	'take a line nearby' -P progress -- "$dir/locked"
# The first instruction of this progress() has more than one byte.
[ "$(uname -m)" != x86_64 ] ||
	fails 2 "offset 0x[0-9a-f]+ of '.*/locked' is inside an instruction" 'objdump -d' \
	-P "$dir/locked:progress+1" -- "$dir/locked"
fails 2 "no symbol 'progres' in '.*/abab'" "did you mean 'progress'" -P progres -- "$work"
line=$(grep -n LINE_B tests/workloads/abab.c | cut -d: -f1)
fails 2 "no code at line $((line + 3)) of 'abab.c'" \
	"nearest lines with code are $((line + 1)) and " -P "abab.c:$((line + 3))" -- "$work"
fails 2 "the kernel has no tracepoint 'syscalls:sys_enter_wirte'" \
	"did you mean 'syscalls:sys_enter_write'" -P tracepoint:syscalls:sys_enter_wirte -- "$work"
fails 2 "progress point '': it is empty" '\[NAME=\]' -P '' -- "$work"
fails 2 "progress point 'name=': it is empty" '\[NAME=\]' -P name= -- "$work"
fails 2 "progress point 'usdt:b:c': 'usdt:' is followed by PATH:PROVIDER:NAME" 'SPEC is' \
	-P usdt:b:c -- "$work"
missing_alike() {
	fails 2 "no symbol 'xyzzyplugh'" "lists the symbols" -P xyzzyplugh -- "$work"
	fails 2 "no symbol 'nothing_here'" . -P "$dir/mirror:nothing_here" -- "$work"
	fails 2 "no source file 'ababs.c'" "did you mean 'abab.c'" -P ababs.c:16 -- "$work"
	fails 2 "'/nonexistent' of progress point '/nonexistent:sym'" . -P /nonexistent:sym \
		-- "$work"
	fails 2 "the kernel has no tracepoint 'syscall:sys_enter_write'" \
		"did you mean 'syscalls:sys_enter_write'" -P tracepoint:syscall:sys_enter_write \
		-- "$work"
	fails 2 "no symbol 'progres' in '.*/abab'" "did you mean 'progress'" \
		-P "uretprobe:$work:progres" -- "$work"
	fails 2 "'nosuchkind:a.c'" . -P nosuchkind:a.c:3 -- "$work"
}
brief || missing_alike
fails 4 "progress point 'work_fail' was never visited$" 'once per unit of work' -P work_fail \
	-- "$work" --threads 1 --seconds 1.2
run 0 "$tool" "${out[@]}" -P one=work_fail -P two=progress --experiment-length 50ms -- "$work" \
	--threads 1 --a-us 600 --b-us 400 --seconds 1.5
says "warning: progress point 'one' was never visited"

echo "-- nothing to measure"
# Its start alone takes samples, and much time where the machine is emulated: they are far between.
fails 4 'hardly ever seen on a CPU' 'only sleeps' -P progress --period 50ms -- "$dir/sleepy"
fails 4 'ended after 0\.[0-9]+ s, before one experiment' \
	'more work.* -n [0-9]+ -- .* --rounds 1$' -P progress -- "$work" --rounds 1
fails 4 'profiling ended before one experiment was done' '-d 60s' -P progress -d 1.1s \
	--experiment-length 5s -- "$work" --threads 1 --seconds 1.2
again="--end-to-end -n [0-9]+ -- $work --rounds 20"
fails 4 'the command took [0-9.]+ s and ran 3 threads: one run tells nothing' \
	"-P, or more runs: [0-9]+ runs take about [0-9]+ (s|min): .* $again" -- "$work" --rounds 20
says 'no progress point given'

echo "-- the profile cannot be written"
out=(--no-tui)
fails 1 "'/nonexistent/dir/x.coz': No such file or directory" "-o" -P progress \
	-o /nonexistent/dir/x.coz -- "$work"
fails 1 "'/': Is a directory" "-o" -P progress -o / -- "$work"
fails 1 "cannot write the profile '/dev/full'" - -P progress -o /dev/full \
	--experiment-length 100ms -- "$work" --seconds 3
# Nothing is appended to what is no profile.
cp tests/e2e/errors.sh "$dir/own.sh"
fails 1 "'.*own.sh' is not a profile" "another file with -o" -P progress -o "$dir/own.sh" \
	--experiment-length 100ms -- "$work" --seconds 3
check "a file of the user's is as it was" cmp -s tests/e2e/errors.sh "$dir/own.sh"
for export in metrics pprof; do
	fails 2 "'$dir/one.coz' is the profile itself" "files of their own" --duty 50 \
		-P progress -o "$dir/one.coz" "--$export" "$dir/one.coz" -- "$work" --seconds 3
done
out=(--no-tui -o "$dir/profile.coz")

# shellcheck disable=SC2016 # expanded by that shell
run 3 bash -c 'ulimit -n 20; exec "$@"' bash "$tool" "${out[@]}" -P progress -- "$work"
says 'error: too few files may be open for the BPF programs' 'hint: .*ulimit -n'

echo "-- what became of the command"
printf '#include <signal.h>\nvoid progress(void) {}\nint main(void) { return raise(SIGTERM); }\n' \
	>"$dir/ended.c"
gcc -g -O0 -o "$dir/ended" "$dir/ended.c"
fails 4 'the command was ended by signal 15 \(Terminated\) after 0\.' 'without cozbpf' \
	-P progress -- "$dir/ended"

echo "-- options"
fails 2 "unknown option '--bogus'" "--help" --bogus -- "$work"
fails 2 "unknown option '--perid'" "did you mean '--period'" --perid 1ms -- "$work"
fails 2 "unknown option '-Z'" "--help" -Z -- "$work"
fails 2 "option '--progress' needs a value" "--progress" -P
fails 2 "option '--end-to-end' takes no value" - --end-to-end=3 -- "$work"
fails 2 "a period of 5000000 us" "between 100us and 100ms" --period 5 -P progress -- "$work"
fails 2 "'xx' is not a time" "500us" --period xx -P progress -- "$work"
fails 2 "experiments cannot last 1 ms" "between 20ms" --experiment-length 1ms -P progress -- "$work"
fails 2 "cannot be run 0 times" "--runs" -n 0 -- "$work"
fails 2 "takes a whole number, not '-1'" - -n -1 -- "$work"
fails 2 "'1y' is not a time" "30s" -d 1y -- "$work"
fails 2 "option '--duration': the time '0s' is too short" - -d 0s -- "$work"
fails 2 "exclude each other" . --end-to-end -P progress -- "$work"
fails 2 "no user 'no-such-user'" "--user" --user no-such-user -P progress -- "$work"
# 2^32, which is not to be taken for root
fails 2 "no user '4294967296'" "--user" --user 4294967296 -P progress -- "$work"
fails 2 "'abab.c' is not a line" "FILE:LINE" --fixed-line abab.c -P progress -- "$work"
fails 2 "'abab.c:x' is not a line" "FILE:LINE" --fixed-line abab.c:x -P progress -- "$work"
fails 2 "no source file 'other.c' in scope" "cozbpf lines" --fixed-line other.c:1 -P progress \
	-- "$work"
fails 2 "no code at line $((line + 3)) of '.*abab.c'" \
	"nearest lines with code are $((line + 1)) and " --fixed-line "abab.c:$((line + 3))" \
	-P progress -- "$work"
fails 2 "'0,abc' is not a list" "0,25,50,100" --fixed-speedup 0,abc -P progress -- "$work"
fails 2 "'101' is not a list" "0 to 100" --fixed-speedup 101 -P progress -- "$work"
fails 2 "'50,-18446744073709551611' is not a list" "0 to 100" \
	--fixed-speedup 50,-18446744073709551611 -P progress -- "$work"
fails 2 "'io' behind '--off-cpu' is taken for the command" "--off-cpu=io" --off-cpu io "$work"
fails 2 "two progress points are called 'x'" "-P NAME=SPEC" -P x=progress -P x=work_fail -- "$work"
fails 2 "appended to a file, not printed" "'./-'" -o - -P progress -- "$work"
cp "$dir/profile.coz" "$dir/kept.coz"
for export in metrics pprof; do
	fails 2 "'$dir/kept.coz' is a profile, not a " "another file" --duty 1% \
		"--$export" "$dir/kept.coz" -P progress -- "$work"
done
check "it is as it was" same "$dir/profile.coz" "$dir/kept.coz"

# refuses STATUS PATTERN HINT COMMAND...: of another command than run.
refuses() {
	run "$1" "$tool" "${@:4}"
	says "^cozbpf: error: .*$2" "^cozbpf: hint: .*$3"
}
echo "-- other commands"
refuses 2 "cannot be run 0 times" "between 1 and" blocks -n 0 -- true
refuses 2 "'--pid' and '--runs' exclude each other" "as it is" blocks -n 1 -p $$
refuses 4 "no file with line tables matches -b 'nowhere'" "whole paths" blocks -b nowhere \
	-o "$dir/blocks.log" -- true
refuses 4 "no file with line tables matches -b 'nowhere'" "whole paths" blocks \
	--then-experiment -b nowhere -o "$dir/blocks.log" -- true
check "nothing is experimented on: one error" [ "$(grep -c '^cozbpf: error: ' "$dir/err")" -eq 1 ]
refuses 2 "appended to a file, not printed" "'./-'" blocks -o - -- true
refuses 2 "progress point 'name=': it is empty" 'SPEC' blocks --then-experiment -P name= -- true
refuses 2 "no binary is named" "lines --help' lists" lines
run 2 "$tool" reprot x.coz
says "^cozbpf: error: there is no command 'reprot'" "^cozbpf: hint: did you mean 'cozbpf report'"
refuses 2 "'--points' and '--spins' exclude" "leave one out" lines --points --spins "$work"
refuses 2 "'--spins' and '--profile' exclude" "leave one out" lines --spins --profile x "$work"
for words in --help --version 'report --help'; do
	# shellcheck disable=SC2086 # several words
	"$tool" $words >/dev/full 2>"$dir/err"
	check "status 1: $words" [ $? -eq 1 ]
	says '^cozbpf: error: cannot write standard output: No space left'
done

echo "-- the shim"
COZBPF_SHIM=/nonexistent fails 1 "cannot read '/nonexistent', which COZBPF_SHIM names" \
	"COZBPF_SHIM" -P progress -- "$work"
cp "$tool" "$dir/lonely"
tool=$dir/lonely
if [ -e /usr/local/lib/cozbpf/libcozbpf-shim.so ]; then
	echo "     cozbpf is installed, so the tool alone finds a shim"
else
	fails 1 'libcozbpf-shim.so is neither beside' 'make install' -P progress -- "$work"
fi
finish
