# drop NAME PART KEEP AT...: what half arrived in the folders goes, and without KEEP a folder where nothing else is.
name=$1 part=$2 keep=$3
shift 3

drop() (
    is_ours "$1" || exit
    rm -f -- "$1/$part"
    # What was being unpacked, where nobody is at that now.
    if [ -d "$1/.$name.new" ] && command -v flock > /dev/null; then
        exec 9> "$1/.lock"
        flock -w 10 9 && remove_tree "$1/.$name.new"
    fi
    [ -n "$keep" ] || [ -n "$(ls -A -- "$1" | grep -vx -e .node -e .lock)" ] || remove_tree "$1"
)
for at in "$@"; do
    drop "$at"
done
