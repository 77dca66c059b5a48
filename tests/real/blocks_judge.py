#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges frequencies of `cozbpf blocks report --json` by exact counts: those of callgrind, run on
the same command with --dump-instr=yes --skip-plt=no. A block is executed as often as its first
instruction. Exits with 1 where one that matters is off by more than 10 % and three standard errors.
usage: blocks_judge.py CALLGRIND.OUT REPORT.JSON [OBJECT...]   (default: all objects)"""
import json
import math
import os
import re
import struct
import sys

TOLERANCE = 0.10
LEAST = 1000  # executions: fewer are a matter of luck where windows are random
LEAST_SHARE = 0.01  # of the run's time, with what a block calls
PT_LOAD = 1


class Counts:
    """How often each instruction was executed, by the base name of its object and its address."""

    def __init__(self, path):
        self.objects, self.names, self.executed = {}, {}, None
        self.address, self.is_call = 0, False
        with open(path) as lines:
            for line in lines:
                self.take(line.rstrip("\n"))

    def take(self, line):
        named = re.match(r"(c?ob)=\((\d+)\)(?: (.*))?$", line)
        if named:
            kind, number, path = named.groups()
            if path:
                self.names[number] = os.path.basename(path)
            if kind == "ob":
                self.executed = self.objects.setdefault(self.names[number], {})
        elif line.startswith("calls="):
            self.is_call = True  # the next line has what was called, added up
        elif line[:1] and line[0] in "0123456789+-*":
            self.take_cost(line.split())

    def take_cost(self, fields):
        at = fields[0]
        if at[0] in "+-":
            self.address += int(at, 0)
        elif at != "*":
            self.address = int(at, 0)
        if not self.is_call and self.executed is not None and len(fields) > 2:
            self.executed[self.address] = self.executed.get(self.address, 0) + int(fields[2])
        self.is_call = False


def segments(path):
    """(file offset, address, size) of what a 64-bit object has loaded."""
    with open(path, "rb") as f:
        head = f.read(64)
        table, size, n = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        for i in range(n):
            f.seek(table + i * size)
            kind, _, offset, address, _, file_size = struct.unpack("<IIQQQQ", f.read(40))
            if kind == PT_LOAD:
                yield offset, address, file_size


def address_of(path, offset):
    for start, address, size in segments(path):
        if start <= offset < start + size:
            return address + offset - start
    return None


def judged(counts, report, objects):
    """(block, estimate, standard error, exact count) of those that matter, on average over runs.

    What the report calls not known has an estimate of None."""
    for block in report["blocks"]:
        name = os.path.basename(block["object"])
        if objects and name not in objects:
            continue
        runs = block["in_runs"]
        estimate = sum(r["frequency"] for r in runs) / len(runs)
        se = math.sqrt(sum((r["frequency_se"] or 0) ** 2 for r in runs)) / len(runs)
        estimate = estimate if block["known"] else None
        at = address_of(block["object"], block["start"])
        exact = counts.objects.get(name, {}).get(at, 0)
        share = block["significance_ns"] / block["run_ns"] if block["run_ns"] else 0
        if exact >= LEAST and share >= LEAST_SHARE:
            yield block, estimate, se, exact


def main():
    counts = Counts(sys.argv[1])
    with open(sys.argv[2]) as f:
        report = json.load(f)
    n = n_bad = n_known = 0
    print(f"{'block':44} {'exact':>14} {'estimated':>14} {'error':>8} {'of that 1 se':>12}")
    for block, estimate, se, exact in judged(counts, report, sys.argv[3:]):
        n += 1
        if estimate is None:
            continue
        n_known += 1
        off = estimate / exact - 1
        is_bad = abs(estimate - exact) > TOLERANCE * exact + 3 * se
        name = f"{block['function']}+0x{block['offset']:x} {block['lines'] or ''}"
        print(f"{name:44.44} {exact:14} {estimate:14.0f} {off:+8.1%} {se / exact:12.1%}"
              f"{'  bad' if is_bad else ''}")
        n_bad += is_bad
    print(f"{n} blocks, {n_known} of them known,"
          f" {n_bad} off by more than {TOLERANCE:.0%} and 3 standard errors")
    sys.exit(not n or n_bad > 0)


main()
