#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Overhead: throughput under cozbpf with baselines only (no delays) against throughput without any profiler, in interleaved pairs; and what each BPF program
costs a run, from the kernel's own statistics, which are switched on for separate runs and restored afterwards."""

import argparse
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
from cases import BUILD, Case, calibrate, period_us  # noqa: E402

STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
BPFTOOL = os.environ.get("BPFTOOL", "/usr/sbin/bpftool")
CASES = (
    Case("cpubound", "cpubound"),
    Case("lockheavy", "lockheavy"),
    Case("pingpong, two CPUs", "pingpong", args=("--cpu-a", "0", "--cpu-b", "1")),
    Case("pingpong, one CPU", "pingpong", args=("--cpu-a", "0", "--cpu-b", "0")),
)


def workload(case, iters_per_ms, seconds):
    return [str(case.binary), *case.args, "--iters-per-ms", str(iters_per_ms), "--seconds", f"{seconds:g}"]


def profiled(options, case, command):
    """@command under cozbpf, baselines only, progress point probed as always."""
    fixed = ["--fixed-line", case.line(), "--fixed-speedup", "0"]
    return [options.cozbpf, "run", "-q", "--no-tui", "-o", options.profile, "-P", "progress", *fixed, *options.extra, "--", *command]


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


def bpf_programs(ids=None):
    text = subprocess.run([BPFTOOL, "prog", "show", "--json"], check=True, capture_output=True, text=True).stdout
    return {program["id"]: program for program in json.loads(text) if ids is None or program["id"] in ids}


def instructions(program_id):
    """Instructions after the verifier: lines of the dump that begin with a number."""
    dump = subprocess.run([BPFTOOL, "prog", "dump", "xlated", "id", str(program_id)], capture_output=True, text=True).stdout
    return sum(line.strip().split(":")[0].isdigit() for line in dump.splitlines())


def watch_programs(before, stop, seen):
    """Keeps the last statistics of every program that was not there @before, until @stop: they vanish with the run."""
    while not stop.is_set():
        for number, program in bpf_programs().items():
            if number not in before:
                known = seen.setdefault(number, {"name": program["name"], "type": program["type"], "instructions": instructions(number)})
                known.update(run_ns=program.get("run_time_ns", 0), run_count=program.get("run_cnt", 0))
        stop.wait(0.2)


def measure_hooks(options, case, iters_per_ms):
    """{program id: name, type, instructions, run_ns, run_count} over one profiled run."""
    before, stop, seen = set(bpf_programs()), threading.Event(), {}
    watcher = threading.Thread(target=watch_programs, args=(before, stop, seen))
    watcher.start()
    try:
        command = profiled(options, case, workload(case, iters_per_ms, options.seconds))
        result = machine.run(command, 3 * options.seconds + 60)
    finally:
        stop.set()
        watcher.join()
    if result.status:
        raise SystemExit(f"overhead: cozbpf: status {result.status}: {result.stderr.strip()[-300:]}")
    for program in seen.values():
        program.update(case=case.name, seconds=options.seconds)
    return list(seen.values())


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


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="length of a run (default 4)")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs per workload (default 7)")
    parser.add_argument("--cases", default="", help="comma-separated parts of workload names; default: all")
    parser.add_argument("--no-hooks", dest="hooks", action="store_false", help="leave out the cost per BPF program")
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
            for case in options.cases:
                hooks += measure_hooks(options, case, iters_per_ms)
        rows = ["", *hook_rows(hooks)]
        print("\n".join(rows))
        parts += rows
    if options.markdown:
        Path(options.markdown).write_text("\n".join(parts) + "\n")
    if options.json:
        Path(options.json).write_text(json.dumps({"pairs": pairs, "hooks": hooks}, indent=1))
    return 0


def main(argv):
    options = parse(argv)
    iters_per_ms = calibrate()
    with tempfile.TemporaryDirectory(prefix="cozbpf-bench-") as folder:
        options.profile = str(Path(folder) / "profile.coz")
        return bench(options, iters_per_ms)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
