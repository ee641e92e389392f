"""foreign_prefix.py TOOL PREFIX STORE PACKAGE...: lays out unpacked packages of a store as conda, micromamba or rattler does, and with
their records. What a tool writes differently:

    conda       paths_data of noarch python packages has the paths in the package; soft links have no checksum in the prefix
    micromamba  no prefix_placeholder, no file_mode; size_in_bytes is the package's
    rattler     original_path of noarch python packages; size_in_bytes is the prefix's
"""
import glob, hashlib, json, os, shutil, sys

tool, prefix, store, *names = sys.argv[1:]
modules = "lib/python3.11/site-packages/"


def target_of(path):
    if path.startswith("site-packages/"):
        return modules + path[len("site-packages/"):]
    return "bin/" + path[len("python-scripts/"):] if path.startswith("python-scripts/") else path


def digest(data):
    return hashlib.sha256(data).hexdigest()


history = ["==> 2026-01-01 00:00:00 <==", f"# cmd: {tool} create", "# conda version: 26.7.1"]
for name in names:
    folder, = glob.glob(f"{store}/{name}-[0-9]*/")
    record = json.load(open(folder + "info/index.json"))
    record.update(json.load(open(folder + "info/repodata_record.json")))
    paths, files = [], []
    for entry in json.load(open(folder + "info/paths.json"))["paths"]:
        source, target = folder + entry["_path"], target_of(entry["_path"])
        place = os.path.join(prefix, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        placeholder = entry.get("prefix_placeholder")
        entry = dict(entry)
        if entry["path_type"] == "softlink":
            os.symlink(os.readlink(source), place)
            if tool != "conda" and os.path.isfile(source):
                entry["sha256_in_prefix"] = entry.get("sha256", "")
        else:
            data = open(source, "rb").read()
            if placeholder:
                data = data.replace(placeholder.encode(), prefix.encode())
            open(place, "wb").write(data)
            shutil.copymode(source, place)
            entry["sha256_in_prefix"] = digest(data)
            if tool == "rattler":
                entry["size_in_bytes"] = len(data)
        if tool == "micromamba":
            entry.pop("prefix_placeholder", None), entry.pop("file_mode", None)
        if tool == "rattler" and target != entry["_path"]:
            entry["original_path"] = entry["_path"]
        if tool != "conda":
            entry["_path"] = target
        paths.append(entry)
        files.append(target)
    record.update(files=files, paths_data={"paths_version": 1, "paths": paths}, requested_spec=name if tool != "conda" else "None",
                  link={"source": folder.rstrip("/"), "type": 1}, extracted_package_dir=folder.rstrip("/"))
    if tool == "conda" and record.get("noarch") == "python":
        record["package_type"] = "noarch_python"
    distribution = "{name}-{version}-{build}".format(**record)
    os.makedirs(prefix + "/conda-meta", exist_ok=True)
    json.dump(record, open(f"{prefix}/conda-meta/{distribution}.json", "w"), indent=2)
    history.append(f"+{record['channel']}/{record['subdir']}::{distribution}")
history.append(f"# update specs: {names}")
open(prefix + "/conda-meta/history", "w").write("".join(line + "\n" for line in history))
