"""Small packages under names of conda-forge and bioconda, for the documentation's `conda-forge` and `recipes` worlds.

    stand_ins.write(FOLDER)      FOLDER/conda-forge and FOLDER/bioconda, to be indexed with `gpkg index`

Versions, build strings and dependencies look like conda-forge's. Programs print their name and version, Python modules
have a __version__, and `python` runs this machine's python3 with the environment's site-packages.
"""

import bz2
import hashlib
import io
import json
import os
import sys
import tarfile

# NAME VERSION BUILD [dependency, ...]. A build that starts with "pyh" is noarch: python with a module NAME.
# {py} in a line makes one package for each Python, with a dependency on it.
CONDA_FORGE = """
ca-certificates 2026.11.1 hbd8a1cb_0
openssl 3.5.4 h26f9b46_0 [ca-certificates]
libzlib 1.3.1 hb9d3cd8_2
libgcc 15.2.0 h767d61c_7
libstdcxx 15.2.0 h8f9b012_7 [libgcc]
python 3.10.19 h3c07f61_2_cpython [openssl >=3.5.4,<4.0a0, libzlib >=1.3.1,<2.0a0]
python 3.11.14 hd63d673_2_cpython [openssl >=3.5.4,<4.0a0, libzlib >=1.3.1,<2.0a0]
python 3.12.12 hd63d673_1_cpython [openssl >=3.5.4,<4.0a0, libzlib >=1.3.1,<2.0a0]
python 3.13.9 hc97d973_1_cp313 [openssl >=3.5.4,<4.0a0, libzlib >=1.3.1,<2.0a0]
pip 25.3 pyh8b19718_0 [python >=3.10, setuptools, wheel]
setuptools 80.9.0 pyhff2d567_0 [python >=3.9]
wheel 0.45.1 pyhd8ed1ab_1 [python >=3.9]
libopenblas 0.3.30 pthreads_h94d23a6_3 [libgcc >=14]
mkl 2025.3.0 h0e700b2_463
blas 1.0 openblas [libblas * *openblas]
libblas 3.9.0 37_h4a7cf45_openblas [libopenblas >=0.3.30,<1.0a0]
libblas 3.9.0 37_h5875eb1_mkl [mkl >=2025.3.0,<2026.0a0]
libcblas 3.9.0 37_h0358290_openblas [libblas 3.9.0 37_h4a7cf45_openblas]
libcblas 3.9.0 37_hfef963f_mkl [libblas 3.9.0 37_h5875eb1_mkl]
numpy 1.26.4 {py}_h8753938_0 [libblas >=3.9.0,<4.0a0, libcblas >=3.9.0,<4.0a0]
numpy 2.2.6 {py}_h72c5963_0 [libblas >=3.9.0,<4.0a0, libcblas >=3.9.0,<4.0a0]
numpy 2.3.4 {py}_h33ff503_0 [libblas >=3.9.0,<4.0a0, libcblas >=3.9.0,<4.0a0]
scipy 1.16.3 {py}_h7a1785b_0 [numpy >=1.25.2, libblas >=3.9.0,<4.0a0]
pandas 2.2.3 {py}_hf9745cd_3 [numpy >=1.22.4, python-dateutil, pytz]
pandas 2.3.3 {py}_h8298e54_1 [numpy >=1.22.4, python-dateutil, pytz]
scikit-learn 1.7.2 {py}_h4f0b9e3_0 [numpy >=1.22, scipy, joblib]
matplotlib 3.10.8 {py}_h7900ff3_0 [numpy >=1.23, pillow]
pillow 12.0.0 {py}_h50c33e8_0
polars 1.35.2 {py}_h1ab5ad9_0
pyarrow 22.0.0 {py}_h7900ff3_0 [numpy >=1.23]
numba 0.62.1 {py}_h8ae6d1c_0 [numpy >=1.23,<2.4, llvmlite]
llvmlite 0.45.1 {py}_h0cbc24e_0
joblib 1.5.2 pyhd8ed1ab_0 [python >=3.10]
python-dateutil 2.9.0 pyhe01879c_2 [python >=3.9, six]
pytz 2025.2 pyhd8ed1ab_0 [python >=3.9]
six 1.17.0 pyhe01879c_1 [python >=3.9]
click 8.3.1 pyh707e725_0 [python >=3.10]
rich 14.2.0 pyhcf101f3_0 [python >=3.10]
requests 2.32.5 pyhd8ed1ab_0 [python >=3.9]
attrs 25.4.0 pyh71513ae_0 [python >=3.10]
tqdm 4.67.1 pyhd8ed1ab_1 [python >=3.9]
pytest 9.0.1 pyhcf101f3_0 [python >=3.10]
black 25.11.0 pyh866005b_0 [python >=3.10, click]
httpie 3.2.4 pyhd8ed1ab_2 [python >=3.9, requests, rich]
cowpy 1.1.5 pyhd8ed1ab_1 [python >=3.9]
ipython 9.7.0 pyh53cf698_0 [python >=3.11]
ipykernel 7.1.0 pyha191276_0 [python >=3.10, ipython]
jupyterlab 4.5.0 pyhd8ed1ab_0 [python >=3.10, ipykernel]
xarray 2025.11.0 pyhcf101f3_0 [python >=3.11, numpy >=1.26, pandas >=2.2]
dask 2025.11.0 pyhcf101f3_0 [python >=3.10, click]
transformers 4.57.1 pyhd8ed1ab_0 [python >=3.10, numpy >=1.17, requests, tqdm]
gcc_linux-64 14.3.0 h298d278_13
gxx_linux-64 14.3.0 he467f4b_13 [gcc_linux-64 14.3.0 h298d278_13]
ruff 0.14.5 ha3a3aed_0
ripgrep 15.1.0 hdab8a38_0
jq 1.8.1 h73b1eb8_0
git 2.51.2 pl5321h6d3cee1_0 [openssl >=3.5.4,<4.0a0]
cmake 4.1.2 hc85cc9f_0
ninja 1.13.1 h171cf75_0
make 4.4.1 hb9d3cd8_2
nodejs 24.9.0 heeeca48_0 [openssl >=3.5.4,<4.0a0]
imagemagick 7.1.2_8 pl5321hba6e50a_0
ffmpeg 8.0.0 gpl_h2c5d4ba_106
r-base 4.5.2 h7cdc5e0_0
r-ggplot2 4.0.1 r45hc72bb7e_0 [r-base >=4.5,<4.6.0a0]
openmpi 5.0.8 h2fe1745_108 [libgcc >=14]
mpich 4.3.2 h79b1c89_100 [libgcc >=14]
mpi 1.0 openmpi
mpi 1.0 mpich
mpi4py 4.1.1 {py}_hd0af0b3_100 [openmpi >=5.0.8,<6.0a0]
mpi4py 4.1.1 {py}_hc2ddd58_101 [mpich >=4.3.2,<5.0a0]
hdf5 1.14.6 nompi_h6e4c0c1_103 [libzlib >=1.3.1,<2.0a0]
hdf5 1.14.6 mpi_openmpi_h4fb29dd_3 [libzlib >=1.3.1,<2.0a0, openmpi >=5.0.8,<6.0a0]
h5py 3.15.1 nompi_{py}_ha4f8610_100 [numpy >=1.22, hdf5 1.14.6 nompi_*]
cuda-version 11.8 h70ddcb2_3 | cudatoolkit 11.8|11.8.*
cuda-version 12.4 h3060b56_3 | __cuda >=12
cuda-version 12.6 h7480c83_3 | __cuda >=12
cuda-version 12.9 h4f385c5_3 | __cuda >=12
cuda-version 13.0 hcf8d014_3 | __cuda >=13
cuda-cudart 12.6.77 h5888daf_0 [cuda-version >=12.6,<12.7.0a0]
cuda-cudart 12.9.79 h5888daf_0 [cuda-version >=12.9,<12.10.0a0]
cuda-cudart 13.0.96 hecca717_0 [cuda-version >=13.0,<13.1.0a0]
cuda-nvcc 12.6.85 hcdd1206_1 [cuda-version >=12.6,<12.7.0a0, cuda-cudart]
cuda-nvcc 12.9.86 hcdd1206_6 [cuda-version >=12.9,<12.10.0a0, cuda-cudart]
libcublas 12.6.4.1 h5888daf_1 [cuda-version >=12.6,<12.7.0a0]
libcublas 12.9.1.4 h676940d_1 [cuda-version >=12.9,<12.10.0a0]
libcublas 13.1.0.3 h85c024f_0 [cuda-version >=13.0,<13.1.0a0]
cudnn 9.10.2.21 hbcb9cd8_0 [cuda-version >=12,<13.0a0, libcublas]
cudnn 9.13.1.26 hbcb9cd8_0 [cuda-version >=13,<14.0a0, libcublas]
nccl 2.28.9.1 h4d09622_0 [cuda-version >=12.9,<13]
nccl 2.27.7.1 h49b2b17_0 [cuda-version >=12.6,<13]
nccl 2.28.9.2 h4d09622_1 [cuda-version >=13.0,<14]
libtorch 2.7.1 cpu_mkl_h783a78b_100 [mkl >=2024.2.2,<2026]
libtorch 2.7.1 cuda126_mkl_h99b69db_300 [mkl >=2024.2.2,<2026, cuda-version >=12.6,<13, __cuda *, cudnn >=9.8, nccl >=2.26, libcublas >=12.6,<13]
libtorch 2.8.0 cpu_mkl_h09b866c_102 [mkl >=2025.3.0,<2026.0a0]
libtorch 2.8.0 cuda126_mkl_h7b7b2c5_302 [mkl >=2025.3.0,<2026.0a0, cuda-version >=12.6,<13, __cuda *, cudnn >=9.8, nccl >=2.27, libcublas >=12.6,<13]
libtorch 2.8.0 cuda129_mkl_h9562ed8_304 [mkl >=2025.3.0,<2026.0a0, cuda-version >=12.9,<13, __cuda *, cudnn >=9.10, nccl >=2.28, libcublas >=12.9,<13]
libtorch 2.8.0 cuda130_mkl_h1d0fd2a_304 [mkl >=2025.3.0,<2026.0a0, cuda-version >=13.0,<14, __cuda *, cudnn >=9.13, nccl >=2.28, libcublas >=13.0]
pytorch 2.7.1 cpu_mkl_{py}_h6a7998d_100 [libtorch 2.7.1 cpu_mkl_h783a78b_100, numpy >=1.23]
pytorch 2.7.1 cuda126_mkl_{py}_h30b5a27_300 [libtorch 2.7.1 cuda126_mkl_h99b69db_300, numpy >=1.23, __cuda *, cuda-version >=12.6,<13]
pytorch 2.8.0 cpu_mkl_{py}_hca44ed5_102 [libtorch 2.8.0 cpu_mkl_h09b866c_102, numpy >=1.23]
pytorch 2.8.0 cuda126_mkl_{py}_h1ad4b6a_302 [libtorch 2.8.0 cuda126_mkl_h7b7b2c5_302, numpy >=1.23, __cuda *, cuda-version >=12.6,<13]
pytorch 2.8.0 cuda129_mkl_{py}_h3d9d6d2_304 [libtorch 2.8.0 cuda129_mkl_h9562ed8_304, numpy >=1.23, __cuda *, cuda-version >=12.9,<13]
pytorch 2.8.0 cuda130_mkl_{py}_h8a3c7e4_304 [libtorch 2.8.0 cuda130_mkl_h1d0fd2a_304, numpy >=1.23, __cuda *, cuda-version >=13.0,<14]
torchvision 0.23.0 cpu_{py}_h9d3d9b6_2 [pytorch 2.8.* cpu_*, pillow >=5.3]
torchvision 0.23.0 cuda126_{py}_h2c2b1e5_2 [pytorch 2.8.* cuda126_*, pillow >=5.3, cuda-version >=12.6,<13]
torchvision 0.23.0 cuda129_{py}_h8bfc4ad_2 [pytorch 2.8.* cuda129_*, pillow >=5.3, cuda-version >=12.9,<13]
jaxlib 0.7.2 cpu_{py}_hd92b7ad_2 [numpy >=2.0, scipy]
jaxlib 0.7.2 cuda129_{py}_hfd4a2c5_202 [numpy >=2.0, scipy, __cuda *, cuda-version >=12.9,<13, cudnn >=9.10, nccl >=2.28]
jax 0.7.2 pyhd8ed1ab_0 [python >=3.11, jaxlib >=0.7.2]
cupy 13.6.0 {py}_h8c1b5e3_2 [numpy >=1.22, __cuda *, cuda-version >=12,<13.0a0]
tensorflow 2.19.1 cpu_{py}_h69ecde4_0 [numpy >=1.26,<2.4]
tensorflow 2.19.1 cuda129_{py}_h4e8a9b2_200 [numpy >=1.26,<2.4, __cuda *, cuda-version >=12.9,<13, cudnn >=9.10]
xgboost 3.1.1 cpu_pyh1e9bd5d_0 [python >=3.10, numpy, scipy]
"""
BIOCONDA = """
samtools 1.22.1 h96c455f_0 [libzlib >=1.3.1,<2.0a0]
bwa 0.7.19 h577a1d6_1 [libzlib >=1.3.1,<2.0a0]
snakemake-minimal 9.13.7 pyhdfd78af_0 [python >=3.11]
snakemake 9.13.7 pyhdfd78af_0 [snakemake-minimal 9.13.7.*, python >=3.11, pandas]
"""
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
MODULES = {"pytorch": "torch", "scikit-learn": "sklearn", "pillow": "PIL", "python-dateutil": "dateutil"}
PROGRAMS = {"ripgrep": ["rg"], "imagemagick": ["convert"], "nodejs": ["node"], "r-base": ["R", "Rscript"],
            "openmpi": ["mpirun"], "mpich": ["mpirun"], "cuda-nvcc": ["nvcc"], "httpie": ["http"], "jupyterlab": ["jupyter"]}
