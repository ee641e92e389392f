#!/usr/bin/env python3
"""Channels behind servers that do not behave, and behind a real nginx: transport.py GPKG

Every case is a channel of its own on a server of this machine, "/CASE/linux-64/..."; how the server
answers for it is a function in the table. The cases run side by side, each in a world of its own, and
most of their time is waiting. nginx (with TLS by an authority made here, and HTTP/2) is left out where
it is not installed.
"""

import base64
import concurrent.futures
import email.utils
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import random
import resource
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request

GPKG = os.path.realpath(sys.argv[1])
SECRET = "s3cr3t-of-the-test"
failures = []


def package(folder, name, noise, depends=(), version="1.0"):
    """Adds NAME-VERSION-0.tar.bz2 with so many bytes that do not compress; returns its record."""
    record = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": list(depends),
              "subdir": "linux-64"}
    payload = random.Random(name).randbytes(noise)
    paths = [{"_path": f"share/{name}", "path_type": "hardlink", "size_in_bytes": noise,
              "sha256": hashlib.sha256(payload).hexdigest()}]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for path, data in (("info/index.json", json.dumps(record).encode()),
                           ("info/paths.json", json.dumps({"paths_version": 1, "paths": paths}).encode()),
                           ("info/files", f"share/{name}\n".encode()), (f"share/{name}", payload)):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    data = buffer.getvalue()
    (folder / f"{name}-{version}-0.tar.bz2").write_bytes(data)
    return {**record, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def make_channel(folder):
    """lib and big, which are large enough to be cut, and all and many, which need 40 and 300."""
    (folder / "linux-64").mkdir(parents=True)
    (folder / "noarch").mkdir()
    records = [package(folder / "linux-64", "lib", 100_000), package(folder / "linux-64", "big", 1_000_000)]
    small = [f"small{i}" for i in range(40)]
    records += [package(folder / "linux-64", name, 20_000) for name in small]
    records.append(package(folder / "linux-64", "all", 10, small))
    tiny = [f"tiny{i}" for i in range(300)]
    records += [package(folder / "linux-64", name, 10) for name in tiny]
    records.append(package(folder / "linux-64", "many", 10, tiny))
    records.append(package(folder / "linux-64", "_odd", 10, version="1!2.0+x"))
    packages = {f"{r['name']}-{r['version']}-0.tar.bz2": r for r in records}
    for subdir, its in (("linux-64", packages), ("noarch", {})):
        (folder / subdir / "repodata.json").write_text(
            json.dumps({"info": {"subdir": subdir}, "packages": its, "packages.conda": {}}))


# What a server does with a request for a file: each is called with the exchange and how many of the
# file were asked for before.

def whole(x, before, **headers):
    x.answer(200, x.data, **headers)


def ranges(x, before):
    """As a good server does."""
    asked = x.headers.get("Range")
    if asked is None:
        return whole(x, before, Accept_Ranges="bytes", ETag='"1"')
    start = int(asked.removeprefix("bytes=").rstrip("-"))
    x.answer(206, x.data[start:], Accept_Ranges="bytes", ETag='"1"',
             Content_Range=f"bytes {start}-{len(x.data) - 1}/{len(x.data)}")


def once(bad, then=ranges):
    return lambda x, before: (bad if before == 0 else then)(x, before)


def truncated(x, before):
    x.answer(200, x.data[:len(x.data) // 2], length=len(x.data), Accept_Ranges="bytes", ETag='"1"')
    x.close_connection = True


def reset(x, before):
    x.answer(200, x.data[:len(x.data) // 2], length=len(x.data), Accept_Ranges="bytes", ETag='"1"')
    time.sleep(0.1)
    x.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    x.connection.close()
    x.close_connection = True


def stall(x, before):
    x.answer(200, x.data[:len(x.data) // 2], length=len(x.data), Accept_Ranges="bytes", ETag='"1"')
    time.sleep(20)


def trickle(x, before):
    x.answer(200, b"", length=len(x.data))
    for start in range(0, len(x.data), len(x.data) // 6):
        time.sleep(0.5)
        x.wfile.write(x.data[start:start + len(x.data) // 6])


def wrong_bytes(x, before):
    x.answer(200, x.data[:1000] + bytes(100) + x.data[1100:])


def other_part(x, before):
    x.answer(206, x.data[100:], Content_Range=f"bytes 100-{len(x.data) - 1}/{len(x.data)}")


def length_too_long(x, before):
    x.answer(200, x.data, length=len(x.data) + 100)
    x.close_connection = True


def length_too_short(x, before):
    x.answer(200, x.data, length=len(x.data) - 100)
    x.close_connection = True


def unfinished_chunks(x, before):
    x.answer(200, b"", length=None, Transfer_Encoding="chunked")
    x.wfile.write(b"%x\r\n%s\r\n" % (1000, x.data[:1000]))
    x.close_connection = True


def called_gzip(x, before):
    whole(x, before, Content_Encoding="gzip")


def gzipped(x, before):
    x.answer(200, gzip.compress(x.data), Content_Encoding="gzip")


def login_page(x, before):
    x.answer(200, b"<!DOCTYPE html><html>Log in</html>", Content_Type="text/html")


def status(code, **headers):
    return lambda x, before: x.answer(code, b"", **headers)


def in_two_seconds(x, before):
    x.answer(503, b"", Retry_After=email.utils.formatdate(time.time() + 2, usegmt=True))


def to_other_host(x, before):
    x.answer(302, b"", Location=f"{OTHER.url}/{x.case}/landed{x.rest}")


class Case:
    """What is asked, of a server that treats packages (or with `index` repodata.json) in this way."""

    def __init__(self, name, behave, told=None, asked=None, index=False, login="", token="", netrc="",
                 seconds=0, also=None, always=False):
        self.name, self.behave, self.index = name, behave, index
        self.told = told  # on stderr; where it begins with "error: ", the command fails
        self.asked = asked  # how often the file is
        self.login, self.token, self.netrc = login, token, netrc
        self.seconds = seconds  # between the first and the last request, at least
        self.always = always  # every file is sent so; not run by itself
        self.also = also  # more to check, given what servers saw of the case


def resumed(seen):
    last = seen[-1].headers
    return last.get("Range", "").startswith("bytes=") and last.get("If-Range") == '"1"'


def begun_anew(seen):
    return all("Range" not in one.headers for one in seen)


def knows_nothing(seen):
    """The second host was asked, and saw none of the credentials that the first one did."""
    there = [one for one in seen if one.host == OTHER.host]
    told = [str(one.headers) + one.path for one in there]
    return there and not any("Authorization" in text or SECRET in text for text in told)


def first_knows(seen):
    first = [one for one in seen if one.host != OTHER.host]
    return knows_nothing(seen) and all("Authorization" in one.headers or SECRET in one.path for one in first)


CASES = [
    Case("whole", ranges, asked=1),
    Case("truncated-once", once(truncated), asked=2, also=resumed),
    Case("truncated", truncated, "error: {url}: the transfer was interrupted", asked=4),
    Case("truncated-no-ranges", once(truncated, whole), asked=2),
    Case("reset-once", once(reset), asked=2, also=resumed),
    Case("stalled-once", once(stall), asked=2, seconds=1, also=lambda seen: resumed(seen) and seen[1].at - seen[0].at < 10),
    Case("trickle", trickle, asked=1),
    Case("wrong-bytes-once", once(wrong_bytes), asked=2, also=begun_anew),
    Case("wrong-bytes", wrong_bytes, "error: {url}: wrong sha256: expected", asked=2),
    Case("other-part", once(truncated, other_part), "error: {url}: the server sent an unexpected part of the file",
         asked=2),
    Case("429-seconds", once(status(429, Retry_After="1")), "asks to wait 1 s", asked=2, seconds=1),
    Case("503-date", once(in_two_seconds), "asks to wait", asked=2, seconds=1),
    Case("503", status(503), "error: {url}: server error (HTTP 503) after 4 attempts", asked=4),
    Case("too-long", length_too_long, "error: {url}: wrong size: expected", asked=2),
    Case("too-long-once", once(length_too_long), asked=2),
    Case("too-short", length_too_short, "error: {url}: wrong size: expected", asked=2),
    Case("too-short-once", once(length_too_short), asked=2),
    Case("chunks-once", once(unfinished_chunks, whole), asked=2),
    Case("called-gzip", called_gzip, asked=1),
    Case("gzipped", gzipped, "error: {url}: wrong size: expected", asked=2),
    Case("redirected", to_other_host, asked=1, also=knows_nothing),
    Case("redirected-login", to_other_host, asked=1, login=f"user:{SECRET}@", also=first_knows),
    Case("redirected-token", to_other_host, asked=1, token=f"/t/{SECRET}", also=first_knows),
    Case("redirected-netrc", to_other_host, asked=1, netrc=SECRET, also=first_knows),
    Case("login-refused", status(401), "error: {url}: the server rejected the login or token in the URL", asked=1, login=f"user:{SECRET}@"),
    Case("token-refused", status(403), "error: {url}: access denied by the server", asked=1, token=f"/t/{SECRET}"),
    Case("index-truncated-once", once(truncated), asked=2, index=True),
    Case("index-truncated", truncated, "error: {url}: the transfer was interrupted", asked=4, index=True),
    Case("index-too-long-once", once(length_too_long, whole), asked=2, index=True),
    # What came too much may be taken for the answer about the other subdir.
    Case("index-too-short", length_too_short, "error: {channel}/", index=True),
    Case("index-chunks-once", once(unfinished_chunks, whole), asked=2, index=True),
    Case("index-called-gzip", called_gzip, asked=1, index=True),
    Case("index-gzipped", gzipped, "error: {url}: not repodata: the file is gzip-compressed", index=True),
    Case("index-page", login_page, "error: {url}: not repodata: starts with '<!DOCTYPE", index=True),
    Case("index-redirected-login", to_other_host, asked=1, index=True, login=f"user:{SECRET}@", also=first_knows),
]


class Seen:
    def __init__(self, host, path, headers):
        self.host, self.path, self.headers, self.at = host, path, headers, time.monotonic()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, code, body, length=0, **headers):
        """`length` is what the server says; 0: the truth, None: nothing."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length is not None:
            self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        parts = self.path.split("/")
        if parts[1] == "t":
            del parts[1:3]
        self.case, self.rest = parts[1], "/" + "/".join(parts[2:])
        case = BY_NAME.get(self.case)
        landed = self.rest.startswith("/landed/")
        file = WORK / "channel" / self.rest.removeprefix("/landed").lstrip("/")
        if case is None or not file.is_file():
            return self.answer(404, b"")
        self.data = file.read_bytes()
        if case.always:
            return case.behave(self, 0)
        meant = self.rest.endswith("linux-64/repodata.json" if case.index else ".tar.bz2")
        if not meant:
            return whole(self, 0)
        with LOCK:
            of_case = SEEN.setdefault(self.case, [])
            before = len([one for one in of_case if one.host == self.server.host])
            of_case.append(Seen(self.server.host, self.path, dict(self.headers)))
        (whole if landed else case.behave)(self, before)

    def do_CONNECT(self):
        self.answer(403, b"")


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 100

    def __init__(self, host):
        super().__init__((host, 0), Handler)
        self.host, self.url = host, f"http://{host}:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # the client went away, as it was meant to


def gpkg(world, *words, before=None, **variables):
    """Runs the program in a world of its own; (exit status, stdout and stderr). Notices, which go a way of
    their own, stay out of what is counted."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(world / "home"), "NO_COLOR": "1",
                   "GPKG_NUMBER_CHANNEL_NOTICES": "0", "GPKG_ROOT_PREFIX": str(world / "root"), "CONDA_SUBDIR": "linux-64",
                   "CONDA_OVERRIDE_CUDA": "", "CONDA_REMOTE_READ_TIMEOUT_SECS": "1", **variables}
    (world / "home").mkdir(parents=True, exist_ok=True)
    done = subprocess.run([GPKG, *words], env=environment, stdin=subprocess.DEVNULL, text=True, preexec_fn=before,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout


def check(name, problems, output):
    if problems:
        failures.append(name)
        print(f"FAILED: {name}: {'; '.join(problems)}\n{output}", flush=True)


def left_behind(world):
    return [str(path) for path in world.rglob("*") if ".part-" in path.name or path.name.startswith(".tmp-")]


def holding(world, secret):
    return [str(path) for path in world.rglob("*")
            if path.is_file() and path.name not in (".netrc", "credentials.yaml") and secret.encode() in path.read_bytes()]


def run_case(case):
    world = WORK / case.name
    if case.netrc:
        (world / "home").mkdir(parents=True)
        (world / "home/.netrc").write_text(f"machine {FIRST.host} login user password {case.netrc}\n")
    channel = FIRST.url.replace("://", "://" + case.login) + case.token + "/" + case.name
    status_, output = gpkg(world, "create", "-y", "-vv", "-p", str(world / "env"), "-c", channel,
                           "--override-channels", "lib")
    file = "repodata.json" if case.index else "lib-1.0-0.tar.bz2"
    seen = SEEN.get(case.name, [])
    of_first = [one for one in seen if one.host == FIRST.host]
    problems = []
    fails = (case.told or "").startswith("error: ")
    if status_ != (1 if fails else 0):
        problems.append(f"exit status {status_}")
    if not fails and "error" not in output and not (world / "env/share/lib").is_file():
        problems.append("not installed")
    if fails and (world / "env").exists():
        problems.append("an environment was made")
    channel = f"{FIRST.url}/{case.name}"
    told = (case.told or "").format(url=f"{channel}/linux-64/{file}", channel=channel)
    if told not in output:
        problems.append(f"does not say '{told}'")
    if case.asked is not None and len(of_first) != case.asked:
        problems.append(f"asked {len(of_first)} times, not {case.asked}")
    if seen and seen[-1].at - seen[0].at < case.seconds:
        problems.append(f"asked again after {seen[-1].at - seen[0].at:.1f} s")
    if case.also and not case.also(seen):
        problems.append(f"not {case.also.__name__}: {[(one.host, one.path, one.headers) for one in seen]}")
    if SECRET in output or holding(world, SECRET):
        problems.append(f"tells the secret: {holding(world, SECRET)}")
    problems += [f"{path} is left behind" for path in left_behind(world)]
    check(case.name, problems, output)


def run_proxy():
    """Who refuses is told, and not how the proxy was logged in to."""
    world = WORK / "proxy"
    proxy = FIRST.url.replace("://", f"://user:{SECRET}@")
    status_, output = gpkg(world, "create", "-y", "-vv", "-p", str(world / "env"), "-c", "https://nowhere.invalid/x",
                           "--override-channels", "lib", HTTPS_PROXY=proxy)
    problems = [] if status_ == 1 and "the proxy refused the connection (HTTP 403)" in output else ["not told"]
    if SECRET in output or holding(world, SECRET):
        problems.append("tells the secret")
    check("proxy", problems, output)

    for proxy in ("http://127.0.0.1:1", "127.0.0.1:1"):
        _, output = gpkg(world, "create", "-y", "-p", str(world / "env"), "-c", "https://nowhere.invalid/x",
                         "--override-channels", "lib", HTTPS_PROXY=proxy)
        told = "cannot connect: proxy 127.0.0.1:1: Connection refused" in output and "set by HTTPS_PROXY" in output
        check("proxy that is not there", [] if told else ["not told"], output)


def wants_login(x, before):
    """Has it only for who knows the secret, in whichever way."""
    told = x.headers.get("Authorization", "")
    basic = base64.b64encode(f"user:{SECRET}".encode()).decode()
    if told in (f"Bearer {SECRET}", f"Basic {basic}") or x.path.startswith(f"/t/{SECRET}/"):
        return ranges(x, before)
    x.answer(401, b"")


COMMANDS = """create -y -vv -p {env} -c {channel} --override-channels small0
    create -y -p {env}2 -c {channel} --override-channels lib --json
    install -y -p {env} -c {channel} --override-channels lib
    update -y -p {env} -c {channel} --override-channels --all
    list -p {env}
    list -p {env} --json
    list -p {env} --explicit
    env export -p {env}
    export -p {env} --json
    lock -c {channel} --override-channels lib -o {env}/my.lock
    lock check {env}/my.lock --available --offline
    lock convert {env}/my.lock {env}/pixi.lock
    solve -vv -c {channel} --override-channels lib
    search -c {channel} --override-channels small*
    repoquery depends all -c {channel} --override-channels
    variants lib -c {channel} --override-channels --inputs
    why-not -p {env} lib=9
    create -n no -c {channel} --override-channels not-there
    create -n no -c {channel}/not-there --override-channels lib
    create -n no -y -c {refused} --override-channels lib
    create -y -n again --lock {env}/my.lock
    config append channels {channel}
    config list --sources
    config list --json
    info
    info --json
    history -p {env} --json
    run -p {env} env
    shell-hook -p {env}
    remove -y -p {env} lib
    rollback -y -p {env} 1
    clean --all --dry-run"""


# What a URL with a login in it may be besides a channel after -c, and with what status that ends.
PLACES = """0 create -y -p {env}-url {channel}/linux-64/lib-1.0-0.tar.bz2
    0 create -y -p {env}-file --file {file}
    0 list -p {env}-file --explicit
    0 install -y -p {env}-url -c {channel} --override-channels {channel}::small0
    0 env create -p {env}-manifest --override-channels -f {channel}/environment.yml
    0 env export -p {env}-url
    0 history -p {env}-url --json
    1 create -n no -c {channel} --override-channels lib=99
    1 create -n no -c {channel} --override-channels lib=99 --json
    1 create -n no {channel}/linux-64/not-there-1-0.conda
    2 create -n no {channel}/linux-64/nothing
    1 env create -n no -f {channel}/not-there.yml
    2 {channel}
    2 info --colour={channel}
    1 create -n no -c {capitals} --override-channels lib=99
    1 create -n no -c {broken} --override-channels lib"""


def run_secret_places(how, channel):
    """Wherever a URL with a login may stand, the server is told it and nobody else."""
    world = WORK / f"places-{how}"
    world.mkdir()
    (world / "home").mkdir()
    packages = WORK / f"packages-{how}.txt"  # which is not looked into
    packages.write_text(f"@EXPLICIT\n{channel}/linux-64/lib-1.0-0.tar.bz2\n")
    problems = []
    for line in PLACES.splitlines():
        expected, *words = line.format(env=world / "env", channel=channel, file=packages,
                                       capitals=channel.replace("http:", "HTTP:"),
                                       broken=channel.replace(SECRET + "@", SECRET + "/" + SECRET + "@") + "/nowhere").split()
        status_, output = gpkg(world, *words)
        if status_ != int(expected):
            problems.append(f"{' '.join(words)}: exit status {status_}: {output}")
        if SECRET in output:
            problems.append(f"{' '.join(words)} tells the secret: {output}")
    for name in ("GPKG_CHANNELS", "ALL_PROXY", "GPKG_PINNED_PACKAGES"):
        value = channel.replace("http:", "ftp:") if name == "ALL_PROXY" else channel
        for words in (["info"], ["info", "--json"], ["config", "list"], ["create", "-n", "no", "lib=99"]):
            _, output = gpkg(world, *words, **{name: value})
            if SECRET in output:
                problems.append(f"{' '.join(words)} with {name} tells the secret: {output}")
    problems += [f"{path} tells the secret" for path in holding(world, SECRET)]
    check(f"secret places, {how}", problems, "")


def run_secret(how):
    """A secret that a server wants is sent to it, and is nowhere else."""
    world = WORK / f"secret-{how}"
    (world / "home/.config/gpkg").mkdir(parents=True)
    files = {"basic": ("home/.config/gpkg/credentials.yaml",
                       f"{FIRST.url}/secret: {{username: user, password: {SECRET}}}"),
             "bearer": ("home/.config/gpkg/credentials.yaml", f"{FIRST.url}: {{bearer: {SECRET}}}"),
             "token": ("home/.config/gpkg/credentials.yaml", f"{FIRST.url}/secret/: {{token: {SECRET}}}")}
    channel, refused = f"{FIRST.url}/secret", f"{FIRST.url}/refused"
    if how in files:
        (world / files[how][0]).write_text(files[how][1])
        (world / files[how][0]).chmod(0o600)
    elif how == "url":
        channel, refused = [url.replace("://", f"://user:{SECRET}@") for url in (channel, refused)]
    elif how == "url-token":
        channel, refused = [url.replace(FIRST.url, f"{FIRST.url}/t/{SECRET}") for url in (channel, refused)]
    problems = []
    for line in COMMANDS.splitlines():
        words = line.format(env=world / "env", channel=channel, refused=refused).split()
        if how.startswith("url") and words[:2] == ["config", "append"]:
            continue  # who writes a secret into a setting finds it there
        status_, output = gpkg(world, *words)
        if status_ != (1 if words[:2] == ["create", "-n"] or words[0] == "why-not" else 0):
            problems.append(f"{' '.join(words)}: exit status {status_}: {output}")
        if SECRET in output:
            problems.append(f"{' '.join(words)} tells the secret: {output}")
        if how in files and "requires a login" in output:
            problems.append(f"{' '.join(words)} was not logged in: {output}")
    problems += [f"{path} tells the secret" for path in holding(world, SECRET)]
    check(f"secret, {how}", problems, "")


def run_exposed():
    """A file that others can read is not used."""
    world = WORK / "exposed"
    file = world / "home/.config/gpkg/credentials.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(f"{FIRST.url}/secret: {{token: {SECRET}}}")
    file.chmod(0o640)
    status_, output = gpkg(world, "create", "-y", "-n", "x", "-c", f"{FIRST.url}/secret", "--override-channels", "lib")
    problems = [] if status_ == 1 else [f"exit status {status_}"]
    if "can access it (mode 640)" not in output or f"chmod 600 {file}" not in output or SECRET in output:
        problems.append("not told")
    check("exposed", problems, output)


def run_few_files():
    """So many packages as one may not have files open."""
    world = WORK / "few-files"
    problems, text = [], ""
    for parallel in ("8", "64"):
        status_, output = gpkg(world, "create", "-y", "-n", f"x{parallel}", "-c", FIRST.url + "/whole", "--override-channels",
                               "many", GPKG_DOWNLOAD_THREADS=parallel,
                               before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        shutil.rmtree(world / "root/pkgs", ignore_errors=True)
        made = len(list((world / f"root/envs/x{parallel}/conda-meta").glob("*.json")))
        if status_ != 0 or made != 301:
            problems.append(f"{parallel} at a time: exit status {status_}, {made} packages")
            text += output[-2000:]
    check("few files", problems, text)


def run_mirrors():
    """Of several mirrors the bad ones are told and given up; nothing but the warning names any."""
    world = WORK / "mirrors"
    (world / "root").mkdir(parents=True)
    problems, text = [], ""
    broken = FIRST.url + "/mirror-refused"
    behind = FIRST.url + "/mirror-wrong"

    def create(name, mirrors, *words):
        nonlocal text
        (world / "root/config.yaml").write_text(json.dumps({"mirrored_channels": {"tools": mirrors}}))
        status_, output = gpkg(world, *words)
        text += f"{name}: {output}"
        if status_ != 0:
            problems.append(f"{name}: exit status {status_}")
        return output

    output = create("first", [broken, behind, FIRST.url + "/whole"], "create", "-y", "-n", "x", "-c", "tools",
                    "--override-channels", "all")
    for mirror, why in ((broken, "HTTP 503"), (behind, "wrong sha256")):
        if output.count(f"mirror {mirror} failed and is now tried last") != 1 or why not in output:
            problems.append(f"{mirror} is not told once")
    lock = ("lock", "-c", "tools", "--override-channels", "all", "-o")
    create("second", [OTHER.url + "/whole"], *lock, str(world / "root/a.lock"))
    create("third", [f"file://{WORK}/channel"], *lock, str(world / "root/b.lock"))
    if (world / "root/a.lock").read_bytes() != (world / "root/b.lock").read_bytes():
        problems.append("another mirror makes another lock")
    (world / "root/pkgs").rename(world / "root/aside")
    create("of a lock", [broken, FIRST.url + "/whole"], "create", "-y", "-n", "y", "--lock", str(world / "root/a.lock"))
    (world / "root/config.yaml").unlink()
    if not list((world / "root/envs/y/conda-meta").glob("small39-*")):
        problems.append("not installed")
    named = holding(world, FIRST.url) + holding(world, OTHER.url)
    problems += [f"{path} names a mirror" for path in named]
    record = json.loads((world / "root/envs/x/conda-meta/all-1.0-0.json").read_text())
    if record["url"] != "https://conda.anaconda.org/tools/linux-64/all-1.0-0.tar.bz2":
        problems.append(f"{record['url']} is recorded")
    check("mirrors", problems, text)


class Cutter:
    """Passes bytes on to a port, and breaks the first connection that has got more than `most`."""

    def __init__(self, port, most):
        self.port, self.most, self.cuts = port, most, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, True), daemon=True).start()

    def copy(self, source, target, may_cut):
        sent = 0
        try:
            while data := source.recv(4096):
                sent += len(data)
                if may_cut and self.cuts == 0 and sent > self.most:
                    self.cuts += 1
                    break
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


def push(registry, repository, tag, layers):
    """Puts an artifact into a registry: (media type, bytes) of each layer."""
    login = {"Authorization": "Basic " + base64.b64encode(f"user:{SECRET}".encode()).decode()}

    def ask(method, url, data=b"", **headers):
        request = urllib.request.Request(url, data, {**login, **headers}, method=method)
        return urllib.request.urlopen(request)

    def blob(data):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        place = ask("POST", f"{registry}/v2/{repository}/blobs/uploads/").headers["Location"]
        ask("PUT", f"{place}&digest={digest}", data, **{"Content-Type": "application/octet-stream"})
        return {"digest": digest, "size": len(data)}

    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": {"mediaType": "application/vnd.unknown.config.v1+json", **blob(b"{}")},
                "layers": [{"mediaType": kind, **blob(data)} for kind, data in layers]}
    ask("PUT", f"{registry}/v2/{repository}/manifests/{tag}", json.dumps(manifest).encode(),
        **{"Content-Type": manifest["mediaType"]})


def run_registry():
    """A channel in a registry of container images that wants a password."""
    world = WORK / "registry"
    (world / "home/.config/gpkg").mkdir(parents=True)
    port = free_port()
    # Of "user" and SECRET, by htpasswd -nbB.
    (world / "htpasswd").write_text("user:$2y$05$88YxxBfHcKdJtKvYV1iHqeO1E0igsDu8El76XkoImEU.o7K6DXDUC\n")
    (world / "registry.yml").write_text(json.dumps({
        "version": "0.1", "log": {"level": "error"}, "storage": {"filesystem": {"rootdirectory": str(world / "data")}},
        "auth": {"htpasswd": {"realm": "test", "path": str(world / "htpasswd")}},
        "http": {"addr": f"127.0.0.1:{port}"}}))
    server = subprocess.Popen(["docker-registry", "serve", str(world / "registry.yml")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    problems = []
    try:
        wait_for(port)
        registry = f"http://127.0.0.1:{port}"
        json_type = "application/vnd.conda.repodata.v1+json"
        for subdir in ("linux-64", "noarch"):
            index = (WORK / "channel" / subdir / "repodata.json").read_bytes()
            push(registry, f"org/chan/{subdir}/repodata.json", "latest", [(json_type, index)])
        for name, repository, tag in (("lib-1.0-0", "lib", "1.0-0"), ("_odd-1!2.0+x-0", "zzz_odd", "1__e__2.0__p__x-0")):
            push(registry, f"org/chan/linux-64/{repository}", tag,
                 [("application/vnd.conda.package.v1", (WORK / f"channel/linux-64/{name}.tar.bz2").read_bytes())])
        channel = f"oci://127.0.0.1:{port}/org/chan"
        words = ("-c", channel, "--override-channels")
        status_, output = gpkg(world, "create", "-y", "-n", "x", *words, "lib")
        if status_ != 1 or "the server requires a login" not in output:
            problems.append("not refused without a login")
        login = world / "home/.config/gpkg/credentials.yaml"
        login.write_text(f"{registry}/org: {{username: user, password: {SECRET}}}\n")
        login.chmod(0o600)
        status_, output = gpkg(world, "create", "-y", "-vv", "-n", "x", *words, "lib", "_odd")
        if status_ != 0:
            problems.append(f"exit status {status_}")
        else:
            record = json.loads((world / "root/envs/x/conda-meta/_odd-1!2.0+x-0.json").read_text())
            if record["url"] != f"{channel}/linux-64/_odd-1!2.0+x-0.tar.bz2":
                problems.append(f"{record['url']} is recorded")
        status_, missing = gpkg(world, "create", "-y", "-n", "y", *words, "small0")
        if status_ != 1 or f"{channel}/linux-64/small0-1.0-0.tar.bz2: not found (HTTP 404)" not in missing:
            problems.append(f"not told what is missing: {missing}")
        status_, output = gpkg(world, "lock", *words, "lib", "-o", str(world / "root/lock"))
        shutil.rmtree(world / "root/pkgs")
        status_, more = gpkg(world, "create", "-y", "-n", "z", "--lock", str(world / "root/lock"))
        if status_ != 0:
            problems.append(f"not of a lock: {output}{more}")
        with_login = channel.replace("://", f"://user:{SECRET}@")
        login.unlink()
        status_, more = gpkg(world, "search", "-vv", "-c", with_login, "--override-channels", "lib")
        status2, again = gpkg(world, "create", "-y", "-n", "w", "-c", with_login, "--override-channels", "_odd")
        if status_ != 0 or status2 != 0 or SECRET in output + more + again or holding(world, SECRET):
            problems.append(f"with a login in the URL: {more}{again}{holding(world, SECRET)}")
    finally:
        server.terminate()
        server.wait()
    check("registry", problems, output)


def run_nginx():
    """HTTP/2, over few connections; goes on where a connection broke."""
    world = WORK / "nginx"
    world.mkdir()
    port = free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", world / "key.pem", "-out", world / "cert.pem"], check=True, stderr=subprocess.DEVNULL)
    temporary = "".join(f"{name}_temp_path {world}/{name};" for name in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.getuid() == 0 else ""
    (world / "nginx.conf").write_text(f"""daemon off; master_process off; pid {world}/pid; {user}
        error_log {world}/error.log; events {{}}
        http {{ {temporary} log_format asked "$server_protocol $status $connection $request_uri";
          access_log {world}/access.log asked;
          server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {world}/cert.pem;
            ssl_certificate_key {world}/key.pem; root {WORK}; }} }}""")
    server = subprocess.Popen(["nginx", "-p", str(world), "-c", "nginx.conf", "-e", f"{world}/error.log"])
    try:
        wait_for(port)
        trusted = {"SSL_CERT_FILE": str(world / "cert.pem")}

        def create(name, port, *wanted, **variables):
            (world / "access.log").write_text("")
            result = gpkg(world / name, "create", "-y", "-p", str(world / name / "env"), "-c",
                          f"https://localhost:{port}/channel", "--override-channels", *wanted, **variables)
            time.sleep(0.1)
            return *result, [line.split() for line in (world / "access.log").read_text().splitlines()]

        status_, output, asked = create("trusted", port, "all", "lib", **trusted)
        got = [one for one in asked if one[3].endswith(".tar.bz2") and one[1] == "200"]
        problems = [] if status_ == 0 else [f"exit status {status_}"]
        if len(got) != 42:
            problems.append(f"{len(got)} packages")
        if any(one[0] != "HTTP/2.0" for one in asked):
            problems.append("not HTTP/2")
        if len({one[2] for one in asked}) != 1:
            problems.append(f"{len({one[2] for one in asked})} connections")
        check("nginx", problems, output)

        status_, output, asked = create("unknown", port, "lib")
        problems = [] if status_ == 1 and "TLS error" in output else ["not refused"]
        check("nginx, of an unknown authority", problems, output)

        cutter = Cutter(port, 500_000)
        status_, output, asked = create("cut", cutter.listener.getsockname()[1], "big", **trusted)
        problems = [] if status_ == 0 else [f"exit status {status_}"]
        if cutter.cuts != 1 or not any(one[1] == "206" for one in asked):
            problems.append(f"cut {cutter.cuts} times, statuses {sorted({one[1] for one in asked})}")
        check("nginx, cut", problems, output)
    finally:
        server.terminate()
        server.wait()


with tempfile.TemporaryDirectory(prefix="gpkg-e2e.") as work:
    WORK, LOCK, SEEN = pathlib.Path(work), threading.Lock(), {}
    more = [Case("secret", wants_login, always=True), Case("refused", status(403), always=True),
            Case("mirror-refused", status(503), always=True), Case("mirror-wrong", wrong_bytes)]
    BY_NAME = {case.name: case for case in CASES + more}
    make_channel(WORK / "channel")
    (WORK / "channel/environment.yml").write_text("dependencies: []\n")
    FIRST, OTHER = Server("127.0.0.1"), Server("127.0.0.2")
    jobs = [lambda case=case: run_case(case) for case in CASES] + [run_proxy, run_exposed, run_mirrors, run_few_files]
    jobs += [lambda: run_secret_places("login", f"{FIRST.url}/secret".replace("://", f"://user:{SECRET}@")),
             lambda: run_secret_places("token", f"{FIRST.url}/t/{SECRET}/secret")]
    jobs += [lambda how=how: run_secret(how) for how in ("basic", "bearer", "token", "url", "url-token")]
    if shutil.which("nginx") and shutil.which("openssl"):
        jobs.append(run_nginx)
    else:
        print("SKIPPED: nginx or openssl is not installed")
    if shutil.which("docker-registry"):
        jobs.append(run_registry)
    else:
        print("SKIPPED: docker-registry is not installed")
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for job in [pool.submit(job) for job in jobs]:
            job.result()
    print(f"{len(jobs)} cases, {len(failures)} failed")
sys.exit(1 if failures else 0)
