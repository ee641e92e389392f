#!/usr/bin/env python3
"""Compares what files include with what their folder may use.

A folder may include its own headers and those of the folders that its CMakeLists.txt names
(gpkg::NAME), directly. Headers named *_internal.hpp belong to their folder alone. libsolv is for
solver/, libcurl for libcore/net, libarchive for libcore/package, yaml-cpp for libcore/yaml. A type
has one header: of two with one name in one namespace the linker would take either.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
TYPE = re.compile(r"^(?:template <[^\n]*>\n)?(?:class|struct|enum class|using) (\w+)\b(?!::)(?=[^;]*?[{=])", re.M)
NAMESPACE = re.compile(r"^namespace ([\w:]+) {", re.M)
THIRD_PARTY = {"solv/": "solver", "curl/": "libcore/net", "archive": "libcore/package",
               "yaml-cpp/": "libcore/yaml"}


def folders():
    """Folder with a target of its own -> (target, the targets it names)."""
    found = {}
    for cmake in [*ROOT.glob("libcore/*/CMakeLists.txt"), ROOT / "solver/CMakeLists.txt",
                  ROOT / "virtual-packages/CMakeLists.txt", ROOT / "cli/CMakeLists.txt"]:
        text = re.sub(r"#.*", "", cmake.read_text())
        target = re.search(r"gpkg_folder\((\w+)", text)
        name = target[1] if target else "cli"
        found[str(cmake.parent.relative_to(ROOT))] = (name, set(re.findall(r"gpkg::(\w+)", text)))
    return found


def folder_of(path, known):
    while path and path not in known:
        path = path.rpartition("/")[0]
    return path


def types_of_two_headers(headers):
    seen = {}
    for header in sorted(headers):
        text = header.read_text()
        namespace = NAMESPACE.search(text)
        for name in set(TYPE.findall(text)) if namespace else ():
            first = seen.setdefault((namespace[1], name), header)
            if first != header:
                yield (f"{header.relative_to(ROOT)}: {namespace[1]}::{name} is defined in "
                       f"{first.relative_to(ROOT)} as well")


def main():
    known = folders()
    names = {name: folder for folder, (name, _) in known.items()}
    problems = []
    for folder, (name, allowed) in known.items():
        for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
            relative = str(file.relative_to(ROOT))
            for include in INCLUDE.findall(file.read_text()):
                for prefix, owner in THIRD_PARTY.items():
                    if include.startswith(prefix) and folder != owner:
                        problems.append(f"{relative}: includes <{include}>, which is for {owner}")
                target = folder_of(include, known)
                if not target or target == folder:
                    continue
                if include.endswith("_internal.hpp"):
                    problems.append(f"{relative}: {include} is internal to {target}")
                if known[target][0] not in allowed:
                    problems.append(f"{relative}: includes {include}, but {folder}/CMakeLists.txt "
                                    f"does not name gpkg::{known[target][0]}")
    problems += types_of_two_headers(h for folder in known for h in (ROOT / folder).rglob("*.hpp"))
    # The graph of folders must have no cycle.
    def visit(name, path):
        if name in path:
            problems.append("cycle: " + " -> ".join([*path[path.index(name):], name]))
            return
        for other in sorted(known[names[name]][1] & names.keys()):
            if other != name:
                visit(other, [*path, name])
    for name in sorted(names):
        visit(name, [])
    print("\n".join(sorted(set(problems))) or f"{len(known)} folders depend one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
