#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds each kind of noise (noise.c) against what it promises. Needs root; two minutes.

noise_check.py [KIND...]. Prints "N passed, M failed"; the exit status is 1 when one failed. What
is judged: the CPU time that busy and memory take; how much slower a fixed loop is while slow and
interrupts have a stretch; how much longer reads of memory take beside memory; that one seed
means one schedule; and that noise ends with its parent and in time."""

import os
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import machine  # noqa: E402
from machine import BUILD, CPUS  # noqa: E402

NOISE, SPEED = BUILD / "tests/bench/noise", BUILD / "tests/bench/speed"
SECONDS = 6
# A margin of a millisecond at both ends of a stretch, since a turn of the loop takes that long.
MARGIN_NS = 2_000_000
counts = {True: 0, False: 0}


def check(what, passed):
    counts[bool(passed)] += 1
    print(f"{'ok  ' if passed else 'FAIL'} {what}", flush=True)


def schedule(kind, seed, seconds):
    """[(begin, end)] in ms since the start of the noise."""
    words = [NOISE, kind, "--seed", str(seed), "--seconds", str(seconds), "--print", "1"]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [tuple(float(word) for word in line.split()[:2]) for line in text.splitlines()]


def begin(kind, seed, seconds=60):
    words = [NOISE, kind, "--seed", str(seed), "--seconds", str(seconds)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    return child, int(child.stdout.readline().split()[1])


def end(child):
    child.kill()
    child.wait()


def check_share(kind, low, high):
    """The noise's own CPU time, as it is and beside threads that keep all CPUs busy."""
    child, _ = begin(kind, 7)
    hogs = []
    for how in ("as it is", "where all CPUs are busy"):
        before = own_s(child.pid)
        time.sleep(SECONDS)
        took = (own_s(child.pid) - before) / SECONDS
        check(f"{kind}: takes {100 * took:.0f} % of one CPU, {how}", low <= took <= high)
        if not hogs:
            hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(CPUS)]
    for process in [child, *hogs]:
        end(process)


def own_s(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


def turns(seconds):
    """[(CPU, begin, time, CPU time)] of the fixed loop, in ns.

    It runs before other programs, but behind noise of a higher real-time priority."""
    words = ["chrt", "-f", "5", SPEED, str(round(1000 * seconds))]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [tuple(int(word) for word in line.split()) for line in text.splitlines()]


def loop_beside(kind, seed):
    """What a fixed loop executes per time within stretches beside outside of them, by CPU."""
    child, start_ns = begin(kind, seed)
    found = turns(SECONDS)
    end(child)
    within = [[] for _ in range(CPUS)]
    outside = [[] for _ in range(CPUS)]
    planned = [(start_ns + 1e6 * a, start_ns + 1e6 * b) for a, b in schedule(kind, seed, 60)]
    for cpu, at, took, _ in found:
        if any(a + MARGIN_NS < at and at + took < b - MARGIN_NS for a, b in planned):
            within[cpu].append(took)
        elif all(at + took < a or at > b + MARGIN_NS for a, b in planned):
            outside[cpu].append(took)
    return [
        statistics.mean(without) / statistics.mean(beside) if beside and without else None
        for beside, without in zip(within, outside)
    ]


def check_loop(kind, seed, low, high):
    for cpu, share in enumerate(loop_beside(kind, seed)):
        told = "nothing" if share is None else f"{100 * share:.0f} % of its speed"
        what = f"{kind}: in a stretch the fixed loop has {told} on CPU {cpu}"
        check(what, share is not None and low <= share <= high)


def read_ns(cpu):
    """CPU time of a round of reads over 4 MiB, which caches hold when nobody else fills them."""
    os.sched_setaffinity(0, {cpu})
    view = memoryview(bytearray(4 << 20))
    times = []
    for _ in range(400):
        time.sleep(0.002)
        at = time.thread_time_ns()
        bytes(view)
        times.append(time.thread_time_ns() - at)
    os.sched_setaffinity(0, range(CPUS))
    return statistics.median(times)


def check_memory():
    alone = read_ns(0)
    child, _ = begin("memory", 7)
    os.sched_setaffinity(child.pid, {CPUS - 1})
    beside = read_ns(0)
    end(child)
    ratio = beside / alone
    check(f"memory: reads on another CPU take {ratio:.2f} times as long", ratio >= 1.1)


def check_schedule(kind):
    one = schedule(kind, 3, 20)
    check(f"{kind}: one seed, one schedule", one and one == schedule(kind, 3, 20))
    check(f"{kind}: another seed, another one", one != schedule(kind, 4, 20))


def check_end(kind):
    """The parent is killed; and the bound in time."""
    code = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    words = [sys.executable, "-c", code, str(NOISE), kind, "--seconds", "60"]
    parent = subprocess.Popen(words, stdout=subprocess.PIPE)
    parent.stdout.readline()
    children = subprocess.run(
        ["pgrep", "-P", str(parent.pid)], capture_output=True, text=True
    ).stdout.split()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    time.sleep(0.2)
    left = [pid for pid in children if alive(int(pid))]
    check(f"{kind}: ends with its parent", children and not left)
    child, _ = begin(kind, 1, 1)
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        pass
    check(f"{kind}: ends in time", child.poll() is not None)
    end(child)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


def main():
    kinds = sys.argv[1:] or machine.Noise.KINDS[1:]
    with machine.turn():
        for kind in kinds:
            check_schedule(kind)
            check_end(kind)
            if kind == "busy":
                check_share(kind, 0.22, 0.28)
            elif kind == "memory":
                check_share(kind, 0.44, 0.56)
                check_memory()
            elif kind == "slow":
                check_loop(kind, 11, 0.45, 0.55)
            elif kind == "interrupts":
                check_loop(kind, 11, 0.4, 0.9)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
