#!/usr/bin/env python3
"""Runs the commands of documentation pages, each page from top to bottom in one shell.

usage: run_page.py [-v] [--channel FOLDER] GPKG PAGE.md...

Blocks of a page:
    ```sh                            runs (bash -eu, in an empty folder with an own HOME), and must succeed; questions that
                                     gpkg asks are answered "y"
    ```yaml title="environment.yml"  writes that file (any language; with sh too, and then it does not run)
    ```console                       an illustration. The line before it says why it does not run: <!-- not run: REASON -->
        output        shows what a command prints; versions and paths differ
        network       needs a real server, or a login for one
        cluster       needs Slurm, a GPU, several machines or root
        program       needs another program, or a build of minutes
        placeholder   the reader replaces a part of it
    ```json, text, and others        are no commands

A comment names the world of the blocks that follow it; gpkg's configuration, its channels, and the folder:
    <!-- test: demo -->         the demonstration channel of ./quickstart (--channel; default build/channel)
    <!-- test: conda-forge -->  conda-forge and bioconda: stand_ins.py behind a server on loopback
    <!-- test: recipes -->      the same, and a copy of recipes/ in the folder
    <!-- test: none -->         nothing runs, and there are no sh blocks; unless `; run by: TEST` names a test that runs them
Before the first comment it is demo. A later comment switches the channels in the same shell. Blocks of a world that this
machine cannot have are skipped. `; needs: PROGRAM...` after the first world skips the page on machines without these programs;
`lmod` stands for Lmod, whose `module` the page then has. GPKG_SYSTEM_CONFIG names the configuration, so pages may write the user's.
Machine: no GPU, glibc 2.36, Linux 6.1, x86_64_v3 (override_virtual_packages); a page may set CONDA_OVERRIDE_*. -v prints the output of all commands.
Exit status 77: no page could run, as all need a demonstration channel that cannot be built here.
"""

import argparse
import concurrent.futures
import functools
import http.server
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import stand_ins

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 300
SKIPPED = 77
LMOD = pathlib.Path("/usr/share/lmod/lmod/init/bash")
MACHINE = {"cuda": "", "glibc": "2.36", "linux": "6.1", "archspec": "x86_64_v3"}
MARK = "\x01"
REASONS = ("output", "network", "cluster", "program", "placeholder")
WORLD = re.compile(r"<!--\s*test:\s*(?P<world>[\w-]+)\s*(?:;\s*needs:(?P<needs>[^>]*?)|;\s*run by:(?P<runner>[^>]*?))?\s*-->")


class Page:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        first = WORLD.search(self.text)
        self.needs = (first and first["needs"] or "").replace(",", " ").split()
        self.commands, self.worlds = 0, set()

    def missing(self):
        return [name for name in self.needs if not (LMOD.exists() if name == "lmod" else shutil.which(name))]

    def wrong(self, number, text):
        sys.exit(f"{self.path}:{number}: {text}")

    def fence(self, number, line, before, world):
        """The code block that starts in this line, or None."""
        fence = re.match(r"(\s*)(`{3,}|~{3,})\s*([\w-]*)(.*)$", line)
        if not fence:
            return None
        title, language = re.search(r'title="([^"]+)"', fence[4]), fence[3]
        reason = re.fullmatch(r"\s*<!-- not run: (\w+) -->", before)
        if not title and language in ("bash", "shell", "shellsession"):
            self.wrong(number, f"a block of {language}; use sh for commands that run, console for others")
        if language == "console" and not (reason and reason[1] in REASONS):
            self.wrong(number, f"a console block without <!-- not run: {'|'.join(REASONS)} --> in the line before it")
        if language == "sh" and not title and (reason or not world):
            self.wrong(number, "an sh block that does not run; use console, with the reason in the line before it")
        return {"indent": len(fence[1]), "fence": fence[2], "title": title and title[1],
                "runs": not title and language == "sh", "lines": []}

    def script(self, files, ready):
        """A bash script with the commands in the lines that they have in the page. Files are written to `files` first."""
        lines, block, world, before = [], None, "demo", ""
        self.commands, self.worlds = 0, set()
        for number, line in enumerate(self.text.split("\n"), 1):
            lines.append("")
            if block is None:
                if found := WORLD.search(line):
                    world = found["world"] if not found["runner"] else "other"
                    if world in ready:
                        lines[-1] = f'cp -- {shlex.quote(str(files / world))}.yaml "$GPKG_SYSTEM_CONFIG"'
                elif block := self.fence(number, line, before, world != "none"):
                    if block["title"] and world in ready:
                        block["source"] = files / f"{number}"
                        target = re.sub(r"^~/", '"$HOME"/', shlex.quote(block["title"]).strip("'"))
                        lines[-1] = f"mkdir -p -- \"$(dirname -- {target})\"; cp -- {shlex.quote(str(block['source']))} {target}"
                before = line
                continue
            inner = line[block["indent"]:] if not line[:block["indent"]].strip() else line
            if inner.startswith(block["fence"]) and not inner.strip("`~ "):
                if "source" in block:
                    block["source"].write_text("".join(f"{text}\n" for text in block["lines"]))
                block, before = None, ""
            elif not block["runs"]:
                block["lines"].append(inner)
            elif inner.strip() and world != "other":
                self.worlds.add(world)
                if world in ready:
                    lines[-1] = inner
                    self.commands += not inner.lstrip().startswith("#")
        if block is not None:
            self.wrong(number, "a code block does not end")
        return "\n".join(lines) + "\n"


