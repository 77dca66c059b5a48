#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each accounting rule is worth on real programs.

For each rule accuracy.py profiles with all rules, and by turns with that rule alone turned off.
Needs a tool built with RULE_SWITCHES=1 (rules.sh --real makes that tool) and root."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", default="",
        help="comma-separated cases of accuracy.py (default: all)")
    parser.add_argument("--rules", default="",
        help="comma-separated; A+B are turned off together (default: all, alone)")
    parser.add_argument("--seconds-per-cell", type=float, default=10)
    parser.add_argument("--profiles", type=int, default=4,
        help="profiles of each case: the standard error comes from them (default 4)")
    parser.add_argument("--patience", type=float, default=20,
        help="seconds to wait for a quiet machine before each run (default 20)")
    parser.add_argument("--cozbpf", required=True, help="the tool with switches")
    parser.add_argument("--simulated", required=True,
        help="the simulator's program, which knows the rules")
    return parser.parse_args(argv)


def rule_names(options):
    text = subprocess.check_output([options.simulated, "--names"], text=True)
    known = [line.split("\t")[0] for line in text.splitlines()]
    wanted = [name for name in options.rules.split(",") if name] or known
    unknown = [name for group in wanted for name in group.split("+") if name not in known]
    if unknown:
        sys.exit(f"rules: no rule '{unknown[0]}'")
    return wanted


def run_bench(options, rule, folder):
    """The records of accuracy.py; `before` is the tool without the rule."""
    without, out = Path(folder) / "without", Path(folder) / "out.json"
    tool = Path(options.cozbpf).resolve()
    names = rule.replace("+", ",")
    without.write_text(f'#!/bin/sh\nCOZBPF_RULES_OFF={names} exec {tool} "$@"\n')
    without.chmod(0o755)
    command = [sys.executable, BENCH / "accuracy.py", "--no-coz", "--json", out]
    command += ["--cozbpf", tool, "--before", without, "--profiles", options.profiles]
    command += ["--seconds-per-cell", options.seconds_per_cell]
    command += ["--patience", options.patience, "--cases", options.cases]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=False)
    return json.loads(out.read_text())["records"] if out.exists() else []


def measure(options, rule):
    """{case: {s: [error of each profile, in points]}} with all rules, and without @rule."""
    on, off = {}, {}
    with tempfile.TemporaryDirectory(prefix="cozbpf-rules-") as folder:
        for record in run_bench(options, rule, folder):
            for cell in record["cells"]:
                if cell["sign_only"] or cell["error"] is None or cell["before_error"] is None:
                    continue
                for errors, key in ((on, "error"), (off, "before_error")):
                    cells = errors.setdefault(record["case"], {})
                    cells.setdefault(cell["s"], []).append(100 * cell[key])
    return on, off


def means(errors, cases):
    """Mean absolute error of each profile over the cells of @cases."""
    cells = [values for case in cases for values in errors[case].values()]
    profiles = range(min(map(len, cells)))
    return [statistics.mean(abs(values[i]) for values in cells) for i in profiles]


def compare(on, off, cases):
    """By how much the error grows with the rule off, and the standard error of that."""
    a, b = means(on, cases), means(off, cases)
    spread = [statistics.variance(v) / len(v) if len(v) > 1 else float("nan") for v in (a, b)]
    return statistics.mean(b) - statistics.mean(a), sum(spread) ** 0.5


def worst(errors):
    return max(statistics.mean(map(abs, v)) for cells in errors.values() for v in cells.values())


def row(rule, on, off):
    if not on:
        return f"| {rule} | no figures | | | | |"
    by, se = compare(on, off, on)
    each = {case: compare(on, off, [case]) for case in on}
    moved = {case: by_se for case, by_se in each.items() if abs(by_se[0]) > 2 * by_se[1]}
    most = max(moved, key=lambda case: abs(moved[case][0]), default=None)
    told = f"{moved[most][0]:+.2f} ± {moved[most][1]:.2f} {most}" if most else "-"
    figures = f"{statistics.mean(means(on, on)):.2f} | {by:+.2f} ± {se:.2f}"
    return f"| {rule} | {figures} | {worst(off) - worst(on):+.1f} | {len(moved)} | {told} |"


def main(argv):
    options = parse(argv)
    print("| rule turned off | all rules | mean error | worst | cases | moves most |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for rule in rule_names(options):
        print(row(rule, *measure(options, rule)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
