#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two reports of one program, by different progress points: prints the first three of each ranking,
and after them what is not ranked for lack of data. Succeeds when the first three of each are ranked
in the other one, with the same signs, in the same order where intervals tell two of them apart. So
two functions whose intervals overlap may share the third place.
usage: servers.py AUTO.json HAND.json"""

import json
import sys

SHOWN = 3


def ranking(path):
    """Lines of the report's first point whose interval is known, those that are ranked first."""
    try:
        with open(path, encoding="utf-8") as report:
            lines = json.load(report)["lines"]
    except (OSError, ValueError, KeyError):
        return []
    known = [
        line
        for line in lines
        if line["progress"] == lines[0]["progress"] and None not in line["slope_ci"]
    ]
    return sorted(known, key=lambda line: (not is_ranked(line), -line["slope_ci"][0]))


def is_ranked(line):
    return line["verdict"] != "not-enough-data"


def show(title, lines):
    print(f"{title}:")
    for line in lines[:SHOWN]:
        low, high = line["slope_ci"]
        rest = "" if is_ranked(line) else "  (not enough data)"
        print(f"  {line['line']:40} {line['slope']:+.2f}  {low:+.2f} .. {high:+.2f}{rest}")


def is_apart(better, worse):
    return better["slope_ci"][0] > worse["slope_ci"][1]


def is_reversed(here, there, a, b):
    """Whether @a is certainly better than @b here, and not better there."""
    return is_apart(here[a], here[b]) and there[a]["slope"] <= there[b]["slope"]


def main():
    auto, hand = (ranking(path) for path in sys.argv[1:3])
    show("without -P", auto)
    show("by hand", hand)
    auto, hand = (
        {line["line"]: line for line in lines if is_ranked(line)} for lines in (auto, hand)
    )
    first = {name for lines in (auto, hand) for name in list(lines)[:SHOWN]}
    both = [name for name in first if name in auto and name in hand]
    signs = all((auto[name]["slope"] > 0) == (hand[name]["slope"] > 0) for name in both)
    order = not any(
        is_reversed(auto, hand, a, b) or is_reversed(hand, auto, a, b) for a in both for b in both
    )
    print(
        f"ranked: {len(auto)} without -P, {len(hand)} by hand;",
        f"of {len(first)} that are among the first three once, {len(both)} are ranked twice;",
        f"order {'agrees' if order else 'differs'}, signs {'agree' if signs else 'differ'}",
    )
    return 0 if SHOWN <= len(both) == len(first) and order and signs else 1


if __name__ == "__main__":
    sys.exit(main())
