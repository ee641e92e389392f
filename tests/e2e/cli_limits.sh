# No solve runs without end: limits, and signals and closed pipes that end it.
. "$(dirname "$0")/lib.sh"

# Twelve packages that must have different versions of eleven: no solver decides that quickly.
python3 - "$CHANNEL" << 'PY'
import json, os, sys

records = {
    f"p{name}-{version}-0.conda": {
        "name": f"p{name}", "version": str(version), "build": "0", "build_number": 0, "subdir": "noarch",
        "depends": [f"p{other} !={version}" for other in range(12) if other != name],
    }
    for name in range(12)
    for version in range(1, 12)
}
for subdir, own in ("noarch", records), ("linux-64", {}):
    os.makedirs(f"{sys.argv[1]}/{subdir}")
    with open(f"{sys.argv[1]}/{subdir}/repodata.json", "w") as file:
        json.dump({"info": {"subdir": subdir}, "packages": {}, "packages.conda": own}, file)
PY
names=(p{0..11})

export GPKG_SOLVE_LIMIT=2000
expect 1 solve "${names[@]}"
err_has 'the solver reached its limit of 2000 conflicts' 'gpkg config set solve_limit 8000'
expect 1 solve --json "${names[@]}"
json 'd["success"] is False and "limit of 2000 conflicts" in d["message"]'
expect 0 config list solve_limit
out_has 2000

# A search that would take hours.
export GPKG_SOLVE_LIMIT=1000000000
check timeout -s KILL 60 python3 - "$GPKG" "${names[@]}" << 'PY'
import signal, subprocess, sys, time


def ended(end, message):
    process = subprocess.Popen(
        [sys.argv[1], "solve", *sys.argv[2:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1)
    assert process.poll() is None, process.stderr.read()
    start = time.monotonic()
    end(process)
    process.wait(20)
    assert time.monotonic() - start < 1, message
    assert process.returncode != 0 and "interrupted" in process.stderr.read(), message


ended(lambda process: process.send_signal(signal.SIGTERM), "SIGTERM")
ended(lambda process: process.send_signal(signal.SIGINT), "SIGINT")
ended(lambda process: process.stdout.close(), "a closed pipe")
PY

finish
