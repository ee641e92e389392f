"""What the witnesses in Python share: the records of a channel of the corpus, and an environment without settings."""

import json
import os
import subprocess


class Channel:
    """Every record of a channel, by name."""

    def __init__(self, folder):
        self.folder, self.records = folder, {}
        for subdir in ("linux-64", "noarch"):
            path = os.path.join(folder, subdir, "repodata.json.zst")
            if not os.path.exists(path):
                continue
            text = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
            data = json.loads(text)
            for group in ("packages", "packages.conda"):
                for record in data[group].values():
                    self.records.setdefault(record["name"], []).append(record)

    def of(self, name, version):
        return [r for r in self.records.get(name, []) if r["version"] == version]


def clean_environment(work):
    """The caller's variables without settings of gpkg and conda; everything is kept below `work`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA_", "GPKG_", "MAMBA_"))}
    return {**kept, "HOME": work, "GPKG_ROOT_PREFIX": work}
