# gpkg verify and repair: files that are not what they were, in environments and in the store.
. "$(dirname "$0")/lib.sh"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/lib 'echo lib'
mkdir -p "$WORK/payload/lib" && echo "prefix=$old" > "$WORK/payload/lib/lib.pc" && echo text > "$WORK/payload/lib/text"
PLACEHOLDER=$old package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 'lib'
script bin/other 'echo other'
package other 1.0 0
index

at=$GPKG_ROOT_PREFIX/envs/e
expect 0 create -y -n e app other
tree() { (cd "$at" && find . -path ./conda-meta -prune -o -printf '%p %y %m %l\n' -type f -exec sha256sum {} + | sort); }
requested() { "$GPKG" env export -n e --from-history; }
before=$(tree)
asked=$(requested)

expect 0 verify -n e
out_is '3 packages verified: no damage'
expect 0 verify -n e --json
json 'd == {"sound": True, "packages": 3, "interrupted": False, "damage": []}'
expect 0 repair -y -n e
out_is "$(place e): nothing is damaged"
expect 1 verify -n none
expect 1 repair -n none
err_has 'none'
expect 2 verify -n e --store

# Missing, other bytes of the same length, another length, another kind. What is replaced is not the store's.
rm "$at/bin/app"
cp "$at/lib/lib.pc" "$WORK/pc" && tr p q < "$WORK/pc" > "$at/lib/lib.pc"
rm "$at/lib/text" && echo longer > "$at/lib/text"
rm "$at/bin/lib" && ln -s app "$at/bin/lib"
mkdir -p "$at/mine" && echo mine > "$at/mine/file"
expect 1 verify -n e
out_is 'app: bin/app is missing
lib: bin/lib is a soft link, not a file
lib: lib/lib.pc has another checksum
lib: lib/text has 7 bytes, not 5'
err_is '2 of 3 packages are damaged; to restore them: gpkg repair -n e'
expect 1 verify -n e --json
json 'not d["sound"] and [x["path"] for x in d["damage"]] == ["bin/app", "bin/lib", "lib/lib.pc", "lib/text"]'
expect 1 verify -n e --quick
out_lacks lib.pc
expect 0 repair -n e --dry-run
err_has 'app: bin/app is missing'
out_has app lib
expect 1 verify -n e
# Without a network: the store has what is needed.
mv "$CHANNEL" "$WORK/away"
expect 0 repair -y -n e --offline
check [ "$(cat "$at/mine/file")" = mine ]
rm -r "$at/mine"
check [ "$(tree)" = "$before" ]
check [ "$(requested)" = "$asked" ]
expect 0 verify -n e

# A change through a hard link is one of the store as well: it is downloaded again.
printf x >> "$at/bin/other"
expect 1 verify -n e
expect 0 repair -n e --dry-run
out_has '1 to download'
expect 1 verify --store
out_has 'other-1.0-0-'
err_has '1 of 3 packages is damaged; to remove it from the store: gpkg repair --store'
expect 1 repair -y -n e --offline
err_has other-1.0-0
mv "$WORK/away" "$CHANNEL"
expect 0 repair -y -n e
check [ "$(tree)" = "$before" ]
expect 0 verify --store
out_is '3 packages verified: no damage'

# The store alone.
printf x >> "$(echo "$GPKG_ROOT_PREFIX"/pkgs/app-1.0-0-*)/bin/app"
echo x > "$(echo "$GPKG_ROOT_PREFIX"/pkgs/lib-1.0-0-*)/info/paths.json"
mkdir -p "$GPKG_ROOT_PREFIX"/pkgs
expect 0 repair --store --dry-run --json
json 'd["dry_run"] and len(d["removed"]) == 2'
expect 1 verify --store
expect 0 repair --store --yes
out_has app-1.0-0 lib-1.0-0 '2 of 3 packages were damaged; they will be downloaded again when needed'
expect 0 verify --store
expect 0 repair -y -n e
check [ "$(tree)" = "$before" ]

