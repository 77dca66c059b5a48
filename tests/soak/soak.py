#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Soak: servers under load, to which cozbpf attaches again and again.

Each cycle attaches to one of two servers for half of its time, every other time without any delay
(--fixed-speedup 0). The last session is a long one. Then loads take turns between each server and
its double, which was never profiled."""

import argparse
import bisect
import http.client
import json
import math
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

SAMPLE_S = 0.25
KB = 1024
PAUSE_SIGNAL = 44  # which cozbpf takes where the target does not use it
OWN_SIGNAL_S = 0.1  # from a signal to the answer of the call that it has cut short, at most
# Exact: no request fails, no call of a server answers EINTR; descriptors, mappings, threads, signal
# actions, BPF programs and maps are as before. Bounds on what may grow from the second session to
# the last one, in bytes, and by session. A page left in each process at each session is 20 kB and
# more for a session. An hour of 150 sessions moved anonymous memory by 172 kB, Percpu by 0 and
# SUnreclaim by 3 MB; ten sessions moved these by 36 kB, 0 and 150 kB. VmallocUsed is shown only:
# the kernel frees that late, and it moved by 23 MB to and fro. BPF's maps are counted instead.
BOUNDS = {
    "anonymous memory": (128 * KB, 5 * KB),
    "Percpu": (256 * KB, 0),
    "SUnreclaim": (4096 * KB, 30 * KB),
}
# What may be lost, in percent: a session without delays costs what samples cost, each millisecond
# 15 to 20 us on a virtual machine (docs/answers.md); sessions of the past cost nothing. Judged
# with three standard errors to spare, and only where there are this many ratios.
COST, COST_AFTERWARDS, ENOUGH = 4.0, 1.0, 20


class Series:
    """A count that only grows, as (time, count); looked up in between by interpolation."""

    def __init__(self):
        self.times, self.counts = [], []

    def add(self, at, count):
        self.times.append(at)
        self.counts.append(count)

    def at(self, when):
        i = min(max(bisect.bisect(self.times, when), 1), len(self.times) - 1)
        t, n = self.times[i - 1 : i + 1], self.counts[i - 1 : i + 1]
        return n[0] + (n[1] - n[0]) * (when - t[0]) / (t[1] - t[0])

    def gained(self, begin, end):
        return self.at(end) - self.at(begin)


class Server:
    """One server with its load. @name is that of its control group and of its directory."""

    def __init__(self, options, name, port):
        self.name, self.port = name, port
        self.group = Path(options.groups) / name
        self.dir = Path(options.dir) / name
        self.profile = Path(options.dir) / f"{name}.coz"
        self.requests, self.cpu_s = Series(), Series()
        self.output = ""

    def pids(self):
        return [int(pid) for pid in (self.group / "cgroup.procs").read_text().split()]

    def sample_cpu(self):
        usage = re.search(r"^usage_usec (\d+)", (self.group / "cpu.stat").read_text(), re.M)
        self.cpu_s.add(time.time(), int(usage[1]) / 1e6)

    def start_load(self, seconds):
        return subprocess.Popen(
            self.load(seconds), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def turn(self, seconds):
        """Requests and CPU seconds of a load of its own."""
        self.sample_cpu()
        output = self.start_load(seconds).communicate()[0]
        self.sample_cpu()
        return self.total(output), self.cpu_s.counts[-1] - self.cpu_s.counts[-2]

    def longest(self):
        """The longest request, where the load tells."""
        return "not known"

    def log(self, pattern):
        return re.findall(pattern, (self.dir / "log").read_text(errors="replace"))


class Web(Server):
    what = "nginx"

    def __init__(self, options, name, port):
        super().__init__(options, name, port)
        self.scope = ["-b", "%/cozweb.so", "-P", f"request={options.dir}/cozweb.so:cozwork"]
        script = Path(__file__).parent / "gentle.lua"
        self.gentle = ["-s", script] if options.gentle else []

    def answers(self, command):
        """Whether a process answers requests."""
        return True

    def load(self, seconds):
        url = f"http://127.0.0.1:{self.port}/work"
        return ["wrk", "-t1", "-c16", *self.gentle, f"-d{seconds}s", "--timeout", "60s", url]

    def total(self, output):
        return int(re.search(r"(\d+) requests in", output)[1])

    def longest(self):
        return re.search(r"Latency +\S+ +\S+ +(\S+)", self.output)[1]

    def failures(self):
        bad = r".*\[(?:warn|error|crit|alert|emerg)\].*|.*Interrupted system call.*"
        return re.findall(r"Socket errors.*|Non-2xx.*", self.output) + self.log(bad)

    def watch(self, load):
        """Samples the requests so far until the load has ended, each time by one more."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        while load.poll() is None:
            connection.request("GET", "/status")
            answer = connection.getresponse().read().decode()
            self.requests.add(time.time(), int(answer.split("\n")[2].split()[2]))
            time.sleep(SAMPLE_S)
        self.output = load.stdout.read()


