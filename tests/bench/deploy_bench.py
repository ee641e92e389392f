#!/usr/bin/env python3
"""What `gpkg deploy` takes on a real slurmctld with 1 to 16 slurmd on this machine, a model of that, and what the model
says of 1,000 nodes, with its error; and how many file system calls a start of python makes from a plain environment and
from a deployed image, counted by strace.

usage: deploy_bench.py BUILD_FOLDER [--repeat N] [--sizes MB,MB] [--widths W,W] [--nodes N,N,...]
BUILD_FOLDER is build/release. Root alone can run it (slurmd), with Debian's slurm, munge, squashfs-tools and strace. All
slurmd share the processors, the disk and the loopback of this machine; a real node has its own. It judges nothing.

The models, fitted to the medians:
  copy   a + b * levels * blocks + c * nodes * MB     levels: of sbcast's tree, by TreeWidth; blocks of 8 MiB
  check  a + b * nodes + c * nodes * MB               one task of srun on each node: checksum, mount, start
The last term is work that nodes do at the same time where each has hardware of its own. So 1,000 nodes are given a
range: at best each does its own part alone; at worst each node of the tree, and srun itself, does that of all its
children, one after another. The error is what nine in ten points are within, each beside a model made without it.
"""

import argparse
import collections
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BLOCK = 8 * 1024 * 1024 / 1e6  # MB that sbcast sends at once
HERE = pathlib.Path(__file__).resolve().parent

# Runs in the world of the end-to-end tests: one cluster for a TreeWidth, one job for a number of nodes.
CLUSTER = r"""
. "$E2E/lib.sh"
. "$E2E/slurm.sh"
for number in $(seq "$NODES_MOST"); do slurm_node n$number; done
slurm_partition all ALL Default=YES MaxNodes=UNLIMITED
slurm_setting "TreeWidth=$WIDTH"
export NODE_DISK GPKG
slurm_start
for nodes in $NODES; do
    printf '#!/bin/bash\n' > job.sh
    for file in $FILES; do
        for _ in $(seq "$REPEAT"); do
            printf '"$GPKG" deploy %s --to "$NODE_DISK" --copy sbcast --json && "$GPKG" deploy --clean --to "$NODE_DISK" -q\n' "$file" >> job.sh
        done
    done
    id=$(sbatch --parsable -N "$nodes" -o "$OUT/$WIDTH-$nodes" job.sh)
    while [ -n "$(squeue -h -j "$id" -o %T 2> /dev/null | grep -E 'PENDING|RUNNING|COMPLETING')" ]; do sleep 0.2; done
done
"""


def levels(nodes, width):
    """Depth of a tree in which every node hands on to `width` others, the sender being none of the nodes."""
    depth, reached = 0, 0
    while reached < nodes:
        depth += 1
        reached += width**depth
    return depth


def solve(rows, values):
    """Least squares with relative weights: a time of 10 s may be off by more than one of 0.1 s."""
    rows = [[x / value for x in row] for row, value in zip(rows, values)]
    size = len(rows[0])
    active = list(range(size))
    while True:
        matrix = [[sum(row[i] * row[j] for row in rows) for j in active] + [sum(row[i] for row in rows)] for i in active]
        for i in range(len(active)):
            pivot = max(range(i, len(active)), key=lambda r: abs(matrix[r][i]))
            matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
            if abs(matrix[i][i]) < 1e-12:
                sys.exit("a model takes more sizes, widths or numbers of nodes than these")
            for j in range(len(active)):
                if j != i:
                    factor = matrix[j][i] / matrix[i][i]
                    matrix[j] = [x - factor * y for x, y in zip(matrix[j], matrix[i])]
        found = [matrix[i][-1] / matrix[i][i] for i in range(len(active))]
        # Nothing takes a negative time.
        if min(found) >= 0:
            result = [0.0] * size
            for place, value in zip(active, found):
                result[place] = value
            return result
        active.pop(found.index(min(found)))


def predict(terms, row):
    return sum(x * y for x, y in zip(terms, row))


def leave_one_out(rows, values):
    errors = []
    for i, value in enumerate(values):
        terms = solve(rows[:i] + rows[i + 1:], values[:i] + values[i + 1:])
        errors.append(predict(terms, rows[i]) / value - 1)
    return errors


def copy_row(nodes, width, size):
    return [1, levels(nodes, width) * math.ceil(size / BLOCK), nodes * size]


