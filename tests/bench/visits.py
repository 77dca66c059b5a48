# SPDX-License-Identifier: BSD-3-Clause
"""What a visit to a progress point of each kind costs the program.

Turns of a loop with probes are held against turns without, in interleaved pairs."""

import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPPED = "stepped=visit_stepped"
GETPPID = "tracepoint:syscalls:sys_enter_getppid"
KINDS = (
    # name in the program, what it is, its progress point; the marker is an ordinary static probe
    ("stepped", "function whose first instruction is stepped singly", "-P", STEPPED),
    ("cheap", "function with an instruction that is emulated", "-P", "cheap=visit_cheap"),
    ("return", "return of a function", "-P", "return=uretprobe:{binary}:visit_return"),
    ("marker", "marker of coz.h, USDT", "-P", "marker=usdt:{binary}:coz:progress"),
    ("tracepoint", "tracepoint of a system call", "-P", f"tracepoint={GETPPID}"),
    ("latency", "latency pair, both ends", "-L", "latency=visit_begin..visit_end"),
)


def build(folder):
    binary = Path(folder) / "visits"
    source = Path(__file__).with_name("visits.c")
    command = ["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-I", str(ROOT / "include")]
    subprocess.run([*command, "-o", str(binary), str(source)], check=True)
    return binary


def turns(command):
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {kind: float(ns) for kind, ns in (line.split() for line in text.splitlines())}


def measure(options):
    """{kind: [ns of a visit, one per pair]}"""
    binary = build(options.folder)
    points = [word.format(binary=binary) for _, _, *words in KINDS for word in words]
    lab = ["--fixed-line", "visits.c:" + line_of("while (now_ns()"), "--fixed-speedup", "0"]
    probed = [options.cozbpf, "run", "-q", "--no-tui", "-o", options.profile]
    probed += [*points, *lab, "--", str(binary)]
    found = {kind: [] for kind, *_ in KINDS}
    for _ in range(options.pairs):
        plain, visited = turns([str(binary)]), turns(probed)
        for kind, values in found.items():
            values.append(visited[kind] - plain[kind])
    return found


def line_of(text):
    lines = Path(__file__).with_name("visits.c").read_text().splitlines()
    return str(1 + next(i for i, line in enumerate(lines) if text in line))


def rows(found):
    yield "| a visit to | ns, median | smallest | largest |\n|---|---|---|---|"
    for kind, what, *_ in KINDS:
        values = found[kind]
        middle = statistics.median(values)
        yield f"| {what} | {middle:.0f} | {min(values):.0f} | {max(values):.0f} |"
