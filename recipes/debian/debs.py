"""One Debian package: unpacked once, then known by its control data, scripts, ELF files and Python modules.

What was learned is kept in a JSON file named by the package's checksum, so that a repeat reads no package again.
"""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

import elf
from fetch import Deb

# Raised when what is written to the cache changes.
CACHE_VERSION = 1

MODULE_FOLDERS = re.compile(r"usr/lib/python3(\.\d+)?/dist-packages/")


@dataclass
class Package:
    deb: Deb
    root: Path                                           # the unpacked files
    control: dict[str, str]
    scripts: dict[str, str]                              # maintainer scripts by name: postinst, ...
    elves: dict[str, elf.Elf]                            # by path below root
    links: dict[str, str]                                # symlinks by path: their text
    modules: list[str] = field(default_factory=list)     # top-level Python modules it ships

    @property
    def name(self) -> str:
        return self.deb.name

    @property
    def source(self) -> str:
        return self.control.get("Source", self.name).split()[0]

    @property
    def alternatives(self) -> list[tuple[str, str, int]]:
        return list(parse_alternatives(self.scripts.get("postinst", "")))


def load(deb: Deb, cache: Path) -> Package:
    """Unpacks and scans the package, or takes both from the cache."""
    root = cache / "unpacked" / f"{deb.name}-{deb.sha256[:16]}"
    facts = cache / "facts" / f"{deb.name}-{deb.sha256[:16]}.json"
    if root.is_dir() and facts.is_file():
        known = json.loads(facts.read_text())
        if known["cache_version"] == CACHE_VERSION:
            elves = {path: elf.Elf(**entry) for path, entry in known["elves"].items()}
            return Package(deb, root, known["control"], known["scripts"], elves, known["links"], known["modules"])
    package = _unpack(deb, root)
    known = {"cache_version": CACHE_VERSION, "control": package.control, "scripts": package.scripts,
             "elves": {path: asdict(entry) for path, entry in package.elves.items()},
             "links": package.links, "modules": package.modules}
    facts.parent.mkdir(parents=True, exist_ok=True)
    temporary = facts.with_suffix(".new")
    temporary.write_text(json.dumps(known))
    temporary.rename(facts)
    return package


def _unpack(deb, root):
    temporary = root.with_name(root.name + ".new")
    for old in (temporary, root):
        if old.exists():
            shutil.rmtree(old)
    (temporary / "control").mkdir(parents=True)
    subprocess.run(["dpkg-deb", "--raw-extract", deb.path, temporary / "files"], check=True)
    (temporary / "files" / "DEBIAN").rename(temporary / "control" / "DEBIAN")
    control = parse_control((temporary / "control" / "DEBIAN" / "control").read_text())
    scripts = {}
    for name in ("preinst", "postinst"):
        script = temporary / "control" / "DEBIAN" / name
        if script.is_file():
            scripts[name] = script.read_text(errors="replace")
    shutil.rmtree(temporary / "control")
    (temporary / "files").rename(root)
    temporary.rmdir()
    package = Package(deb, root, control, scripts, {}, {})
    _scan(package)
    return package


def _scan(package):
    modules = set()
    for path, full, mode in files_below(package.root):
        if stat.S_ISLNK(mode):
            package.links[path] = os.readlink(full)
        elif found := elf.read(full):
            package.elves[path] = found
        if match := MODULE_FOLDERS.match(path):
            modules.add(path[match.end():].split("/")[0].split(".")[0])
    package.modules = sorted(modules)


def files_below(root: Path):
    """(path below root, full path, mode) of each file and symlink, in order of path."""
    found = []
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in names + links:
            full = os.path.join(folder, name)
            found.append((os.path.relpath(full, root), full, os.lstat(full).st_mode))
    return sorted(found)


def parse_control(text: str) -> dict[str, str]:
    """The fields of one Debian control stanza; continuation lines stay, joined by newlines."""
    fields, name = {}, None
    for line in text.splitlines():
        if line[:1] in (" ", "\t"):
            if name:
                fields[name] += "\n" + line.strip()
        elif ":" in line:
            name, value = line.split(":", 1)
            fields[name] = value.strip()
    return fields


def parse_alternatives(postinst: str):
    """(link, target, priority) of `update-alternatives --install`, and of its --slave lines with the same priority."""
    for command in re.findall(r"update-alternatives\b([^;&|]*?--install[^;&|\n]*)", postinst.replace("\\\n", " ")):
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        at = words.index("--install")
        if len(words) < at + 5 or not words[at + 4].lstrip("-").isdigit():
            continue
        priority = int(words[at + 4])
        yield words[at + 1].lstrip("/"), words[at + 3].lstrip("/"), priority
        for index, word in enumerate(words):
            if word == "--slave" and len(words) > index + 3:
                yield words[index + 1].lstrip("/"), words[index + 3].lstrip("/"), priority
