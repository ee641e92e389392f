# gpkg create: what it makes, from where, and what it refuses
. "$(dirname "$0")/lib.sh"

script bin/lib 'echo lib 1'
TIMESTAMP=1600000000000 package lib 1.0 0
script bin/lib 'echo lib 2'
package lib 2.0 0
script bin/app 'echo app 1'
TIMESTAMP=1600000000000 package app 1.0 0 'lib >=1'
script bin/app 'echo app 2'
package app 2.0 0 'lib >=2'
url=file://$CHANNEL/linux-64
sum() { "$1sum" < "$CHANNEL/linux-64/$2-0.tar.bz2" | cut -d' ' -f1; }

# A dry run tells and does nothing.
expect 0 create -n a app --dry-run
out_has '+ app      2.0'
check [ ! -e "$GPKG_ROOT_PREFIX/envs" ]
check [ ! -e "$GPKG_ROOT_PREFIX/pkgs" ]
check [ ! -e "$HOME/.conda" ]
expect 0 create -n a app -d --json
json 'd["success"] is True and d["dry_run"] is True and d["prefix"] == work + "/root/envs/a"'
json 'd["actions"]["PREFIX"] == d["prefix"] and d["actions"]["UNLINK"] == []'
json '[r["name"] for r in d["actions"]["LINK"]] == ["lib", "app"] == [r["name"] for r in d["actions"]["FETCH"]]'
json 'all(set(r) >= {"name", "version", "build", "build_number", "channel", "subdir", "fn", "url", "md5", "sha256", "size"} for r in d["actions"]["LINK"])'
check [ ! -e "$GPKG_ROOT_PREFIX/envs" ]

# Made, registered, and never made over.
expect 0 create -n a app
check [ "$("$GPKG_ROOT_PREFIX/envs/a/bin/app")" = 'app 2' ]
has a app-2.0 lib-2.0
check [ "$(cat "$HOME/.conda/environments.txt")" = "$GPKG_ROOT_PREFIX/envs/a" ]
expect 1 create -n a lib
err_has 'envs/a: the environment exists already'
has a app-2.0 lib-2.0
expect 1 create --json -n a lib
json 'd["success"] is False and "exists already" in d["message"] and d["exception_name"]'
expect 1 create -n base lib
err_has 'gpkg has no base environment' 'choose another name'
mkdir -p "$WORK/full" "$WORK/empty" && touch "$WORK/full/mine" "$WORK/file"
expect 1 create -p "$WORK/full" lib
err_has 'exists and is not an empty folder'
check [ "$(ls -A "$WORK/full")" = mine ]
expect 1 create -p "$WORK/file" lib
expect 1 create -p "$WORK/file/below" lib
err_has "$WORK/file: cannot create files there: Not a directory"
expect 0 create -p "$WORK/empty" lib
has "$WORK/empty" lib-2.0
expect 0 create -n nothing
has nothing
expect 0 create -n virtual __glibc 'lib=1'
has virtual lib-1.0
expect 1 create -n x __cuda lib
err_has 'this machine has no NVIDIA driver (__cuda)'
absent x
expect 0 create -q -n quiet lib
out_is ''
err_is ''

# What CEP 32 asks of records, and the history as conda reads it.
records a 'all(key in x for x in r.values() for key in "name version build build_number channel subdir fn url sha256 size depends constrains files paths_data link requested_spec extracted_package_dir".split())'
records a 'r["app"]["requested_specs"] == ["app"] and r["lib"]["requested_specs"] == []'
records a 'r["app"]["url"] == "file://" + channel + "/linux-64/app-2.0-0.tar.bz2" and r["app"]["channel"] == "file://" + channel'
records a 'r["app"]["files"] == ["bin/app"] and r["app"]["paths_data"]["paths"][0]["_path"] == "bin/app"'
records a '__import__("hashlib").sha256(open(prefix + "/bin/app", "rb").read()).hexdigest() == r["app"]["paths_data"]["paths"][0]["sha256_in_prefix"]'
records a '__import__("re").fullmatch(r"==> \d{4}-\d\d-\d\d \d\d:\d\d:\d\d <==\n# cmd: [^\n]*gpkg\x27? create -n a app\n# gpkg version: [\d.]+\n\+file://\S+/linux-64::lib-2.0-0\n\+file://\S+/linux-64::app-2.0-0\n# update specs: \[.app.\]\n", history)'

