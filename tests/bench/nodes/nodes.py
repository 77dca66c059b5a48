#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program over some nodes (--peers): what cozbpf predicts for a line that is in one part,
beside what the line brings when it is really shorter. Each part has a cozbpf of its own.

Cases `tcp` are processes over blocking sockets (tests/workloads/nodes.c). Cases of an MPI are ranks
that mpirun starts (mpi.c), over TCP; MPI waits by polling.

Truth is the least period of short runs without cozbpf, of each speedup in turns: other programs can
only make it longer.

usage: tests/bench/nodes/nodes.py [--seconds S] [--delay US] [--parts N] [CASE...]
--delay US: each part is in a network namespace of its own, and a packet takes that long from one to
another (wire.c): data, and what the loaders tell each other. Else all are on the loopback.
--parts N: of cases with that many parts; `halo` and `pipeline` of tcp have three and four.
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
# The same of three parts and of four, of which all but the first one work as the second figures
# say. Two CPUs suffice for what all work in a round.
MANY = {
    "halo-long": ("halo", (2500, 500), (0, 800)),
    "halo-both": ("halo", (1000, 1000), (500, 300)),
    "pipeline": ("pipeline", (2000, 500), (0, 800)),
    "pipeline-other": ("pipeline", (0, 2000), (500, 300)),
}
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
           "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
           "--mca", "mpi_yield_when_idle", "0", "--mca", "btl_base_warn_component_unused", "0"]
# MPICH of Debian is on UCX; without NOLOCAL it would use shared memory.
MPICH = ["env", "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "mpirun.mpich"]
DEVICE = "wire0"  # in each namespace
# mpirun of Open MPI has one as well, and listens there, not on its loopback.
HUB = ["env", "PMIX_MCA_ptl_base_remote_connections=1", "PMIX_MCA_ptl_base_if_include=" + DEVICE]
# A rank's way into its own. UCX looks for devices in /sys, which shows those of who has mounted it.
IN_SPACE = """exec nsenter --net="/var/run/netns/$0${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" \
unshare -m sh -c 'mount -t sysfs s /sys && mount -t cgroup2 c /sys/fs/cgroup && exec "$@"' sh "$@"
"""
LAUNCH = {"openmpi": OPENMPI, "mpich": MPICH}
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
        self.spaces, self.wire = [], None
        self.cases = CASES if options.parts == 2 else MANY

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

    def hosts(self):
        return ([f"10.77.0.{i}" for i in range(1, self.options.parts + 1)] if self.spaces else
                ["127.0.0.1"] * self.options.parts)

    def parts(self, case, seconds, speedup, profile):
        """Of a tcp case: the commands."""
        pattern, first, second = self.cases[case]
        self.port += self.options.parts
        ret = []
        for rank in range(self.options.parts):
            command = [self.programs["tcp"], "--rank", str(rank), "--ranks",
                       str(self.options.parts), "--pattern", pattern, "--hosts",
                       ",".join(self.hosts()), "--port", str(self.port), "--a0", str(first[0]),
                       "--b0", str(first[1]), "--a1", str(second[0]), "--b1", str(second[1]),
                       "--seconds", str(seconds), "--line-speedup", str(speedup),
                       "--iters-per-ms", self.turns]
            if profile:
                command = IN_FRONT + self.tool(profile, "tcp", ",".join(self.hosts())) + [
                    "--"] + command
            if self.spaces:
                command = ["nsenter", "--net=/var/run/netns/" + self.spaces[rank]] + command
            ret.append(command)
        return ret

    def job(self, case, mpi, seconds, speedup, profile):
        pattern, first, second = self.cases[case]
        period = {"halo": max, "reduce": max, "pipeline": max}[pattern](sum(first), sum(second))
        program = [self.programs[mpi], "--pattern", pattern, "--a", f"{first[0]},{second[0]}",
                   "--b", f"{first[1]},{second[1]}", "--loops",
                   str(int(seconds * 1e6 / period)), "--line-speedup", str(speedup),
                   "--iters-per-ms", self.turns]
        if profile:
            program = self.tool(profile, mpi, ",".join(self.hosts()) if self.spaces else
                                "job") + ["--"] + program
        launch = LAUNCH[mpi]
        if self.spaces:
            launch = HUB + [DEVICE if a == "lo" else a.replace("=lo", "=" + DEVICE)
                            for a in launch]
            launch = ["nsenter", "--net=/var/run/netns/" + self.spaces[-1]] + launch
            program = ["sh", "-c", IN_SPACE, self.spaces[0][:-1]] + program
        return [IN_FRONT + launch + ["-np", str(self.options.parts)] + program]

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
        if self.options.delay is None:
            return
        wire = os.path.join(self.dir, "wire")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", wire, os.path.join(
            os.path.dirname(os.path.realpath(__file__)), "wire.c")], check=True)
        for i in range(self.options.parts + 1):
            name = f"cozbpf-{os.getpid()}-{i}"
            subprocess.run(["ip", "netns", "add", name], check=True)
            self.spaces.append(name)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        self.wire = subprocess.Popen([wire, str(self.options.delay), DEVICE, *self.spaces],
                                     stdout=subprocess.PIPE, text=True)
        if self.wire.stdout.readline() != "ready\n":
            raise SystemExit("there is no wire")
        for i, name in enumerate(self.spaces, 1):
            subprocess.run(["ip", "-n", name, "addr", "add", f"10.77.0.{i}/24", "dev", DEVICE],
                           check=True)
            subprocess.run(["ip", "-n", name, "link", "set", DEVICE, "up"], check=True)

    def end(self):
        if self.wire:
            self.wire.kill()
            self.wire.wait()
        for name in self.spaces:
            subprocess.run(["ip", "netns", "del", name])
        shutil.rmtree(self.dir)


def wanted(options, programs, cases):
    """tcp/pingpong ...; a name alone of all programs that can."""
    for program in programs:
        for case, (pattern, *_) in cases.items():
            fits = pattern != "reduce" if program == "tcp" else pattern != "pingpong"
            names = {case, program, f"{program}/{case}"}
            if fits and (not options.cases or names & set(options.cases)):
                yield program, case


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--truths", type=int, default=4)
    p.add_argument("--delay", type=int, metavar="US")
    p.add_argument("--parts", type=int, default=2, choices=range(2, 5))
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
        for program, case in wanted(options, bench.programs, bench.cases):
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
