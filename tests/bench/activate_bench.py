#!/usr/bin/env python3
"""What activating an environment adds to a shell, and what `gpkg run` adds to a command, beside what the same shell
and the same system need for as many processes that do nothing, measured in the same run.

usage: activate_bench.py BUILD_FOLDER [--times N]
BUILD_FOLDER is build/release. In each shell of this machine N pairs of `gpkg activate` and `gpkg deactivate` are run
in one shell, of an environment without scripts and of one with a script; a row is the mean of one of the two verbs.
The limit is evaluating what /bin/true prints. The rows of `run` are medians of whole processes. It judges nothing:
times depend on the machine, ratios are what to read.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SHELLS = {
    # How it starts without files, how it loads the hook, how it evaluates what a program prints, and loops.
    "bash": (["--norc", "--noprofile"], 'eval "$(gpkg shell-hook -s bash)"', 'eval "$(/bin/true)"'),
    "zsh": (["-f"], 'eval "$(gpkg shell-hook -s zsh)"', 'eval "$(/bin/true)"'),
    "dash": ([], 'eval "$(gpkg shell-hook -s posix)"', 'eval "$(/bin/true)"'),
    "fish": (["--no-config"], "gpkg shell-hook -s fish | source", "set -l x (/bin/true); string join \\n -- $x | source"),
    "tcsh": (["-f"], 'eval "`gpkg shell-hook -s tcsh`"', 'eval "`/bin/true`"'),
}


def seconds_of(shell, flags, lines, environment):
    """Of a shell that runs the lines."""
    with tempfile.NamedTemporaryFile("w", suffix=".script") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        start = time.perf_counter()
        subprocess.run([shell, *flags, script.name], env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def median_of(command, environment, times):
    samples = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def row(name, seconds, limit, limit_name):
    print(f"{name:34} {seconds * 1e3:7.2f} ms   {seconds / limit:5.1f} x  {limit_name} ({limit * 1e3:.2f} ms)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    program = (options.build / "gpkg").resolve()

    with tempfile.TemporaryDirectory(prefix="gpkg-bench-") as world:
        environment = {
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "HOME": world,
            "GPKG_ROOT_PREFIX": f"{world}/root",
        }
        for name in ("plain", "scripted"):
            subprocess.run([program, "create", "-y", "-q", "-n", name], env=environment, check=True)
        for suffix in ("sh", "fish", "csh"):
            folder = pathlib.Path(world, "root/envs/scripted/etc/conda/activate.d")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"x.{suffix}").write_text("true\n")

        for shell, (flags, hook, nothing) in SHELLS.items():
            if shutil.which(shell) is None:
                print(f"skipped: no {shell} on this machine")
                continue
            n = options.times
            start = seconds_of(shell, flags, [hook], environment)
            empty = seconds_of(shell, flags, [], environment)
            limit = (seconds_of(shell, flags, [hook] + 2 * n * [nothing], environment) - start) / (2 * n)
            row(f"{shell}: loading the hook", start - empty, limit, "eval of /bin/true")
            for name in ("plain", "scripted"):
                pair = [f"gpkg activate {name}", "gpkg deactivate"]
                spent = (seconds_of(shell, flags, [hook] + n * pair, environment) - start) / (2 * n)
                row(f"{shell}: activate, deactivate {name}", spent, limit, "eval of /bin/true")

        limit = median_of(["/usr/bin/env", "-i", "/bin/true"], environment, options.times)
        through_bash = median_of(["/bin/bash", "-c", ":"], environment, options.times)
        for name in ("plain", "scripted"):
            spent = median_of([program, "run", "-n", name, "/bin/true"], environment, options.times)
            row(f"run {name}", spent, limit, "env -i true")
        row("bash -c :", through_bash, limit, "env -i true")


if __name__ == "__main__":
    main()
