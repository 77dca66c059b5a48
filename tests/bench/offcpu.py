#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Off-CPU accuracy: cozbpf predicts what a shorter wait gains; then the wait really is shorter.

A wait is never shortened by just what was asked for: calls and wake-ups take time too. So half of
the real runs tell by how much it was, and cozbpf predicts for that. Exit status 1 when a case has
no figures."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import accuracy  # noqa: E402
import machine  # noqa: E402
import table  # noqa: E402
from cases import Actual, calibrate, select  # noqa: E402
from waits import WAIT_CASES  # noqa: E402

SECONDS_PER_CELL = 5
REPEATS = 4
PATIENCE_S = 20
COLUMNS = "case | s | true | by arithmetic | predicted | interval | error"
FOOT = """
All figures in percent; `±` and errors in points. s: by how much the wait under test was shortened,
as measured. True: program speedup with that wait and no profiler, median over rounds, `±` its
standard error. By arithmetic: the same of ideal waits. Interval: cozbpf's 95 % confidence interval.
"""


def shortened(actual):
    """{line speedup: by how many percent it has shortened the wait}, for --fixed-speedup."""
    found = {}
    for s in actual.speedups:
        by = actual.shortened(s) if actual.case.is_timed else None
        found[s] = s if by is None else min(100, max(1, round(100 * by)))
    return found


def predict(options, case, iters_per_ms, by):
    """A profile of the wait for what it was shortened @by, as accuracy.cell() wants it."""
    more = [] if case.unit and not case.kind else [f"--off-cpu={case.kind or 'all'}"]
    found = accuracy.profile(options, case, iters_per_ms, sorted(set(by.values())), "0", more)
    return found | {"cells": {s: found["cells"].get(short, {}) for s, short in by.items()}}


def cell(case, actual, record, s, by):
    """One line speedup of a case: its row in the table."""
    found = accuracy.cell(case, actual, record, 0, s) | {"s": by[s], "nominal": s}
    found["analytic"] = case.truth(by[s] / 100) if case.truth else None
    return found


def measure_case(options, case, iters_per_ms):
    """Everything about one case, as it goes to --json."""
    actual = Actual(case, iters_per_ms, options.seconds_per_cell / options.repeats, case.speedups)
    record = {"case": case.name, "line": case.line(), "errors": []}
    record.update(profiles=[], before=[], uprobe=None, coz=None, cells=[])
    try:
        before = options.repeats if options.truth_only else max(1, options.repeats // 2)
        while len(actual.rounds) < before:
            actual.measure_round()
        by = shortened(actual)
        if not options.truth_only:
            record["profiles"].append(predict(options, case, iters_per_ms, by))
    except RuntimeError as error:
        record["errors"].append(str(error))
    while actual.rounds and len(actual.rounds) < options.repeats:
        actual.measure_round()
    record["actual"] = {
        "rounds": [vars(r) for r in actual.rounds],
        "redone": actual.redone,
        "disturbed": actual.disturbed(),
    }
    if actual.rounds:
        record["cells"] = [cell(case, actual, record, s, by) for s in case.speedups]
    return record


def row(c):
    texts = (
        c["case"],
        str(c["s"]),
        f"{table.percent(c['actual'])} ± {table.percent(c['spread'])}",
        table.percent(c["analytic"]),
        table.percent(c["predicted"]),
        " to ".join(table.percent(end) for end in c["interval"] or ()),
        table.signed(c["error"]),
    )
    return f"| {' | '.join(texts)} |"


class Page:
    """Prints as it goes and remembers what it printed."""

    def __init__(self, options, title):
        self.options, self.title, self.parts = options, title, []

    def say(self, text):
        self.parts.append(text)
        print(text, flush=True)

    def head(self):
        o = self.options
        self.say(
            f"# {self.title}\n\n{os.cpu_count()} CPUs, Linux {platform.release()},"
            f" {o.seconds_per_cell:g} s a cell, {o.repeats} rounds of real runs,"
            f" noise: {o.noise} (seed {o.seed}).\n\n| {COLUMNS} |\n{'|---' * 7}|"
        )

    def summary(self, records):
        cells = [c for record in records for c in record["cells"]]
        lines = [f"- {r['case']}: {text}." for r in records for text in table.notes(r)]
        if not self.options.truth_only:
            lines = [table.summary_of("cozbpf", cells, "error"), table.coverage(cells), *lines]
        self.say("\n" + "\n".join(lines) + "\n" + FOOT)


def predicts_waits(tool):
    return "--off-cpu" in machine.run([tool, "run", "--help"], 60).stdout


def parse(argv, cases, description):
    parser = argparse.ArgumentParser(description=description)
    accuracy.add_common(parser, cases)
    parser.add_argument("--truth-only", action="store_true", help="real runs alone, no profiles")
    options = parser.parse_args(argv)
    accuracy.take_common(options, PATIENCE_S, SECONDS_PER_CELL, REPEATS)
    options.cases = select([name for name in options.cases.split(",") if name], cases)
    if not options.truth_only and not predicts_waits(options.cozbpf):
        parser.error(f"'{options.cozbpf}' has no '--off-cpu': give --truth-only")
    return options


def main(argv, cases=WAIT_CASES, title="Off-CPU accuracy", description=__doc__):
    options = parse(argv, cases, description)
    iters_per_ms = calibrate()
    records, page = [], Page(options, title)
    page.head()
    for case in options.cases:
        records.append(measure_case(options, case, iters_per_ms))
        for c in records[-1]["cells"]:
            page.say(row(c))
        if options.json:
            figures = {"iters_per_ms": iters_per_ms, "records": records}
            Path(options.json).write_text(json.dumps(figures, indent=1))
    page.summary(records)
    if options.markdown:
        Path(options.markdown).write_text("\n".join(page.parts))
    return 1 if any(record["errors"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
