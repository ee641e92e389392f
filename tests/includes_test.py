#!/usr/bin/env python3
"""Parses each source file of a folder alone: includes_test.py BUILD FOLDER.

Release builds compile the files of a folder as one, where a file may live from what another includes. BUILD is one
that compiles them file by file; what it builds anyway needs no second look."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

build, folder = sys.argv[1:]
root = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder) + os.sep


def says(entry):
    """What the compiler says against one file."""
    words = shlex.split(entry["command"])
    output = words.index("-o")
    words[output:output + 2] = []
    words[words.index("-c")] = "-fsyntax-only"
    return subprocess.run(words, cwd=entry["directory"], stderr=subprocess.PIPE, text=True).stderr


with open(os.path.join(build, "compile_commands.json")) as file:
    sources = [entry for entry in json.load(file) if entry["file"].startswith(root)]
if not sources:
    sys.exit(f"{build} builds nothing of {folder}")
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    faults = [fault for fault in pool.map(says, sources) if fault]
if faults:
    sys.exit("\n".join(faults))