# Wrong names and words.
expect 1 create -n x appp
err_is "error: package 'appp' not found in $CHANNEL (linux-64)
  hint: did you mean app?"
absent x
expect 1 create --json -n x appp
json 'd["success"] is False and d["hint"] == "did you mean app?" and d["message"] == f"package '"'appp'"' not found in {channel} (linux-64)"'
json 'd["fixes"] == [] and d["did_you_mean"] == {"appp": ["app"]}'
expect 2 create -n x app 2.0
err_has "'2.0' is a version, not a package" 'did you mean app=2.0?'
expect 2 create -n x 'app: 2.0'
err_has 'did you mean app=2.0?'
expect 1 create -n x ppa-tools
err_lacks 'possible fixes'
expect 2 create -n x 'app=='
err_is "error: app==: no version after '=='
  app==
       ^"
expect 1 create -n x 'app=3'
absent x
expect 2 create --json -n x --frob
json 'd["success"] is False and "--frob" in d["error"]'
expect 2 create
err_has 'the new environment needs a name or a path'
expect 2 create ml app
err_has 'for an environment called ml: gpkg create -n ml app'
expect 2 create ml app --dry-run
err_has 'for an environment called ml: gpkg create -n ml app --dry-run'
# A word that is mistyped, in the name of a file too.
expect 2 create -n x app = 1.0
err_is "error: '=' is not a package
  hint: write the spec without spaces: 'app=1.0'"
expect 2 create -n x app '>=1.0'
err_has "write the spec without spaces: 'app>=1.0'"
echo 'dependencies: [app]' > environment.yml
expect 1 create -n x -f enviroment.yml
err_has 'enviroment.yml: cannot open' 'did you mean environment.yml?'
expect 1 create -n x --lock enviroment.yml
err_has 'did you mean environment.yml?'
expect 1 create -n x -c "$WORK/nowhere/chanel" app
err_has "$WORK/nowhere/chanel: no such folder"
err_lacks 'did you mean'
expect 2 create -n x --for ./enviroment.yml app
err_has 'did you mean ./environment.yml?'
rm environment.yml
expect 2 create -n x -p "$WORK/x" lib
expect 2 create -n a/b lib
expect 2 create -n 'a b' lib
expect 2 create -n base lib -n base
expect 2 create -n x --override-channels lib
expect 2 create -n x --channel-priority loose lib
expect 2 create -n x --exclude-newer yesterday lib
err_has '--exclude-newer yesterday: not a date' '7d'
expect 2 create -n x --platform linux-46 lib
err_has 'did you mean linux-64'
absent x

# An environment.yml says name, channels, packages and variables.
cat > environment.yml << END
name: from-file
channels:
  - file://$CHANNEL
  - nodefaults
dependencies:
  - app=1
  - lib=1  # [linux]
  - nowhere  # [osx]
variables:
  COLOUR: deep red
END
expect 0 create -f environment.yml
has from-file app-1.0 lib-1.0
records from-file 'json.load(open(prefix + "/conda-meta/state"))["env_vars"] == {"COLOUR": "deep red"}'
expect 0 create -n other -f environment.yml lib
has other app-1.0 lib-1.0
check [ ! -e "$GPKG_ROOT_PREFIX/envs/from-file2" ]
printf '# two specs\napp =1\n\nlib=2\n' > specs.txt
expect 0 create -n specs --file specs.txt
has specs app-1.0 lib-2.0
records specs 'r["app"]["requested_specs"] == ["app=1"]'
expect 1 create -n x -f nowhere.yml
err_has 'nowhere.yml: cannot open'
expect 1 create -n x -f "$WORK/nothing/environment.yml"
err_has 'environment.yml: cannot open' 'hint: name a file with -f; to write one'
expect 1 create -n x --lock nowhere.lock
err_has 'nowhere.lock: cannot open' 'hint: to write one: gpkg lock -f environment.yml -o nowhere.lock'
# A forgotten -f.
expect 2 create -n x environment.yml
err_is 'error: environment.yml is a file, not a package
  hint: use -f environment.yml'
