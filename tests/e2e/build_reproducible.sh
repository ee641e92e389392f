# The same inputs make the same bytes: by two users, in two folders, from two copies of the recipes, under
# another umask, time, time zone, locale and number of jobs. Both formats, read back by cph.
. "$(dirname "$0")/lib.sh"
command -v cc > /dev/null && command -v ar > /dev/null || { echo 'skipped: no compiler here'; finish; exit; }

# A library whose debug information and archives name folders, users and times wherever they can.
mkdir -p r/native/src r/pure r/given r/empty r/tool
cat > r/native/src/greet.c <<'END'
#include <given.h>
#include <stdio.h>
const char *where(void) { return __FILE__; }
void greet(void) { printf("%s %d\n", where(), GIVEN); }
END
cat > r/native/build.sh <<'END'
# Environments are linked for the paths by which the script sees them.
[ "$(tool)" = "$BUILD_PREFIX" ] && [ "$(cat "$PREFIX/share/given")" = "$PREFIX" ]
mkdir -p "$PREFIX"/{lib,bin,share/native/empty,share/native/many}
cc -g -O1 -fPIC -I"$PREFIX/include" -c "$SRC_DIR/greet.c" -o greet.o
cc -g -O1 -shared -fPIC -Wl,--build-id -Wl,-soname,libgreet.so.1 -Wl,-rpath,"$PREFIX/lib" \
    -I"$PREFIX/include" -o "$PREFIX/lib/libgreet.so.1" "$SRC_DIR/greet.c" "$RECIPE_DIR/more.c"
ar rc "$PREFIX/lib/libgreet.a" greet.o
ln -s libgreet.so.1 "$PREFIX/lib/libgreet.so"
ln -s "$PREFIX/lib/libgreet.so.1" "$PREFIX/share/native/absolute"
ln -s ../nowhere "$PREFIX/share/native/dangling"
# In an order that is another one each time; the folder then lists them so on some file systems.
for i in $(seq 60 | shuf); do echo "$i" > "$PREFIX/share/native/many/$i"; done
printf '#!/bin/sh\necho %s\n' "$PREFIX" > "$PREFIX/bin/hello"
chmod 755 "$PREFIX/bin/hello"
umask 077
echo private > "$PREFIX/share/native/private"
tar czf "$PREFIX/share/native/sources.tar.gz" -C "$SRC_DIR" greet.c
gzip -c "$SRC_DIR/greet.c" > "$PREFIX/share/native/greet.c.gz"
{ id -un; id -u; hostname; pwd; umask; echo "$TZ $LC_ALL $SOURCE_DATE_EPOCH"; } > "$PREFIX/share/native/told"
END
echo 'int more(void) { return sizeof(__FILE__); }' > r/native/more.c
cat > r/native/recipe.yaml <<'END'
package: {name: native, version: "1"}
source: {path: src}
build: {script: build.sh}
requirements: {build: [tool], host: [given]}
about: {summary: names everything, license: MIT, license_file: greet.c}
tests: [{script: [hello]}]
END
cat > r/given/recipe.yaml <<'END'
package: {name: given, version: "1"}
build:
  script:
    - mkdir $PREFIX/include $PREFIX/share
    - echo $PREFIX > $PREFIX/share/given
    - 'echo "#define GIVEN 7" > $PREFIX/include/given.h'
    - 'echo "static inline const char *given(void) { return __FILE__; }" >> $PREFIX/include/given.h'
END
cat > r/tool/recipe.yaml <<'END'
package: {name: tool, version: "1"}
build: {script: ['mkdir $PREFIX/bin', 'printf "#!/bin/sh\necho $PREFIX" > $PREFIX/bin/tool', 'chmod +x $PREFIX/bin/tool']}
END
cat > r/pure/recipe.yaml <<'END'
package: {name: pure, version: "1"}
build:
  noarch: python
  python: {entry_points: [pure = pure:main]}
  script:
    - mkdir -p $PREFIX/lib/python3.11/site-packages/pure $PREFIX/bin
    - 'echo "def main(): print(1)" > $PREFIX/lib/python3.11/site-packages/pure/__init__.py'
    - cd $PREFIX/lib/python3.11/site-packages; /usr/bin/python3 -c 'import pure'
    - echo tool > $PREFIX/bin/tool; chmod +x $PREFIX/bin/tool
END
# Byte code of an import goes by times, that of compileall need not.
cat > r/empty/recipe.yaml <<'END'
package: {name: empty, version: "1"}
build:
  script:
    - mkdir -p $PREFIX/only/folders $PREFIX/lib/python3.11/site-packages
    - 'echo "x = {1, 2, 3, \"a\", \"b\"}" > $PREFIX/lib/python3.11/site-packages/sets.py'
    - cd $PREFIX/lib/python3.11/site-packages; /usr/bin/python3 -m compileall -q .
    - /usr/bin/python3 -c 'import this' > /dev/null
    - 'echo "y = 1" > imported.py; /usr/bin/python3 -c "import imported"'
END

sandbox=auto
if ! bwrap --unshare-user --unshare-net --ro-bind / / true 2> /dev/null; then
    echo 'skipped: bubblewrap does not work here, and without it debug information names the build folder'
    rm -r r/native
    sandbox=off
fi

