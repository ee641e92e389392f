"""Debian's words in conda's: package names, versions, licences, dependency fields."""

import re
from dataclasses import dataclass

VERSION = re.compile(r"(\d+!)?[0-9a-z]+([._][0-9a-z]+)*(\+[0-9a-z]+([._][0-9a-z]+)*)?")
NAME = re.compile(r"[a-z0-9_][a-z0-9]*([._-][a-z0-9]+)*")


class BadName(Exception):
    pass


def conda_name(debian: str, table: dict[str, str], has_modules: bool) -> str:
    """`python3-torch` -> `torch` where it has Python modules, `libstdc++6` -> `libstdcxx6`; the table overrides."""
    name = table.get(debian) or (debian.removeprefix("python3-") if has_modules else debian).replace("+", "x")
    if len(name) > 64 or not NAME.fullmatch(name):
        raise BadName(f"{debian}: cannot derive a conda name; add one under [names]")
    return name


def conda_version(debian: str) -> str:
    """The upstream version, in the alphabet and the order of conda.

    The epoch, Debian's revision and the marks of a repacked source (+dfsg, +ds) go. `~` sorts before everything in
    Debian: before a letter it becomes a dot, since conda sorts 1.0.rc1 before 1.0; before a digit, `.dev`.
    """
    upstream = re.sub(r"^\d+:", "", debian)
    upstream = upstream.rsplit("-", 1)[0] if "-" in upstream else upstream
    upstream = re.sub(r"[+~]deb\d+u\d+$", "", upstream.lower())
    upstream = re.sub(r"[.+~-](dfsg|ds|repack|debian)(\.?\d+)*(?=$|[.+~-])", "", upstream)
    upstream = re.sub(r"~+(?=\d)", ".dev", upstream).replace("~", ".").replace("-", ".")
    main, plus, local = upstream.partition("+")
    local = local.replace("+", ".").strip(".")
    if re.match("[a-z]", local):
        local = "1." + local  # conda sorts 1.0+git5 before 1.0
    version = re.sub(r"\.+", ".", main).strip(".") + plus + local
    if len(version) > 64 or not VERSION.fullmatch(version):
        raise BadName(f"{debian}: cannot convert the version to a conda version")
    return version


def version_key(version: str):
    """Conda's order of the versions that conda_version() makes (they have no epoch)."""
    def segments(text):
        for segment in re.split(r"[._]", text) if text else []:
            parts = re.findall(r"\d+|[a-z]+", segment)
            if not parts[0].isdigit():
                parts.insert(0, "0")
            yield [(2, int(part), "") if part.isdigit() else
                   (3, 0, "") if part == "post" else
                   (0, 0, "") if part == "dev" else (1, 0, part) for part in parts]

    def trimmed(segment):
        while segment and segment[-1] == (2, 0, ""):
            segment = segment[:-1]
        return segment

    # A missing part counts as the number 0: padding makes tuples of different length compare so.
    main, _, local = version.partition("+")
    pad = [(2, 0, "")] * 8

    def side(text):
        found = [trimmed(segment) for segment in segments(text)]
        return [(segment + pad)[:8] for segment in found + [[]] * (16 - len(found))]

    return side(main), side(local)


@dataclass(frozen=True)
class Dependency:
    name: str
    relation: str = ""  # "", ">=", ">>", "=", "<<", "<="
    version: str = ""


def dependency_field(text: str) -> list[list[Dependency]]:
    """A Depends or Provides field: alternatives of each item. `(>= 1)`, `:any`, `[arch]` are understood."""
    items = []
    for item in text.replace("\n", " ").split(","):
        alternatives = []
        for choice in item.split("|"):
            match = re.match(r"\s*([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*(?:\(\s*(<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?", choice)
            if match:
                alternatives.append(Dependency(match[1], match[2] or "", match[3] or ""))
        if alternatives:
            items.append(alternatives)
    return items


# Short names of Debian's machine-readable copyright files that SPDX writes differently.
_LICENSES = {
    "apache": "Apache-2.0", "apache-2": "Apache-2.0", "apache-2.0": "Apache-2.0",
    "artistic": "Artistic-1.0-Perl", "bsd": "BSD-3-Clause", "bsd-2": "BSD-2-Clause",
    "bsd-2-clause": "BSD-2-Clause", "bsd-3": "BSD-3-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsd-3-clause-clear": "BSD-3-Clause-Clear", "bsd-4-clause": "BSD-4-Clause", "bsd3": "BSD-3-Clause",
    "bsl": "BSL-1.0", "bsl-1.0": "BSL-1.0", "cc0": "CC0-1.0", "cc0-1.0": "CC0-1.0", "curl": "curl",
    "expat": "MIT", "ftl": "FTL", "ijg": "IJG", "isc": "ISC", "libpng": "Libpng", "libtiff": "libtiff",
    "mit": "MIT", "mit/x11": "MIT", "mpl-1.1": "MPL-1.1", "mpl-2": "MPL-2.0", "mpl-2.0": "MPL-2.0",
    "openldap-2.8": "OLDAP-2.8", "openssl": "OpenSSL", "postgresql": "PostgreSQL", "psf": "PSF-2.0",
    "psf-2": "PSF-2.0", "python": "PSF-2.0", "qhull": "Qhull", "unlicense": "Unlicense", "w3c": "W3C",
    "wtfpl": "WTFPL", "x11": "X11", "zlib": "Zlib",
}


def spdx(debian: str) -> str:
    """One license line of a copyright file as an SPDX expression; what SPDX does not know becomes a LicenseRef."""
    text = re.sub(r",\s*(and|or)\s+", r" \1 ", debian.strip())
    parts = re.split(r"\s+(and|or)\s+", text, flags=re.IGNORECASE)
    words = [part.upper() if index % 2 else _one_license(part) for index, part in enumerate(parts)]
    return " ".join(words)


def _one_license(text):
    word = text.strip().lower()
    if word in _LICENSES:
        return _LICENSES[word]
    if match := re.fullmatch(r"(a?gpl|lgpl)[-v ]*v?(\d)(?:\.(\d))?(\+|-or-later|-only)?", word):
        suffix = "or-later" if match[4] in ("+", "-or-later") else "only"
        return f"{match[1].upper()}-{match[2]}.{match[3] or 0}-{suffix}"
    return "LicenseRef-" + (re.sub(r"[^A-Za-z0-9.]+", "-", text.strip()).strip("-") or "unknown")


def license_of(copyright_text: str) -> str | None:
    """The license that a machine-readable copyright file gives for `Files: *`; None for free text."""
    if not re.match(r"\s*format", copyright_text, re.IGNORECASE):
        return None
    for stanza in re.split(r"\n\s*\n", copyright_text):
        if re.search(r"^Files:\s*\*\s*$", stanza, re.MULTILINE | re.IGNORECASE):
            if match := re.search(r"^License:[ \t]*(\S[^\n]*)$", stanza, re.MULTILINE | re.IGNORECASE):
                if len(match[1]) <= 80:
                    return spdx(match[1])
    return None
