#!/usr/bin/env python3
"""Archives and manifests in NVIDIA's layout, of real libraries that come by other ways.

    archives.py 11.8 --output FOLDER          CUDA 11.8 of Debian 12 (contrib, non-free)
    archives.py 12.4 --output FOLDER          CUDA 12.4 and NCCL of Debian 13
    archives.py 13 --tree FOLDER --output F   a tree of NVIDIA's wheels, with their dist-info folders

Debian's packages are fetched by apt, with lists and caches of its own, from the mirror that the machine's
apt uses; they are unpacked and never installed. Exit status 77: they cannot be had here, and why.
Below --output lie COMPONENT/linux-x86_64/*-archive.tar.zst and redistrib_X.Y.Z.json, for
`gpkg redist import --mirror`. Facts in it are Debian's or the wheels': upstream version, files, licence.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PLATFORM = "linux-x86_64"

# Which component of NVIDIA's manifests has a file, by its path in the archive; the first that matches.
OWNERS = [(component, re.compile(pattern)) for component, pattern in [
    ("cuda_cccl", r"include/(cub|cuda|nv|thrust)/|lib/cmake/"),
    ("cuda_nvcc", r"bin/(nvcc|cudafe\+\+|ptxas|fatbinary|nvlink|bin2c|__nvcc_device_query|crt/)|nvvm/"
                  r"|include/(crt/|fatbinary_section|nvPTXCompiler)|lib/libnvptxcompiler"),
    ("cuda_cuobjdump", r"bin/cuobjdump"),
    ("cuda_nvdisasm", r"bin/nvdisasm"),
    ("cuda_nvprune", r"bin/nvprune"),
    ("cuda_memcheck", r"bin/cuda-memcheck"),
    ("cuda_cuxxfilt", r"bin/cu\+\+filt|include/nv_decode|lib/libcufilt"),
    ("cuda_sanitizer_api", r"compute-sanitizer/"),
    ("cuda_nvprof", r"bin/nvprof|lib/lib(acc|cu)inj64"),
    ("cuda_cupti", r"include/(cupti|nvperf|generated_|Openacc|Openmp)|lib/lib(cupti|checkpoint|nvperf|pcsampling)"),
    ("cuda_nvtx", r"include/(nvToolsExt|nvtx3/)|lib/libnvToolsExt"),
    ("cuda_nvrtc", r"include/nvrtc|lib/(stubs/)?libnvrtc"),
    ("cuda_nvml_dev", r"include/nvml|lib/(stubs/)?libnvidia-ml"),
    ("cuda_profiler_api", r"include/(cuda_profiler_api|cudaProfiler)"),
    ("libcublas", r"include/(cublas|nvblas)|lib/(stubs/)?lib(cublas|nvblas)"),
    ("libcufft", r"include/(cufft|cudalibxt)|lib/(stubs/)?libcufft"),
    ("libcufile", r"include/cufile|lib/libcufile"),
    ("libcurand", r"include/curand|lib/(stubs/)?libcurand"),
    ("libcusolver", r"include/cusolver|lib/(stubs/)?lib(cusolver|lapack|metis)"),
    ("libcusparse", r"include/cusparse|lib/(stubs/)?libcusparse"),
    ("libnpp", r"include/npp|lib/(stubs/)?libnpp"),
    ("libnvjpeg", r"include/nvjpeg|lib/(stubs/)?libnvjpeg"),
    ("libnvjitlink", r"include/nvJitLink|lib/(stubs/)?libnvJitLink"),
    ("libnvfatbin", r"include/nvFatbin|lib/(stubs/)?libnvfatbin"),
    ("nccl", r"include/nccl|lib/libnccl|pkg-config/nccl"),
    ("cuda_cudart", r"include/|lib/(stubs/)?libcuda|lib/libculibos"),
]]

# Where Debian has moved files to; None: what Debian has added.
MOVES = [(re.compile(pattern), to) for pattern, to in [
    (r"usr/share/(doc|lintian|man|cuda-gdb)/.*|etc/.*|usr/lib/cuda/.*", None),
    (r"usr/lib/x86_64-linux-gnu/(pkgconfig/cuda\.pc|cuda-gdb/.*)|usr/include/cuda-gdb/.*", None),
    (r"usr/lib/nvidia-cuda-toolkit/bin/(gcc|g\+\+|nvcc\.profile)|usr/bin/(nvcc|nvprof|cuda-g.*)", None),
    (r"usr/bin/(compute-sanitizer|TreeLauncher.*)|usr/lib/nvidia-cuda-toolkit/compute-sanitizer/(.*)",
     r"compute-sanitizer/\1\2"),
    (r"usr/lib/nvidia-cuda-toolkit/bin/cicc", r"nvvm/bin/cicc"),
    (r"usr/lib/nvidia-cuda-toolkit/libdevice/(.*)", r"nvvm/libdevice/\1"),
    (r"usr/lib/nvidia-cuda-toolkit/bin/(.*)", r"bin/\1"),
    (r"usr/lib/x86_64-linux-gnu/(libnvvm\.so.*)", r"nvvm/lib64/\1"),
    (r"usr/include/(nvvm\.h)|usr/include/nvidia-cuda-toolkit/(.*)", r"nvvm/include/\1\2"),
    (r"usr/lib/x86_64-linux-gnu/pkgconfig/(.*)", r"pkg-config/\1"),
    (r"usr/lib/x86_64-linux-gnu/(.*)", r"lib/\1"),
    (r"usr/share/cmake/(.*)", r"lib/cmake/\1"),
    (r"usr/(include|bin)/(.*)", r"\1/\2"),
]]

# Debian's names nvcc's folders by its own file; this is for one that lies in PREFIX/bin.
NVCC_PROFILE = """
TOP              = $(_HERE_)/..

NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice

PATH            += $(TOP)/nvvm/bin:$(_HERE_):

INCLUDES        +=  "-I$(TOP)/$(_TARGET_DIR_)/include" $(_SPACE_)

LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)/stubs" \
"-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)"

CUDAFE_FLAGS    +=
PTXAS_FLAGS     +=
"""

NPP = ["npp" + part for part in ("c", "ial", "icc", "idei", "if", "ig", "im", "ist", "isu", "itc", "s")]


class Release:
    """What Debian has of one release: the label of NVIDIA's manifest, the suite, and packages by component."""

    def __init__(self, label, suite, packages):
        self.label, self.suite, self.packages = label, suite, packages


def libraries(cublas, cufft, cusparse, npp, extra):
    return {
        "cuda_cccl": ["libthrust-dev", "libcub-dev", "libcu++-dev"],
        "cuda_nvcc": ["nvidia-cuda-toolkit", "libnvvm4"],
        "libcurand": ["libcurand10"],
        "libcublas": [f"libcublas{cublas}", f"libcublaslt{cublas}", f"libnvblas{cublas}"],
        "libcufft": [f"libcufft{cufft}", f"libcufftw{cufft}"],
        "libcusolver": ["libcusolver11", "libcusolvermg11"],
        "libcusparse": [f"libcusparse{cusparse}"],
        "libnpp": [f"lib{name}{npp}" for name in NPP],
        "libnvjpeg": [f"libnvjpeg{npp}"],
        "cuda_nvtx": ["libnvtoolsext1"],
        "cuda_nvml_dev": ["libnvidia-ml-dev"],
        "libcufile": ["libcufile0", "libcufile-rdma1", "libcufile-dev"],
        **extra,
    }


RELEASES = {
    "11.8": Release("11.8.0", "bookworm", libraries(11, 10, 11, 11, {
        "cuda_cudart": ["libcudart11.0"],
        "cuda_nvrtc": ["libnvrtc11.2", "libnvrtc-builtins11.8"],
        "cuda_cupti": ["libcupti11.8", "libcupti-dev"],
        "cuda_nvprof": ["nvidia-profiler", "libaccinj64-11.8", "libcuinj64-11.8"],
    })),
    "12.4": Release("12.4.1", "trixie", libraries(12, 11, 12, 12, {
        "cuda_cudart": ["libcudart12"],
        "cuda_nvrtc": ["libnvrtc12", "libnvrtc-builtins12.4"],
        "cuda_cupti": ["libcupti12", "libcupti-dev"],
        "cuda_nvprof": ["nvidia-profiler", "libaccinj64-12.4", "libcuinj64-12.4"],
        "libnvjitlink": ["libnvjitlink12"],
        "libnvfatbin": ["libnvfatbin12"],
        "nccl": ["libnccl2", "libnccl-dev"],
    })),
}
# Headers, stubs and static libraries of most components.
DEVELOPMENT = "nvidia-cuda-dev"
# Their programs are in that package of the compiler.
IN_TOOLKIT = ("cuda_cuobjdump", "cuda_nvdisasm", "cuda_nvprune", "cuda_memcheck", "cuda_cuxxfilt", "cuda_sanitizer_api")
# Not of CUDA's own manifest: NVIDIA has one for each, or none.
OTHERS = ("nccl", "cudnn")

