# Files of packages that somebody changed: what a command would lose of them is told before it asks, in a dry run too.
. "$(dirname "$0")/lib.sh"

for version in 1.0 2.0; do
    mkdir -p "$WORK/payload/etc" "$WORK/payload/lib"
    for name in same larger older link touched; do echo "$version" > "$WORK/payload/etc/$name"; done
    printf '/the/prefix/that/was/built/in/placehold\n' > "$WORK/payload/lib/named"
    PLACEHOLDER=/the/prefix/that/was/built/in/placehold package a $version 0
done
package b 1.0 0
make() {
    rm -rf "$(place e)"
    expect 0 create -q -n e a=1.0 b
    at=$(place e)
    rm "$at"/etc/{larger,older,link,same}
    echo 'much larger than it was' > "$at/etc/larger"
    echo '9.9' > "$at/etc/older" && touch -d '2001-01-01' "$at/etc/older"
    ln -s /etc/passwd "$at/etc/link"
    echo '7.7' > "$at/etc/same"
    touch "$at/etc/touched"
    echo mine >> "$at/lib/named" && touch -d '2001-01-01' "$at/lib/named"
}
all='etc/same etc/larger etc/older etc/link lib/named'
told() {
    for file in $all; do err_has "$file of a-1.0-0 was changed after it was installed; the change will be lost"; done
    err_lacks etc/touched
    check [ "$(grep -c 'the change will be lost' "$WORK/stderr")" = 5 ]
}
make
expect 0 install -n e a=2.0 --dry-run
told
expect 0 remove -n e a --dry-run
told
answer 'n\n' install -n e a=2.0
check [ "$status" = 1 ]
case $out in *'the change will be lost'*'Proceed?'*) ;; *) fail 'not told before the question' ;; esac
check [ "$(cat "$at/etc/same")" = 7.7 ]
expect 0 install -n e a=2.0
told
check [ "$(cat "$at/etc/same")" = 2.0 ]
# Without the store's copy it is told as well.
make
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 0 remove -y -n e a
told
# What nobody changed is told of nobody, and packages that stay are not looked at.
expect 0 create -q -n f a=1.0 b
rm "$(place f)/etc/same" && echo more > "$(place f)/etc/same"
expect 0 remove -y -n f b
err_lacks 'is lost'
expect 0 create -q -n g --copy a=1.0
expect 0 install -n g a=2.0
err_lacks 'is lost'
finish
