# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the bench for Go: tests/workloads/go, and what a faster line gains by arithmetic.

accuracy.py --group go measures and predicts them (make bench-go)."""

import re
from dataclasses import dataclass

from cases import BUILD, WORKLOADS, Case, capped, locked, share


@dataclass(frozen=True)
class GoCase(Case):
    """A case whose program is a file of tests/workloads/go; its truth supposes two CPUs."""

    point: str = "progress=main.progress"

    @property
    def source(self):
        return WORKLOADS / "go" / f"{self.program}.go"

    @property
    def binary(self):
        return BUILD / "tests" / "workloads" / f"go-{self.program}"

    def can_be_stripped(self):
        return False

    def line(self):
        """go/FILE:LINE, since Go's own library has files of the same names."""
        for number, text in enumerate(self.source.read_text().splitlines(), 1):
            if re.search(rf"// {self.marker}$", text):
                return f"go/{self.source.name}:{number}"
        raise LookupError(f"no {self.marker} in {self.source}")


PROCS = {n: ("--procs", str(n)) for n in (1, 2, 4)}
ONE_EACH = ("--producers", "1", "--consumers", "1")
FINE_DRAWS = ("--draw-us", "1", "--rest-us", "2", "--draws", "500")
GO_CASES = (
    GoCase("go-unbuffered", "channel", capped(4, 2.4)),
    GoCase("go-buffered", "channel", capped(4, 2.4), ("--slots", "4")),
    GoCase("go-pool", "pool", share(1.8, 3)),
    GoCase("go-mutex", "mutex", locked(4, 2)),
    GoCase("go-mutex-4", "mutex", None, ("--goroutines", "4")),
    GoCase("go-rwmutex-writer", "rwmutex", share(3, 5)),
    GoCase("go-rwmutex-reader", "rwmutex", share(2, 5), ("--line", "reader"), marker="LINE_R"),
    GoCase("go-fanin", "fanin", locked(4, 1)),
    GoCase("go-forkjoin", "forkjoin", lambda s: min(6 * s, 2) / 7),
    GoCase("go-cond", "cond", share(4.5, 7.5), turn_ms=200),
    GoCase("go-cond-1", "cond", capped(4.5, 3), ONE_EACH, turn_ms=200),
    GoCase("go-procs-1", "channel", share(4, 6.4), PROCS[1]),
    GoCase("go-procs-1-abab", "abab", share(6, 10), PROCS[1], turn_ms=200),
    GoCase("go-procs-2", "abab", share(6, 10), PROCS[2]),
    GoCase("go-procs-4", "abab", share(6, 10), (*PROCS[4], "--goroutines", "4"), turn_ms=200),
    GoCase("go-oversub", "abab", share(6, 10), ("--goroutines", "8"), turn_ms=400),
    GoCase("go-crowd", "crowd", share(120, 200)),
    GoCase("go-garbage", "garbage"),
    GoCase("go-random", "random", locked(2, 1)),
    GoCase("go-random-fine", "random", None, FINE_DRAWS),
)
