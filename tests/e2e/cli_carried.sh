# gpkg carried elsewhere (recipes/gpkg): a folder that runs where there is no C library, or an older one
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"
command -v bwrap > /dev/null && bwrap --ro-bind / / true 2> /dev/null || { echo 'skipped: bubblewrap cannot be used here'; finish; exit; }
[ "$(uname -m)" = x86_64 ] || { echo 'skipped: not an x86-64 machine'; finish; exit; }

carry=$here/../../recipes/gpkg/carry
check "$carry" "$GPKG" "$WORK/made"
check test -x "$WORK/made/bin/gpkg"
last='carry over what is there'
"$carry" "$GPKG" "$WORK/made" 2> "$WORK/stderr" && fail 'expected a refusal'
last='carry outside of the repository'
mkdir -p "$WORK/alone/recipes/gpkg"
cp "$carry" "$(dirname "$carry")/launcher.cpp" "$WORK/alone/recipes/gpkg"
"$WORK/alone/recipes/gpkg/carry" "$GPKG" "$WORK/half/made" 2> "$WORK/stderr" && fail 'expected a refusal'
err=$(cat "$WORK/stderr")
err_has 'carry: LICENSE not found; run carry from the repository'
check [ ! -e "$WORK/half" ]
mkdir "$WORK/other place"
mv "$WORK/made" "$WORK/other place/gpkg"
carried="$WORK/other place/gpkg"

# elsewhere WORDS...: the carried gpkg, in a root that holds nothing else.
machine=()
elsewhere() {
    last="elsewhere gpkg $*"
    bwrap --tmpfs / --proc /proc --dev /dev --bind "$WORK" "$WORK" --ro-bind "$carried" /opt/gpkg "${machine[@]}" --clearenv \
        --setenv HOME "$WORK/home" --setenv GPKG_ROOT_PREFIX "$GPKG_ROOT_PREFIX" \
        /opt/gpkg/bin/gpkg "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
    checks=$((checks + 1))
}
works() { elsewhere "$@"; [ "$status" = 0 ] || fail 'expected exit status 0'; }

# No C library at all: it says so, and does its work, downloads included.
works --version
out_is "$("$GPKG" --version)"
works --help
out_has /opt/gpkg/share/doc/gpkg/index.md
works info --json
json 'not any(p[0] == "__glibc" for p in d["virtual_pkgs"])'
printf '#include <stdio.h>\nint main(void) { puts("hello"); }\n' > hello.c
mkdir -p "$WORK/payload/bin"
cc -static -o "$WORK/payload/bin/hello" hello.c
package hello 1.0 0
works create -y -n e hello
works run -n e hello
out_is hello
control=$WORK/control
mkdir "$control"
python3 "$here/http_server.py" "$WORK" "$control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$control/port" ] && break; sleep 0.05; done
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
works create -y -n web -c "http://127.0.0.1:$(cat "$control/port")/channel" --override-channels hello
works verify -n web
works shell-hook -s bash
out_has /opt/gpkg/bin/gpkg

# The C library is that of the machine, not its own; what asks for a newer one is not installed.
mkdir "$WORK/lib64"
touch "$WORK/lib64/ld-linux-x86-64.so.2"
echo 'GNU C Library (GNU libc) stable release version 2.28.' > "$WORK/lib64/libc.so.6"
machine=(--ro-bind "$WORK/lib64" /lib64)
works info --json
json '["__glibc", "2.28", "0"] in [p[:3] for p in d["virtual_pkgs"]]'
package new 1.0 0 '__glibc >=2.29'
package old 1.0 0 '__glibc >=2.28'
elsewhere create -y -n n new
check [ "$status" = 1 ]
err_has __glibc
works create -y -n o old

# As a conda package, in an environment, started by way of a link; the licences come with it.
mkdir -p recipes/gpkg build
cp "$here/../../recipes/gpkg/recipe.yaml" recipes/gpkg/
cp -r "$carried" build/carried
expect 0 build recipes/gpkg --output-dir "$CHANNEL" --zstd-level 3
expect 0 create -y -n own gpkg
ln -s "$GPKG_ROOT_PREFIX/envs/own/bin/gpkg" "$WORK/link"
check [ "$("$WORK/link" --version | cut -d' ' -f2)" = "$("$GPKG" --version | cut -d' ' -f2)" ]
records own 'not any(d.startswith("__glibc") for d in r["gpkg"]["depends"])'
check [ "$(ls "$GPKG_ROOT_PREFIX/envs/own/libexec/gpkg/licenses" | wc -l)" -gt 20 ]
# Programs that it starts are the machine's, with the machine's libraries.
last='gpkg run, from the carried one'
check [ "$("$WORK/link" run -n own sh -c 'echo ${LD_LIBRARY_PATH-none}')" = none ]

printf 'carried: %s MB in %s files\n' "$(du -sm "$carried" | cut -f1)" "$(find "$carried" -type f | wc -l)"
finish
