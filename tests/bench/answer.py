#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time to an answer: how long until the leading line of a 20-line program stands apart.

cozbpf and Coz run on the same program and choose lines at random. The leading line stands apart
when the low end of its slope's interval is above the high end of every other large line's. A large
line has a twentieth of the samples, and all large lines have to be ranked. Both profiles are cut at
growing lengths and read by `cozbpf report`, so the same arithmetic judges both. The time from which
on the answer stays is what counts. Each line's true slope is known, its part of the time. So the
intervals of the whole profile show how many hold the truth where samples pick the lines."""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True
import coz  # noqa: E402
import machine  # noqa: E402
from cases import BUILD, arguments, calibrate, select  # noqa: E402

STEP_S = 5
MARK = re.compile(r"(?m)^(?=experiment\t)")
END = re.compile(r"(?m)^(?:samples|runtime)\t")


def pieces(text):
    """What stands before the experiments, the experiments, what stands behind them."""
    head, *experiments = MARK.split(text)
    end = END.search(experiments[-1]) if experiments else None
    tail = experiments[-1][end.start() :] if end else ""
    if end:
        experiments[-1] = experiments[-1][: end.start()]
    return head, experiments, tail


def elapsed(experiments):
    """When each experiment began, in seconds.

    Coz's profile has durations only, so delays and cool-off between its experiments are missing."""
    at, found = 0.0, []
    for text in experiments:
        start = re.search(r"\bstart=(\d+)", text)
        found.append(int(start[1]) / 1e9 if start else at)
        at += int(re.search(r"\bduration=(\d+)", text)[1]) / 1e9
    return found


def large_lines(text):
    """FILE:LINE of the lines with a twentieth of the samples."""
    found = re.finditer(r"(?m)^samples\tlocation=(\S+)\tcount=(\d+)", text)
    counts = {m[1]: int(m[2]) for m in found}
    least = sum(counts.values()) / 20
    return {line.rsplit("/", 1)[-1] for line, count in counts.items() if count >= least}


def is_apart(tool, text, line, large, folder):
    path = Path(folder) / "cut.coz"
    path.write_text(text)
    report = machine.run([tool, "report", "--json", path], 60)
    if report.status:
        return False
    lines = json.loads(report.stdout)["lines"]
    ranked = [entry for entry in lines if entry["verdict"] != "not-enough-data"]
    found = {entry["line"].rsplit("/", 1)[-1]: entry["slope_ci"] for entry in ranked}
    others = [interval for other, interval in found.items() if other != line]
    return line in found and large <= set(found) and all(found[line][0] > o[1] for o in others)


def answered_at(tool, text, line, seconds):
    """Seconds from which on the answer stands; None: never."""
    head, experiments, tail = pieces(text)
    large = large_lines(tail)
    begins = elapsed(experiments)
    # The time between Coz's experiments is spread evenly.
    scale = seconds / begins[-1] if begins and "start=" not in experiments[0] else 1
    since = None
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        for limit in range(STEP_S, int(seconds) + 1, STEP_S):
            cut = "".join(text for text, begin in zip(experiments, begins) if begin * scale < limit)
            if is_apart(tool, head + cut + tail, line, large, folder):
                since = since or limit
            else:
                since = None
    return since, len(experiments), len(large)


def truths(case):
    """The true slope of each line of many.c: its part of the time."""
    parts = {}
    for number, text in enumerate(case.source.read_text().splitlines(), 1):
        if found := re.search(r"/\* LINE_(\d+)", text):
            parts[f"{case.program}.c:{number}"] = int(found[1])
    parts[case.line()] += int(case.args[case.args.index("--more") + 1])
    return {line: part / sum(parts.values()) for line, part in parts.items()}


def coverage(tool, profile, case):
    """How many lines have an interval, how many of these hold the truth, their median width."""
    report = machine.run([tool, "report", "--json", profile], 60)
    lines = [line for line in json.loads(report.stdout)["lines"] if line["slope_ci"][0] is not None]
    true, held, widths = truths(case), 0, []
    for line in lines:
        low, high = line["slope_ci"]
        held += low <= true[line["line"].rsplit("/", 1)[-1]] <= high
        widths.append(high - low)
    return len(lines), held, round(median(widths), 3) if widths else None


def record(tool, case, iters, seconds, out):
    command = [tool, "run", "-q", "--no-tui", "-o", out, "-P", "progress"]
    command += ["-d", f"{seconds:g}s", "--", case.binary, *arguments(case, iters, seconds + 1)]
    machine.run(command, 3 * seconds + 60)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="cozbpf's (default 60)")
    parser.add_argument("--coz-seconds", type=float, default=180, help="Coz's (default 180)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--before", type=Path, help="an older tool, which takes turns with ours")
    parser.add_argument("--no-coz", dest="coz", action="store_false")
    options = parser.parse_args()
    tools = [BUILD / "cozbpf"] + ([options.before] if options.before else [])
    iters, case = calibrate(), select(["leader"])[0]
    for run in range(1, options.runs + 1):
        with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
            out = Path(folder) / "profile.coz"
            for tool in tools:
                record(tool, case, iters, options.seconds, out)
                answer = answered_at(tools[0], out.read_text(), case.line(), options.seconds)
                found = coverage(tools[0], out, case)
                print(f"run {run}: {tool} {answer}; intervals, holding, width: {found}", flush=True)
                out.unlink()
            if not options.coz or not coz.available():
                continue
            command = ["coz", "run", "-o", out, "-s", "%/many.c", "---", coz.build(case)]
            command += arguments(case, iters, options.coz_seconds)
            machine.run(command, 3 * options.coz_seconds + 60)
            answer = answered_at(tools[0], out.read_text(), case.line(), options.coz_seconds)
            print(f"run {run}: Coz {answer}", flush=True)


if __name__ == "__main__":
    main()
