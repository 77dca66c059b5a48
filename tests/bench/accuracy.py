#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy: cozbpf predicts what a faster line gains; then the line is really made faster.

Coz runs on the same programs beside. Each case is profiled for all line speedups at once, with
--profiles several times. The real runs stand around and between the profiles. Exit status 1 when
--ci finds a cell out of tolerance."""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True
import coz  # noqa: E402
import machine  # noqa: E402
import table  # noqa: E402
from cases import BUILD, CASES, SPEEDUPS, Actual, arguments, calibrate, select  # noqa: E402
from gocases import GO_CASES  # noqa: E402

# --ci: by how many points a prediction may be off by design. These are twice the largest error of
# the case in docs/accuracy.md and in the long run before it, rounded up: CI's machine is less
# quiet. Chance comes on top: the 95 % interval of the prediction and the spread of the real runs
# tell how much. 2.5 half-widths are 4.9 standard deviations, so less than one run in 10,000 fails
# by chance. The cap keeps a disturbed run from passing with any figure.
CI_TOLERANCE = {
    "abab": {50: 2, 100: 2},
    "barrier": {50: 4, 100: 3},
    "sleeper": {50: 1, 100: 1},
    "periodic": {50: 1, 100: 1},
}
CI_HALF_WIDTHS = 2.5
CI_CAP = 25
CI_SECONDS_PER_CELL = 3
QUICK_SECONDS_PER_CELL = 3
QUICK_CASES = ("example", "abab", "oversub", "barrier", "pipe", "sleeper")
GROUPS = {"c": CASES, "go": GO_CASES}
PER_THREAD = "--goroutines=off"  # of a Go program: accounts of threads, not of goroutines


class ProfileError(RuntimeError):
    """cozbpf gave no figures; the text says why."""


def chosen_line(report, line):
    """The entry of the fixed line in a report, at our progress point, which is named 'progress'."""
    names = (line, line.replace("kernel:", "[k]:") + " (inclusive)")
    same = [
        entry
        for entry in report["lines"]
        if entry["line"] in names or entry["line"].endswith("/" + line)
    ]
    ours = [entry for entry in same if entry["progress"] == "progress"] or same
    if not ours:
        known = [entry["line"] for entry in report["lines"]][:5]
        raise ProfileError(f"line '{line}' is not in the report, which has {known}")
    return ours[0]


def predictions(report, line):
    """{s in %: {"predicted", "interval", "experiments", "visits"}} of a cozbpf-report/1."""
    found = {}
    for point in chosen_line(report, line)["points"]:
        found[round(100 * point["line_speedup"])] = {
            "predicted": point["program_speedup"],
            "interval": point.get("ci"),
            "experiments": point.get("experiments"),
            "visits": point.get("visits"),
        }
    return found


def last_words(result):
    words = [text for text in result.stderr.strip().splitlines() if text] or ["no message"]
    return f"status {result.status}{' (timed out)' if result.timed_out else ''}: {words[-1]}"


def take_text(path):
    """Reads and removes a file, so that another run does not append to it; "" without the file."""
    text = path.read_text(errors="replace") if path.exists() else ""
    path.unlink(missing_ok=True)
    return text


def profile(options, case, iters_per_ms, speedups, name, more=(), tool=None):
    """A profile of @case for all of @speedups; --keep keeps it under @name.

    The baselines get as much time as all other cells together."""
    seconds = 2 * options.seconds_per_cell * len(speedups)
    wanted = ",".join(str(s) for s in (0, *speedups))
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        out = Path(folder) / "profile.coz"
        command = [tool or options.cozbpf, "run", "-q", "--no-tui"]
        command += ["-o", out, "-d", f"{seconds:g}s", "-P", case.point]
        command += ["--fixed-line", case.line(), "--fixed-speedup", wanted]
        command += [*options.extra, *more]
        words = arguments(case, iters_per_ms, seconds + 2)
        command = case.profiled(command, iters_per_ms, words)
        result, text, again = machine.run_quiet(
            command, 3 * seconds + 60, lambda: take_text(out), options.tries
        )
        if result.status or result.timed_out or not text:
            raise ProfileError(f"cozbpf run: {last_words(result)}")
        out.write_text(text)
        report = machine.run([options.cozbpf, "report", "--json", out], 120)
        if options.keep:
            Path(options.keep).mkdir(parents=True, exist_ok=True)
            (Path(options.keep) / f"{case.name}-{name}.coz").write_text(text)
    if report.status:
        raise ProfileError(f"cozbpf report: {last_words(report)}")
    cells = predictions(json.loads(report.stdout), case.line())
    return {"cells": cells, "others": result.others, "redone": again}


def take_turns(options, case, iters_per_ms, speedups, nth, record):
    """The @nth profile of our tool and that of --before, now the one first and now the other."""
    tools = [("profiles", options.cozbpf, nth, ())]
    if options.before:
        tools.append(("before", options.before, f"before-{nth}", options.before_words))
    for where, tool, name, more in tools if nth % 2 == 0 else reversed(tools):
        try:
            found = profile(options, case, iters_per_ms, speedups, name, more, tool)
            record[where].append(found)
        except ProfileError as error:
            record["errors"].append(f"{where}: {error}")


def measure_case(options, case, iters_per_ms, speedups):
    """Everything about one case, as it goes to --json."""
    actual = Actual(case, iters_per_ms, options.seconds_per_cell / options.repeats, speedups)
    record = {"case": case.name, "line": case.line(), "errors": [], "profiles": []}
    record.update(before=[], uprobe=None, coz=None)
    for nth in range(options.profiles):
        while len(actual.rounds) < round(options.repeats * (nth + 1) / (options.profiles + 1)):
            actual.measure_round()
        take_turns(options, case, iters_per_ms, speedups, nth, record)
    if options.uprobe:
        try:
            more = ["--sync=uprobe"]
            record["uprobe"] = profile(options, case, iters_per_ms, speedups, "uprobe", more)
        except ProfileError as error:
            record["errors"].append(f"--sync=uprobe: {error}")
    if options.coz:
        record["coz"] = coz.measure(case, iters_per_ms, options.seconds_per_cell, speedups)
    while len(actual.rounds) < options.repeats:
        actual.measure_round()
    record["speed"] = machine.Speed.take()
    record["actual"] = {
        "rounds": [vars(r) for r in actual.rounds],
        "redone": actual.redone,
        "disturbed": actual.disturbed(),
    }
    record["cells"] = [
        cell(case, actual, record, nth, s)
        for s in speedups
        for nth in range(max(1, len(record["profiles"])))
    ]
    return record


def of_profile(profiles, nth, s):
    """What the @nth of @profiles says of the speedup @s; empty where there is none."""
    return profiles[nth]["cells"].get(s, {}) if nth < len(profiles) else {}


def cell(case, actual, record, nth, s):
    ours = of_profile(record["profiles"], nth, s)
    before = of_profile(record["before"], nth, s).get("predicted")
    truth, predicted, interval = actual.median(s), ours.get("predicted"), ours.get("interval")
    theirs = record["coz"]["predicted"].get(s) if record["coz"] else None
    probed = record["uprobe"]["cells"].get(s, {}).get("predicted") if record["uprobe"] else None
    return {
        "case": case.name,
        "s": s,
        "sign_only": case.sign_only,
        "actual": truth,
        "spread": actual.spread(s),
        "analytic": case.truth(s / 100) if case.truth else None,
        "predicted": predicted,
        "error": None if predicted is None else predicted - truth,
        "interval": interval,
        "covered": None if not interval else interval[0] <= truth <= interval[1],
        "before": before,
        "before_error": None if before is None else before - truth,
        "uprobe": probed,
        "uprobe_error": None if probed is None else probed - truth,
        "coz": theirs,
        "coz_error": None if theirs is None else theirs - truth,
    }


def ci_allowed(c):
    """Points that the cell's prediction may differ from the actual gain."""
    low, high = c["interval"]
    chance = 100 * CI_HALF_WIDTHS * (high - low) / 2 + 100 * CI_HALF_WIDTHS * c["spread"]
    return min(CI_CAP, CI_TOLERANCE[c["case"]][c["s"]] + chance)


