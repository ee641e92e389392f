"""A table of real requests on machines of several kinds: which builds `auto` takes, where conda's own
order takes others, and whether each answer is right by the records alone. What a build is for is told
here by other means than gpkg's.

usage: accelerators.py GPKG, with the corpus at GPKG_TEST_CORPUS
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from corpus import Channel, clean_environment

# The channels, if others than conda-forge, and the specs.
REQUESTS = [
    "pytorch", "torchvision", "pytorch torchvision", "pytorch=2.8", "tensorflow", "jax", "jaxlib", "jax tensorflow",
    "jax pytorch[accel=none]", "openmm", "lightgbm", "pyarrow", "faiss", "cupy", "openmpi", "ffmpeg", "pytorch-gpu",
    "pytorch-cpu", "cuda-version=12", "cuda-toolkit", "cudnn", "transformers",
    "pytorch,nvidia,conda-forge: pytorch", "pytorch,nvidia,conda-forge: pytorch=2.4 torchvision",
    "pytorch,nvidia,conda-forge: pytorch=2.0", "pytorch,nvidia,conda-forge: torchaudio pytorch",
    "pytorch,conda-forge: pytorch=1.12", "pytorch,nvidia,conda-forge: torchvision=0.15",
    "rapidsai,conda-forge: cudf", "rapidsai,conda-forge: cuml",
]
MACHINES = ["cpu", "a100", "rtx5090", "p100", "mi300", "old-driver", "two-vendors", "with-screen"]
PROFILES = {
    "old-driver": """gpkg_profile: 1
platform: linux-64
nvidia: {cuda: "11.4"}
gpus: [{vendor: nvidia, name: V100, architecture: "7.0", memory_mib: 16384}]
""",
    "two-vendors": """gpkg_profile: 1
platform: linux-64
nvidia: {cuda: "12.9"}
amd: {driver: present, rocm: 6.4.0}
gpus:
- {vendor: nvidia, name: H100, architecture: "9.0", memory_mib: 81559}
- {vendor: amd, name: MI300X, architecture: gfx942, memory_mib: 196592}
""",
    "with-screen": """gpkg_profile: 1
platform: linux-64
nvidia: {cuda: "13.0"}
gpus:
- {vendor: nvidia, name: RTX 4090, architecture: "8.9", memory_mib: 24564}
- {vendor: nvidia, name: GT 1030, architecture: "6.1", memory_mib: 2048}
""",
}
# Which vendors a machine has a device of.
VENDORS = {"cpu": set(), "mi300": {"amd"}, "two-vendors": {"nvidia", "amd"}}

# The major version of the CUDA that a driver runs, where that is not the newest. Programs of a later one do not start
# with it (NVIDIA, "CUDA Compatibility"), whether or not their package says so by __cuda.
DRIVERS = {"old-driver": 11}

NVIDIA = re.compile(r"__cuda\b|__cuda_arch|cudatoolkit|cuda-(?!pathfinder)|cudnn|nccl|libcu(blas|dnn|fft|rand|solver|sparse|file|dss)|libnvjitlink")
AMD = re.compile(r"__amdgpu|__rocm|rocm-|hip\b|rocblas|rccl|miopen")


def vendor_of(record):
    """What the record's dependencies speak of, or else its build string."""
    if any(NVIDIA.match(depend) for depend in record["depends"]):
        return "nvidia"
    if any(AMD.match(depend) for depend in record["depends"]):
        return "amd"
    asked = " ".join(d for d in record["depends"] if re.match(r"(pytorch|libtorch|jaxlib|tensorflow-base|\S+-proc) ", d))
    if re.search(r"cuda|gpu", asked) or re.search(r"(^|_)(cuda|cu\d|gpu)", record["build"]):
        return "nvidia"
    if re.search(r"(^|_)(rocm|hip)", record["build"]):
        return "amd"
    return None


def needs_newer_cuda(record, machine):
    """Whether a build is for a CUDA of a later major version than the machine's driver runs."""
    asked = [re.match(r"(?:pytorch-cuda|cuda-version) [>=]*(\d+)", depend) for depend in record["depends"]]
    return machine in DRIVERS and any(match and int(match[1]) > DRIVERS[machine] for match in asked)


def siblings(channels, record):
    """Builds of the same version in the channel that the record is of."""
    return next(c for c in channels if record["channel"].endswith(c.folder)).of(record["name"], record["version"])


