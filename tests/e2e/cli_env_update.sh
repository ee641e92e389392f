# gpkg env update
. "$(dirname "$0")/lib.sh"

for version in 1.0 2.0; do
    package lib $version 0
    package app $version 0 "lib >=$version"
done
package extra 1.0 0 only
package only 1.0 0
package torch 1.0 cpu_0
package torch 1.0 cuda129_0 '__cuda >=12'
for version in 3.11 3.12; do
    script bin/python 'cp "$5" "$(dirname "$0")/../asked.txt"'
    package python $version 0
done
package pip 24.0 0 python
at=$GPKG_ROOT_PREFIX/envs
state() { cat "$(place "$1")/conda-meta/gpkg/state.json" 2> /dev/null; }

cat > environment.yml << 'YML'
name: one
dependencies:
  - app=1.0
variables:
  A: 1
YML
# The file says which environment is meant; it has to exist.
expect 1 env update
err_has "no environment at $GPKG_ROOT_PREFIX/envs/one"
err_has 'to create it: gpkg env create -f environment.yml'
expect 0 create -y -q -n one lib=1.0 extra
expect 0 env config vars set -n one B=2
expect 0 env update --dry-run --json
json 'd["dry_run"] is True and [r["name"] for r in d["actions"]["LINK"]] == ["app"]'
has one extra-1.0 lib-1.0 only-1.0
expect 0 env update -f environment.yml
has one app-1.0 extra-1.0 lib-1.0 only-1.0
expect 0 env config vars list -n one --json
json 'd == {"A": "1", "B": "2"}'

# What the file names moves as far as what else was asked for lets it.
sed -i 's/app=1.0/app/' environment.yml
expect 0 env update
has one app-1.0 extra-1.0 lib-1.0 only-1.0
records one 'r["app"]["requested_specs"] == ["app"]'

# --prune: the file alone says what is asked for. A dry run shows it.
expect 0 env update --prune --dry-run
out_has 'Remove' '- extra' '2 to remove' 'unset B'
has one app-1.0 extra-1.0 lib-1.0 only-1.0
echo 'python 3.11.*' > "$at/one/conda-meta/pinned"
expect 0 env update --prune --json
json 'sorted(r["name"] for r in d["actions"]["UNLINK"]) == ["app", "extra", "lib", "only"]'
json 'sorted(r["name"] for r in d["actions"]["LINK"]) == ["app", "lib"]'
has one app-2.0 lib-2.0
expect 0 env config vars list -n one --json
json 'd == {"A": "1"}'
records one 'r["lib"]["requested_specs"] == [] and r["app"]["requested_specs"] == ["app"]'
expect 0 env export -n one --from-history
out_has 'dependencies:
  - app
variables:'
# What is a dependency from now on goes with what needs it, though it stays where it is meanwhile.
expect 0 create -y -q -n two app lib
printf 'dependencies: [app]\n' > two.yml
expect 0 env update -n two -f two.yml --prune
has two app-2.0 lib-2.0
records two 'r["lib"]["requested_specs"] == []'
expect 0 remove -y -n two app
has two
printf 'dependencies: []\n' > none.yml
expect 0 env update -n one -f none.yml --prune
has one
check [ -f "$at/one/conda-meta/pinned" ]

# Python keeps its minor version unless the file names it.
expect 0 create -y -q -n py python=3.11 extra
printf 'dependencies: [pip]\n' > pip.yml
expect 0 env update -n py -f pip.yml --prune
has py pip-24.0 python-3.11
printf 'dependencies: [pip, python]\n' > python.yml
expect 0 env update -n py -f python.yml
has py pip-24.0 python-3.12

# The section pip, after the rest.
printf 'dependencies: [pip, pip: [x==1]]\n' > section.yml
expect 0 env update -n py -f section.yml
check [ "$(cat "$at/py/asked.txt")" = x==1 ]

# Accelerators: said in the file, they are remembered; with --prune the file alone says them.
CONDA_OVERRIDE_CUDA=12.9 expect 0 create -y -q -n gpu torch --accel nvidia 'app[accel=none]'
printf 'dependencies: [torch, app]\naccelerator: {app: conda}\n' > gpu.yml
CONDA_OVERRIDE_CUDA=12.9 expect 0 env update -n gpu -f gpu.yml
check [ "$(state gpu | tr -d ' \n')" = '{"accelerator":"nvidia","package_accelerators":{"app":"conda"}}' ]
printf 'dependencies: [torch]\n' > gpu.yml
expect 0 env update -n gpu -f gpu.yml --prune
check [ "$(state gpu)" = '{}' ]
printf 'dependencies: [torch]\naccelerator: none\n' > gpu.yml
expect 0 env update -n gpu -f gpu.yml --prune
records gpu 'r["torch"]["build"] == "cpu_0"'

# Names: flags before the file, the file before the active environment.
expect 0 env update -n two -f environment.yml
has two app-2.0 lib-2.0
has one
CONDA_PREFIX=$at/one expect 0 env update -f two.yml
has one app-2.0 lib-2.0
expect 2 env update -f nameless/../two.yml
err_has 'no environment is active'
for verb in update install; do
    expect 2 $verb -f two.yml
    err_has 'no environment is active' 'gpkg env update -f two.yml uses the name in the file'
done
expect 0 list -n one --explicit
printf '%s\n' "$out" > files.txt
expect 2 env update -n one -f files.txt
err_has 'to install the files: gpkg install -f FILE'
expect 2 env update -n one -f two.yml --prune --freeze-installed
# No solution, no change.
printf 'dependencies: [app=2.0, lib=1.0]\n' > clash.yml
expect 1 env update -n one -f clash.yml --prune
has one app-2.0 lib-2.0
echo '{}' > "$at/one/conda-meta/frozen"
expect 1 env update -n one -f none.yml --prune
has one app-2.0 lib-2.0

# The command that makes a new one makes the one that was meant.
expect 1 env update -n nowhere -f clash.yml
err_has 'to create it: gpkg env create -n nowhere -f clash.yml'

finish
