"""Makes shards (CEP 16) of a channel's repodata.json: shards.py CHANNEL [KEY=REFERENCE...]

KEY is base or overrides, what the channel declares (CEP 42); the repodata.json then says it too.
Needs zstd.
"""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys


def msgpack(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        return b"\xdb" + struct.pack(">I", len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(msgpack, value))
    pairs = (msgpack(key) + msgpack(value[key]) for key in sorted(value))
    return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pairs)


def packed(value):
    return subprocess.run(
        ["zstd", "-q", "-c"], input=msgpack(value), stdout=subprocess.PIPE, check=True
    ).stdout


def with_raw_digests(record):
    raw = {key: bytes.fromhex(record[key]) for key in ("md5", "sha256") if key in record}
    return {**record, **raw}


channel = pathlib.Path(sys.argv[1])
relations = dict(word.split("=", 1) for word in sys.argv[2:])
for repodata in channel.glob("*/repodata.json"):
    folder = repodata.parent
    data = json.loads(repodata.read_text())
    if relations:
        data["info"]["channel_relations"] = relations
        repodata.write_text(json.dumps(data))
    shards = {}
    for section in ("packages", "packages.conda"):
        for fn, record in data[section].items():
            shard = shards.setdefault(record["name"], {"packages": {}, "packages.conda": {}})
            shard[section][fn] = with_raw_digests(record)
    (folder / "shards").mkdir(exist_ok=True)
    hashes = {}
    for name, shard in shards.items():
        content = packed({**shard, "removed": []})
        digest = hashlib.sha256(content)
        (folder / "shards" / f"{digest.hexdigest()}.msgpack.zst").write_bytes(content)
        (folder / "shards" / f"{name}.sha256").write_text(digest.hexdigest())
        hashes[name] = digest.digest()
    info = {"subdir": folder.name, "base_url": "./", "shards_base_url": "./shards/"}
    if relations:
        info["channel_relations"] = relations
    index = packed({"version": 1, "info": info, "shards": hashes})
    (folder / "repodata_shards.msgpack.zst").write_bytes(index)
