# SPDX-License-Identifier: BSD-3-Clause
"""The machine under the benches: runs a command and watches how much CPU all others take.

Others are other processes and other guests of the host. So a disturbed measurement is known as
such. Noise made on purpose is no other, and Speed tells what no counter shows. What is measured is
elsewhere."""

import contextlib
import fcntl
import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / os.environ.get("BUILD", "build")
TICKS = os.sysconf("SC_CLK_TCK")
CPUS = os.cpu_count()
QUIET = 0.05  # share of the machine that others may take in an undisturbed run
TRIES = 3
LOCK = "/tmp/cozbpf-bench.lock"  # two benches on one machine take turns, run by run


@dataclass
class Run:
    stdout: str
    stderr: str
    status: int
    seconds: float
    others: float  # share of the machine's CPU time that others took, stolen time included
    timed_out: bool = False


def busy_s():
    """CPU time spent by anybody since boot, stolen time included, idle and iowait not."""
    with open("/proc/stat") as stat:
        fields = [int(field) for field in stat.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, timeout_s, started=lambda pid: None, beside=contextlib.nullcontext):
    """Runs @command to its end; after @timeout_s its whole session is killed.

    @started is told the process id. What @beside starts and ends is no other."""
    busy, own, begin = busy_s(), children_s(), time.monotonic()
    with beside():
        result = run_alone(command, timeout_s, started)
    seconds = time.monotonic() - begin
    others = (busy_s() - busy) - (children_s() - own)
    result.others = max(0.0, others / (seconds * CPUS))
    return result


def in_front():
    """For a new session: its programs go before those of others.

    Where the scheduler groups tasks by session, nice ranks a task only within its session."""
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
        group.write("-20")


def run_alone(command, timeout_s, started):
    begin = time.monotonic()
    child = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=in_front,
    )
    started(child.pid)
    timed_out = False
    try:
        out, err = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    return Run(out, err, child.returncode, time.monotonic() - begin, 0.0, timed_out)


class Noise:
    """Noise on purpose beside each run, by tests/bench/noise.c.

    The nth run of a bench meets the same schedule whenever the seed is the same."""

    KINDS = ("none", "busy", "memory", "slow", "interrupts")
    SECONDS = 600  # it ends by then, whatever happens
    kind, seed, nth = "none", 1, 0

    @classmethod
    @contextlib.contextmanager
    def beside(cls):
        if cls.kind == "none":
            yield
            return
        cls.nth += 1
        command = [BUILD / "tests/bench/noise", cls.kind, "--seconds", str(cls.SECONDS)]
        command += ["--seed", str(1000 * cls.seed + cls.nth)]
        # In a session of its own, as programs of others are, but with the rank of what it disturbs.
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, start_new_session=True, preexec_fn=in_front
        ) as child:
            if not child.stdout.readline().startswith(b"ready"):
                raise RuntimeError(f"no noise of the kind '{cls.kind}'")
            yield
            child.kill()


class Speed:
    """What the machine executes per time, by a fixed loop in a thread on each CPU between runs."""

    TURNS = 60  # of each thread in a burst
    bursts = []  # lists of CPU times in us

    @classmethod
    def measure(cls):
        result = run([BUILD / "tests/bench/speed", cls.TURNS], 60)
        if result.status:
            raise RuntimeError(f"no fixed loop: {result.stderr.strip()}")
        cls.bursts.append([int(turn.split()[3]) / 1e3 for turn in result.stdout.splitlines()])

    @classmethod
    def take(cls):
        """The bursts since the last call."""
        bursts, cls.bursts = cls.bursts, []
        return bursts


class Patience:
    """How long to wait for a quiet machine before each run, in seconds; the benches' --patience.

    A wait in vain halves the next ones: a machine that is never quiet costs two such waits in all.
    """

    seconds = 20.0


def wait_quiet():
    """Waits until nobody computes. False when that did not happen in time."""
    begin = time.monotonic()
    while True:
        busy, at = busy_s(), time.monotonic()
        time.sleep(0.3)
        if (busy_s() - busy) / ((time.monotonic() - at) * CPUS) < 2 * QUIET:
            return True
        if time.monotonic() - begin > Patience.seconds:
            Patience.seconds /= 2
            return False


@contextlib.contextmanager
def turn():
    """Holds the machine among benches."""
    with open(LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_quiet(command, timeout_s, collect=lambda: None, tries=TRIES):
    """Runs @command on a quiet machine, up to @tries times when others disturbed it or it hung.

    A machine that is not quiet before a try would disturb the next one as well, so that try counts.
    @collect is called after each try: it returns what the run left behind and clears it away.
    Returns the least disturbed run, what that run left, and the number of repetitions."""
    best, left = None, None
    for again in range(tries):
        with turn():
            quiet = wait_quiet()
            Speed.measure()
            result = run(command, timeout_s, beside=Noise.beside)
        collected = collect()
        if not best or (result.timed_out, result.others) < (best.timed_out, best.others):
            best, left = result, collected
        if (best.others < QUIET or not quiet) and not best.timed_out:
            break
    return best, left, again
