#!/usr/bin/env bash
# The main job on real software: recipes of Debian's torch, numpy and python, packages, channel, solve,
# store, environment, and a scenario that must find everything it uses inside that environment.
#
#   tests/e2e/demo.sh GPKG FOLDER     FOLDER keeps downloads and packages for the next run
set -euo pipefail
GPKG=$(readlink -f "$1")
mkdir -p "$2"
FOLDER=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..

skip() { echo "skipped: $*"; exit 77; }
for tool in apt-get dpkg-deb patchelf bwrap strace; do
    command -v "$tool" >/dev/null || skip "$tool is not here"
done
[ "$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}")" = "debian 12" ] || skip "this is not Debian 12"
bwrap --ro-bind / / true 2>/dev/null || skip "bubblewrap may not make namespaces here"

while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(CONDA_|GPKG_)')
export GPKG_ROOT_PREFIX=$FOLDER/root HOME=$FOLDER/home NO_COLOR=1
rm -rf "$GPKG_ROOT_PREFIX/envs" "$FOLDER/longer" "$HOME"
mkdir -p "$GPKG_ROOT_PREFIX" "$HOME"
printf 'channels:\n  - file://%s\n' "${FOLDER// /%20}/channel" >"$GPKG_ROOT_PREFIX/config.yaml"

step() { printf '== %s\n' "$*"; }
die() { echo "FAILED: $*"; exit 1; }
build() { "$GPKG" build "$FOLDER/recipes" --output-dir "$FOLDER/channel" --work-dir "$FOLDER/work" "$@"; }
scenario() { "$here/sandbox.sh" --file "$here/torch_scenario.py" "$@" python /tmp/torch_scenario.py; }

step "recipes and packages"
"$root/recipes/debian/generate" --output "$FOLDER/recipes"
build -q
packages=$(find "$FOLDER/channel/linux-64" -name '*.conda' | wc -l)
[ "$packages" -ge 277 ] || die "only $packages packages"

step "a repeat builds nothing"
build --json >"$FOLDER/again.json"
python3 - "$FOLDER/again.json" <<'E2' || die "something was built again"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["success"] and all(package["unchanged"] for package in document["packages"])
E2

step "other tools read the packages"
if command -v cph >/dev/null; then
    package=$(find "$FOLDER/channel/linux-64" -name 'numpy-*.conda')
    rm -rf "$FOLDER/cph" && mkdir "$FOLDER/cph"
    cph x --dest "$FOLDER/cph/numpy" "$package" >/dev/null
    [ -e "$FOLDER/cph/numpy/info/index.json" ] || die "cph does not read $package"
fi

step "gpkg create -n ml torch"
"$GPKG" create -q -y -n ml torch
"$GPKG" run -n ml python -c "import torch; print(torch.__version__, torch.ones(3).sum())" |
    tee "$FOLDER/said"
grep -q 'tensor(3.)' "$FOLDER/said" || die "torch did not say tensor(3.)"

step "nothing from elsewhere"
scenario "$GPKG_ROOT_PREFIX/envs/ml"
step "also with LD_LIBRARY_PATH on the host's libraries"
scenario --host-libraries "$GPKG_ROOT_PREFIX/envs/ml"
step "also in a second, longer prefix"
longer=$FOLDER/longer/a-place-with-a-much-longer-name/than-the-first/environment
"$GPKG" create -q -y -p "$longer" torch
scenario "$longer"

step "the build without OpenCV, FFmpeg and what they need"
"$GPKG" create -q -y -n small 'torch[flags=media:none]'
"$GPKG" run -n small python -c "import torch; print(torch.ones(3).sum())" | tee "$FOLDER/said"
grep -q 'tensor(3.)' "$FOLDER/said" || die "the small torch did not say tensor(3.)"
scenario "$GPKG_ROOT_PREFIX/envs/small"
if "$GPKG" list -n small | grep -E 'libopencv|libav(codec|format|util)|libsw|libgdal|libqt'; then
    die "the small torch brought these"
fi
weight() { "$GPKG" closure -n "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])'; }
[ $(($(weight small) * 3)) -lt $(($(weight ml) * 2)) ] || die "the small torch is more than two thirds as large"
"$GPKG" closure torch --size --max-closure 400MB || die "torch weighs more than it did"
"$GPKG" closure 'torch[flags=media:none]' --size --max-closure 200MB || die "the small torch weighs more than it did"

step "create torch where only pytorch is: named, never substituted"
mkdir -p "$FOLDER/other/noarch"
echo '{"packages.conda": {"pytorch-1-0.conda": {"name": "pytorch", "version": "1", "build": "0", "depends": []}}}' \
    >"$FOLDER/other/noarch/repodata.json"
if "$GPKG" create -y -n no -c "$FOLDER/other" --override-channels torch 2>"$FOLDER/said"; then
    die "torch was substituted"
fi
grep -q 'did you mean.*pytorch' "$FOLDER/said" || die "pytorch was not named: $(cat "$FOLDER/said")"
[ ! -e "$GPKG_ROOT_PREFIX/envs/no" ] || die "a failed create left something"
echo "demo: passed"
