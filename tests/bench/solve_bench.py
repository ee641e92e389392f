#!/usr/bin/env python3
"""Time and memory of `gpkg create --dry-run` over a channel, beside two things measured in the same run:
the floor (reading, unpacking and parsing the same files, parse_floor) and rattler as the peer.

usage: solve_bench.py BUILD_FOLDER [--channel FOLDER] [--runs N] [--rattler NODE_MODULES]
BUILD_FOLDER is build/release; the channel is conda-forge of GPKG_TEST_CORPUS where none is named. gpkg reads it
over http on loopback, cold (an empty cache) and warm (the second time). Rows are medians of whole processes.
It judges nothing: times depend on the machine, ratios are what to read.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
MACHINE = {"__glibc": "2.36", "__linux": "6.1", "__unix": "0", "__cuda": "12.8"}
REQUESTS = {
    "py": ["python=3.12", "numpy", "pandas"],
    "torch": ["pytorch", "cuda-version=12.*"],
    "eight": "python scipy scikit-learn matplotlib pytorch jupyterlab xarray dask".split(),
}


class Cost:
    """Medians of some runs: seconds of wall and cpu, MiB at the peak, and what the last one printed."""

    def __init__(self, runs):
        self.wall, self.cpu, self.peak = (statistics.median(run[i] for run in runs) for i in range(3))
        self.output = runs[-1][3]

    def __str__(self):
        return f"{self.wall:8.3f} {self.cpu:8.3f} {self.peak:8.0f}"


def run_once(command, environment):
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        output.seek(0)
        text = output.read().decode(errors="replace")
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {child.returncode}\n{text}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def measure(runs, command, environment, prepare=lambda: None):
    results = []
    for _ in range(runs):
        prepare()
        results.append(run_once(command, environment))
    return Cost(results)


@contextlib.contextmanager
def served(folder):
    """The URL of a web server on loopback, for the time of the block."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = server.stdout.readline().split(" port ")[1].split()[0]
        url = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(url).close()
        yield url
    finally:
        server.terminate()
        server.wait()


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


def row(request, what, cost, base, count):
    ratios = f"{cost.wall / base.wall:8.1f} {cost.cpu / base.cpu:8.1f} {cost.peak / base.peak:8.1f}"
    print(f"{request:6} {what:10} {cost}  {ratios}  {count}")


def bench(request, specs, build, channel, url, runs, modules, work):
    environment = gpkg_environment(work)
    floor = measure(runs, [build / "tests" / "parse_floor", *index_files(channel)], os.environ)
    row(request, "floor", floor, floor, "")

    def forget():
        shutil.rmtree(work / "cache", ignore_errors=True)

    command = [build / "gpkg", "create", "--dry-run", "--json", "-n", "x", "-c", url, "--override-channels", *specs]
    for state, prepare in (("cold", forget), ("warm", lambda: None)):
        cost = measure(runs, command, environment, prepare)
        count = cost.output.split('"LINK"')[-1].count('"dist_name"')
        row(request, f"gpkg {state}", cost, floor, f"{count} packages")
    peer = rattler_command(modules, channel, specs)
    if peer is None:
        print(f"{request:6} no peer: node or @conda-org/rattler is missing (ctest -L witness installs it)")
        return
    cost = measure(runs, peer, os.environ)
    row(request, "rattler", cost, floor, f"{cost.output.strip()} packages")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--channel", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rattler", type=pathlib.Path)
    options = parser.parse_args()
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    channel = options.channel or (corpus and pathlib.Path(corpus) / "conda-forge")
    if not channel:
        sys.exit("no channel: name one with --channel, or a corpus with GPKG_TEST_CORPUS")
    build = options.build.resolve()
    modules = (options.rattler or build / "witness" / "node_modules").resolve()

    print(f"{channel}, medians of {options.runs} processes")
    print(f"{'':17}   wall s    cpu s peak MiB   and each as a multiple of the floor")
    with tempfile.TemporaryDirectory(prefix="gpkg-bench.") as work, served(channel) as url:
        for request, specs in REQUESTS.items():
            bench(request, specs, build, channel.resolve(), url, options.runs, modules, pathlib.Path(work))


main()
