# Modules of images, under the real Lmod and the real Environment Modules: loading one brings the image to the disk of
# this machine and mounts it, unloading gives everything back and unmounts it once no shell uses it. As root, where the
# kernel mounts, and as a user without rights, where squashfuse does.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

for program in mksquashfs unsquashfs; do
    command -v $program > /dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "SKIPPED: only root can become other users"; exit 0; }
unshare -m true 2> /dev/null || { echo "SKIPPED: this machine gives no mount namespaces"; exit 0; }

declare -A inits
[ -e /usr/share/lmod/lmod/init/bash ] && inits[lmod]=/usr/share/lmod/lmod/init/bash
kept=$(cd "$here" && python3 -c 'import sys; sys.dont_write_bytecode = True; import modules; print(modules.environment_modules() or "")' \
    "$GPKG" "${MODULES_KEPT:-$WORK/kept}")
[ -n "$kept" ] && inits[em]=$kept/usr/share/modules/init/bash
[ ${#inits[@]} -gt 0 ] || { echo "SKIPPED: neither Lmod nor Environment Modules can be had"; exit 0; }
[ ${#inits[@]} = 2 ] || echo "LEFT OUT: of Lmod and Environment Modules only ${!inits[*]}"

chmod 755 "$WORK"
mkdir -m 1777 "$WORK/shared" "$WORK/tmp"
export PLACEHOLDER=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
environment() { # NAME VERSION: a package with a program, a file that names the prefix, and a script
    script bin/where "cat '$PLACEHOLDER/etc/$1'"
    mkdir -p "$WORK/payload/etc/conda/activate.d"
    echo "$1 $2 in $PLACEHOLDER" > "$WORK/payload/etc/$1"
    cat > "$WORK/payload/etc/conda/activate.d/a.sh" <<'END'
export T_SET="a:b \$x \"q\" 'single'
second line"
export T_LIST="$CONDA_PREFIX/lib${T_LIST:+:$T_LIST}"
export T_WORDS="${T_WORDS:+$T_WORDS }-O2"
unset T_GONE
END
    package "$1" "$2" 0
}
environment one 1.0
environment two 1.0
package plain 1.0 0
expect 0 create -n its-one one
expect 0 create -n its-two two
expect 0 create -n plain plain

# What an ordinary user cannot mount is refused when the module is written.
expect 0 image build -n its-one -o "$WORK/nowhere.sqfs"
expect 1 module write --image "$WORK/nowhere.sqfs" --root "$WORK/modules"
err_has 'users cannot create this mount point' ': / is not writable for all users (mode 1777)' '--mount-point /tmp/ml-$USER'
check [ ! -e "$WORK/modules" ]
# For a mount point that somebody chose, the build already says so.
mkdir -m 755 "$WORK/closed"
expect 0 image build -n its-one -o "$WORK/closed.sqfs" --mount-point "$WORK/closed/mnt/ml"
[ "$(id -u)" != 0 ] ||
    err_has "$WORK/closed/mnt/ml: users cannot create this mount point of the image: $WORK/closed is not writable" \
        'modules cannot mount it, gpkg image run can'
rm -r "$WORK/closed" "$WORK/closed.sqfs"
expect 2 module write --image "$WORK/nowhere.sqfs" -n its-one
expect 2 module write -n its-one --disk /tmp
expect 0 image build -n its-one -o "$WORK/within.sqfs" --mount-point "$WORK/shared/within/one"
# Its module is written where it is to be, also beside the mount point, by whatever way that is named.
mkdir -m 1777 "$WORK/shared/within"
ln -s "$WORK/shared/within" "$WORK/shared/way"
expect 0 module write --image "$WORK/within.sqfs" --root "$WORK/shared/way" --as within
check [ -s "$WORK/shared/within/Core/within.lua" ]
# Another copy of gpkg finds the same.
mkdir "$WORK/other copy"
cp -r "$(dirname "$GPKG")"/{gpkg,libexec} "$WORK/other copy/"
(GPKG="$WORK/other copy/gpkg"; failures=0; expect 0 module check --root "$WORK/shared/within"; exit "$failures")
failures=$((failures + $?))
expect 1 module write --image /etc/passwd
err_has 'not an image made by gpkg'

# journeys TOOL: what is done in bash with its modules. Writes "ok" and "not ok: WHAT" lines, and nothing else that counts.
cat > "$WORK/journeys.sh" <<'END'
say() { if [ "$1" = 0 ]; then echo ok; else printf 'not ok: %s %s: %q\n' "$TOOL" "$WHO" "$2"; fi; }
# fresh SCRIPT: another shell of this user, in which nothing is loaded.
fresh() {
    env -i PATH="$OLD_PATH" HOME="$HOME" INIT="$INIT" MODULES="$MODULES" LMOD_IGNORE_CACHE=1 \
        bash --noprofile --norc -c "source \"\$INIT\"; module use \"\$MODULES/Core\"; $1"
}
# same WHAT: the variables are what they were in the beginning.
same() {
    local now
    now=$(variables)
    [ "$now" = "$before" ]
    say $? "$1: $(diff <(base64 -d <<< "$before" | tr '\0' '\n') <(base64 -d <<< "$now" | tr '\0' '\n'))"
}
# What a module system said, which may break lines where it likes.
said() { tr -s ' \n' ' ' < "$TMP/said"; }
true_() { local what=$1; shift; "$@"; say $? "$what"; }
is() { [ "$2" = "$3" ]; say $? "$1: '$2' is not '$3'"; }
has() { [[ "$2" == *"$3"* ]]; say $? "$1: '$2' lacks '$3'"; }
# Variables but those of the module systems.
variables() { env -0 | sort -z | grep -zvE '^(_|SHLVL|PWD|OLDPWD|LMOD_.*|__LMOD.*|_ModuleTable.*|MODULES_.*|__MODULES.*|MODULEPATH.*|LOADEDMODULES|_LMFILES_|BASH_FUNC_.*)=' | base64 -w0; }
mounted() { grep -c " $PLACE/$1 " /proc/self/mountinfo; }
copies() { ls "$DISK/gpkg-$(id -u)/images" | grep -c '\.sqfs$'; }
# Lmod has status 1 where a load fails; Environment Modules too.
cd /
OLD_PATH=$PATH
export T_LIST=/usr/lib T_GONE='still
there' T_WORDS='-O2 -O2'
source "$INIT"
module use "$MODULES/Core"
before=$(variables)

# Looking at modules mounts nothing.
module show one/1 > /dev/null 2>&1
module whatis one/1 > /dev/null 2>&1
module help one/1 > /dev/null 2>&1
is 'looking mounts' "$(mounted one)" 0
same 'looking'

module load one/1 2> "$TMP/said"
say $? "load: $(cat "$TMP/said")"
has 'the copying is told' "$(said)" 'copying '
is 'mounted' "$(mounted one)" 1
is 'its program' "$(where)" "one 1.0 in $PLACE/one"
is 'prefix' "$CONDA_PREFIX" "$PLACE/one"
is 'called' "$CONDA_DEFAULT_ENV" one
is 'set' "$T_SET" "a:b \$x \"q\" 'single'
second line"
is 'list' "$T_LIST" "$PLACE/one/lib:/usr/lib"
is 'words' "$T_WORDS" '-O2 -O2 -O2'
is 'unset' "${T_GONE-none}" none
is 'local copy' "$(copies)" 1
module unload one/1 2> "$TMP/said"
is 'nothing is said' "$(cat "$TMP/said")" ''
is 'unmounted' "$(mounted one)" 0
same 'given back'

# The copy is there; reload, twice, swap to another image and to an environment, purge.
module load one/1 2> "$TMP/said"
is 'not copied again' "$(cat "$TMP/said")" ''
module reload
is 'reloaded' "$(where)" "one 1.0 in $PLACE/one"
module load one/1
is 'loaded twice' "$(where)" "one 1.0 in $PLACE/one"
module switch one/1 two/1 2> /dev/null
is 'swapped' "$(where)" "two 1.0 in $PLACE/two"
is 'mounts after swap' "$(mounted one) $(mounted two)" '0 1'
module switch two/1 plain
is 'mounts after another' "$(mounted one) $(mounted two)" '0 0'
module switch plain one/1
is 'back' "$(where)" "one 1.0 in $PLACE/one"
module purge
is 'purged' "$(mounted one)" 0
same 'given back after all'

# Two shells at once, one after the other gone; one that ends without a word; a child that unloads what its parent has.
coproc A { fresh 'module load two/1; echo "$$"; read -r; where; module unload two/1; echo left; read -r' 2> /dev/null; }
read -r -u "${A[0]}" line
other=$line
module load two/1
is 'second shell' "$(where)" "two 1.0 in $PLACE/two"
module unload two/1 2> "$TMP/said"
has 'stays' "$(said)" "$PLACE/two: stays mounted: in use by process $other (bash)"
same 'given back, still mounted'
is 'still mounted' "$(mounted two)" 1
echo >&"${A[1]}"
read -r -u "${A[0]}" line
is 'first shell goes on' "$line" "two 1.0 in $PLACE/two"
read -r -u "${A[0]}" line
is 'nobody is left' "$(mounted two)" 0
echo >&"${A[1]}"
wait
fresh 'module load two/1; true'
is 'a shell that ended' "$(mounted two)" 1
module load two/1
bash --noprofile --norc -c 'source "$INIT"; module unload two/1' 2> "$TMP/said"
has 'a child unloads' "$(said)" "in use by process $$ (bash)"
is 'the parent has it' "$(where)" "two 1.0 in $PLACE/two"

# Busy: a process that was started in it, and one that only is there.
sleep 300 &
module unload two/1 2> "$TMP/said"
has 'a child runs' "$(said)" "in use by process $! (sleep)"
kill $!; wait $! 2> /dev/null
module load two/1
cd "$PLACE/two"
module unload two/1 2> "$TMP/said"
has 'someone is there' "$(said)" 'in use by a process with an open file in it'
same 'given back while busy'
cd /
"$GPKG" image unmount "$FILES/two.sqfs"
say $? 'unmount by hand'
is 'gone by hand' "$(mounted two)" 0

# By hand it stays until it is unmounted so.
is 'mount by hand' "$("$GPKG" image mount "$FILES/two.sqfs" --disk "$DISK")" "$PLACE/two"
module load two/1
module unload two/1 2> "$TMP/said"
has 'by hand' "$(said)" 'in use by an earlier gpkg image mount'
module load two/1
"$GPKG" image unmount "$PLACE/two" 2> "$TMP/said"
is 'a module needs it' "$? $(mounted two)" '1 1'
has 'which' "$(said)" "in use by process $$ (bash)"
module unload two/1
is 'nobody needs it' "$(mounted two)" 0

# Its server is killed: cleared, and mounted anew.
if [ "$WHO" = user ]; then
    module load one/1
    kill -9 "$(pgrep -u "$(id -u)" -f "squashfuse.* $PLACE/one\$")"
    true_ 'killed' eval 'for _ in $(seq 100); do where > /dev/null 2>&1 || break; sleep 0.05; done; ! where 2> /dev/null'
    module unload one/1
    same 'given back when killed'
    is 'cleared' "$(mounted one)" 0
    module load one/1
    kill -9 "$(pgrep -u "$(id -u)" -f "squashfuse.* $PLACE/one\$")"
    fresh 'module load one/1; where; module unload one/1' > "$TMP/said" 2>&1
    has 'mounted anew' "$(said)" "one 1.0 in $PLACE/one"
    module unload one/1
fi

# A changed image is another one: not while the old one is in use; then from a copy of its own, and the old one goes.
module load one/1
cp "$FILES/one.sqfs" "$TMP/kept"
cp "$FILES/newer.sqfs" "$TMP/moved" && mv -f "$TMP/moved" "$FILES/one.sqfs"
fresh 'module load one/1; echo "status $? ${CONDA_PREFIX-none} ${T_SET-none}"' > "$TMP/said" 2>&1
has 'in use' "$(said)" "$PLACE/one: another image is mounted here, in use by process $$ (bash)"
has 'not half loaded' "$(said)" 'status 1 none none'
module unload one/1
module load one/1
is 'the new one' "$(where)" "one 2.0 in $PLACE/one"
module unload one/1
is 'the new one alone' "$(ls "$DISK/gpkg-$(id -u)/images" | grep -c '\.sqfs$')" 2
mv "$TMP/kept" "$FILES/one.sqfs"

# What cannot be mounted leaves nothing behind.
mv "$FILES/two.sqfs" "$FILES/away.sqfs"
module load two/1 2> "$TMP/said"
is 'gone' "$?" 1
has 'gone' "$(said)" "$FILES/two.sqfs: no such file"
same 'nothing is set'
rm -f "$DISK/gpkg-$(id -u)/images"/*
python3 - "$FILES/away.sqfs" "$FILES/two.sqfs" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[200] ^= 1
open(sys.argv[2], "wb").write(data)
PYTHON
module load two/1 2> "$TMP/said"
is 'damaged' "$?" 1
has 'damaged' "$(said)" 'the contents do not match the checksum'
same 'nothing is set of it'
is 'no damaged copy' "$(copies)" 0
mv "$FILES/away.sqfs" "$FILES/two.sqfs"
# Somebody else's folder is no place for programs.
END

# journey WHO TOOL COMMAND...: makes them, and counts.
journey() {
    local who=$1 tool=$2 line
    shift 2
    rm -rf "$WORK/disk" "$WORK/tmp/here"
    mkdir -m 1777 "$WORK/disk" "$WORK/tmp/here"
    last="journeys of $who with $tool"
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$WORK/tmp" USER=me LANG=C.UTF-8 LMOD_IGNORE_CACHE=1 GPKG="$GPKG" GPKG_ROOT_PREFIX="$WORK/tmp/root" \
        INIT="${inits[$tool]}" TOOL="$tool" WHO="$who" MODULES="$WORK/shared/modules-$who" PLACE="$WORK/shared/$who" \
        FILES="$WORK/shared/files-$who" DISK="$WORK/disk" TMP="$WORK/tmp/here" "$@" bash --noprofile --norc "$WORK/journeys.sh" \
        > "$WORK/journey" 2> "$WORK/journey.err" < /dev/null
    status=$? out= err=$(tail -n 5 "$WORK/journey.err")
    check [ "$status" = 0 ]
    while read -r line; do
        checks=$((checks + 1))
        [ "$line" = ok ] || fail "$line"
    done < "$WORK/journey"
    check [ "$(grep -c '^ok' "$WORK/journey")" -gt 40 ]
}

# images WHO: both images, a newer one, and their modules.
images() {
    local who=$1 files=$WORK/shared/files-$1 name
    mkdir -p "$files"
    for name in one two; do
        expect 0 image build -n its-$name --as $name -o "$files/$name.sqfs" --mount-point "$WORK/shared/$who/$name"
        expect 0 module write --image "$files/$name.sqfs" --as $name/1 --root "$WORK/shared/modules-$who" --disk "$WORK/disk"
    done
    expect 0 image build -n newer -o "$files/newer.sqfs" --mount-point "$WORK/shared/$who/one" --as one
    expect 0 module write -n plain --as plain --root "$WORK/shared/modules-$who"
}

environment one 2.0
expect 0 create -n newer one=2.0
images root
# A user's file system has to be allowed: by a program with root's rights and a device that all may use.
mknod -m 666 "$WORK/fuse" c 10 229 2> /dev/null
user=(unshare -m sh -c 'mount --bind "$0" /dev/fuse && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' "$WORK/fuse")
if command -v squashfuse > /dev/null && command -v fusermount3 > /dev/null && "${user[@]}" sh -c '"$0" --version && : > "$1"' "$GPKG" /dev/fuse > /dev/null 2>&1; then
    images user
    chown -R 65534:65534 "$WORK/shared/files-user"
else
    echo "LEFT OUT: users, who need squashfuse, fusermount3 and a FUSE device"
    user=()
fi
for tool in "${!inits[@]}"; do
    journey root $tool
    [ ${#user[@]} = 0 ] || journey user $tool "${user[@]}" env
done
# Shells that unload it at the same moment: the last one unmounts it.
for tool in "${!inits[@]}"; do
    last="shells that unload at once with $tool"
    for _ in 1 2 3; do
        for _ in 1 2 3 4 5 6; do
            env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$WORK/tmp" USER=me LANG=C.UTF-8 LMOD_IGNORE_CACHE=1 GPKG_ROOT_PREFIX="$WORK/tmp/root" \
                bash --noprofile --norc -c 'source "$0"; module use "$1"; module load one/1 && sleep 0.3 && module unload one/1' "${inits[$tool]}" "$WORK/shared/modules-root/Core" 2> "$WORK/told" &
        done
        wait
        check [ -z "$(grep "$WORK/shared/root/one" /proc/self/mountinfo)" ]
    done
done
# What root mounts, in a prolog for instance, is there for everybody, also where it is a copy that is mounted.
if [ ${#user[@]} != 0 ]; then
    image=$WORK/shared/files-user/one.sqfs
    for mask in 022 077; do
        rm -rf "$WORK/disk" && mkdir -m 1777 "$WORK/disk"
        kept=$(umask)
        umask $mask
        expect 0 image mount "$image" --disk "$WORK/disk"
        umask "$kept"
        last="a user finds what root mounted with umask $mask"
        out=$("${user[@]}" env HOME=/tmp "$GPKG" image mount "$image" --disk "$WORK/disk" 2> "$WORK/stderr") status=$? err=$(cat "$WORK/stderr")
        check [ "$status $out" = "0 $WORK/shared/user/one" ]
        expect 0 image unmount "$image"
    done
    # But for one that is where the user may not be.
    mkdir -m 700 "$WORK/shared/user"
    expect 0 image mount "$image" --disk "$WORK/disk"
    out=$("${user[@]}" env HOME=/tmp "$GPKG" image mount "$image" --disk "$WORK/disk" 2> "$WORK/stderr") status=$? err=$(cat "$WORK/stderr")
    check [ "$status" = 1 ]
    err_has "$WORK/shared/user: no permission to enter this folder, below which the image is mounted"
    expect 0 image unmount "$image"
    rmdir "$WORK/shared/user"
    # But for an image that others may not read.
    install -m 600 "$image" "$WORK/private.sqfs"
    mkdir "$WORK/disk/private"
    expect 0 image mount "$WORK/private.sqfs" --disk "$WORK/disk/private"
    check [ "$(stat -c %a "$WORK"/disk/private/*/images/*.sqfs)" = 600 ]
    expect 0 image unmount "$WORK/private.sqfs"
    rm -rf "$WORK/shared/user"
fi
# An image that is replaced while it is mounted from where it lies: what is mounted is known by its bytes.
image=$WORK/shared/files-root/one.sqfs
place=$WORK/shared/root/one
cp "$image" "$WORK/first.sqfs"
expect 0 image mount "$image"
by_kernel=$(awk -v at="$place" '$5 == at && / squashfs / { print "yes" }' /proc/self/mountinfo)
cp "$WORK/shared/files-root/newer.sqfs" "$WORK/new" && mv "$WORK/new" "$image"
expect 1 image mount "$image"
err_has 'another image is mounted here, in use by an earlier gpkg image mount'
if [ -n "$by_kernel" ]; then
    last='a user, where root has mounted one'
    chmod 644 "$image"
    as_user() { err=$(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$GPKG" "$@" 2>&1); status=$?; }
    as_user image unmount "$place"
    check [ "$status" = 1 ]
    err_has "$place: mounted by root for all users; only root can unmount it"
    as_user image mount "$image"
    check [ "$status" = 1 ]
    err_has "$place: " '(deleted)' 'is not a gpkg image'
else
    echo 'LEFT OUT: the kernel here mounts no squashfs'
fi
expect 0 image mount "$WORK/first.sqfs" --json
json 'd["was_mounted"]'
expect 0 image unmount "$image"
expect 0 image mount "$image"
check [ "$("$GPKG" run -p "$place" where)" = "one 2.0 in $place" ]
expect 0 image unmount "$place"
cp "$WORK/first.sqfs" "$image"
# One whose program was killed leaves no folder behind.
if [ ${#user[@]} != 0 ]; then
    last='the program of a mount is killed'
    err=$("${user[@]}" env HOME=/tmp GPKG="$GPKG" sh -c '"$GPKG" image mount "$1" && pkill -KILL -U 65534 -f "squash[f]use.*$1" && sleep 0.2; "$GPKG" image unmount "$1"' sh "$WORK/shared/files-user/one.sqfs" 2>&1)
    err_has 'no image is mounted here'
fi
# A command of image run has a mount of its own: the one for all shells goes without waiting for it, and nothing is left to note.
if [ ${#user[@]} != 0 ]; then
    last='image unmount beside image run'
    key=$(printf %s "$WORK/shared/user/one" | sha256sum | head -c 16)
    rm -f "$WORK/shared/in" "$WORK/shared/go"
    out=$("${user[@]}" env HOME=/tmp TMPDIR="$WORK/shared" sh -c '"$0" image mount "$1" > "$2/said" || exit
        "$0" image run "$1" -- sh -c "touch $2/in; until [ -e $2/go ]; do sleep 0.02; done; where" &
        for _ in $(seq 500); do [ -e "$2/in" ] && break; sleep 0.02; done
        ls "/tmp/gpkg-65534/mounts/$3"
        "$0" image unmount "$1"; echo $?
        touch "$2/go"; wait
        ls "/tmp/gpkg-65534/mounts"' "$GPKG" "$WORK/shared/files-user/one.sqfs" "$WORK/shared" "$key" 2> "$WORK/stderr") err=$(cat "$WORK/stderr")
    out_is "by-hand
lock
0
one 1.0 in $WORK/shared/user/one"
    check [ ! -e "$WORK/shared/user" ]
fi
# A user's command at a place keeps what it sees there when root unmounts what was there before; and while it runs, root
# finds the module of that image as it is, and can write it.
begin() {
    rm -f "$WORK/shared/in" "$WORK/shared/go"
    HOME=/tmp TMPDIR=$WORK/shared setpriv --reuid=65534 --regid=65534 --clear-groups "$GPKG" image run "$WORK/run.sqfs" -- \
        sh -c 'touch "$0/in"; until [ -e "$0/go" ]; do sleep 0.02; done; where; ls -d "$CONDA_PREFIX"' "$WORK/shared" > "$WORK/said" 2> "$WORK/told" < /dev/null &
    for _ in $(seq 500); do [ -e "$WORK/shared/in" ] && break; sleep 0.02; done
    check [ -e "$WORK/shared/in" ]
}
end() {
    touch "$WORK/shared/go"
    wait $!
    check [ "$? $(tr '\n' ' ' < "$WORK/said")" = "0 one 1.0 in $WORK/shared/run/one $WORK/shared/run/one " ]
}
expect 0 image build -n its-one --as one -o "$WORK/run.sqfs" --mount-point "$WORK/shared/run/one"
expect 0 module write --image "$WORK/run.sqfs" --as run/1 --root "$WORK/modules-run"
begin
expect 0 module check --root "$WORK/modules-run"
expect 0 module write --image "$WORK/run.sqfs" --as run/1 --root "$WORK/modules-run"
err_has 'all modules are up to date'
err_lacks 'you cannot create or use it'
end
expect 0 image mount "$WORK/run.sqfs"
begin
expect 0 image unmount "$WORK/run.sqfs"
end
expect 1 image unmount "$WORK/run.sqfs"
check [ ! -e "$WORK/shared/run" ]
# What root mounts for all stays while anybody has it: who has loaded its module, and what was started in it.
for tool in "${!inits[@]}" none; do
    expect 0 image mount "$WORK/run.sqfs"
    rm -f "$WORK/shared/in" "$WORK/shared/go"
    setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH="$PATH" HOME=/tmp USER=me LANG=C.UTF-8 LMOD_IGNORE_CACHE=1 TOOL=$tool INIT="${inits[$tool]-}" MODULES="$WORK/modules-run/Core" SHARED="$WORK/shared" \
        bash --noprofile --norc -c 'if [ "$TOOL" = none ]; then CONDA_PREFIX=$SHARED/run/one sh -c "echo \$\$ > $SHARED/in; until [ -e $SHARED/go ]; do sleep 0.02; done"; exit; fi
            source "$INIT"; module use "$MODULES"; module load run/1; where > "$SHARED/in.part"; echo $$ > "$SHARED/in"
            until [ -e "$SHARED/go" ]; do command -p -- env -u CONDA_PREFIX sleep 0.02; done; module unload run/1' > /dev/null 2> "$WORK/told" &
    for _ in $(seq 500); do [ -s "$WORK/shared/in" ] && break; sleep 0.02; done
    expect 1 image unmount "$WORK/run.sqfs"
    err_has "$WORK/shared/run/one: stays mounted: in use by process $(cat "$WORK/shared/in") ("
    check [ -x "$WORK/shared/run/one/bin/where" ]
    touch "$WORK/shared/go"
    wait $!
    expect 0 image unmount "$WORK/run.sqfs"
done
rm -f "$WORK/shared/in.part"
check [ -z "$(grep "$WORK" /proc/self/mountinfo)" ]
check [ -z "$(ls -d "$WORK/shared/root" "$WORK/shared/user" 2> /dev/null)" ]
rm -rf /tmp/gpkg-65534

# Which are stale: another image, another text, an image that is gone; --all keeps what has an image.
root=$WORK/shared/modules-root files=$WORK/shared/files-root
expect 0 module check --root "$root"
expect 0 module write --all --root "$root"
check [ -f "$root/Core/one/1.lua" ]
expect 0 module write --image "$files/one.sqfs" --root "$root" --disk "$WORK/disk"
err_has 'all modules are up to date'
echo '-- mine' >> "$root/Core/one/1.lua"
expect 1 module check --root "$root"
out_has 'one/1.lua: its text or the activation has changed'
cp "$files/newer.sqfs" "$files/one.sqfs"
expect 1 module check --root "$root" --json
json '[m["reason"] for m in d["modules"] if m["image"] == work + "/shared/files-root/one.sqfs"] == ["the image has changed"] * 2'
expect 0 module write --image "$files/one.sqfs" --root "$root" --disk "$WORK/disk"
expect 0 module check --root "$root"
expect 0 image build -n newer -o "$files/one.sqfs" --mount-point "$WORK/shared/root/elsewhere" --as one
expect 1 module check --root "$root"
err_has 'gpkg module write --image FILE'
expect 0 module write --image "$files/one.sqfs" --root "$root" --disk "$WORK/disk"
expect 0 module check --root "$root"
check grep -q "$WORK/shared/root/elsewhere" "$root/Core/one/1.lua"
# Two images with one mount point are two modules.
expect 0 image build -n newer -o "$files/other.sqfs" --mount-point "$WORK/shared/root/elsewhere" --as one
expect 0 module write --image "$files/other.sqfs" --as one/2 --root "$root" --disk "$WORK/disk"
out_lacks 'removed'
check [ -f "$root/Core/one/1.lua" ]
rm "$files/other.sqfs"
expect 0 module write --all --root "$root"
check [ ! -e "$root/Core/one/2.lua" ]
rm "$files/two.sqfs"
expect 1 module check --root "$root"
out_has "two/1.lua: the image $files/two.sqfs no longer exists"
expect 0 module write --all --root "$root"
check [ ! -e "$root/Core/two/1.lua" ]

# A folder above the mount point that others could replace is no place for programs.
mkdir -m 777 "$WORK/open"
expect 0 image build -n its-two -o "$WORK/open.sqfs" --mount-point "$WORK/open/two"
expect 1 image mount "$WORK/open.sqfs"
err_has "$WORK/open: other users can change this folder"

# What cannot be noted does not stay mounted: here no file is left for that.
expect 0 image build -n its-two -o "$WORK/noted.sqfs" --mount-point /mnt/shared/noted/two
last='gpkg image mount where /tmp has no room for another file'
cat > "$WORK/noted.sh" <<'END'
mkdir "$1/program"  # the program may be below /tmp
mount --make-rprivate / && mount --bind "$(dirname "$0")" "$1/program" && mount --rbind "$1" /mnt && mount -t tmpfs -o nr_inodes=5,mode=1777 none /tmp && cd / || exit 99
export TMPDIR=/mnt/tmp HOME=/mnt/home GPKG_ROOT_PREFIX=/mnt/root
/mnt/program/gpkg image mount /mnt/noted.sqfs
echo "$? $(grep -c /mnt/shared/noted/two /proc/self/mounts) $(ls -d /mnt/shared/noted 2> /dev/null)"
END
out=$(unshare -m sh -c '. "$2"' "$GPKG" "$WORK" "$WORK/noted.sh" 2> "$WORK/stderr") status=$? err=$(cat "$WORK/stderr")
[ "$status" = 99 ] && echo 'LEFT OUT: a full /tmp, which cannot be had here'
[ "$status" = 99 ] || { err_has '/by-hand: cannot write'; out_is '1 0 '; }
# Of what is gone nothing is left that says who used it.
check [ -z "$(ls -A "/tmp/gpkg-0/mounts" | grep "$(printf %s "$WORK/shared/run/one" | sha256sum | head -c 16)")" ]

# Nor is one of the system's, whatever an image says, for all users of the machine; nor one with something in it.
belongs() { # PLACE: says so of another image
    python3 - "$WORK/open.sqfs" "$WORK/claims.sqfs" "$1" <<'END'
import json, sys
data = open(sys.argv[1], "rb").read()
mark = b"gpkg image 1\n"
begin = data.rindex(mark)
told = json.loads(data[begin + len(mark):].rstrip(b"\0"))
told["mount_point"] = sys.argv[3]
told = mark + json.dumps(told).encode() + b"\n"
open(sys.argv[2], "wb").write(data[:begin] + told.ljust(len(data) - begin, b"\0"))
END
}
# alone VERB PLACE: in a namespace of its own, for whatever happens
alone() {
    belongs "$2"
    last="gpkg image $1 of an image for $2"
    err=$(unshare -m sh -c 'mount --make-rprivate / && cd / && exec timeout 20 "$0" image "$@"' "$GPKG" "$1" "$WORK/claims.sqfs" -- ${3-} 2>&1 > "$WORK/stdout") status=$? out=$(cat "$WORK/stdout")
    checks=$((checks + 1))
}
for place in /etc /etc/cron.d/gpkg /usr/bin /usr/local/gpkg-test/ml /tmp /dev/shm /var/gpkg-test /proc/x /run/gpkg-test; do
    alone mount $place
    check [ "$status" = 1 ]
    err_has "$place: a system folder, where images cannot be mounted"
done
alone mount /dev/shm/gpkg-test-$$/ml
check [ "$status $out" = "0 /dev/shm/gpkg-test-$$/ml" ]
rmdir /dev/shm/gpkg-test-$$/ml /dev/shm/gpkg-test-$$
alone run /proc/x true
check [ "$status" = 1 ]
err_has '/proc/x: cannot create the mount point of the image'
for verb in mount run; do
    alone $verb / $([ $verb = mount ] || echo true)
    check [ "$status" = 1 ]
    err_has "$WORK/claims.sqfs: not an image made by gpkg"
done
expect 0 image build -n its-two -o "$WORK/usr.sqfs" --mount-point /usr
err_has "/usr: a system folder, where images cannot be mounted; the image works only with gpkg image run"
expect 1 module write --image "$WORK/usr.sqfs" --root "$WORK/modules-usr"
err_has "/usr: a system folder"
mkdir "$WORK/full" && echo kept > "$WORK/full/file"
expect 0 image build -n its-two -o "$WORK/full.sqfs" --mount-point "$WORK/full"
expect 1 image mount "$WORK/full.sqfs"
err_has "$WORK/full: not empty; the image would hide its contents"
check [ "$(cat "$WORK/full/file")" = kept ]
expect 1 module write --image "$WORK/full.sqfs" --root "$WORK/modules-usr"
err_has "$WORK/full: not empty"
finish