WHEELS = {"nvidia_cuda_runtime": "cuda_cudart", "nvidia_nvvm": "libnvvm", "nvidia_nvtx": "cuda_nvtx",
          "nvidia_cudnn": "cudnn", "nvidia_nccl": "nccl"}


class NotHere(Exception):
    """The payload cannot be had on this machine."""


class Debian:
    """apt-get download with lists and a cache of its own; the machine's apt is only read."""

    def __init__(self, suite: str, folder: Path):
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial", "debs", "unpacked"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").write_bytes(b"")
        key, uri = self.mirror()
        options = f"[signed-by={key}] " if key else ""
        (folder / "sources.list").write_text(f"deb {options}{uri} {suite} main contrib non-free\n")
        # The machine's way to its mirror (proxies, certificates), without its hooks.
        settings = self.run(["apt-config", "dump", "Acquire"], {})
        settings += "".join(f'{key} "{value}";\n' for key, value in {
            "Dir::Etc::parts": "/dev/null", "Dir::Etc::main": "/dev/null", "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::sourcelist": folder / "sources.list", "Dir::State": folder,
            "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache", "APT::Architecture": "amd64", "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else ""}.items())
        (folder / "apt.conf").write_text(settings)
        self.environment = {"APT_CONFIG": str(folder / "apt.conf")}
        self.run(["apt-get", "-qq", "update"])

    @staticmethod
    def mirror():
        """Key ring and address of Debian's archive, as the machine's apt is told for its own release."""
        release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
        suite = release[1] if release else "bookworm"
        folder = Path("/etc/apt/sources.list.d")
        for text in [text for file in folder.glob("*.sources") for text in re.split(r"\n\s*\n", file.read_text())]:
            fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", text, re.M))
            if "deb" in fields.get("Types", "").split() and suite in fields.get("Suites", "").split():
                return fields.get("Signed-By", ""), fields["URIs"].split()[0]
        for file in [Path("/etc/apt/sources.list"), *folder.glob("*.list")]:
            for line in file.read_text().splitlines() if file.is_file() else ():
                if match := re.match(r"deb +(?:\[(.*?)\] +)?(\S+) +(\S+) ", line):
                    if match[3] == suite:
                        key = re.search(r"signed-by=(\S+)", match[1] or "")
                        return key[1] if key else "", match[2]
        raise NotHere(f"the machine's apt has no source of Debian's {suite}")

    def run(self, command, environment=None, folder=None):
        environment = self.environment if environment is None else environment
        try:
            done = subprocess.run(command, env={**os.environ, "LC_ALL": "C", **environment}, text=True,
                                  capture_output=True, cwd=folder)
        except FileNotFoundError:
            raise NotHere(f"no {command[0]} here") from None
        if done.returncode:
            raise NotHere(f"{' '.join(command[:3])}: {done.stderr.strip()}")
        return done.stdout

    def unpack(self, names: list[str]) -> dict[str, tuple[str, Path]]:
        """By package: its upstream version, and the folder with its files."""
        self.run(["apt-get", "-qq", "download", *names], folder=self.folder / "debs")
        found = {}
        for deb in sorted((self.folder / "debs").glob("*.deb")):
            name, version, _ = deb.name.removesuffix(".deb").split("_")
            if name not in names:
                continue
            root = self.folder / "unpacked" / deb.stem
            if not root.is_dir():
                self.run(["dpkg-deb", "-x", str(deb), f"{root}.new"])
                Path(f"{root}.new").rename(root)
            # "11.1.1+~10.3.0.86~11.8.0-5~deb12u1": of the package that all of them were built from, of
            # the library, of the release; "1.17.2-2" has one.
            upstream = [part for part in re.split(r"[~+%a-z-]+", version) if part.count(".") > 1]
            found[name] = (upstream[-2] if len(upstream) > 1 else upstream[0], root)
        return found


class Archives:
    def __init__(self, output: Path, label: str):
        self.output, self.label = output, label
        self.entries: dict[str, dict] = {}

    def put(self, component: str, version: str, tree: Path, variant: str = ""):
        """Packs a tree, which has include/, lib/ and so on at its top."""
        suffix = f"_{variant}" if variant else ""
        top = f"{component}-{PLATFORM}-{version}{suffix}-archive"
        path = f"{component}/{PLATFORM}/{top}.tar.zst"
        archive = self.output / path
        archive.parent.mkdir(parents=True, exist_ok=True)
        if not (tree / "LICENSE").is_file():
            raise SystemExit(f"{component}: no LICENSE")
        subprocess.run(["tar", "-C", tree, "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
                        "--mtime=@1700000000", "--hard-dereference", f"--transform=flags=r;s,^\\.,{top},",
                        "-I", "zstd -1 -q -T2", "-cf", archive, "."], check=True)
        with open(archive, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        facts = {"relative_path": path, "sha256": digest, "size": str(archive.stat().st_size)}
        entry = {"name": component, "license": "CUDA Toolkit", "version": version}
        entry[PLATFORM] = {variant: facts} if variant else facts
        self.entries[component] = entry

    def write(self):
        """A manifest of CUDA, and one for each of what NVIDIA publishes apart from it."""
        own = {key: entry for key, entry in self.entries.items() if key not in OTHERS}
        groups = [("cuda", self.label, own)]
        groups += [(key, entry["version"], {key: entry}) for key, entry in self.entries.items() if key in OTHERS]
        for product, label, entries in groups:
            if not entries:
                continue
            folder = self.output if product == "cuda" else self.output / product
            folder.mkdir(parents=True, exist_ok=True)
            manifest = {"release_date": "2024-01-01", "release_label": label, "release_product": product, **entries}
            file = folder / f"redistrib_{label}.json"
            file.write_text(json.dumps(manifest, indent=2) + "\n")
            print(f"{file}: {', '.join(entries)}")


def owner(path: str) -> str:
    for component, pattern in OWNERS:
        if pattern.match(path):
            return component
    raise SystemExit(f"{path}: of no component")


def link_file(source: Path, target: Path):
    """A hard link; of two files with one place, the one that is no link to the other."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() and not source.is_symlink():
        target.unlink()
    if target.is_symlink() or target.exists():
        return
    os.link(source, target, follow_symlinks=False)


def debian_archives(release: Release, wanted: set[str], output: Path, work: Path, static: bool):
    components = {key: names for key, names in release.packages.items() if not wanted or key in wanted}
    names = {name for own in components.values() for name in own}
    if any(key in IN_TOOLKIT for key in wanted) or not wanted:
        names.add("nvidia-cuda-toolkit")
    # Its 900 MB are nearly all static libraries; who wants the libraries alone does without.
    if static:
        names.add(DEVELOPMENT)
    unpacked = Debian(release.suite, work).unpack(sorted(names))
    versions = {key: unpacked[own[0]][0] for key, own in components.items()}
    trees = work / "trees"
    shutil.rmtree(trees, ignore_errors=True)
    for name, (version, root) in sorted(unpacked.items()):
        mine = {key for key, own in components.items() if name in own}
        for file in sorted(root.rglob("*")):
            path = str(file.relative_to(root))
            if file.is_dir() and not file.is_symlink():
                continue
            rule = next((rule for rule in MOVES if rule[0].fullmatch(path)), None)
            if rule is None:
                raise SystemExit(f"{name}: {path}: it is not known where NVIDIA has it")
            if rule[1] is None:
                continue
            place = rule[0].sub(rule[1], path)
            component = owner(place)
            if wanted and component not in wanted:
                continue
            versions.setdefault(component, version)
            link_file(file, trees / component / place)
            if component in mine or not (trees / component / "LICENSE").exists():
                (trees / component / "LICENSE").unlink(missing_ok=True)
                link_file(root / "usr/share/doc" / name / "copyright", trees / component / "LICENSE")
    if (trees / "cuda_nvcc/bin/nvcc").exists():
        (trees / "cuda_nvcc/bin/nvcc.profile").write_text(NVCC_PROFILE)
    archives = Archives(output, release.label)
    for tree in sorted(trees.iterdir()):
        variant = "cuda" + release.label.split(".")[0] if tree.name in OTHERS else ""
        archives.put(tree.name, versions[tree.name], tree, variant)
    archives.write()
    shutil.rmtree(trees)


def tree_archives(root: Path, wanted: set[str], output: Path, work: Path):
    """A tree that wheels were unpacked into; their RECORDs say which file is whose."""
    infos = sorted(root.glob("dist-info/*.dist-info"))
    if not infos:
        raise NotHere(f"{root}: has no dist-info folders of NVIDIA's wheels")
    links = {os.path.realpath(link): link for link in sorted((root / "lib").glob("*.so")) if link.is_symlink()}
    trees = work / "trees"
    shutil.rmtree(trees, ignore_errors=True)
    found = {}
    for info in infos:
        wheel, version = info.name.removesuffix(".dist-info").split("-")
        wheel = re.sub(r"_cu\d+$", "", wheel)
        component = WHEELS.get(wheel) or wheel.removeprefix("nvidia_")
        if component in ("cublas", "cufft", "curand", "cusolver", "cusparse", "nvjitlink"):
            component = "lib" + component
        if wanted and component not in wanted:
            continue
        tree = trees / component
        found[component] = version
        for row in csv.reader((info / "RECORD").read_text().splitlines()):
            match = re.fullmatch(r"nvidia/[^/]+/((?:bin|include|lib|nvvm)/.*)", row[0])
            if not match or match[1].endswith(("__init__.py", ".pyc")):
                continue
            file = root / match[1]
            if not file.exists():
                raise SystemExit(f"{file}: RECORD of {wheel} has it, the tree has not")
            link_or_copy(file, tree / match[1])
            if link := links.get(os.path.realpath(file)):
                (tree / "lib" / link.name).symlink_to(file.name)
        shutil.copy(next((info / "licenses").iterdir()), tree / "LICENSE")
    if "cuda_cudart" in found and (root / "lib/stubs/libcuda.so").exists():
        link_or_copy(root / "lib/stubs/libcuda.so", trees / "cuda_cudart/lib/stubs/libcuda.so")
    if not found:
        raise SystemExit("none of these components is there")
    label = found.get("cuda_nvcc") or found.get("cuda_nvrtc") or found.get("cuda_cudart") or "13.0.0"
    label = ".".join(label.split(".")[:2]) + ".0"
    archives = Archives(output, label)
    for component, version in sorted(found.items()):
        variant = "cuda" + label.split(".")[0] if component in OTHERS else ""
        archives.put(component, version, trees / component, variant)
    archives.write()
    shutil.rmtree(trees)


def link_or_copy(source: Path, target: Path):
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or another owner's file
        shutil.copy2(source, target, follow_symlinks=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", choices=[*RELEASES, "13"])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tree", type=Path, help="of release 13")
    parser.add_argument("--component", action="append", default=[], help="only these")
    parser.add_argument("--work-dir", type=Path, help="keeps downloads and unpacked files (else below --output)")
    parser.add_argument("--libraries", action="store_true", help="of Debian only what is not in nvidia-cuda-dev")
    options = parser.parse_args()
    work = (options.work_dir or options.output / "work").absolute()
    work.mkdir(parents=True, exist_ok=True)
    wanted = set(",".join(options.component).split(",")) - {""}
    try:
        if options.release in RELEASES:
            debian_archives(RELEASES[options.release], wanted, options.output.absolute(), work, not options.libraries)
        elif options.tree:
            tree_archives(options.tree.absolute(), wanted, options.output.absolute(), work)
        else:
            parser.error("release 13 needs --tree")
    except NotHere as error:
        print(f"SKIPPED: {error}", file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
