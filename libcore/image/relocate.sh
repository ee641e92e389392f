#!/bin/sh
# Makes this environment's files name the folder that it is in: run once after unpacking, and again
# after it was moved. Needs nothing but a POSIX shell, GNU sed, xargs and cp.
#
# conda-meta/gpkg/pack holds every file that names the environment as its package has it, in
# pristine/, and lists of them, all anew each time:
#   groups         lines "NUMBER KIND PLACEHOLDER": files of pristine/ that name PLACEHOLDER are in
#                  NUMBER.list, separated by NUL; KIND is text or binary
#   shebangs.list  those whose first line names an interpreter of the environment, links.list links
#   history-size   of conda-meta/history as it was packed
#   place          what they name now
#   sums           of the files as this made them: those that differ later were changed
#   busy           while this runs: a link that says where, and which process
set -eu
LC_ALL=C
export LC_ALL
fail() {
    printf 'gpkg-relocate: %s\n' "$1" >&2
    exit 1
}
case ${1-} in
-h | --help)
    printf 'usage: bin/gpkg-relocate\nAdapts the files of this environment to the folder that it is in.\n'
    exit 0
    ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
pack=$here/conda-meta/gpkg/pack
is_done() { [ -f "$pack/place" ] && [ "$(cat "$pack/place")" = "$here" ]; }
if is_done; then exit 0; fi
case $here in
*'
'*) fail "$here: a path with a line break is not supported" ;;
esac
[ "$(($(wc -c < "$here/conda-meta/history")))" = "$(cat "$pack/history-size")" ] ||
    fail "$here: a package manager changed it after it was unpacked; to adapt it: gpkg repair -p $here"
[ "$(printf 'ab\000' | sed -z 's/b/\x00/' | wc -c | tr -d ' ')" = 3 ] || fail 'needs GNU sed'

# What stands for a text in a pattern of sed, and in a replacement.
pattern() { printf '%s' "$1" | sed 's/[][\\.*^$|]/\\&/g'; }
replacement() { printf '%s' "$1" | sed 's/[\\&|]/\\&/g'; }
new=$(replacement "$here")