expect 2 create -n x missing.yml
err_is 'error: missing.yml: no such file (option -f reads a file)'
expect 2 create -n x /nowhere/environment.yaml
err_has '/nowhere/environment.yaml: no such file (option -f reads a file)'
expect 2 create -n x requirements.txt
err_has 'requirements.txt: no such file (option -f reads a file)'
expect 2 create -n x gpkg.lock
err_has 'gpkg.lock: no such file (option --lock reads a file)'
expect 2 create -n x ./foo.lock
err_has './foo.lock: no such file (option --lock reads a file)'
# Packages have such names too: flufl.lock.
expect 1 create -n x foo.lock
err_has "package 'foo.lock' not found"
expect 2 exec environment.yml
err_is 'error: environment.yml is a file, not a package
  hint: to install its packages: gpkg create -n NAME -f FILE'
# Builds of another platform.
printf 'name: mac\ndependencies: [app=1.0=0, zlib=1.2=22_osxarm64_x]\nprefix: /Users/me/envs/mac\n' > mac.yml
expect 1 env create -f mac.yml --dry-run
err_has 'mac.yml: lists builds for osx-arm64, which do not exist for linux-64; --ignore-builds ignores them'
printf 'name: mac\ndependencies: [app=1.0=h1_0, lib=1.0=h2_0, libcxx=17.0=h3_0]\n' > mac.yml
for words in 'env create -n x' lock; do
    # shellcheck disable=SC2086
    expect 1 $words -f mac.yml --dry-run
    err_has 'mac.yml: lists builds for macOS' '3 of 3 requested builds do not exist for linux-64' \
        'package not found in the channels (linux-64): libcxx' 'no build matches app=1.0=h1_0' \
        '# first: remove libcxx=17.0 from mac.yml' "gpkg $words -f mac.yml --dry-run --ignore-builds" \
        'hint: builds differ between platforms'
