"""What a user does with the demonstration channel, with the results checked.

Run by an environment's python, alone or in a sandbox:
    tests/e2e/sandbox.sh --file tests/e2e/torch_scenario.py PREFIX python /tmp/torch_scenario.py
At the end every module and every mapped library has to come from the environment; only glibc's libraries may be the
host's.
"""

import ctypes
import os
import re
import sys

GLIBC = re.compile(
    r"(ld-linux-x86-64\.so\.2|lib(c|m|dl|pthread|rt|resolv|util|anl|mvec|nsl|nss_(files|dns|compat))"
    r"(\.so\.\d+|-2\.\d+\.so))")


def torch_arithmetic():
    import torch
    assert float(torch.ones(3).sum()) == 3
    print("torch", torch.__version__, torch.ones(3).sum())


def torch_autograd():
    import torch
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x ** 2).sum().backward()
    assert torch.equal(x.grad, torch.tensor([2.0, 4.0, 6.0]))


def torch_conv2d():
    import torch
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(3, 8, kernel_size=3, padding=1)
    image = torch.randn(2, 3, 16, 16)
    out = layer(image)
    assert out.shape == (2, 8, 16, 16)
    # One output value, computed by hand.
    patch = image[1, :, 4:7, 9:12]
    expected = (patch * layer.weight[5]).sum() + layer.bias[5]
    assert torch.allclose(out[1, 5, 5, 10], expected, atol=1e-5)
    out.mean().backward()
    assert layer.weight.grad.abs().sum() > 0


def torch_linear_algebra():
    import torch
    a = torch.arange(9.0, dtype=torch.float64).reshape(3, 3) + torch.eye(3, dtype=torch.float64)
    q, r = torch.linalg.qr(a)
    assert torch.allclose(q @ r, a)
    assert torch.allclose(torch.fft.ifft(torch.fft.fft(a.flatten())).real, a.flatten())


def torch_script():
    import torch

    @torch.jit.script
    def twice(x):
        return x + x

    assert torch.equal(twice(torch.ones(2)), torch.full((2,), 2.0))


def numpy_svd():
    import numpy
    a = numpy.arange(12.0).reshape(4, 3)
    u, s, vt = numpy.linalg.svd(a, full_matrices=False)
    assert numpy.allclose(u * s @ vt, a)
    assert numpy.allclose(sorted(numpy.linalg.eigvalsh(a.T @ a)), sorted(s ** 2))
    print("numpy", numpy.__version__)


def ssl_certificates():
    import ssl
    context = ssl.create_default_context()
    count = len(context.get_ca_certs())
    assert count > 50, f"{count} certificates"
    paths = ssl.get_default_verify_paths()
    assert paths.cafile and paths.cafile.startswith(sys.prefix), paths
    import certifi
    assert certifi.where().startswith(sys.prefix), certifi.where()
    print(ssl.OPENSSL_VERSION, f"with {count} certificates")


def sqlite():
    import sqlite3
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (a)")
        database.executemany("insert into t values (?)", [(1,), (2,)])
        assert database.execute("select sum(a) from t").fetchone() == (3,)
    print("sqlite", sqlite3.sqlite_version)


def time_zones():
    import datetime
    import zoneinfo
    import dateutil.tz
    summer = datetime.datetime(2023, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    assert summer.utcoffset() == datetime.timedelta(hours=2)
    assert zoneinfo.TZPATH[0].startswith(sys.prefix), zoneinfo.TZPATH
    assert dateutil.tz.gettz("Europe/Berlin") is not None


def standard_library():
    import bz2
    import curses  # noqa: F401
    import hashlib
    import lzma
    import readline  # noqa: F401
    import sysconfig
    import zlib
    for module in (bz2, lzma, zlib):
        assert module.decompress(module.compress(b"gpkg" * 99)) == b"gpkg" * 99
    assert hashlib.new("sha3_256", b"").hexdigest().startswith("a7ffc6f8")
    for kind in ("purelib", "platlib", "scripts", "include", "stdlib"):
        assert sysconfig.get_path(kind).startswith(sys.prefix + "/"), (kind, sysconfig.get_path(kind))
    assert "/local/" not in sysconfig.get_path("purelib")[len(sys.prefix):]
    assert sysconfig.get_config_var("LIBDIR") == sys.prefix + "/lib", sysconfig.get_config_var("LIBDIR")


def other_packages():
    import psutil
    import requests  # noqa: F401
    import sympy
    import yaml
    assert psutil.Process().pid == os.getpid()
    assert sympy.diff(sympy.Symbol("x") ** 2).coeff(sympy.Symbol("x")) == 2
    assert yaml.load("a: [1, 2]", Loader=yaml.CSafeLoader) == {"a": [1, 2]}


def threads():
    # glibc opens libgcc_s.so.1 by itself when a thread ends this way.
    import threading
    libc = ctypes.CDLL("libc.so.6")
    thread = threading.Thread(target=lambda: libc.pthread_exit(None))
    del thread
    ctypes.CDLL("libgcc_s.so.1")


def nothing_from_elsewhere():
    inside = os.path.realpath(sys.prefix) + "/"
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file != __file__:
            assert os.path.realpath(file).startswith(inside), f"{module.__name__} is from {file}"
    with open("/proc/self/maps") as maps:
        mapped = sorted({line.split(maxsplit=5)[5].strip() for line in maps if "/" in line})
    # glibc's own data: locales and the tables of character sets.
    data = ("/dev/", "/memfd:", "/SYSV", "/usr/lib/locale/", "/usr/lib/x86_64-linux-gnu/gconv/")
    files = [path for path in mapped if not path.startswith((inside, *data))]
    strangers = [path for path in files if not GLIBC.fullmatch(os.path.basename(path))]
    assert not strangers, f"mapped from elsewhere: {strangers}"
    print(f"{len(mapped)} files mapped, of the host's: " + " ".join(os.path.basename(path) for path in files))


if __name__ == "__main__":
    for step in (torch_arithmetic, torch_autograd, torch_conv2d, torch_linear_algebra, torch_script, numpy_svd,
                 ssl_certificates, sqlite, time_zones, standard_library, other_packages, threads,
                 nothing_from_elsewhere):
        step()
    print("scenario: passed in", sys.prefix)
