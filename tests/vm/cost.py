#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tool costs on the kernel under test, in instructions executed: "cost NAME NUMBER" lines.

It runs in a guest whose clock counts instructions (VM_COUNT of tests/vm/boot.sh; cost.sh boots it),
so what the benches take for nanoseconds are instructions."""

import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import overhead  # noqa: E402
import visits  # noqa: E402

SECONDS = "3"  # bpftool, which names the programs, may take one
# What runs so often that its cost matters. A mode of pausing has a program of samples of its own.
HOOKS = ("on_sample", "on_sample_plain", "on_switch", "on_waking", "on_timer_entry",
    "on_timer_exit", "on_visit")


def main():
    options = overhead.parse(["--pairs", "1", "--seconds", SECONDS, "--cases", "one CPU"])
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        options.profile = str(Path(folder) / "profile.coz")
        for kind, values in visits.measure(options).items():
            print(f"cost visit-{kind} {values[0]:.0f}")
        with overhead.KernelStatistics():
            hooks = overhead.measure_hooks(options, options.cases[0], overhead.calibrate())
        for hook in sorted(hooks, key=lambda hook: hook["name"]):
            if hook["name"] in HOOKS and hook["run_count"]:
                each = hook["run_ns"] / hook["run_count"]
                print(f"cost {hook['name'].removesuffix('_plain')} {each:.0f}")


if __name__ == "__main__":
    main()
