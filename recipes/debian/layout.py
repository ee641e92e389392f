"""Debian's files as the files of a prefix: one tree per conda package, nothing in it that points outside.

A tree is planned first (path -> Entry) and written afterwards, because a symlink may lead into another package:
whether it dangles is known only when all are planned.
"""

import os
import posixpath
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

import debs
import elf

TRIPLETS = {"amd64": "x86_64-linux-gnu"}

# Stands for the prefix in text files; the recipe's script puts the build prefix there.
PREFIX_MARK = "@PREFIX@"


class LayoutError(Exception):
    pass


@dataclass
class Entry:
    """A file with a source or a text, or a symlink with its target (prefix path, or relative once resolved)."""
    source: Path | None = None
    text: str | None = None
    target: str | None = None
    mode: int = 0o644

    def content(self) -> bytes:
        return self.source.read_bytes() if self.text is None else self.text.encode("utf-8", "surrogateescape")


Plan = dict[str, Entry]


class Mapper:
    """Where a path of Debian's file system lies below the prefix; None: nowhere."""

    def __init__(self, architecture: str, python: str):
        triplet = TRIPLETS[architecture]
        site = f"lib/python{python}/site-packages/"
        self.rules = [
            ("usr/lib/python3/dist-packages/", site),
            (f"usr/lib/python{python}/dist-packages/", site),
            (f"usr/lib/{triplet}/", "lib/"), (f"lib/{triplet}/", "lib/"),
            ("usr/lib64/", "lib/"), ("lib64/", "lib/"), ("usr/lib/", "lib/"), ("lib/", "lib/"),
            (f"usr/include/{triplet}/", "include/"), ("usr/include/", "include/"),
            ("usr/bin/", "bin/"), ("usr/sbin/", "bin/"), ("usr/games/", "bin/"), ("bin/", "bin/"), ("sbin/", "bin/"),
            ("usr/libexec/", "libexec/"), ("usr/share/", "share/"), ("etc/", "etc/"),
        ]

    def __call__(self, path: str) -> str | None:
        for old, new in self.rules:
            if path.startswith(old):
                return new + path[len(old):]
            if path == old[:-1]:
                return new[:-1]
        return None


