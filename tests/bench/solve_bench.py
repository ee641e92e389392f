#!/usr/bin/env python3
"""Time and memory of solving over channels, beside what is measured in the same run: the limit (reading and unpacking
the same index files with zstd), rattler as the peer, and micromamba where GPKG_PEER_MICROMAMBA names one.

usage: solve_bench.py BUILD_FOLDER [--against PROGRAM] [--channel FOLDER]... [--runs N] [--rattler NODE_MODULES]
                      [--requests py,torch,eight]
BUILD_FOLDER is build/release; the channel is conda-forge of GPKG_TEST_CORPUS where none is named. gpkg reads it over
http on loopback, cold (an empty cache) and warm (the second time); where the folder has CEP 16 shards, with and
without them. Rows are medians of whole processes. "unsat" is a request without a solution, explanation and fixes
included; "update" is `update --all` of an environment of what "eight" gives. With --against each row is measured
for another gpkg too ("before"), run by run in turn. Below each request stands how many times faster a warm gpkg is
than the best peer in its best state. It judges nothing: times depend on the machine, ratios are what to read.
"""

import argparse
import contextlib
import functools
import http.server
import json
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MACHINE = {"__glibc": "2.36", "__linux": "6.1", "__unix": "0", "__cuda": "12.8"}
REQUESTS = {
    "py": ["python=3.12", "numpy", "pandas"],
    "torch": ["pytorch", "cuda-version=12.*"],
    "eight": "python scipy scikit-learn matplotlib pytorch jupyterlab xarray dask".split(),
}
UNSATISFIABLE = ["python=3.14", "numpy<1.20"]


class Cost:
    """Medians of some runs: seconds of wall and cpu, MiB at the peak, and what the last one printed."""

    def __init__(self, runs):
        self.wall, self.cpu, self.peak = (statistics.median(run[i] for run in runs) for i in range(3))
        self.output = runs[-1][3]

    def __str__(self):
        return f"{self.wall:8.4f} {self.cpu:8.4f} {self.peak:8.0f}"


def run_once(command, environment, expected=0):
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        output.seek(0)
        text = output.read().decode(errors="replace")
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}: exit status {child.returncode}\n{text}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def measure(runs, command, environment, prepare=lambda: None, expected=0):
    return measure_in_turn(runs, [(command, environment, prepare)], expected)[0]


def measure_in_turn(runs, cases, expected=0):
    """The costs of several commands with environment and preparation; what disturbs a run disturbs all of them."""
    results = [[] for _ in cases]
    for _ in range(runs):
        for (command, environment, prepare), costs in zip(cases, results):
            prepare()
            costs.append(run_once(command, environment, expected))
    return [Cost(costs) for costs in results]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128  # five is too few for a client that opens 32 at once: it would wait for seconds

    def handle_error(self, request, client_address):
        pass  # gpkg hangs up on a whole index once its head says that it is large and there are shards


@contextlib.contextmanager
def served(folder):
    """The URL of a web server on loopback, for the time of the block."""
    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        process.terminate()
        process.join()
        server.server_close()


def gpkg_environment(work):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA_", "GPKG_", "MAMBA_"))}
    for name, version in MACHINE.items():
        if name != "__unix":
            kept["CONDA_OVERRIDE_" + name[2:].upper()] = version
    for proxy in ("HTTP_PROXY", "http_proxy"):
        kept.pop(proxy, None)
    return kept | {
        "HOME": str(work),
        "GPKG_ROOT_PREFIX": str(work / "root"),
        "GPKG_CACHE_DIR": str(work / "cache"),
        "CONDA_SUBDIR": "linux-64",
    }


def index_files(channel):
    found = []
    for subdir in ("linux-64", "noarch"):
        for name in ("repodata.json.zst", "repodata.json"):
            if (channel / subdir / name).exists():
                found.append(channel / subdir / name)
                break
    return found


def rattler_command(modules, channel, specs):
    if shutil.which("node") is None or not (modules / "@conda-org" / "rattler").exists():
        return None
    machine = ",".join(f"{name}={version}" for name, version in MACHINE.items())
    return ["node", HERE / "rattler_solve.cjs", modules, channel, machine, *specs]


