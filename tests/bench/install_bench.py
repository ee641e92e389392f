#!/usr/bin/env python3
"""How long gpkg takes to install, beside what the machine needs for the same bytes and files.

    install_bench.py GPKG CHANNEL SPEC...      CHANNEL: a folder with packages, served over http on loopback

cold   nothing in the store, the index known: download, unpack, link.     Limit: every payload through
       `zstd -d` to disk, nothing else.
warm   everything in the store.                                           Limit: `cp -al` of the environment.
Medians of three runs each, limits and runs in turn. Peak memory is of the gpkg process. Nothing is deleted
before the end, where some 3 GB a GB installed are: ext4 looks long for inodes that were not freed lately.
"""
import functools, http.server, json, os, pathlib, shutil, statistics, subprocess, sys, tempfile, threading, time, zipfile

RUNS = 3
gpkg, channel, specs = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
if not specs:
    sys.exit(__doc__)


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=channel))
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
work = pathlib.Path(tempfile.mkdtemp(prefix="install-bench.", dir=os.environ.get("TMPDIR")))
environment = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA_", "GPKG_"))}
environment |= {"HOME": str(work / "home"), "GPKG_ROOT_PREFIX": str(work / "root"), "NO_COLOR": "1"}


def timed(command, **more):
    """Wall seconds and peak MiB of the process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {command}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024


def create(name, *more):
    return timed([gpkg, "create", "-q", "-y", "-n", name, "--override-channels", "-c", url, *more, *specs])


def take_payloads(archives, folder):
    """The payload of each package, as the zip holds it: a tar under zstd."""
    folder.mkdir()
    for archive in archives:
        with zipfile.ZipFile(archive) as package:
            for member in package.namelist():
                if member.startswith("pkg-"):
                    (folder / f"{archive.parent.name}-{member}").write_bytes(package.read(member))


def limit_cold(payloads, out):
    """All payloads through zstd on all cores to disk, a few processes for all of them."""
    out.mkdir()
    script = f'find "$0" -type f -print0 | xargs -0 -n 40 -P {os.cpu_count()} zstd -dq --output-dir-flat "$1"'
    return timed(["sh", "-c", script, str(payloads), str(out)])[0]


create("first")  # the index and the page cache are warm from here on
prefix = work / "root/envs/first"
records = [json.load(open(p)) for p in (prefix / "conda-meta").glob("*.json")]
archives = [pathlib.Path(channel) / r["subdir"] / r["fn"] for r in records if r["fn"].endswith(".conda")]
take_payloads(archives, work / "payloads")
size = sum(f.stat().st_size for f in prefix.rglob("*") if f.is_file() and not f.is_symlink())
print(f"{len(records)} packages, {sum(a.stat().st_size for a in archives) / 1e6:.0f} MB packed, "
      f"{size / 1e6:.0f} MB installed, {sum(1 for _ in prefix.rglob('*'))} paths, {os.cpu_count()} cores")

rows = {"cold": [], "limit cold": [], "warm": [], "limit warm": []}
peak = 0.0
for run in range(RUNS):
    (work / "root/pkgs").rename(work / f"pkgs.{run}")
    os.sync()
    seconds, memory = create(f"cold.{run}")
    rows["cold"].append(seconds)
    peak = max(peak, memory)
    rows["limit cold"].append(limit_cold(work / "payloads", work / f"limit.{run}"))
    os.sync()  # the bytes of before are not what the journal of this waits for
    seconds, _ = create(f"warm.{run}", "--offline")
    rows["warm"].append(seconds)
    rows["limit warm"].append(timed(["cp", "-al", str(prefix), str(work / f"copy.{run}")])[0])
median = {name: statistics.median(values) for name, values in rows.items()}
for name in ("cold", "warm"):
    print(f"{name}: {median[name]:.2f} s; limit {median['limit ' + name]:.2f} s; "
          f"ratio {median[name] / median['limit ' + name]:.2f}")
print(f"peak memory, cold: {peak:.0f} MiB")
shutil.rmtree(work)