done
printf 'name: mac\ndependencies:\n  - app=1.0=h1_0\n  - lib=1.0=h2_0\n  - libcxx=17.0=h3_0\n' > mac.yml
expect 1 create -n x -f mac.yml --dry-run
err_has "to use the rest of the file: sed -i.bak -E '/^ *- *(libcxx)([ =<>!~]|\$)/d' mac.yml && gpkg create -n x -f mac.yml --dry-run --ignore-builds"
fix=${err##*the rest of the file: }
expect 1 create -n x -f mac.yml --dry-run --no-builds  # as the option was called
err_has "package 'libcxx' not found"
err_lacks 'lists builds for'
eval "${fix/ gpkg / expect 0 }"
out_has 'app' 'lib'
printf 'dependencies: [app=1=h_1, lib=1=h_2, p3=1=h_3, p4=1=h_4, p5=1=h_5, p6=1=h_6, p7=1=h_7, p8=1=h_8, p9=1=h_9]\n' > many.yml
expect 1 create -n x -f many.yml
err_has 'packages not found in the channels (linux-64): p3, p4, p5, p6, p7, p8 and p9' \
    'no build matches app=1=h_1'
package third 1.0 0
printf 'dependencies: [app=1.0=h1_0, lib=1.0=h2_0, third=1.0=h3_0, third>=1]\n' > builds.yml
expect 1 create -n x -f builds.yml
err_lacks 'lists builds for'
err_has '3 of 3 requested builds do not exist for linux-64' \
    'hint: to ignore the build strings: gpkg create -n x -f builds.yml --ignore-builds'
err_lacks 'possible fixes:'
expect 1 create -n x -f builds.yml --json
json '(d["fixes"][0]["command"], d["fixes"][0]["edits"]) == ("gpkg create -n x -f builds.yml --json --ignore-builds", [])'
for command in 'create -n x' 'env create -n x' 'lock'; do
    expect 0 $command -f builds.yml --ignore-builds --dry-run
done
# Builds and versions that exist no more: the least change, and the option that keeps only the names.
printf 'dependencies: [app=1.0=h1_0, lib=8.8=h2_0, third=7.7=h3_0, zero=1=h4_0]\n' > old.yml
package zero 2 0
expect 1 create -n x -f old.yml --dry-run
err_has '4 of 4 requested builds do not exist for linux-64' \
    '# first: change lib=8.8 to lib=' 'gpkg create -n x -f old.yml --dry-run --ignore-builds  # gives' \
    'hint: to use only the package names of the file: gpkg create -n x -f old.yml --dry-run --ignore-versions'
expect 0 create -n x -f old.yml --ignore-versions --dry-run
expect 0 create -q -n ignoring app lib third zero
expect 0 update -n ignoring -f old.yml --ignore-versions --dry-run
expect 0 env update -n ignoring -f old.yml --ignore-versions --dry-run
# What is to be edited stands in the file so.
printf 'dependencies: [app=1.0=h1_0, lib=9.0=h2_0]\n' > gone.yml
expect 1 create -n x -f gone.yml --ignore-builds --dry-run
err_has '# first: change lib=9.0 to lib='
err_lacks 'change lib==9.0'
# Many packages that no channel has are one line, and one command deletes theirs from the file.
printf 'dependencies:\n- app\n- none1\n- none2 >=1\n- none3.py=1\n' > unknown.yml
expect 1 create -n x -f unknown.yml
err_has 'packages not found in the channels (linux-64): none1, none2 and none3.py' \
    'another channel may have them; add one with -c CHANNEL; to use the rest of the file: ' \
    "sed -i.bak -E '/^ *- *(none1|none2|none3\\.py)([ =<>!~]|\$)/d' unknown.yml && gpkg create -n x -f unknown.yml"
# Lines that a fix deletes from the file are one list.
package rest 1.0 0
printf 'dependencies: [rest, none1, none2, none3]\n' > lines.yml
expect 1 create -n x -f lines.yml
err_has '# first: remove these lines: ' 'none1' 'none2' 'none3' ' from lines.yml'
printf '@EXPLICIT\n%s\n' "$url/lib-2.0-0.tar.bz2" > explicit.yml
expect 2 create -n x -f explicit.yml
err_has 'explicit.yml is an explicit list' 'rename it to end in .txt'
# What has no name that tells is read by its key.
cp environment.yml noend
expect 0 create -n noend -f noend --dry-run
printf 'dependencies:\n  - lib # [win]\n' > elsewhere.yml
expect 0 env create -n elsewhere -f elsewhere.yml
err_has 'elsewhere.yml: no packages for linux-64: all are selected for other platforms'
# The words after a file or a channel are specs.
expect 0 create -n after -f specs.txt lib
has after app-1.0 lib-2.0

# An explicit list is taken as it is, whatever its order; the packages say what it does not.
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
printf '@EXPLICIT\n%s\n%s\n' "$url/app-1.0-0.tar.bz2" "$url/lib-2.0-0.tar.bz2" > bare.txt
expect 0 create -n bare -f bare.txt --offline
has bare app-1.0 lib-2.0
records bare 'r["app"]["depends"] == ["lib >=1"] and r["app"]["size"] > 0 and len(r["app"]["md5"]) == 32'
records bare "r['app']['sha256'] == '$(sum sha256 app-1.0)' and r['lib']['sha256'] == '$(sum sha256 lib-2.0)'"
records bare 'r["app"]["url"].startswith("file://" + channel) and r["app"]["subdir"] == "linux-64" and r["app"]["channel"] == "file://" + channel'
records bare 'history.index("::lib-2.0-0") < history.index("::app-1.0-0")'
err_lacks 'which is missing'
cp "$CHANNEL/linux-64/app-1.0-0.tar.bz2" sent.tar.bz2
expect 1 create -n x ./sent.tar.bz2
err_has 'error: sent.tar.bz2: a package file must be named NAME-VERSION-BUILD' 'hint: rename it to app-1.0-0.tar.bz2'
expect 1 create -n x sent.tar.bz2
err_has 'hint: rename it to app-1.0-0.tar.bz2'
expect 1 create -n x ./nothere.conda
err_has "error: $PWD/nothere.conda: no such file"
expect 2 search sent.tar.bz2
err_has 'sent.tar.bz2 is a package file, not a spec' 'hint: to show a package file: gpkg inspect sent.tar.bz2'
expect 0 create -n alone "$CHANNEL/linux-64/app-1.0-0.tar.bz2"
err_has 'app needs lib >=1, which is missing; to install what is missing: gpkg install -n alone app'
expect 0 install -n alone app
check [ -n "$(find "$(place alone)/conda-meta" -name 'lib-*.json')" ]
printf '@EXPLICIT\n%s\n%s\n' "$url/app-1.0-0.tar.bz2#$(sum md5 app-1.0)" \
    "$CHANNEL/linux-64/lib-1.0-0.tar.bz2#sha256:$(sum sha256 lib-1.0)" > sums.txt
expect 0 create -n sums -f sums.txt
records sums 'r["app"]["depends"] == ["lib >=1"] and r["lib"]["version"] == "1.0"'
printf '@EXPLICIT\n%s\n' "$url/app-1.0-0.tar.bz2#$(sum md5 lib-1.0)" > wrong.txt
expect 1 create -n x -f wrong.txt
err_has 'wrong md5'
absent x
# The place of a file tells what it is for, where no line does.
printf '@EXPLICIT\n%s\n%s\n' "$url/lib-1.0-0.tar.bz2" "${url%/*}/osx-64/app-1.0-0.tar.bz2" > other.txt
expect 1 create -n x -f other.txt
err_has 'other.txt:3: app-1.0-0.tar.bz2: made for osx-64, not for linux-64' 'use --platform osx-64'
expect 1 create -n x "${url%/*}/osx-64/app-1.0-0.tar.bz2"
err_has 'osx-64/app-1.0-0.tar.bz2: made for osx-64, not for linux-64'
absent x
expect 1 create -n x -f other.txt --platform osx-64
err_has 'other.txt:2: lib-1.0-0.tar.bz2: made for linux-64, not for osx-64'
expect 2 create -n x -f sums.txt app
{ cat bare.txt; tail -n 1 bare.txt; } > twice.txt
expect 0 create -n twice -f twice.txt
has twice app-1.0 lib-2.0
{ cat bare.txt; echo "$url/lib-1.0-0.tar.bz2"; } > both.txt
expect 1 create -n x -f both.txt
err_is 'error: lib is listed twice, as lib-2.0-0.tar.bz2 and as lib-1.0-0.tar.bz2; an environment has one build of each package'
absent x
expect 0 create -n one "$CHANNEL/linux-64/lib-1.0-0.tar.bz2"
has one lib-1.0
expect 0 create -n two "../channel/linux-64/lib-1.0-0.tar.bz2" "$url/app-1.0-0.tar.bz2"
has two app-1.0 lib-1.0

# A copy of an environment: the same packages, requests and variables.
expect 0 create -n clone --clone from-file
has clone app-1.0 lib-1.0
records clone 'json.load(open(prefix + "/conda-meta/state"))["env_vars"] == {"COLOUR": "deep red"}'
records clone 'r["app"]["requested_specs"] == ["app=1"] and r["app"]["link"]["type"] == 1'
expect 0 create -p "$WORK/clone" --clone "$GPKG_ROOT_PREFIX/envs/a"
has "$WORK/clone" app-2.0 lib-2.0
expect 2 create -n x --clone a lib
err_has 'clone first, then add packages: gpkg create -n x --clone a && gpkg install -n x lib'
expect 2 create x --clone a
err_has 'gpkg create -n x --clone a'
expect 1 create -n x --clone aa
absent x

# Links and copies.
check [ "$(stat -c %h "$GPKG_ROOT_PREFIX/envs/clone/bin/app")" -gt 1 ]
expect 0 create -n copied --copy app
check [ "$(stat -c %h "$GPKG_ROOT_PREFIX/envs/copied/bin/app")" = 1 ]
records copied 'r["app"]["link"]["type"] == 3'

# Downloading alone, and without the network.
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 0 create -n x --download-only app
absent x
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 2 ]
check [ ! -e "$GPKG_ROOT_PREFIX/envs/x" ]

