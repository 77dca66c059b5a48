#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From the start of cozbpf to the beginning of its first experiment, and the memory until then.

One program has so many MB of debug information, made from renamed copies of the objects of
bigdebug.sh. The other one is stripped and has 100,000 functions. Both stay below build/. Each is
launched, and attached to: cold (the page cache dropped), warm, and known, which is warm with the
answers of an earlier run in the cache of readings. The beginning is told by the profile: the time
of its startup record, and `start` of its first experiment.

usage: tests/bench/start.py [MB]   (500 unless told; RUNS=5: medians of so many; root)"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build")).resolve()
RUNS = int(os.environ.get("RUNS", "5"))
DIR = BUILD / "bigdebug"
PROFILE = DIR / "start.coz"
KEPT = DIR / "cache"  # cozbpf's own, instead of the user's
DROP = Path("/proc/sys/vm/drop_caches")
FUNCTIONS = 100000
FILES = 20
POINT = "done=tracepoint:syscalls:sys_exit_getppid"
SECONDS = 20  # the program's own end, if cozbpf does not get that far
MAIN = """
#include <time.h>
#include <unistd.h>
volatile long sum;
__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < 100000; i++)
		sum += i;
	getppid();
}
int main(void)
{
	for (time_t end = time(NULL) + %d; time(NULL) < end;)
		work();
	return 0;
}
"""


def run(*args, **options):
    subprocess.run([str(a) for a in args], check=True, **options)


def sections(program):
    text = subprocess.run(["size", "-A", program], check=True, capture_output=True, text=True)
    found = re.findall(r"^\.debug_\S+\s+(\d+)", text.stdout, re.M)
    return sum(int(n) for n in found) // 1000000


def write_main():
    (DIR / "main.c").write_text(MAIN % SECONDS)
    run("gcc", "-O1", "-g", "-c", "-o", DIR / "main.o", DIR / "main.c")


def copy_objects(objects, into, number):
    """Renames what the objects define, so that the linker merges no copies."""
    for i, o in enumerate(objects):
        command = ["nm", "--defined-only", "-g", "-j", o]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        table = into / "names"
        table.write_text("".join(f"{n} copy_{number}_{n}\n" for n in names))
        run("objcopy", f"--redefine-syms={table}", o, into / f"{number}_{i}.o")


def make_debug(mb):
    program, copies = DIR / f"start_{mb}", DIR / "copies"
    objects = sorted(DIR.glob("unit_*.o"))
    if not objects:
        sys.exit("start: there are no objects to copy; run 'make bench-startup'")
    if not program.exists():
        subprocess.run(["rm", "-rf", copies], check=True)
        copies.mkdir()
        # 9.6 MB a copy are linked: strings and types that are there twice go.
        for n in range(mb * 10 // 96 + 1):
            copy_objects(objects, copies, n)
        run("g++", "-o", program, DIR / "main.o", *sorted(copies.glob("*.o")))
        subprocess.run(["rm", "-r", copies], check=True)
    return program


def make_stripped():
    program, sources = DIR / "start_stripped", []
    if not program.exists():
        for f in range(FILES):
            numbers = range(f, FUNCTIONS, FILES)
            text = "\n".join(f"long f{n}(long x) {{ return x * {n} + {f}; }}" for n in numbers)
            sources.append(DIR / f"functions_{f}.c")
            sources[-1].write_text(text)
        run("gcc", "-O1", "-s", "-o", program, DIR / "main.o", *sources)
        for s in sources:
            s.unlink()
    return program


def begun(started_ns):
    """Milliseconds from then to the first experiment of the profile."""
    text = PROFILE.read_text()
    startup = re.search(r"^startup\t.*?\btime=(\d+)", text, re.M)
    first = re.search(r"^experiment\t.*?\bstart=(\d+)", text, re.M)
    if not startup or not first:
        sys.exit(f"start: '{PROFILE}' has no experiment; see what cozbpf said above")
    return (int(startup[1]) + int(first[1]) - started_ns) / 1e6


def measure(program, attaches, state):
    """(ms to the first experiment, MB of the largest process, ms of reading or 0)"""
    PROFILE.unlink(missing_ok=True)
    target = subprocess.Popen([program]) if attaches else None
    if state != "known":
        shutil.rmtree(KEPT, ignore_errors=True)
    if state == "cold":
        os.sync()
        DROP.write_text("3")
    command = [BUILD / "cozbpf", "-v", "--no-tui", "-P", POINT, "--experiment-length", "20ms"]
    command += ["-d", "1s", "-o", PROFILE]
    command += ["-p", str(target.pid)] if attaches else ["--", program]
    started = time.time_ns()
    env = dict(os.environ, XDG_CACHE_HOME=str(KEPT))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as cozbpf:
        lines = []
        for line in cozbpf.stderr:
            lines.append(line)
            # A launched command would go on after -d.
            if not attaches and "waiting for the command" in line:
                cozbpf.terminate()
        _, _, usage = os.wait4(cozbpf.pid, 0)
        cozbpf.returncode = 0
    if target:
        target.kill()
        target.wait()
    if not PROFILE.exists():
        sys.exit("start: cozbpf made no profile:\n" + "".join(lines))
    read = re.search(r"read in (\d+) ms", "".join(lines))
    # Attached, cozbpf does not tell how long it read.
    return begun(started), usage.ru_maxrss / 1024, float(read[1]) if read else 0


def main():
    mb = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    if os.geteuid():
        sys.exit("start: needs root")
    DIR.mkdir(parents=True, exist_ok=True)
    write_main()
    debug = make_debug(mb)
    programs = {f"{sections(debug)} MB": debug, f"stripped, {FUNCTIONS} functions": make_stripped()}
    print("| program | target | files | ms to the first experiment | reading | peak MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, program in programs.items():
        for attaches in (False, True):
            for state in ("cold", "warm", "known"):
                rounds = [measure(program, attaches, state) for _ in range(RUNS)]
                ms, peak, read = (statistics.median(c) for c in zip(*rounds))
                how = "attached" if attaches else "launched"
                figures = f"{ms:.0f} | {f'{read:.0f}' if read else ''} | {peak:.0f}"
                print(f"| {name} | {how} | {state} | {figures} |", flush=True)


main()
