#!/usr/bin/env python3
"""Environments as modules, under the real Lmod and the real Environment Modules: modules.py GPKG FOLDER

Each journey (load and unload, reload, swap, two environments, purge, ...) is made in bash, zsh and tcsh,
from an environment without the variables that the modules touch and from one that has values in them
that are hard to quote. What is loaded is compared with what `gpkg activate` gives bash; what is left at
the end with what was there at the beginning, byte for byte. Debian's packages of the two conflict:
Environment Modules is unpacked into FOLDER. A tool or shell that is not there is left out, aloud.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

GPKG = os.path.realpath(sys.argv[1])
KEPT = pathlib.Path(sys.argv[2])
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
failures = []
checks = 0

# What two environments do to the variables of whoever enters them.
SCRIPTS = {
    "one": r"""
export T_SET="a:b \$x \"q\" 'single' [br] {ace} ü
second \`line\` \\back;&|*"
export T_EMPTY=
export T_DATA="$HOME/.cache/one"
export T_LIST="/opt/one/lib${T_LIST:+:$T_LIST}"
export T_TAIL="${T_TAIL:+$T_TAIL:}/opt/one/tail"
export T_URLS="file:///opt/one//catalog${T_URLS:+ $T_URLS}"
export T_WORDS="${T_WORDS:+$T_WORDS }-O2 -O2"
export CONDA_BACKUP_T_CC="$T_CC"
export T_CC=/opt/one/gcc
export T_DEFAULT="${T_DEFAULT:-one}"
unset T_GONE
export LANG=C.utf8 LC_NUMERIC=C TERM="${TERM:-vt100}"
unset LC_TIME
T_LOCAL=5
_helper() { :; }
""",
    "two": r"""
export T_SET="two"
export T_LIST="/opt/two/lib${T_LIST:+:$T_LIST}"
unset T_CC
export T_OTHER="x
y"
""",
}
HARD = {
    "T_SET": "mine: $HOME `id` \"q\" 'x' \\ ]] ]=] %s [exit] {\nnext line",
    "T_EMPTY": "full",
    "T_DATA": "/data",
    "T_LIST": "/usr/lib:/home/me/$dollar/lib:/with \"quote\"/lib:/with space/lib",
    "T_TAIL": "/a//b:/a//b::/c/:",
    "T_URLS": "file:///etc/xml/catalog https://x.example//y",
    "T_WORDS": "-Xlinker a -Xlinker b -O2 -O2",
    "T_CC": "cc",
    "T_DEFAULT": "mine",
    "T_GONE": "still\there:\n$",
    "T_LOCAL": "l",
    "T_OTHER": "",
    "CONDA_SHLVL": "0",
    "LANG": "en_US.UTF-8",
    "LC_NUMERIC": "de_DE.UTF-8",
    "LC_TIME": "C.UTF-8",
    "TERM": "xterm-256color",
}
# (name, steps). "dump NAME" writes the environment down. What a tool does its own way is said for it.
JOURNEYS = [
    ("load", "load one/1; dump one; unload one/1"),
    ("reload", "load one/1; reload; dump one; unload one/1"),
    ("swap", "load one/1; switch one/1 two/1; dump two; unload two/1"),
    ("back", "load one/1; switch one/1 two/1; switch two/1 one/1; dump one; unload one/1"),
    ("purge", "load one/1; purge"),
    ("twice", "load one/1; load one/1; dump one; unload one/1"),
    ("second", "load one/1; load two/1; unload two/1; unload one/1"),
    ("between", "load one/1; load third/1; unload one/1; unload third/1"),
    ("default", "load two; dump two; unload two"),
]
THIRD = {"third/1.lua": 'prepend_path("PATH", "/opt/third/bin")\nprepend_path("T_LIST", "/opt/third/lib")\n',
         "third/1": "#%Module\nprepend-path PATH /opt/third/bin\nprepend-path T_LIST /opt/third/lib\n"}
OF_THE_TOOLS = ("LMOD_", "__LMOD", "_ModuleTable", "MODULES_", "__MODULES", "MODULEPATH", "BASH_FUNC_", "MANPATH",
                "_LMFILES_", "LOADEDMODULES", "BASH_ENV", "ENV", "FPATH", "MODULESHOME", "_", "SHLVL", "PWD", "OLDPWD",
                "HOST", "HOSTTYPE", "VENDOR", "OSTYPE", "MACHTYPE", "GROUP", "LOGNAME", "tcsh", "SHELL", "NLSPATH", "TARG_TITLE_BAR")


def check(good, what):
    global checks
    checks += 1
    if not good:
        failures.append(what)


def run(command, **how):
    return subprocess.run(command, text=True, capture_output=True, timeout=120, **how)


def environment(raw):
    items = (item.partition("=") for item in raw.split("\0") if item)
    return {name: value for name, _, value in items if not name.startswith(OF_THE_TOOLS) or name.startswith("__GPKG")}


def environment_modules():
    """The folder of the unpacked package, or None: it has its places written into its files."""
    root = KEPT / "environment-modules"
    if (root / "done").exists():
        return root
    if not shutil.which("apt-get") or not shutil.which("tclsh"):
        return None
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    run(["apt-get", "download", "environment-modules"], cwd=root)
    packages = list(root.glob("*.deb"))
    if not packages or run(["dpkg-deb", "-x", str(packages[0]), str(root)]).returncode != 0:
        return None
    for file in root.rglob("*"):
        if not file.is_file() or file.is_symlink() or file.suffix in (".deb", ".so"):
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        moved = text
        for place in ("/usr/share/modules", "/usr/lib/x86_64-linux-gnu/", "/etc/environment-modules"):
            moved = moved.replace(place, f"{root}{place}")
        if moved != text:
            file.write_text(moved)
    (root / "done").touch()
    return root


def tools():
    """Each module tool: its name, and the file that brings it into a shell."""
    lmod = pathlib.Path("/usr/share/lmod/lmod/init")
    found = {}
    if lmod.exists():
        found["lmod"] = {"bash": lmod / "bash", "zsh": lmod / "zsh", "tcsh": lmod / "csh"}
    else:
        print("LEFT OUT: Lmod is not installed", file=sys.stderr)
    if root := environment_modules():
        init = root / "usr/share/modules/init"
        found["em"] = {"bash": init / "bash", "zsh": init / "zsh", "tcsh": init / "tcsh"}
    else:
        print("LEFT OUT: Environment Modules cannot be had", file=sys.stderr)
    return found


def make_world(folder):
    """Two environments, and their modules beside one of somebody else."""
    settings = {"PATH": PATH, "HOME": str(folder), "GPKG_ROOT_PREFIX": str(folder / "it's a root"), "LANG": "C.UTF-8",
                "GPKG_SYSTEM_CONFIG": "/site.yaml"}
    for name, script in SCRIPTS.items():
        prefix = folder / "it's a root/envs" / name
        for part in ("conda-meta", "bin", "etc/conda/activate.d"):
            (prefix / part).mkdir(parents=True)
        (prefix / "conda-meta/history").touch()
        (prefix / "conda-meta/state").write_text('{"version": 1, "env_vars": {"T_STATE": "of %s: \\"$x\\""}}' % name)
        (prefix / "etc/conda/activate.d/a.sh").write_text(script)
        tool = prefix / "bin" / f"tool-{name}"
        tool.write_text(f"#!/bin/sh\necho {name}\n")
        tool.chmod(0o755)
        done = run([GPKG, "module", "write", "-n", name, "--as", f"{name}/1", "--default", "--root",
                    folder / "modules"], env=settings)
        check(done.returncode == 0 and "not in the module" not in done.stderr, f"module write: {done}")
    core = folder / "modules/Core"
    core.mkdir(parents=True, exist_ok=True)
    for name, text in THIRD.items():
        (core / name).parent.mkdir(exist_ok=True)
        (core / name).write_text(text)
    done = run([GPKG, "module", "check", "--root", folder / "modules"], env=settings)
    check(done.returncode == 0, f"module check: {done}")
    return settings, core


def activated(settings, name, before, folder):
    """What `gpkg activate` gives bash."""
    script = f'eval "$("{GPKG}" shell-hook -s bash -n {name})"; env -0'
    done = run(["bash", "--noprofile", "--norc", "-c", script], env={**settings, **before}, cwd=folder)
    check(done.returncode == 0, f"activation of {name}: {done.stderr}")
    return environment(done.stdout)


def journey(world, tool, init, shell, values, name, steps):
    """Makes one; says what was wrong."""
    settings, core, given, folder = world
    at = pathlib.Path(tempfile.mkdtemp(dir=folder))
    before = {**HARD} if values == "hard" else {}
    env = {"PATH": PATH, "HOME": str(folder), "USER": "me", "LANG": "C.UTF-8", "LMOD_IGNORE_CACHE": "1", **before}
    lines = [f"source '{init}'", f"module use {core}", f"env -0 > {at}/before"]
    for step in steps.split("; "):
        verb, _, rest = step.partition(" ")
        if verb == "dump":
            lines.append(f"env -0 > {at}/{rest}; tool-{rest} > {at}/said")
        else:
            lines.append(f"module {step}")
    lines.append(f"env -0 > {at}/after")
    script = at / "script"
    script.write_text("\n".join(lines) + "\n")
    command = {"bash": ["bash", "--noprofile", "--norc"], "zsh": ["zsh", "-f"], "tcsh": ["tcsh", "-f"]}[shell]
    done = run([*command, str(script)], env=env, cwd=folder)
    where = f"{tool} {shell} {values} {name}"
    problems = []
    seen = {}
    for dump in [path.name for path in at.iterdir() if path.name not in ("script", "said")]:
        seen[dump] = environment((at / dump).read_text())
    if "after" not in seen:
        problems.append(f"{where}: did not come to its end: {done.stderr}")
    elif seen["before"] != seen["after"]:
        problems.append(difference(where, seen["before"], seen["after"]))
    for dump in set(seen) - {"before", "after"}:
        loaded = {key: value for key, value in seen[dump].items() if not key.startswith(("__GPKG_", "GPKG_"))}
        wanted = given[values, dump]
        path, path_wanted = loaded.pop("PATH").split(":"), wanted["PATH"].split(":")
        if path != path_wanted:
            problems.append(f"{where}: PATH is {path}")
        kept = {key: value for key, value in wanted.items() if not key.startswith(("__GPKG_", "GPKG_", "CONDA_BACKUP_"))}
        kept.pop("PATH")
        # What a script only uses for itself, a module leaves to whoever has a variable of that name.
        kept["T_LOCAL"] = before.get("T_LOCAL")
        kept = {key: value for key, value in kept.items() if value is not None}
        loaded.update(USER=kept.get("USER"), LMOD_IGNORE_CACHE=None)
        loaded = {key: value for key, value in loaded.items() if value is not None}
        if loaded != kept:
            problems.append(difference(f"{where}, loaded", kept, loaded))
        if (at / "said").read_text() != f"{dump}\n":
            problems.append(f"{where}: tool-{dump} did not run: {done.stderr}")
    return problems


ROOMS = ("nvidia", "amd", "x86_64_v2", "x86_64_v3", "x86_64_v4", "nvidia-x86_64_v3", "amd-x86_64_v2", "nvidia-x86_64_v4")
# What a machine has, and the rooms it is shown, the one that asks most first.
MACHINES = [
    ({"CONDA_OVERRIDE_CUDA": "", "CONDA_OVERRIDE_AMDGPU": "", "CONDA_OVERRIDE_ARCHSPEC": "x86_64_v1"}, []),
    ({"CONDA_OVERRIDE_CUDA": "12.4", "CONDA_OVERRIDE_AMDGPU": "", "CONDA_OVERRIDE_ARCHSPEC": "x86_64_v3"},
     ["nvidia-x86_64_v3", "nvidia", "x86_64_v3", "x86_64_v2"]),
    ({"CONDA_OVERRIDE_CUDA": "", "CONDA_OVERRIDE_AMDGPU": "6", "CONDA_OVERRIDE_ARCHSPEC": "x86_64_v2"},
     ["amd-x86_64_v2", "amd", "x86_64_v2"]),
]


def rooms_shown(tool, init, core, folder, machine, script):
    """The rooms in MODULEPATH after the entry was loaded, and whether unloading it takes them away."""
    root = core.parent
    lines = [f"source '{init}'", f"module use {core}", script, 'echo "ROOMS $MODULEPATH"', "module unload gpkg",
             'echo "LEFT $MODULEPATH"']
    env = {"PATH": PATH, "HOME": str(folder), "USER": "me", "LMOD_IGNORE_CACHE": "1", **machine}
    done = run(["bash", "--noprofile", "--norc", "-c", "\n".join(lines)], env=env, cwd=folder)
    found = {line.split(" ", 1)[0]: line.split(" ", 1)[1].split(":") for line in done.stdout.splitlines()
             if line.startswith(("ROOMS ", "LEFT "))}
    inside = {key: [os.path.relpath(part, root) for part in parts if part.startswith(f"{root}/")]
              for key, parts in found.items()}
    check(inside.get("LEFT") == ["Core"], f"{tool} entry: after unload {inside}, {done.stderr}")
    return [room for room in inside.get("ROOMS", []) if room != "Core"]


def check_entry(tool, init, core, folder):
    for machine, wanted in MACHINES:
        rooms = rooms_shown(tool, init, core, folder, machine, "module load gpkg")
        check(rooms == wanted, f"{tool} entry: {machine} shows {rooms}")
    # The site's configuration comes along, where users have no other.
    for before, loaded, left in (("", "/site.yaml", ""), ("/site.yaml", "/site.yaml", ""), ("/own.yaml", "/own.yaml", "/own.yaml")):
        lines = [f"source '{init}'", f"module use {core}", "module load gpkg", 'echo "$GPKG_SYSTEM_CONFIG"', "module unload gpkg",
                 'echo "$GPKG_SYSTEM_CONFIG"']
        env = {"PATH": PATH, "HOME": str(folder), "USER": "me", "LMOD_IGNORE_CACHE": "1"}
        if before:
            env["GPKG_SYSTEM_CONFIG"] = before
        done = run(["bash", "--noprofile", "--norc", "-c", "\n".join(lines)], env=env, cwd=folder)
        check(done.stdout == f"{loaded}\n{left}\n", f"{tool} entry: with {before!r} {done}")
    # A job on another machine has the variables of the one that it was sent from.
    machine, wanted = MACHINES[1]
    moved = "module load gpkg; " + "; ".join(f'export {key}="{value}"' for key, value in machine.items())
    rooms = rooms_shown(tool, init, core, folder, MACHINES[2][0], f"{moved}; module reload")
    check(rooms == wanted, f"{tool} entry: reloaded elsewhere it shows {rooms}")
    # Without anybody's word it is the processor's level, as gpkg sees it.
    told = json.loads(run([GPKG, "info", "--json"], env={"PATH": PATH, "HOME": str(folder)}).stdout)
    name = [record[2] for record in told["virtual_pkgs"] if record[0] == "__archspec"]
    rooms = rooms_shown(tool, init, core, folder, {"CONDA_OVERRIDE_CUDA": "", "CONDA_OVERRIDE_AMDGPU": ""}, "module load gpkg")
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split()
    level = 4 if "avx512vl" in flags and "avx512bw" in flags else 3 if "avx2" in flags and "bmi2" in flags else 2
    check(rooms == [f"x86_64_v{number}" for number in range(level, 1, -1)], f"{tool} entry: {name} shows {rooms}")


def difference(where, wanted, found):
    names = sorted(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
    return f"{where}: " + "; ".join(f"{key}: {wanted.get(key)!r} -> {found.get(key)!r}" for key in names)


def main():
    found = tools()
    if not found:
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        settings, core = make_world(folder)
        given = {(values, env): activated(settings, env, HARD if values == "hard" else {}, folder)
                 for values in ("plain", "hard") for env in SCRIPTS}
        world = (settings, core, given, folder)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            todo = []
            for room in ROOMS:
                (core.parent / room).mkdir()
            for tool, inits in found.items():
                check_entry(tool, inits["bash"], core, folder)
                for shell, init in inits.items():
                    if not shutil.which(shell):
                        print(f"LEFT OUT: no {shell}", file=sys.stderr)
                        continue
                    for values in ("plain", "hard"):
                        for name, steps in JOURNEYS:
                            todo.append(pool.submit(journey, world, tool, init, shell, values, name, steps))
            for one in todo:
                problems = one.result()
                check(not problems, "\n".join(problems))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    print(f"{checks} checks, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
