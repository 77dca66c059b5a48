#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead: throughput under cozbpf with baselines only (no delays) against throughput without any profiler, in interleaved pairs; what each BPF program
costs a run, from the kernel's own statistics, which are switched on for separate runs and restored afterwards; what a visit to a progress point costs."""

import argparse
import contextlib
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


# Of its visits one half begin a request, the other half end one, matched by an argument; for the cost of hooks only.
PAIRS = Case("reqqueue, begins and ends", "reqqueue", args=("--gap-us", "100", "--service-us", "60"))


def workload(case, iters_per_ms, seconds):
    return [str(case.binary), *case.args, "--iters-per-ms", str(iters_per_ms), "--seconds", f"{seconds:g}"]


def points(case):
    return ["-L", "request=enqueue..done,key=arg0"] if case is PAIRS else ["-P", "progress"]


def profiled(options, case, command):
    """@command under cozbpf, baselines only, progress point probed as always."""
    fixed = ["--fixed-line", case.line(), "--fixed-speedup", "0"]
    return [options.cozbpf, "run", "-q", "--no-tui", "-o", options.profile, *points(case), *fixed, *options.extra, "--", *command]


def measured_period_us(command, seconds):
    result, _, _ = machine.run_quiet(command, 3 * seconds + 60)
    if result.status:
        raise SystemExit(f"overhead: {command[0]}: status {result.status}: {result.stderr.strip()[-300:]}")
    return period_us(result.stdout), result.others


def measure_pairs(options, case, iters_per_ms):
    """Throughput ratios, with / without, of pairs taken one after the other; which of the two comes first alternates."""
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
    text = subprocess.run([BPFTOOL, "prog", "show", "--json"], check=True, capture_output=True, text=True).stdout
    return {p["id"]: {"name": p.get("name", ""), "type": p["type"], "instructions": p["bytes_xlated"] // 8} for p in json.loads(text)}


def held_programs(pid):
    """{program id: (run_ns, run_count)} of the programs that process @pid holds, so that another cozbpf on this machine is left out."""
    found = {}
    for info in Path(f"/proc/{pid}/fdinfo").glob("*"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":\t", 1) for line in info.read_text().splitlines() if ":\t" in line)
            if "run_cnt" in fields:
                found[int(fields["prog_id"])] = (int(fields["run_time_ns"]), int(fields["run_cnt"]))
    return found


def watch_programs(pid, stop, seen):
    """Keeps the last statistics of every program of @pid until @stop: they vanish with the process."""
    while not stop.wait(0.1):
        held = held_programs(pid)
        if held.keys() - seen.keys():
            known = describe_programs()
            seen.update({number: dict(known[number]) for number in held.keys() - seen.keys() if number in known})
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
        raise SystemExit(f"overhead: cozbpf: status {result.status}: {result.stderr.strip()[-300:]}")
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
    yield "| workload | throughput with / without | smallest | largest | cost |\n|---|---|---|---|---|"
    for r in results:
        middle = statistics.median(r["ratios"])
        remark = f" (others took up to {100 * r['others']:.0f} % of the CPU)" if r["others"] > machine.QUIET else ""
        yield f"| {r['case']}{remark} | {middle:.4f} | {min(r['ratios']):.4f} | {max(r['ratios']):.4f} | {100 * (1 - middle):.2f} % |"


def hook_rows(hooks):
    yield "| BPF program | type | instructions | workload | runs a second | ns a run |\n|---|---|---|---|---|---|"
    for h in sorted(hooks, key=lambda hook: (hook["name"], hook["case"])):
        each = f"{h['run_ns'] / h['run_count']:.0f}" if h["run_count"] else ""
        yield f"| {h['name']} | {h['type']} | {h['instructions']} | {h['case']} | {h['run_count'] / h['seconds']:.0f} | {each} |"


def pause_exit_ns(folder):
    """What the way out of a pause's handler costs; the product takes a fixed 1 us for it."""
    binary = Path(folder) / "pause_exit"
    subprocess.run(["gcc", "-O2", "-o", str(binary), str(Path(__file__).with_name("pause_exit.c"))], check=True)
    return int(subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="length of a run (default 4)")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs per workload (default 7)")
    parser.add_argument("--cases", default="", help="comma-separated parts of workload names; default: all")
    parser.add_argument("--no-hooks", dest="hooks", action="store_false", help="leave out the cost per BPF program")
    parser.add_argument("--no-visits", dest="visits", action="store_false", help="leave out the cost per visit")
    parser.add_argument("--patience", type=float, default=20, help="seconds to wait for a quiet machine before each run (default 20)")
    parser.add_argument("--json", help="write all figures there")
    parser.add_argument("--markdown", "-o", help="write the tables there too")
    parser.add_argument("--cozbpf", default=os.environ.get("COZBPF", str(BUILD / "cozbpf")))
    parser.add_argument("extra", nargs="*", help="after --: more options for cozbpf")
    options = parser.parse_args(argv)
    machine.Patience.seconds = options.patience
    wanted = [name for name in options.cases.split(",") if name]
    options.cases = [case for case in CASES if not wanted or any(name in case.name for name in wanted)]
    return options


def bench(options, iters_per_ms):
    head = f"# Overhead\n\n{os.cpu_count()} CPUs, Linux {platform.release()}, {options.pairs} pairs of {options.seconds:g} s, baselines only.\n"
    pairs = [measure_pairs(options, case, iters_per_ms) for case in options.cases]
    parts = [head, *pair_rows(pairs)]
    print("\n".join(parts), flush=True)
    hooks = []
    if options.hooks:
        with KernelStatistics():
            for case in (*options.cases, PAIRS):
                hooks += measure_hooks(options, case, iters_per_ms)
        rows = ["", *hook_rows(hooks), "", f"Way out of a pause's handler: {pause_exit_ns(options.folder)} ns."]
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
        Path(options.json).write_text(json.dumps({"pairs": pairs, "hooks": hooks, "visits": visit_costs}, indent=1))
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
