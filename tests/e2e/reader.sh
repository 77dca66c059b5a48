#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Readers: children of cozbpf that read a target's files, without rights. One that crashes is an
# error for its file, and profiling goes on.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Two million rows of lines: some hundred milliseconds to read.
{
	printf '.text\n.globl many\n.type many, @function\nmany:\n.file 1 "/many/many.c"\n'
	awk 'BEGIN { for (i = 1; i <= 2000000; i++) print ".loc 1 " i "\nnop" }'
	printf 'ret\n.section .note.GNU-stack,"",@progbits\n'
} >"$dir/many.s"
gcc -g -shared -fPIC -o "$dir/libmany.so" "$dir/many.s" || exit 1
rm "$dir/many.s"
fixture reading -Wl,--no-as-needed "$dir/libmany.so" -Wl,-rpath,"$dir"

# reader_of FILE SIGNAL [SECONDS]: waits for a reader of the tool's that has FILE open, and has
# given its rights up, and sends SIGNAL to it. Tells its process id. A reader may live for as long
# as a few programs need to start, so one program looks.
reader_of() {
	timeout "${3:-10}" python3 -c '
import glob, os, signal, sys, time
tool, name, number = sys.argv[1], sys.argv[2], getattr(signal, "SIG" + sys.argv[3])
def read(path):
    with open(path) as f:
        return f.read()
def is_reader(pid):
    return (read(f"/proc/{pid}/comm") == "reader\n" and
            "NoNewPrivs:\t1" in read(f"/proc/{pid}/status") and
            any(name in os.readlink(fd) for fd in glob.glob(f"/proc/{pid}/fd/*")))
while True:
    for children in glob.glob(f"/proc/{tool}/task/*/children"):
        try:
            for pid in filter(is_reader, read(children).split()):
                os.kill(int(pid), number)
                sys.exit(print(pid))
        except OSError:
            pass
    time.sleep(0.001)' "$tool_pid" "$1" "$2"
}

# stopped_reader FILE: stops one while it reads, in $reader.
stopped_reader() {
	reader=$(reader_of "$1" STOP) && wait_for 10 is_state "$reader" T
}

status() { # ROW VALUE
	check "its $1 is $2" grep -qP "^$1:\t$2$" "/proc/$reader/status"
}

echo "-- what a reader may"
start "$tool" lines "$dir/libmany.so"
if stopped_reader libmany; then ok 'there is one'; else bad 'there is one'; fi
for row in CapInh CapPrm CapEff CapAmb; do
	status $row 0000000000000000
done
status NoNewPrivs 1
# Sanitizers need calls of their own.
[[ "$tool" == */asan/* ]] || status Seccomp 2
check 'it shares no memory' test -z "$(grep -E ' r.{2}s ' "/proc/$reader/maps")"
others=$(find "/proc/$reader/fd" -type l -printf '%l\n' | grep -cvE 'libmany|pipe:|socket:')
[[ "$tool" == */asan/* ]] || check 'it has no file but its own' [ "$others" -eq 0 ]

echo "-- one that crashes"
kill -SEGV "$reader"
kill -CONT "$reader"
ended 20 4 'cozbpf lines ends'
says "^cozbpf: error: reading '.*/libmany.so' failed: the reader crashed .SIGSEGV.\$" \
	'^cozbpf: hint: other files are read'

echo "-- one whose cozbpf is gone"
start "$tool" lines "$dir/libmany.so"
stopped_reader libmany || bad 'there is one'
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
check 'it is gone as well' wait_for 10 gone "$reader"

echo "-- one that crashes while a library is read"
# shellcheck disable=SC2317 # wait_for calls it
crash_all() { # kills readers of the library until the tool says so
	reader_of libmany SEGV 1 >/dev/null
	has "$dir/err" 'stays out of scope'
}
start "$tool" --no-tui -o "$dir/p.coz" -b MAIN -b '%/libmany.so' \
	-P "$(line_of reading WORK)" -- "$dir/reading"
check 'the library stays out of scope' wait_for 10 crash_all
ended 30 0 'the run ends as it should'
says "^cozbpf: warning: '.*/libmany.so' in process .* stays out of scope: reading .* .SIGSEGV."
check 'the program has been sampled' has "$dir/p.coz" '^samples	location=.*/reading.c:'

echo "-- what only a build without sanitizers shows"
objects=${BUILD:-build}/user
gcc -std=gnu11 -g -D_GNU_SOURCE -Iinclude -Iuser -Itests/unit -o "$dir/sandbox" \
	tests/unit/test_sandbox.c "$objects"/symbols/sandbox/*.o "$objects/core/text/errors.o" &&
	"$dir/sandbox" >"$dir/out" 2>"$dir/err"
check 'readers that misbehave are errors' has "$dir/out" ' passed, 0 failed$'

echo "-- where the kernel refuses seccomp()"
fixture unfiltered
start "$dir/unfiltered" "$tool" -v --no-tui -o "$dir/u.coz" -b MAIN -b '%/libmany.so' \
	-P "$(line_of reading WORK)" -- "$dir/reading"
stopped_reader libmany || bad 'there is one'
status CapPrm 0000000000000000
uid=$(id -u nobody)
status Uid "$uid\t$uid\t$uid\t$uid"
kill -CONT "$reader"
check 'it ends' wait_for 30 gone "$tool_pid"
says 'children without rights, but no filter of system calls'
# The reader's answer came: it is more than there is room for.
says "stays out of scope: no room for its [0-9]+ units and 2000000 address ranges"
finish
