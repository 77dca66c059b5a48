# SPDX-License-Identifier: BSD-3-Clause
"""Makes cozbpf's own system calls fail, one in each run, and looks at what that does to others.

usage: faults.py TOOL INJECT TARGET DIR attach|report [--all] [--only FAULT[:CALL]] [--seconds S]
                 [--seed N]

A case is a fault at the n-th call of a name, or of any. After each case the target, the profile
and the exit status are looked at. Without --all some cases are drawn: the first and last calls and
some between, as many as the seconds allow. The last line is "N passed, M failed".
"""

import argparse
import collections
import contextlib
import dataclasses
import mmap
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

WORKERS = 3 * os.cpu_count()
TIMEOUT = 30  # seconds without an end are a hang
TRIES = 20  # runs of 160 ms until one has an experiment
SLOW = 0.6  # of the speed before
PATIENCE = 5  # seconds in which a speed below that may become better: the machine has others
WINDOW = 0.02
EXPERIMENT = ["--experiment-length", "20ms", "-d", "160ms"]
DAMAGE = re.compile("not understood|is not a profile|holds no|cut off")
MOVES = re.compile(r"(?m)^.*\[uprobes\]\n|^\S+( .*\[stack\])$")

# What each call can answer. Faults of any call: late, kill, stop, and what the target does.
MEMORY, FILES = ["ENOMEM"], ["EMFILE", "EACCES", "ENOENT", "EINTR"]
ERRORS = {
    "bpf": ["EPERM", "ENOMEM", "E2BIG", "ENOSPC"],
    "perf_event_open": ["EPERM", "EMFILE", "ENOSPC"],
    "mmap": MEMORY,
    "mremap": MEMORY,
    "munmap": MEMORY,
    "mprotect": MEMORY,
    "brk": MEMORY,
    "ptrace": ["EPERM", "ESRCH", "EIO"],
    "open": FILES,
    "openat": FILES,
    "openat2": FILES,
    "read": ["EIO", "EINTR", "short"],
    "pread64": ["EIO", "EINTR", "short"],
    "write": ["EIO", "EINTR", "ENOSPC", "short"],
    "pwrite64": ["EIO", "EINTR", "ENOSPC", "short"],
    "process_vm_readv": ["EPERM", "EFAULT"],
    "process_vm_writev": ["EPERM", "EFAULT"],
    "pidfd_open": ["EMFILE", "ESRCH"],
    "epoll_create1": ["EMFILE"],
    "epoll_ctl": ["ENOSPC"],
    "poll": ["EINTR", "ENOMEM"],
    "ppoll": ["EINTR", "ENOMEM"],
    "ioctl": ["ENOMEM", "EINVAL"],
    "socket": ["EMFILE"],
    "bind": ["EADDRINUSE"],
    "listen": ["EADDRINUSE"],
    "signalfd4": ["EMFILE"],
    "clone": ["EAGAIN"],
    "clone3": ["EAGAIN"],
    "getdents64": ["EIO", "EINTR", "short"],
    "readlink": ["EACCES"],
    "newfstatat": ["EACCES", "EIO"],
    "fstat": ["EIO"],
    "fstatfs": ["EIO"],
    "waitid": ["EINTR"],
    "wait4": ["EINTR"],
    "clock_nanosleep": ["EINTR"],
    "sched_setscheduler": ["EPERM"],
    "sched_getparam": ["EPERM"],
    "capset": ["EPERM"],
    "flock": ["EINTR", "EAGAIN"],
    "lseek": ["EINVAL"],
    "fcntl": ["EINVAL"],
    "prlimit64": ["EPERM"],
    "pipe2": ["EMFILE"],
}
PID_MAX = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
EVENTS = ["forks", "execs", "exits", "is traced"]
# Of all cases of a fault one in so many is in --all: these take long, or say less.
THIN = {"late": 10, "stop": 100, **dict.fromkeys(EVENTS, 10)}


@dataclasses.dataclass
class Case:
    fault: str
    call: str  # "" for any
    n: int

    def __str__(self):
        return f"{self.fault} at {self.call or 'call'} {self.n}"


@dataclasses.dataclass
class Result:
    hit: str  # what the fault met; empty: nothing, the run had fewer calls
    status: int
    harm: list
    lost: int
    text: str