class Layout:
    """Plans and writes trees; notes what it left out and why in `notes`."""

    def __init__(self, table: dict, mapper: Mapper, provider_of_alternative: dict[str, str]):
        self.table = table
        self.provider_of_alternative = provider_of_alternative
        self.map = mapper
        self.python = table["python"]
        self.leave_out = [(_glob(pattern), reason) for pattern, reason in table["leave_out"].items()]
        self.notes: list[dict] = []

    def note(self, package, path, reason):
        self.notes.append({"package": package, "path": path, "reason": reason})

    # --- planning -----------------------------------------------------------------------------------------------------
    def plan(self, name: str, packages: list[debs.Package]) -> Plan:
        plan: Plan = {}
        for package in packages:
            self.add_package(plan, name, package)
        for package in packages:
            self.add_alternatives(plan, package)
        self.add_tables(plan, name)
        return plan

    def add_package(self, plan, name, package):
        first_of_inode = {}
        for path, full, mode in debs.files_below(package.root):
            where = self.map(path)
            reason = "no place for it below a prefix" if where is None else self.reason_to_leave_out(where)
            if mode & 0o6000 and not stat.S_ISLNK(mode):
                reason = "runs with another user's rights"
            if reason:
                self.note(name, path, reason)
            elif stat.S_ISLNK(mode):
                target = self.map(absolute(path, os.readlink(full)))
                if target is None:
                    self.note(name, path, f"a link to {os.readlink(full)}, which is no place below a prefix")
                elif target != where and where not in plan:
                    plan[where] = Entry(target=target)
            elif not stat.S_ISREG(mode):
                self.note(name, path, "neither a file nor a link")
            else:
                entry = Entry(source=Path(full), mode=0o755 if mode & 0o111 else 0o644)
                status = os.lstat(full)
                if status.st_nlink > 1:
                    first = first_of_inode.setdefault(status.st_ino, where)
                    entry = entry if first == where else Entry(target=first)
                self.add_file(plan, name, where, entry)

    def add_file(self, plan, name, where, entry):
        old = plan.get(where)
        if old and old.target is None and entry.target is None and old.content() != entry.content():
            self.note(name, where, f"two files of Debian's come to lie here; the one kept is {entry.source}")
        if self.is_python_script(where, entry):
            entry.text = re.sub(r"\A#! *\S+(?: python3\S*)?", f"#!{PREFIX_MARK}/bin/python{self.python}",
                                entry.content().decode("utf-8", "surrogateescape"))
        plan[where] = entry

    @staticmethod
    def is_python_script(where, entry):
        if not where.startswith(("bin/", "libexec/")) or entry.source is None:
            return False
        with open(entry.source, "rb") as file:
            return re.match(rb"#! */\S*(/env +)?python3", file.readline(256)) is not None

    def reason_to_leave_out(self, where):
        return next((reason for pattern, reason in self.leave_out if pattern.fullmatch(where)), None)

    def add_alternatives(self, plan, package):
        """The links that update-alternatives would make. For a library the file itself goes where the link would be:
        $ORIGIN is the folder through which a library was opened, so the private folder gets the link."""
        for link, target, _ in package.alternatives:
            where, real = self.map(link), self.map(target)
            if self.provider_of_alternative[link] != package.name or real not in plan or where is None or where in plan:
                continue
            final = real
            while plan[final].target in plan:
                final = plan[final].target
            if plan[final].source and elf.read(plan[final].source):
                plan[where] = plan[final]
                plan[final] = Entry(target=where)
            else:
                plan[where] = Entry(target=real)

    def add_tables(self, plan, name):
        for item in self.mine("concatenate", name):
            parts = [plan[path] for path in sorted(plan) if _glob(item["from"]).fullmatch(path)]
            if not parts:
                raise LayoutError(f"{name}: no file matches {item['from']}")
            texts = [part.content().decode() for part in parts]
            plan[item["to"]] = Entry(text="".join(text if text.endswith("\n") else text + "\n" for text in texts))
        for item in self.mine("file", name):
            plan[item["path"]] = Entry(text=item["text"])
        for item in self.mine("link", name):
            plan[item["path"]] = Entry(target=absolute(item["path"], item["target"]))
        for item in self.mine("edit", name):
            self.edit(plan, name, item)
        if name in self.table["env"]:
            values = {key: f"{PREFIX_MARK}/{value}" for key, value in sorted(self.table["env"][name].items())}
            lines = ",\n".join(f'  "{key}": "{value}"' for key, value in values.items())
            plan[f"etc/conda/env_vars.d/{name}.json"] = Entry(text="{\n" + lines + "\n}\n")

    def mine(self, kind, name):
        return [item for item in self.table[kind] if item["package"] == name]

    @staticmethod
    def edit(plan, name, item):
        entry = plan.get(item["path"])
        if entry is None or entry.target is not None:
            raise LayoutError(f"{name}: {item['path']}: cannot be edited, not in the package")
        text = entry.content().decode("utf-8", "surrogateescape")
        if "append" in item:
            text += item["append"]
        elif text.count(item["old"]) == 1:
            text = text.replace(item["old"], item["new"])
        else:
            raise LayoutError(f"{name}: {item['path']}: found {text.count(item['old'])} times, expected once: "
                              + item["old"].strip())
        plan[item["path"]] = Entry(text=text, mode=entry.mode)

    # --- all plans together ---------------------------------------------------------------------------------------------
    def resolve_links(self, plans: dict[str, Plan]):
        """Makes each link relative; takes away those whose target is in no package."""
        present = set()
        for plan in plans.values():
            for path in plan:
                while path and path not in present:
                    present.add(path)
                    path = posixpath.dirname(path)
        links = [(name, plan, path) for name, plan in plans.items() for path in plan if plan[path].target is not None]
        targets = {path: plan[path].target for _, plan, path in links}
        while True:
            dangling = [(name, plan, path) for name, plan, path in links
                        if path in plan and _walked(plan[path].target, targets) not in present]
            for name, plan, path in dangling:
                self.note(name, path, f"a link to {plan[path].target}, which is in no package")
                del plan[path]
                present.discard(path)
            if not dangling:
                break
        for _, plan, path in links:
            if path in plan:
                plan[path].target = posixpath.relpath(plan[path].target, posixpath.dirname(path) or ".")

    @staticmethod
    def collisions(plans: dict[str, Plan]) -> list[str]:
        """Paths that two packages would both install."""
        owner, found = {}, []
        for name, plan in plans.items():
            for path in plan:
                if owner.setdefault(path, name) != name:
                    found.append(f"{path}: in {owner[path]} and in {name}")
        return found


def write(plan: Plan, folder: Path):
    """The tree on disk. Unchanged files are hard links to the unpacked package: nobody may write into the tree."""
    if folder.exists():
        shutil.rmtree(folder)
    made = set()
    for path in sorted(plan):
        entry, full = plan[path], folder / path
        if full.parent not in made:
            full.parent.mkdir(parents=True, exist_ok=True)
            made.add(full.parent)
        if entry.target is not None:
            os.symlink(entry.target, full)
        elif entry.text is None and stat.S_IMODE(entry.source.stat().st_mode) == entry.mode:
            os.link(entry.source, full)
        else:
            full.write_bytes(entry.content())
            full.chmod(entry.mode)


def absolute(path: str, target: str) -> str:
    """Where a link at `path` leads, from the root of the tree, without following further links."""
    joined = target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(path), target)
    return posixpath.normpath(joined)


def _walked(path: str, links: dict[str, str]) -> str:
    """`path` with folders that are links themselves replaced, as the kernel walks them."""
    walked = ""
    parts = path.split("/")
    for index, part in enumerate(parts):
        walked = f"{walked}/{part}" if walked else part
        if index + 1 < len(parts):
            walked = links.get(walked, walked)
    return walked


def _glob(pattern: str) -> re.Pattern:
    parts = [re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for part in pattern.split("**")]
    return re.compile(".*".join(parts))
