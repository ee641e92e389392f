# Environments as modules: which files are written, what they are called, where they lie, and which are stale.
. "$(dirname "$0")/lib.sh"

package plain 1.0 0
package gpu 2.0 cuda_0 '__cuda >=12'
package fast 3.0 v3_0 '__archspec 1.* x86_64_v3'
export CONDA_OVERRIDE_CUDA=12.4 CONDA_OVERRIDE_ARCHSPEC=x86_64_v3
expect 0 create -n one plain
expect 0 create -n two gpu
expect 0 create -n three fast gpu
root=$WORK/modules

# Both formats into the room of what the environment asks; the entry beside them. The same again writes nothing.
expect 0 module write -n one --root "$root"
out_has "$root/Core/one/1.lua" "$root/Core/one/1" "$root/Core/gpkg/"
err_has "to use it: module use $root/Core; module load gpkg one/1"
expect 0 module write -n one --root "$root"
out_is ''
err_has 'all modules are up to date'
expect 0 module write --all --root "$root"
check [ -f "$root/nvidia/two/1.lua" ]
check [ -f "$root/nvidia-x86_64_v3/three/1.lua" ]
expect 0 module check --root "$root" --json
json 'd["success"] and len(d["modules"]) == 6 and not any(m["stale"] for m in d["modules"])'

# What it is called: as somebody says, which later runs keep; else by the template of the settings.
expect 0 module write -n two --root "$root" --as apps/two/2026.11 --default
check [ ! -e "$root/nvidia/two" ]
expect 0 module write --all --root "$root"
check [ -f "$root/nvidia/apps/two/2026.11.lua" ]
check grep -q '"2026.11"' "$root/nvidia/apps/two/.version"
expect 2 module write -n one --root "$root" --as 'a b'
err_has 'is not a valid module name'
expect 2 module write -n one --root "$root" --as 'gs/{gpu}'
err_has 'placeholders work only in the setting module_name'
expect 2 module write -n one --root "$root" --as gpkg
err_has "'gpkg' is reserved"
expect 0 module check --root "$root"
err_has "3 modules (6 files) in $root, all up to date"
expect 0 config set module_name '{name}/{plain}-{accelerator}'
expect 1 module check --root "$root"
out_has 'one/1.lua: its name is now one/1.0-cpu'
err_has "gpkg module write --all --root $root"
expect 2 module remove one
err_has 'to delete one module: rm FILE'
expect 0 module write -n one --root "$root"
out_has "$root/Core/one/1.0-cpu.lua" "removed $root/Core/one/1.lua"
err_has 'removed one/1, replaced by one/1.0-cpu; jobs that load one/1 must load one/1.0-cpu'
expect 1 module check --root "$WORK/nowhere"
err_has "$WORK/nowhere: no such folder"
expect 2 module write -n three --root "$root"
err_has 'version of plain' '{accelerator}'
expect 0 config set module_name '{name}'
expect 0 config set module_root "$WORK/elsewhere"
expect 0 module write -n three --format lua
out_has "$WORK/elsewhere/nvidia-x86_64_v3/three.lua"
expect 0 module check
expect 0 module write -n three --as x/y/1
expect 0 module write -n three
check [ -f "$WORK/elsewhere/nvidia-x86_64_v3/x/y/1.lua" ]
expect 0 module write -n three --as ''
check [ -f "$WORK/elsewhere/nvidia-x86_64_v3/three" ]
check [ ! -e "$WORK/elsewhere/nvidia-x86_64_v3/x" ]
expect 2 module write -n three --default
err_has '--default needs a name with a version'
expect 2 module write --all -n one
expect 2 module write -n one --format yaml

# Stale: other packages, other scripts, a hand's change, an environment that is gone.
expect 0 config set module_root "$root"
expect 0 module write --all
expect 0 module check
package extra 1.0 0
expect 0 install -n one extra
expect 1 module check
out_has 'Core/one.lua: packages have changed'
expect 0 module write -n one
mkdir -p "$(place one)/etc/conda/activate.d"
echo 'export A=b' > "$(place one)/etc/conda/activate.d/a.sh"
expect 1 module check
out_has 'its text or the activation has changed'
expect 0 module write -n one
echo '-- mine' >> "$root/Core/one.lua"
expect 1 module check
expect 0 module write -n one
expect 0 remove -y -n three --all
expect 1 module check --json
json 'not d["success"] and [m["reason"] for m in d["modules"] if m["stale"]] == ["the environment " + m["prefix"] + " no longer exists" for m in d["modules"] if m["stale"]]'
expect 0 module write --all
check [ ! -e "$root/nvidia-x86_64_v3" ]
expect 0 module check

# One environment that cannot be a module keeps no other from being one.
script etc/conda/activate.d/z.sh 'exit 3'
package ends 1.0 0
expect 0 create -n ends ends
expect 0 create -n gpkg extra
expect 0 create -n whole extra
expect 1 module write --all --json
json 'not d["success"] and [f["prefix"].rsplit("/", 1)[1] for f in d["failures"]] == ["ends", "gpkg"]'
json '"exits the shell with status 3" in d["failures"][0]["error"] and "is reserved for the module that lists the others" in d["failures"][1]["error"]'
json 'any("/whole" in path for path in d["written"])'
for name in ends gpkg whole; do expect 0 remove -y -n $name --all; done
expect 0 module write --all

# A script that ends the shell is told, and the module stays as it was.
cp "$root/Core/one.lua" "$WORK/before"
echo 'exit 4' > "$(place one)/etc/conda/activate.d/a.sh"
expect 1 module write -n one
err_has 'a.sh: the activation script exits the shell with status 4'
check cmp "$root/Core/one.lua" "$WORK/before"
echo 'alias ll=ls' > "$(place one)/etc/conda/activate.d/a.sh"
expect 0 module write -n one
err_has 'one: not in the module: the alias ll'

