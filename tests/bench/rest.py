#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What cozbpf costs while it rests (--duty): visits per second of CPU time of
build/tests/bench/rest, in windows with a cozbpf that rests, each between two windows without.
Prints the median cost with its 95 % interval by resampling, and the loader's CPU time.
usage: rest.py [WINDOWS]   needs root
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
WINDOW_S = 0.6
SETTLE_S = 0.2


class Work:
    """The program, in front of all others: what they do is not to be measured."""

    def __init__(self, how):
        self.process = subprocess.Popen(
            [f"{BUILD}/tests/bench/rest", how], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        os.setpriority(os.PRIO_PROCESS, self.process.pid, -15)
        try:
            with open(f"/proc/{self.process.pid}/autogroup", "w", encoding="ascii") as f:
                f.write("-15")
        except OSError:
            pass  # a kernel without groups of sessions

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
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def resting(work, directory):
    """The rate beside a cozbpf that rests, and the CPU time that cozbpf takes meanwhile."""
    # A series in 14 hours: one in 10,000 windows has it.
    tool = subprocess.Popen(
        [f"{BUILD}/cozbpf", "-v", "--duty", "0.01%", "-P", "progress", "-o",
         f"{directory}/profile.coz", "-p", str(work.process.pid)],
        stderr=subprocess.PIPE, text=True)
    said = []
    for line in tool.stderr:
        said.append(line)
        if "resting" in line:
            break
    else:
        sys.exit("rest.py: cozbpf did not get to rest:\n" + "".join(said))
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


def measure(how, windows):
    costs, bare, cpu = [], [], []
    work = Work(how)
    bare.append(work.rate())
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(windows):
            beside, spent = resting(work, directory)
            bare.append(work.rate())
            costs.append(100 * (1 - 2 * beside / (bare[-2] + bare[-1])))
            cpu.append(100 * spent)
    work.end()
    low, high = interval(costs)
    print(f"{how}: {statistics.median(bare):.0f} visits/s of CPU time; resting costs "
          f"{statistics.median(costs):+.2f} % ({low:+.2f} to {high:+.2f}), {windows} windows; "
          f"the loader takes {statistics.mean(cpu):.3f} % of a CPU", flush=True)


def main():
    random.seed(1)
    for how in ("switches", "compute"):
        measure(how, int(sys.argv[1]) if len(sys.argv) > 1 else 50)


main()
