#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead: throughput under cozbpf against throughput without any profiler, in interleaved pairs.

cozbpf makes baselines only, which have no delays. The kernel's own statistics tell what each BPF
program costs; they are switched on for separate runs and restored afterwards. A third table tells
what a visit to a progress point costs."""

import argparse
import contextlib
import dataclasses
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.dont_write_bytecode = True
import machine  # noqa: E402
import visits  # noqa: E402
from cases import BUILD, Case, calibrate, period_us  # noqa: E402

STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
BPFTOOL = os.environ.get("BPFTOOL", "/usr/sbin/bpftool")
CASES = (
    Case("cpubound", "cpubound"),
    Case("lockheavy", "lockheavy"),
    Case("pingpong, two CPUs", "pingpong", args=("--cpu-a", "0", "--cpu-b", "1")),
    Case("pingpong, one CPU", "pingpong", args=("--cpu-a", "0", "--cpu-b", "0")),
)
# Switches are what waits as units cost: each second some 10,000 and more.
OFF_CPU = tuple(dataclasses.replace(case, name=f"{case.name}, --off-cpu")
    for case in CASES if case.program == "pingpong")
# One half of its visits begin a request, the other half end one, matched by an argument. For the
# cost of hooks only.
SHORT = ("--gap-us", "100", "--service-us", "60")
PAIRS = Case("reqqueue, begins and ends", "reqqueue", args=SHORT)


def workload(case, iters_per_ms, seconds):
    length = ["--iters-per-ms", str(iters_per_ms), "--seconds", f"{seconds:g}"]
    return [str(case.binary), *case.args, *length]


def points(case):
    return ["-L", "request=enqueue..done,key=arg0"] if case is PAIRS else ["-P", "progress"]


def profiled(options, case, command):
    """@command under cozbpf, baselines only, progress point probed as always."""
    words = [options.cozbpf, "run", "-q", "--no-tui", "-o", options.profile, *points(case)]
    words += ["--fixed-line", case.line(), "--fixed-speedup", "0"]
    words += ["--off-cpu"] if case in OFF_CPU else []
    return [*words, *options.extra, "--", *command]


def measured_period_us(command, seconds):
    result, _, _ = machine.run_quiet(command, 3 * seconds + 60)
    if result.status:
        words = result.stderr.strip()[-300:]
        raise SystemExit(f"overhead: {command[0]}: status {result.status}: {words}")
    return period_us(result.stdout), result.others


def measure_pairs(options, case, iters_per_ms):
    """Throughput ratios, with / without, of pairs; which of the two runs first alternates."""
    command, ratios, others = workload(case, iters_per_ms, options.seconds), [], []
    for pair in range(options.pairs):
        runs = [command, profiled(options, case, command)]
        if pair % 2:
            runs.reverse()
        periods = [measured_period_us(words, options.seconds) for words in runs]
        others += [share for _, share in periods]
        periods = [period for period, _ in (reversed(periods) if pair % 2 else periods)]
        ratios.append(periods[0] / periods[1])
    return {"case": case.name, "ratios": ratios, "others": max(others)}


def describe_programs():
    """{program id: name, type, instructions after the verifier} of all programs in the kernel."""
    command = [BPFTOOL, "prog", "show", "--json"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {}
    for p in json.loads(text):
        instructions = p["bytes_xlated"] // 8
        found[p["id"]] = {"name": p.get("name", ""), "type": p["type"]}
        found[p["id"]]["instructions"] = instructions
    return found


def held_programs(pid):
    """{program id: (run_ns, run_count)} of the programs that process @pid holds.

    Another cozbpf on this machine is left out that way."""
    found = {}
    for info in Path(f"/proc/{pid}/fdinfo").glob("*"):
        with contextlib.suppress(OSError):
            lines = info.read_text().splitlines()
            fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            if "run_cnt" in fields:
                found[int(fields["prog_id"])] = (int(fields["run_time_ns"]), int(fields["run_cnt"]))
    return found


def watch_programs(pid, stop, seen):
    """Keeps the last statistics of every program of @pid until @stop: they end with the process."""
    while not stop.wait(0.1):
        held = held_programs(pid)
        if held.keys() - seen.keys():
            known = describe_programs()
            new = held.keys() - seen.keys()
            seen.update({number: dict(known[number]) for number in new if number in known})
        for number in held.keys() & seen.keys():
            seen[number].update(run_ns=held[number][0], run_count=held[number][1])


def measure_hooks(options, case, iters_per_ms):
    """Name, type, instructions, run_ns and run_count of each program over one profiled run."""
    stop, seen, watchers = threading.Event(), {}, []

    def started(pid):
        watchers.append(threading.Thread(target=watch_programs, args=(pid, stop, seen)))
        watchers[0].start()

    command = profiled(options, case, workload(case, iters_per_ms, options.seconds))
    result = machine.run(command, 3 * options.seconds + 60, started)
    stop.set()
    watchers[0].join()
    if result.status:
        words = result.stderr.strip()[-300:]
        raise SystemExit(f"overhead: cozbpf: status {result.status}: {words}")
    for program in seen.values():
        program.update(case=case.name, seconds=options.seconds)
    return [program for program in seen.values() if "run_count" in program]


class KernelStatistics:
    """Switches the kernel's run-time statistics of BPF programs on, and back to what they were."""

    def __enter__(self):
        self.was = STATS.read_text()
        STATS.write_text("1")

    def __exit__(self, *_):
        STATS.write_text(self.was)


