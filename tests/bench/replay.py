#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replay: profiles that are there, estimated by several binaries; no profile is made.

Each FOLDER holds what `accuracy.sh --keep FOLDER --json FOLDER/NAME.json` has left: profiles, and
what was really gained. So binaries are compared on the same experiments, and no noise of today
comes between them."""

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import machine  # noqa: E402
from accuracy import ProfileError, predictions  # noqa: E402


def estimate(tool, path, line):
    """What @tool predicts from the profile @path: {s in %: {"predicted", "interval", ...}}."""
    report = machine.run([tool, "report", "--json", path], 120)
    if report.status:
        raise ProfileError(f"{tool} report {path}: {report.stderr.strip()}")
    return predictions(json.loads(report.stdout), line)


def profiles(folder, case):
    """Those of @case, and not of a case whose name goes on, as `procs-3` does."""
    name = re.compile(rf"{re.escape(case)}-\d+\.coz")
    return sorted(path for path in folder.glob("*.coz") if name.fullmatch(path.name))


def replay(tool, folder):
    """[(error, held, width)] in points of all cells of @folder's profiles."""
    found = []
    for file in sorted(folder.glob("*.json")):
        for record in json.loads(file.read_text())["records"]:
            truths = {cell["s"]: cell["actual"] for cell in record["cells"]}
            for path in profiles(folder, record["case"]):
                try:
                    cells = estimate(tool, path, record["line"])
                except ProfileError as error:
                    print(f"left out: {error}", file=sys.stderr)
                    continue
                for s, cell in cells.items():
                    if s in truths and cell["interval"]:
                        low, high = cell["interval"]
                        error = 100 * (cell["predicted"] - truths[s])
                        held = low <= truths[s] <= high
                        found.append((error, held, 100 * (high - low)))
    return found


def row(name, tool, found):
    mean = statistics.mean(abs(error) for error, _, _ in found)
    worst = max((error for error, _, _ in found), key=abs)
    held = sum(held for _, held, _ in found)
    width = statistics.median(width for _, _, width in found)
    return (
        f"| {name} | {tool} | {mean:.2f} | {worst:+.1f} | {held} of {len(found)} | {width:.1f} |"
    )


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--tool", action="append", required=True, help="NAME=PATH of a cozbpf; several times"
    )
    options = parser.parse_args(argv)
    options.tools = [text.split("=", 1) for text in options.tool]
    if any(len(pair) != 2 for pair in options.tools):
        parser.error("--tool wants NAME=PATH")
    return options


def main(argv):
    options = parse(argv)
    print("| profiles | estimated by | mean error | worst | held | median width |")
    print("|---|---|---|---|---|---|")
    for folder in options.folders:
        for name, path in options.tools:
            found = replay(path, folder)
            if not found:
                print(f"{folder}: no profile with a truth; see --help", file=sys.stderr)
                return 1
            print(row(folder.name, name, found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
