#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What cozbpf costs while it rests (--duty): visits per second of build/tests/bench/rest, in pairs
of windows without cozbpf and with one that rests. Each pair is in random order. Prints the median
cost of each way to work, with its 95 % interval by resampling pairs, and the loader's CPU time.
usage: rest.py [PAIRS]   needs root
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
WINDOW_S = 2.0
SETTLE_S = 0.3


class Work:
    def __init__(self, how):
        self.process = subprocess.Popen(
            [f"{BUILD}/tests/bench/rest", how],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def rate(self):
        time.sleep(SETTLE_S)
        began, before = self.read()
        time.sleep(WINDOW_S)
        ended, after = self.read()
        return (after - before) / ((ended - began) / 1e9)

    def end(self):
        self.process.kill()
        self.process.wait()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resting(work, directory):
    """The rate beside a cozbpf that rests, and the CPU time that cozbpf takes meanwhile."""
    # A series in 14 hours: none falls into the window but by a chance of 1 in 10,000.
    tool = subprocess.Popen(
        [f"{BUILD}/cozbpf", "-v", "--duty", "0.01%", "-P", "progress", "-o",
         f"{directory}/profile.coz", "-p", str(work.process.pid)],
        stderr=subprocess.PIPE, text=True)
    for line in tool.stderr:
        if "resting" in line:
            break
    else:
        sys.exit("rest.py: cozbpf did not get to rest")
    before = cpu_seconds(tool.pid)
    rate = work.rate()
    spent = cpu_seconds(tool.pid) - before
    tool.send_signal(signal.SIGTERM)
    tool.stderr.read()
    tool.wait()
    return rate, spent / (WINDOW_S + SETTLE_S)


def interval(values):
    medians = sorted(
        statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
    return medians[49], medians[1949]


def measure(how, pairs):
    costs, bare, cpu = [], [], []
    work = Work(how)
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(pairs):
            first = random.random() < 0.5
            without = None if first else work.rate()
            beside, spent = resting(work, directory)
            without = work.rate() if first else without
            costs.append(100 * (1 - beside / without))
            bare.append(without)
            cpu.append(100 * spent)
    work.end()
    low, high = interval(costs)
    print(f"{how}: {statistics.median(bare):.0f} visits/s; resting costs "
          f"{statistics.median(costs):+.2f} % ({low:+.2f} to {high:+.2f}), {pairs} pairs; "
          f"the loader takes {statistics.mean(cpu):.2f} % of a CPU", flush=True)


def main():
    random.seed(1)
    for how in ("switches", "compute"):
        measure(how, int(sys.argv[1]) if len(sys.argv) > 1 else 12)


main()
