# Environments that conda, micromamba and rattler laid out: healthy ones are found healthy, and every command works on them.
. "$(dirname "$0")/lib.sh"

holder=/opt/anaconda1anaconda2anaconda3
script bin/python3.11 'exec /usr/bin/python3 "$@"'
mkdir -p "$WORK/payload/lib/python3.11/site-packages" && echo built > "$WORK/payload/lib/python3.11/built.py"
ln -s python3.11 "$WORK/payload/bin/python"
package python 3.11.0 0
mkdir -p "$WORK/payload/site-packages/mod" "$WORK/payload/python-scripts"
echo 'x = 1' > "$WORK/payload/site-packages/mod/__init__.py"
printf '#!%s/bin/python\nprint("mod")\n' "$holder" > "$WORK/payload/python-scripts/mod" && chmod +x "$WORK/payload/python-scripts/mod"
SUBDIR=noarch NOARCH=python PLACEHOLDER=$holder package mod 1.0 0 'python >=3.11'
mkdir -p "$WORK/payload/lib/pkgconfig" && printf 'prefix=%s\n' "$holder" > "$WORK/payload/lib/pkgconfig/tool.pc"
ln -s tool.pc "$WORK/payload/lib/pkgconfig/tool-1.pc"
PLACEHOLDER=$holder package tool 1.0 0
expect 0 create -y -n store python mod tool
changed='lib/python3.11/site-packages/mod/__init__.py lib/pkgconfig/tool.pc bin/mod'

for tool in conda micromamba rattler; do
    at=$GPKG_ROOT_PREFIX/envs/$tool
    python3 "$(dirname "$0")/foreign_prefix.py" "$tool" "$at" "$GPKG_ROOT_PREFIX/pkgs" python mod tool
    expect 0 verify -n "$tool"
    expect 0 doctor -n "$tool"
    expect 0 repair -y -n "$tool"
    out_has 'nothing is damaged'
    for file in $changed; do
        cp -p "$at/$file" kept && echo '# edited' >> "$at/$file"
        expect 1 verify -n "$tool"
        out_has "$file"
        mv kept "$at/$file"
    done
    expect 0 create -y -q -n "$tool-clone" --clone "$tool"
    expect 0 verify -n "$tool-clone"
    check grep -qx "prefix=$at-clone" "$at-clone/lib/pkgconfig/tool.pc"
    expect 0 pack -n "$tool" -o "$tool.tar.zst"
    mkdir "$tool-packed" && tar --zstd -xf "$tool.tar.zst" -C "$tool-packed"
    packed=$(dirname "$(dirname "$(find "$PWD/$tool-packed" -path '*/bin/gpkg-relocate')")")
    check "$packed/bin/gpkg-relocate"
    check grep -qx "prefix=$packed" "$packed/lib/pkgconfig/tool.pc"
    expect 0 verify -p "$packed"
    rm "$at/bin/mod"
    expect 1 verify -n "$tool"
    expect 0 repair -y -n "$tool"
    expect 0 verify -n "$tool"
    expect 0 rename -y -n "$tool" "$tool-renamed"
    expect 0 verify -n "$tool-renamed"
    check grep -qx "prefix=$at-renamed" "$at-renamed/lib/pkgconfig/tool.pc"
    expect 0 remove -y -n "$tool-renamed" mod
    check [ ! -e "$at-renamed/bin/mod" ]
done

# An update of all packages goes past the exact builds of an exported file, and says so once.
expect 0 create -y -q -n old python tool
expect 0 env export -n old -f old.yml
expect 0 env create -y -q -n exact -f old.yml
expect 0 update -y -n exact --all
out_is 'all 2 packages are up to date'
records exact '"tool=1.0=0" in history or "tool==1.0=0" in history or "tool[version" in history'
package tool 2.0 0
index
expect 0 update -y -n exact --all
err_has '2 exact builds requested earlier no longer apply; to keep one: gpkg pin -n exact SPEC'
has exact python-3.11.0 tool-2.0
expect 0 update -y -n exact --all
out_is 'all 2 packages are up to date'

finish
