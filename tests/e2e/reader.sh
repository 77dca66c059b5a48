#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Readers: children of cozbpf that read a target's files, without rights. One that crashes is an
# error for its file, and profiling goes on.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Two million rows of lines: some seconds to read, and ten times as many beside a script that has
# priority (in_front of lib.sh).
{
	printf '.text\n.globl many\n.type many, @function\nmany:\n.file 1 "/many/many.c"\n'
	awk 'BEGIN { for (i = 1; i <= 2000000; i++) print ".loc 1 " i "\nnop" }'
	printf 'ret\n.section .note.GNU-stack,"",@progbits\n'
} >"$dir/many.s"
gcc -g -shared -fPIC -o "$dir/libmany.so" "$dir/many.s" || exit 1
rm "$dir/many.s"
fixture reading -Wl,--no-as-needed "$dir/libmany.so" -Wl,-rpath,"$dir"

# readers_of FILE SIGNAL N: waits for N readers of the tool's that have FILE open, and have given
# their rights up, and sends SIGNAL to each. Tells their process ids. A reader may live for as long
# as a few programs need to start, so one program looks; it takes the place of a subshell.
readers_of() {
	exec timeout 60 python3 -c '
import glob, os, signal, sys, time
tool, name, number = sys.argv[1], sys.argv[2], getattr(signal, "SIG" + sys.argv[3])
found = set()
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
            for pid in filter(is_reader, set(read(children).split()) - found):
                os.kill(int(pid), number)
                found.add(pid)
                print(pid)
                if len(found) == int(sys.argv[4]):
                    sys.exit()
        except OSError:
            pass
    time.sleep(0.001)' "$tool_pid" "$1" "$2" "$3"
}

# stopped_reader FILE: stops one while it reads, in $reader.
stopped_reader() {
	reader=$(readers_of "$1" STOP 1) && wait_for 10 is_state "$reader" T
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
ended 60 4 'cozbpf lines ends'
says "^cozbpf: error: reading '.*/libmany.so' failed: the reader crashed .SIGSEGV.\$" \
	'^cozbpf: hint: other files are read'

echo "-- one whose cozbpf is gone"
start "$tool" lines "$dir/libmany.so"
stopped_reader libmany || bad 'there is one'
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null
check 'it is gone as well' wait_for 10 gone "$reader"

echo "-- one that crashes while a library is read"
start "$tool" --no-tui -o "$dir/p.coz" -b MAIN -b '%/libmany.so' \
	-P "$(line_of reading WORK)" -- "$dir/reading" 120
readers_of libmany SEGV 100 >/dev/null &
crasher=$!
check 'the library stays out of scope' wait_for 60 has "$dir/err" 'stays out of scope'
kill "$crasher"
# A reader that is not caught at once reads for seconds, so the program's end waits.
check 'experiments are done' wait_for 60 has "$dir/p.coz" '^experiment'
pkill -TERM -x reading -P "$tool_pid"
ended 60 0 'the run ends as it should'
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
check 'it ends' wait_for 120 gone "$tool_pid"
says 'children without rights, but no filter of system calls'
# The reader's answer came: it is more than there is room for.
says "stays out of scope: no room for its [0-9]+ units and 2000000 address ranges"
finish