class Target:
    """A process that works, and what it was like before anybody attached."""

    def __init__(self, program, shared):
        self.shared = shared
        self.process = subprocess.Popen([program, shared], stdin=subprocess.DEVNULL)
        while not self.threads() or self.words()[4] < 3:
            time.sleep(0.01)
        self.reference = None

    @property
    def pid(self):
        return self.process.pid

    def words(self):
        with contextlib.suppress(OSError, ValueError), open(self.shared, "rb") as f:
            with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
                return struct.unpack("6Q", m[:48])
        return (0,) * 6

    def threads(self):
        with contextlib.suppress(OSError):
            # Numbers begin again at some time.
            return sorted(os.listdir(f"/proc/{self.pid}/task"),
                          key=lambda tid: (int(tid) - self.pid) % PID_MAX)
        return []

    def look(self):
        """Everything that has to be as before."""
        seen = {}
        for tid in self.threads():
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{self.pid}/task/{tid}/status").read_text()
                for name in "TracerPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt":
                    value = re.search(rf"(?m)^{name}:\s*(\S+)", status)[1]
                    seen[f"{name} of thread {len(seen) // 6}"] = value
        with contextlib.suppress(OSError):
            seen["maps"] = MOVES.sub(r"\1", pathlib.Path(f"/proc/{self.pid}/maps").read_text())
        seen["errors"] = self.words()[5]
        return seen

    def rates(self):
        """Turns per second of CPU time of both workers, and wake-ups; None: one does not run."""
        a = self.words()
        time.sleep(WINDOW)
        b = self.words()
        cpu = b[1] - a[1], b[3] - a[3]
        if min(*cpu, b[4] - a[4]) <= 0:
            return None
        return (b[0] - a[0]) / cpu[0], (b[2] - a[2]) / cpu[1]

    def settle(self):
        """Remembers how fast it is, and what it is like."""
        rates = sorted(filter(None, (self.rates() for _ in range(25))))
        self.reference = tuple(sorted(r[i] for r in rates)[len(rates) // 2] for i in range(2))
        self.before = self.look()

    def harm(self):
        """What is not as it was, as soon as nothing gets better any more."""
        end = time.monotonic() + PATIENCE
        while True:
            if self.process.poll() is not None:
                return [f"it has died, status {self.process.returncode}"]
            now = self.look()
            harm = [
                f"{key}: {value!r}, not {self.before.get(key)!r}" if key != "maps" else
                "maps: " + " ".join(
                    sorted(set(value.splitlines()) ^ set(self.before[key].splitlines())))
                for key, value in now.items() if value != self.before.get(key)
            ]
            rates = self.rates()
            if not rates:
                harm.append("a thread does not run")
            elif any(r < SLOW * was for r, was in zip(rates, self.reference)):
                harm.append(f"speed {rates}, not {self.reference}")
            if not harm or time.monotonic() > end:
                return harm
            time.sleep(WINDOW)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Worker:
    """Runs cases one after the other, in a directory and with a target of its own."""

    def __init__(self, options, number):
        self.options = options
        self.dir = pathlib.Path(options.dir) / str(number)
        self.dir.mkdir()
        self.profile = self.dir / "p.coz"
        self.seed = self.dir / "seed.coz"
        self.target = self.answer = None
        if options.what == "attach":
            self.target = self.new_target()
            self.prepare()
        else:
            self.answer = self.run(["-o", str(self.dir / "counts")], None)[1]

    def new_target(self):
        target = Target(self.options.target, str(self.dir / "shared"))
        target.settle()
        return target

    def prepare(self):
        """A run without a fault: its profile begins those of all cases, and it touches all memory
        of the target that a run touches. On a busy machine not each run has an experiment."""
        for _ in range(TRIES):
            self.profile.unlink(missing_ok=True)
            result = self.run(["-o", str(self.dir / "counts")], self.target)
            if result[0] not in (0, 4) or self.target.harm():
                sys.exit(f"a run without a fault: status {result[0]}\n{result[1]}")
            if "\nexperiment" in self.profile.read_text(errors="replace"):
                break
        else:
            sys.exit(f"{TRIES} runs without a fault, and no experiment\n{result[1]}")
        shutil.copy(self.profile, self.seed)
        self.target.settle()

    def command(self, target):
        if self.options.what == "report":
            return ["report", "--csv", self.options.profile]
        return ["attach", "-o", str(self.profile), "-P", "progress", "--fixed-line",
                self.options.line, "--fixed-speedup", "0,50", *EXPERIMENT, "-p", str(target.pid)]

    def run(self, inject, target):
        command = [self.options.inject, *inject, "--", self.options.tool, *self.command(target)]
        with open(self.dir / "text", "w+") as text:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=text, stderr=text)
            try:
                status = process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                status = -1
            text.seek(0)
            return status, text.read()

    def one(self, case):
        out = self.dir / "out"
        inject = ["-o", str(out), "-n", str(case.n)]
        inject += ["-s", case.call] if case.call else []
        if case.fault in EVENTS:
            return self.event(case, inject, out)
        status, text = self.attempt(inject + ["-f", case.fault], self.target)
        result = Result(out.read_text(), status, self.judge(case, status, text), 0, text)
        if self.target:
            self.check_profile(result)
            self.check_target(case, result)
        elif status in (0, 4) and text != self.answer and "warning: " not in text:
            result.harm.append("the answer is another one, and nobody says so")
        return result

    def attempt(self, inject, target):
        if self.seed.exists():
            shutil.copy(self.seed, self.profile)
        return self.run(inject, target)

    @staticmethod
    def judge(case, status, text):
        """The exit status and the messages."""
        if status == 128 + signal.SIGKILL and case.fault == "kill":
            return []
        if status == -1:
            return ["it hangs"]
        if status not in (0, 1, 2, 3, 4):
            return [f"cozbpf crashes: status {status}"]
        if status in (1, 2, 3) and "cozbpf: error: " not in text:
            return [f"status {status} without a message"]
        return []

    def check_target(self, case, result):
        harm = self.target.harm()
        if harm and case.fault == "kill" and self.target.process.poll() is None:
            # The handler may stay until somebody attaches again.
            if any("does not run" in h or "TracerPid" in h for h in harm):
                result.harm += [f"target: {h}" for h in harm]
            again, text = self.attempt(["-o", "/dev/null"], self.target)
            if again not in (0, 4):
                result.harm.append(f"the next run: status {again}\n{text}")
            harm = self.target.harm()
        result.harm += [f"target: {h}" for h in harm]
        if harm:
            self.target.kill()
            self.target = self.new_target()
            self.prepare()

    def check_profile(self, result):
        """The profile begins with what stood in it, and is whole."""
        if not self.profile.read_bytes().startswith(self.seed.read_bytes()):
            result.harm.append("profile: earlier runs are gone")
        text = self.profile.read_text(errors="replace")
        shown = subprocess.run([self.options.tool, "report", "--csv", self.profile],
                               capture_output=True, text=True)
        if shown.returncode not in (0, 4) or DAMAGE.search(shown.stderr) or text[-1:] != "\n":
            result.harm.append(f"profile: status {shown.returncode}, {shown.stderr}")
        announced = re.search(r"(?m)^(\d+) experiments, \d+ samples", result.text)
        new = text.count("\nexperiment\t") - self.seed.read_text().count("\nexperiment\t")
        if announced and int(announced[1]) > new:
            result.lost = int(announced[1]) - new
            if result.status in (0, 4):
                result.harm.append(f"profile: {result.lost} experiments lost without a word")

    def event(self, case, inject, out):
        """The target does something at that call. It is one that has just begun."""
        fault = {"forks": f"signal:{signal.SIGUSR1:d}", "execs": f"signal:{signal.SIGUSR2:d}",
                 "exits": f"signal:{signal.SIGTERM:d}", "is traced": "seize"}[case.fault]
        target = Target(self.options.target, str(self.dir / "other"))
        target.settle()
        status, text = self.attempt(inject + ["-f", fault, "-p", str(target.pid)], target)
        result = Result(out.read_text(), status, self.judge(case, status, text), 0, text)
        if case.fault == "execs":
            target.before["maps"] = target.look().get("maps", "")
        if case.fault == "exits" and result.hit:
            if target.process.wait() != -signal.SIGTERM:
                result.harm.append(f"target: it ends with {target.process.returncode}")
        else:
            harm = [h for h in target.harm() if not re.match("maps: .*(heap|rw-p)", h)]
            result.harm += [f"target: {h}" for h in harm]
            if re.search(r"r-xp 00000000 00:00 0 *$", target.look().get("maps", ""), re.M):
                result.harm.append("target: our page is left")
        target.kill()
        self.check_profile(result)
        return result


def all_cases(counts, what, only):
    """Every case of every fault; those of any call are thinned."""
    cases = collections.defaultdict(list)
    total = sum(counts.values())
    for call, faults in ERRORS.items():
        for fault in faults:
            cases[fault] += [Case(fault, call, n) for n in range(1, counts.get(call, 0) + 1)]
    anything = ["late", "kill"] + (["stop", *EVENTS] if what == "attach" else [])
    for fault in anything:
        thin = THIN.get(fault, 1)
        cases[fault] += [Case(fault, "", n) for n in range(1 + thin // 2, total + 1, thin)]
    if only:
        fault, _, call = only.partition(":")
        return {f: [c for c in cases[f] if not call or c.call == call]
                for f in cases if f == fault or not fault}
    return cases


def draw(cases, rng):
    """For each fault and call the first or the last case, then some between, then all others."""
    by_call = collections.defaultdict(list)
    for fault in cases.values():
        for case in fault:
            by_call[case.fault, case.call].append(case)
    rounds = [], [], []
    for some in by_call.values():
        rest = rng.sample(some, len(some))
        edge = rng.choice([some[0], some[-1]])
        rest.remove(edge)
        for round_, part in zip(rounds, ([edge], rest[:4], rest[4:])):
            round_.extend(part)
    for round_ in rounds:
        rng.shuffle(round_)
    return sum(rounds, [])


class Driver:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.rows = collections.defaultdict(lambda: [0, 0, 0, 0])
        self.failed = []
        self.started = time.monotonic()

    def count(self):
        """How often each call is made in a run without a fault."""
        worker = Worker(self.options, "count")
        counts = worker.dir / "counts"
        if self.options.what == "report":
            worker.run(["-o", str(counts)], None)
        else:
            worker.target.kill()
        return {name: int(n) for name, n in map(str.split, counts.read_text().splitlines())}

    def work(self, number, cases):
        worker = Worker(self.options, number)
        while True:
            with self.lock:
                late = time.monotonic() - self.started > self.options.seconds
                case = None if late and not self.options.all else next(cases, None)
            if not case:
                break
            self.note(case, worker.one(case))
        if worker.target:
            worker.target.kill()

    def note(self, case, result):
        if not result.hit:
            return
        with self.lock:
            row = self.rows[case.fault]
            row[0] += 1
            row[1] += any(h.startswith("target") for h in result.harm)
            row[2] += bool(result.harm)
            row[3] += result.lost
            if result.harm:
                self.failed.append(str(case))
                print(f"FAIL {case}: {result.hit.strip()}: {'; '.join(result.harm)}")
                print("".join(f"     {line}\n" for line in result.text.splitlines()[-8:]), end="",
                      flush=True)

    def table(self):
        print("| fault | times | target harmed | any harm | finished experiments not in the file |")
        print("| --- | --- | --- | --- | --- |")
        for fault, row in sorted(self.rows.items()):
            print(f"| {fault} | " + " | ".join(map(str, row)) + " |")

    def main(self):
        rng = random.Random(self.options.seed)
        counts = self.count()
        cases = all_cases(counts, self.options.what, self.options.only)
        in_all = sum(map(len, cases.values()))
        if self.options.all:
            cases = [case for fault in cases.values() for case in fault]
        else:
            cases = draw(cases, rng)
        print(f"{sum(counts.values())} calls in a run, {in_all} cases; seed {self.options.seed}",
              flush=True)
        left = iter(cases)
        threads = [threading.Thread(target=self.work, args=(i, left)) for i in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.table()
        done = sum(row[0] for row in self.rows.values())
        print(f"{time.monotonic() - self.started:.0f} s; seed {self.options.seed}")
        print(f"{done - len(self.failed)} passed, {len(self.failed)} failed")
        return 1 if self.failed or not (done or self.options.only) else 0


def main():
    parser = argparse.ArgumentParser()
    for name in "tool", "inject", "target", "dir":
        parser.add_argument(name)
    parser.add_argument("what", choices=["attach", "report"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--line", default="")
    parser.add_argument("--profile", default="")
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    sys.exit(Driver(parser.parse_args()).main())


if __name__ == "__main__":
    main()