class Worlds:
    """Channels that all pages share."""

    def __init__(self, gpkg, channel, folder):
        self.gpkg, self.demo, self.folder = gpkg, channel, folder
        self.url = None

    def prepare(self, names):
        """The worlds of `names` that pages can run in."""
        ready = set()
        if {"conda-forge", "recipes"} & names:
            web = self.folder / "web"
            for channel in stand_ins.write(web):
                self.run("index", "-q", channel)
            handler = functools.partial(Quiet, directory=str(web))
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.url = f"http://127.0.0.1:{server.server_port}"
            ready |= {"conda-forge", "recipes"}
        if "demo" in names and self.demonstration_channel():
            ready.add("demo")
        return ready

    def demonstration_channel(self):
        """Whether it is there, or could be made (Debian 12, minutes)."""
        if (self.demo / "linux-64" / "repodata.json").exists():
            return True
        tools = all(map(shutil.which, ("apt-get", "dpkg-deb", "patchelf", "bwrap")))
        if not tools or 'VERSION_ID="12"' not in pathlib.Path("/etc/os-release").read_text():
            return False
        print(f"building the demonstration channel in {self.demo}", flush=True)
        beside = self.demo.parent
        subprocess.run([ROOT / "recipes/debian/generate", "--output", beside / "recipes"], check=True)
        self.run("build", "-q", beside / "recipes", "--output-dir", self.demo, "--work-dir", beside / "work")
        return True

    def run(self, *arguments):
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        subprocess.run([self.gpkg, *arguments], check=True, env=clean_environment() | {"HOME": str(home)})

    def configuration(self, world):
        machine = "override_virtual_packages:\n" + "".join(f'  {name}: "{value}"\n' for name, value in MACHINE.items())
        if world == "demo":
            return machine + f"channels: ['{self.demo.as_uri()}']\n"
        return (machine + "channels: [conda-forge]\nmirrored_channels:\n"
                + "".join(f"  {name}: [{self.url}/{name}]\n" for name in ("conda-forge", "bioconda")))


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass


def clean_environment():
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("CONDA_", "GPKG_", "MAMBA_", "_CE_", "XDG_")) and not name.lower().endswith("_proxy")}
    return kept | {"NO_COLOR": "1", "LC_ALL": "C.UTF-8", "CONDA_SUBDIR": "linux-64"}


def answer_questions(process, answering):
    """Answers "y" until the process ends, and returns its exit status."""
    asked, end = b"", time.monotonic() + SECONDS
    while process.poll() is None:
        if time.monotonic() > end:
            os.killpg(process.pid, 9)
            process.wait()
            return f"none after {SECONDS} seconds"
        if not select.select([answering], [], [], 0.05)[0]:
            continue
        asked += os.read(answering, 4096)
        if re.search(rb"\[y/n\]", asked, re.IGNORECASE):
            os.write(answering, b"y\n")
            asked = b""
    return process.returncode


