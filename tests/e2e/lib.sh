# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What the end-to-end scripts share; sourced, not run: the tool, a directory of their own, fixtures,
# counted checks, waiting. A check prints what it looks at. The script ends with `finish`, which
# prints "N passed, M failed", and ", K skipped" if so, for scripts/run-tests.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
root=$PWD
[ "$(id -u)" -eq 0 ] || {
	echo "needs root"
	exit 77
}
# Where the init system has not mounted it: tracepoints are named there. A script that runs beside
# may come first.
[ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing ||
	[ -d /sys/kernel/tracing/events ] || exit 1
# A script that depends on sudo's variables sets them.
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND PKEXEC_UID DOAS_USER LD_PRELOAD

# shellcheck disable=SC2034 # for the scripts
tool=$(realpath "${COZBPF:-${BUILD:-build}/cozbpf}")
# shellcheck disable=SC2034
workloads=$(realpath "${BUILD:-build}")/tests/workloads
dir=$(mktemp -d --tmpdir=/tmp --suffix=.cozbpf-e2e)
chmod 755 "$dir"
export XDG_CACHE_HOME=$dir/cache # no script finds what another has read
passed=0 failed=0 skipped=0 tool_pid='' target_pid=''
pace=0.05 # seconds between two looks of wait_for
# On an emulated machine (tests/vm/) everything takes longer, a sample's own work above all. There
# limits of time, the work of fixtures and the lengths of experiments are longer by this factor.
slowness=${COZBPF_TEST_SLOWNESS:-1}
started=()

# Whether this script is to leave out what other tests try as well (CONTRIBUTING.md), or what is
# much the same on all kernels: COZBPF_TEST_BRIEF has its name.
brief() {
	local name=${0##*/}
	[[ " ${COZBPF_TEST_BRIEF:-} " == *" ${name%.sh} "* ]]
}

# Before a command: it has priority over other programs. Where the scheduler groups tasks by
# session, nice ranks a task only within its session, which needs a value of its own.
# shellcheck disable=SC2016,SC2034 # expanded by that shell, for the scripts
in_front=(setsid -w sh -c '(echo -15 >/proc/self/autogroup) 2>/dev/null; exec nice -n -15 "$@"' sh)
# The tool so: beside other programs a target would burn seconds before it has been attached to.
# shellcheck disable=SC2034 # for the scripts
tool_in_front=("${in_front[@]}" "$tool")

cleanup() {
	local pid
	for pid in "${started[@]}"; do
		# Not another's that has got the number. The shell tells of it where nobody waits.
		[ "$(ps -o ppid= -p "$pid" | tr -d ' ')" != $$ ] ||
			{ kill -KILL "$pid" && wait "$pid" 2>/dev/null; }
	done
	rm -rf "$dir"
}
trap cleanup EXIT

ok() {
	passed=$((passed + 1))
	echo "ok   $1"
}

# bad WHAT [REASON]: a failure; the latest output is printed with it.
bad() {
	failed=$((failed + 1))
	echo "FAIL $1${2:+: $2}"
	local f
	for f in out err; do
		[ -s "$dir/$f" ] && sed -e "s/^/     $f: /" "$dir/$f" | cut -c1-400 | tail -n 25
	done
	return 0
}

# check WHAT COMMAND...: one check, passed when the command succeeds.
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else bad "$what" "not: $*"; fi
}

# at_speed WHAT COMMAND...: a check whose tolerance supposes that the machine is not emulated. An
# emulated one leaves it out, and counts that.
at_speed() {
	if [ "$slowness" -eq 1 ]; then
		check "$@"
	else
		skipped=$((skipped + 1))
		echo "skip $1: the machine is emulated"
	fi
}

finish() {
	local left_out=''
	[ "$skipped" -eq 0 ] || left_out=", $skipped skipped"
	echo "$passed passed, $failed failed$left_out"
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

skip() {
	echo "$1"
	exit 77
}

# fixture NAME [FLAGS...]: builds tests/e2e/fixtures/NAME.c as $dir/NAME; as=OTHER gives it another
# name. What make has built (FIXTURES) is taken.
fixture() {
	local name=$1 built=${BUILD:-build}/tests/e2e/fixtures/$1 source=tests/e2e/fixtures/$1.c
	shift
	if [ $# -eq 0 ] && [ "$built" -nt "$source" ] &&
		[ "$built" -nt "${source%/*}/fixture.h" ]; then
		cp "$built" "$dir/${as:-$name}"
		return
	fi
	gcc -O1 -g -fno-omit-frame-pointer -Wall -Wextra "$@" -o "$dir/${as:-$name}" \
		"$root/$source" -lpthread ||
		{
			echo "the fixture '$name' does not build"
			exit 1
		}
}

# line_of NAME TAG: FILE:LINE of the line of a fixture that ends in /* TAG */.
line_of() {
	echo "$1.c:$(grep -n "/\* $2 \*/" "$root/tests/e2e/fixtures/$1.c" | head -n 1 |
		cut -d: -f1)"
}

# run STATUS COMMAND...: checks the exit status; standard output in $dir/out, standard error in
# $dir/err. A minute without an end is a failure, where the machine is not a slow one.
run() {
	local want=$1 rc=0
	shift
	timeout --foreground -k 5 $((60 * slowness)) "$@" >"$dir/out" 2>"$dir/err" </dev/null ||
		rc=$?
	if [ "$rc" -eq "$want" ]; then
		ok "status $want: ${*##*/}"
	else
		bad "status $want: ${*##*/}" "it is $rc"
	fi
}

says() { # PATTERN...: each on standard error
	local p
	for p in "$@"; do
		if grep -qE -e "$p" "$dir/err"; then ok "says '$p'"; else bad "says '$p'"; fi
	done
}

says_not() { # PATTERN
	if grep -qE -e "$1" "$dir/err"; then
		bad "does not say '$1'"
	else
		ok "does not say '$1'"
	fi
}

prints() { # PATTERN...: each on standard output
	local p
	for p in "$@"; do
		if grep -qE -e "$p" "$dir/out"; then ok "prints '$p'"; else bad "prints '$p'"; fi
	done
}

# start COMMAND...: runs it in the background, with output as in run; its process id is in
# $tool_pid.
start() {
	: >"$dir/out"
	: >"$dir/err"
	env --default-signal=INT,QUIT "$@" >"$dir/out" 2>"$dir/err" </dev/null &
	tool_pid=$!
	started+=("$tool_pid")
}

# begin COMMAND...: starts a target in the background and waits until it is ready; its process is in
# $target_pid, its output in $dir/target.
begin() {
	: >"$dir/target"
	env --default-signal=INT,QUIT "$@" >"$dir/target" 2>&1 </dev/null &
	target_pid=$!
	started+=("$target_pid")
	wait_for 30 has "$dir/target" '^ready' || bad "the target starts"
}

# squat PID NAMES: another user takes so many names of a process's claim (user/target/owner.c), all
# of them where there is no number. Who has them is in $squatter.
squat() {
	python3 -c '
import os, socket, sys, time
ns = os.stat("/proc/self/ns/pid").st_ino
pid, start = sys.argv[1], open("/proc/%s/stat" % sys.argv[1]).read().rsplit(")")[1].split()[19]
os.setuid(65534)
held = []
for i in range(int(sys.argv[2])):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].bind("\0cozbpf/%d/%s/%s/%d" % (ns, pid, start, i))
    held[-1].listen()
print("taken", flush=True)
time.sleep(60)' "$1" "${2:-16}" >"$dir/squatter" &
	# shellcheck disable=SC2034 # for the scripts
	squatter=$!
	wait_for 20 has "$dir/squatter" taken || bad "the name is taken"
}

# end: ends the target, which has to end as it should.
end() {
	local rc=0
	kill -TERM "$target_pid"
	wait_for 20 gone "$target_pid" || bad "the target ends"
	wait "$target_pid" || rc=$?
	check "the target ends with status 0" [ "$rc" -eq 0 ]
	check "it says so" has "$dir/target" '^end'
}

# wait_for SECONDS COMMAND...: waits until the command succeeds; fails when it never does.
wait_for() {
	local end=$((SECONDS + $1 * slowness))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt "$pace" <> <(:)
	done
	return 0
}

has() { # FILE PATTERN
	grep -qE -e "$2" "$1" 2>/dev/null
}

lacks() { # FILE PATTERN
	! has "$@"
}

gone() { # PID
	! [ -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# ended SECONDS WANT WHAT: the started command ends by then with that status.
ended() {
	local rc=0
	if ! wait_for "$1" gone "$tool_pid"; then
		bad "$3" "it does not end"
		kill -KILL "$tool_pid"
		wait "$tool_pid" 2>/dev/null
		return
	fi
	wait "$tool_pid" || rc=$?
	if [ "$rc" -eq "$2" ]; then ok "$3"; else bad "$3" "status $rc, not $2"; fi
}

is_state() { # PID LETTER
	grep -q "^State:.$2" "/proc/$1/status" 2>/dev/null
}

same() { # FILE FILE
	cmp -s "$1" "$2"
}

# is VALUE OPERATOR VALUE: compares numbers, fractions allowed; anything that is not a number fails.
is() {
	awk -v a="$1" -v b="$3" \
		"BEGIN { exit !(a ~ /^-?[0-9.e+-]+\$/ && b ~ /^-?[0-9.e+-]+\$/ && a + 0 $2 b + 0) }"
}

# deltas NAME: visits of a point in each experiment of $dir/p.coz, in one line.
deltas() {
	sed -n "s|^throughput-point\tname=$1\tdelta=\([0-9]*\).*|\1|p" "$dir/p.coz" | tr '\n' ' '
}

# same_visits NAME OTHER [late]: compares the counts of two points that each unit of work passes.
# For each thread that does units (UNIT_THREADS, 1) they may differ by one at each end of an
# experiment's window, since the points of a unit lie a microsecond or so apart. Of some twenty
# experiments other programs spoil a few, or starve the program in some: five have to have five
# visits or more. late: OTHER counts only from some experiment on.
same_visits() {
	python3 -c '
import os, sys
most = 2 * int(os.environ.get("UNIT_THREADS", "1"))
a, b = ([int(n) for n in t.split()] for t in sys.argv[1:3])
if sys.argv[3:]:
    while b and not b[0]:
        b.pop(0)
    b = b[1:]
    a = a[len(a) - len(b):]
plenty = sum(n >= 5 for n in a) >= 5
if len(a) != len(b) or not plenty or any(abs(x - y) > most for x, y in zip(a, b)):
    sys.exit(f"{a}\n{b}")
' "$(deltas "$1")" "$(deltas "$2")" "${@:3}"
}

# total NAME: all visits of a point, in experiments or not, as -v prints them.
total() {
	sed -n "s/^cozbpf: progress point '$1': \([0-9]*\) visits in all$/\1/p" "$dir/err"
}

# paused [PROCESS]: of the pauses that samples asked for in the target, or in the process of that
# pattern that was paused most, half or more were begun. How many are asked depends on how much CPU
# time others leave.
paused() {
	local asked begun told=' ([0-9]+) pauses asked, ([0-9]+) begun'
	read -r begun asked < <(
		sed -nE "s/^cozbpf: process ${1:-$target_pid \(.*\)}: .*$told\$/\2 \1/p" \
			"$dir/err" | sort -n | tail -n 1
	)
	check "pauses were begun: ${begun:-0} of ${asked:-0}" is "${begun:-0}" '>' 0
	check "most of them" is "$((2 * ${begun:-0}))" '>=' "${asked:-1}"
}
