#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each accounting rule is worth on real programs: accuracy.py with all rules, then with each rule alone turned off. Needs a tool built with
RULE_SWITCHES=1 (rules.sh --real makes it) and root."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", default="", help="comma-separated cases of accuracy.py (default: all)")
    parser.add_argument("--rules", default="", help="comma-separated (default: all)")
    parser.add_argument("--seconds-per-cell", type=float, default=10)
    parser.add_argument("--profiles", type=int, default=4, help="profiles of each case: the standard error comes from them (default 4)")
    parser.add_argument("--patience", type=float, default=20, help="seconds to wait for a quiet machine before each run (default 20)")
    parser.add_argument("--simulated", required=True, help="the simulator's program, which knows the rules")
    return parser.parse_args(argv)


def rule_names(options):
    known = [line.split("\t")[0] for line in subprocess.check_output([options.simulated, "--names"], text=True).splitlines()]
    wanted = [name for name in options.rules.split(",") if name] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"rules: no rule '{unknown[0]}'")
    return wanted


def measure(options, rule):
    """{case: {s: [error of each profile, in points]}} with one rule off; None: all on."""
    env = dict(os.environ, COZBPF_RULES_OFF=rule or "")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [sys.executable, BENCH / "accuracy.py", "--no-coz", "--json", out.name, "--profiles", options.profiles]
        command += ["--seconds-per-cell", options.seconds_per_cell, "--patience", options.patience, "--cases", options.cases]
        subprocess.run([str(word) for word in command], env=env, stdout=subprocess.DEVNULL, check=False)
        text = Path(out.name).read_text()
    errors = {}
    for record in json.loads(text)["records"] if text else []:
        for cell in record["cells"]:
            if cell["error"] is not None and not cell["sign_only"]:
                errors.setdefault(record["case"], {}).setdefault(cell["s"], []).append(100 * cell["error"])
    return errors


def means(errors, cases):
    """Mean absolute error of each profile over the cells of @cases."""
    cells = [values for case in cases for values in errors[case].values()]
    return [statistics.mean(abs(values[i]) for values in cells) for i in range(min(map(len, cells)))]


def compare(on, off, cases):
    """By how much the error grows with the rule off, and the standard error of that."""
    a, b = means(on, cases), means(off, cases)
    spread = [statistics.variance(v) / len(v) if len(v) > 1 else float("nan") for v in (a, b)]
    return statistics.mean(b) - statistics.mean(a), sum(spread) ** 0.5


def worst(errors):
    return max(statistics.mean(map(abs, values)) for cells in errors.values() for values in cells.values())


def row(rule, on, off):
    cases = [case for case in on if case in off]
    if not cases:
        return f"| {rule} | no figures | | | |"
    by, se = compare(on, off, cases)
    moved = {case: compare(on, off, [case]) for case in cases}
    moved = {case: (case_by, case_se) for case, (case_by, case_se) in moved.items() if abs(case_by) > 2 * case_se}
    most = max(moved, key=lambda case: abs(moved[case][0]), default=None)
    told = f"{moved[most][0]:+.2f} ± {moved[most][1]:.2f} {most}" if most else "-"
    return f"| {rule} | {by:+.2f} ± {se:.2f} | {worst(off) - worst(on):+.1f} | {len(moved)} | {told} |"


def main(argv):
    options = parse(argv)
    rules = rule_names(options)
    on = measure(options, None)
    if not on:
        sys.exit("rules: accuracy.py gave no figures")
    cells = sum(len(cells) for cells in on.values())
    print(f"{cells} cells, {options.profiles} profiles of each; all rules: mean error {statistics.mean(means(on, on)):.2f}, worst {worst(on):.1f} points\n")
    print("| rule turned off | mean error | worst | cases | moves most |\n| --- | --- | --- | --- | --- |", flush=True)
    for rule in rules:
        print(row(rule, on, measure(options, rule)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