def run_page(page, worlds, ready, folder, verbose):
    """Whether all commands of a page succeed, and a text for the log."""
    for name in ("home", "here", "files", "bin", "tmp"):
        (folder / name).mkdir(parents=True)
    script = page.script(folder / "files", ready)
    (folder / "bin" / "gpkg").symlink_to(worlds.gpkg)
    for world in ready:
        (folder / "files" / f"{world}.yaml").write_text(worlds.configuration(world))
    if "demo" in ready:
        shutil.copy(folder / "files" / "demo.yaml", folder / "config.yaml")
    if "recipes" in page.worlds:
        shutil.copytree(ROOT / "recipes", folder / "here" / "recipes")
    # Standard input is a terminal, which becomes the session's when bash opens it. gpkg asks there.
    answering, terminal = pty.openpty()
    # Each command is announced in the output, with its line in the page. No page begins with a command.
    modules = f"export LMOD_ALLOW_ROOT_USE=yes LMOD_IGNORE_CACHE=1; . {LMOD}; " if "lmod" in page.needs else ""
    prelude = (f"{modules}exec 9>>{shlex.quote(str(folder / 'output'))} >&9 2>&9 <{os.ttyname(terminal)}; set -eu; "
               f"trap 'printf \"\\n{MARK}%s {MARK}%s{MARK}\\n\" \"$LINENO\" \"$BASH_COMMAND\" >&9' DEBUG; ")
    (folder / "page").write_text(prelude + script)
    environment = clean_environment() | {
        "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "GPKG_SYSTEM_CONFIG": str(folder / "config.yaml"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "USER": os.environ.get("USER", "user"), "SHELL": "/bin/bash",
    }
    process = subprocess.Popen(["bash", "--noprofile", "--norc", folder / "page"], cwd=folder / "here", env=environment,
                               start_new_session=True)
    status = answer_questions(process, answering)
    os.close(answering)
    os.close(terminal)
    output = (folder / "output").read_text(errors="replace")
    if status == 0:
        text = f"{page.path}: {page.commands} commands"
        return True, text + (f"\n{tidy(output, page)}" if verbose else "")
    pieces = output.split(f"\n{MARK}")
    line, command, said = (pieces[-1].split(MARK, 2) + ["", ""])[:3] if len(pieces) > 1 else ("1", "", output)
    source = page.text.split("\n")[int(line) - 1].strip() if line.strip().isdigit() else command
    text = (f"FAILED: {page.path}:{line.strip()}: {source}\n  command: {command}\n  exit status: {status}\n  output:\n"
            + "".join(f"    {text}\n" for text in said.strip().split("\n")[-60:]))
    return False, text + (f"\n{tidy(output, page)}" if verbose else "")


def tidy(output, page):
    lines = page.text.split("\n")
    return re.sub(rf"\n{MARK}(\d+) {MARK}[^{MARK}]*{MARK}\n",
                  lambda found: f"\n{page.path.name}:{found[1]}$ {lines[int(found[1]) - 1].strip()}\n", output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--channel", type=pathlib.Path, default=ROOT / "build" / "channel")
    parser.add_argument("gpkg", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    options = parser.parse_args()

    pages = [Page(path) for path in options.pages]
    with tempfile.TemporaryDirectory(prefix="gpkg-docs.") as name:
        folder = pathlib.Path(name)
        for page in pages:
            page.script(folder, set())
        worlds = Worlds(options.gpkg.resolve(), options.channel.resolve(), folder)
        ready = worlds.prepare(set().union(*(page.worlds for page in pages)))
        failed = ran = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = []
            for index, page in enumerate(pages):
                missing = page.missing()
                for world in sorted(page.worlds - ready):
                    print(f"{page.path}: skipped: needs the world '{world}'")
                if missing:
                    print(f"{page.path}: skipped: needs {', '.join(missing)}")
                elif page.worlds & ready:
                    jobs.append(pool.submit(run_page, page, worlds, ready, folder / f"page{index}", options.verbose))
            for job in jobs:
                good, text = job.result()
                print(text, flush=True)
                ran += 1
                failed += not good
        # Packages are read-only folders in places.
        subprocess.run(["chmod", "-R", "u+w", folder], stderr=subprocess.DEVNULL)
    print(f"{ran} pages, {failed} failed")
    sys.exit(1 if failed else 0 if ran or not pages else SKIPPED)


main()