def check_row(nodes, size):
    return [1, nodes, nodes * size]


def report(name, unit, rows, values, labels):
    terms = solve(rows, values)
    errors = leave_one_out(rows, values)
    print(f"{name}: " + ", ".join(f"{term:.4f} {what}" for term, what in zip(terms, unit)))
    sizes = sorted(map(abs, errors))
    usual = sizes[math.ceil(0.9 * len(sizes)) - 1]
    worst = max(range(len(errors)), key=lambda i: abs(errors[i]))
    print(f"  left out one at a time: half of {len(values)} points within {statistics.median(sizes):.0%}, nine in ten within {usual:.0%}, "
          f"worst {errors[worst]:+.0%} ({labels[worst]})")
    return terms, usual


def measure(options, program, images, out):
    samples = collections.defaultdict(list)
    for width in options.widths:
        environment = dict(os.environ, E2E=str(HERE.parent / "e2e"), GPKG=str(program), OUT=str(out), WIDTH=str(width),
                           NODES=" ".join(map(str, options.nodes)), NODES_MOST=str(max(options.nodes)),
                           FILES=" ".join(str(image) for image in images.values()), REPEAT=str(options.repeat))
        done = subprocess.run(["bash", "-c", CLUSTER], env=environment, capture_output=True, text=True, check=False)
        if "SKIPPED" in done.stdout or "FAILED" in done.stdout:
            sys.exit(done.stdout.strip())
        for nodes in options.nodes:
            text = (out / f"{width}-{nodes}").read_text()
            for document in re.findall(r"^\{.*?^\}", text, re.M | re.S):
                sample = json.loads(document)
                if not sample["success"]:
                    sys.exit(f"a deployment failed: {document}")
                size = next(mb for mb, image in images.items() if str(image) == sample["file"])
                samples[width, nodes, size].append(sample["seconds"])
    return samples


def program_world(program, work):
    world = {name: value for name, value in os.environ.items() if not name.startswith(("CONDA_", "GPKG_", "SLURM_"))}
    world.update(HOME=str(work), GPKG_ROOT_PREFIX=str(work / "root"), CONDA_OVERRIDE_CUDA="", NO_COLOR="1")

    def gpkg(*words):
        done = subprocess.run([program, *words], env=world, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"gpkg {words[0]}: {done.stderr}")

    return world, gpkg


