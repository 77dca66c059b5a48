#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Latency: predicts by cozbpf what making a line faster does to the mean and the p99 of a request's latency, really makes it faster, and compares. The
program under test measures its own latencies when it runs alone; real runs stand half before and half after the profile."""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import machine  # noqa: E402
from cases import BUILD, Case, calibrate  # noqa: E402

SPEEDUPS = (0, 25, 50, 75)
LATENCY = re.compile(r"^latency requests (\d+) mean_us ([\d.]+) p50_us ([\d.]+) p90_us ([\d.]+) p99_us ([\d.]+)", re.M)
FIGURES = ("mean", "p50", "p90", "p99")
CASES = (
    Case("queue", "reqqueue"),
    Case("queue-long", "reqqueue", None, ("--service-us", "8000", "--gap-us", "10400")),
    Case("queue-light", "reqqueue", None, ("--service-us", "1500", "--gap-us", "5000")),
)


def command(options, case, iters_per_ms, seconds, s):
    words = [case.binary, "--seconds", f"{seconds:g}", "--iters-per-ms", f"{iters_per_ms:.0f}", "--line-speedup", s, *case.args]
    return (["nice", "-n", str(options.nice)] if options.nice else []) + words


def real(options, case, iters_per_ms, s):
    """Latencies in us of one run of the really shortened program, without a profiler."""
    result = machine.run(command(options, case, iters_per_ms, options.seconds / options.rounds, s), 120)
    found = LATENCY.search(result.stdout)
    if not found:
        raise RuntimeError(f"{case.name} printed no latencies: {result.stderr.strip()}")
    return dict(zip(FIGURES, map(float, found.groups()[1:])), others=result.others)


def profile(options, case, iters_per_ms):
    """Predicted latencies in us by line speedup in per cent."""
    seconds = 2 * options.seconds * (len(SPEEDUPS) - 1)
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        out = Path(options.keep) / f"{case.name}.coz" if options.keep else Path(folder) / "profile.coz"
        out.unlink(missing_ok=True)
        words = [options.cozbpf, "run", "-q", "--no-tui", "-o", out, "-d", f"{seconds:g}s", "-L", "request=enqueue..done,key=arg0"]
        words += ["--fixed-line", case.line(), "--fixed-speedup", ",".join(map(str, SPEEDUPS)), *options.extra, "--"]
        result = machine.run((["nice", "-n", str(options.nice)] if options.nice else []) + words + command(options, case, iters_per_ms, seconds + 2, 0)[3 if options.nice else 0 :], 3 * seconds + 60)
        report = machine.run([options.cozbpf, "report", "--json", out], 120)
    if result.status or report.status:
        raise RuntimeError(f"cozbpf: {result.stderr.strip()} {report.stderr.strip()}")
    found = json.loads(report.stdout)
    line = [entry for entry in found["lines"] if entry["kind"] == "latency"][0]
    return {round(100 * p.get("line_speedup", 0)): p for p in [line["baseline"], *line["points"]]}, result.others


def percent(predicted, actual):
    return f"{100 * (predicted / actual - 1):+.1f}"


def rows(case, actual, predicted):
    for s in SPEEDUPS:
        truth = {key: statistics.median(run[key] for run in actual[s]) for key in FIGURES}
        spread = {key: statistics.stdev([run[key] for run in actual[s]]) / len(actual[s]) ** 0.5 if len(actual[s]) > 1 else 0 for key in FIGURES}
        p = predicted[s]
        cells = [f"{truth['mean']:.0f} ± {spread['mean']:.0f}", f"{p['mean'] / 1e3:.0f}", percent(p["mean"] / 1e3, truth["mean"])]
        cells += [f"{p['pairs_mean'] / 1e3:.0f}", percent(p["pairs_mean"] / 1e3, truth["mean"])]
        for key in ("p50", "p90", "p99"):
            cells += [f"{truth[key]:.0f} ± {spread[key]:.0f}", f"{p[key] / 1e3:.0f}", percent(p[key] / 1e3, truth[key])]
        print(f"| {case.name} | {s} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="per line speedup, real and predicted each (default 20)")
    parser.add_argument("--rounds", type=int, default=4, help="of real runs that the time is cut into (default 4)")
    parser.add_argument("--cases", default="", help="comma-separated; known: " + " ".join(case.name for case in CASES))
    parser.add_argument("--nice", type=int, default=0, help="nice value of everything that is measured (default 0)")
    parser.add_argument("--keep", help="folder that keeps the profiles")
    parser.add_argument("--cozbpf", default=os.environ.get("COZBPF", str(BUILD / "cozbpf")))
    parser.add_argument("extra", nargs="*", help="after --: more options for cozbpf")
    options = parser.parse_args()
    iters_per_ms = calibrate()
    print("Latencies in us, errors in per cent.\n")
    print("| case | s | mean | Little | error | pairs | error | p50 | predicted | error | p90 | predicted | error | p99 | predicted | error |\n" + "|---" * 16 + "|")
    for case in CASES:
        if options.cases and case.name not in options.cases.split(","):
            continue
        actual = {s: [] for s in SPEEDUPS}
        for _ in range((options.rounds + 1) // 2):
            for s in SPEEDUPS:
                actual[s].append(real(options, case, iters_per_ms, s))
        predicted, others = profile(options, case, iters_per_ms)
        for _ in range(options.rounds // 2):
            for s in SPEEDUPS:
                actual[s].append(real(options, case, iters_per_ms, s))
        rows(case, actual, predicted)
        busy = statistics.mean(run["others"] for runs in actual.values() for run in runs)
        print(f"\nothers had {100 * busy:.0f} % of the CPUs in real runs, {100 * others:.0f} % in the profile", file=sys.stderr)


if __name__ == "__main__":
    main()
