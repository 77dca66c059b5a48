# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the off-CPU bench: a program, its wait under test, and what a shorter wait gains.

The wait gets really shorter: its disk, server or sleep takes less, its lock is not shared, or there
are more CPUs. The kernel's work is another such stretch of time, which the program's lines cannot
make shorter: fewer bytes or files are asked for. offcpu.py measures and predicts."""

import re
from dataclasses import dataclass

from cases import SPEEDUPS, Case, capped, share

NEVER = (100,)  # a lock or a CPU is waited for as before, or as little as can be


@dataclass(frozen=True)
class WaitCase(Case):
    """A case whose unit under test is a wait; its truth maps what the wait was shortened by.

    `is_whole`: the unit is all waits of the class, otherwise those in the line of the marker.
    `unit`: it is that of the kernel, by name; without a `kind` it is no wait.
    `is_timed`: the waits that the program times, if any, are those of the unit."""

    marker: str = "WAIT"
    turn_ms: int = 80
    kind: str = ""  # the class: io, lock, net, sleep, sched
    is_whole: bool = False
    unit: str = ""
    is_timed: bool = True
    speedups: tuple = SPEEDUPS

    def line(self):
        """FILE:LINE [CLASS], or [CLASS], or what is in the kernel."""
        if self.unit:
            return f"{self.unit} [{self.kind}]" if self.kind else self.unit
        if self.is_whole:
            return f"[{self.kind}]"
        for number, text in enumerate(self.source.read_text().splitlines(), 1):
            if re.search(rf"/\* {self.marker} \*/", text):
                return f"{self.source.name}:{number} [{self.kind}]"
        raise LookupError(f"no {self.marker} in {self.source}")


def case(name, kind, truth=None, *args, **more):
    """A case of the program that its name begins with."""
    return WaitCase(name, name.split("-")[0], truth, args, kind=kind, **more)


SLOW_DISK = ("disk", "--service-us", "2000")


def disk(name, truth, *args, of="disk"):
    return case(name, "io", truth, *args, outsider=(of, *SLOW_DISK[1:]))


def lock(name, truth, *args):
    """Turns are longer, so that who waited for the shared lock has had it."""
    return case(name, "lock", truth, *args, speedups=NEVER, turn_ms=200)


def cpus(name, gain, *args):
    """One CPU, then two."""
    more = {"is_whole": True, "speedups": NEVER, "turn_ms": 200}
    return case(name, "sched", lambda s: gain, *args, **more)


def rpc(name, truth, how, service_us, *args):
    return case(name, "net", truth, *args, outsider=(how, "--service-us", service_us))


def kernel(name, unit, *args, **more):
    """The program's own share is a little less than half; the call's other costs stay."""
    return case(name, "", None, *args, unit=unit, **more)


AHEAD = ("--ahead", "2")
SHARED = ("--via", "shared", "--threads", "2", "--work-us", "1000")
DIRECTORY_LOCK = "kernel:rwsem_down_write_slowpath"  # where threads wait for one directory
WAIT_CASES = (
    disk("fsyncloop", share(2, 3)),
    disk("fsyncloop-cache", share(2, 3), of="cached-disk"),
    disk("readscan", share(2, 3)),
    disk("readscan-cache", share(2, 3), "--via", "cache"),
    disk("readscan-ahead", capped(2, 1), *AHEAD),
    disk("readscan-hidden", lambda s: 0.0, *AHEAD, "--work-us", "3000"),
    lock("convoy", lambda s: s / 4),
    lock("convoy-2", lambda s: s / 4, "--threads", "2"),
    lock("convoy-sleep", None, "--hold", "sleep", "--inside-us", "1000"),
    rpc("rpc", share(2, 2.5), "sleep", "2000"),
    rpc("rpc-busy", None, "spin", "1000"),
    cpus("runq", 0.5),
    cpus("runq-4", 0.5, "--threads", "4"),
    cpus("runq-turns", 0.0, "--via", "hand-over"),
    case("sleeper2", "sleep", lambda s: min(2 * s, 1) / 3),
    case("sleeper2-hidden", "sleep", lambda s: 0.0, "--partner-us", "4000"),
    case("fsyncloop-call", "io", share(2, 3), unit="sys:fsync", outsider=SLOW_DISK),
    kernel("kernelwork", "sys:getrandom", "--threads", "2"),
    kernel("kernelwork-function", "kernel:get_random_bytes_user", "--threads", "2"),
    kernel("kernelwork-create", "sys:all", "--via", "create"),
    kernel("kernelwork-create-2", "sys:all", "--via", "create", "--threads", "2"),
    kernel("kernelwork-shared", DIRECTORY_LOCK, *SHARED, speedups=NEVER, turn_ms=200),
)