class Gpkg:
    def __init__(self, program, work):
        self.program = program
        self.env = clean_environment(work)
        os.makedirs(os.path.join(work, "profiles"), exist_ok=True)
        for name, text in PROFILES.items():
            with open(os.path.join(work, "profiles", name + ".yaml"), "w") as file:
                file.write(text)

    def solve(self, channels, specs, machine, *flags):
        """(exit status, the records by name or the error's text)"""
        words = [self.program, "solve", "--json", "--override-channels", "--for", machine]
        for channel in channels:
            words += ["-c", channel.folder]
        if machine == "with-screen":
            words += ["--devices", "compute"]
        ended = subprocess.run([*words, *flags, *specs], env=self.env, capture_output=True, text=True)
        answer = json.loads(ended.stdout)
        if ended.returncode == 0:
            return 0, {package["name"]: package for package in answer["packages"]}
        return ended.returncode, answer["message"]


def complaint(gpkg, channels, specs, machine, answer):
    """What is wrong with an answer of `auto`, if anything."""
    vendors = VENDORS.get(machine, {"nvidia"})
    for spec in specs:
        name = re.match(r"[\w.-]+", spec).group(0)
        chosen = answer[name]
        builds = siblings(channels, chosen)
        got = vendor_of(chosen)
        if "accel=none" in spec:
            if got:
                return f"{name} is for {got} although none is asked for"
            continue
        if not vendors:
            if got and any(vendor_of(r) is None for r in builds):
                return f"{name} {chosen['build']} is for {got}, and there are builds for none"
            continue
        # With GPUs of two vendors, where builds for either are possible, it is for the user to say.
        for wanted in sorted(vendors):
            if got == wanted:
                continue
            for sibling in (r for r in builds if vendor_of(r) == wanted and not needs_newer_cuda(r, machine)):
                exact = f"{name}={sibling['version']}={sibling['build']}"
                others = [s for s in specs if s is not spec]
                status, with_it = gpkg.solve(channels, [exact, *others], machine, "--accel", "conda")
                # Better is what leaves what was named before it as it is.
                before = [re.match(r"[\w.-]+", s).group(0) for s in specs[: specs.index(spec)]]
                if status == 0 and all(with_it[n]["version"] == answer[n]["version"] for n in before):
                    return f"{name} {chosen['build']} is not for {wanted}, and {exact} is possible"
    return None


def main():
    (program,) = sys.argv[1:]
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    if not corpus or not shutil.which("zstd"):
        print("SKIPPED: GPKG_TEST_CORPUS is not set, or zstd is not installed")
        sys.exit(77)
    known = {n: Channel(os.path.join(corpus, n)) for n in ("conda-forge", "pytorch", "nvidia", "rapidsai")}
    counts = {"cells": 0, "disagree": 0, "unsatisfiable": 0, "two vendors": 0, "asked": 0}
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        gpkg = Gpkg(program, work)

        def cell(request, machine):
            *names, text = request.split(": ")
            channels = [known[n] for n in (names[0].split(",") if names else ["conda-forge"])]
            specs = text.split()
            status, answer = gpkg.solve(channels, specs, machine)
            counts["cells"] += 1
            counts["two vendors"] += machine == "two-vendors"
            plain = [s.split("[")[0] for s in specs]
            conda_status, by_conda = gpkg.solve(channels, plain, machine, "--accel", "conda")
            if status == 2:
                counts["asked"] += 1
                if machine != "two-vendors" or "two vendors" not in answer:
                    wrong.append(f"{request} on {machine}: {answer}")
                return "asks"
            if status != 0:
                counts["unsatisfiable"] += 1
                if conda_status == 0 and plain == specs:
                    wrong.append(f"{request} on {machine}: auto finds nothing, conda's order does")
                return "none"
            if what := complaint(gpkg, channels, specs, machine, answer):
                wrong.append(f"{request} on {machine}: {what}")
            differs = conda_status != 0 or any(
                by_conda.get(n, {}).get("build") != r["build"] for n, r in answer.items()
            )
            counts["disagree"] += differs
            first = answer[re.match(r"[\w.-]+", specs[0]).group(0)]
            return f"{first['version'][:7]} {vendor_of(first) or '-'}{' *' if differs else ''}"

        gpkg.solve(known.values(), ["zlib"], "cpu")  # reads the channels once for all
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            rows = {r: [pool.submit(cell, r, m) for m in MACHINES] for r in REQUESTS}
            print(f"{'':50}" + "".join(f"{m:18}" for m in MACHINES))
            for request, cells in rows.items():
                print(f"{request:50}" + "".join(f"{c.result():18}" for c in cells))
    print("* other packages than by conda's order;", ", ".join(f"{n} {what}" for what, n in counts.items()))
    for line in wrong:
        print("WRONG:", line)
    enough = counts["disagree"] >= 10 and counts["unsatisfiable"] >= 5 and counts["two vendors"] >= 5
    sys.exit(0 if enough and not wrong else 1)


if __name__ == "__main__":
    main()
