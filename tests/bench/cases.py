# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the benches: workload, arguments, and the program speedup by arithmetic.

This module also runs a workload without any profiler. accuracy.py and coz.py predict."""

import os
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

import machine

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "tests" / "workloads"
BUILD = ROOT / os.environ.get("BUILD", "build")
SPEEDUPS = (25, 50, 75, 100)
VISITS = re.compile(r"visits (\d+) seconds ([\d.]+) period_us ([\d.]+)")


@dataclass(frozen=True)
class Case:
    """One row group of the accuracy table.

    `truth` maps a line speedup to a program speedup, both fractions. It is None where only
    measuring can tell, because wake-ups take time too. `cycle_s` is set where only whole cycles of
    that length have a meaningful rate. `sign_only`: runs of the same program differ so much that
    only the sign of the gain means something."""

    name: str
    program: str
    truth: Optional[Callable[[float], float]] = None
    args: tuple = ()
    marker: str = "LINE_A"
    cycle_s: float = 0
    sign_only: bool = False

    @property
    def source(self):
        return next(WORKLOADS.glob(f"{self.program}.c*"))

    @property
    def binary(self):
        return BUILD / "tests" / "workloads" / self.program

    def line(self):
        """FILE:LINE of the line under test, found by its marker."""
        for number, text in enumerate(self.source.read_text().splitlines(), 1):
            if re.search(rf"/\*.*\b{self.marker}\b", text) and "SPIN" in text:
                return f"{self.source.name}:{number}"
        raise LookupError(f"no {self.marker} in {self.source}")


def capped(a, b):
    """Two stages or threads side by side, a the longer one."""
    return lambda s: min(s, 1 - b / a)


def share(part, whole):
    return lambda s: s * part / whole


def locked(inside, outside):
    """Two threads share a lock: the lock or the threads themselves are the bottleneck."""
    whole = max(inside, (inside + outside) / 2)
    return lambda s: 1 - max(inside * (1 - s), (inside * (1 - s) + outside) / 2) / whole


def three_processes(s):
    """4, 1 and 2.4 ms on two CPUs: the first stage, the last one or the CPUs are the bottleneck."""
    first = 4 * (1 - s)
    return 1 - max(first, 2.4, (first + 1 + 2.4) / 2) / 4


def light_processes(s):
    """4, 0.2 and 1 ms on two CPUs: too few only near s = 75 %, when all three stages are busy."""
    first = 4 * (1 - s)
    return 1 - max(first, 1, (first + 1.2) / 2) / 4


def roomy_processes(s):
    """4, 0.2 and 0.4 ms: two CPUs are enough for the three at any s."""
    return 1 - max(4 * (1 - s), 0.4) / 4


def ferret(s):
    """1.5 ms of the 2.5 under one lock; all stages together have 3.45 ms of work for two CPUs."""
    return 1 - max(2.5 - 1.5 * s, (3.45 - 1.5 * s) / 2) / 2.5


THREE = ("--procs", "3", "--c-us", "200")
CASES = (
    Case("example", "example", capped(67, 64)),
    Case("example-b", "example", lambda s: 0.0, ("--a-us", "64000", "--b-us", "67000")),
    Case("unequal", "unequal", capped(8, 4)),
    Case("abab", "abab", share(6, 10)),
    Case("abab-long", "abab", share(6, 10), ("--a-us", "60000", "--b-us", "40000")),
    Case("oversub", "abab", share(6, 10), ("--threads", "8")),
    Case("beside", "beside", lambda s: 0.0),
    Case("tree", "tree", share(6, 10)),
    Case("lambda", "lambda", share(6, 10)),
    Case("ticker", "abab", share(6, 10), ("--tick-us", "20000")),
    Case("ticker-busy", "abab", share(6, 10), ("--tick-us", "5000", "--tick-work-us", "1000")),
    Case("serial", "serial", share(4, 10)),
    Case("mutex", "mutex", locked(4, 2)),
    Case("mutex-4", "mutex", None, ("--threads", "4")),
    Case("pipe", "pipe", capped(4, 2.4)),
    Case("eventfd", "eventfd", capped(4, 2.4)),
    Case("barrier", "barrier", capped(5, 3)),
    Case("barrier-fine", "barrier", capped(5, 3), ("--a-us", "500", "--b-us", "300")),
    Case("pingpong", "pingpong"),
    Case("pingpong-cond", "pingpong", None, ("--via", "cond")),
    Case("pingpong-eventfd", "pingpong", None, ("--via", "eventfd")),
    Case("sleeper", "sleeper", share(1.2, 6)),
    Case("periodic", "periodic", lambda s: 0.0),
    Case("condvar", "condvar", share(4.5, 7.5)),
    Case("condvar-1", "condvar", capped(4.5, 3), ("--producers", "1", "--consumers", "1")),
    Case("forkjoin", "forkjoin", lambda s: min(12 * s, 4) / 14),
    Case("shortlived", "shortlived", share(1.2, 2)),
    Case("phases", "phases", share(6, 20), cycle_s=4),
    Case("procs", "procs", capped(4, 2.4)),
    Case("procs-3", "procs", three_processes, ("--procs", "3")),
    Case("procs-3-light", "procs", light_processes, (*THREE, "--b-us", "1000")),
    Case("procs-3-roomy", "procs", roomy_processes, (*THREE, "--b-us", "400")),
    Case("ferret", "ferret", ferret, marker="LINE_RANK"),
    Case("many", "many", share(20, 210)),
    Case("leader", "many", share(60, 250), ("--more", "40")),
    Case("spinbarrier", "spinbarrier", sign_only=True),
)


def select(names):
    """The cases of these names, in the order given; every case when there are none."""
    known = {case.name: case for case in CASES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"unknown case '{unknown[0]}'; known: {' '.join(known)}")
    return [known[name] for name in names] or list(CASES)


def calibrate():
    """Turns of the work loop in a millisecond, measured once: all runs do the same work."""
    machine.wait_quiet()
    command = [BUILD / "tests" / "workloads" / "abab", "--calibrate"]
    return round(statistics.median(float(machine.run(command, 60).stdout) for _ in range(5)))


def arguments(case, iters_per_ms, seconds, line_speedup=0):
    """Arguments of a run of about `seconds`."""
    if case.cycle_s:
        end = ["--cycles", str(max(1, round(seconds / case.cycle_s)))]
    else:
        end = ["--seconds", f"{seconds:g}"]
    speedup = ["--line-speedup", f"{line_speedup:g}"]
    return [*case.args, "--iters-per-ms", str(iters_per_ms), *speedup, *end]


def period_us(output):
    match = VISITS.search(output)
    if not match or float(match[3]) <= 0:
        raise RuntimeError(f"too few visits: {output.strip()!r}")
    return float(match[3])


@dataclass
class Round:
    periods_us: dict
    gained: dict  # line speedup in % -> program speedup
    others: float  # largest share of the CPU that others took in one of its runs


class Actual:
    """Real program speedups of a case, with no profiler anywhere.

    Runs of different line speedups take turns. Two unchanged runs open and close each round, and
    the round's runs are compared with their mean: so a drifting machine harms none of them. A run
    that others disturbed is repeated, and the repetition is counted."""

    def __init__(self, case, iters_per_ms, seconds, speedups=SPEEDUPS):
        self.case, self.iters_per_ms = case, iters_per_ms
        self.seconds, self.speedups = seconds, speedups
        self.rounds, self.redone = [], 0

    def _period_us(self, line_speedup):
        words = arguments(self.case, self.iters_per_ms, self.seconds, line_speedup)
        result, _, again = machine.run_quiet([self.case.binary, *words], self.seconds * 3 + 60)
        self.redone += again
        return period_us(result.stdout), result.others

    def measure_round(self):
        order = list(self.speedups)
        if len(self.rounds) % 2:
            order.reverse()
        runs = [(s, *self._period_us(s)) for s in [0, *order, 0]]
        unchanged = [period for s, period, _ in runs if s == 0]
        period = {s: period for s, period, _ in runs if s} | {0: statistics.mean(unchanged)}
        gained = {s: 1 - period[s] / period[0] for s in self.speedups}
        self.rounds.append(Round(period, gained, max(others for _, _, others in runs)))

    def clean(self):
        """The undisturbed rounds, or all when each was disturbed.

        Disturbance is measured apart from the outcome."""
        return [r for r in self.rounds if r.others < machine.QUIET] or self.rounds

    def disturbed(self):
        return sum(r.others >= machine.QUIET for r in self.rounds)

    def median(self, s):
        return statistics.median(r.gained[s] for r in self.clean())

    def of_best(self, s):
        """The gain from the shortest period of each line speedup over all rounds.

        For a machine that is never quiet: other programs can only slow a run down."""
        best = {speedup: min(r.periods_us[speedup] for r in self.rounds) for speedup in (0, s)}
        return 1 - best[s] / best[0]

    def spread(self, s):
        """Standard error of the mean over rounds; 0 when there is but one."""
        values = [r.gained[s] for r in self.clean()]
        return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