class Table:
    """Prints rows; the ratios are those to the first row of a group."""

    def begin(self, group):
        self.group, self.base, self.warm, self.peers = group, None, {}, {}

    def rows(self, gpkgs, what, costs, remark=""):
        """One row of each program; of another one with what the first costs beside it."""
        for gpkg, cost in zip(gpkgs, costs):
            beside = f"gpkg is {costs[0].wall / cost.wall:.2f} of it, cpu {costs[0].cpu / cost.cpu:.2f}"
            self.row(f"{gpkg.name}{what}", cost, remark if cost is costs[0] else beside)

    def peer(self, what, cost, remark=""):
        self.peers[what] = cost
        self.row(what, cost, remark)

    def compare_with_peers(self):
        if not self.peers:
            print(f"{self.group:7} no peer")
            return
        name, best = min(self.peers.items(), key=lambda peer: peer[1].wall)
        for what, cost in self.warm.items():
            times = f"{best.wall / cost.wall:.1f} times faster than {name} (cpu {best.cpu / cost.cpu:.1f})"
            print(f"{self.group:7} {what} is {times}", flush=True)

    def row(self, what, cost, remark=""):
        self.base = self.base or cost
        base = self.base
        ratios = f"{cost.wall / base.wall:8.2f} {cost.cpu / base.cpu:8.2f} {cost.peak / base.peak:8.2f}"
        print(f"{self.group:7} {what:20} {cost}  {ratios}  {remark}", flush=True)


@contextlib.contextmanager
def without_shards(channel):
    """The folder as one that offers whole indexes only."""
    with tempfile.TemporaryDirectory(prefix="gpkg-bench-whole.") as copy:
        for file in index_files(channel):
            place = pathlib.Path(copy) / file.parent.name
            place.mkdir()
            (place / file.name).symlink_to(file)
        yield pathlib.Path(copy)


class Gpkg:
    def __init__(self, name, program, url, work):
        self.name, self.program = name, program
        self.channel = ["-c", url, "--override-channels", "--dry-run"]
        self.environment = gpkg_environment(work)
        self.work = work

    def create(self, specs):
        return [self.program, "create", *self.channel, "--json", "-n", "x", *specs]

    def forget(self):
        shutil.rmtree(self.work / "cache", ignore_errors=True)
        shutil.rmtree(self.work / "root" / "cache", ignore_errors=True)

    def packages(self, output):
        return json.loads(output[output.index("{"):])["actions"]["LINK"]

    def environment_of(self, packages):
        """A prefix whose conda-meta says that these packages are installed; there are no files."""
        prefix = self.work / "prefix"
        meta = prefix / "conda-meta"
        meta.mkdir(parents=True, exist_ok=True)
        (meta / "history").write_text("")
        for package in packages:
            spec = f"{package['name']}=={package['version']}={package['build_string']}"
            found = subprocess.run(
                [self.program, "search", *self.channel[:3], "--json", spec],
                env=self.environment, check=True, capture_output=True, text=True)
            record = json.loads(found.stdout)[package["name"]][0]
            record |= {"files": [], "paths_data": {"paths": [], "paths_version": 1}}
            (meta / f"{package['dist_name']}.json").write_text(json.dumps(record))
        return prefix


def bench_gpkg(table, kind, gpkgs, specs, runs):
    cold = measure_in_turn(runs, [(g.create(specs), g.environment, g.forget) for g in gpkgs])
    table.rows(gpkgs, f"{kind} cold", cold, f"{len(gpkgs[0].packages(cold[0].output))} packages")
    warm = measure_warm(runs, gpkgs, lambda g: g.create(specs))
    table.rows(gpkgs, f"{kind} warm", warm)
    for gpkg, cost in zip(gpkgs, warm):
        table.warm[f"{gpkg.name}{kind} warm"] = cost


def measure_warm(runs, gpkgs, command, expected=0):
    return measure_in_turn(runs, [(command(g), g.environment, lambda: None) for g in gpkgs], expected)


def bench_rattler(table, kind, channel, specs, runs, modules):
    rattler = rattler_command(modules, channel, specs)
    if rattler is None:
        print("no peer: node or @conda-org/rattler is missing (ctest -L witness installs it)")
        return
    cost = measure(runs, rattler, os.environ)
    table.peer(f"rattler{kind}", cost, f"{cost.output.strip()} packages")