COMPILERS = {"gcc_linux-64": ("CC", "cc"), "gxx_linux-64": ("CXX", "c++")}  # the machine's
QUIET = {"ca-certificates", "libzlib", "libgcc", "libstdcxx", "mkl", "blas", "mpi", "cuda-version"}
COMMANDS = {"pip", "wheel", "pytest", "black", "httpie", "cowpy", "ipython", "jupyterlab", "tqdm", "snakemake"}  # noarch

PYTHON = """#!/bin/sh
prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
case "${1-}" in --version | -V) echo "Python %(version)s"; exit ;; esac
export PYTHONPATH=$prefix/lib/python%(minor)s/site-packages${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
exec %(executable)s "$@"
"""
# `python -m pip install -r FILE` notes what it would install.
PIP = """import pathlib, sys
site = pathlib.Path(__file__).resolve().parent.parent
requirements, words = [], iter(sys.argv[1:])
for word in words:
    if word in ("-r", "--requirement"):
        requirements += [line.strip() for line in open(next(words))]
    elif word != "install" and not word.startswith("-"):
        requirements.append(word)
for requirement in requirements:
    if not requirement or requirement.startswith(("-", "#")):
        continue
    name, _, version = requirement.partition("==")
    name, version = name.split(">")[0].split("<")[0].split("[")[0].strip(), version or "1.0"
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    (info / "INSTALLER").write_text("pip\\n")
    (info / "RECORD").write_text("")
    print(f"Successfully installed {name}-{version}")
"""
TORCH = """
import os as _os
class version:
    cuda = %(cuda)r
class cuda:
    @staticmethod
    def is_available():
        return version.cuda is not None and _os.path.exists("/dev/nvidia0")
"""