# Two packages with one path: the file is one of theirs.
mkdir -p "$WORK/payload/share" && echo one > "$WORK/payload/share/both"
package one 1.0 0
mkdir -p "$WORK/payload/share" && echo two > "$WORK/payload/share/both"
package two 1.0 0
index
expect 0 create -y -n two one two
expect 0 verify -n two
rm "$GPKG_ROOT_PREFIX/envs/two/share/both"
expect 1 verify -n two
expect 0 repair -y -n two
expect 0 verify -n two
expect 0 history -n two
check [ "$(wc -l <<< "$out")" = 2 ]

# Frozen, and records of old tools, which tell names alone.
touch "$at/conda-meta/frozen"
rm "$at/bin/app"
expect 1 repair -y -n e
err_has 'is frozen'
rm "$at/conda-meta/frozen"
python3 - "$at/conda-meta/app-1.0-0.json" << 'END'
import json, sys
record = json.load(open(sys.argv[1]))
del record["paths_data"]
json.dump(record, open(sys.argv[1], "w"))
END
expect 1 verify -n e
out_is 'app: bin/app is missing'
expect 0 repair -y -n e
check [ "$(tree)" = "$before" ]

# What the environment knows of itself, lost or damaged: other commands say what helps, and it does, offline.
script bin/gen "prefix=/opt/built/here/placeholder/placeholder/placeholder/placeholder"
PLACEHOLDER=/opt/built/here/placeholder/placeholder/placeholder/placeholder package gen 1.0 0
index
expect 0 create -y -n meta app gen
lost=$GPKG_ROOT_PREFIX/envs/meta
cp -a "$lost" "$WORK/sound"
same() { check diff -r -x history -x state.json -x generations -x '*.json' "$WORK/sound" "$lost"; }
for how in 'echo "{" > gen-1.0-0.json' ': > gen-1.0-0.json' 'echo [] > app-1.0-0.json; : > lib-1.0-0.json' 'rm history' 'echo x > gpkg/state.json'; do
    rm -rf "$lost" && cp -a "$WORK/sound" "$lost"
    (cd "$lost/conda-meta" && eval "$how")
    expect 1 install -y -n meta --offline gen --dry-run
    err_has 'gpkg repair -n meta'
    expect 0 repair -y -n meta --offline --dry-run
    err_has 'would be restored'
    expect 0 repair -y -n meta --offline
    err_has ': restored'
    expect 0 verify -n meta
    records meta 'set(r) == {"app", "gen"} | ({"lib"} if "lib" in r else set()) and r["app"]["requested_specs"]'
    same
    expect 0 repair -y -n meta --offline
    err_lacks 'restored'
    # What was made again is as good as new.
    expect 0 remove -y -n meta gen
    check [ ! -e "$lost/bin/gen" ]
done
# A dry run names what would be relinked besides.
rm -rf "$lost" && cp -a "$WORK/sound" "$lost"
: > "$lost/conda-meta/gen-1.0-0.json"
rm "$lost/bin/app"
expect 0 repair -y -n meta --offline --dry-run
err_has 'app: bin/app is missing' 'gen-1.0-0.json: would be restored'
out_is 'would be relinked: app, gen'
expect 0 repair -y -n meta --offline --dry-run --json
json 'd["dry_run"] and d["relinked"] == ["app", "gen"]'
rm -rf "$lost" && cp -a "$WORK/sound" "$lost"
: > "$lost/conda-meta/gen-1.0-0.json"
expect 1 verify -n meta
out_has 'gen-1.0-0: conda-meta/gen-1.0-0.json cannot be read'
# Nobody knows any more what it was.
rm -rf "$lost/conda-meta/gpkg" "$GPKG_ROOT_PREFIX"/pkgs/gen-*
expect 1 repair -y -n meta --offline
err_has 'gen-1.0-0.json' 'the package is in no generation of the environment' 'remove the file'

