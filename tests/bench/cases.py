# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the benches: workload, arguments, and the program speedup by arithmetic.

This module also runs a workload without any profiler. accuracy.py and coz.py predict."""

import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

import machine
from machine import BUILD

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "tests" / "workloads"
SPEEDUPS = (25, 50, 75, 100)
TURNS_MIN = 10  # in a run: each speedup twice
TURNS = re.compile(r"^turns (\d+) periods (\d+) seconds ([\d.]+)$", re.M)
WAITS = re.compile(r"^waits (\d+) count (\d+) seconds ([\d.]+)$", re.M)
VISITS = re.compile(r"visits (\d+) seconds ([\d.]+) period_us ([\d.]+)")


@dataclass(frozen=True)
class Case:
    """One row group of the accuracy table.

    `truth` maps a line speedup to a program speedup, both fractions. It is None where only
    measuring can tell, because wake-ups take time too. `outsider`: arguments of outsider.c, or of
    `where`, which runs what measures the case. `point`: the SPEC of -P. `turn_ms` is how long a
    turn of one line speedup takes: longer where periods are long, or what lies in queues is much.
    `cycle_s` is set where only whole cycles of that length have a meaningful rate. `sign_only`:
    runs of the same program differ so much that only the sign of the gain means something."""

    name: str
    program: str
    truth: Optional[Callable[[float], float]] = None
    args: tuple = ()
    marker: str = "LINE_A"
    turn_ms: int = 100
    cycle_s: float = 0
    sign_only: bool = False
    # built without names: the line under test is a function, known by its address
    stripped: bool = False
    outsider: tuple = ()
    where: str = "outsider"
    point: str = "progress"

    @property
    def source(self):
        return next(WORKLOADS.glob(f"{self.program}.c*"))

    @property
    def binary(self):
        return BUILD / "tests" / ("stripped" if self.stripped else "workloads") / self.program

    def around(self, iters_per_ms):
        """The words before any command that runs the program."""
        if not self.outsider:
            return []
        program = BUILD / "tests" / "bench" / self.where
        return [program, *self.outsider, "--iters-per-ms", str(iters_per_ms), "--"]

    def profiled(self, tool, iters_per_ms, words):
        """The command of a profile: @tool runs the program with these arguments."""
        return [*self.around(iters_per_ms), *tool, "--", self.binary, *words]

    def can_be_stripped(self):
        text = self.source.read_text()
        return self.source.suffix == ".c" and text.count("SPIN_LINE(") == 1

    def function(self):
        """The name that cozbpf gives to the function under test."""
        names = machine.run(["nm", f"{self.binary}.full"], 30).stdout
        address = re.search(r"^(\w+) t work_line$", names, re.M).group(1)
        return f"{self.program}+{int(address, 16):#x}"

    def line(self):
        """FILE:LINE of the line under test, found by its marker."""
        if self.stripped:
            return self.function()
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


def fed_by_timer(s):
    """4 of 5 ms are the line; a timer brings an item each 2.4 ms."""
    return min(4 * s, 2.6) / 5


def completed_barrier(s):
    """2.7 and 1.6 ms, then 0.3 ms of one thread."""
    return min(2.7 * s, 1.1) / 3


def ferret(s):
    """1.5 ms of the 2.5 under one lock; all stages together have 3.45 ms of work for two CPUs."""
    return 1 - max(2.5 - 1.5 * s, (3.45 - 1.5 * s) / 2) / 2.5


def listed(chunks):
    """Two threads draw chunks from a list of (work, work of the line) until it is empty."""

    def ends(s):
        threads = [0.0, 0.0]
        for whole, line in chunks:
            threads[threads.index(min(threads))] += whole - line * s
        return max(threads)

    return lambda s: 1 - ends(s) / ends(0)


def stolen(s):
    """Two threads have eight tasks of 0.6 ms and six of 0.4 ms; who has none left steals one."""

    def ends(task_ms):
        left, threads = [8, 6], [0.0, 0.0]
        while any(left):
            free = threads.index(min(threads))
            owner = free if left[free] else 1 - free
            left[owner] -= 1
            threads[free] += task_ms[owner]
        return max(threads)

    return 1 - ends((0.6 * (1 - s), 0.4)) / ends((0.6, 0.4))


EXAMPLE_B = ("--a-us", "64000", "--b-us", "67000")
ONE_EACH = ("--producers", "1", "--consumers", "1")
THREE = ("--procs", "3", "--c-us", "200")
TWO_PARTS = ("--both", "1", "--a-us", "3000", "--b-us", "1000")
FINE = ("--a-us", "300", "--b-us", "180")
DYNAMIC = ("--schedule", "dynamic")
OMP_PIECES = ((0.6, 0.6), (0.4, 0)) * 8
CHUNKS = ((1.2, 1.2), (0.3, 0), (0.3, 0)) * 4
CASES = (
    Case("example", "example", capped(67, 64), turn_ms=1000),
    Case("example-b", "example", lambda s: 0.0, EXAMPLE_B, turn_ms=1000),
    Case("unequal", "unequal", capped(8, 4)),
    Case("abab", "abab", share(6, 10)),
    Case("abab-long", "abab", share(6, 10), ("--a-us", "60000", "--b-us", "40000"), turn_ms=1000),
    Case("oversub", "abab", share(6, 10), ("--threads", "8"), turn_ms=400),
    Case("beside", "beside", lambda s: 0.0),
    Case("tree", "tree", share(6, 10)),
    Case("lambda", "lambda", share(6, 10)),
    Case("ticker", "abab", share(6, 10), ("--tick-us", "20000")),
    Case("ticker-busy", "abab", share(6, 10), ("--tick-us", "5000", "--tick-work-us", "1000")),
    Case("serial", "serial", share(4, 10), turn_ms=200),
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
    Case("periodic", "periodic", lambda s: 0.0, turn_ms=200),
    Case("condvar", "condvar", share(4.5, 7.5), turn_ms=200),
    Case("condvar-1", "condvar", capped(4.5, 3), ONE_EACH, turn_ms=200),
    Case("forkjoin", "forkjoin", lambda s: min(12 * s, 4) / 14, turn_ms=200),
    Case("forkjoin-parts", "forkjoin", share(3, 6), TWO_PARTS),
    Case("shortlived", "shortlived", share(1.2, 2)),
    Case("phases", "phases", share(6, 20), cycle_s=4),
    Case("procs", "procs", capped(4, 2.4)),
    Case("procs-3", "procs", three_processes, ("--procs", "3")),
    Case("procs-3-light", "procs", light_processes, (*THREE, "--b-us", "1000")),
    Case("procs-3-roomy", "procs", roomy_processes, (*THREE, "--b-us", "400")),
    Case("ferret", "ferret", ferret, marker="LINE_RANK", turn_ms=1000),
    Case("many", "many", share(20, 210), turn_ms=200),
    Case("leader", "many", share(60, 250), ("--more", "40"), turn_ms=200),
    Case("spin-ticket", "spinlock", locked(4, 2)),
    Case("spin-pause", "spinlock", locked(4, 2), ("--lock", "pause")),
    Case("spin-adaptive", "spinlock", locked(4, 2), ("--lock", "adaptive")),
    Case("spin-look", "spinlock", locked(4, 2), ("--lock", "look")),
    Case("rwlock-reader", "rwlock"),
    Case("rwlock-writer", "rwlock", None, ("--line", "writer"), marker="LINE_W"),
    Case("timerfed", "timerfed", fed_by_timer),
    Case("tasks", "tasks"),
    Case("async", "async", capped(6, 4)),
    Case("async-fine", "async", None, ("--a-us", "600", "--b-us", "400")),
    Case("stdbarrier", "stdbarrier", completed_barrier),
    Case("atomicring", "atomicring"),
    Case("pausebarrier", "pausebarrier", capped(2.7, 1.6)),
    Case("pausebarrier-fine", "pausebarrier", capped(3, 1.8), FINE),
    Case("lookbarrier", "pausebarrier", capped(2.7, 1.6), ("--wait", "look")),
    Case("omp-static", "openmp", capped(6, 4)),
    Case("omp-static-spin", "openmp", capped(6, 4), ("--wait", "active")),
    Case("omp-dynamic", "openmp", listed(OMP_PIECES), DYNAMIC),
    Case("omp-dynamic-spin", "openmp", listed(OMP_PIECES), (*DYNAMIC, "--wait", "active")),
    Case("omp-4", "openmp", None, ("--threads", "4")),
    Case("herd", "herd", share(3, 4.5)),
    Case("herd-waiters", "herd", share(1.5, 4.5), ("--line", "herd"), marker="LINE_W"),
    Case("bounded", "bounded", capped(4, 2.6)),
    Case("steal", "steal", stolen),
    Case("chunks", "chunks", listed(CHUNKS)),
    Case("server-epoll", "server", None, ("--via", "epoll")),
    Case("server-threads", "server"),
    Case("directread", "directread"),
    Case("groupcommit", "groupcommit"),
    Case("sharedmutex", "sharedmutex"),
    Case("stdsemaphore", "stdsemaphore", capped(4, 2.6)),
    Case("sort", "sort"),
    Case("chase", "chase"),
    Case("quicksort", "quicksort"),
    Case("green", "green", lambda s: min(2 * s, 1.2) / 3),
    Case("spinbarrier", "spinbarrier", sign_only=True, turn_ms=200),
)


def select(names, cases=CASES):
    """Of @cases those of these names, in the order given; every case when there are none."""
    known = {case.name: case for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"unknown case '{unknown[0]}'; known: {' '.join(known)}")
    return [known[name] for name in names] or list(cases)


def calibrate():
    """Turns of the work loop in a millisecond, measured once: all runs do the same work."""
    command = [BUILD / "tests" / "workloads" / "abab", "--calibrate"]
    with machine.turn():
        machine.wait_quiet()
        return round(statistics.median(float(machine.run(command, 60).stdout) for _ in range(5)))


def arguments(case, iters_per_ms, seconds, line_speedup=0):
    """Arguments of a run of about `seconds`. A line speedup of "turns": all of them in turns."""
    if case.cycle_s:
        end = ["--cycles", str(max(1, round(seconds / case.cycle_s)))]
    else:
        end = ["--seconds", f"{seconds:g}"]
    speedup = ["--line-speedup", f"{line_speedup}"]
    if line_speedup == "turns":
        speedup = ["--turns", str(case.turn_ms)]
    return [*case.args, "--iters-per-ms", str(iters_per_ms), *speedup, *end]


def period_us(output):
    match = VISITS.search(output)
    if not match or float(match[3]) <= 0:
        raise RuntimeError(f"too few visits: {output.strip()!r}")
    return float(match[3])


def periods_us(output):
    """{line speedup: period} of a run by turns."""
    found = {int(s): (int(n), float(seconds)) for s, n, seconds in TURNS.findall(output)}
    if not found or not all(n for n, _ in found.values()):
        raise RuntimeError(f"too few visits: {output.strip()!r}")
    return {s: 1e6 * seconds / n for s, (n, seconds) in found.items()}


def waits_us(output):
    """{line speedup: what is left of the wait under test} of a run by turns, where there is one."""
    found = WAITS.findall(output)
    return {int(s): 1e6 * float(seconds) / int(n) for s, n, seconds in found if int(n)}


@dataclass
class Round:
    periods_us: dict
    gained: dict  # line speedup in % -> program speedup
    others: float  # largest share of the CPU that others took in one of its runs
    waits_us: dict  # line speedup in % -> mean length of the wait under test


class Actual:
    """Real program speedups of a case, with no profiler anywhere.

    A round is one run, in which line speedups take turns of a tenth of a second or so, drawn at
    random. So a machine that becomes slower harms none of them. A case of whole cycles has a run
    for each line speedup instead, and two unchanged ones around them. A run that others disturbed
    is repeated, and the repetition is counted."""

    def __init__(self, case, iters_per_ms, seconds, speedups=SPEEDUPS):
        self.case, self.iters_per_ms = case, iters_per_ms
        self.seconds, self.speedups = seconds, speedups
        self.rounds, self.redone = [], 0

    def _run(self, line_speedup, seconds):
        words = arguments(self.case, self.iters_per_ms, seconds, line_speedup)
        command = [*self.case.around(self.iters_per_ms), self.case.binary, *words]
        result, _, again = machine.run_quiet(command, seconds * 3 + 60)
        self.redone += again
        return result

    def _by_runs(self):
        """Periods, the largest share that others took, and no waits."""
        order = list(self.speedups)
        if len(self.rounds) % 2:
            order.reverse()
        runs = [(s, self._run(s, self.seconds)) for s in [0, *order, 0]]
        unchanged = [period_us(run.stdout) for s, run in runs if s == 0]
        period = {s: period_us(run.stdout) for s, run in runs} | {0: statistics.mean(unchanged)}
        return period, max(run.others for _, run in runs), {}

    def _by_turns(self):
        seconds = self.seconds * (len(self.speedups) + 2)
        run = self._run("turns", max(seconds, TURNS_MIN * self.case.turn_ms / 1000))
        return periods_us(run.stdout), run.others, waits_us(run.stdout)

    def measure_round(self):
        period, others, waits = self._by_runs() if self.case.cycle_s else self._by_turns()
        gained = {s: 1 - period[s] / period[0] for s in self.speedups}
        self.rounds.append(Round(period, gained, others, waits))

    def clean(self):
        """The undisturbed rounds, or all when each was disturbed.

        Disturbance is measured apart from the outcome."""
        return [r for r in self.rounds if r.others < machine.QUIET] or self.rounds

    def disturbed(self):
        return sum(r.others >= machine.QUIET for r in self.rounds)

    def median(self, s):
        return statistics.median(r.gained[s] for r in self.clean())

    def shortened(self, s):
        """By how much a line speedup of @s % has shortened the wait under test, or None."""
        known = [r.waits_us for r in self.clean() if r.waits_us.get(0) and s in r.waits_us]
        return statistics.median(1 - waits[s] / waits[0] for waits in known) if known else None

    def of_best(self, s):
        """The gain from the shortest period of each line speedup over all rounds.

        For a machine that is never quiet: other programs can only slow a run down."""
        best = {speedup: min(r.periods_us[speedup] for r in self.rounds) for speedup in (0, s)}
        return 1 - best[s] / best[0]

    def spread(self, s):
        """Standard error of the mean over rounds; 0 when there is but one."""
        values = [r.gained[s] for r in self.clean()]
        return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