# Of the second user all is another's: nothing of the first is readable for him but the program.
chmod 755 "$WORK"
cp "$GPKG" "$WORK/gpkg"
mkdir "$WORK/other"
other="$WORK/other/a much-longer/place"
mkdir -p "$other"
as_other=()
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    as_other=(setpriv --reuid 12345 --regid 12345 --clear-groups)
    "${as_other[@]}" test -x "$WORK/gpkg" || { as_other=(); echo "skipped: another user, who may not look into $WORK"; }
else
    echo 'skipped: another user (this is not root, or there is no setpriv)'
fi
if command -v faketime > /dev/null; then
    as_other+=(faketime -f '+400d')
else
    echo 'skipped: another time (faketime is not installed)'
fi
(umask 077 && cp -r r "$other/recipes" && find "$other/recipes" -exec touch -h -d '2001-02-03' {} +)
[ "${as_other[0]-}" = setpriv ] && chown -R 12345:12345 "$WORK/other"

export SOURCE_DATE_EPOCH=1700000000
# first FORMAT, second FORMAT: build everything.
first() { gpkg build r --output-dir "first-$1" --package-format "$1" --sandbox "$sandbox" -j 1; }
second() {
    last="second $1"
    (umask 077 && cd "$other" && TZ=Asia/Kathmandu LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 HOME=$other/home \
        GPKG_ROOT_PREFIX=$other/root "${as_other[@]}" "$WORK/gpkg" build recipes --output-dir out-"$1" \
        --work-dir "$other/elsewhere-$1" --package-format "$1" --sandbox "$sandbox" -j 4) \
        > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}
for format in conda tar-bz2; do
    ending=${format/tar-bz2/tar.bz2}
    first "$format"
    [ "$status" = 0 ] || fail "the first build as $format"
    second "$format"
    [ "$status" = 0 ] || fail "the second build as $format"
    check [ "$(find "first-$format" -name "*.$ending" | wc -l)" = "$(find r -name recipe.yaml | wc -l)" ]
    for package in "first-$format"/*/*."$ending"; do
        check cmp "$package" "$other/out-$format/${package#*/}"
    done
done

# What the packages say of themselves.
for package in first-*/*/*.conda first-*/*/*.tar.bz2; do
    if command -v cph > /dev/null; then
        rm -rf unpacked
        check cph x --dest "$PWD/unpacked" "$package" > "$WORK/cph"
        last="contents of $package"
        python3 - "$PWD/unpacked" <<'END' || fail 'info/ does not fit the files'
import hashlib, json, os, sys
root = sys.argv[1]
read = lambda name: json.load(open(f"{root}/info/{name}"))
index, paths, about = read("index.json"), read("paths.json"), read("about.json")
assert index["schema_version"] == 2 and index["timestamp"] == 1700000000000
assert paths["paths_version"] == 1 and isinstance(about["summary"], str)
listed = {entry["_path"]: entry for entry in paths["paths"]}
assert list(listed) == sorted(listed)
there = {os.path.relpath(os.path.join(at, name), root) for at, folders, files in os.walk(root)
         for name in files + [f for f in folders if os.path.islink(os.path.join(at, f))]}
payload = {path for path in there if not path.startswith("info/")}
assert payload == set(listed), payload ^ set(listed)
for path, entry in listed.items():
    place = f"{root}/{path}"
    if entry["path_type"] == "hardlink":
        data = open(place, "rb").read()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"] and len(data) == entry["size_in_bytes"], path
        assert (b"/gpkg_placehold_" in data) == ("prefix_placeholder" in entry), path
    else:
        assert entry["path_type"] == "softlink", entry  # conda and micromamba know no others
        assert not os.readlink(place).startswith("/"), path
if index["name"] == "native":
    assert "share/native/empty" not in listed and not os.path.exists(f"{root}/share/native/empty")
    assert listed["share/native/dangling"]["path_type"] == "softlink"
    assert os.stat(f"{root}/bin/hello").st_mode & 0o777 == 0o755
    assert os.stat(f"{root}/share/native/private").st_mode & 0o777 == 0o644
    told = open(f"{root}/share/native/told").read().splitlines()
    assert told[:4] == ["build", "1000", "localhost", "/gpkg-build/work"], told
if index["name"] == "pure":
    link = read("link.json")
    assert link["package_metadata_version"] == 1 and index["noarch"] == "python" and index["subdir"] == "noarch"
    assert link["noarch"] == {"type": "python", "entry_points": ["pure = pure:main"]}
    assert set(listed) == {"site-packages/pure/__init__.py", "python-scripts/tool"}, list(listed)
if index["name"] == "empty":
    assert "only/folders" not in listed
    assert any(path.endswith(".pyc") for path in listed) and not any("imported.c" in path for path in listed)
END
    else
        echo 'skipped: cph is not installed'
    fi
done

# Builds of one folder and of two, as --verify compares them; and what differs is named.
if [ "$sandbox" = auto ]; then
    expect 0 build r --output-dir verified --verify
    out_has 'identical in two builds'
fi
unset SOURCE_DATE_EPOCH
mkdir -p odd/unsteady
cat > odd/unsteady/recipe.yaml <<'END'
package: {name: unsteady, version: "1"}
build: {script: 'echo same > $PREFIX/a; printf "0123456789%s" "$(cat /proc/sys/kernel/random/uuid)" > $PREFIX/b'}
END
expect 1 build odd --output-dir verified --verify --package-format tar-bz2
err_has 'the second build differs: b: differs at byte 1'
finish
