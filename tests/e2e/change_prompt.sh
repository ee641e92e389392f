# The questions of create, install and remove on a terminal, and what happens without one
. "$(dirname "$0")/lib.sh"

mkdir -p "$WORK/payload/etc" && echo 1 > "$WORK/payload/etc/lib.conf"
package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 lib
package loose 1.0 0

# Plans have the default yes.
for keys in 'n\n' 'no\n' '\x04' '\x03'; do
    answer "$keys" create -n x app
    check [ "$status" = 1 ]
    out_has 'Proceed? [Y/n]'
    out_has 'cancelled; nothing was changed'
    out_lacks 'error'
    absent x
    check [ ! -e "$GPKG_ROOT_PREFIX/pkgs" ]
done
for keys in '\n' 'y\n' 'Yes\n'; do
    answer "$keys" create -n x app
    check [ "$status" = 0 ]
    out_has 'Proceed? [Y/n]'
    answer 'n\n' install -n x app --force-reinstall
    check [ "$status" = 1 ]
    expect 0 env remove -n x -y
    absent x
done

# A removal that takes what was requested has the default no, and names it.
expect 0 create -n x app loose
for keys in '\n' 'n\n' '\x04' '\x03' 'x\n'; do
    answer "$keys" remove -n x lib
    check [ "$status" = 1 ]
    out_has 'Remove 2 packages from x, among them app, which you requested? [y/N]'
    out_has 'cancelled; nothing was changed'
    out_lacks 'error'
    answer "$keys" env remove -n x
    check [ "$status" = 1 ]
    out_has "Remove environment x at $(place x) with 3 packages (requested: app and loose)? [y/N]"
    has x app-1.0 lib-1.0 loose-1.0
done
out_lacks 'warning'
out_has 'note: a removed environment cannot be restored; to be able to create it again: gpkg env export -n x > x.yml'
# The plan says why each package is removed.
expect 0 remove -n x lib --dry-run
out_has 'Reason' 'needs lib'
expect 0 remove -n x app --dry-run
out_has 'no longer needed'
answer '\n' remove -n x lib
out_has 'warning: this removes a package that you requested: app'
answer 'y\n' remove -n x loose
out_has 'Remove loose, which you requested, from x? [y/N]'
check [ "$status" = 0 ]
out_has 'removed 1 package from x; to undo: gpkg rollback -n x'
has x app-1.0 lib-1.0

# Files of the user are named, changed ones and own ones.
rm "$(place x)/etc/lib.conf"  # which may be a hard link
echo mine > "$(place x)/etc/lib.conf"
answer 'n\n' remove -n x app
out_has 'etc/lib.conf of lib-1.0-0 was changed' 'Remove 2 packages from x, among them app, which you requested (changed by you: etc/lib.conf)? [y/N]'
mkdir "$(place x)/notes" && echo mine > "$(place x)/notes/results.csv"
for words in 'env remove -n x' 'remove -n x --all'; do
    answer '\n' $words
    check [ "$status" = 1 ]
    out_has '2 files of yours: notes/results.csv and etc/lib.conf)? [y/N]'
done
check [ -e "$(place x)/notes/results.csv" ]

# A dependency that nobody needs and nobody requested: nothing that the user may miss.
expect 0 create -n y app
python3 - "$(place y)" << 'PY'
import glob, json, sys
open(sys.argv[1] + "/conda-meta/history", "w").close()
for path in glob.glob(sys.argv[1] + "/conda-meta/*.json"):
    record = json.load(open(path))
    for key in ("requested_spec", "requested_specs"):
        record.pop(key, None)
    json.dump(record, open(path, "w"))
PY
answer '\n' remove -n y app
check [ "$status" = 0 ]
out_has 'Remove 2 packages from y? [Y/n]'

# Without a terminal a removal needs -y, also in scripts that read JSON. A dry run does not.
for words in 'remove -n x app' 'remove -n x --all' 'env remove -n x'; do
    expect 2 $words
    err_has 'error: not confirmed: removing' app 'add -y to remove without a question'
    expect 2 $words --json
    json '"not confirmed" in d["message"] and "-y" in d["hint"]'
    expect 0 $words --dry-run
    out_has 'dry run: nothing was changed'
    has x app-1.0 lib-1.0
done

# Where stderr goes changes nothing of that: the question is on the terminal.
for how in stderr both; do
    on_terminal "--files=$how" '--keys=\n' -- env remove -n x
    check [ "$status" = 1 ]
    out_has 'Remove environment x' '[y/N]'
    has x app-1.0 lib-1.0
done

# -y and the setting always_yes answer beforehand; with nobody to read it nothing is asked.
answer '' create -n z -y app
check [ "$status" = 0 ]
out_lacks 'Proceed?'
answer '' install -n z --json app --force-reinstall
out_lacks 'Proceed?'
answer '' remove -n z -d app
out_lacks '[y/N]'
expect 0 create -n w app
out_lacks 'Proceed?'
err_lacks 'Proceed?'
expect 0 remove -n w app -y
expect 0 config get always_yes
out_is 'false'
expect 0 config set always_yes true
expect 0 config list --show-sources
out_has 'always_yes'
answer '' remove -n z app
check [ "$status" = 0 ]
out_lacks '[y/N]'
expect 0 env remove -n z
absent z
expect 0 config set always_yes false
expect 2 env remove -n w
expect 0 config remove-key always_yes
printf 'always_yes: true\n' > "$HOME/.condarc"
expect 0 env remove -n w
err_lacks always_yes
rm "$HOME/.condarc"
CONDA_ALWAYS_YES=true expect 0 remove -n x app
CONDA_ALWAYS_YES=false expect 2 env remove -n x
GPKG_ALWAYS_YES=1 expect 0 env remove -n x
absent x

# A plan that removes a requested package warns, whatever the command.
expect 0 create -n v app loose
printf 'dependencies: [app]\n' > environment.yml
expect 0 env update -n v --prune --dry-run
err_has 'warning: this removes loose, which is not in environment.yml'
expect 0 env update -n v --prune
has v app-1.0 lib-1.0
expect 0 remove -n v app -y
err_lacks 'that you requested'

finish
