# SPDX-License-Identifier: BSD-3-Clause
"""The accuracy bench as a Markdown page: rows as they come, then the summary. No measuring here."""

import math
import os
import platform
import statistics

FOOT = """
All figures in percent; errors and `±` in points. Actual: program speedup with the line really made
faster and no profiler, median over rounds, `±` its standard error. Interval: cozbpf's 95 %
confidence interval. Covered: whether it held the actual figure. uprobe: one profile with
`--sync=uprobe`. Coz: Debian's coz-profiler 0.2.2, same line, same time per cell.
"""


def percent(value, digits=1):
    return "" if value is None else f"{100 * value:.{digits}f}"


def signed(value):
    return "" if value is None else f"{100 * value:+.1f}"


def mean_absolute(errors):
    return sum(abs(error) for error in errors) / len(errors)


def row(cells):
    """One line speedup of a case, which @cells has once for each profile.

    Of several intervals the median ends are shown."""
    first = cells[0]
    intervals = [c["interval"] for c in cells if c["interval"]]
    interval = " to ".join(percent(statistics.median(end)) for end in zip(*intervals))
    covered = sum(c["covered"] for c in cells if c["interval"])
    n = len(intervals)
    told = {0: "no", n: "yes"}.get(covered, f"{covered} of {n}") if n else ""
    texts = (
        first["case"],
        str(first["s"]),
        f"{percent(first['actual'])} ± {percent(first['spread'])}",
        " ".join(percent(c["predicted"]) for c in cells),
        " ".join(signed(c["error"]) for c in cells),
        interval,
        told,
        " ".join(signed(c.get("before_error")) for c in cells),
        signed(first.get("uprobe_error")),
        percent(first["coz"]),
        signed(first["coz_error"]),
    )
    return f"| {' | '.join(texts)} |"


def sign(cells):
    """For the cases of which only the sign means something: how many intervals lie on its side."""
    known = [c for c in cells if c["sign_only"] and c["interval"]]
    if not known:
        return ""
    right = 0
    for c in known:
        low, high = c["interval"]
        right += low > 0 if c["actual"] > 0 else high < 0
    return (
        f"\n- {', '.join(sorted({c['case'] for c in known}))}: the sign alone counts,"
        " and no other line of this summary has it:"
        f" {right} of {len(known)} intervals lie on the right side of 0."
    )


def summary_of(name, cells, key):
    """Mean absolute error, median, worst cell of the figures under @key."""
    known = [c for c in cells if c.get(key) is not None]
    if not known:
        return f"- {name}: no figures."
    errors = sorted(abs(c[key]) for c in known)
    worst = max(known, key=lambda c: abs(c[key]))
    return (
        f"- {name}: mean absolute error {100 * mean_absolute(errors):.2f} points"
        f" over {len(known)} of {len(cells)} cells, median"
        f" {100 * errors[len(errors) // 2]:.2f},"
        f" worst {signed(worst[key])} ({worst['case']} at {worst['s']} %)."
    )


