"""Packages that no package manager should trust: hostile.py CHANNEL CANARY

Makes a channel of them and prints a line for each: its name, then, after tabs, what the refusal has to
say; a name without more is a package that can be installed. CANARY is a folder that stays as it is.
Nothing but Python's own modules and the programs zstd and bzip2 make the archives, so that what they
hold is decided here.
"""

import bz2
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile

channel, canary = sys.argv[1:]
folder = f"{channel}/linux-64"
noarch = f"{channel}/noarch"
os.makedirs(folder)
os.makedirs(noarch)
records = {folder: {"packages": {}, "packages.conda": {}}, noarch: {"packages": {}, "packages.conda": {}}}


def file(name, data="evil\n", mode=0o644):
    return tarfile.TarInfo(name), data.encode(), mode


def special(kind, name, link=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    if kind == tarfile.CHRTYPE:
        member.devmajor, member.devminor = 1, 3
    return member, b"", 0o644


def soft(name, link):
    return special(tarfile.SYMTYPE, name, link)


def hard(name, link):
    return special(tarfile.LNKTYPE, name, link)


def tar(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, data, mode in members:
            member.size, member.mode = len(data), mode
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def listed(payload):
    """What a paths.json says of the payload."""
    paths = []
    for member, data, _ in payload:
        entry = {"_path": member.name, "path_type": "softlink" if member.issym() else "hardlink"}
        if member.isfile():
            entry |= {"sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
        paths.append(entry)
    return {"paths": paths, "paths_version": 1}


def conda(name, payload, info):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, data in (("metadata.json", b'{"conda_pkg_format_version": 2}'),
                             (f"pkg-{name}-1.0-0.tar.zst", payload),
                             (f"info-{name}-1.0-0.tar.zst", info)):
            archive.writestr(zipfile.ZipInfo(member), data)
    return packed.getvalue()


def package(name, payload, *expected, formats=("conda", "tar.bz2"), index=None, paths=None, link=None,
            more_info=(), record=None, packed_payload=None, version="1.0", damage=lambda data: data):
    """One package in each format, NAME or NAME-v1, and the record of it."""
    for form in formats:
        full = name if form == formats[0] else f"{name}-v1"
        facts = {"name": full, "version": version, "build": "0", "build_number": 0, "depends": [],
                 "subdir": "linux-64"}
        if link:
            facts |= {"subdir": "noarch", "noarch": "python", "depends": ["python"]}
        inside = facts | (index or {})
        info = [file("info/index.json", json.dumps(inside)),
                file("info/paths.json", json.dumps(listed(payload) if paths is None else paths))]
        if link:
            info.append(file("info/link.json", json.dumps(link)))
        info += more_info
        if form == "conda":
            data = conda(full, packed_payload or zstd(tar(payload)), zstd(tar(info)))
        else:
            data = bz2.compress(tar(info + payload))
        where = noarch if link else folder
        fn = f"{full}-{version}-0.{form}"
        told = facts | {"sha256": hashlib.sha256(data).hexdigest(), "md5": hashlib.md5(data).hexdigest(),
                        "size": len(data)}
        if index and "python_site_packages_path" in index:
            told["python_site_packages_path"] = index["python_site_packages_path"]
        told = {key: value for key, value in (told | (record or {})).items() if value is not None}
        with open(f"{where}/{fn}", "wb") as out:
            out.write(damage(data))
        records[where]["packages.conda" if form == "conda" else "packages"][fn] = told
        if expected is not None:
            print("\t".join([full, *(text.replace("FN", fn) for text in expected)]))


# Members that lead elsewhere.
package("up", [file("../evil")], 'FN: refused: member "../evil" leads outside of the folder')
package("updeep", [file("a/../../evil")], 'FN: refused: member "a/../../evil" leads outside of the folder')
package("absolute", [file(f"{canary}/evil")], f'FN: refused: member "{canary}/evil" leads outside of the folder')
package("through", [soft("l", canary), file("l/evil")], 'FN: refused: member "l/evil" needs the folder "l", which is not a folder')
package("swapped", [file("d/x"), soft("d", canary), file("d/evil")], 'FN: refused: member "d" is in the archive twice')
package("linkhard", [soft("l", f"{canary}/secret"), hard("h", "l")], 'FN: refused: member "h" is a hard link to "l"')
package("behind", [soft("l", canary), hard("h", "l/secret")], 'FN: refused: member "h" is a hard link to "l/secret"')
package("passwd", [hard("h", "/etc/passwd")], 'FN: refused: member "h" is a hard link to "/etc/passwd"')
package("uphard", [hard("h", "../../../canary/secret")], 'FN: refused: member "h" is a hard link to "../../../')
package("escape", [file("evil\x1b[31m\n/../../evil")], 'member "evil\\x1b[31m\\x0a/../../evil" leads outside of the folder')

# What is no file, is there twice, or is not the payload's to say.
package("device", [special(tarfile.CHRTYPE, "null")], 'FN: refused: member "null" is not a file, link or folder')
package("fifo", [special(tarfile.FIFOTYPE, "pipe")], 'FN: refused: member "pipe" is not a file, link or folder')
package("twice", [file("a"), file("./a", "other")], 'FN: refused: member "./a" is in the archive twice')
package("infopayload", [file("info/index.json", "{}")], 'member "info/index.json" is payload in the place of metadata', formats=("conda",))
package("infotwice", [], 'member "info/index.json" is in the archive twice', more_info=[file("info/index.json", "{}")])
package("infolink", [soft("info", canary)], 'member "info"', formats=("conda",))
package("outsideinfo", [], 'member "bin/evil" is metadata outside of info/', more_info=[file("bin/evil")],
        formats=("conda",))
for number, path in enumerate(("conda-meta/history", "conda-meta/state", "conda-meta/pinned", "conda-meta/x-1.0-0.json", "Conda-Meta/history",
                               "conda-meta/gpkg/state.json", "conda-meta/gpkg/generations/1.json.zst",
                               "conda-meta/.gpkg-transaction/journal")):
    package(f"meta{number}", [file(path)], f'path "{path}" is reserved for package managers')
package("metalink", [soft("conda-meta", canary)], 'path "conda-meta" is reserved for package managers')
package("metagpkg", [soft("conda-meta/gpkg", canary)], 'path "conda-meta/gpkg" is reserved for package managers')

# File lists that disagree with the payload, or name what is none of theirs.
package("listup", [file("x")], 'unsafe path "../evil"', paths=listed([file("../evil")]))
package("listabsolute", [file("x")], f'unsafe path "{canary}/secret"', paths=listed([file(f"{canary}/secret")]))
package("listsum", [file("x")], '"x" has a different checksum', paths=listed([file("x", "good\n")]))
package("listsize", [file("x")], '"x" has 5 bytes, not 9', paths=listed([file("x", "not evil\n")]))
package("listmissing", [file("x")], '"y" is missing', paths=listed([file("x"), file("y")]))
package("listtype", [soft("x", f"{canary}/secret")], '"x" is a symbolic link, not a file', paths=listed([file("x")]))
package("listtwice", [file("x")], 'path "x" is listed twice', paths=listed([file("x"), file("x")]))

# Metadata of another package than the record's.
for key, value in (("name", "sudo"), ("version", "9"), ("build", "9")):
    package(f"wrong{key}", [file("x")], "FN", "contains", "not", index={key: value})
package("namepath", [file("x")], "cannot be part of a file name", index={"name": "../evil"})

# Archives that are not what the index says.
package("sumsha256", [file("x")], "FN", "sha256", record={"sha256": "0" * 64})
package("summd5", [file("x")], "FN", "md5", record={"sha256": None, "md5": "0" * 32})  # the sha256 rules where it is known
package("sumsize", [file("x")], "FN", "size", record={"size": 7})
package("damaged", [file("x")], "FN", "sha256", damage=lambda data: data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])

# Python's ways: scripts that are made up, and where packages lie.
compiler = '#!/bin/sh\nwhile read -r source; do mkdir -p "${source%/*}/__pycache__"; done\n'
package("python", [file("bin/python3.12", compiler, 0o755)], formats=("conda",), version="3.12.0")
for number, point in enumerate(("../../evil = a:b", "/tmp/evil = a:b", "x = a;evil:b", "x = a:b\nimport evil", "x = a':b",
                                'x = a":b', "x\ny = a:b", ".. = a:b", "evil\x1b[31m/ = a:b")):
    package(f"entry{number}", [file("site-packages/m.py", "")], "entry point", formats=("conda",),
            link={"package_metadata_version": 1, "noarch": {"type": "python", "entry_points": [point]}})
plain = {"package_metadata_version": 1, "noarch": {"type": "python"}}
package("pure", [file("site-packages/history")], formats=("conda",), link=plain)
# Python is told line by line what to compile.
victim = f"site-packages/a\n{canary}/victim.py"
package("lines", [file("site-packages/b/b.py", ""), file(victim, "")], formats=("conda",), link=plain)

# Bombs. A hole costs nothing to pack; a stream of zeros next to nothing.
hole = tarfile.TarInfo("hole")
hole.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole",
                    "GNU.sparse.realsize": str(1 << 45)}
package("hole", [(hole, b"1\n0\n0\n".ljust(512, b"\0"), 0o644)], "refused: unpacks to more than")
package("longname", [file("n" * 5_000_000)], "FN")
# A text that is nothing but its prefix placeholder; refused when it is linked.
grown = listed([file("share/x", "a" * 400_000)])
grown["paths"][0] |= {"prefix_placeholder": "a", "file_mode": "text"}
package("grows", [file("share/x", "a" * 400_000)], paths=grown, formats=("conda",))
# A frame that wants 2 GiB of memory before its first byte.
package("window", [], "FN", packed_payload=b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", formats=("conda",))

# Nothing of these is refused, and nothing of them does harm.
package("setuid", [file("bin/su", "#!/bin/sh\n", 0o6755)])
package("case", [file("share/Case", "1"), file("share/case", "2")])
package("controls", [file("share/a\x1b[31m\nb", "1")])
package("controls2", [file("share/a\x1b[31m\nb", "2")])
package("turned", [file("share/x\u202ename\u009b31m", "1")])
package("turned2", [file("share/x\u202ename\u009b31m", "2")])
# Names are bytes: the first would be another file's where names are composed, the last leads nowhere.
package("names", [file("share/cafe\u0301", "decomposed"), file("share/caf\u00e9", "composed"), file("a\\..\\b", "back")])
package("outward", [soft("share/out", canary)])
package("menu", [file("Menu/menu.json", json.dumps({"menu_items": {"command": ["touch", f"{canary}/evil"]}}))])

# Two that only together lead out, and one that follows where the first leads.
package("way", [soft("p/q/r", "../..")], formats=("conda",))
package("way2", [soft("share", "p/q/r/../../../canary")], formats=("conda",))
package("follower", [file("share/harm")], formats=("conda",))
package("metaway", [soft("share", "conda-meta")], formats=("conda",))
package("forger", [file("share/history")], formats=("conda",))

for where, text in records.items():
    with open(f"{where}/repodata.json", "w") as out:
        json.dump({"info": {"subdir": os.path.basename(where)}, **text}, out)
