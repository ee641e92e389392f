# The section `pip:` of environment.yml, with a python that notes what it is asked to do
. "$(dirname "$0")/lib.sh"

export PIPLOG=$WORK/pip.log TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
script bin/python '
log() { printf "%s\n" "$*" >> "$PIPLOG"; }
[ "$1 $2 $3 $4" = "-m pip install -r" ] || exit 77
log "in $PWD"
log "prefix $CONDA_PREFIX, greeting ${GREETING-}, user site ${PYTHONNOUSERSITE-}, index ${PIP_NO_INDEX-}"
site=$(dirname "$0")/../lib/python3.11/site-packages
while read -r line; do
    log "asked $line"
    echo "Collecting $line"
    case $line in
        broken*) echo "ERROR: No matching distribution found for $line" >&2; exit 3 ;;
        slow*) touch "$PIPLOG.started"; sleep 100 ;;
        *==*)
            mkdir -p "$site/${line%%==*}-${line##*==}.dist-info"
            printf "Name: %s\nVersion: %s\n" "${line%%==*}" "${line##*==}" \
                > "$site/${line%%==*}-${line##*==}.dist-info/METADATA" ;;
    esac
done < "$5"'
package python 3.11 0
package pip 24.0 0 python
package tool 1.0 0
package bare 1.0 0
at=$GPKG_ROOT_PREFIX/envs

mkdir -p project
cat > project/environment.yml << 'YML'
name: ml
dependencies:
  - tool
  - pip
  - pip:
    - left-pad==1.5
    - -r more.txt
    - "-c  held back.txt"
    - --constraint=https://host/held.txt
    - -e .
    - --find-links wheels
variables:
  GREETING: hello
YML

# What pip would look for in vain is told before anything is done.
expect 1 env create -f project/environment.yml
err_has "project/environment.yml: pip: -r more.txt: $WORK/here/project/more.txt does not exist"
absent ml
echo right-pad > project/more.txt
echo right-pad==1 > 'project/held back.txt'

# A dry run says what would be run, and runs nothing.
expect 0 env create -f project/environment.yml --dry-run
out_has "after that, in $WORK/here/project: pip install left-pad==1.5 -r more.txt"
expect 0 env create -f project/environment.yml --dry-run --json
json 'd["actions"]["PIP"][:2] == ["left-pad==1.5", "-r more.txt"] and d["dry_run"] is True'
expect 0 env create -f project/environment.yml --download-only
check [ ! -e "$PIPLOG" ]
absent ml