# So is what a module cannot give, or would give everybody as its writer has it; in `module help` too.
cat > "$(place one)/etc/conda/activate.d/a.sh" << 'EOF'
export LANG=C.UTF-8
export CACHE=/tmp/krb5cc_$UID OLD=$PATH HERE=$PWD LEVEL=0
[ "$(id -u)" = "$UID" ] && f() { :; } && export -f f
umask 027
ulimit -n 99
complete -F _f one
trap : EXIT
set -o vi
EOF
expect 0 module write -n one
for what in 'the variable CACHE: its value differs between users' "the variable OLD: its value contains the user's PATH" \
    "the variable HERE: its value contains the user's current folder" 'the shell function f' umask 'ulimit -n' \
    'the completion of one' 'the trap on EXIT' 'set -o vi'; do
    err_has "one: not in the module: $what"
    check grep -qF "Only with gpkg activate: $what" "$root/Core/one.lua"
done
check [ "$(grep -c 'Only with gpkg activate' "$root/Core/one.lua")" = 9 ]
check grep -qF 'set("LANG", "C.UTF-8")' "$root/Core/one.lua"
check grep -qF 'set("LEVEL", "0")' "$root/Core/one.lua"

# Root may read an environment that is another's alone.
if [ "$(id -u)" = 0 ]; then
    expect 0 create -n theirs extra
    mkdir -p "$(place theirs)/etc/conda/activate.d"
    echo 'export A=b' > "$(place theirs)/etc/conda/activate.d/a.sh"
    chown -R 65534 "$(place theirs)"
    chmod 700 "$(place theirs)"
    expect 0 module write -n theirs --root "$WORK/theirs"
    check grep -qF 'set("A", "b")' "$WORK/theirs/Core/theirs.lua"
    expect 0 remove -y -n theirs --all
fi

# What has its name taken by others' modules leaves all of them as they are.
expect 0 create -n yard extra
expect 0 module write -n yard --root "$WORK/tools" --as tool/1
expect 0 module write -n one --root "$WORK/tools" --as tool/2
expect 1 module write -n yard --root "$WORK/tools" --as tool
err_has 'Core/tool is a folder of other modules' '--as NAME/VERSION'
check [ "$(cd "$WORK/tools/Core" && find tool* -type f | LC_ALL=C sort | xargs)" = 'tool/1 tool/1.lua tool/2 tool/2.lua' ]

# What cannot be seen is not gone; what moved has its module at once, which stays the default.
expect 0 module write -n yard --root "$WORK/moved" --as tool/1 --default
mv "$(place yard)" "$WORK/volume"
mkdir -m 0 "$(place yard)"
as_nobody() {
    HOME=$WORK TMPDIR=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
if [ "$(id -u)" = 0 ]; then
    chmod -R a+rX "$WORK"
    chmod 0 "$(place yard)"
    out=$(as_nobody "$GPKG" module check --root "$WORK/moved" 2>&1) status=$? err='' last='module check as nobody'
    check [ "$status" = 1 ]
    out_has "the environment $(place yard) is not visible from here"
fi
rmdir "$(place yard)"
mv "$WORK/volume" "$(place yard)"
mkdir "$WORK/other_folder"
expect 0 create -p "$WORK/other_folder/yard" --clone yard
expect 0 remove -y -n yard --all
printf 'envs_dirs: [%s, %s]\n' "$GPKG_ROOT_PREFIX/envs" "$WORK/other_folder" > "$WORK/two_folders.yaml"
GPKG_SYSTEM_CONFIG=$WORK/two_folders.yaml expect 0 module write --all --root "$WORK/moved"
rm "$WORK/two_folders.yaml"
check [ -s "$WORK/moved/Core/yard.lua" ]
check [ ! -e "$WORK/moved/Core/tool" ]

# Who may not read an environment does not read its variables in a module.
(umask 077; "$GPKG" create -q -y -n secret extra; "$GPKG" env config vars set -n secret TOKEN=abc123) > /dev/null 2>&1
expect 0 module write -n secret --root "$WORK/private"
err_has 'not readable by all users'
check [ "$(stat -c %a "$WORK/private/Core/secret.lua" "$WORK/private/Core/secret" | xargs)" = '600 600' ]
# Once it is open to all, so is its module, whatever the umask; also where it is written for the first time.
chmod 755 "$GPKG_ROOT_PREFIX/envs/secret"
chmod 644 "$GPKG_ROOT_PREFIX/envs/secret/conda-meta/state"
expect 1 module check --root "$WORK/private"
out_has 'its read permissions differ from those of the environment'
(umask 077; "$GPKG" module write -n secret --root "$WORK/private"; "$GPKG" module write -n one --root "$WORK/opened") > /dev/null 2>&1
expect 0 module check --root "$WORK/private"
check [ "$(stat -c %a "$WORK"/private/Core/secret* "$WORK/opened" "$WORK/opened/Core" | xargs)" = '644 644 755 755' ]
check [ -z "$(find "$WORK/opened" ! -perm -o=r)" ]

# Names that one of the two module systems cannot load are for the other alone.
for name in torch/2.8+cu126 v=1 gcc@12/1; do
    expect 2 module write -n one --as "$name" --root "$WORK/odd"
    err_has 'is not a valid name for Environment Modules' '--format lua'
done
expect 0 module write -n one --as torch/2.8+cu126 --root "$WORK/odd" --format lua

# Folders that cannot be written to, and environments that are none.
: > "$WORK/file"
expect 1 module write -n one --root "$WORK/file"
err_has "$WORK/file"
expect 1 module write -n none
err_has 'no environment at'
expect 2 module
finish