def lines_of(table):
    """(name, version, build, depends, constrains) of each package."""
    for line in table.strip().split("\n"):
        line, _, constrains = line.partition(" | ")
        head, _, depends = line.rstrip("]").partition(" [")
        name, version, build = head.split()
        depends = [spec.strip() for spec in depends.split(", ") if spec.strip()]
        constrains = [constrains.strip()] if " " in constrains.strip() else []
        if "{py}" not in build:
            yield name, version, build, depends, constrains
            continue
        for minor in PYTHONS:
            major, small = minor.split(".")
            following = f"{major}.{int(small) + 1}"
            tag = f"py{major}{small}"
            yield (name, version, build.replace("{py}", tag),
                   [f"python >={minor},<{following}.0a0", *[spec.replace("{py}", tag) for spec in depends]], constrains)


def files_of(name, version, build, noarch, minor):
    """Path to (contents, mode) of the files of a package."""
    files = {}

    def program(path, text):
        files[path] = (text, 0o755)

    module = MODULES.get(name, name.replace("-", "_"))
    site = "site-packages" if noarch else f"lib/python{minor}/site-packages"
    if name == "python":
        short = ".".join(version.split(".")[:2])
        text = PYTHON % {"version": version, "minor": short, "executable": "/usr/bin/python3"
                         if os.path.exists("/usr/bin/python3") else sys.executable}
        for path in ("python", "python3", f"python{short}"):
            program(f"bin/{path}", text)
        files[f"lib/python{short}/site-packages/README.txt"] = ("", 0o644)
        return files
    if noarch or minor:
        text = f'__version__ = "{version}"\n'
        if name == "pytorch":
            text += TORCH % {"cuda": f"{build[4:6]}.{build[6]}" if build.startswith("cuda") else None}
        files[f"{site}/{module}/__init__.py"] = (text, 0o644)
        if name == "pip":
            files[f"{site}/pip/__main__.py"] = (PIP, 0o644)
        info = f"{site}/{name.replace('-', '_')}-{version}.dist-info"
        files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", 0o644)
        files[f"{info}/INSTALLER"] = ("conda\n", 0o644)
    if name in COMPILERS:
        variable, program_name = COMPILERS[name]
        files[f"etc/conda/activate.d/{name}.sh"] = (f"export {variable}=/usr/bin/{program_name}\n", 0o644)
        files[f"etc/conda/deactivate.d/{name}.sh"] = (f"unset {variable}\n", 0o644)
        return files
    programs = PROGRAMS.get(name, [name])
    if name.startswith(("lib", "r-g", "cuda-cudart", "cudnn", "nccl")):
        files[f"lib/{name if name.startswith('lib') else 'lib' + name}.so.{version.split('.')[0]}"] = (build + "\n", 0o644)
    elif not noarch and (name in PROGRAMS or (name not in QUIET and not minor)):
        for path in programs:
            if path in ("cmake", "ninja", "make") or name == "git":  # recipes use the machine's
                program(f"bin/{path}", f'#!/bin/sh\nexec /usr/bin/{path} "$@"\n')
            else:
                program(f"bin/{path}", f'#!/bin/sh\necho "{path} {version}"\n')
    if not files:
        files[f"share/{name}/version"] = (version + "\n", 0o644)
    return files


