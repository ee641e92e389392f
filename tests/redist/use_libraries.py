#!/usr/bin/env python3
"""Uses NVRTC and cuRAND of an environment as far as that goes without a GPU.

    use_libraries.py PREFIX

NVRTC compiles a kernel, for which it has to find its builtins; cuRAND's host generator makes numbers.
"""

import ctypes
import sys
from pathlib import Path


def library(prefix: Path, name: str):
    found = sorted(path for path in (prefix / "lib").glob(f"{name}.so.*") if "alt" not in path.name)
    return ctypes.CDLL(str(found[0]))


def compile_kernel(prefix: Path):
    nvrtc = library(prefix, "libnvrtc")
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    program = ctypes.c_void_p()
    source = b'extern "C" __global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }'
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"scale.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_80")
    status = nvrtc.nvrtcCompileProgram(program, 1, options)
    assert status == 0, f"nvrtcCompileProgram: {status}"
    size = ctypes.c_size_t()
    assert nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetPTX(program, text) == 0
    assert b".target sm_80" in text.value and b"scale" in text.value
    return f"NVRTC {major.value}.{minor.value} compiled a kernel"


def random_numbers(prefix: Path):
    curand = library(prefix, "libcurand")
    generator = ctypes.c_void_p()
    assert curand.curandCreateGeneratorHost(ctypes.byref(generator), 100) == 0  # CURAND_RNG_PSEUDO_DEFAULT
    assert curand.curandSetPseudoRandomGeneratorSeed(generator, ctypes.c_ulonglong(7)) == 0
    numbers = (ctypes.c_float * 1000)()
    assert curand.curandGenerateUniform(generator, numbers, ctypes.c_size_t(1000)) == 0
    assert all(0 < number <= 1 for number in numbers) and 0.4 < sum(numbers) / 1000 < 0.6
    return "cuRAND made numbers"


def main():
    prefix = Path(sys.argv[1])
    print(compile_kernel(prefix), random_numbers(prefix), sep="; ")


if __name__ == "__main__":
    main()
