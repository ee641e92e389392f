"""Makes a .conda: conda_package.py FOLDER NAME VERSION BUILD HASH_INPUT [INFO [PAYLOAD]]

HASH_INPUT is the text of info/hash_input.json; "-": there is none. INFO and PAYLOAD are so many bytes
more in the info part and in the payload. Needs nothing but Python: its zstd is in raw blocks.
"""

import hashlib
import io
import json
import os
import sys
import tarfile
import zipfile

folder, name, version, build, hash_input = sys.argv[1:6]
more_info, more_payload = [int(text) for text in (*sys.argv[6:], "0", "0")][:2]


def zstd(data):
    frame = b"\x28\xb5\x2f\xfd\x00\x58"
    for start in range(0, max(len(data), 1), 100_000):
        block = data[start : start + 100_000]
        is_last = start + 100_000 >= len(data)
        frame += (is_last | len(block) << 3).to_bytes(3, "little") + block
    return frame


def tar(files):
    bytes_ = io.BytesIO()
    with tarfile.open(fileobj=bytes_, mode="w") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return bytes_.getvalue()


payload = {f"share/{name}/x": b"x" * more_payload}
paths = [{"_path": path, "path_type": "hardlink", "size_in_bytes": len(data),
          "sha256": hashlib.sha256(data).hexdigest()} for path, data in payload.items()]
index = {"name": name, "version": version, "build": build, "build_number": 0, "depends": [],
         "subdir": "linux-64"}
info = {"info/index.json": json.dumps(index).encode(),
        "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}).encode(),
        "info/more": b"x" * more_info}
if hash_input != "-":
    info["info/hash_input.json"] = hash_input.encode()

stem = f"{name}-{version}-{build}"
os.makedirs(f"{folder}/linux-64", exist_ok=True)
with zipfile.ZipFile(f"{folder}/linux-64/{stem}.conda", "w") as archive:
    for member, data in (("metadata.json", b'{"conda_pkg_format_version": 2}'),
                         (f"pkg-{stem}.tar.zst", zstd(tar(payload))),
                         (f"info-{stem}.tar.zst", zstd(tar(info)))):
        archive.writestr(zipfile.ZipInfo(member), data)