def ci_failures(cells):
    """What --ci finds wrong.

    Magnitudes are held against what is allowed; sign and order count only where truth and intervals
    leave no doubt."""
    wrong = []
    for c in cells:
        name = f"{c['case']} at {c['s']} %"
        if c["predicted"] is None or not c["interval"]:
            wrong.append(f"{name}: no prediction")
        elif abs(c["error"]) * 100 > ci_allowed(c):
            wrong.append(
                f"{name}: predicted {100 * c['predicted']:.1f} %,"
                f" actual {100 * c['actual']:.1f} %, allowed are {ci_allowed(c):.1f} points"
            )
        elif c["actual"] > 0.05 and c["interval"][1] < 0:
            wrong.append(f"{name}: wrong sign")
    for low in cells:
        for high in cells:
            clear = low["case"] == high["case"] and high["actual"] - low["actual"] > 0.08
            clear = clear and low["interval"] and high["interval"]
            if clear and high["interval"][1] < low["interval"][0]:
                less = f"{high['s']} % is predicted to gain less than {low['s']} %"
                wrong.append(f"{low['case']}: {less}")
    return wrong


def add_common(parser, cases):
    """The options of all benches that hold predictions against real runs."""
    parser.add_argument("--seconds-per-cell", type=float,
        help="per case and line speedup, real and predicted and Coz's each (default 10)")
    parser.add_argument("--repeats", type=int,
        help="rounds of real runs that a cell's time is cut into (default 4)")
    known = " ".join(case.name for case in cases)
    parser.add_argument("--cases", default="", help=f"comma-separated; known: {known}")
    parser.add_argument("--tries", type=int, default=2,
        help="times that a profile is taken when others disturb it (default 2)")
    parser.add_argument("--patience", type=float,
        help="seconds to wait for a quiet machine before each run (default 20, with --ci 3)")
    parser.add_argument("--noise", choices=machine.Noise.KINDS, default="none",
        help="noise made on purpose, in profiles and real runs alike (default none)")
    parser.add_argument("--seed", type=int, default=1, help="of that noise (default 1)")
    parser.add_argument("--json", help="write all figures there")
    parser.add_argument("--markdown", "-o", help="write the table there too")
    parser.add_argument("--keep", help="folder that keeps the profiles")
    parser.add_argument("--cozbpf", default=os.environ.get("COZBPF", str(BUILD / "cozbpf")))
    parser.add_argument("extra", nargs="*",
        help="after --: more options for cozbpf, such as --sync=uprobe")


