"""Strikes commands at their every change of a file, and at their reads, and looks at what is left.

strikes.py GPKG LIBRARY ROOT SCENARIO...

ROOT is a root prefix whose store has what is needed. A scenario is "NAME;MOST;WORDS": the command is
struck at every one of its changes, or at MOST of them, drawn anew each time, where MOST is not 0. It is killed
before the change, and for some of them after it: what is there then is mostly what is there before the next. In
another run that change fails. The environment envs/e is as it was made
before this, or absent. After each strike `gpkg repair --offline` must bring it to what it was or to
what the command makes of it, and nothing may be left beside it. Where an error is injected in place of a
kill, gpkg itself must have done so. Where a read in the environment fails (EIO, ESTALE stand for a disk or a
server that breaks), a command that succeeds has done all of it, and one that fails none.
"""

import hashlib
import os
import random
import re
import shutil
import stat
import subprocess
import sys

gpkg, library, root = sys.argv[1:4]
envs = os.path.join(root, "envs")
prefix = os.path.join(envs, "e")
saved = root + ".saved"
struck = root + ".struck"
counter = root + ".count"
checks = failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)
    if failures > 20:
        sys.exit("too many failures")


def run(words, at=0, how="", reads=False):
    environment = {**os.environ, "LD_PRELOAD": library, "STRIKE_COUNT": counter}
    if reads:
        environment["STRIKE_READS"] = envs
    if at:
        environment.update(STRIKE_AT=str(at), STRIKE_HOW=how)
    done = subprocess.run([gpkg, *words], env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    with open(counter) as file:
        count = int(file.read() or 0)
    return done.returncode, count, done.stderr.decode(errors="replace")


def content(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith("conda-meta/history"):
        data = re.sub(rb"(?m)^==> .* <==$|^# cmd: .*$", b"", data)
    if "/gpkg/generations/" in path:
        return "a generation"  # it names the time
    return hashlib.sha256(data).hexdigest()


def snapshot(folder):
    """Every path of the environments: what it is, its permissions, its contents."""
    seen = {}
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            status = os.lstat(path)
            what = stat.S_IFMT(status.st_mode)
            if stat.S_ISLNK(what):
                seen[os.path.relpath(path, folder)] = os.readlink(path)
            elif stat.S_ISDIR(what):
                seen[os.path.relpath(path, folder)] = "folder"
            else:
                seen[os.path.relpath(path, folder)] = (stat.S_IMODE(status.st_mode), content(path))
    return seen


def copy_tree(source, target):
    """Hard links stay: by them gpkg tells what it put there from what others did."""
    os.makedirs(target)
    for entry in os.scandir(source):
        to = os.path.join(target, entry.name)
        if entry.is_dir(follow_symlinks=False):
            copy_tree(entry.path, to)
        elif entry.stat(follow_symlinks=False).st_nlink > 1:
            os.link(entry.path, to, follow_symlinks=False)
        else:
            shutil.copy2(entry.path, to, follow_symlinks=False)
    shutil.copystat(source, target)


def restore(kept):
    shutil.rmtree(envs, ignore_errors=True)
    mark = os.path.join(root, "pkgs/.written")  # moved once in a minute: a change that is now there and now not
    if os.path.exists(mark):
        os.utime(mark)
    if os.path.exists(kept):
        copy_tree(kept, envs)
    else:
        os.makedirs(envs)


def keep(kept):
    shutil.rmtree(kept, ignore_errors=True)
    copy_tree(envs, kept)


def difference(found, wanted):
    lines = [f"too much: {path}" for path in found.keys() - wanted.keys()]
    lines += [f"missing: {path}" for path in wanted.keys() - found.keys()]
    lines += [f"differs: {path}" for path in found.keys() & wanted.keys() if found[path] != wanted[path]]
    return "; ".join(sorted(lines)[:6])


def without_empty(seen):
    """A folder that could not be removed when the disk failed harms nobody."""
    seen = dict(seen)
    for path in sorted(seen, reverse=True):
        if seen[path] == "folder" and not any(other.startswith(path + "/") for other in seen):
            del seen[path]
    return seen


def check_settled(what, old, new, forgive=lambda seen: seen):
    global checks
    checks += 1
    found, old, new = forgive(snapshot(envs)), forgive(old), forgive(new)
    if found not in (old, new):
        fail(f"{what}: not as before ({difference(found, old)}) nor as after ({difference(found, new)})")


def repair(what, at=0, how=""):
    status, count, said = run(["repair", "-y", "-n", "e", "--offline"], at, how)
    if not at and status != 0 and "no environment at" not in said:
        fail(f"{what}: repair: {status}: {said}")
    return status, count


def points(count, most):
    return range(1, count + 1) if most == 0 else sorted(random.sample(range(1, count + 1), min(most, count)))


def strike_kills(name, most, words, old, new, count):
    for at in points(count + 1, most):
        for how in ("before", "after") if random.random() < 0.2 else ("before",):
            what = f"{name}: killed {how} {at} of {count}"
            restore(saved)
            status, _, said = run(words, at, how)
            if at <= count and status != -9:
                fail(f"{what}: was not killed: {status} {said}")
            if how == "before" and at % 5 == 1 and os.path.exists(prefix):
                strike_recovery(what, old, new)
            repair(what)
            check_settled(what, old, new)


def strike_recovery(what, old, new):
    """The recovery is killed as well, at each of its changes."""
    keep(struck)
    _, count = repair(what)
    check_settled(what, old, new)
    step = max(1, count // 12)
    for at in range(1, count + 1, step):
        restore(struck)
        repair(what, at, "before")
        repair(f"{what}, then at {at} of {count}")
        check_settled(f"{what}, then at {at} of {count}", old, new)
    restore(struck)


def strike_errors(name, most, words, old, new, count):
    for at in points(count, most):
        how = random.choice(("EIO", "ENOSPC"))
        what = f"{name}: {how} at {at} of {count}"
        restore(saved)
        status, _, said = run(words, at, how)
        if status < 0:
            fail(f"{what}: ended by signal {-status}")
        if status != 0 and not said.startswith(("error:", "warning:")) and "error:" not in said:
            fail(f"{what}: says nothing of it: {said}")
        if "undoing the change failed" in said or "not all records are written" in said:
            repair(what)
        found = snapshot(envs)
        leftover = any(".gpkg-" in path for path in found)
        if leftover:
            repair(what)  # what could not be removed when the disk failed
        check_settled(what, old, new, without_empty)


def strike_reads(name, most, words, old, new):
    restore(saved)
    _, count, _ = run(words, reads=True)
    for at in points(count, most or 150):
        what = f"{name}: a read fails at {at} of {count}"
        restore(saved)
        status, _, said = run(words, at, "EIO", reads=True)
        if status < 0:
            fail(f"{what}: ended by signal {-status}")
        if status != 0 and "error:" not in said:
            fail(f"{what}: says nothing of it: {said}")
        # A lock file that could not be examined is left; nobody holds it.
        if status != 0 or any(".gpkg-" in path for path in snapshot(envs)):
            repair(what)
        check_settled(what, old if status != 0 else new, new, without_empty)
    return count


def strike(name, most, words):
    restore(saved)
    old = snapshot(envs)
    for _ in range(2):  # what is done outside of the environment is done once
        restore(saved)
        status, count, said = run(words)
        if status != 0:
            sys.exit(f"{name}: {said}")
    new = snapshot(envs)
    before = checks
    strike_kills(name, most, words, old, new, count)
    strike_errors(name, most, words, old, new, count)
    reads = strike_reads(name, most, words, old, new)
    print(f"{name}: {count} changes, {reads} reads, {checks - before} checks")


seed = random.randrange(1 << 32)
random.seed(seed)
if os.path.exists(envs):
    keep(saved)
for scenario in sys.argv[4:]:
    name, most, words = scenario.split(";")
    strike(name, int(most), words.split())
restore(saved)
print(f"{checks} checks, {failures} failed, seed {seed}")
sys.exit(1 if failures else 0)
