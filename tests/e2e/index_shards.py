#!/usr/bin/env python3
"""Compares the shards that gpkg index writes with those of an independent maker of shards.

index_shards.py GPKG [RECORDS]: packs the first RECORDS (1500) records of the conda-forge of
GPKG_TEST_CORPUS into packages, indexes them, has tools/gen_shards.py beside the corpus make shards
of the repodata.json, and compares all of both, unpacked. Exit status 77 where the corpus, the tool or
what the tool needs (msgpack, zstandard) is missing.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import index_bench

SKIPPED = 77
PYTHON = sys.executable
INDEX = "repodata_shards.msgpack.zst"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def tool():
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    if not corpus:
        skip("GPKG_TEST_CORPUS is not set")
    path = pathlib.Path(corpus).parent / "tools/gen_shards.py"
    if not path.exists():
        skip(f"there is no {path}")
    if subprocess.run([PYTHON, "-c", "import msgpack, zstandard"], stderr=subprocess.DEVNULL).returncode:
        skip(f"{PYTHON} has no msgpack or no zstandard")
    return path


def unpacked(folder):
    """The index of a subdir, with what each shard holds in place of its hash."""
    import msgpack
    import zstandard

    def read(path):
        content = path.read_bytes()
        return content, msgpack.unpackb(zstandard.ZstdDecompressor().decompress(content))

    _, index = read(folder / INDEX)
    index["info"].pop("created_at", None)  # when, which the same packages must not give other bytes by
    for name, digest in index["shards"].items():
        content, shard = read(folder / "shards" / f"{digest.hex()}.msgpack.zst")
        assert hashlib.sha256(content).digest() == digest, f"{name}: wrong hash"
        index["shards"][name] = shard
    return index


def main():
    gen_shards = tool()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    with tempfile.TemporaryDirectory() as work:
        channel = pathlib.Path(work) / "channel"
        (channel / "linux-64").mkdir(parents=True)
        index_bench.write_packages(channel / "linux-64", range(count), index_bench.real_records())
        subprocess.run([sys.argv[1], "index", "-q", channel], check=True)
        other = pathlib.Path(work) / "other"
        subprocess.run([PYTHON, gen_shards, channel, other], check=True, stdout=subprocess.DEVNULL)
        for subdir in ("linux-64", "noarch"):
            ours, theirs = unpacked(channel / subdir), unpacked(other / subdir)
            assert ours == theirs, f"{subdir}: the shards differ"
            records = sum(len(s["packages"]) + len(s["packages.conda"]) for s in ours["shards"].values())
            assert records == (count if subdir == "linux-64" else 0)
            print(f"{subdir}: {len(ours['shards'])} shards of {records} records are the same")


main()