class Db(Server):
    what = "PostgreSQL"

    def __init__(self, options, name, port):
        super().__init__(options, name, port)
        self.pg, self.sql = options.pg, f"{options.dir}/work.sql"
        commit = f"usdt:{self.pg}/postgres:postgresql:transaction__commit"
        self.scope = ["-b", "%/cozwork.so", "-P", f"commit={commit}"]
        self.rate = ["-R", "60"] if options.gentle else []

    def answers(self, command):
        return "[local]" in command

    def load(self, seconds):
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "env", "-C/"]
        bench = [f"{self.pg}/pgbench", "-n", "-h", str(self.dir), "-p", str(self.port), "-c4"]
        more = ["-j1", f"-T{seconds}", "-P1", "--progress-timestamp", "-f", self.sql, "postgres"]
        return [*user, *bench, *self.rate, *more]

    def total(self, output):
        return int(re.search(r"transactions actually processed: (\d+)", output)[1])

    def failures(self):
        bad = r"number of failed transactions: [1-9].*|.*aborted.*"
        return re.findall(bad, self.output) + self.log(r".*(?:ERROR|FATAL|PANIC).*")

    def watch(self, load):
        output, count, last = [], 0, time.time()
        self.requests.add(last, 0)
        for line in load.stdout:
            output.append(line)
            found = re.match(r"progress: ([\d.]+) s, ([\d.]+) tps", line)
            if found:
                now = float(found[1])
                count += float(found[2]) * (now - last)
                last = now
                self.requests.add(now, count)
        load.wait()
        self.output = "".join(output)


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, good, reason=""):
        self.passed += bool(good)
        self.failed += not good
        print("ok  " if good else "FAIL", what, "" if good else f": {reason}", flush=True)


def look(server):
    """What the server's processes hold, by process: exact figures, and bytes of memory.

    Processes that answer no requests open and map what they need when they need it. Of these only
    code, threads and signals count."""
    exact, anonymous = {}, 0
    for pid in server.pids():
        proc = Path(f"/proc/{pid}")
        status = (proc / "status").read_text()
        memory = re.search(r"^RssAnon:\s*(\d+)", status, re.M)
        if not memory:  # it has ended just now
            continue
        answers = server.answers((proc / "cmdline").read_text())
        maps = [line.split()[1:2] + line.split()[5:] for line in (proc / "maps").open()]
        maps = [m for m in maps if m[1:] != ["[uprobes]"] and (answers or "x" in m[0])]
        exact[pid] = [
            f"descriptors: {len(os.listdir(proc / 'fd')) if answers else 'any'}",
            *(f"{i}. {' '.join(m)}" for i, m in enumerate(sorted(maps))),
            *re.findall(r"^(?:Threads|SigCgt|SigIgn|SigBlk):.*", status, re.M),
        ]
        anonymous += int(memory[1]) * KB
    return exact, anonymous


def differences(before, after):
    """What is not the same, by process."""
    pids = [pid for pid in {*before, *after} if before.get(pid) != after.get(pid)]
    return {pid: set(before.get(pid, ())) ^ set(after.get(pid, ())) for pid in pids}


def look_at_kernel():
    """BPF programs, maps and links, and memory of the kernel that may be theirs, in bytes."""
    objects = {
        kind: len(json.loads(subprocess.check_output(["bpftool", "-j", kind, "show"])))
        for kind in ("prog", "map", "link")
    }
    meminfo = Path("/proc/meminfo").read_text()
    memory = {
        name: int(re.search(rf"^{name}:\s*(\d+)", meminfo, re.M)[1]) * KB
        for name in ("Percpu", "SUnreclaim", "VmallocUsed")
    }
    return objects, memory