while read -r number kind placeholder; do
    [ "$kind" = text ] || [ ${#here} -le ${#placeholder} ] ||
        fail "$here: the path has ${#here} bytes, but programs in it allow only ${#placeholder}"
done < "$pack/groups"

# One at a time; the others find it done. A link is made with what it says, all at once; what a killed process left
# on this machine is removed by one of those that wait, who looks again while the others may not.
is_gone() {
    [ -n "$1" ] && [ "${1% *}" = "$machine" ] || return 1
    case $(sed 's/.*) //' "/proc/${1##* }/stat" 2> /dev/null) in
    Z* | X*) return 0 ;; # it ended, and nobody has asked yet how
    '') ! kill -0 "${1##* }" 2> /dev/null ;;
    *) return 1 ;;
    esac
}
take_turn() {
    machine="$(uname -n) $(readlink /proc/self/ns/pid)" # where its number means that process
    waited=0
    until ln -s "$machine $$" "$pack/busy" 2> /dev/null; do
        if is_done; then exit 0; fi
        [ -w "$pack" ] || fail "$pack: not writable"
        by=$(readlink "$pack/busy") || continue
        if is_gone "$by" && ln -s "$machine $$" "$pack/busy.look" 2> /dev/null; then
            by=$(readlink "$pack/busy") || by=
            if is_gone "$by"; then rm -f "$pack/busy"; fi
            rm -f "$pack/busy.look"
            continue
        fi
        [ $waited -lt 6000 ] ||
            fail "$pack/busy: process $by has not finished for ten minutes; if it has ended, remove $pack/busy and busy.look"
        sleep 0.1
        waited=$((waited + 1))
    done
    trap 'rm -f "$pack/busy"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}
take_turn
if is_done; then exit 0; fi

# An interpreter that the kernel would not start from such a path: python is started by way of sh,
# others are looked up on PATH.
by_path() { printf '#!/usr/bin/env %s%s%s' "${words:+-S }" "$name" "$words"; }
mend_shebang() {
    IFS= read -r line < "./$1" || true
    after=${line#*"$here"}
    [ "$after" != "$line" ] || return 0
    program=$here${after%%[ 	]*}
    words=${after#"${after%%[ 	]*}"}
    case $program in
    *' '*) ;;
    *) [ $((2 + ${#program} + ${#words})) -gt 127 ] || return 0 ;;
    esac
    name=${program##*/}
    case $name in
    python*[!0-9.]*) first=$(by_path) ;;
    python*)
        quoted=$(printf '%s' "$program" | sed 's/["\\$`]/\\&/g')
        first=$(printf "#!/bin/sh\n'''exec' \"%s\"%s \"\$0\" \"\$@\" #'''" "$quoted" "$words")
        ;;
    *) first=$(by_path) ;;
    esac
    { printf '%s\n' "$first" && sed 1d -- "$1"; } > "$pack/script"
    cat "$pack/script" > "./$1"
    rm -f "$pack/script"
}

# What was changed since, and what pip put there, names the place that was. Where this was interrupted there is no
# place: then the changes are in pristine/ by now.
changed_of() { xargs -0 cksum -- < "$1" 2> /dev/null | grep -vxFf "$pack/sums" | sed 's/^[0-9]* [0-9]* //'; }
# /e/ml2 is not /e/ml.
old_becomes() { sed -i -e "${3-}s|$old\\([^-A-Za-z0-9._+]\\)|$1\\1|g" -e "${3-}s|$old\$|$1|" "$2"; }
keep_changes() {
    while read -r number kind placeholder; do
        changed_of "$pack/$number.list" > "$pack/changed"
        while IFS= read -r file; do
            [ -f "./$file" ] || continue
            if [ "$kind" = text ]; then
                cp -pL "./$file" "$pack/kept"
                old_becomes "$(replacement "$placeholder")" "$pack/kept"
                mv -f "$pack/kept" "$pack/pristine/$file"
                printf 'gpkg-relocate: %s: changed by you; the change is kept\n' "$file" >&2
            else
                cp -pL "./$file" "./$file.changed"
                printf 'gpkg-relocate: %s: changed by you; restored from its package, with your version in %s.changed\n' \
                    "$file" "$file" >&2
            fi
        done < "$pack/changed"
        rm -f "$pack/changed"
    done < "$pack/groups"
}
mend_scripts() {
    find bin -type f -exec grep -lsF -e "#!$was/bin/" -e "'''exec' $was/bin/" -e "'''exec' \"$was/bin/" {} + \
        > "$pack/scripts" || true
    while IFS= read -r file; do
        [ ! -e "$pack/pristine/$file" ] || continue
        old_becomes "$new" "$file" 1,2
        mend_shebang "$file"
    done < "$pack/scripts"
    rm -f "$pack/scripts"
}
cd "$here"
if [ -f "$pack/place" ]; then
    was=$(cat "$pack/place")
    old=$(pattern "$was")
    if [ -f "$pack/sums" ]; then keep_changes; fi
    mend_scripts
fi

rm -f "$pack/place"
# Where no file names the prefix there are none. The folder itself is not the archive's: others may own it.
for entry in "$pack"/pristine/* "$pack"/pristine/.[!.]* "$pack"/pristine/..?*; do
    if [ -e "$entry" ] || [ -L "$entry" ]; then
        cp -dR --preserve=mode,timestamps --remove-destination "$entry" "$here/"
    fi
done
while read -r number kind placeholder; do
    [ "$placeholder" != "$here" ] || continue
    old=$(pattern "$placeholder")
    if [ "$kind" = text ]; then
        xargs -0 sed -i -e "s|$old|$new|g" -- < "$pack/$number.list"
    else
        # The string keeps its length: what it has too much is NULs at its end.
        rest=
        missing=$((${#placeholder} - ${#here}))
        while [ $missing -gt 0 ]; do
            rest="$rest\\x00"
            missing=$((missing - 1))
        done
        xargs -0 sed -z -i -e ":again;s|$old\\(.*\\)\$|$new\\1$rest|;tagain" -- < "$pack/$number.list"
    fi
done < "$pack/groups"

tr '\000' '\n' < "$pack/shebangs.list" > "$pack/shebangs"
while IFS= read -r file; do
    mend_shebang "$file"
done < "$pack/shebangs"
rm -f "$pack/shebangs"
while IFS='	' read -r placeholder file; do
    [ -n "$file" ] || continue
    target=$(readlink -- "$file" | sed "s|$(pattern "$placeholder")|$new|g")
    ln -sfn -- "$target" "$file"
done < "$pack/links.list"
: > "$pack/sums.new"
while read -r number kind placeholder; do
    xargs -0 cksum -- < "$pack/$number.list" >> "$pack/sums.new"
done < "$pack/groups"
mv "$pack/sums.new" "$pack/sums"
printf '%s' "$here" > "$pack/place.new"
mv "$pack/place.new" "$pack/place"