# Time.
expect 0 create -n x -d --json --exclude-newer 2020-12-31 app
json '{r["version"] for r in d["actions"]["LINK"]} == {"1.0"}'
for moment in 2023-11-14 2023-11-14T22:13:20Z 2023-11-14T23:13:20+01:00 1700000000000 3h 7d 2w; do
    expect 0 create -n x -d --json --exclude-newer $moment app
    json '{r["version"] for r in d["actions"]["LINK"]} == {"2.0"}'
done
for moment in 2023-11-13 2023-11-14T22:13:19Z 2023-11-14T22:13:20+01:00 1699999999999; do
    expect 0 create -n x -d --json --exclude-newer $moment app
    json '{r["version"] for r in d["actions"]["LINK"]} == {"1.0"}'
done

# 1500 weeks ago there was nothing.
expect 1 create -n x -d --json --exclude-newer 1500w app

# Channels: their order decides, unless the priority is disabled; paths and URLs of any characters.
main=$CHANNEL
mkdir "$WORK/late channel é" && mv "$WORK/records.linux-64" "$WORK/kept"
CHANNEL=$WORK/late
package lib 3.0 0
mv "$WORK/late"/* "$WORK/late channel é/" && rmdir "$WORK/late"
mv "$WORK/kept" "$WORK/records.linux-64"
CHANNEL=$main
version() { json "[r['version'] for r in d['actions']['LINK'] if r['name'] == 'lib'] == ['$1']"; }
expect 0 create --json -n x -d -c "$WORK/late channel é" lib
version 3.0
expect 0 create --json -n x -d -c "$CHANNEL" -c "../late channel é" --override-channels lib
version 2.0
expect 0 create --json -n x -d -c "$CHANNEL" -c "$WORK/late channel é" --channel-priority disabled lib
version 3.0
expect 0 create --json -n x -d -c "$CHANNEL" -c "$WORK/late channel é" --channel-priority flexible 'lib>2'
version 3.0
expect 1 create -n x -d -c "$CHANNEL" -c "$WORK/late channel é" 'lib>2'
expect 1 create -n x -d -c "$WORK/late channel é" --override-channels app
expect 0 create -p "$WORK/ü place/env" -c "file://$WORK/late%20channel%20%C3%A9" lib
has "$WORK/ü place/env" lib-3.0
out_has "gpkg run -p '$WORK/ü place/env'"
check grep -qxF "$WORK/ü place/env" "$HOME/.conda/environments.txt"
SUBDIR=linux-aarch64 expect 1 create -n x -d --platform linux-aarch64 lib

# A channel that a spec names is asked as well, after all others, and the environment remembers it.
mv "$WORK/records.linux-64" "$WORK/kept"
CHANNEL=$WORK/named
package only 1.0 0 'lib'
package lib 3.0 0
mv "$WORK/kept" "$WORK/records.linux-64"
CHANNEL=$main
expect 0 create --json -n x -d "file://$WORK/named::only"
version 2.0
expect 0 create --json -n x -d "../named::only" "file://$WORK/named::lib"
version 3.0
expect 0 create --json -n x -d "file://$WORK/named::only" -c "$WORK/named"
version 3.0
expect 0 create --json -n x -d --override-channels "file://$WORK/named::only"
version 3.0
printf 'dependencies: ["%s::only"]\n' "file://$WORK/named" > named.yml
expect 0 create -n named -f named.yml
expect 0 env export -n named --json
json 'd["channels"] == ["file://" + channel, "file://" + work + "/named"]'
expect 0 lock -f named.yml -o named.lock
expect 0 create --json -n x -d --lock named.lock
version 2.0
expect 0 why-not "file://$WORK/named::lib" lib
out_has 'lib 3.0 0 is possible, but lib 2.0 0 is in a channel with higher priority'
expect 0 variants "file://$WORK/named::lib"
expect 0 exec -s "file://$WORK/named::only" /bin/true
expect 1 create -n x "file://$WORK/naemd::only"
err_has "naemd"
absent x

clean
# An empty environment asks no channel; secrets of the command line stay out of its history.
expect 0 create -n secret -c http://user:s3cret@127.0.0.1:9/t/tok-123/c
records secret '"s3cret" not in history and "tok-123" not in history and "http://***@127.0.0.1:9/t/***/c" in history'