def coverage(cells):
    """How many intervals held the actual figure, strictly, and with its own uncertainty granted.

    That is two standard errors, added in quadrature, since the two errors are independent."""
    known = [c for c in cells if c["interval"]]
    if not known:
        return "- Coverage: no intervals."
    strict = sum(c["covered"] for c in known)
    granted = 0
    for c in known:
        half = (c["interval"][1] - c["interval"][0]) / 2
        granted += c["covered"] or abs(c["error"]) <= math.hypot(half, 2 * c["spread"])
    width = sorted(c["interval"][1] - c["interval"][0] for c in known)[len(known) // 2]
    return (
        f"- Coverage: {strict} of {len(known)} intervals held the actual figure"
        f" ({100 * strict / len(known):.0f} %); {granted} when the actual figure's own"
        f" spread is granted. Median width {100 * width:.1f} points."
    )


def against_coz(cells):
    both = [c for c in cells if c["error"] is not None and c["coz_error"] is not None]
    off = [c for c in both if abs(c["coz_error"]) > 0.03]
    lower = [c for c in off if abs(c["error"]) < abs(c["coz_error"])]
    if not both:
        return "- Against Coz: no cells with both figures."
    ours, theirs = (100 * mean_absolute([c[key] for c in both]) for key in ("error", "coz_error"))
    return (
        f"- Against Coz, on the {len(both)} cells that have both: mean absolute error"
        f" {ours:.2f} points, Coz's {theirs:.2f}. Coz is off by more than 3 points"
        f" in {len(off)} of them; cozbpf is nearer in {len(lower)} of those."
    )


def against_before(cells):
    """Both tools on the same cells.

    A cell is worse when its mean error grew by more than twice the standard error of the two
    tools' profiles."""
    both = [c for c in cells if c["error"] is not None and c.get("before_error") is not None]
    if not both:
        return "- Before: no cells with both figures."
    ours, theirs = (mean_absolute([c[key] for c in both]) for key in ("error", "before_error"))
    worse = []
    for case, s in dict.fromkeys((c["case"], c["s"]) for c in both):
        mine = [c for c in both if (c["case"], c["s"]) == (case, s)]
        after, before = ([c[key] for c in mine] for key in ("error", "before_error"))
        grown = abs(statistics.mean(after)) - abs(statistics.mean(before))
        if len(mine) > 1 and grown > 2 * error_of_difference(after, before):
            worse.append(f"{case} at {s} % by {100 * grown:.1f}")
    return (
        f"- Against --before, on {len(both)} figures: mean absolute error {100 * ours:.2f} "
        f"points, before {100 * theirs:.2f}. Worse by more than twice the standard error: "
        f"{', '.join(worse) or 'none'}."
    )


def error_of_difference(after, before):
    """Standard error of the difference of two means."""
    return math.sqrt(sum(statistics.variance(v) / len(v) for v in (after, before)))


def notes(record):
    """What disturbed a case, or made it fail."""
    found = []
    found += [f"cozbpf gave no figures: {error}" for error in record["errors"]]
    disturbed, rounds = record["actual"]["disturbed"], len(record["actual"]["rounds"])
    if disturbed:
        found.append(f"{disturbed} of {rounds} rounds of real runs were disturbed by others")
    runs = [("cozbpf", profile) for profile in record["profiles"]]
    runs += [("--sync=uprobe", record["uprobe"]), ("Coz", record["coz"])]
    for name, run in runs:
        if run and run["others"] > 0.1:
            found.append(f"others took {100 * run['others']:.0f} % of the CPU during {name}'s runs")
    if record["coz"] and record["coz"]["failures"]:
        found.append(f"Coz failed: {', '.join(record['coz']['failures'])}")
    return found


class Accuracy:
    """Prints as it goes and remembers what it printed."""

    def __init__(self, options):
        self.options, self.parts = options, []

    def _say(self, text):
        self.parts.append(text)
        print(text, flush=True)

    def head(self, iters_per_ms):
        o = self.options
        self._say(
            f"# Accuracy\n\n{os.cpu_count()} CPUs, Linux {platform.release()},"
            f" {o.seconds_per_cell:g} s a cell, {o.repeats} rounds of real runs,"
            f" {o.profiles} profiles of each case, noise: {o.noise} (seed {o.seed}).\n"
        )
        columns = "case | s | actual | predicted | error | interval | covered"
        columns += " | before | uprobe error | Coz | Coz error"
        self._say(f"| {columns} |\n" + "|---" * 11 + "|")

    def rows(self, record):
        for s in dict.fromkeys(c["s"] for c in record["cells"]):
            self._say(row([c for c in record["cells"] if c["s"] == s]))

    def summary(self, records):
        all_cells = [c for record in records for c in record["cells"]]
        cells = [c for c in all_cells if not c["sign_only"]]
        # Coz has one figure where there are several profiles.
        once = list({(c["case"], c["s"]): c for c in cells}.values())
        ours, theirs = summary_of("cozbpf", cells, "error"), summary_of("Coz", once, "coz_error")
        before = [against_before(cells)] if self.options.before else []
        probed = [summary_of("cozbpf --sync=uprobe", once,
            "uprobe_error")] if self.options.uprobe else []
        lines = [ours, coverage(cells), *before, *probed, theirs, against_coz(once)]
        self._say("\n" + "\n".join(lines) + sign(all_cells))
        remarks = [f"- {record['case']}: {text}." for record in records for text in notes(record)]
        if remarks:
            self._say("\nRemarks:\n\n" + "\n".join(remarks))
        self._say(FOOT)

    def speed(self, bursts):
        """How the machine's own speed moved while the bench ran."""
        turns = sorted(turn for burst in bursts for turn in burst)
        p1, p50, p99 = (turns[len(turns) * share // 100] for share in (1, 50, 99))
        medians = sorted(statistics.median(burst) for burst in bursts)
        self._say(
            f"\nA fixed loop on each CPU, between the runs and without noise: {len(turns)} turns, "
            f"p1 {p1:.0f} us of CPU time, p50 {p50:.0f}, p99 {p99:.0f}; medians of the "
            f"{len(bursts)} bursts from {medians[0]:.0f} to {medians[-1]:.0f}."
        )

    def text(self):
        return "\n".join(self.parts)
