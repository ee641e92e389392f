# What the end-to-end tests share. A test is a script that sources this file; it runs the program
# $GPKG in a world of its own (home, root prefix, channel) below $WORK, and prints what it checks.
# Needs bash, coreutils, tar, bzip2 and python3.

set -u
: "${GPKG:?the program under test}"
GPKG=$(readlink -f "$GPKG")
E2E=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A version manager's python3 looks up which one it stands for at every start: that is done once.
PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH

WORK=$(mktemp -d "${TMPDIR:-/tmp}/gpkg-e2e.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(CONDA_|_CE_|GPKG_|MAMBA_)')
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy
export HOME=$WORK/home GPKG_ROOT_PREFIX=$WORK/root NO_COLOR=1 LC_ALL=C.UTF-8 CONDA_SUBDIR=linux-64
# No test asks the driver of the machine it happens to run on.
export CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_GLIBC=2.36 CONDA_OVERRIDE_LINUX=6.1
mkdir -p "$HOME" "$GPKG_ROOT_PREFIX" "$WORK/here"
cd "$WORK/here" || exit 1
# LD_PRELOAD takes blanks for separators, and the folder of the build may have one in its name.
for library in STRIKE_LIBRARY NETWORK_DISK_LIBRARY; do
    [ -z "${!library-}" ] || { cp "${!library}" "$WORK/" && export "$library=$WORK/${!library##*/}"; }
done
CHANNEL=$WORK/channel
printf 'channels:\n  - file://%s\n' "${CHANNEL// /%20}" > "$GPKG_ROOT_PREFIX/config.yaml"

checks=0
failures=0

# fail TEXT: one check went wrong; shows the last command's outcome.
fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  command: %s\n  status: %s\n' "$1" "${last-}" "${status-}"
    printf '  stdout:\n%s\n  stderr:\n%s\n' "${out-}" "${err-}"
}

# gpkg WORDS...: runs the program without a terminal; sets $status, $out and $err.
gpkg() {
    last="gpkg $*"
    "$GPKG" "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    status=$?
    out=$(cat "$WORK/stdout")
    err=$(cat "$WORK/stderr")
}

# answer KEYS WORDS...: runs gpkg on a terminal of its own and types KEYS at its question; with ";" in
# between, the next part at the next question. Sets $status and $out.
answer() { on_terminal "--keys=$1" -- "${@:2}"; }
# on_terminal OPTION... -- WORDS...: the same with options of terminal.py.
on_terminal() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    last="gpkg $* on a terminal (${options[*]})"
    out=$(python3 "$E2E/terminal.py" "${options[@]}" "$GPKG" "$@")
    status=$? err=
}

# expect STATUS WORDS...: runs gpkg and compares its exit status.
expect() {
    local wanted=$1
    shift
    gpkg "$@"
    checks=$((checks + 1))
    [ "$status" = "$wanted" ] || fail "expected exit status $wanted"
}

out_has() {
    local text
    for text in "$@"; do
        checks=$((checks + 1))
        [[ "$out" == *"$text"* ]] || fail "stdout lacks: $text"
    done
}
out_lacks() { checks=$((checks + 1)); [[ "$out" != *"$1"* ]] || fail "stdout has: $1"; }
err_lacks() { checks=$((checks + 1)); [[ "$err" != *"$1"* ]] || fail "stderr has: $1"; }
out_ends() { checks=$((checks + 1)); [[ $'\n'"$out" == *$'\n'"$1" ]] || fail "stdout does not end with: $1"; }
out_is() { checks=$((checks + 1)); [ "$out" = "$1" ] || fail "stdout is not: $1"; }
err_has() {
    local text
    for text in "$@"; do
        checks=$((checks + 1))
        [[ "$err" == *"$text"* ]] || fail "stderr lacks: $text"
    done
}
err_is() { checks=$((checks + 1)); [ "$err" = "$1" ] || fail "stderr is not: $1"; }
check() { checks=$((checks + 1)); last=$*; "$@" || fail "false: $*"; }

