#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Latency: cozbpf predicts what a faster line does to the latency of requests; then it is made so.

Mean and quantiles are compared. The program under test measures its own latencies when it runs
alone. Real runs and parts of the profile take turns, so both meet the same machine."""

import argparse
import contextlib
import fcntl
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
from gocases import GoCase  # noqa: E402

SPEEDUPS = (0, 25, 50, 75)
EACH = re.compile(r"^each ([\d.]+)$", re.M)
FIGURES = ("mean", "p50", "p90", "p99")
REQUEST = "request=enqueue..done,key=arg0"
CASES = (
    Case("queue", "reqqueue", point=REQUEST),
    Case("queue-long", "reqqueue", None, ("--service-us", "8000", "--gap-us", "10400"),
         point=REQUEST),
    Case("queue-light", "reqqueue", None, ("--service-us", "1500", "--gap-us", "5000"),
         point=REQUEST),
    Case("queue-all", "reqqueue", None, ("--line-pct", "100"), point=REQUEST),
    GoCase("go-http", "http", point="request=main.enter..main.leave"),
)


@contextlib.contextmanager
def lock(path):
    """Held run by run where others have to take turns."""
    with open(path or os.devnull, "w") as file:
        if path:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def first(options, words):
    """Words that run @words with --nice.

    Where the scheduler groups tasks by session, nice ranks a task only within its session. The
    session needs a value of its own to rank among others."""
    if not options.nice:
        return words
    group = f"(echo {options.nice} >/proc/self/autogroup) 2>/dev/null"
    script = f'{group}; exec nice -n {options.nice} "$@"'
    return ["sh", "-c", script, "sh", *words]


def run_quiet(options, words, timeout_s, collect=lambda: None):
    """The least disturbed of some runs, and what it left."""
    best, left = None, None
    for _ in range(options.tries):
        machine.wait_quiet()
        with lock(options.lock):
            result = machine.run(first(options, words), timeout_s)
        collected = collect()
        if not best or result.others < best.others:
            best, left = result, collected
        if best.others < machine.QUIET:
            break
    return best, left


def command(case, iters_per_ms, seconds, s):
    words = [case.binary, "--seconds", f"{seconds:g}", "--iters-per-ms", f"{iters_per_ms:.0f}"]
    return [*words, "--line-speedup", s, *case.args]


def real(options, case, iters_per_ms, s):
    """Latencies in us of one run of the really shortened program, without a profiler."""
    words = command(case, iters_per_ms, options.seconds / options.rounds, s)
    result, _ = run_quiet(options, [*words, "--each", "1"], 120)
    found = [float(text) for text in EACH.findall(result.stdout)]
    if not found:
        raise RuntimeError(f"{case.name} printed no latencies: {result.stderr.strip()}")
    return found, result.others


def figures(latencies):
    """Of all requests of some runs, as the profile has them."""
    ordered = sorted(latencies)
    quantiles = {f"p{share}": ordered[len(ordered) * share // 100] for share in (50, 90, 99)}
    return {"mean": statistics.mean(ordered), **quantiles}


def profile(options, case, iters_per_ms, out):
    """One more run in the profile; returns what others had of the CPUs."""
    seconds = 2 * options.seconds * (len(SPEEDUPS) - 1) / options.rounds
    part = Path(f"{out}.part")

    def collect():
        text = part.read_text() if part.exists() else ""
        part.unlink(missing_ok=True)
        return text

    words = [options.cozbpf, "run", "-q", "--no-tui", "-o", part, "-d", f"{seconds:g}s"]
    words += ["--no-follow-children", "-L", case.point]
    words += ["--fixed-line", case.line()]
    words += ["--fixed-speedup", ",".join(map(str, SPEEDUPS)), *options.extra, "--"]
    words += command(case, iters_per_ms, seconds + 1, 0)
    result, text = run_quiet(options, words, 3 * seconds + 60, collect)
    if result.status:
        raise RuntimeError(f"cozbpf: {result.stderr.strip()}")
    with open(out, "a") as file:
        file.write(text)
    return result.others


def predictions(options, out):
    """Predicted latencies by line speedup in per cent."""
    report = machine.run([options.cozbpf, "report", "--json", out], 120)
    found = json.loads(report.stdout)
    line = [entry for entry in found["lines"] if entry["kind"] == "latency"][0]
    return {round(100 * p.get("line_speedup", 0)): p for p in [line["baseline"], *line["points"]]}


def errors(predicted, actual, now):
    """Errors in per cent: of the latency itself, and of its ratio to the latency now.

    The profile has a figure for both. @now: predicted and actual at 0."""
    own, of_now = 100 * (predicted / actual - 1), 100 * (predicted / actual * now[1] / now[0] - 1)
    return f"{own:+.1f}" if now == (predicted, actual) else f"{own:+.1f} / {of_now:+.1f}"


def rows(case, actual, predicted):
    truths = {s: figures([us for latencies, _ in actual[s] for us in latencies]) for s in SPEEDUPS}
    for s in SPEEDUPS:
        runs = [figures(latencies) for latencies, _ in actual[s]]
        spread = dict.fromkeys(FIGURES, 0)
        if len(runs) > 1:
            for key in FIGURES:
                spread[key] = statistics.stdev([run[key] for run in runs]) / len(runs) ** 0.5

        def cell(key, of, s=s):
            now = (predicted[0][key], 1e3 * truths[0][of])
            return errors(predicted[s][key], 1e3 * truths[s][of], now)

        def truth(key, s=s, spread=spread):
            return f"{truths[s][key]:.0f} ± {spread[key]:.0f}"

        cells = [truth("mean"), cell("mean", "mean"), cell("pairs_mean", "mean")]
        cells += [cell("p50", "p50"), cell("p90", "p90"), truth("p99"), cell("p99", "p99")]
        print(f"| {case.name} | {s} | {' | '.join(cells)} |", flush=True)


def measure(options, case, iters_per_ms, folder):
    out = Path(options.keep or folder) / f"{case.name}.coz"
    out.unlink(missing_ok=True)
    actual = {s: [] for s in SPEEDUPS}
    others = []
    for _ in range(options.rounds):
        for s in SPEEDUPS:
            actual[s].append(real(options, case, iters_per_ms, s))
        others.append(profile(options, case, iters_per_ms, out))
    rows(case, actual, predictions(options, out))
    busy = statistics.mean(others for runs in actual.values() for _, others in runs)
    profiled = statistics.mean(others)
    print(
        f"others had {100 * busy:.0f} % of the CPUs in real runs,"
        f" {100 * profiled:.0f} % in the profile",
        file=sys.stderr,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20,
        help="per line speedup, real and predicted each (default 20)")
    parser.add_argument("--rounds", type=int, default=4,
        help="that the time is cut into (default 4)")
    parser.add_argument("--tries", type=int, default=3,
        help="of each run, when others disturb it (default 3)")
    parser.add_argument("--patience", type=float, default=20,
        help="seconds to wait for a quiet machine before each run (default 20)")
    known = " ".join(case.name for case in CASES)
    parser.add_argument("--cases", default="", help=f"comma-separated; known: {known}")
    parser.add_argument("--nice", type=int, default=0,
        help="nice value of everything that is measured (default 0)")
    parser.add_argument("--lock", help="file that is locked during each run")
    parser.add_argument("--keep", help="folder that keeps the profiles")
    parser.add_argument("--cozbpf", default=os.environ.get("COZBPF", str(BUILD / "cozbpf")))
    parser.add_argument("extra", nargs="*", help="after --: more options for cozbpf")
    options = parser.parse_args()
    machine.Patience.seconds = options.patience
    iters_per_ms = calibrate()
    print("Errors in per cent: of the latency / of its ratio to that at 0.\n")
    print("| case | s | mean, us | Little | pairs | p50 | p90 | p99, us | p99 |")
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        for case in CASES:
            if not options.cases or case.name in options.cases.split(","):
                measure(options, case, iters_per_ms, folder)


if __name__ == "__main__":
    main()
