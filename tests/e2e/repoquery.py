#!/usr/bin/env python3
"""Asks gpkg repoquery about real channels, and compares the answers with what the records of those channels say when
they are read here, and with what gpkg search finds.

usage: repoquery.py GPKG
Reads the channels of GPKG_TEST_CORPUS; exit status 77 where that is not set, or where there is no zstd to read them.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CHANNEL = "conda-forge"
NAMES = ["python", "numpy", "libzlib", "__cuda", "__glibc", "python_abi", "_openmp_mutex", "libblas"]
SPECS = ["python=3.12", "numpy>=2", "numpy=1.26", "libblas[build=*openblas]", "openssl<3", "cuda-version=12"]
ROOTS = ["numpy", "pytorch", "scipy", "r-base", "jupyterlab"]
SAMPLE = 12


class Channel:
    def __init__(self, program, corpus, folder):
        self.program = program
        self.url = f"file://{corpus / CHANNEL}"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA_", "GPKG_", "MAMBA_"))}
        self.environment |= {"HOME": str(folder), "GPKG_ROOT_PREFIX": str(folder / "root"), "CONDA_SUBDIR": "linux-64"}
        self.records = {}
        for subdir in "linux-64", "noarch":
            text = subprocess.run(["zstd", "-dcq", corpus / CHANNEL / subdir / "repodata.json.zst"],
                                  capture_output=True, check=True).stdout
            repodata = json.loads(text)
            conda = repodata["packages.conda"]
            for fn, record in (repodata["packages"] | conda).items():
                if fn.endswith(".conda") or fn.removesuffix(".tar.bz2") + ".conda" not in conda:
                    self.records[subdir, fn] = record

    def ask(self, *words):
        done = subprocess.run([self.program, *words, "--json", "-c", self.url, "--override-channels"],
                              env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout)

    def query(self, *words):
        return self.ask("repoquery", *words)["result"]

    def found(self, spec):
        """What gpkg search finds, the newest last."""
        document = self.ask("search", spec)
        return [key(record) for records in document.values() for record in records] if "error" not in document else []


def key(record):
    return record["subdir"], record["fn"]


def name_of(spec):
    return re.split(r"[ <>=!~\[]", spec, maxsplit=1)[0]


def check_names(channel):
    for name in NAMES:
        wanted = {k for k, record in channel.records.items() if name in map(name_of, record["depends"])}
        answer = channel.query("whoneeds", name)["pkgs"]
        if not wanted or {key(record) for record in answer} != wanted or len(answer) != len(wanted):
            yield f"whoneeds {name}: {len(answer)} records, not {len(wanted)}"
        for record in answer:
            needs = [need["spec"] for need in record["needs"]]
            if needs != [spec for spec in record["depends"] if name_of(spec) == name]:
                yield f"whoneeds {name}: {record['fn']} has {needs}"


def check_specs(channel, dice):
    """A dependency could be met by what a spec matches where both find the same record."""
    for spec in SPECS:
        name = re.split(r"[<>=\[]", spec, maxsplit=1)[0]
        matching = set(channel.found(spec))
        dependencies = sorted({d for r in channel.records.values() for d in r["depends"] if name_of(d) == name})
        answer = channel.query("whoneeds", spec)["pkgs"]
        met = {need["spec"] for record in answer for need in record["needs"]}
        wanted = {k for k, record in channel.records.items() if not met.isdisjoint(record["depends"])}
        if not matching or {key(record) for record in answer} != wanted:
            yield f"whoneeds {spec}: {len(answer)} records, not {len(wanted)}"
        for dependency in dice.sample(dependencies, min(SAMPLE, len(dependencies))):
            if (dependency in met) != (not matching.isdisjoint(channel.found(dependency))):
                yield f"whoneeds {spec}: wrong about {dependency}"


def check_walks(channel, dice):
    for root in ROOTS:
        packages = channel.query("depends", "-r", root)["pkgs"]
        if packages != channel.query("tree", root)["pkgs"]:
            yield f"tree {root}: has other records than depends -r"
        reached, queue = {0}, [0]
        links = []
        for place, record in enumerate(packages):
            if [need["spec"] for need in record["dependencies"]] != record["depends"]:
                yield f"depends -r {root}: not the depends of {record['fn']}"
            links += [(need["spec"], need["met_by"], need["pkg"]) for need in record["dependencies"]]
        while queue:
            for need in packages[queue.pop()]["dependencies"]:
                if need["pkg"] is not None and need["pkg"] not in reached:
                    reached.add(need["pkg"])
                    queue.append(need["pkg"])
        if len(reached) != len(packages) or len(packages) < 5:
            yield f"depends -r {root}: {len(packages)} packages, {len(reached)} of them reached"
        for spec, met_by, place in dice.sample(links, min(SAMPLE, len(links))):
            found = channel.found(spec)
            expected = "machine" if spec.startswith("__") else "package" if found else "nobody"
            if met_by != expected or (place is not None and key(packages[place]) not in found):
                yield f"depends -r {root}: {spec} is met by {met_by} {place}"


def main():
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    if not corpus or not shutil.which("zstd"):
        print("skipped: GPKG_TEST_CORPUS is not set, or there is no zstd")
        return 77
    dice = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        channel = Channel(sys.argv[1], pathlib.Path(corpus).absolute(), pathlib.Path(folder))
        problems = [*check_names(channel), *check_specs(channel, dice), *check_walks(channel, dice)]
    print("\n".join(problems) or f"{len(channel.records)} records: what they need, and who needs them, is as they say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
