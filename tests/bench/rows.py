#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rows: runs of the accuracy bench, of one case or many each, as one table for docs/accuracy.md.

    tests/bench/rows.py [--cases A,B] FILE.json...

A row for each case, then the mean error, the coverage, and the error of the method: what has to be
added in quadrature, as a share of the gain, for 95 % of the intervals to hold."""

import argparse
import json
import math
import statistics
import sys
from pathlib import Path

LEAST_GAIN = 0.05  # smaller gains tell nothing of a share of the gain


def read(files, cases):
    """The records of all files, without cases whose sign alone counts."""
    for file in files:
        for record in json.loads(Path(file).read_text())["records"]:
            if (not cases or record["case"] in cases) and record["cells"]:
                yield record


def mean(values):
    known = [v for v in values if v is not None]
    return statistics.mean(known) if known else None


def row(record):
    """Of several profiles the mean error; each has its interval."""
    by_s = {}
    for c in record["cells"]:
        by_s.setdefault(c["s"], []).append(c)
    actual = " ".join(f"{100 * cells[0]['actual']:.0f}" for cells in by_s.values())
    means = [mean(c["error"] for c in cells) for cells in by_s.values()]
    errors = " ".join("-" if error is None else f"{100 * error:+.1f}" for error in means)
    told = [c for c in record["cells"] if c["interval"]]
    held = f"{sum(c['covered'] for c in told)} of {len(told)}"
    return f"| {record['case']} | {actual} | {errors} | {held} |"


def method_share(cell, contained):
    """What would have to be added for this cell's interval to hold; 0: nothing."""
    half = (cell["interval"][1] - cell["interval"][0]) / 2
    scatter = math.hypot(max(0, half**2 - (contained * cell["predicted"]) ** 2) ** 0.5,
                         2 * cell["spread"])
    return max(0, cell["error"] ** 2 - scatter**2) ** 0.5 / abs(cell["predicted"])


def summary(cells, contained):
    errors = [100 * abs(c["error"]) for c in cells]
    widths = [100 * (c["interval"][1] - c["interval"][0]) for c in cells]
    worst = max(cells, key=lambda c: abs(c["error"]))
    held = sum(c["covered"] for c in cells)
    granted = sum(
        c["covered"]
        or abs(c["error"]) <= math.hypot((c["interval"][1] - c["interval"][0]) / 2, 2 * c["spread"])
        for c in cells
    )
    shares = sorted(method_share(c, contained) for c in cells if c["predicted"] >= LEAST_GAIN)
    print(
        f"\n{len(cells)} figures: mean error {statistics.mean(errors):.2f} points, median"
        f" {statistics.median(errors):.2f}, worst {100 * worst['error']:+.1f}"
        f" ({worst['case']} at {worst['s']} %).\n{held} intervals held"
        f" ({100 * held / len(cells):.0f} %), {granted} with the actual figures' own spread"
        f" granted. Median width {statistics.median(widths):.1f} points."
    )
    if shares:
        print(
            f"Error of the method, for 95 % of {len(shares)} intervals to hold:"
            f" {100 * shares[math.ceil(0.95 * len(shares)) - 1]:.1f} % of the gain;"
            f" for 90 %: {100 * shares[math.ceil(0.9 * len(shares)) - 1]:.1f} %."
        )


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--cases", default="", help="of these alone, by commas")
    parser.add_argument("--contained", type=float, default=0.13,
        help="what the intervals contain of that: METHOD_ERROR of user/core/estimate/private.h")
    return parser.parse_args(argv)


def main(argv):
    options = parse(argv)
    records = list(read(options.files, [c for c in options.cases.split(",") if c]))
    print("| case | actual, s = 25 50 75 100 | error | held |\n|---|---|---|---|")
    for record in records:
        print(row(record))
    cells = [c for r in records for c in r["cells"]]
    known = [c for c in cells if c["interval"] and not c["sign_only"]]
    if known:
        summary(known, options.contained)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