# Inside the environment, its variables set; paths begin at the folder of the file.
expect 0 env create -f project/environment.yml
has ml pip-24.0 python-3.11 tool-1.0
check [ "$(cat "$PIPLOG")" = "in $WORK/here/project
prefix $at/ml, greeting hello, user site 1, index 
asked left-pad==1.5
asked -r $WORK/here/project/more.txt
asked -c '$WORK/here/project/held back.txt'
asked --constraint=https://host/held.txt
asked -e .
asked --find-links wheels" ]
err_has 'Collecting left-pad==1.5'
out_lacks Collecting
out_has 'created ml with'
check [ "$(ls project)" = 'environment.yml
held back.txt
more.txt' ]
expect 0 list -n ml --json
json '("left-pad", "1.5", "pypi") in [(r["name"], r["version"], r["channel"]) for r in d]'

# What it says never gets between the lines of a document.
rm "$PIPLOG"
printf 'dependencies: [tool, pip: [right-pad==2]]\n' > one.yml
expect 0 create -n json -f one.yml --json
json 'd["success"] is True and d["actions"]["PIP"] == ["right-pad==2"]'
err_has 'Collecting right-pad==2'
err_has "one.yml:1:22: the 'pip:' section needs pip; pip was added"
expect 0 create -n quiet -f one.yml -q
err_lacks Collecting

# Several files; --offline.
rm "$PIPLOG"
printf 'dependencies: [pip: [center-pad==3]]\n' > project/two.yml
expect 0 install -n ml -f one.yml -f project/two.yml --offline
check [ "$(grep -E '^(in|asked)' "$PIPLOG")" = "in $WORK/here
asked right-pad==2
in $WORK/here/project
asked center-pad==3" ]
check grep -q 'index 1' "$PIPLOG"
# Everything of conda's is there: pip is asked all the same.
rm "$PIPLOG"
expect 0 install -n ml -f one.yml
out_lacks 'nothing to do'
check grep -q 'asked right-pad==2' "$PIPLOG"
rm "$PIPLOG"
expect 0 install -n ml -f one.yml --dry-run
out_has 'pip install right-pad==2'
check [ ! -e "$PIPLOG" ]

# env update upgrades what meets its requirement already; install does not.
check [ ! -e "$PIPLOG" ]
expect 0 env update -n ml -f one.yml --dry-run
out_has 'pip install --upgrade right-pad==2'
expect 0 env update -n ml -f one.yml
err_has 'pip install --upgrade right-pad==2'
check grep -q 'asked right-pad==2' "$PIPLOG"
rm "$PIPLOG"

# A failure tells the status, the last words, what stays and what does the rest.
printf 'dependencies: [bare, pip: [up-pad==1, broken==9, down-pad==1]]\n' > broken.yml
expect 1 create -n half -f broken.yml -f project/two.yml
err_has "Collecting up-pad==1
Collecting broken==9
ERROR: No matching distribution found for broken==9
error: $WORK/here/broken.yml: pip failed with exit status 3
the conda packages are installed, the pip packages are not
  hint: to retry: gpkg install -n half -f $WORK/here/broken.yml -f $WORK/here/project/two.yml"
out_lacks 'is ready'
has half bare-1.0 pip-24.0 python-3.11
expect 1 create -p "$WORK/here/other half" -f broken.yml --json
json 'd["success"] is False and d["pip"]["exit_status"] == 3'
json '"No matching distribution found for broken==9" in d["pip"]["output"]'
json 'd["pip"]["repeat"] == "gpkg install -p \x27" + work + "/here/other half\x27 -f " + work + "/here/broken.yml"'
repeat=$(printf %s "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["pip"]["repeat"])')
expect 1 create -n half2 -f broken.yml -q
err_has 'pip failed with exit status 3:' 'No matching distribution found for broken==9'
sed -i 's/, broken==9//' broken.yml
rm "$PIPLOG"
checks=$((checks + 1))
(eval "\"$GPKG\" ${repeat#gpkg }" > "$WORK/stdout" 2>&1) || fail 'the command of the hint'
check grep -q 'asked down-pad==1' "$PIPLOG"

# pip that only a pip section brought is nothing that anybody requested.
printf 'dependencies: [python, {pip: [left-pad==1.5]}]\n' > with.yml
printf 'dependencies: [python]\n' > without.yml
expect 0 env create -y -n onlypip -f with.yml
expect 0 sync -y -n onlypip -f without.yml
has onlypip python-3.11
err_lacks 'that you requested'

# A channel without pip.
mkdir -p nopip/noarch
echo '{"packages": {"python-3.11-0.tar.bz2": {"name": "python", "version": "3.11", "build": "0", "depends": []}}}' \
    > nopip/noarch/repodata.json
printf 'dependencies: [python, pip: [x==1]]\n' > nopip.yml
expect 1 create -n none -f nopip.yml -c ./nopip --override-channels
err_has "the 'pip:' section needs the package pip, which no channel has" "or delete the 'pip:' section"
absent none

# Without python nothing is changed at all.
expect 1 create -n none -f one.yml --no-deps
err_has "one.yml: the 'pip:' section needs python"
err_has 'hint: add python to the dependencies'
absent none
expect 1 create -n none -f one.yml --no-deps --dry-run
# Nor is another's python ever taken: the package may bring none.
mkdir -p "$WORK/elsewhere"
cp "$at/ml/bin/python" "$WORK/elsewhere/python"
BUILD_NUMBER=1 package python 3.11 1
printf 'dependencies: [python=3.11=1, pip: [x==1]]\n' > empty.yml
rm "$PIPLOG"
PATH=$WORK/elsewhere:$PATH expect 1 create -n empty -f empty.yml
err_has "$WORK/here/empty.yml: pip: "
err_has 'the conda packages are installed'
check [ ! -e "$PIPLOG" ]

# Ctrl-C while pip is at work.
printf 'dependencies: [python=3.11=0, pip: [slow==1]]\n' > slow.yml
"$GPKG" create -n slow -f slow.yml > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
pid=$!
for _ in $(seq 200); do [ -e "$PIPLOG.started" ] && break; sleep 0.1; done
kill -TERM "$pid"
wait "$pid"
status=$?
err=$(cat "$WORK/stderr")
check [ "$status" = 1 ]
err_has 'pip: interrupted; the conda packages are installed'
err_has 'to install them: gpkg install -n slow'
has slow pip-24.0 python-3.11

# Where nothing is installed, the section is told.
expect 0 solve -f one.yml
err_has "packages under 'pip:' are not solved"
# A lock leaves to pip what pip is to decide, and says so; what it names of PyPI is installed as it is.
rm -f "$PIPLOG"
printf 'name: x\ndependencies: [python=3.11=0, pip, {pip: [left-pad==1.5]}]\n' > locked.yml
expect 0 lock -f locked.yml -o gpkg.lock
err_has "packages under 'pip:' are not locked"
cat >> gpkg.lock << 'YML'
foreign:
  https://h/w-1.0-py3-none-any.whl:
    kind: pypi
    location: https://h/w-1.0-py3-none-any.whl
    name: w
    version: "1.0"
    sha256: 1111111111111111111111111111111111111111111111111111111111111111
YML
sed -i 's|^packages:|    foreign: [https://h/w-1.0-py3-none-any.whl]\npackages:|' gpkg.lock
expect 0 create -n fromlock --lock gpkg.lock -y
check [ "$(grep asked "$PIPLOG")" = "asked w @ https://h/w-1.0-py3-none-any.whl --hash=sha256:1111111111111111111111111111111111111111111111111111111111111111
asked left-pad==1.5" ]
sed -i 's/left-pad==1.5/broken/' gpkg.lock
expect 1 create -n brokenlock --lock gpkg.lock -y
err_has 'to retry: gpkg run -n brokenlock python -m pip install broken'
rm -rf "$at/brokenlock" "$at/fromlock"

# Repositories at their commits and folders come in a run of their own, without hashes, also where
# the lock has one for them. What is in the lock's folder is told from there.
sha=1111111111111111111111111111111111111111111111111111111111111111
commit=e48252662a78a847f534766b506c2ac83c57c627
# locked FILE PYTHON: a pixi.lock of it and of packages of PyPI, which stdin has as it lists them.
locked() {
    local entries
    entries=$(cat)
    expect 0 lock "$2" pip -o conda/gpkg.lock
    expect 0 lock convert conda/gpkg.lock conda/pixi.lock -y
    sed "s|^packages:|$(grep '^- pypi' <<< "$entries" | sed 's/^/      /; s/&/\\&/g; s/$/\\/')
&|" conda/pixi.lock > "$1"
    printf '%s\n' "$entries" >> "$1"
}
mkdir -p conda
locked project/pixi.lock python=3.11=0 << YML
- pypi: git+https://h/draccus.git?rev=main&subdirectory=python%2Fone#$commit
  name: draccus
  version: 0.10.0
- pypi: .
  name: mine
  version: 0.1.0
  sha256: $sha
  editable: true
- pypi: ./my lib
  name: lib
  sha256: $sha
- pypi: https://h/w-1.0-py3-none-any.whl
  name: w
  version: '1.0'
  sha256: $sha
YML
rm "$PIPLOG"
expect 0 create -n frompixi --lock project/pixi.lock -y
check [ "$(grep -E '^(in|asked)' "$PIPLOG")" = "in $WORK/here/project
asked w @ https://h/w-1.0-py3-none-any.whl --hash=sha256:$sha
in $WORK/here/project
asked -e .
asked ./my lib
asked draccus @ git+https://h/draccus.git@$commit#subdirectory=python/one" ]
err_lacks 'has no commit'
expect 0 lock convert project/pixi.lock conda/gpkg.lock -y
check grep -q 'editable: true' conda/gpkg.lock
expect 0 lock convert conda/gpkg.lock conda/pixi.lock -y
check grep -q 'editable: true' conda/pixi.lock
# The hint does all of the rest, and there.
sed -i 's/^  name: w$/  name: broken/' project/pixi.lock
expect 1 create -n brokenpixi --lock project/pixi.lock -y
err_has "to retry: gpkg run -n brokenpixi python -m pip install --no-deps 'broken @ https://h/w-1.0-py3-none-any.whl' \
&& gpkg run -n brokenpixi --cwd $WORK/here/project python -m pip install --no-deps -e . './my lib' 'draccus @"
sed -i "s/#$commit//; s/broken/w/" project/pixi.lock
expect 0 create -n main --lock project/pixi.lock -y
err_has 'git+https://h/draccus.git has no commit: the current revision is installed'
sed -i 's/my lib/my ;lib/' project/pixi.lock
expect 1 create -n odd --lock project/pixi.lock -y
err_has "'./my ;lib' is not a path that pip accepts"
absent odd
rm -rf "$at/brokenpixi" "$at/frompixi" "$at/main"

# pip needs python, in a lock of conda-lock too.
package plain 1.0 0
expect 0 lock plain -o conda/gpkg.lock
expect 0 lock convert conda/gpkg.lock conda/conda-lock.yml -y
cat >> conda/conda-lock.yml << YML
- name: w
  version: '1.0'
  manager: pip
  platform: linux-64
  dependencies: {}
  url: https://h/w-1.0-py3-none-any.whl
  hash:
    sha256: $sha
  category: main
  optional: false
YML
expect 1 create -n nopython --lock conda/conda-lock.yml -y
err_has 'conda-lock.yml: the pip packages need python, which the lock does not have' \
    'hint: add python to the request of the lock, and lock again'
absent nopython

# An environment may be there and have nothing.
cat > empty.lock << 'YML'
version: 6
environments:
  default:
    channels: []
    packages: {}
  test:
    channels: []
    packages:
      linux-64: [{pypi: https://h/w-1.0-py3-none-any.whl}]
packages:
- pypi: https://h/w-1.0-py3-none-any.whl
  name: w
YML
expect 1 create -n nothing --lock empty.lock -y
err_has 'empty.lock: the environment default is empty'
err_has 'hint: test has packages; use --environment NAME'
expect 1 lock check empty.lock
err_has 'the environment default is empty'
sed -i 's/packages: {}/packages: {linux-64: []}/' empty.lock
expect 1 create -n nothing --lock empty.lock -y
err_has 'the environment default has no packages for linux-64' 'hint: test has packages'
sed -i 's/^  default:/  dev:/' empty.lock
expect 1 create -n nothing --lock empty.lock -y
err_has 'empty.lock: no environment default'

# The real pip of this machine's python, which a pyvenv.cfg lets live in the environment, and a wheel
# that lies beside the file.
if python3 -m pip --version > /dev/null 2>&1; then
    host=$(python3 -c 'import sys; print(sys._base_executable)')
    mkdir -p "$WORK/payload/bin" project/wheels
    printf '#!/bin/bash\nexec -a "$0" %s "$@"\n' "$host" > "$WORK/payload/bin/python"
    chmod +x "$WORK/payload/bin/python"
    printf 'home = %s\ninclude-system-site-packages = true\n' "$(dirname "$host")" > "$WORK/payload/pyvenv.cfg"
    BUILD_NUMBER=2 package python 3.11 2
    python3 - project/wheels/hi_there-1.0-py3-none-any.whl << 'PY'
import sys, zipfile
info = "hi_there-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("hi_there.py", "print('hi there')\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: hi-there\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "hi_there.py,,\n" + "".join(info + n + ",,\n" for n in ("METADATA", "WHEEL", "RECORD")))
PY
    printf 'hi-there==1.0\n' > project/more.txt
    printf 'dependencies: [python=3.11=2, pip: [--no-index, --find-links wheels, -r more.txt]]\n' > project/real.yml
    expect 0 create -n real -f project/real.yml
    expect 0 run -n real python -c 'import hi_there'
    out_is 'hi there'
    expect 0 env export -n real
    out_has '  - pip:
    - hi-there==1.0'
    printf 'hi-there==2.0\n' > project/more.txt
    expect 1 env update -n real -f project/real.yml
    err_has 'project/real.yml: pip failed with exit status 1'
    err_has 'No matching distribution found for hi-there==2.0'
fi

# A lock: a wheel with its hash, a repository at the commit before its last, a folder to edit. The
# projects build themselves, so that nothing has to be fetched.
if python3 -m pip --version > /dev/null 2>&1 && git --version > /dev/null 2>&1; then
    project() {
        mkdir -p "$1"
        printf '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n' > "$1/pyproject.toml"
        cat > "$1/backend.py" << PY
import os, zipfile
NAME, VERSION = "$2", "$3"
def write(folder, content):
    info = f"{NAME}-{VERSION}.dist-info/"
    files = {**content,
             info + "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n",
             info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files[info + "RECORD"] = "".join(name + ",,\n" for name in [*files, info + "RECORD"])
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
def build_wheel(folder, config=None, metadata=None):
    return write(folder, {NAME + ".py": f"version = '{VERSION}'\n"})
def build_editable(folder, config=None, metadata=None):
    return write(folder, {NAME + ".pth": os.getcwd() + "\n"})
PY
        printf 'version = "in place"\n' > "$1/$2.py"
    }
    in_repository() { git -C "$WORK/repository" -c user.name=n -c user.email=m "$@"; }
    project "$WORK/repository/python/one" fromgit 1.0
    git init -q "$WORK/repository"
    in_repository add .
    in_repository commit -qm first
    commit=$(in_repository rev-parse HEAD)
    project "$WORK/repository/python/one" fromgit 2.0
    in_repository commit -qam second
    project 'project/my lib' mylib 3.0
    locked project/pixi.lock python=3.11=2 << YML
- pypi: ./wheels/hi_there-1.0-py3-none-any.whl
  name: hi-there
  version: '1.0'
  sha256: $(sha256sum < project/wheels/hi_there-1.0-py3-none-any.whl | cut -d' ' -f1)
- pypi: git+file://$WORK/repository?branch=main&subdirectory=python%2Fone#$commit
  name: fromgit
  version: '1.0'
- pypi: ./my lib
  name: mylib
  version: '3.0'
  sha256: $sha
  editable: true
YML
    expect 0 create -n reallock --lock project/pixi.lock -y
    expect 0 run -n reallock python -c 'import fromgit, hi_there, mylib; print(fromgit.version, mylib.version)'
    out_is 'hi there
1.0 in place'
    expect 0 list -n reallock --json
    json '{("fromgit", "1.0"), ("hi-there", "1.0"), ("mylib", "3.0")} <= {(r["name"], r["version"]) for r in d}'
    sed -i '/editable/d' project/pixi.lock
    expect 0 create -n copied --lock project/pixi.lock -y
    expect 0 run -n copied python -c 'import mylib; print(mylib.version)'
    out_is '3.0'
    sed -i '/^- pypi: .*wheels/,$s/sha256: ..../sha256: 1111/' project/pixi.lock
    expect 1 create -n otherhash --lock project/pixi.lock -y
    err_has 'DO NOT MATCH THE HASHES'
fi

check [ -z "$(find "$TMPDIR" -mindepth 1 -name '.gpkg-*')" ]

# What the plan shows is read by others.
printf 'dependencies: [python, pip, {pip: ["--index-url https://user:hunter2@host/simple", x]}]\n' > secret.yml
expect 0 env create -n secret --dry-run -f secret.yml
out_has 'pip install --index-url https://host/simple x'
expect 0 env create -n secret --dry-run -f secret.yml --json
check [ "${out/hunter2/}" = "$out" ]

finish
