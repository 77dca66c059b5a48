#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How exact frequencies and averages of `cozbpf blocks` are: those of block_times.c, each beside
the number of its executions and the time that one takes alone.
usage: block_times.py [RUNS [ROUNDS]]   default: 8 runs of 3000 rounds; needs root
"""
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
TOOL = os.path.abspath(os.environ.get("COZBPF", f"{BUILD}/cozbpf"))
PROGRAM = os.path.abspath(f"{BUILD}/tests/bench/block_times")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def alone():
    """name: executions in a round, ns"""
    told = (line.split() for line in output(PROGRAM, "alone").splitlines())
    return {name: (int(n), float(ns)) for name, n, ns in told}


def entries(runs, rounds):
    """function: its block"""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        output(TOOL, "blocks", "-q", "-n", str(runs), "-o", log, "--", PROGRAM, str(rounds))
        report = json.loads(output(TOOL, "blocks", "report", "--json", "--all", "--top", "0", log))
    return {b["function"]: b for b in report["blocks"] if b["function"].startswith("steps_")}


def main():
    runs, rounds = (int(a) for a in (sys.argv[1:] + ["8", "3000"][len(sys.argv) - 1:])[:2])
    before = alone()
    blocks = entries(runs, rounds)
    after = alone()
    print("| one takes | executed | told | off by | average told | off by |")
    print("|---|---|---|---|---|---|")
    for name, (per_round, ns) in before.items():
        ns, n, block = min(ns, after[name][1]), per_round * rounds, blocks.get(name)
        if not block or not block["known"]:
            print(f"| {ns:.0f} ns | {n} | ? | | ? | |")
            continue
        told = sum(r["frequency"] for r in block["in_runs"]) / block["runs"]
        timed = [r["avg_ns"] for r in block["in_runs"] if r["avg_ns"] is not None]
        took = sum(timed) / len(timed) if timed else float("nan")
        print(f"| {ns:.0f} ns | {n} | {told:.0f} | {told / n - 1:+.1%} | {took:.0f} ns"
              f" | {took / ns - 1:+.1%} |")


main()