# A journal that cannot be read is in nobody's way: what packages brought comes back.
expect 0 create -q -y -n j app
mkdir -p "$(place j)/conda-meta/.gpkg-transaction/old"
: > "$(place j)/conda-meta/.gpkg-transaction/plan.json"
mv "$(place j)/bin/app" "$(place j)/conda-meta/.gpkg-transaction/old/0"
expect 1 install -n j app
err_has 'plan.json' 'was interrupted and cannot be undone or completed'
expect 1 doctor -n j
out_has 'an earlier command was interrupted'
expect 0 repair -y -n j --offline
err_has 'cannot be read; moved to' '.gpkg-transaction.damaged'
check [ -f "$(place j)/conda-meta/.gpkg-transaction.damaged/old/0" ]
expect 0 verify -n j
expect 0 run -n j app
# A history that lost its end, or all, and records that are gone: told, and made again with what was asked for.
package first 1 0
package second 1 0
package second 2 0
expect 0 create -y -n lost first
expect 0 install -y -n lost 'second=1'
for size in 0 30 150; do
    truncate -s $size "$GPKG_ROOT_PREFIX/envs/lost/conda-meta/history"
    expect 1 verify -n lost
    out_has 'conda-meta/history'
    expect 0 repair -y -n lost
    expect 0 verify -n lost
    expect 0 env export -n lost --from-history
    out_has '- first' '- second=1'
done
rm "$GPKG_ROOT_PREFIX/envs/lost/conda-meta/"*.json
expect 1 verify -n lost
out_has 'conda-meta/first-1-0.json' 'is missing'
expect 0 repair -y -n lost
expect 0 verify -n lost
has lost first-1 second-1
expect 0 update -y -n lost --update-all
has lost first-1 second-1
expect 0 rollback -y -n lost 1
has lost first-1
# Two records of one package, as a killed tool leaves them: the last generation knows which counts.
package first 2 0
expect 0 create -q -y -n twice first=2
cp "$GPKG_ROOT_PREFIX/envs/lost/conda-meta/first-1-0.json" "$GPKG_ROOT_PREFIX/envs/twice/conda-meta/"
expect 1 verify -n twice
out_has 'conda-meta/first-1-0.json is a second record of this package'
expect 0 repair -y -n twice --dry-run
err_has 'would be set aside: a second record of first'
expect 0 repair -y -n twice
expect 0 verify -n twice
has twice first-2
expect 0 update -y -n twice --update-all
check [ -f "$GPKG_ROOT_PREFIX/envs/twice/conda-meta/first-1-0.json.damaged" ]
# The same once a change has taken both into a generation, or another tool has replaced the one by the other.
cp "$GPKG_ROOT_PREFIX/envs/lost/conda-meta/first-1-0.json" "$GPKG_ROOT_PREFIX/envs/twice/conda-meta/"
expect 1 update -q -y -n twice first
err_has 'gpkg repair -n twice'
package third 1 0
expect 0 repair -y -n twice
expect 0 verify -n twice
expect 0 repair -y -n twice
out_has 'nothing is damaged'
expect 0 create -q -y -n replaced first=1
cp "$GPKG_ROOT_PREFIX/envs/twice/conda-meta/first-2-0.json" "$GPKG_ROOT_PREFIX/envs/replaced/conda-meta/"
rm "$GPKG_ROOT_PREFIX/envs/replaced/conda-meta/first-1-0.json"
expect 0 repair -y -n replaced
has replaced first-2
expect 0 verify -n replaced
# While another is at work it waits, and finds nothing to do.
mkdir -p "$WORK/payload/bin" && printf 'sleep 1\n' > "$WORK/payload/bin/.slow-post-link.sh"
package slow 1 0
expect 0 create -q -y -n busy third
"$GPKG" install -y -q -n busy slow > /dev/null 2>&1 &
for _ in $(seq 100); do [ -e "$GPKG_ROOT_PREFIX/envs/busy/conda-meta/.gpkg-transaction/untold" ] && break; sleep 0.05; done
expect 0 repair -y -n busy
err_has 'waiting for process'
wait
has busy slow-1 third-1
# A package that tells no sizes (info/files alone, as before 2016).
rm -r "${GPKG_ROOT_PREFIX:?}/pkgs/first-2-0-"*/info/paths.json
printf 'share/first\n' > "$(echo "$GPKG_ROOT_PREFIX"/pkgs/first-2-0-*)/info/files"
expect 0 create -q -y -n sizeless first=2
expect 0 verify -n sizeless
# What cannot be read is damage as well.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    script share/secret 'echo secret'
    package secret 1 0
    expect 0 create -q -y -n unread secret
    chmod 000 "$GPKG_ROOT_PREFIX/envs/unread/share/secret"
    chmod 755 "$WORK"
    setpriv --reuid 61001 --clear-groups "$GPKG" verify -n unread > "$WORK/said" 2>&1
    check grep -q 'share/secret cannot be read' "$WORK/said"