# What another platform's packages look like is known, how they are laid out is not.
script bin/anywhere 'echo anywhere'
SUBDIR=noarch package anywhere 1.0 0
unset CONDA_OVERRIDE_LINUX CONDA_OVERRIDE_GLIBC
expect 1 create -n win --platform win-64 anywhere
err_has 'packages for win-64 cannot be installed on linux-64'
absent win

# Default packages are added to what is named, unless it names them; not to locks, clones and package files.
SUBDIR=noarch package anyone 1.0 0
SUBDIR=noarch package anyone 2.0 0
printf 'create_default_packages: [anywhere, anyone 1.*]\n' > "$HOME/.condarc"
expect 0 create -y -n with-defaults
err_has 'note: adds anywhere, anyone 1.* (create_default_packages'
has with-defaults anyone-1.0 anywhere-1.0
expect 0 create -y -q -n names-one anyone
has names-one anyone-2.0 anywhere-1.0
printf 'name: of-file\ndependencies: [anyone]\n' > of-file.yml
expect 0 env create -y -q -f of-file.yml
has of-file anyone-2.0 anywhere-1.0
expect 0 create -y -q -n without --no-default-packages anyone
has without anyone-2.0
expect 0 create -y -q -n cloned --clone without
has cloned anyone-2.0
expect 0 install -y -q -n without anyone
has without anyone-2.0
rm "$HOME/.condarc"

# A date without its dashes is not an hour of 1970.
expect 2 create -n x -d --exclude-newer 20240501 lib
err_has 'not a date'

# What is not there has conda's names for programs.
for row in 'list -n nosuch:EnvironmentLocationNotFound' 'install -n nosuch app:EnvironmentLocationNotFound' \
    'create -n absent-yet -f nowhere.yml:EnvironmentFileNotFound' 'remove -n a nosuch:PackagesNotFoundInPrefixError' \
    'update -n a nosuch:PackagesNotFoundInPrefixError' 'why -n a nosuch:PackagesNotFoundInPrefixError' \
    'list -p .:DirectoryNotACondaEnvironmentError' 'create -n absent-yet nosuch:PackagesNotFoundInChannelsError' \
    'solve app -c file:///nonexistent:UnavailableInvalidChannel'; do
    # shellcheck disable=SC2086 # words
    expect 1 ${row%:*} --json
    json "d['exception_name'] == '${row##*:}'"
done
expect 2 create -n absent-yet 'app==1..2' --json
json 'd["exception_name"] == "InvalidMatchSpec"'

finish
