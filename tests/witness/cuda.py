"""One CUDA in an environment: requests for GPUs on machines of several drivers, and by the records alone whether the
answer has two major versions of CUDA, or one beyond the driver's major version, or a build for CUDA that loads into
PyTorch for CPUs. Forward compatibility within one major version is fine. Shares no code with gpkg.

What a record says of CUDA, the first that says something:
1. its dependencies on cuda-version, cudatoolkit, pytorch-cuda, or being one of these;
2. its build string: cuda126, cuda11.8, cu121, cuda13;
3. its name and own version, where it is a part of the toolkit: libcufft 11 is of CUDA 12 (PARTS).

A fault that the request asks for is listed apart: a spec whose records all have it ("asked"), or a name without any
other build ("no other build"), and whether gpkg says a word about it. Machines without a driver exceed none.

usage: cuda.py GPKG [--all], with the corpus at GPKG_TEST_CORPUS; without --all a slice of the requests
"""
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from corpus import Channel, clean_environment

# The channels, if others than conda-forge, and the specs (apart by "; " where they have blanks).
REQUESTS = [
    "pytorch", "pytorch; torchvision", "pytorch-gpu", "tensorflow", "jax", "jax; tensorflow", "jaxlib=*=cuda*",
    "cupy", "cupy; pytorch", "cupy; jaxlib=*=cuda*", "lightgbm", "faiss", "pytorch_scatter", "torch-scatter; pytorch",
    "onnxruntime", "opencv", "ucx", "openmm", "gromacs", "lammps", "colmap", "open3d", "xformers", "flash-attn",
    "numba-cuda", "pycuda", "cuda-python", "transformers; pytorch=*=cuda*", "pyarrow", "ambertools",
    "pytorch; cuda-version=12.*", "pytorch; cuda-version=11.8", "pytorch; cuda-version=13.*",
    "pyarrow; cuda-version=12.9", "cudatoolkit", "cuda-toolkit", "cuda-version", "cuda-nvcc", "libcublas", "libcufft",
    "cudnn", "nccl; cupy", "magma; pytorch", "cuda-toolkit; pytorch",
    "pytorch-cpu; torchvision", "pytorch=*=cpu*; torch-scatter", "pytorch[accel=none]; pytorch_scatter",
    "pytorch,nvidia,conda-forge: pytorch", "pytorch,nvidia,conda-forge: pytorch; torchvision; torchaudio",
    "pytorch,nvidia,conda-forge: pytorch; pytorch-cuda", "pytorch,nvidia,conda-forge: pytorch; pytorch-cuda=12.1",
    "pytorch,nvidia,conda-forge: pytorch=2.0; torchvision", "pytorch,nvidia,conda-forge: faiss-gpu",
    "pytorch,conda-forge: pytorch=1.12; torchvision", "pytorch,conda-forge: torchcsprng",
    "pytorch,nvidia,conda-forge: pytorch=1.8", "conda-forge,pytorch,nvidia: pytorch; faiss-gpu",
    "nvidia,conda-forge: cuda", "nvidia,conda-forge: cuda-toolkit", "nvidia,conda-forge: cuda-toolkit=11.8",
    "nvidia,conda-forge: cuda-nvcc", "nvidia,conda-forge: libcublas; libcufft; libcusolver",
    "nvidia,conda-forge: cuda-runtime; libnpp", "nvidia,conda-forge: pytorch",
    "rapidsai,conda-forge,nvidia: cudf", "rapidsai,conda-forge,nvidia: cuml", "rapidsai,conda-forge: cudf; pytorch",
    "rapidsai,conda-forge: cudf; cupy; dask-cuda",
]
SLICE = 4  # each fourth request

