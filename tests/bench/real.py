#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Off-CPU accuracy on real programs: SQLite, LevelDB, RocksDB and PostgreSQL as Debian builds them,
on a disk whose fsync() really becomes faster (slowdir.c), and a solver of several processes.

What is measured and printed, and the options, are those of offcpu.py. Cases whose programs are
missing are named and left out."""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
import offcpu  # noqa: E402
from cases import BUILD, ROOT, WORKLOADS, Case, share  # noqa: E402
from waits import NEVER, WaitCase  # noqa: E402

BENCH = BUILD / "tests" / "bench"
DISK = ("--service-us", "2000")
STEADY_DISK = ("--steady-us", "2000")
INCLUDE, PROGRAMS = Path("/usr/include"), Path("/usr/bin")
POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/none"), key=str)
# -p takes the server with what it forks later; its backends are there already.
ATTACH = 'exec "$@" -p "$WORK_SERVER" $(pgrep -P "$WORK_SERVER" | sed "s/^/-p /")'


@dataclass(frozen=True)
class RealCase(WaitCase):
    """`needs`: the package of the program, and a command or file that comes with it.

    `is_attached`: cozbpf attaches to the server that the program has started."""

    needs: tuple = ()
    is_attached: bool = False
    where: str = "slowdir"

    @property
    def source(self):
        workload = WORKLOADS / f"{self.program}.c"
        return workload if workload.exists() else ROOT / "tests" / "bench" / f"{self.program}.c"

    @property
    def binary(self):
        return (BENCH if self.source.parent.name == "bench" else BENCH.parent / "workloads") / (
            self.program
        )

    def line(self):
        return super().line() if self.kind else Case.line(self)

    def profiled(self, tool, iters_per_ms, words):
        if not self.is_attached:
            return super().profiled(tool, iters_per_ms, words)
        attach = ["--", "sh", "-c", ATTACH, "sh"]
        return [*self.around(iters_per_ms), self.binary, *words, *attach, *tool]

    def lacks(self):
        """What is missing, or None."""
        needed = [(BENCH / "slowdir", "libfuse3-dev")] if self.outsider else []
        needed += [(path, self.needs[0]) for path in self.needs[1:]] + [(self.binary, "make")]
        missing = [f"no {path} ({package})" for path, package in needed if not path.exists()]
        return missing[0] if missing else None


def disk(name, *args, needs, disk=DISK, **more):
    """A program of which all waits for the disk become shorter."""
    more = {"kind": "io", "is_whole": True, "turn_ms": 200, "outsider": disk} | more
    return RealCase(name, name.split("-")[0], None, args, needs=needs, **more)


def foreign(name, program, folder, point, *, needs, **more):
    """A program that knows nothing of the benches, run by foreign.c."""
    words = ["--program", program, "--programs", str(folder)]
    words += ["--library", str(BENCH / "libsynced.so")]
    case = disk(name, *words, needs=needs, point=f"progress={point}", **more)
    return RealCase(**(vars(case) | {"program": "foreign"}))


def solver(name, *args, **more):
    return RealCase(name, "halo", args=args, turn_ms=200, **more)


SQLITE = ("libsqlite3-dev", INCLUDE / "sqlite3.h")
LEVELDB = ("libleveldb-dev", INCLUDE / "leveldb/c.h")
ROCKSDB = ("rocksdb-tools", PROGRAMS / "db_bench")
SERVER = ("postgresql", POSTGRES / "postgres", POSTGRES / "pgbench")
LOCK = {"kind": "lock", "is_timed": False, "speedups": NEVER, "disk": STEADY_DISK}
CPUS = {"kind": "sched", "is_whole": True, "speedups": NEVER, "truth": lambda s: 0.5}
SHARED = ("--connection", "shared", "--bystanders", "0", "--threads")
REAL_CASES = (
    disk("sqlite", needs=SQLITE),
    disk("sqlite-line", needs=SQLITE, is_whole=False),
    disk("sqlite-delete", "--journal", "delete", needs=SQLITE),
    disk("sqlite-procs", "--procs", "2", "--bystanders", "0", needs=SQLITE),
    disk("sqlite-shared", *SHARED, "2", needs=SQLITE, **LOCK),
    disk("sqlite-shared-3", *SHARED, "3", needs=SQLITE, **LOCK),
    disk("leveldb", needs=LEVELDB),
    disk("leveldb-gets", "--visit", "get", needs=LEVELDB),
    foreign("rocksdb", "db_bench", PROGRAMS, "tracepoint:syscalls:sys_exit_fdatasync",
        needs=ROCKSDB),
    foreign("postgresql", "postgres", POSTGRES,
        f"usdt:{POSTGRES}/postgres:postgresql:transaction__commit",
        needs=SERVER, is_attached=True),
    solver("solver", marker="LINE_A", truth=share(1.2, 2)),
    solver("solver-cpus", "--pin", "1", "--procs", "2", **CPUS),
)


def main(argv):
    present = [case for case in REAL_CASES if not case.lacks()]
    for case in REAL_CASES:
        if case not in present:
            print(f"real: {case.name} is left out: {case.lacks()}", file=sys.stderr)
    return offcpu.main(argv, present, "Off-CPU accuracy on real programs", __doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
