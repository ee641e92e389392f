# gpkg install, update and remove in an environment that exists
. "$(dirname "$0")/lib.sh"

for version in 1.0 1.1 2.0; do
    script bin/lib "echo lib $version"
    package lib $version 0
    script bin/app "echo app $version"
    package app $version 0 "lib >=$version,<$((${version%.*} + 1))"
done
script bin/old 'echo old'
package old 1.0 0 'lib <2'
script bin/solo 'echo solo'
package solo 1.0 0
at=$GPKG_ROOT_PREFIX/envs

# What is installed stays where the request allows.
expect 0 create -n one lib=1.0
expect 0 install -n one solo
has one lib-1.0 solo-1.0
expect 0 install -n one old --json
json 'd["success"] is True and d["dry_run"] is False and d["prefix"] == work + "/root/envs/one"'
json '[r["name"] for r in d["actions"]["LINK"]] == ["old"] and d["actions"]["UNLINK"] == []'
has one lib-1.0 old-1.0 solo-1.0

# Whether something would change, as the exit status.
expect 0 install -n one solo --check
expect 1 install -n one app --check
out_has 'one would change: ' ' to install' '; to change it: gpkg install -n one app'
expect 0 install -n one solo --check --json
json 'd["in_sync"] is True and d["dry_run"] is True'
expect 1 install -n one app --check --json
json 'd["success"] is True and d["in_sync"] is False'
has one lib-1.0 old-1.0 solo-1.0
expect 0 update -n one solo --check

# Earlier requests bind; naming the package replaces its own.
expect 1 install -n one app=2.0
err_has 'lib'
has one lib-1.0 old-1.0 solo-1.0
expect 0 install -n one lib=1.1
has one lib-1.1 old-1.0 solo-1.0
check [ "$("$at/one/bin/lib")" = 'lib 1.1' ]
records one 'r["lib"]["requested_specs"] == ["lib=1.1"]'

# A dry run changes nothing.
before=$(cd "$at/one" && find . -printf '%p %T@ %i\n' | sort)
expect 0 install -n one -d lib=1.0
out_has 'Downgrade' 'v lib' '1.1 -> 1.0' '1 to downgrade' 'dry run: nothing was changed'
expect 0 remove -n one -d lib
expect 0 update -n one -d --all
expect 0 remove -n one -d --all
check [ "$(cd "$at/one" && find . -printf '%p %T@ %i\n' | sort)" = "$before" ]

# No package changes, only the requested specs. Once they are recorded there is nothing to do.
expect 0 create -n two app=1.1
records two 'r["lib"]["requested_specs"] == []'
expect 0 install -n two lib -d
out_has 'no packages change; this would update requested specs (new: lib)'
records two 'r["lib"]["requested_specs"] == []'
expect 0 install -n two lib
out_has 'no packages change; requested specs (new: lib) updated'
records two 'r["lib"]["requested_specs"] == ["lib"] and history.endswith("+file://" + channel + "/linux-64::app-1.1-0\n# update specs: [\x27app=1.1\x27, \x27lib\x27]\n")'
expect 0 install -n two 'lib<9'
out_has 'no packages change; requested specs (lib -> lib<9) updated'
expect 0 install -n two lib
before=$(find "$at/two/conda-meta" -printf '%p %T@\n' | sort)
expect 0 install -n two lib
out_is 'nothing to do: all requested packages are installed'
check [ "$(find "$at/two/conda-meta" -printf '%p %T@\n' | sort)" = "$before" ]
expect 0 update -n two --all
out_is 'nothing to do: no newer version in the searched channels fits'
err_is 'note: app 1.1 is selected instead of 2.0 (requested as app=1.1)'
expect 0 create -q -n newest app
expect 0 update -n newest --all
out_is 'all 2 packages are up to date'
expect 0 update -n newest app
out_is 'app is up to date'
expect 2 update -n newest
err_has 'missing argument: SPEC' 'to update every package: gpkg update -n newest --all'
expect 0 create -q -n empty
expect 0 update -n empty --all
out_is 'empty has no packages'