# json EXPRESSION: stdout is one JSON document d, and the Python expression about it holds.
json() {
    checks=$((checks + 1))
    printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
work, channel = sys.argv[2], sys.argv[3]
sys.exit(0 if eval("(" + sys.argv[1] + ")") else 1)' "$1" "$WORK" "$CHANNEL" 2> "$WORK/json" ||
        fail "JSON does not satisfy: $1 $(tail -n 1 "$WORK/json")"
}

# records ENVIRONMENT EXPRESSION: the Python expression holds; r has the environment's conda-meta
# records by package name, history is the text of its history.
records() {
    checks=$((checks + 1))
    last="records of $1"
    python3 -c '
import glob, json, sys
prefix, work, channel = sys.argv[2:]
loaded = [json.load(open(path)) for path in glob.glob(glob.escape(prefix) + "/conda-meta/*.json")]
r = {record["name"]: record for record in loaded if "name" in record}
history = open(prefix + "/conda-meta/history").read()
sys.exit(0 if eval(sys.argv[1]) else 1)' "$2" "$(place "$1")" "$WORK" "$CHANNEL" 2> "$WORK/json" ||
        fail "records of $1 do not satisfy: $2 $(tail -n 1 "$WORK/json")"
}

# Where an environment is: a path stays, a name is below the root prefix.
place() {
    case $1 in
        /*) printf %s "$1" ;;
        *) printf %s "$GPKG_ROOT_PREFIX/envs/$1" ;;
    esac
}

# has ENVIRONMENT NAME-VERSION...: exactly these packages are recorded as installed.
has() {
    local name=$1 wanted found
    shift
    checks=$((checks + 1))
    wanted=$(printf '%s-0.json\n' "$@" | sort)
    [ $# = 0 ] && wanted=
    found=$(cd "$(place "$name")/conda-meta" && ls | grep 'json$' | sort)
    [ "$found" = "$wanted" ] || fail "$name has $(echo $found), not $(echo $wanted)"
}

# absent ENVIRONMENT: there is none, nor anything of an unfinished one, and the store is clean.
absent() {
    checks=$((checks + 1))
    local at
    at=$(place "$1")
    [ ! -e "$at" ] || fail "$1 exists"
    clean "$(dirname "$at")"
}

# clean [FOLDER]: no unfinished work lies in the store and in the folder of environments.
clean() {
    local found
    checks=$((checks + 1))
    found=$(find "$GPKG_ROOT_PREFIX/pkgs" "${1:-$GPKG_ROOT_PREFIX/envs}" -maxdepth 1 \
        \( -name '.tmp-*' -o -name '.*gpkg-*' \) 2> "$WORK/find")
    [ -z "$found" ] || fail "left behind: $found"
}

# package NAME VERSION BUILD [DEPENDENCY...]: adds a .tar.bz2 to the channel. What lies in
# $WORK/payload goes into it, and is gone afterwards. SUBDIR, BUILD_NUMBER, TIMESTAMP (milliseconds),
# NOARCH (of a noarch package; generic when not set) and PLACEHOLDER (the prefix that files were
# built with) may be set, as may EXTRAS, '"GROUP":["SPEC", ...], ...': with it, or with a condition in
# a dependency, the record stands under v3. The payload may have an info folder.
package() {
    local name=$1 version=$2 build=$3 subdir=${SUBDIR:-linux-64} dir=$WORK/package
    shift 3
    local depends
    depends=$(printf '"%s",' "${@//\"/\\\"}")
    [ $# = 0 ] && depends=
    mkdir -p "$WORK/payload" "$CHANNEL/$subdir" "$CHANNEL/noarch"
    rm -rf "$dir"
    mv "$WORK/payload" "$dir"
    mkdir -p "$dir/info"
    local number=${BUILD_NUMBER:-0}
    local common="\"name\":\"$name\",\"version\":\"$version\",\"build\":\"$build\""
    common+=",\"build_number\":$number,\"depends\":[${depends%,}],\"subdir\":\"$subdir\""
    [ -n "${EXTRAS-}" ] && common+=",\"extra_depends\":{$EXTRAS}"
    [ "$subdir" = noarch ] && common+=",\"noarch\":\"${NOARCH:-generic}\""
    printf '{%s}' "$common" > "$dir/info/index.json"
    local comma= file placeholder
    {
        printf '{"paths_version":1,"paths":['
        (cd "$dir" && find . ! -type d ! -path './info/*' | sort) | while read -r file; do
            placeholder=
            if [ -L "$dir/$file" ]; then
                [[ -n "${PLACEHOLDER-}" && $(readlink "$dir/$file") == "$PLACEHOLDER"/* ]] &&
                    placeholder=",\"prefix_placeholder\":\"$PLACEHOLDER\",\"file_mode\":\"text\""
                printf '%s{"_path":"%s","path_type":"softlink"%s}' "$comma" "${file#./}" "$placeholder"
                comma=,
                continue
            fi
            if [ -n "${PLACEHOLDER-}" ] && grep -qF "$PLACEHOLDER" "$dir/$file"; then
                placeholder=",\"prefix_placeholder\":\"$PLACEHOLDER\",\"file_mode\":\"$(
                    grep -qI . "$dir/$file" && printf text || printf binary)\""
            fi
            printf '%s{"_path":"%s","path_type":"hardlink","sha256":"%s","size_in_bytes":%s%s}' \
                "$comma" "${file#./}" "$(sha256sum < "$dir/$file" | cut -d' ' -f1)" \
                "$(stat -c %s "$dir/$file")" "$placeholder"
            comma=,
        done
        printf ']}'
    } > "$dir/info/paths.json"
    (cd "$dir" && find . ! -type d ! -path './info/*' | sed 's,^\./,,' | sort) > "$dir/info/files"
    local fn=$name-$version-$build.tar.bz2 key=$name-$version-$build.tar.bz2 list=records.$subdir
    local archive=$CHANNEL/$subdir/$fn
    [[ -n "${EXTRAS-}" || "$depends" == *when=* ]] && key=$name-$version-$build list=v3.$subdir
    tar -C "$dir" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1700000000 \
        -cjf "$archive" .
    printf '"%s":{%s,"sha256":"%s","md5":"%s","size":%s,"timestamp":%s}\n' \
        "$key" "$common" "$(sha256sum < "$archive" | cut -d' ' -f1)" \
        "$(md5sum < "$archive" | cut -d' ' -f1)" "$(stat -c %s "$archive")" \
        "${TIMESTAMP:-1700000000000}" \
        >> "$WORK/$list"
    index
}

# Writes the repodata.json of every subdir of the channel.
index() {
    local subdir
    for subdir in linux-64 noarch linux-aarch64 osx-arm64; do
        [[ $subdir == linux-aarch64 || $subdir == osx-arm64 ]] && [ ! -e "$WORK/records.$subdir" ] && continue
        mkdir -p "$CHANNEL/$subdir"
        touch "$WORK/records.$subdir" "$WORK/v3.$subdir"
        printf '{"info":{"subdir":"%s"},"packages":{%s},"packages.conda":{},"v3":{"tar.bz2":{%s}}}' \
            "$subdir" "$(paste -sd, "$WORK/records.$subdir")" "$(paste -sd, "$WORK/v3.$subdir")" \
            > "$CHANNEL/$subdir/repodata.json"
    done
}

# script PATH LINES...: an executable shell script in the payload of the next package.
script() {
    local path=$WORK/payload/$1
    shift
    mkdir -p "$(dirname "$path")"
    printf '#!/bin/sh\n' > "$path"
    printf '%s\n' "$@" >> "$path"
    chmod +x "$path"
}

# recipe NAME LINES...: a recipe in r/NAME.
recipe() {
    local folder=r/$1
    mkdir -p "$folder"
    printf 'package: {name: %s, version: "1"}\n' "$1" > "$folder/recipe.yaml"
    shift
    printf '%s\n' "$@" >> "$folder/recipe.yaml"
}

# To be called at the end of every test.
finish() {
    printf '%s checks, %s failed\n' "$checks" "$failures"
    [ "$failures" = 0 ] || exit 1
}
