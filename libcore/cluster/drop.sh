# drop AT NAME PART KEEP: what half arrived goes, and without KEEP the folder where nothing else is in it.
at=$1 name=$2 part=$3 keep=$4
is_ours "$at" || exit 0
rm -f -- "$at/$part"
# What was being unpacked, where nobody is at that now.
if [ -d "$at/.$name.new" ] && command -v flock > /dev/null; then
    exec 9> "$at/.lock"
    flock -w 10 9 && remove_tree "$at/.$name.new"
fi
[ -n "$keep" ] || [ -n "$(ls -A -- "$at" | grep -vx -e .node -e .lock)" ] || remove_tree "$at"
