#!/usr/bin/env python3
"""Looks whether each source file includes what it uses.

Builds may compile the files of a folder as one, where a file lives from what another includes; alone it
would not compile. A name counts as had where the file or a header that it includes, directly or not,
declares it or includes the library's header. What is looked for is told by the text alone: types,
functions and constants of the project, and names of the libraries below.
"""

import functools
import pathlib
import re
import sys

import layering_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("libcore", "solver", "virtual-packages", "cli", "tests")

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
TYPE = re.compile(r"\b(?:class|struct|enum class|enum|using|concept)\s+(\w+)\b(?!\s*;)(?=[^;{=]*[;{=:])")
# What clang-format leaves at the first column stands in a namespace.
TYPE_OF_NAMESPACE = re.compile(r"^(?:class|struct|enum class|using|concept) (\w+)\b(?!::)(?=[^;]*?[{=])", re.M)
FUNCTION_OF_NAMESPACE = re.compile(r"^(?:[\w:]|(?<=\w)[<>])[^\n;{}()=]*[ >&*](\w+)\(", re.M)
FUNCTION = re.compile(r"[\w>&*\]]\s+[&*]?(\w+)\(|[&*](\w+)\(")
CONSTANT = re.compile(r"\b(k[A-Z]\w*)\b(?=\s*(?:=|\{|\[|;))")
CONSTANT_OF_NAMESPACE = re.compile(r"^(?:inline |static |extern |constexpr |const )+[^\n=;(]*?\b(k[A-Z]\w*)\b", re.M)
FORWARD = re.compile(r"\b(?:class|struct|enum class)\s+(\w+)\s*[;:]|\btypename (\w+)")
ENUMERATORS = re.compile(r"\benum(?: class)? \w+[^;{]*\{([^}]*)\}")
USED = re.compile(r"(?<![\w:])(?:[a-z_]\w*::)*([A-Z]\w*[a-z]\w*|k[A-Z]\w*)\b")
# Variables, parameters and members that their class's constructor gives a value.
LOCAL = re.compile(r"\b(\w+)\s*(?:=(?!=)|[,)]|\((?=(?:[^()]|\([^()]*\))*\),?\s*(?:\w+\(|\{)))")
CALL = re.compile(r"(?<![\w.>~:])(?:(?!std::)[a-z_]\w*::)*(\w+)\(")

# A name of a library -> its headers, any of which will do.
ALGORITHMS = """all_of any_of none_of find_if find_if_not count_if sort stable_sort transform min_element
    max_element lower_bound upper_bound binary_search set_intersection set_union set_difference unique equal_range
    remove_if partition rotate nth_element lexicographical_compare mismatch clamp""".split()
STD = {name: ("algorithm",) for name in ALGORITHMS} | {
    "vector": ("vector",), "map": ("map",), "multimap": ("map",), "set": ("set",), "unordered_map": ("unordered_map",),
    "unordered_set": ("unordered_set",), "optional": ("optional",), "variant": ("variant",), "visit": ("variant",),
    "get_if": ("variant",), "function": ("functional",), "deque": ("deque",), "span": ("span",), "array": ("array",),
    "thread": ("thread",), "jthread": ("thread",), "mutex": ("mutex",), "atomic": ("atomic",), "regex": ("regex",),
    "condition_variable": ("condition_variable",), "ifstream": ("fstream",), "ofstream": ("fstream",),
    "ostringstream": ("sstream",), "istringstream": ("sstream",), "unique_ptr": ("memory",), "shared_ptr": ("memory",),
    "make_unique": ("memory",), "make_shared": ("memory",), "accumulate": ("numeric",), "iota": ("numeric",),
    "from_chars": ("charconv",), "to_chars": ("charconv",), "stop_token": ("stop_token", "thread"),
    "filesystem": ("filesystem",), "chrono": ("chrono", "thread"), "tuple": ("tuple",), "queue": ("queue",),
    "list": ("list",), "bitset": ("bitset",), "mt19937": ("random",), "future": ("future",),
}
LIBRARIES = {"fmt": "fmt/", "nlohmann": "nlohmann/", "CLI": "CLI/", "simdjson": "simdjson", "YAML": "yaml-cpp/",
             "tl": "tl/"}


class File:
    def __init__(self, path):
        text = path.read_text()
        self.path = path
        found = INCLUDE.findall(text)
        self.own = [name for quote, name in found if quote == '"']
        self.foreign = {name for quote, name in found if quote == "<"}
        self.code = NOT_CODE.sub(lambda match: '""', INCLUDE.sub("", text))
        self.declares = {name for pattern in (TYPE, FUNCTION, CONSTANT, FORWARD)
                         for match in pattern.finditer(self.code) for name in match.groups() if name}
        for body in ENUMERATORS.findall(self.code):
            self.declares.update(re.findall(r"\w+", body))
        self.offers = {name for pattern in (TYPE_OF_NAMESPACE, FUNCTION_OF_NAMESPACE, CONSTANT_OF_NAMESPACE)
                       for name in pattern.findall(self.code)}


def main():
    files = {str(path.relative_to(ROOT)): File(path)
             for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.[ch]pp"))}
    owners = {}  # a name -> the headers that offer it
    for name, file in files.items():
        if name.endswith(".hpp"):
            for offered in file.offers:
                owners.setdefault(offered, []).append(name)

    def resolved(file, include):
        beside = str((file.path.parent / include).relative_to(ROOT))
        return include if include in files else beside if beside in files else None

    known = layering_test.folders()
    target_of = {folder: target for folder, (target, _) in known.items()}

    def may_include(name, header):
        user, owner = (layering_test.folder_of(one, known) for one in (name, header))
        if name.startswith("tests/"):
            return owner or header.rpartition("/")[0] in (name.rpartition("/")[0], "tests/support")
        return owner and (user == owner or target_of[owner] in known[user][1]
                          and not header.endswith("_internal.hpp"))

    @functools.cache
    def closure(name):
        seen, open_ = set(), [name]
        while open_:
            one = open_.pop()
            if one in seen:
                continue
            seen.add(one)
            open_ += [other for include in files[one].own if (other := resolved(files[one], include))]
        return frozenset(seen)

    problems = []
    for name, file in files.items():
        around = [files[one] for one in closure(name)]
        foreign = set().union(*(one.foreign for one in around))
        for used in sorted(set(re.findall(r"\bstd::(?:ranges::)?(\w+)", file.code)) & STD.keys()):
            if not foreign.intersection(STD[used]):
                problems.append(f"{name}: uses std::{used} without <{STD[used][0]}>")
        for library, header in LIBRARIES.items():
            if (re.search(rf"\b{library}::", file.code) and not any(one.startswith(header) for one in foreign)
                    and not any(f"namespace {library} {{" in one.code for one in around)):
                problems.append(f"{name}: uses {library}:: without <{header}...>")
        had = set().union(*(one.declares | one.offers for one in around))
        words = set(USED.findall(file.code))
        words |= set(CALL.findall(file.code)) - set(LOCAL.findall(file.code))
        for used in sorted(words & owners.keys() - had):
            may_be = [owner for owner in owners[used] if may_include(name, owner)]
            if may_be:
                problems.append(f"{name}: uses {used} without {' or '.join(may_be)}")
    print("\n".join(problems) or f"{len(files)} files include what they use")
    return 1 if problems else 0


sys.exit(main())
