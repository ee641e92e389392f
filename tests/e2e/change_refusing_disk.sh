# File systems that cannot do some things: no symbolic links, no hard links, no permissions, locks that fail.
. "$(dirname "$0")/lib.sh"
: "${REFUSING_DISK_LIBRARY:?the library that refuses}"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/tool "echo $old"
mkdir -p "$WORK/payload/lib"
echo library > "$WORK/payload/lib/a.so.1.2"
ln -s a.so.1.2 "$WORK/payload/lib/a.so.1"
ln -s a.so.1 "$WORK/payload/lib/a.so"
PLACEHOLDER=$old package tool 1.0 0
mkdir -p "$WORK/payload/lib/real"
echo x > "$WORK/payload/lib/real/x"
ln -s real "$WORK/payload/lib/folder"
package folder 1.0 0
index
expect 0 create -y -n all tool folder

# refusing WHAT STATUS ARGS...: with calls refused in the folder odd.
refusing() {
    local what=$1
    shift
    REFUSE=$what REFUSE_BELOW=$WORK/odd LD_PRELOAD=$REFUSING_DISK_LIBRARY expect "$@"
}

# Files are copied in the place of links to them.
refusing symlink=EOPNOTSUPP 0 create -y -p "$WORK/odd/a" tool
err_has 'this file system has no symbolic links: 2 files copied instead'
check [ ! -L "$WORK/odd/a/lib/a.so" ]
check [ "$(cat "$WORK/odd/a/lib/a.so" "$WORK/odd/a/lib/a.so.1")" = $'library\nlibrary' ]
expect 0 verify -p "$WORK/odd/a"
refusing symlink=EPERM 0 remove -y -p "$WORK/odd/a" tool
check [ ! -e "$WORK/odd/a/lib" ]
refusing symlink=EPERM 1 create -y -p "$WORK/odd/b" folder
err_has 'lib/folder: this file system has no symbolic links, and folder-1.0-0 needs one to a folder here'
check [ ! -e "$WORK/odd/b" ]

# Modes that cannot be set are those of the file system.
refusing chmod=EPERM 0 create -y -p "$WORK/odd/c" tool
err_has 'this file system does not allow permissions to be set (chmod)'
check [ "$("$WORK/odd/c/bin/tool")" = "$WORK/odd/c" ]

# One's own files: the reason is the file system.
refusing link=EPERM 0 create -y -p "$WORK/odd/d" tool
err_has 'copied instead of linked: the file system cannot link them'
err_lacks 'another user'

# A lock that fails is an error, not a holder.
refusing flock=EIO 1 create -y -p "$WORK/odd/e" tool
err_has 'cannot lock: Input/output error'
check [ ! -e "$WORK/odd/e" ]

finish
