# A machine that fails: what is on the disk in the moment in which a command has ended well. Repair brings the new
# environment from it, without a network.
. "$(dirname "$0")/lib.sh"

for number in 1 2 3 4; do
    mkdir -p "$WORK/payload/lib"
    head -c 30000 /dev/urandom > "$WORK/payload/lib/file$number"
    package p$number 1.0 0
done
mkdir "$WORK/seen" "$WORK/later"
truncate -s 100M "$WORK/disk"
if [ "$(id -u)" != 0 ] || ! mkfs.ext4 -q "$WORK/disk" 2> "$WORK/find" || ! mount -o loop "$WORK/disk" "$WORK/seen" 2> "$WORK/find"; then
    echo "SKIPPED: no file system can be mounted here" >&2
    finish; exit
fi
trap 'umount "$WORK/seen" "$WORK/later" 2> /dev/null; rm -rf "$WORK"' EXIT
at=$WORK/seen/e
expect 0 create -p "$at" p1 p2
sync -f "$WORK/seen"
expect 0 install -p "$at" p3 p4
cp "$WORK/disk" "$WORK/disk.then"
umount "$WORK/seen"
mount -o loop "$WORK/disk.then" "$WORK/later"
mount --bind "$WORK/later" "$WORK/seen"

expect 0 repair --offline -p "$at"
expect 0 verify -p "$at"
has "$at" p1-1.0 p2-1.0 p3-1.0 p4-1.0
expect 0 history -p "$at"
umount "$WORK/seen"
finish