def bench_micromamba(table, url, specs, runs, work):
    micromamba = os.environ.get("GPKG_PEER_MICROMAMBA")
    if micromamba:
        root = work / "micromamba"
        command = [micromamba, "create", "--dry-run", "-y", "-n", "x", "-r", root, "-c", url, "--override-channels", *specs]
        environment = gpkg_environment(work)
        table.row("micromamba cold", measure(runs, command, environment, lambda: shutil.rmtree(root, ignore_errors=True)))
        table.peer("micromamba warm", measure(runs, command, environment))


def bench_channel(table, options, programs, channel, modules, work):
    files = index_files(channel)
    limit = ["sh", "-c", "zstd -dc " + " ".join(str(f) for f in files) + " > /dev/null"]
    has_shards = (channel / "linux-64" / "repodata_shards.msgpack.zst").exists()
    with without_shards(channel) as whole, served(whole) as whole_url, served(channel) as url:
        gpkgs = [Gpkg(name, program, whole_url, work / name) for name, program in programs.items()]
        sharded = [Gpkg(name, program, url, work / "shards" / name) for name, program in programs.items()]
        for request in options.requests.split(","):
            specs = REQUESTS[request]
            table.begin(request)
            table.row("limit: zstd -dc", measure(options.runs, limit, os.environ))
            bench_gpkg(table, "", gpkgs, specs, options.runs)
            if has_shards:
                bench_gpkg(table, " shards", sharded, specs, options.runs)
                bench_rattler(table, " shards", url, specs, options.runs, modules)
            bench_rattler(table, "", channel, specs, options.runs, modules)
            bench_micromamba(table, whole_url, specs, options.runs, work)
            table.compare_with_peers()
        table.begin("more")
        table.rows(gpkgs, " py warm", measure_warm(options.runs, gpkgs, lambda g: g.create(REQUESTS["py"])))
        table.rows(gpkgs, " unsat warm", measure_warm(options.runs, gpkgs, lambda g: g.create(UNSATISFIABLE), expected=1))
        bench_update(table, options, gpkgs)
        shutil.rmtree(work)


def bench_update(table, options, gpkgs):
    eight = gpkgs[0].packages(run_once(gpkgs[0].create(REQUESTS["eight"]), gpkgs[0].environment)[3])
    prefix = gpkgs[0].environment_of(eight)
    costs = measure_warm(options.runs, gpkgs, lambda g: [g.program, "update", "--all", *g.channel, "-p", prefix])
    table.rows(gpkgs, " update --all", costs, f"of {len(eight)} packages")


def bench_start(table, programs, runs, work):
    table.begin("start")
    table.row("true", measure(runs, ["/bin/true"], os.environ))
    environment = gpkg_environment(work)
    for words in (["--version"], ["env", "list"], ["info"]):
        costs = measure_in_turn(runs, [([p, *words], environment, lambda: None) for p in programs.values()])
        for name, cost in zip(programs, costs):
            table.row(f"{name} {' '.join(words)}", cost)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--channel", type=pathlib.Path, action="append")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rattler", type=pathlib.Path)
    parser.add_argument("--requests", default="py,torch,eight")
    options = parser.parse_args()
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    channels = options.channel or (corpus and [pathlib.Path(corpus) / "conda-forge"])
    if not channels:
        sys.exit("no channel: name one with --channel, or a corpus with GPKG_TEST_CORPUS")
    build = options.build.resolve()
    programs = {"gpkg": build / "gpkg"}
    if options.against:
        programs["before"] = options.against.resolve()
    modules = (options.rattler or build / "witness" / "node_modules").resolve()

    table = Table()
    print(f"medians of {options.runs} processes; ratios are to the first row of a group")
    with tempfile.TemporaryDirectory(prefix="gpkg-bench.") as work:
        bench_start(table, programs, options.runs, pathlib.Path(work))
    for channel in channels:
        print(f"\n{channel}\n{'':28}   wall s    cpu s peak MiB      wall      cpu     peak")
        with tempfile.TemporaryDirectory(prefix="gpkg-bench.") as work:
            bench_channel(table, options, programs, channel.resolve(), modules, pathlib.Path(work) / "w")


main()
