"""Packages without libraries that they name as needed and use nothing of."""

from fnmatch import fnmatch
from pathlib import Path

import elf
from closure import Closure
from debs import Package


class Used(Exception):
    """A library that was to be left out is used."""


# Path below a package's root -> sonames that are to go.
Needless = dict[tuple[str, str], list[str]]


def find(closure: Closure, members: list[Package], patterns: list[str]) -> Needless:
    """Of each ELF file of the packages the needed libraries that match."""
    found = {}
    for package in members:
        for path, facts in sorted(package.elves.items()):
            if gone := [soname for soname in facts.needed if any(fnmatch(soname, one) for one in patterns)]:
                found[package.name, path] = gone
    if not found:
        raise Used("no file in " + ", ".join(p.name for p in members) + " needs " + ", ".join(patterns))
    return found


def check(closure: Closure, needless: Needless, users: list[Package]):
    """Stops where a file of `users` asks for a symbol that one of the libraries has: it would not be found any more."""
    has = {}
    for soname in {soname for sonames in needless.values() for soname in sonames}:
        _, has[soname] = elf.symbols(file_of(closure, soname))
    for package in users:
        for path in package.elves:
            wanted, _ = elf.symbols(package.root / path)
            for soname, defined in sorted(has.items()):
                if used := sorted((wanted & defined) - EVERYWHERE):
                    raise Used(f"{package.name}: {path} uses {soname}: {used[0]} and {len(used) - 1} other symbols")


# Every library has these.
EVERYWHERE = {"_init", "_fini", "_edata", "_end", "__bss_start"}


def file_of(closure: Closure, soname: str) -> Path:
    package = closure.packages[closure.owner[soname]]
    for path, facts in package.elves.items():
        if facts.soname == soname or path.rsplit("/", 1)[-1] == soname:
            return package.root / path
    raise Used(f"{package.name}: no file {soname}")


def only_for(closure: Closure, members: list[Package], needless: Needless) -> set[str]:
    """Packages that are there for the libraries alone: nothing else of theirs is needed."""
    names = {package.name for package in members}
    still = {closure.owner.get(soname) for package in members for path, facts in package.elves.items()
             for soname in facts.needed if soname not in needless.get((package.name, path), [])}
    gone = {closure.owner[soname] for sonames in needless.values() for soname in sonames}
    return (gone & closure.kept.keys()) - still - names


def by_file(needless: Needless, place) -> dict[str, list[str]]:
    """The same by path below the prefix; `place` is layout.Mapper."""
    return {place(path): sonames for (_, path), sonames in needless.items()}
