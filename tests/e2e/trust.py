"""Changes a signed file of a channel and signs it anew: trust.py FILE CODE [KEY...]

CODE is Python about d, the JSON object that is signed. Without keys the signatures stay as they
were; "-" as the only key leaves none. openssl signs, so that gpkg is not its own witness.
"""

import json
import subprocess
import sys
import tempfile

file, code, *keys = sys.argv[1:]


def openssl(*words):
    return subprocess.run(["openssl", *words], check=True, capture_output=True).stdout


def signature(key, text):
    with tempfile.NamedTemporaryFile() as data:
        data.write(text.encode())
        data.flush()
        public = openssl("pkey", "-in", key, "-pubout", "-outform", "DER")[-32:]
        made = openssl("pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", data.name)
    return {"key": public.hex(), "signature": made.hex()}


with open(file) as opened:
    outer = json.load(opened)
d = json.loads(outer["signed"])
exec(code)
outer["signed"] = json.dumps(d)
if keys:
    outer["signatures"] = [signature(key, outer["signed"]) for key in keys if key != "-"]
with open(file, "w") as opened:
    json.dump(outer, opened)
