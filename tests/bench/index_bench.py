#!/usr/bin/env python3
"""How long gpkg index takes: index_bench.py GPKG [PACKAGES] [FOLDER]

Makes a channel of PACKAGES (100,000) small .tar.bz2 in linux-64, with the records of the conda-forge
of GPKG_TEST_CORPUS (needs zstd) or, without it, made-up ones of about their size; then indexes it,
indexes it again, and again after each of a few additions. The last has a limit, on processor time: it
is for two cores, and the machine may have other work. FOLDER keeps the channel for the next run; the
copies of the corpus stand under names that end in -uN.
"""

import bz2
import io
import json
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tarfile
import tempfile
import time

LIMIT_S = 2.5
ADDITIONS = 5
DERIVED = ("md5", "sha256", "size")


def real_records():
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    if not corpus:
        print("GPKG_TEST_CORPUS is not set: the records are made up")
        return None
    path = pathlib.Path(corpus) / "conda-forge/linux-64/repodata.json.zst"
    data = json.loads(subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout)
    both = {**data["packages"], **data["packages.conda"]}
    return [{k: v for k, v in both[fn].items() if k not in DERIVED} for fn in sorted(both)]


def made_up(i):
    return {"name": f"name{i % 15000}", "version": f"1.{i // 15000}", "build": f"h{i:07x}_0",
            "build_number": 0, "license": "MIT", "timestamp": 1700000000000 + i,
            "depends": [f"name{(i * k) % 15000} >=1.{k},<2.0a0" for k in range(1, 14)]}


def record_of(i, seeds):
    if not seeds:
        return made_up(i)
    seed = dict(seeds[i % len(seeds)])
    if i >= len(seeds):
        seed["name"] += f"-u{i // len(seeds)}"
    return seed


def write_package(folder, record):
    record = {**record, "subdir": "linux-64"}
    info = {"index.json": record, "paths.json": {"paths": [], "paths_version": 1},
            "about.json": {"home": "https://example.org", "summary": f"about {record['name']}"}}
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in info.items():
            text = json.dumps(content).encode()
            member = tarfile.TarInfo(f"info/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    fn = "{name}-{version}-{build}.tar.bz2".format(**record)
    (folder / fn).write_bytes(bz2.compress(unpacked.getvalue(), 1))


def write_packages(folder, numbers, seeds):
    for i in numbers:
        write_package(folder, record_of(i, seeds))


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(gpkg, channel, what):
    """The seconds that passed, and those of processors."""
    start, before = time.monotonic(), processor_seconds()
    run = subprocess.run([gpkg, "index", "--json", channel], capture_output=True, text=True)
    seconds, processor = time.monotonic() - start, processor_seconds() - before
    if run.returncode != 0:
        sys.exit(f"gpkg index: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    about = json.loads(run.stdout)["subdirs"]["linux-64"]
    print(f"{what:<20} {seconds:8.2f} s, of processors {processor:8.2f} s   "
          f"{about['packages']} packages, {about['read']} read", flush=True)
    return processor


def main():
    gpkg, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    keep = tempfile.TemporaryDirectory() if len(sys.argv) < 4 else None
    channel = pathlib.Path(keep.name if keep else sys.argv[3])
    folder = channel / "linux-64"
    seeds = real_records()
    if not folder.exists():
        folder.mkdir(parents=True)
        jobs = os.cpu_count()
        parts = [(folder, range(k, count, jobs), seeds) for k in range(jobs)]
        with multiprocessing.Pool(jobs) as pool:
            pool.starmap(write_packages, parts)
    timed(gpkg, channel, "all of it")
    timed(gpkg, channel, "nothing changed")
    again = []
    for i in range(ADDITIONS):
        added = {**made_up(0), "name": "added", "version": str(time.time_ns())}
        write_package(folder, added)
        again.append(timed(gpkg, channel, "one package more"))
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.endswith(".tar.bz2"):
            print(f"{path.name:<32} {path.stat().st_size / 1e6:8.1f} MB")
    middle = sorted(again)[len(again) // 2]
    print(f"one package more, middle of {len(again)}: {middle:.2f} s of processors, limit {LIMIT_S} s")
    return middle > LIMIT_S


if __name__ == "__main__":
    sys.exit(main())