def take_common(options, patience, seconds_per_cell, repeats):
    """Puts the common options into force; the rest are defaults."""
    machine.Patience.seconds = patience if options.patience is None else options.patience
    machine.Noise.kind, machine.Noise.seed = options.noise, options.seed
    options.seconds_per_cell = options.seconds_per_cell or seconds_per_cell
    options.repeats = options.repeats or repeats


def knows(tool, option):
    return option.partition("=")[0] in machine.run([tool, "run", "--help"], 60).stdout


def choose_cases(options):
    """The named cases of any group, else those of --ci or --quick, else the whole group.

    A Go program has no Coz beside. Once the tool has accounts of goroutines, those of threads stand
    in the column of --before."""
    names = list(CI_TOLERANCE) if options.ci else list(QUICK_CASES) if options.quick else []
    names = [name for name in options.cases.split(",") if name] or names
    known = (*CASES, *GO_CASES) if names else GROUPS[options.group]
    options.cases = select(names, known)
    if not any(case in GO_CASES for case in options.cases):
        return
    options.coz = False
    if not options.before and knows(options.cozbpf, PER_THREAD):
        options.before, options.before_words = options.cozbpf, [PER_THREAD]


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    add_common(parser, (*CASES, *GO_CASES))
    parser.add_argument("--group", choices=GROUPS, default="c",
        help="the cases when none is named (default c)")
    parser.add_argument("--quick", action="store_true",
        help=f"{QUICK_SECONDS_PER_CELL} s a cell, {len(QUICK_CASES)} cases")
    parser.add_argument("--ci", action="store_true",
        help="short form with tolerances; s = 50 and 100, no Coz")
    parser.add_argument("--profiles", type=int, default=1,
        help="profiles of each case, each as long (default 1)")
    parser.add_argument("--before",
        help="another cozbpf, an older one say, whose profiles take turns with ours")
    parser.add_argument("--before-words", type=str.split, default=[],
        help="more options for the profiles of --before, as --before-words=--no-spin")
    parser.add_argument("--uprobe", action="store_true",
        help="another profile of each case with --sync=uprobe")
    parser.add_argument("--no-coz", dest="coz", action="store_false", help="leave Coz out")
    parser.add_argument("--stretch", type=int, default=1,
        help="all work of the cases takes as many times as long, but for their sleeps and timers;"
        " for machines whose samples are dear (default 1)")
    parser.add_argument("--stripped", action="store_true",
        help="functions of the same programs without names (make bench-stripped); with --no-coz")
    options = parser.parse_args(argv)
    short = CI_SECONDS_PER_CELL if options.ci else QUICK_SECONDS_PER_CELL if options.quick else 10
    repeats = 2 if options.ci or options.quick else 4
    take_common(options, 3 if options.ci else 20, short, repeats)
    if options.stretch < 1:
        parser.error("--stretch: 1 or more")
    if options.stripped and options.coz:
        parser.error("--stripped: Coz needs lines, so give --no-coz")
    choose_cases(options)
    if options.stripped:
        options.cases = [replace(c, stripped=True) for c in options.cases if c.can_be_stripped()]
    longer = options.stretch
    options.cases = [
        replace(c, turn_ms=c.turn_ms * longer, cycle_s=c.cycle_s * longer) for c in options.cases
    ]
    if options.ci and any(case.name not in CI_TOLERANCE for case in options.cases):
        parser.error(f"--ci knows {' '.join(CI_TOLERANCE)} only")
    options.coz = options.coz and not options.ci
    if options.coz and not coz.available():
        print("accuracy: coz-profiler is not installed: its columns stay empty", file=sys.stderr)
        options.coz = False
    return options


def main(argv):
    options = parse(argv)
    speedups = (50, 100) if options.ci else SPEEDUPS
    iters_per_ms = calibrate() * options.stretch
    records, tables = [], table.Accuracy(options)
    tables.head(iters_per_ms)
    for case in options.cases:
        records.append(measure_case(options, case, iters_per_ms, speedups))
        tables.rows(records[-1])
        if options.json:
            figures = {
                "iters_per_ms": iters_per_ms,
                "seconds_per_cell": options.seconds_per_cell,
                "noise": options.noise,
                "seed": options.seed,
                "records": records,
            }
            Path(options.json).write_text(json.dumps(figures, indent=1))
    tables.summary(records)
    tables.speed([burst for record in records for burst in record["speed"]])
    if options.markdown:
        Path(options.markdown).write_text(tables.text())
    wrong = ci_failures([c for record in records for c in record["cells"]]) if options.ci else []
    for text in wrong:
        print(f"FAIL {text}")
    return 1 if wrong or any(record["errors"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