def without_reason(lines):
    """Calls cut short, in lines of a trace. A signal of the program's own just before excuses one,
    even where it came outside of the call."""
    signals, calls = {}, []
    for line in lines:
        parts = re.fullmatch(r".*-(\d+) +\[\d+\] \S+ +([\d.]+): (\w+):.*", line)
        pid, at, event = parts.groups() if parts else (0, 0, "")
        if event == "signal_deliver":
            signals[pid] = float(at)
        elif float(at) > signals.pop(pid, -1) + OWN_SIGNAL_S:
            calls.append(line)
    return calls


class Eintr:
    """Counts epoll_wait() of some processes and of their children that returns -1.

    Both servers block in this call alone. The kernel's own tracepoint would also see calls that
    cozbpf interrupts, and makes again before the program sees an answer. Signals of the servers'
    own interrupt calls as well: PostgreSQL's timers do, where the machine is busy."""

    def __init__(self, instance, pids):
        self.instance = Path(instance)
        self.event = f"cozbpf_soak/{self.instance.name}"
        maps = Path(f"/proc/{pids[0]}/maps").read_text()
        libc = re.search(r"/\S*/libc\.so\.6$", maps, re.M)[0]
        symbols = subprocess.check_output(["nm", "-D", libc], text=True)
        at = int(re.search(r"^(\w+) . epoll_wait@", symbols, re.M)[1], 16)
        # O_TRUNC would take away everybody's, and this file cannot be sought in.
        events = self.instance.parents[1] / "uprobe_events"
        file = os.open(events, os.O_WRONLY | os.O_APPEND)
        os.write(file, f"r:{self.event} {libc}:{at:#x} ret=$retval:s32\n".encode())
        os.close(file)
        self.write("set_event_pid", " ".join(map(str, pids)))
        self.write("options/event-fork", "1")
        self.write(f"events/{self.event}/filter", "ret == -1")
        self.write("events/signal/signal_deliver/filter", f"sig != {PAUSE_SIGNAL}")
        for event in ("signal/signal_deliver", self.event):
            self.write(f"events/{event}/enable", "1")

    def write(self, name, text):
        (self.instance / name).write_text(text)

    def end(self):
        for event in (self.event, "signal/signal_deliver"):
            self.write(f"events/{event}/enable", "0")
        lines = (self.instance / "trace").read_text().split("\n")
        return without_reason([line for line in lines if line and not line.startswith("#")])


