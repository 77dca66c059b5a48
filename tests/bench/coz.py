# SPDX-License-Identifier: BSD-3-Clause
"""Coz beside us: builds each workload for Coz, runs coz-profiler and combines the experiments.

Coz's reader needs DWARF 3 and Coz's own coz.h. Debian's coz-profiler runs with a fixed line and
each fixed speedup. Baselines are a run with a fixed speedup of 0, since Coz makes no others
then."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import machine
from cases import BUILD, SPEEDUPS, WORKLOADS, arguments

CFLAGS = ("-O1", "-gdwarf-3", "-gstrict-dwarf", "-fno-omit-frame-pointer", "-DWITH_COZ")
VISITS_MIN = 5  # cells with fewer visits say nothing: Coz's viewer drops them too
# A duration from here on is negative: Coz inserted more delay than time passed. It is useless.
BELOW_ZERO = 1 << 63
PASSES = 2  # runs per speedup, in opposite orders, so that drift harms little


def available():
    return bool(shutil.which("coz")) and Path("/usr/include/coz.h").exists()


def build(case):
    """The workload with Coz's progress macros. No -Iinclude: the header has to be Coz's."""
    target = BUILD / "bench" / "coz" / case.program
    newest = max(path.stat().st_mtime for path in (case.source, WORKLOADS / "workload.h"))
    if not target.exists() or target.stat().st_mtime < newest:
        target.parent.mkdir(parents=True, exist_ok=True)
        libraries = ["-lpthread", "-lm", "-ldl", "-lstdc++"]
        standard = ["-std=c++20"] if case.source.suffix == ".cc" else []
        command = ["gcc", *CFLAGS, *standard, f"-I{WORKLOADS}", "-o", target, case.source]
        subprocess.run([*command, *libraries], check=True)
    return target


def read_profile(path):
    """{speedup in %: [(visits, duration in ns), one per experiment]} of a profile.coz."""
    cells, current = {}, None
    if not path.exists():
        return cells
    for text in path.read_text(errors="replace").splitlines():
        kind, *words = text.split("\t")
        keys = dict(word.split("=", 1) for word in words if "=" in word)
        if kind == "experiment":
            duration = int(keys["duration"])
            speedup = round(100 * float(keys["speedup"]))
            current = (speedup, duration) if duration < BELOW_ZERO else None
        elif kind == "throughput-point" and current and keys["name"] == "progress":
            cells.setdefault(current[0], []).append((int(keys["delta"]), current[1]))
    return cells


def take_profile(path):
    """Reads a profile and removes it, so that another run does not append to it."""
    cells = read_profile(path)
    path.unlink(missing_ok=True)
    return cells


def period(cell):
    visits, duration = (sum(column) for column in zip(*cell)) if cell else (0, 0)
    return duration / visits if visits >= VISITS_MIN and duration > 0 else None


def speedups_of(cells, speedups=SPEEDUPS):
    """{s: program speedup as Coz's viewer computes it, or None without enough data}."""
    base = period(cells.get(0))
    found = {s: period(cells.get(s)) for s in speedups}
    return {s: 1 - p / base if base and p else None for s, p in found.items()}


def run_once(binary, line, speedup, extra, timeout_s):
    """One run at one fixed speedup: (its cells, the machine.Run)."""
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        profile = Path(folder) / "profile.coz"
        command = ["coz", "run", "-o", profile, "--fixed-line", line]
        command += ["--fixed-speedup", speedup, "---", binary, *extra]
        result, cells, _ = machine.run_quiet(command, timeout_s, lambda: take_profile(profile))
        return cells, result


def measure(case, iters_per_ms, seconds_per_cell, speedups=SPEEDUPS):
    """Coz's predictions for @case.

    {"predicted": {s: fraction or None}, "visits": {s: number}, "failures": [...],
    "others": largest share of the CPU that others took}"""
    binary, failures, others, cells = build(case), [], [], {}
    seconds = seconds_per_cell / PASSES
    extra = arguments(case, iters_per_ms, seconds)
    for one_pass in range(PASSES):
        order = [0, *speedups]
        for s in reversed(order) if one_pass % 2 else order:
            found, result = run_once(binary, case.line(), s, extra, 4 * seconds + 30)
            for speedup, experiments in found.items():
                cells.setdefault(speedup, []).extend(experiments)
            others.append(result.others)
            if result.timed_out or result.status:
                how = "hung" if result.timed_out else f"status {result.status}"
                failures.append(f"s={s}: {how}")
    visits = {s: sum(visits for visits, _ in cell) for s, cell in cells.items()}
    return {
        "predicted": speedups_of(cells, speedups),
        "visits": visits,
        "failures": failures,
        "others": max(others),
    }
