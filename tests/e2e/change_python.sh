# Python packages and files with a prefix in them, as the change verbs link them
. "$(dirname "$0")/lib.sh"

real=$(command -v python3)
at=$GPKG_ROOT_PREFIX/envs

# A python that is the machine's, in folders of its own.
for version in 3.11.5 3.12.1 3.12.2; do
    minor=${version%.*}
    script bin/python$minor "exec '$real' \"\$@\""
    cp "$WORK/payload/bin/python$minor" "$WORK/payload/bin/python"
    mkdir -p "$WORK/payload/lib/python$minor/site-packages"
    echo "$version" > "$WORK/payload/lib/python$minor/version"
    package python $version 0
done
mkdir -p "$WORK/payload/site-packages/mod" "$WORK/payload/python-scripts" "$WORK/payload/info"
printf 'def main():\n    print("mod from", __file__)\n' > "$WORK/payload/site-packages/mod/__init__.py"
printf '#!/opt/anaconda1anaconda2anaconda3/bin/python\nprint("tool")\n' > "$WORK/payload/python-scripts/tool"
chmod +x "$WORK/payload/python-scripts/tool"
printf '{"noarch": {"type": "python", "entry_points": ["mod = mod:main"]}}' > "$WORK/payload/info/link.json"
SUBDIR=noarch NOARCH=python PLACEHOLDER=/opt/anaconda1anaconda2anaconda3 package mod 1.0 0 'python >=3.11'
run_mod() { PYTHONPATH=$1/lib/python$2/site-packages "$1/bin/mod"; }

expect 0 create -n py mod python=3.11
has py mod-1.0 python-3.11.5
check [ "$(run_mod "$at/py" 3.11)" = "mod from $at/py/lib/python3.11/site-packages/mod/__init__.py" ]
check [ "$("$at/py/bin/tool")" = tool ]
check [ "$(head -n 1 "$at/py/bin/tool")" = "#!$at/py/bin/python" ]
records py '"lib/python3.11/site-packages/mod/__init__.py" in r["mod"]["files"] and "bin/mod" in r["mod"]["files"] and r["mod"]["noarch"] == "python"'

# Other changes leave the minor version; python by name moves it, and takes noarch packages along.
expect 0 update -n py --all
has py mod-1.0 python-3.11.5
expect 0 install -n py python=3.12.1 --json
json '{(r["name"], r["version"]) for r in d["actions"]["LINK"]} == {("python", "3.12.1"), ("mod", "1.0")}'
check [ "$(run_mod "$at/py" 3.12)" = "mod from $at/py/lib/python3.12/site-packages/mod/__init__.py" ]
check [ ! -e "$at/py/lib/python3.11" ]
records py 'not any("3.11" in path for path in r["mod"]["files"]) and r["mod"]["requested_specs"] == ["mod"]'
# The same minor version does not touch them.
expect 0 install -n py python=3.12.2 --json
json '[r["name"] for r in d["actions"]["LINK"]] == ["python"]'
expect 0 remove -y -n py python
has py
check [ ! -e "$at/py/lib" ]

# An explicit list knows of noarch and entry points only from the package, in whatever order.
printf '@EXPLICIT\n%s\n%s\n' "file://$CHANNEL/noarch/mod-1.0-0.tar.bz2" \
    "file://$CHANNEL/linux-64/python-3.12.2-0.tar.bz2" > list.txt
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 0 create -n listed -f list.txt
has listed mod-1.0 python-3.12.2
check [ "$(run_mod "$at/listed" 3.12)" = "mod from $at/listed/lib/python3.12/site-packages/mod/__init__.py" ]
records listed 'r["mod"]["noarch"] == "python" and r["mod"]["subdir"] == "noarch" and r["mod"]["depends"] == ["python >=3.11"]'

# Prefixes with spaces and other letters, and longer than a #! line may be.
long=$WORK/$(printf 'l%.0s' {1..120})
for place in "$WORK/with space/env" "$WORK/größe" "$long"; do
    expect 0 create -p "$place" mod
    check [ "$(run_mod "$place" 3.12)" = "mod from $place/lib/python3.12/site-packages/mod/__init__.py" ]
    check [ "$("$place/bin/tool")" = tool ]
done

# A minor version that nobody asked for holds, and is not said to be pinned.
package past 1.0 0 'python 3.11.*'
expect 0 create -n held mod
expect 1 install -n held past
err_has 'python 3.12.* is kept: python keeps its minor version unless it is named'
expect 0 install -n held past python
has held mod-1.0 past-1.0 python-3.11.5
# Of what an update names it is told that something newer is there, and where the reason is.
package past 2.0 0 'python 3.12.*'
expect 0 update -n held past
err_has 'past 1.0 is selected instead of 2.0, which conflicts with other packages (to see why: gpkg why-not past==2.0 -n held)'
expect 0 why-not past==2.0 -n held
out_has 'python 3.11.* is kept: python keeps its minor version unless it is named'
out_has 'also requesting python: gives past 2.0 and python 3.12.2'
expect 0 update -n held past python
err_lacks 'instead of'
has held mod-1.0 past-2.0 python-3.12.2

# Placeholders in text and in binaries: a binary keeps its length, and a prefix that does not fit
# is refused before anything is made.
export PLACEHOLDER=$WORK/$(printf 'placehold_%.0s' {1..5})
mkdir -p "$WORK/payload/bin"
printf 'A\0%s/lib:%s/share\0B' "$PLACEHOLDER" "$PLACEHOLDER" > "$WORK/payload/bin/binary"
printf 'prefix=%s\n' "$PLACEHOLDER" > "$WORK/payload/bin/text"
size=$(stat -c %s "$WORK/payload/bin/binary")
package built 1.0 0
printf 'prefix=%s\n' "$PLACEHOLDER" > "$WORK/text" && mkdir -p "$WORK/payload" && mv "$WORK/text" "$WORK/payload/text"
package text 1.0 0
unset PLACEHOLDER
expect 0 create -p "$WORK/p" built text
check [ "$(cat "$WORK/p/bin/text" "$WORK/p/text" | sort -u)" = "prefix=$WORK/p" ]
check [ "$(stat -c %s "$WORK/p/bin/binary")" = "$size" ]
check [ "$(tr '\0' '|' < "$WORK/p/bin/binary" | sed 's/|*$//')" = "A|$WORK/p/lib:$WORK/p/share$(printf '|%.0s' $(seq $((2 * (50 - 1) + 1))))B" ]
records "$WORK/p" 'all(p["sha256_in_prefix"] == __import__("hashlib").sha256(open(prefix + "/" + p["_path"], "rb").read()).hexdigest() != p["sha256"] for x in r.values() for p in x["paths_data"]["paths"])'
expect 1 create -p "$long-x" built
err_has 'bin/binary'
check [ ! -e "$long-x" ]
expect 0 create -p "$long-x" text
expect 1 install -p "$long-x" built
has "$long-x" text-1.0
check [ ! -e "$long-x/bin" ]

clean
clean "$WORK"
finish