# Updates name the channels of earlier commands that are not searched.
mkdir "$WORK/own" && mv "$WORK"/records.* "$WORK/own"
own=$CHANNEL
CHANNEL=$WORK/other
package far 1.0 0
package near 1.0 0
CHANNEL=$own
rm "$WORK"/records.* && mv "$WORK"/own/* "$WORK"
expect 0 create -q -n mixed solo far near -c "$WORK/other"
note="far and near were installed from $WORK/other, which is not searched; to search it: add -c $WORK/other"
expect 0 update -n mixed --all
err_has "$note"
expect 0 update -n mixed --all --json
json "d['notes'] == ['$note']"
expect 0 update -n mixed solo
err_is ''
expect 0 update -n mixed far
err_has "far was installed from $WORK/other, which is not searched"
expect 0 update -n mixed --all -c "$WORK/other"
err_is ''
expect 0 install -n two lib --json
json 'd["success"] is True and d["message"] == "All requested packages already installed." and d["actions"]["LINK"] == []'

# What was asked for stays when what needed it goes, also where only the history tells of it.
expect 0 create -n later app=1.1
printf '==> 2026-01-02 00:00:00 <==\n# cmd: conda install lib\n# update specs: ["lib"]\n' \
    >> "$at/later/conda-meta/history"
expect 0 remove -y -n later app
has later lib-1.1

# Linked again on request: a file that was harmed is whole again.
rm "$at/two/bin/lib"
expect 0 install -n two lib
check [ ! -e "$at/two/bin/lib" ]
expect 0 install -n two lib --force-reinstall --json
json '[r["name"] for r in d["actions"]["LINK"]] == ["lib"] == [r["name"] for r in d["actions"]["UNLINK"]]'
check [ "$("$at/two/bin/lib")" = 'lib 1.1' ]
has two app-1.1 lib-1.1
expect 0 install -n two lib --force-reinstall
out_has 'relinks lib (' ' files and folders)'

# Pins bind every request.
printf '# held back\nlib <2\n' > "$at/two/conda-meta/pinned"
expect 1 install -n two app=2.0
err_has 'lib <2'
expect 0 update -n two --all
has two app-1.1 lib-1.1
rm "$at/two/conda-meta/pinned"
echo 'lib ==' > "$at/two/conda-meta/pinned"
expect 1 install -n two solo
err_has 'two/conda-meta/pinned'
echo 'libb <2' > "$at/two/conda-meta/pinned"
expect 0 update -n two -d lib
err_has "pin 'libb<2' in $at/two/conda-meta/pinned has no effect: no package 'libb'; did you mean lib?"
rm "$at/two/conda-meta/pinned"

# Updates: of what is named, of everything; requests hold.
expect 0 update -n two app
has two app-2.0 lib-2.0
check [ "$("$at/two/bin/app")" = 'app 2.0' ]
expect 0 create -n three app=1.0 lib=1.0 old
expect 0 update -n three --all
has three app-1.0 lib-1.0 old-1.0
expect 0 update -n three lib
has three app-1.0 lib-1.1 old-1.0
expect 1 update -n three ap
err_is "error: ap is not installed in $at/three
  hint: did you mean app?"
expect 1 update -n three solo
expect 2 update -n three
expect 2 install -n three
expect 1 install -n thre solo
err_has 'did you mean three?'
expect 1 install -n three sol
err_has 'hint: did you mean solo?'
err_lacks 'possible fixes'
has three app-1.0 lib-1.1 old-1.0

# The variables of an environment.yml come with it.
printf 'dependencies: [solo]\nvariables: {COLOUR: red}\n' > more.yml
expect 0 install -n three -f more.yml
has three app-1.0 lib-1.1 old-1.0 solo-1.0
records three 'json.load(open(prefix + "/conda-meta/state"))["env_vars"] == {"COLOUR": "red"}'

# Removal: dependents go along, and so does what only they needed; requested packages stay.
expect 0 create -n four app=1.1 solo
expect 0 remove -y -n four app
has four solo-1.0
check [ ! -e "$at/four/bin/lib" ]
records four 'history.endswith("# remove specs: [\x27app\x27]\n")'
expect 0 create -n five app=1.1 lib old
expect 0 remove -y -n five app --json
json '[r["name"] for r in d["actions"]["UNLINK"]] == ["app"] and d["actions"]["LINK"] == [] and d["actions"]["FETCH"] == []'
has five lib-1.1 old-1.0
expect 0 install -n five app=1.1
expect 0 remove -y -n five lib
has five
# A requested package that leaves along is not requested any more: a copy can be made.
expect 0 create -n six app=1.1 solo
expect 0 remove -y -n six lib
has six solo-1.0
expect 0 env export -n six --from-history
out_lacks app
expect 0 create -n seven --clone six
has seven solo-1.0
# Patterns.
expect 0 create -n eight app=1.1 solo
expect 0 remove -y -n eight 's*'
has eight app-1.1 lib-1.1
expect 0 env export -n eight --from-history
out_lacks solo
expect 1 remove -y -n four sol
err_is "error: sol is not installed in $at/four
  hint: did you mean solo?"
expect 1 remove -y -n four nosuch
err_is "error: nosuch is not installed in $at/four
  hint: to list installed packages: gpkg list -n four"
expect 1 remove -y -n four solo=2
expect 2 remove -y -n four
has four solo-1.0
expect 0 install -n four app=1.1
# A removed request is forgotten: nothing brings it back.
expect 0 remove -y -n four app
expect 0 install -n four old
has four lib-1.1 old-1.0 solo-1.0

# A file of the user's survives in the folders of removed packages.
echo mine > "$at/four/bin/mine"
expect 0 remove -y -n four old solo
check [ "$(cat "$at/four/bin/mine")" = mine ]
has four

# One that nobody knows stands in the way.
expect 1 install -n four "$CHANNEL/linux-64/nowhere-1.0-0.tar.bz2"
echo mine > "$at/four/bin/solo"
expect 1 install -n four solo
err_has 'bin/solo'
check [ "$(cat "$at/four/bin/solo")" = mine ]
has four

# Frozen environments change only when told twice (CEP 22).
echo '{"message": "ask the admins"}' > "$at/five/conda-meta/frozen"
for words in 'install -n five solo' 'remove -n five --all'; do
    expect 1 $words
    err_has 'the environment is frozen: ask the admins' '--override-frozen; to change a copy: gpkg create -n my-five --clone '
    out_lacks 'to install'
done
expect 0 env list
out_has '(frozen)'
expect 1 install -n five solo --json
json 'd["exception_name"] == "EnvironmentIsFrozenError"'
expect 0 install -n five solo --override-frozen
has five solo-1.0
rm "$at/five/conda-meta/frozen"

# Whole environments.
expect 2 remove -y -n five --all solo
expect 0 remove -y -n five --all --json
json 'd["success"] is True and [r["name"] for r in d["actions"]["UNLINK"]] == ["solo"]'
absent five
check [ "$(grep -c five "$HOME/.conda/environments.txt")" = 0 ]
check [ "$(grep -c four "$HOME/.conda/environments.txt")" = 1 ]
expect 1 remove -y -n five --all
expect 1 remove -y -p "$WORK/here" --all
check [ -d "$WORK/here" ]
CONDA_PREFIX=$at/four expect 1 remove -y --all
err_has 'is the active environment'
CONDA_PREFIX=$at/four expect 1 install solo -d  # the active one is meant; a dry run sees what is in the way
err_has 'envs/four: a file that belongs to no package is in the way: bin/solo'
mkdir -p "$GPKG_ROOT_PREFIX/conda-meta" && touch "$GPKG_ROOT_PREFIX/conda-meta/history"
ln -s "$GPKG_ROOT_PREFIX" "$WORK/link"
for words in '-n base' "-p $GPKG_ROOT_PREFIX/" "-p $WORK/link"; do
    expect 1 remove -y $words --all
    err_has 'the root prefix holds all environments'
done
GPKG_ROOT_PREFIX=$WORK/elsewhere expect 1 remove -y -p "$GPKG_ROOT_PREFIX" --all
err_has 'it contains environments, such as'
has four
has one lib-1.1 old-1.0 solo-1.0

clean

# What is installed for a device stays on a machine without it, a login node for example.
script bin/gpu 'echo cpu'
package gpu 1.0 0
script bin/gpu 'echo cuda'
BUILD_NUMBER=1 package gpu 1.0 cuda __cuda
CONDA_OVERRIDE_CUDA=12.4 expect 0 create -n ten gpu
check [ "$("$at/ten/bin/gpu")" = cuda ]
expect 0 install -n ten solo
err_has 'gpu (__cuda) stays as installed, although this machine does not meet this requirement'
check [ "$("$at/ten/bin/gpu")" = cuda ]
expect 0 install -n ten gpu
expect 0 update -n ten --all
check [ "$("$at/ten/bin/gpu")" = cuda ]
expect 0 install -n ten 'gpu=1.0=0'
check [ "$("$at/ten/bin/gpu")" = cpu ]
err_lacks 'stays as installed'

# A request names one package.
expect 2 install -n ten 'so*'
err_is "error: 'so*' is a pattern, not a package name; it matches solo
  hint: request 'solo'"

# A channel that is a path is one from here, and is remembered as what it meant.
expect 0 install -n ten ../channel::solo
records ten 'r["solo"]["requested_specs"] == ["file://" + channel + "::solo"]'
expect 1 install -n ten ../chanel::old
err_has '/chanel: no such folder' 'did you mean' "$CHANNEL"
mkdir -p "$WORK/none/linux-64" "$WORK/none/noarch"
echo '{}' | tee "$WORK/none/linux-64/repodata.json" > "$WORK/none/noarch/repodata.json"
expect 1 install -n ten ../none::old
err_has "old: cannot use 1.0 (in $CHANNEL, not in the requested channel)"
err_has '  gpkg install -n ten old  # gives old 1.0'

# A package that its channel withdrew has no advantage over what the channel has now, whatever the
# priority of the channels.
package gone 1.0 0
cp -r "$CHANNEL" "$WORK/gone"
two="-c $WORK/none -c $WORK/gone --override-channels"
expect 0 create -n gone $two gone
sed -i '/"gone-1.0-0/d' "$WORK/records.linux-64"
package gone 2.0 0
rm -r "$WORK/gone"
cp -r "$CHANNEL" "$WORK/gone"
for priority in strict flexible disabled; do
    expect 0 update -n gone $two --channel-priority $priority --dry-run gone
    out_has '^ gone     1.0 -> 2.0'
done
expect 0 why-not gone=2 -n gone $two --channel-priority flexible
out_has 'it can be installed'

# What is kept may keep another back, and why-not says so.
package base 1.0 0
package left 1.0 0 'base <2'
expect 0 create -n kept base left
sed -i '/specs:/d' "$at/kept/conda-meta/history"
printf '# update specs: ["base"]\n' >> "$at/kept/conda-meta/history"
package base 2.0 0
expect 0 why-not base=2 -n kept
out_has 'keeps left, which is installed and would be removed'

# Packages clean up after themselves when all of them go; one that cannot is removed all the same.
script bin/.tidy-pre-unlink.sh 'echo "$PKG_NAME" >> "$WORK/tidied"'
package tidy 1.0 0
script bin/.last-pre-unlink.sh 'echo "$PKG_NAME" >> "$WORK/tidied"' 'test ! -e "$WORK/refuse"'
package last 1.0 0 tidy
export WORK
expect 0 create -n tidy last
touch "$WORK/refuse"
expect 0 remove -y -n tidy --all
err_has 'last-1.0-0: the pre-unlink script failed with exit status 1; the package is removed all the same'
absent tidy
check [ "$(cat "$WORK/tidied")" = $'last\ntidy' ]

# Nor does one environment take another with it.
expect 0 create -n outer solo
expect 0 create -p "$at/outer/share/inner" solo
expect 1 remove -y -n outer --all
err_has "cannot remove $at/outer: it contains the environment $at/outer/share/inner"
expect 0 remove -y -p "$at/outer/share/inner" --all
expect 0 remove -y -n outer --all

# Where a decision rests on what a channel has mended since, the environment's record is mended too:
# it holds together by its own records, also once the channel has that build no more.
package core 1.0 0
package core 3.0 0
package grid 4.0 0 'core >=2'
package disk 1.0 0
package disk 2.0 0 'core <2'
expect 0 create -n mended grid disk=1.0
sed -i '/"name":"grid"/s/core >=2/core/' "$WORK/records.linux-64"
index
expect 0 install -n mended disk=2.0
has mended core-1.0 disk-2.0 grid-4.0
records mended 'r["grid"]["depends"] == ["core"] and r["grid"]["requested_spec"]'
sed -i '/"name":"grid"/d' "$WORK/records.linux-64"
index
expect 0 install -n mended core
has mended core-1.0 disk-2.0 grid-4.0

# What was asked for earlier goes no lower when something else is updated by its name alone.
package low 1.0 0
package low 2.0 0
package top 1.0 0 low
package top 2.0 0 'low 1.*'
index
expect 0 create -n floor top
expect 0 update -n floor low
err_has 'low 1.0 is selected instead of 2.0, which conflicts with other packages (to see why: gpkg why-not low==2.0 -n floor)'
has floor low-1.0 top-2.0
expect 0 update -n floor low=2.0 --dry-run
out_has 'v top      2.0 -> 1.0'
expect 0 update -n floor low top
has floor low-1.0 top-2.0

# Where the channel says since that what is installed does not go together, it may.
package prop 1.0 0
package prop 2.0 0
package beam 1.0 0 prop
package beam 2.0 0 'prop >=1'
index
expect 0 create -n sunk beam prop=1.0
sed -i '/"name":"beam","version":"2.0"/s/prop >=1/prop >=3/' "$WORK/records.linux-64"
grep -c 'prop >=3' "$WORK/records.linux-64" > /dev/null || fail 'the record is as it was'
index
expect 0 update -n sunk prop
out_has 'v beam     2.0 -> 1.0'

# Earlier wishes count in the order in which they were made, not in that of their names.
package ground 1.0 0
package ground 2.0 0
package zz 1.0 0 ground
package zz 2.0 0 'ground 2.*'
package aa 1.0 0 ground
package aa 2.0 0 'ground 1.*'
index
expect 0 create -n order zz aa
has order aa-1.0 ground-2.0 zz-2.0
expect 0 update -n order --all
has order aa-1.0 ground-2.0 zz-2.0

# An update of names alone keeps the build that was asked for by a pattern, and so does what follows.
package film 1.0 lgpl_0
package film 1.0 gpl_0
package film 2.0 gpl_0
index
expect 0 create -n licence 'film=*=lgpl*'
expect 0 update -n licence film
err_has "film keeps the build lgpl* requested earlier; to allow any build, request 'film>=0'"
check [ -e "$(place licence)/conda-meta/film-1.0-lgpl_0.json" ]
package film 1.1 lgpl_0
index
expect 0 update -n licence film
check [ -e "$(place licence)/conda-meta/film-1.1-lgpl_0.json" ]
package film 1.2 lgpl_0
index
expect 0 update -n licence film
check [ -e "$(place licence)/conda-meta/film-1.2-lgpl_0.json" ]
expect 0 update -n licence 'film>=0'
check [ -e "$(place licence)/conda-meta/film-2.0-gpl_0.json" ]

# A name that the searched channels lack may be in one that the environment has packages from.
mkdir -p "$WORK/bare/noarch" && echo '{"info": {"subdir": "noarch"}, "packages": {}}' > "$WORK/bare/noarch/repodata.json"
expect 1 install -n licence solo --override-channels -c "$WORK/bare"
err_has "environment licence has packages from $CHANNEL, which is not searched; to search it: add -c $CHANNEL"
expect 1 install -n licence 'film>=3' --override-channels -c "$WORK/bare"
err_has "film was installed from $CHANNEL, which is not searched; to search it: add -c $CHANNEL"

finish
