#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program over two nodes (--peers): what cozbpf predicts for a line that is in one part, beside
what the line brings when it is really shorter. Each part has a cozbpf of its own.

Cases `tcp` are two processes over blocking sockets (tests/workloads/nodes.c). Cases of an MPI are
ranks that mpirun starts (mpi.c), over TCP on the loopback; MPI waits by polling.

Truth is the least period of short runs without cozbpf, of each speedup in turns: other programs can
only make it longer.

usage: tests/bench/nodes/nodes.py [--seconds S] [--netns] [CASE...]
--netns: each part of a `tcp` case is in a network namespace of its own.
"""
import argparse, json, os, re, shutil, statistics, subprocess, sys, tempfile, time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
TOOL = os.environ.get("COZBPF", os.path.join(BUILD, "cozbpf"))
SPEEDUPS = [50, 100]
# name: pattern; us in the line and beside it, of each part
CASES = {
    "pingpong": ("pingpong", (1000, 0), (0, 1000)),
    "pingpong-other": ("pingpong", (0, 1000), (1000, 0)),
    "halo-long": ("halo", (1500, 500), (0, 1000)),
    "halo-even": ("halo", (1000, 0), (0, 1000)),
    "halo-both": ("halo", (1000, 500), (1000, 500)),
    "reduce": ("reduce", (1500, 500), (0, 1000)),
    "pipeline": ("pipeline", (1200, 300), (0, 1000)),
    "pipeline-other": ("pipeline", (0, 700), (1000, 500)),
}
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
           "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
           "--mca", "mpi_yield_when_idle", "0", "--mca", "btl_base_warn_component_unused", "0",
           "-np", "2"]
# MPICH of Debian is on UCX; without NOLOCAL it would use shared memory.
MPICH = ["env", "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "mpirun.mpich",
         "-np", "2"]
# How to start ranks, and the function by which each polls.
LAUNCH = {"openmpi": (OPENMPI, ["--spin", "opal_progress"]),
          "mpich": (MPICH, ["--spin", "ucp_worker_progress"])}
IN_FRONT = ["setsid", "-w", "sh", "-c",
            "(echo -15 >/proc/self/autogroup) 2>/dev/null; exec nice -n -15 \"$@\"", "sh"]


class Bench:
    def __init__(self, options):
        self.options = options
        self.dir = tempfile.mkdtemp(suffix=".cozbpf-nodes")
        self.key = os.path.join(self.dir, "key")
        with open(self.key, "w", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(os.urandom(32).hex())
        self.port = 7600
        self.turns = None
        self.spaces = []

    def run_all(self, commands, timeout):
        """Starts the commands, waits for all; outputs and statuses."""
        started = [subprocess.Popen(["timeout", "-k", "3", str(int(timeout)), *c], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for c in commands]
        results = []
        for p in started:
            out, err = p.communicate()
            results.append((p.returncode, out, err))
        return results

    def build(self):
        self.programs = {"tcp": os.path.join(BUILD, "tests/workloads/nodes")}
        here = os.path.dirname(os.path.realpath(__file__))
        for name in LAUNCH:
            program = os.path.join(self.dir, "mpi-" + name)
            cc = shutil.which("mpicc." + name)
            if not cc or not shutil.which("mpirun." + name):
                print(f"skip {name}: it is not installed")
                continue
            subprocess.run([cc, "-O1", "-g", "-fno-omit-frame-pointer", "-I",
                            os.path.join(ROOT, "tests/workloads"), "-o", program,
                            os.path.join(here, "mpi.c")], check=True)
            self.programs[name] = program
        self.turns = subprocess.run([self.programs["tcp"], "--calibrate"], check=True,
                                    capture_output=True, text=True).stdout.strip()

    def line(self, program):
        source = (os.path.join(ROOT, "tests/workloads/nodes.c") if program == "tcp" else
                  os.path.join(os.path.dirname(os.path.realpath(__file__)), "mpi.c"))
        with open(source) as f:
            lines = [i for i, text in enumerate(f, 1) if text.rstrip().endswith("/* LINE_A */")]
        return f"{os.path.basename(source)}:{lines[0]}"

    def tool(self, profile, program, peers):
        return [TOOL, "--no-tui", "-v", "-P", "progress", "--fixed-line", self.line(program),
                "--fixed-speedup", ",".join(map(str, [0] + SPEEDUPS)), "--experiment-length",
                "250ms", "--peers", peers, "--peers-key", self.key, "-o", profile]

    def parts(self, case, seconds, speedup, profile):
        """Of a tcp case: the two commands."""
        pattern, first, second = CASES[case]
        self.port += 1
        host = "10.77.0.1" if self.options.netns else "127.0.0.1"
        peers = "10.77.0.1,10.77.0.2" if self.options.netns else "127.0.0.1,127.0.0.1"
        ret = []
        for rank in range(2):
            command = [self.programs["tcp"], "--rank", str(rank), "--pattern", pattern, "--host",
                       host, "--port", str(self.port), "--a0", str(first[0]), "--b0",
                       str(first[1]), "--a1", str(second[0]), "--b1", str(second[1]),
                       "--seconds", str(seconds), "--line-speedup", str(speedup),
                       "--iters-per-ms", self.turns]
            if profile:
                command = IN_FRONT + self.tool(profile, "tcp", peers) + ["--"] + command
            if self.options.netns:
                command = ["ip", "netns", "exec", self.spaces[rank]] + command
            ret.append(command)
        return ret

    def job(self, case, mpi, seconds, speedup, profile):
        pattern, first, second = CASES[case]
        period = {"halo": max, "reduce": max, "pipeline": max}[pattern](sum(first), sum(second))
        program = [self.programs[mpi], "--pattern", pattern, "--a", f"{first[0]},{second[0]}",
                   "--b", f"{first[1]},{second[1]}", "--loops",
                   str(int(seconds * 1e6 / period)), "--line-speedup", str(speedup),
                   "--iters-per-ms", self.turns]
        launch, options = LAUNCH[mpi]
        if profile:
            program = self.tool(profile, mpi, "job") + options + ["--"] + program
        return [IN_FRONT + launch + program]

    def commands(self, case, program, seconds, speedup=0, profile=None):
        if program == "tcp":
            return self.parts(case, seconds, speedup, profile)
        return self.job(case, program, seconds, speedup, profile)

    def period(self, case, program, speedup):
        results = self.run_all(self.commands(case, program, 0.5, speedup), 60)
        found = re.search(r"period_us ([0-9.]+)", results[0][1])
        if not found or float(found[1]) <= 0:
            raise SystemExit(f"{case} of {program} tells no period:\n{results}")
        return float(found[1])

    def truth(self, case, program):
        periods = {s: [] for s in [0] + SPEEDUPS}
        for _ in range(self.options.truths):
            for s in periods:
                periods[s].append(self.period(case, program, s))
        return {s: 1 - min(periods[s]) / min(periods[0]) for s in SPEEDUPS}

    def predicted(self, case, program):
        profile = os.path.join(self.dir, f"{program}-{case}.coz")
        results = self.run_all(
            self.commands(case, program, self.options.seconds, 0, profile),
            3 * self.options.seconds + 20)
        for status, out, err in results:
            if status or self.options.verbose:
                print(f"status {status}\n{out}\n{err}")
        if not os.path.exists(profile):
            return {}, 0
        report = subprocess.run([TOOL, "report", "--json", profile], capture_output=True,
                                text=True)
        if report.returncode:
            print(report.stderr)
            return {}, 0
        points = [l["points"] for l in json.loads(report.stdout)["lines"]
                  if l["line"].endswith(self.line(program))]
        points = points[0] if points else []
        joined = sum(map(int, re.findall(r"(\d+) waits joined", " ".join(r[2] for r in results))))
        return {round(100 * p["line_speedup"]): p["program_speedup"] for p in points}, joined

    def begin_spaces(self):
        if not self.options.netns:
            return
        for i in range(2):
            name = f"cozbpf-{os.getpid()}-{i}"
            subprocess.run(["ip", "netns", "add", name], check=True)
            self.spaces.append(name)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        a, b = self.spaces
        subprocess.run(["ip", "-n", a, "link", "add", "v0", "type", "veth", "peer", "name", "v0",
                        "netns", b], check=True)
        for i, name in enumerate(self.spaces, 1):
            subprocess.run(["ip", "-n", name, "addr", "add", f"10.77.0.{i}/24", "dev", "v0"],
                           check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "v0", "up"], check=True)

    def end(self):
        for name in self.spaces:
            subprocess.run(["ip", "netns", "del", name])
        shutil.rmtree(self.dir)


def wanted(options, programs):
    """tcp/pingpong ...; a name alone of all programs that can."""
    for program in programs:
        for case, (pattern, *_) in CASES.items():
            fits = pattern != "reduce" if program == "tcp" else pattern != "pingpong"
            names = {case, program, f"{program}/{case}"}
            if fits and (not options.cases or names & set(options.cases)):
                yield program, case


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--truths", type=int, default=4)
    p.add_argument("--netns", action="store_true")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--bound", type=float, help="fail where the mean error is larger, in points")
    p.add_argument("cases", nargs="*")
    options = p.parse_args()
    bench, errors = Bench(options), []
    try:
        bench.begin_spaces()
        bench.build()
        print("| case | " + " | ".join(f"{s} %: true | predicted" for s in SPEEDUPS) +
              " | waits joined |")
        print("| --- |" + " --- |" * (2 * len(SPEEDUPS) + 1))
        for program, case in wanted(options, bench.programs):
            truth = bench.truth(case, program)
            got, joined = bench.predicted(case, program)
            cells = []
            for s in SPEEDUPS:
                cells += [f"{100 * truth[s]:.1f}", f"{100 * got[s]:.1f}" if s in got else "-"]
                errors.append(abs(truth[s] - got[s]) * 100 if s in got else 100)
            print(f"| {program}/{case} | " + " | ".join(cells) + f" | {joined} |", flush=True)
    finally:
        bench.end()
    if not errors:
        sys.exit("no such case")
    mean = statistics.mean(errors)
    print(f"mean error {mean:.2f} points over {len(errors)} cells, worst {max(errors):.1f}")
    if options.bound and mean > options.bound:
        sys.exit(f"the mean error is above {options.bound} points")


main()
