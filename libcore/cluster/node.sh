# What every script that runs on nodes begins with. A script says what it finds in lines
#   gpkg-node TAB NODE TAB WORD [TAB VALUE]...
# and ends with status 0: that one node fails is no reason for srun to end the others.
set -u
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/bin:/bin
umask 077
node=${SLURMD_NODENAME:-$(uname -n)}

# One write for a line, so that lines of several nodes do not mix.
tell() {
    line="gpkg-node	$node"
    for value in "$@"; do
        line="$line	$(printf '%s' "$value" | tr '\n\t' '  ')"
    done
    printf '%s\n' "$line"
}
give_up() {
    tell error "$1"
    exit 0
}
first_line() { printf '%s\n' "$1" | head -n 1; }
last_line() { printf '%s\n' "$1" | tail -n 1; }
sum_of() { sha256sum < "$1" | cut -d ' ' -f 1; }

# A folder of this user's that a deployment made, and no link that leads to one.
is_ours() { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && [ -f "$1/.node" ]; }

# Whether NAME in the folder is there with that checksum: an image, or an archive that was unpacked.
is_whole() {
    case $3 in
    image) [ -f "$1/$2" ] && [ "$(sum_of "$1/$2")" = "$4" ] ;;
    *) [ -d "$1/$2" ] && [ "$(cat "$1/.$2.whole" 2> /dev/null)" = "$4" ] ;;
    esac
}

remove_tree() {
    rm -rf -- "$1" 2> /dev/null && return
    # What is not writable has no entries removed.
    chmod -R u+rwx -- "$1" 2> /dev/null
    rm -rf -- "$1"
}
