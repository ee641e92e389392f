"""Looks at an OCI image layout, has container tools read it, and pushes it into a real registry, where these are.

oci_layout.py LAYOUT PLACE    PLACE: where the one layer has the environment, without the first slash
"""

import gzip
import hashlib
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

layout, place = pathlib.Path(sys.argv[1]), sys.argv[2]
blobs = layout / "blobs/sha256"


def blob(descriptor):
    data = (blobs / descriptor["digest"].removeprefix("sha256:")).read_bytes()
    assert len(data) == descriptor["size"], descriptor
    assert "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"], descriptor
    return data


assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
index = json.loads((layout / "index.json").read_text())
(entry,) = index["manifests"]
assert entry["platform"]["os"] == "linux" and entry["platform"]["architecture"]
manifest_text = blob(entry)
manifest = json.loads(manifest_text)
config = json.loads(blob(manifest["config"]))
(layer,) = manifest["layers"]
tar = gzip.decompress(blob(layer))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(tar).hexdigest()]
assert f"CONDA_PREFIX=/{place}" in config["config"]["Env"]
names = subprocess.run(["tar", "-t"], input=tar, capture_output=True, check=True).stdout.decode().splitlines()
assert f"{place}/conda-meta/history" in names and f"{place}/bin/" in names, names
assert all(name.startswith(place + "/") or (place + "/").startswith(name) for name in names), names
assert sorted(path.name for path in blobs.iterdir()) == sorted(
    d["digest"].removeprefix("sha256:") for d in (entry, manifest["config"], layer))

# Docker's own format, and what unpacks layers for Apptainer and others.
if not shutil.which("skopeo") or not shutil.which("umoci"):
    print("skipped: skopeo and umoci are not installed")
else:
    with tempfile.TemporaryDirectory() as work:
        for command in (["skopeo", "copy", "-q", "--insecure-policy", f"oci:{layout}", f"docker-archive:{work}/image.tar"],
                        ["umoci", "unpack", "--rootless", "--image", f"{layout}:ml", f"{work}/bundle"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "HOME": work})
        assert pathlib.Path(work, "bundle/rootfs", place, "conda-meta/history").is_file()

if not shutil.which("docker-registry"):
    print("skipped: docker-registry is not installed")
    sys.exit(0)
with tempfile.TemporaryDirectory() as work, socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    settings = pathlib.Path(work, "registry.yml")
    settings.write_text(json.dumps({"version": 0.1, "storage": {"filesystem": {"rootdirectory": work}},
                                    "http": {"addr": f"127.0.0.1:{port}"}}))
    server = subprocess.Popen(["docker-registry", "serve", str(settings)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    registry = f"http://127.0.0.1:{port}/v2/envs/ml"

    def ask(method, url, data=None, kind=None):
        headers = {"Content-Type": kind} if kind else {}
        return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=20)

    try:
        for _ in range(100):
            try:
                ask("GET", f"http://127.0.0.1:{port}/v2/")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        for part in (manifest["config"], layer):
            upload = ask("POST", f"{registry}/blobs/uploads/").headers["Location"]
            ask("PUT", f"{upload}&digest={part['digest']}", blob(part), "application/octet-stream")
        ask("PUT", f"{registry}/manifests/latest", manifest_text, entry["mediaType"])
        request = urllib.request.Request(f"{registry}/manifests/latest", headers={"Accept": entry["mediaType"]})
        assert urllib.request.urlopen(request, timeout=20).read() == manifest_text
        assert ask("GET", f"{registry}/blobs/{layer['digest']}").read() == blob(layer)
    finally:
        server.terminate()
        server.wait()