# Name, the CUDA that the driver supports and the compute capability of its GPU.
MACHINES = {
    "no-gpu": None,
    "cuda-10.2": ("10.2", "7.0"),
    "cuda-11.4": ("11.4", "7.0"),
    "cuda-11.8": ("11.8", "8.0"),
    "cuda-12.2": ("12.2", "8.0"),
    "cuda-12.8": ("12.8", "9.0"),
    "cuda-13.0": ("13.0", "9.0"),
    "amd": None,
}
AMD = """amd: {driver: present, rocm: 6.4.0}
gpus: [{vendor: amd, name: MI300X, architecture: gfx942, memory_mib: 196592}]
"""
MAJORS = range(7, 20)
ANY = frozenset(MAJORS)

DECLARING = ("cuda-version", "cudatoolkit", "pytorch-cuda")
BUILD = re.compile(r"(?:^|[^a-z])(?:cuda|cu)_?(\d+)(?:\.(\d+))?")
# Packages with versions of their own, and what neither runs nor compiles anything.
NOT_PARTS = re.compile(r"cuda-(core|pathfinder|cccl|quantum|documentation)$|nvidia-ml-py$")


def numbers(text):
    """(12, 9) of 12.9a0"""
    return tuple(int(re.match(r"\d*", part)[0] or 0) for part in re.sub(r"^\d+!", "", text).split("."))


# Parts of the toolkit that are not numbered as the toolkit is: the major versions of CUDA of a version.
PARTS = {
    "libcufft": lambda v: {10: {10, 11}, 11: {12}, 12: {13}}.get(v[0]),
    "libcusolver": lambda v: {13} if v[0] == 12 else {12} if v >= (11, 4, 2) else {11},
    "libcusparse": lambda v: {12, 13} if v[0] == 12 else {v[0]},
    "libcurand": lambda v: {12, 13} if v >= (10, 3, 1) else {11},
    "libcufile": lambda v: {12, 13} if v >= (1, 5) else {11},
}
PARTS["gds-tools"] = PARTS["libcufile"]
SAME_NUMBERS = re.compile(r"cuda$|cuda-|libcublas|libnpp|libnvjpeg|libnvjitlink|libnvfatbin|libnvvm|libnvptxcompiler")


def clause_matches(clause, version):
    op, text = re.match(r"(>=|<=|==|!=|~=|=|>|<)?\s*(.*)", clause).groups()
    if text in ("", "*"):
        return True
    bound = numbers(re.sub(r"\.?\*$", "", text))
    starts = version[: len(bound)] == bound
    if op in ("=", None, "!=", "==") and (text.endswith("*") or op == "="):
        return starts != (op == "!=")
    return {
        ">=": version >= bound, "<=": version <= bound or starts, ">": version > bound and not starts,
        "<": version < bound, "==": version == bound, None: version == bound, "!=": version != bound,
        "~=": version >= bound and version[: len(bound) - 1] == bound[:-1],
    }[op]


def version_matches(spec, version):
    return any(all(clause_matches(c.strip(), version) for c in part.split(",")) for part in spec.split("|"))


def majors_of_spec(spec):
    """The major versions of CUDA with any minor one that the version spec takes, its last patch."""
    return frozenset(m for m in MAJORS if any(version_matches(spec, (m, minor, 999)) for minor in range(30)))


def read_spec(text):
    """name, version and build of a spec as users and records write it: "" for any"""
    name, rest = re.match(r"(?:[\w.-]+::)?([\w.-]+)\s*([^\[]*)", text.strip()).groups()
    if both := re.match(r"={1,2}([^=<>!~|, ]+)=([^= ]+)$", rest):
        return name, both[1], both[2]
    version, _, build = re.sub(r"([<>=!~,|])\s+", r"\1", rest.strip()).partition(" ")
    return name, version, build.strip()


def majors_in_build(build):
    """{12} of cuda126py312h0_0; cuda0.0 is how some say CPU"""
    found = BUILD.search(build)
    if not found or found[1] == "0":
        return None
    digits, minor = found.groups()
    if minor is None and len(digits) > 1:
        digits = digits[:2] if digits[0] == "1" else digits[0]
    return frozenset({int(digits)})