def look_at_tool(pid):
    """Memory in bytes and descriptors of a running cozbpf; None when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        resident = re.search(r"^VmRSS:\s*(\d+)", status, re.M)
        return resident and (int(resident[1]) * KB, len(os.listdir(f"/proc/{pid}/fd")))
    except OSError:
        return None


def attach(options, server, delays, seconds):
    """One session: its times, status and memory, and what it said."""
    words = [options.tool, "-v", "--no-tui", *server.scope, "--experiment-length", "200ms"]
    words += [] if delays else ["--fixed-speedup", "0"]
    words += ["-d", f"{seconds}s", "-o", server.profile, "--cgroup", server.group]
    grown = []
    with open(f"{options.dir}/err", "w+") as err:
        begin = time.time()
        child = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=err)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            grown.append(look_at_tool(child.pid))
            time.sleep(SAMPLE_S)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read()
    return {
        "server": server,
        "delays": delays,
        "attached": (begin + min(1, seconds / 4), begin + seconds),
        "end": time.time(),
        "status": child.returncode,
        "peak": usage.ru_maxrss * KB,
        "grown": [x for x in grown if x],
        "begun": sum(map(int, re.findall(r" (\d+) begun$", said, re.M))),
        "said": said,
    }


def look_at_all(servers):
    return [look(s) for s in servers], look_at_kernel()


def run_cycles(options, servers, until):
    """Attaches in turns until then. Returns the sessions, and what was seen after each, but the
    last one where that was too late."""
    sessions, seen = [], []
    while time.time() + options.cycle + 2 < until:
        i, begin = len(sessions), time.time()
        sessions.append(attach(options, servers[i % 2], i // 2 % 2 == 0, options.cycle // 2))
        # At once the kernel still has programs of the session.
        time.sleep(max(1, begin + options.cycle - 0.5 - time.time()))
        sessions[-1]["nobody"] = (sessions[-1]["end"] + 0.3, time.time())
        now_seen = look_at_all(servers)
        if time.time() > until:  # a busy machine: the load may have ended before that look
            break
        seen.append(now_seen)
        if i % 20 == 0:
            print(f"     session {i + 1}", flush=True)
        time.sleep(max(0, begin + options.cycle - time.time()))
    if options.long:
        sessions.append(attach(options, servers[0], True, options.long))
        time.sleep(0.5)
        seen.append(look_at_all(servers))
    return sessions, seen


def fraction(values):
    """Of ratios: the median and its standard error, as changes in percent."""
    middle = statistics.median(values)
    return (middle - 1) * 100, 125.33 * statistics.stdev(values) / math.sqrt(len(values))


def rate(server, begin, end):
    return server.requests.gained(begin, end) / (end - begin)


def cost(server, begin, end):
    return server.cpu_s.gained(begin, end) / server.requests.gained(begin, end)


def compare_attached(server, sessions, what):
    """A figure while attached without delays, over that of the times before and after."""
    ratios = []
    for before, now in zip(sessions, sessions[1:]):
        if now["server"] is server and not now["delays"] and "nobody" in now:
            around = [what(server, *s["nobody"]) for s in (before, now)]
            ratios.append(2 * what(server, *now["attached"]) / sum(around))
    return ratios


def compare_fresh(options, pairs):
    """Throughput and CPU time for a request of each server, over those of its double."""
    found = {used: ([], []) for used, _ in pairs}
    for i in range(options.rounds + 1):
        for used, fresh in pairs:
            order = (used, fresh) if i % 2 else (fresh, used)
            figures = {server: server.turn(options.turn) for server in order}
            (n, cpu), (n_fresh, cpu_fresh) = figures[used], figures[fresh]
            if i:  # the first one warms up
                found[used][0].append(n / n_fresh)
                found[used][1].append(cpu / n / (cpu_fresh / n_fresh))
    return found


def judge_ratios(check, what, rates, costs, bound):
    for name, values, sign in (("throughput", rates, -1), ("CPU time for a request", costs, 1)):
        if len(values) < 2:
            continue
        change, error = fraction(values)
        said = f"{what}: {name} {change:+.2f} % +- {error:.2f}, {len(values)} ratios"
        if len(values) >= ENOUGH:
            check(said, sign * change <= bound + 3 * error)
        else:
            print("    ", said)


def judge_growth(check, what, values, fixed, by_session):
    """From the second session to the last one."""
    bound = fixed + by_session * len(values)
    shown = [v // KB for v in values[1 :: max(1, len(values) // 8)]]
    check(f"{what}, kB: {shown}", values[-1] - values[1] <= bound, f"{values[-1] // KB} at last")


def judge_server(check, server, sessions, before, after):
    """@before, @after: what look() saw."""
    own = [s for s in sessions if s["server"] is server]
    begun = sum(s["begun"] for s in own if s["delays"])
    check(f"{server.what}: paused {begun} times", begun >= len(own))
    n = server.profile.read_text().count("\nexperiment\t") if server.profile.exists() else 0
    check(f"{server.what}: {n} experiments", n >= len(own), own[0]["said"])
    failures = server.failures()
    what = f"{server.what}: {server.total(server.output)} requests, none failed"
    check(what, not failures, failures[:5])
    print(f"     longest request: {server.longest()}")
    what = f"{server.what}: descriptors, mappings, threads, signals as before"
    check(what, before == after, differences(before, after))


def judge_long(check, session):
    """Once the experiments' records have their place, memory follows their number alone."""
    grown = session["grown"]
    half, last = grown[len(grown) // 2], grown[len(grown) * 9 // 10]  # at the end it detaches
    what = f"cozbpf itself, one long session, kB: {half[0] // KB} at half, {last[0] // KB} later"
    check(what, last[0] - half[0] <= 2048 * KB)
    check(f"its descriptors: {half[1]}, {last[1]}", half[1] == last[1])


def judge(check, servers, sessions, first, seen, eintr, alone):
    """@alone: nothing else runs on this machine, so what its kernel uses is judged as well."""
    bad = [s for s in sessions if s["status"] not in (0, 4)]
    what = f"{len(sessions)} sessions"
    check(what, len(sessions) >= 4 and not bad, "".join(s["said"] for s in bad[:2]))
    signals = {n for s in sessions for n in re.findall(r"injected, signal (\d+)", s["said"])}
    check(f"pauses by signal {PAUSE_SIGNAL}", signals == {str(PAUSE_SIGNAL)}, signals)
    for i, server in enumerate(servers):
        judge_server(check, server, sessions, first[0][i][0], seen[-1][0][i][0])
        memory = [x[0][i][1] for x in seen]
        judge_growth(check, f"{server.what}: anonymous memory", memory, *BOUNDS["anonymous memory"])
    check("no call answered EINTR", not eintr, "\n".join(eintr[:5]))
    before, after = first[1][0], seen[-1][1][0]
    check("BPF programs, maps and links as before", before == after, (before, after))
    for name in ("VmallocUsed", "Percpu", "SUnreclaim"):
        values = [x[1][1][name] for x in seen]
        if alone and name in BOUNDS:
            judge_growth(check, f"kernel: {name}", values, *BOUNDS[name])
        else:
            shown = [v // KB for v in values[:: max(1, len(values) // 8)]]
            print(f"     kernel: {name}, kB: {shown}")
    for server in servers:
        peaks = [s["peak"] // KB for s in sessions if s["server"] is server]
        print(f"     cozbpf's peak on {server.what}, kB: {peaks[:: max(1, len(peaks) // 8)]}")


def load_and_attach(options, servers):
    """Returns the sessions, what was seen before them and after each, and calls cut short."""
    loads = [s.start_load(options.seconds) for s in servers]
    until = time.time() + options.seconds

    def sample():
        while time.time() < until:
            for server in servers:
                server.sample_cpu()
            time.sleep(SAMPLE_S)

    threads = [threading.Thread(target=s.watch, args=(l,)) for s, l in zip(servers, loads)]
    threads.append(threading.Thread(target=sample))
    for thread in threads:
        thread.start()
    time.sleep(2)  # until each client has its server process
    eintr = Eintr(options.trace, [pid for s in servers for pid in s.pids()])
    first = look_at_all(servers)
    sessions, seen = run_cycles(options, servers, until - options.long - 1)
    for thread in threads:
        thread.join()
    return sessions, first, seen, eintr.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("tool", "dir", "groups", "trace", "pg"):
        parser.add_argument(f"--{name}", required=True, help="given by soak.sh")
    parser.add_argument("--port", type=int, required=True, help="given by soak.sh")
    parser.add_argument("--seconds", type=int, default=3600, help="of load in all")
    parser.add_argument("--cycle", type=int, default=20, help="seconds from session to session")
    parser.add_argument("--long", type=int, default=600, help="seconds of the last session")
    parser.add_argument("--rounds", type=int, default=24, help="turns of server and double")
    parser.add_argument("--turn", type=int, default=3, help="seconds of a load in a round")
    parser.add_argument("--gentle", action="store_true", help="clients that do not fill the CPUs")
    options = parser.parse_args()
    check = Checks()
    kinds = (Web, "web", 0), (Db, "db", 2)
    servers = [kind(options, name, options.port + n) for kind, name, n in kinds]
    fresh = [kind(options, f"{name}-fresh", options.port + n + 1) for kind, name, n in kinds]
    sessions, first, seen, eintr = load_and_attach(options, servers)
    judge(check, servers, sessions, first, seen, eintr, options.long > 0)
    if options.long:
        judge_long(check, sessions[-1])
    for server in servers:
        ratios = [compare_attached(server, sessions, what) for what in (rate, cost)]
        judge_ratios(check, f"{server.what}, attached without delays", *ratios, COST)
    if options.rounds:
        for server, ratios in compare_fresh(options, list(zip(servers, fresh))).items():
            what = f"{server.what}, afterwards, beside a fresh one"
            judge_ratios(check, what, *ratios, COST_AFTERWARDS)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
