#!/usr/bin/env python3
"""Puts the requests of tests/fixtures/explanations to the built program, as a user would, and runs every command
that it names as a fix. A text has at most 15 lines, and a fix gives what it says.

usage: unsatisfiable.py GPKG REQUESTS [-v]
Reads the channels of GPKG_TEST_CORPUS; exit status 77 where that is not set. -v prints the texts.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_LINES = 15
# An explanation of one line is its own title.
TITLE = r"error: (the request cannot be solved|package '.*' not found in |no (version|build) (of .* )?matches|.*: cannot use )"
MACHINE = {"glibc": "2.36", "linux": "6.1", "archspec": "zen4", "cuda": ""}


class World:
    """A home of its own, with gpkg on the path."""

    def __init__(self, program, corpus, folder):
        self.corpus = corpus
        (folder / "bin").mkdir()
        (folder / "bin" / "gpkg").symlink_to(program)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA_", "GPKG_", "MAMBA_"))}
        self.environment |= {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "GPKG_ROOT_PREFIX": str(folder / "root"),
            "CONDA_SUBDIR": "linux-64",
            "NO_COLOR": "1",
        }

    def run(self, command, asked):
        facts = MACHINE | {k: str(v).split()[-1] for k, v in asked.get("machine", {}).items()}
        overrides = {f"CONDA_OVERRIDE_{name.upper()}": value for name, value in facts.items()}
        return subprocess.run(
            ["bash", "-c", command] if isinstance(command, str) else command,
            env=self.environment | overrides, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def words(self, asked):
        words = ["gpkg", "create", "--dry-run", "-n", "x", "--override-channels"]
        for channel in asked.get("channels", ["conda-forge"]):
            words += ["-c", f"file://{self.corpus / channel}"]
        if "exclude_newer" in asked:
            words += ["--exclude-newer", str(asked["exclude_newer"])]
        return words + asked["request"]


def check_fix(world, asked, fix):
    if fix["edits"]:
        yield f"needs edits: {fix['edits']}"
        return
    done = world.run(fix["command"], asked)
    if done.returncode != 0:
        yield f"{fix['command']}: exit status {done.returncode}: {done.stdout}{done.stderr}"
        return
    linked = {r["name"]: f"{r['version']} {r['build']}" for r in json.loads(done.stdout)["actions"]["LINK"]}
    for package in fix["gives"]:
        told = f"{package['version']} {package['build']}"
        if linked.get(package["name"]) != told:
            yield f"{fix['command']}: {package['name']} is {linked.get(package['name'])}, not {told}"


def check(world, title, asked, verbose):
    text = world.run(world.words(asked), asked)
    if verbose:
        print(f"--- {title}\n{text.stderr}")
    lines = [line for line in text.stderr.strip().splitlines() if not line.startswith("warning:")]
    if text.returncode != 1 or not re.match(TITLE, lines[0]):
        yield f"exit status {text.returncode}: {text.stderr}"
        return
    if len(lines) > MOST_LINES:
        yield f"{len(lines)} lines"
    document = json.loads(world.run([*world.words(asked), "--json"], asked).stdout)
    # Another package is no fix for one that no channel has.
    unknown = [clash for clash in document["clashes"] if clash[0].get("channels")]
    if not document["clashes"] or bool(document["fixes"]) == (len(unknown) == len(asked["request"])):
        yield "no clash, or no fix"
    for fix in document["fixes"]:
        yield from check_fix(world, asked, fix)


def main():
    corpus = os.environ.get("GPKG_TEST_CORPUS")
    try:
        import yaml
    except ImportError:
        yaml = None
    if not corpus or yaml is None:
        print("skipped: needs GPKG_TEST_CORPUS and python3-yaml")
        return 77
    program = pathlib.Path(sys.argv[1]).resolve()
    requests = yaml.safe_load(pathlib.Path(sys.argv[2]).read_text())
    problems = 0
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        world = World(program, pathlib.Path(corpus).resolve(), pathlib.Path(folder))
        for title, asked in requests.items():
            # Pins are of environments, and no variable takes a CPU away.
            if "pins" in asked or "none" in asked.get("machine", {}).values():
                continue
            tried += 1
            for problem in check(world, title, asked, "-v" in sys.argv):
                print(f"FAILED: {title}: {problem}")
                problems += 1
    print(f"{tried} requests, {problems} problems")
    return 1 if problems or tried < 40 else 0


sys.exit(main())