def pair_rows(results):
    head = "| workload | throughput with / without | smallest | largest | cost |"
    yield head + "\n" + "|---" * 5 + "|"
    for r in results:
        ratios, remark = r["ratios"], ""
        middle = statistics.median(ratios)
        if r["others"] > machine.QUIET:
            remark = f" (others took up to {100 * r['others']:.0f} % of the CPU)"
        ends = f"{min(ratios):.4f} | {max(ratios):.4f}"
        yield f"| {r['case']}{remark} | {middle:.4f} | {ends} | {100 * (1 - middle):.2f} % |"


def hook_rows(hooks):
    head = "| BPF program | type | instructions | workload | runs a second | ns a run |"
    yield head + "\n" + "|---" * 6 + "|"
    for h in sorted(hooks, key=lambda hook: (hook["name"], hook["case"])):
        each = f"{h['run_ns'] / h['run_count']:.0f}" if h["run_count"] else ""
        program = f"| {h['name']} | {h['type']} | {h['instructions']}"
        yield f"{program} | {h['case']} | {h['run_count'] / h['seconds']:.0f} | {each} |"


def pause_exit_ns(folder):
    """What the way out of a pause's handler costs; the product takes a fixed 1 us for it."""
    binary = Path(folder) / "pause_exit"
    source = Path(__file__).with_name("pause_exit.c")
    subprocess.run(["gcc", "-O2", "-o", str(binary), str(source)], check=True)
    return int(subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="length of a run (default 4)")
    parser.add_argument("--pairs", type=int, default=7,
        help="pairs of runs per workload (default 7)")
    parser.add_argument("--cases", default="",
        help="comma-separated parts of workload names; default: all")
    parser.add_argument("--no-hooks", dest="hooks", action="store_false",
        help="leave out the cost per BPF program")
    parser.add_argument("--no-visits", dest="visits", action="store_false",
        help="leave out the cost per visit")
    parser.add_argument("--patience", type=float, default=20,
        help="seconds to wait for a quiet machine before each run (default 20)")
    parser.add_argument("--json", help="write all figures there")
    parser.add_argument("--markdown", "-o", help="write the tables there too")
    parser.add_argument("--cozbpf", default=os.environ.get("COZBPF", str(BUILD / "cozbpf")))
    parser.add_argument("extra", nargs="*", help="after --: more options for cozbpf")
    options = parser.parse_args(argv)
    machine.Patience.seconds = options.patience
    wanted = [name for name in options.cases.split(",") if name]
    options.cases = [case for case in (*CASES, *OFF_CPU)
        if not wanted or any(name in case.name for name in wanted)]
    return options


def bench(options, iters_per_ms):
    head = f"# Overhead\n\n{os.cpu_count()} CPUs, Linux {platform.release()},"
    head += f" {options.pairs} pairs of {options.seconds:g} s, baselines only.\n"
    pairs = [measure_pairs(options, case, iters_per_ms) for case in options.cases]
    parts = [head, *pair_rows(pairs)]
    print("\n".join(parts), flush=True)
    hooks = []
    if options.hooks:
        with KernelStatistics():
            for case in (*options.cases, PAIRS):
                hooks += measure_hooks(options, case, iters_per_ms)
        way_out = f"Way out of a pause's handler: {pause_exit_ns(options.folder)} ns."
        rows = ["", *hook_rows(hooks), "", way_out]
        print("\n".join(rows))
        parts += rows
    visit_costs = {}
    if options.visits:
        visit_costs = visits.measure(options)
        rows = ["", *visits.rows(visit_costs)]
        print("\n".join(rows))
        parts += rows
    if options.markdown:
        Path(options.markdown).write_text("\n".join(parts) + "\n")
    if options.json:
        figures = {"pairs": pairs, "hooks": hooks, "visits": visit_costs}
        Path(options.json).write_text(json.dumps(figures, indent=1))
    return 0


def main(argv):
    options = parse(argv)
    iters_per_ms = calibrate()
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        options.folder = folder
        options.profile = str(Path(folder) / "profile.coz")
        return bench(options, iters_per_ms)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