def package(folder, name, version, build, depends, constrains, serial):
    noarch = "python" if build.startswith("pyh") or "_pyh" in build else None
    subdir = "noarch" if noarch else "linux-64"
    minor = next((minor for minor in PYTHONS if f"py{minor.replace('.', '')}" in build), None)
    number = build.rsplit("_", 1)[-1] if not build.endswith(("cpython", "cp313")) else build.split("_")[-2]
    index = {
        "name": name, "version": version, "build": build, "build_number": int(number) if number.isdigit() else 0,
        "depends": depends, "constrains": constrains, "subdir": subdir, "license": "BSD-3-Clause",
        "timestamp": 1760000000000 + serial * 60000, "arch": None if noarch else "x86_64", "platform": None if noarch else "linux",
    }
    if noarch:
        index["noarch"] = noarch
    files = files_of(name, version, build, noarch, minor)
    paths = [{"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(text.encode()).hexdigest(),
              "size_in_bytes": len(text.encode())} for path, (text, _) in sorted(files.items())]
    members = dict(files)
    members["info/index.json"] = (json.dumps(index), 0o644)
    members["info/paths.json"] = (json.dumps({"paths_version": 1, "paths": paths}), 0o644)
    members["info/files"] = ("".join(path + "\n" for path in sorted(files)), 0o644)
    members["info/about.json"] = (json.dumps({"summary": f"stand-in for {name}", "license": "BSD-3-Clause"}), 0o644)
    variant = {}
    if "cuda" in build or build.startswith("cpu_"):
        variant["cuda_compiler_version"] = f"{build[4:6]}.{build[6]}" if build.startswith("cuda") else "None"
    if minor:
        variant["python"] = f"{minor}.* *_cpython"
    members["info/hash_input.json"] = (json.dumps(variant), 0o644)
    if noarch:
        entry = PROGRAMS.get(name, [name])[0]
        link = {"package_metadata_version": 1, "noarch": {"type": "python", "entry_points": []}}
        if name in COMMANDS:
            module = MODULES.get(name, name.replace("-", "_"))
            members[f"site-packages/{module}/__init__.py"] = (
                members[f"site-packages/{module}/__init__.py"][0] + f'def main():\n    print("{entry} {version}")\n', 0o644)
            link["noarch"]["entry_points"] = [f"{entry} = {module}:main"]
            text = members[f"site-packages/{module}/__init__.py"][0].encode()
            for path in paths:
                if path["_path"] == f"site-packages/{module}/__init__.py":
                    path |= {"sha256": hashlib.sha256(text).hexdigest(), "size_in_bytes": len(text)}
            members["info/paths.json"] = (json.dumps({"paths_version": 1, "paths": paths}), 0o644)
        members["info/link.json"] = (json.dumps(link), 0o644)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, (text, mode) in sorted(members.items()):
            entry = tarfile.TarInfo(path)
            data = text.encode()
            entry.size, entry.mode, entry.mtime = len(data), mode, 1760000000
            archive.addfile(entry, io.BytesIO(data))
    target = folder / subdir
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{name}-{version}-{build}.tar.bz2").write_bytes(bz2.compress(buffer.getvalue(), 1))


def write(folder):
    """Writes the channels and returns their folders."""
    channels = {"conda-forge": CONDA_FORGE, "bioconda": BIOCONDA}
    for channel, table in channels.items():
        for subdir in ("linux-64", "noarch"):
            (folder / channel / subdir).mkdir(parents=True, exist_ok=True)
        for serial, entry in enumerate(lines_of(table)):
            package(folder / channel, *entry, serial)
    return [folder / channel for channel in channels]
