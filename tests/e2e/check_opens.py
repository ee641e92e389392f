#!/usr/bin/python3
"""Reads the logs of sandbox.sh: did a command take anything from elsewhere than its environment and glibc?"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

GLIBC = re.compile(
    r"(ld-linux-x86-64\.so\.2|lib(c|m|dl|pthread|rt|resolv|util|anl|mvec|nsl|nss_(files|dns|compat))\.so\.\d+)")

# What every program asks the system and glibc for; never code and never data of a package.
SYSTEM = re.compile(
    r"/|/(proc|dev|sys|tmp)(/.*)?|(pipe|socket|anon_inode):.*|/usr/(lib|share)/locale/.*|/usr/lib/[^/]+/gconv/.*"
    r"|/(etc|lib|usr/lib|usr/share)/terminfo/.*"  # terminals are the host's
    r"|/etc/(ld\.so\.cache|localtime|inputrc|nsswitch\.conf|passwd|group|hosts|resolv\.conf|host\.conf"
    r"|locale\.alias)")

# Libraries that a program asks for by name and does without; found on the host they would be opened from there.
OPTIONAL = {"libJitPI.so": "Intel's profiler, asked for by oneDNN"}

CALL = re.compile(r"(?P<pid>\d+) +(?P<call>open|openat|openat2|execve|execveat)\((?P<arguments>.*)\) += (?P<result>.*)")
RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--variables", metavar="PREFIX", help="print what env_vars.d sets and stop")
    parser.add_argument("--prefix")
    parser.add_argument("--glibc", help="the folder of the host's glibc")
    parser.add_argument("--strace", type=Path)
    parser.add_argument("--ld-debug", type=Path)
    arguments = parser.parse_args()
    if arguments.variables:
        print_variables(Path(arguments.variables))
        return
    check = Check(arguments.prefix, arguments.glibc)
    opened = check.opens(arguments.strace)
    loaded = check.libraries(arguments.ld_debug)
    for name in sorted(check.sought - check.found - OPTIONAL.keys()):
        check.bad.append(f"{name}: a library that was looked for in the host's folders and not found")
    if not opened or not loaded:
        check.bad.append("the logs show no program of the environment")
    for line in sorted(set(check.bad)):
        print(f"check_opens: {line}", file=sys.stderr)
    if check.bad:
        sys.exit(1)
    print(f"nothing from elsewhere: {opened} opens, {loaded} libraries")


def print_variables(prefix):
    for file in sorted(prefix.glob("etc/conda/env_vars.d/*.json")):
        for name, value in json.loads(file.read_text()).items():
            print(f"{name}\t{value}")


class Check:
    def __init__(self, prefix, glibc):
        self.inside = prefix.rstrip("/") + "/"
        self.glibc = os.path.realpath(glibc)
        self.bad = []
        self.found = set()   # names of opened files
        self.sought = set()  # names of libraries looked for elsewhere

    def is_ours(self, path):
        return (path + "/").startswith(self.inside)

    def is_glibc(self, path):
        folder, _, name = os.path.normpath(path).rpartition("/")
        return bool(GLIBC.fullmatch(name)) and (os.path.realpath(folder) == self.glibc or folder == "/lib64")

    def opens(self, log):
        """Successful opens and program starts from the first program of the environment on. With -y strace shows
        the path behind the descriptor, links resolved."""
        started, count, unfinished = False, 0, {}
        for line in log.read_text(errors="replace").splitlines():
            if line.endswith("<unfinished ...>"):
                unfinished[line.split()[0]] = line.removesuffix(" <unfinished ...>")
                continue
            if match := RESUMED.match(line):
                line = unfinished.pop(match["pid"], "") + match["rest"]
            match = CALL.match(line)
            if not match:
                continue
            name = quoted(match["arguments"])
            failed = match["result"].startswith("-1")
            if match["call"].startswith("exec"):
                started = started or (not failed and self.is_ours(name))
                if started and not failed and not self.is_ours(name):
                    self.bad.append(f"{name}: a program that is not of the environment")
                continue
            if not started:
                continue
            if failed:
                if re.search(r"\.so(\.[0-9.]+)?$", name) and not self.is_ours(os.path.normpath(name)) and name.startswith("/"):
                    self.sought.add(os.path.basename(name))
                continue
            found = re.match(r"\d+<(.*)>", match["result"])
            path = found[1] if found else name
            count += 1
            self.found.add(os.path.basename(name))
            if not (self.is_ours(path) or self.is_glibc(path) or SYSTEM.fullmatch(path)
                    or name == "/etc/localtime"):
                self.bad.append(f"{path}: opened (as {name})")
        return count

    def libraries(self, folder):
        count = 0
        for log in sorted(folder.glob("ld.*")):
            for path in re.findall(r"calling init: (\S.*)", log.read_text(errors="replace")):
                count += 1
                if not (self.is_ours(os.path.normpath(path)) or self.is_glibc(path)):
                    self.bad.append(f"{path}: a library that is not of the environment")
        return count


def quoted(arguments):
    """The first string of a call's arguments."""
    match = re.search(r'"((?:[^"\\]|\\.)*)"', arguments)
    return match[1].encode().decode("unicode_escape") if match else ""


if __name__ == "__main__":
    main()