def majors_of_part(record):
    name = re.sub(r"[-_](dev|static|impl|tools)?_?(linux|win)-\w+$|-(dev|static)$", "", record["name"])
    version = numbers(record["version"])
    if of_name := re.match(r"cuda(\d+)$", name):  # pytorch's cuda92
        return frozenset({int(of_name[1]) // 10})
    if NOT_PARTS.match(name):
        return None
    if name in PARTS:
        return frozenset(PARTS[name](version) or ANY)
    return frozenset({version[0]}) if SAME_NUMBERS.match(name) and version[0] in MAJORS else None


def majors(record):
    """The major versions of CUDA that a record goes with; None where it says nothing of CUDA."""
    if record["name"] in DECLARING:
        return frozenset({numbers(record["version"])[0]})
    declared = [read_spec(d)[1] for d in record["depends"] if read_spec(d)[0] in DECLARING]
    if declared:
        return frozenset.intersection(*map(majors_of_spec, declared))
    if record["name"] == "faiss-cpu":  # has the build strings of faiss-gpu
        return None
    return majors_in_build(record["build"]) or majors_of_part(record)


def is_for_cuda(record):
    return majors(record) is not None or bool(re.search(r"cuda|gpu", record["build"]))


class Gpkg:
    def __init__(self, program, work):
        self.program, self.work = program, work
        self.env = clean_environment(work)
        os.makedirs(os.path.join(work, "profiles"), exist_ok=True)
        for name, driver in MACHINES.items():
            text = "gpkg_profile: 1\nplatform: linux-64\nsystem: {glibc: \"2.36\", linux: \"6.1\"}\n"
            if driver:
                text += "nvidia: {cuda: \"%s\"}\ngpus: [{vendor: nvidia, architecture: \"%s\"}]\n" % driver
            elif name == "amd":
                text += AMD
            with open(os.path.join(work, "profiles", name + ".yaml"), "w") as file:
                file.write(text)

    def solve(self, channels, specs, machine):
        """(records, notes), or (None, the error's text)"""
        words = [self.program, "solve", "--json", "--override-channels", "--for", machine]
        for channel in channels:
            words += ["-c", channel.folder]
        ended = subprocess.run([*words, *specs], env=self.env, capture_output=True, text=True)
        try:
            answer = json.loads(ended.stdout)
        except ValueError:
            sys.exit(f"{' '.join(words + specs)}: {ended.stdout}{ended.stderr}")
        if ended.returncode == 0:
            return answer["packages"], answer.get("notes", [])
        return None, answer["message"]


def majors_left(channels, spec):
    """The major versions of the records that a requested spec leaves; ANY where one says nothing of CUDA."""
    name, version, build = read_spec(spec)
    records = next((c.records[name] for c in channels if name in c.records), [])
    left = [
        majors(r) for r in records
        if version_matches(version, numbers(r["version"])) and fnmatch.fnmatch(r["build"], build or "*")
    ]
    return frozenset().union(*(ANY if one is None else one for one in left))


def told(record, said):
    return f"{record['name']} {record['version']} {record['build']}" + (
        f" (CUDA {' or '.join(map(str, sorted(said)))})" if said else "")


def faults(records, driver):
    """[(kind, text)]"""
    found = []
    said = {r["name"]: majors(r) for r in records}
    carrying = [r for r in records if said[r["name"]] is not None]
    common = frozenset.intersection(ANY, *(said[r["name"]] for r in carrying))
    if not common:
        for first in carrying:
            other = next((r for r in carrying if not said[r["name"]] & said[first["name"]]), None)
            if other:
                found.append(("two majors", " with ".join(told(r, said[r["name"]]) for r in (first, other))))
                break
        else:
            found.append(("two majors", ", ".join(told(r, said[r["name"]]) for r in carrying)))
    beyond = [r for r in carrying if driver and min(said[r["name"]], default=99) > driver]
    if beyond or (driver and common and min(common) > driver):
        worst = beyond or carrying
        found.append(("beyond the driver", ", ".join(told(r, said[r["name"]]) for r in worst[:4])))
    torch = next((r for r in records if r["name"] == "pytorch"), None)
    if torch and not is_for_cuda(torch):
        loaded = [r for r in carrying if any(read_spec(d)[0] in ("pytorch", "libtorch") for d in r["depends"])]
        found += [("CUDA in PyTorch for CPUs", f"{told(r, said[r['name']])} with {told(torch, None)}") for r in loaded[:1]]
    return found


def reason(channels, specs, driver, kind):
    """Whether the request has the fault in it: "asked", "no other build", or nothing."""
    if kind == "CUDA in PyTorch for CPUs":
        return None
    left = {s: majors_left(channels, s) for s in specs}
    fine = [m for m in MAJORS if kind == "two majors" or m <= driver]
    if any(m in one for m in fine for one in [frozenset.intersection(*left.values())]):
        return None
    restricted = [s for s in specs if re.search(r"[=<>]", s) and not left[s] >= ANY]
    return "asked" if restricted else "no other build"


def main():
    program, *flags = sys.argv[1:]
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    if not corpus or not shutil.which("zstd"):
        print("SKIPPED: GPKG_TEST_CORPUS is not set, or zstd is not installed")
        sys.exit(77)
    known = {n: Channel(os.path.join(corpus, n)) for n in ("conda-forge", "pytorch", "nvidia", "rapidsai")}
    requests = REQUESTS if "--all" in flags else REQUESTS[::SLICE]
    lines, counts = [], {"solved": 0, "not satisfiable": 0}

    def cell(gpkg, request, machine):
        *names, text = request.split(": ")
        channels = [known[n] for n in (names[0].split(",") if names else ["conda-forge"])]
        specs = text.split("; ")
        driver = MACHINES[machine] and int(MACHINES[machine][0].split(".")[0])
        records, notes = gpkg.solve(channels, specs, machine)
        if records is None:
            return "-", []
        found = []
        for kind, what in faults(records, driver):
            why = reason(channels, specs, driver, kind)
            silent = "" if any(re.search(r"CUDA|cuda|driver", note) for note in notes) else ", nothing is said"
            found.append((why or "OFFENDS", kind, f"{request} on {machine}: {what}{silent}"))
        carried = [majors(r) for r in records if majors(r) is not None]
        common = frozenset.intersection(ANY, *carried) if carried else None
        shown = "none" if common is None else "/".join(map(str, sorted(common))) or "mixed"
        return ("any" if common == ANY else shown) + ("!" if any(f[0] == "OFFENDS" for f in found) else ""), found

    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        gpkg = Gpkg(program, work)
        gpkg.solve(known.values(), ["zlib"], "no-gpu")  # reads the channels once for all
        rows = {r: [pool.submit(cell, gpkg, r, m) for m in MACHINES] for r in requests}
        print(f"{'CUDA of the environment':66}" + "".join(f"{m:11}" for m in MACHINES))
        for request, cells in rows.items():
            print(f"{request:66}" + "".join(f"{c.result()[0]:11}" for c in cells))
            for shown, found in (c.result() for c in cells):
                counts["not satisfiable" if shown == "-" else "solved"] += 1
                lines += found
    for why in ("asked", "no other build", "OFFENDS"):
        for kind in ("two majors", "beyond the driver", "CUDA in PyTorch for CPUs"):
            texts = [text for one, other, text in lines if (one, other) == (why, kind)]
            if texts:
                print(f"\n{why}, {kind}: {len(texts)}")
            for text in texts:
                print("   ", text)
    offending = sum(why == "OFFENDS" for why, _, _ in lines)
    print(f"\n{len(requests)} requests on {len(MACHINES)} machines:",
          ", ".join(f"{n} {what}" for what, n in counts.items()) + f", {offending} offend")
    sys.exit(1 if offending or counts["solved"] < counts["not satisfiable"] else 0)


if __name__ == "__main__":
    main()
