#!/usr/bin/env python3
"""Holds an environment of NVIDIA's packages against what its files say, by readelf and not by gpkg.

    check_installed.py PREFIX PKGS [--gpu GPKG CUOBJDUMP]

Every file has one owner; libraries have neither headers nor archives beside them; what a library needs is in
the environment, and its package depends on the one that has it; each package has a licence. --gpu: the
architectures that gpkg reads from libraries are those that NVIDIA's own cuobjdump lists.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

GLIBC = re.compile(r"(ld-linux-.*|lib(c|m|dl|rt|util|pthread|resolv))\.so\.\d+")
DRIVER = re.compile(r"lib(cuda|nvidia-ml|nvcuvid)\.so\.1")


def needed(file: Path):
    done = subprocess.run(["readelf", "-dW", file], capture_output=True, text=True)
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", done.stdout)


def is_elf(file: Path):
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def check_files(prefix, records):
    owners = {}
    for name, record in records.items():
        for path in record["files"]:
            if path in owners:
                yield f"{path}: in {owners[path]} and {name}"
            owners[path] = name
            if not (prefix / path).exists():
                yield f"{name}: {path}: is not there, or leads nowhere"
        paths = record["files"]
        if any(re.fullmatch(r"lib/.*\.so\..*", path) for path in paths) and not name.endswith("-stubs"):
            for path in paths:
                if path.endswith((".a", ".h", ".hpp", ".cuh", ".pc")) or "/stubs/" in path:
                    yield f"{name}: {path}: beside libraries for running"


def check_needs(prefix, records):
    owners = {Path(path).name: name for name, record in records.items() for path in record["files"]
              if ".so" in path and "/stubs/" not in path}
    for name, record in records.items():
        depends = {spec.split()[0] for spec in record["depends"]}
        for path in record["files"]:
            file = prefix / path
            if file.is_symlink() or "/stubs/" in path or path.endswith((".a", ".o")) or not is_elf(file):
                continue
            for library in needed(file):
                if GLIBC.fullmatch(library) or DRIVER.fullmatch(library):
                    continue
                owner = owners.get(library)
                if owner is None:
                    yield f"{name}: {path}: needs {library}, which no package here has"
                elif owner != name and owner not in depends:
                    yield f"{name}: {path}: needs {library} of {owner}, and does not depend on it"


def check_licenses(pkgs, records):
    for name, record in records.items():
        if not record.get("license", "").startswith("LicenseRef"):
            continue
        if not list(pkgs.glob(f"*{name}-{record['version']}-{record['build']}*/info/licenses/LICENSE")):
            yield f"{name}: has no LICENSE"


def check_gpu(prefix, records, gpkg, cuobjdump):
    def listed(option, file):
        text = subprocess.run([cuobjdump, "-all", option, file], capture_output=True, text=True).stdout
        return {f"{code[:-1]}.{code[-1]}" for code in re.findall(r"\.sm_(\d+)[a-z]?\.(?:cubin|ptx)\b", text)}

    count = 0
    for name, record in records.items():
        for path in record["files"]:
            file = prefix / path
            if not re.fullmatch(r"targets/[^/]+/lib/[^/]+\.so\.[^/]*", path) or file.is_symlink():
                continue
            said = json.loads(subprocess.run([gpkg, "inspect", file, "--json"], capture_output=True, text=True).stdout)
            code = said.get("gpu_code") or {"sass": [], "ptx": []}
            for kind, option in (("sass", "--list-elf"), ("ptx", "--list-ptx")):
                ours = {target.rstrip("af") for target in code[kind]}
                if ours != (theirs := listed(option, file)):
                    yield f"{name}: {path}: {kind}: {sorted(ours)}, by cuobjdump {sorted(theirs)}"
            count += bool(code["sass"])
    if not count:
        yield "no library has code for GPUs"


def main():
    prefix, pkgs = Path(sys.argv[1]), Path(sys.argv[2])
    found = [json.loads(file.read_text()) for file in (prefix / "conda-meta").glob("*.json")]
    records = {record["name"]: record for record in found if "name" in record}
    problems = [*check_files(prefix, records), *check_needs(prefix, records), *check_licenses(pkgs, records)]
    if "--gpu" in sys.argv:
        problems += check_gpu(prefix, records, *sys.argv[-2:])
    for problem in problems:
        print(problem)
    print(f"{len(records)} packages, {sum(len(record['files']) for record in records.values())} files, "
          f"{len(problems)} faults")
    sys.exit(bool(problems) or not records)


if __name__ == "__main__":
    main()