fi
# A lock that leads elsewhere empties nobody's file.
echo precious > "$WORK/precious"
ln -s "$WORK/precious" "$GPKG_ROOT_PREFIX/envs/lost/conda-meta/.gpkg-lock"
expect 1 install -y -n lost second
check [ "$(cat "$WORK/precious")" = precious ]
# A file that was written into is, through hard links, in other environments as well.
expect 0 create -y -q -n share1 other
expect 0 create -y -q -n share2 other
printf x >> "$(place share1)/bin/other"
expect 0 repair -y -n share1
err_has "$(place share2) has the same damaged files" 'gpkg repair -n share2'
expect 0 repair -y -n share2
err_lacks "$(place share1) has the same damaged files"
expect 0 verify -n share2

# An environment that was moved with mv: its files contain the old path.
old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/python 'echo "python of $0"'
package python 3.12 0
mkdir -p "$WORK/payload/bin" && printf '#!%s/bin/python\n' "$old" > "$WORK/payload/bin/ls"
chmod +x "$WORK/payload/bin/ls"
PLACEHOLDER=$old package scripts 1 0 python
envs=$GPKG_ROOT_PREFIX/envs
expect 0 create -q -y -n before scripts
printf '#!%s/bin/python\n' "$envs/before" > "$envs/before/bin/mine"
expect 0 run -n before ls
mv "$envs/before" "$envs/after"
expect 126 run -n after ls
err_has "$envs/after/bin/ls: its interpreter" \
    "this environment was moved here from $envs/before" 'to fix it: gpkg repair -n after'
expect 1 verify -n after
err_has "this environment was moved here from $envs/before, and its files still contain that path"
expect 1 verify -n after --json
json 'd["sound"] is False and d["moved_from"] == work + "/root/envs/before" and d["damage"] == []'
expect 1 doctor -n after
out_has "was moved here from $envs/before"
expect 0 repair -n after --dry-run
out_has scripts '1 to reinstall'
expect 0 repair -y -n after
err_has "bin/mine still contains $envs/before"
check [ "$(head -1 "$envs/after/bin/ls")" = "#!$envs/after/bin/python" ]
expect 0 run -n after ls
expect 0 verify -n after
expect 0 repair -n after
out_has 'nothing is damaged'
cp -r "$envs/after" "$envs/copy"
expect 0 repair -n copy --dry-run
err_has "note: the environment was copied here from $envs/after;"
rm -r "$envs/copy"
check grep -qx "$envs/after" "$HOME/.conda/environments.txt"
check [ "$(grep -cx "$envs/before" "$HOME/.conda/environments.txt")" = 0 ]
cp -r "$envs/after" "$envs/copy"
expect 1 verify -n copy
err_has "was copied here from $envs/after"

# All environments at once.
expect 1 verify --all
out_has "$envs/after:" "$envs/copy:"
err_has "was copied here from $envs/after"
expect 1 verify --all --json
json 'd["sound"] is False and [e["prefix"] for e in d["environments"] if "moved_from" in e] == [work + "/root/envs/copy"]'
expect 2 verify --all -n copy
expect 2 repair --all --json
err_lacks internal
expect 1 repair -y --all
err_has "error: $envs/meta/conda-meta/gen-1.0-0.json"  # and the others are repaired all the same
out_has 'reinstalled 1 package in copy'
rm -r "$envs/lost" "$envs/meta"
expect 0 repair -y --all
expect 0 verify --all

finish
