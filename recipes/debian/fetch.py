"""Debian's side: which packages a request needs, and their .deb files, both from apt.

apt checks the signature of the index and the checksum of every file. It is run with a status file that says
nothing is installed and with caches of our own, so the machine's apt state is read (sources, lists, proxy
settings) and never changed.
"""

import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote


class FetchError(Exception):
    pass


@dataclass(frozen=True)
class Deb:
    name: str
    version: str  # Debian's, with epoch and revision
    architecture: str
    sha256: str
    size: int
    path: Path


class Apt:
    def __init__(self, state: Path):
        archives = state / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        status = state / "status"
        status.write_bytes(b"")
        # An archive that apt already holds is left out of --print-uris: its archive folder stays empty.
        self.options = [
            f"-oDir::State::status={status}",
            f"-oDir::Cache={state}",
            f"-oDir::Cache::archives={archives}",
            "-oDebug::NoLocking=1",
            "-oAPT::Sandbox::User=" + ("root" if os.geteuid() == 0 else ""),
            "-oAPT::Install-Recommends=0",
            "-oAPT::Install-Suggests=0",
            "-oAcquire::ForceHash=SHA256",
        ]

    def closure(self, roots: list[str], downloads: Path) -> list[Deb]:
        """Everything that `roots` depend on, themselves included."""
        text = self.run(["--print-uris", "-qq", "-y", "install", *roots], Path("/"))
        debs = [self.parse_uri(line, downloads) for line in text.splitlines() if line.startswith("'")]
        if not debs:
            raise FetchError("apt: no packages found for " + " ".join(roots))
        return sorted(debs, key=lambda deb: deb.name)

    @staticmethod
    def parse_uri(line: str, downloads: Path) -> Deb:
        match = re.fullmatch(r"'[^']*' (\S+) (\d+) SHA256:([0-9a-f]{64})", line.strip())
        if not match:
            raise FetchError(f"apt: no SHA256 in a line of --print-uris: {line}")
        file = match[1]
        name, version, architecture = file.removesuffix(".deb").split("_")
        return Deb(name, unquote(version), architecture, match[3], int(match[2]), downloads / file)

    def download(self, debs: list[Deb], downloads: Path) -> int:
        """Brings the files that are not there yet, or are damaged; returns how many were missing."""
        downloads.mkdir(parents=True, exist_ok=True)
        missing = self.wrong(debs)
        for deb in missing:
            deb.path.unlink(missing_ok=True)
        if missing:
            wanted = [f"{deb.name}={deb.version}" for deb in missing]
            self.run(["-q", "download", *wanted], downloads)
        if bad := self.wrong(missing):
            raise FetchError(f"{bad[0].path}: sha256 differs from the package list ({bad[0].sha256})")
        return len(missing)

    @staticmethod
    def wrong(debs):
        def is_wrong(deb):
            if not deb.path.is_file() or deb.path.stat().st_size != deb.size:
                return True
            with open(deb.path, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() != deb.sha256

        with ThreadPoolExecutor(2) as pool:
            return [deb for deb, bad in zip(debs, pool.map(is_wrong, debs)) if bad]

    def run(self, arguments, folder):
        command = ["apt-get", *self.options, *arguments]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
        except FileNotFoundError as error:
            raise FetchError("apt-get not found; the demonstration channel needs Debian 12") from error
        if done.returncode == 0:
            return done.stdout
        message = done.stderr.strip()
        if "Unable to locate package" in message or "no installation candidate" in message:
            message += "\napt does not know these packages: run `apt-get update` first; the roots are those of Debian 12"
        verb = "install" if "install" in arguments else "download"
        raise FetchError(f"apt-get {verb}: {message}")