def make_channel(channel, name, fill, version="1"):
    """A package of files that `fill` puts into a folder."""
    folder = channel.parent / f"package-{name}"
    (folder / "info").mkdir(parents=True)
    fill(folder)
    (folder / "info/index.json").write_text(json.dumps(
        {"name": name, "version": version, "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64"}))
    paths = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or (path.is_file() and "info" not in path.relative_to(folder).parts[:1]):
            entry = {"_path": str(path.relative_to(folder)), "path_type": "softlink" if path.is_symlink() else "hardlink"}
            if not path.is_symlink():
                content = path.read_bytes()
                entry.update(sha256=hashlib.sha256(content).hexdigest(), size_in_bytes=len(content))
            paths.append(entry)
    (folder / "info/paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
    (folder / "info/files").write_text("".join(entry["_path"] + "\n" for entry in paths))
    (channel / "linux-64").mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-C", folder, "-cjf", channel / "linux-64" / f"{name}-{version}-0.tar.bz2", "."], check=True)
    shutil.rmtree(folder)


def python_package(folder):
    """This machine's python, at a place of its own."""
    version = f"python3.{sys.version_info.minor}"
    (folder / "bin").mkdir()
    real = pathlib.Path(sys.executable).resolve()
    shutil.copy(real, folder / "bin" / version)
    (folder / "bin/python").symlink_to(version)
    shutil.copytree(pathlib.Path(os.__file__).parent, folder / "lib" / version, symlinks=False,
                    ignore=shutil.ignore_patterns("dist-packages", "site-packages", "test", "config-*", "EXTERNALLY-MANAGED"))


IMPORTS = ("import argparse, asyncio, concurrent.futures, csv, ctypes, dataclasses, decimal, difflib, email.mime.text, fractions,"
           "http.client, inspect, json, logging.config, multiprocessing, pathlib, pickle, sqlite3, statistics, unittest, urllib.request, uuid, xml.dom.minidom")


def calls_on(command, world, shared, work):
    """File system calls that name something below one of these folders."""
    trace = work / "trace"
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=%file", "-o", trace, *command], env=world, check=True, stdout=subprocess.DEVNULL)
    return sum(any(f'"{folder}' in line for folder in shared) for line in trace.read_text(errors="replace").splitlines())


def compare_starts(program, work):
    channel = work / "channel"
    make_channel(channel, "python", python_package, f"3.{sys.version_info.minor}.0")
    world, gpkg = program_world(program, work)
    gpkg("index", channel)
    prefix = work / "shared/env"
    gpkg("create", "-y", "-p", prefix, "-c", f"file://{channel}", "--override-channels", "python")
    image = work / "shared/env.sqfs"
    gpkg("image", "build", "-p", prefix, "-o", image)
    local = work / "local.sqfs"
    shutil.copy(image, local)
    shared = [work / "shared"]
    plain = calls_on([prefix / "bin/python", "-c", IMPORTS], world, shared, work)
    deployed = calls_on([program, "image", "run", local, "--", "python", "-c", IMPORTS], world, shared, work)
    size = image.stat().st_size / 1e6
    print(f"\nA start of python that imports {IMPORTS.count(',') + 1} modules of its library, by strace:")
    print(f"  plain environment        {plain:7} calls on the shared file system in every process")
    print(f"  image on a local disk    {deployed:7}; the image ({size:.0f} MB) was read once by sbcast")
    print(f"  8,000 of them (1,000 nodes) {plain * 8000:,} calls beside {math.ceil(size / BLOCK)} reads of a block")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", type=numbers, default=[1, 20, 60])
    parser.add_argument("--widths", type=numbers, default=[2, 16])
    parser.add_argument("--nodes", type=numbers, default=[1, 2, 4, 8, 16])
    options = parser.parse_args()
    program = (options.build / "gpkg").resolve()
    with tempfile.TemporaryDirectory(prefix="gpkg-deploy-bench.") as folder:
        work = pathlib.Path(folder)
        world, gpkg = program_world(program, work)
        channel = work / "noise"
        images = {}
        for size in options.sizes:
            make_channel(channel, f"noise{size}", lambda to: (to / "noise").write_bytes(os.urandom(size * 1_000_000)))
        gpkg("index", channel)
        for size in options.sizes:
            gpkg("create", "-y", "-p", work / f"{size}", "-c", f"file://{channel}", "--override-channels", f"noise{size}")
            images[size] = work / f"noise{size}.sqfs"
            gpkg("image", "build", "-p", work / f"{size}", "-o", images[size])
            shutil.rmtree(work / f"{size}")
        (work / "out").mkdir()
        samples = measure(options, program, images, work / "out")

        print(f"gpkg deploy by sbcast, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, medians of {options.repeat}")
        print("width nodes    MB |   copy s  check s | MB/s to all nodes")
        points = []
        for (width, nodes, size), many in sorted(samples.items()):
            copy = statistics.median(one["copy"] for one in many)
            check = statistics.median(one["check"] for one in many)
            points.append((width, nodes, size, copy, check))
            print(f"{width:5} {nodes:5} {size:5} | {copy:8.2f} {check:8.2f} | {nodes * size / copy:8.0f}")
        labels = [f"width {w}, {n} nodes, {s} MB" for w, n, s, *_ in points]
        print()
        copy, copy_error = report("copy ", ["s", "s a level and block", "s a node and MB"],
                                     [copy_row(n, w, s) for w, n, s, *_ in points], [p[3] for p in points], labels)
        check, check_error = report("check", ["s", "s a node", "s a node and MB"],
                                       [check_row(n, s) for _, n, s, *_ in points], [p[4] for p in points], labels)
        nodes, width, size = 1000, 50, 1000
        depth, blocks = levels(nodes, width), math.ceil(size / BLOCK)
        tree = copy[0] + copy[1] * depth * blocks
        best = tree + copy[2] * size + check[0] + check[2] * size
        worst = tree + copy[2] * size * width * depth + check[0] + check[1] * nodes + check[2] * size
        error = max(copy_error, check_error)
        print(f"\n{nodes:,} nodes, {size} MB, TreeWidth {width}, each with what this machine is: {best:.0f} s (every node works at the same"
              f" time) to {worst:.0f} s (a node serves its {width} children one after another), each +-{error:.0%}")
        print(f"  were they to share this machine as here: {predict(copy, copy_row(nodes, width, size)) + predict(check, check_row(nodes, size)):.0f} s")
        compare_starts(program, work)


if __name__ == "__main__":
    main()
