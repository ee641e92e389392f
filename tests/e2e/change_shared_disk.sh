# On file systems that machines share: nothing is locked there, one writer at a time all the same; quotas are told,
# and kept to before anything is fetched; what is short-lived stays on this machine.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"
: "${NETWORK_DISK_LIBRARY:?the library that makes a folder look like a network file system}"
# The sanitizers want to be first.
LD_PRELOAD=$NETWORK_DISK_LIBRARY "$GPKG" --version > /dev/null 2>&1 || { echo "SKIPPED: nothing can be preloaded here"; exit 0; }
export NETWORK_DISK=$WORK/root
preload() { export LD_PRELOAD=$NETWORK_DISK_LIBRARY; }
local_again() { unset LD_PRELOAD; }

export SLOW=$WORK/slow
mkdir -p "$SLOW"
package lib 1.0 0
package app 1.0 0 lib
package more 1.0 0
script bin/.slow-post-link.sh 'echo x > "$SLOW/started"' 'for _ in $(seq 600); do [ -e "$SLOW/go" ] && break; sleep 0.05; done'
package slow 1.0 0
script bin/hello 'echo hello'
package hello 1.0 0
head -c 300000 /dev/urandom > "$WORK/payload-big" && mkdir -p "$WORK/payload" && mv "$WORK/payload-big" "$WORK/payload/big"
package big 1.0 0
mkdir -p "$WORK/payload" && for i in $(seq 60); do echo "$i" > "$WORK/payload/f$i"; done
package many 1.0 0

# started: waits until slow is being linked.
started() { for _ in $(seq 200); do [ -e "$SLOW/started" ] && return; sleep 0.05; done; }

# Any lock ends the process; none is asked for, whatever is done there.
preload
expect 0 info --json
json 'd["file_systems"][0]["name"] == "NFS" and d["file_systems"][0]["shared"] and d["file_systems"][0]["mount_point"] == work + "/root"'
expect 0 info
out_has "NFS (network) at $NETWORK_DISK:"
expect 0 create -n e app
expect 0 install -n e more
expect 0 env config vars set -n e A=b
expect 0 rename -n e f
expect 0 remove -y -n f more
expect 0 rollback -n f
has f app-1.0 lib-1.0 more-1.0
expect 0 exec hello
out_is hello
expect 0 config set channel_priority flexible
expect 0 clean --exec -y
err_has 'kept: a tool started in it' 'may still run on another machine'
touch -d '2 days ago' "$GPKG_ROOT_PREFIX"/exec/*/conda-meta 2> /dev/null || touch -d '2 days ago' "$GPKG_ROOT_PREFIX"/cache/exec/*/conda-meta
expect 0 clean --exec -y
err_lacks 'and it stays'
cp -r "$CHANNEL" "$NETWORK_DISK/channel"
expect 0 index "$NETWORK_DISK/channel"
check [ -z "$(find "$NETWORK_DISK" -name '.gpkg-lock*' -o -name '*.tmp-*')" ]

# Two writers: the second waits for the first, and says for whom; a killed one is no obstacle where it ran.
for locks in '' none hang; do
    export NETWORK_LOCKS=$locks
    rm -f "$SLOW"/*
    "$GPKG" install -n f slow > "$WORK/first" 2>&1 &
    holder=$!
    started
    check grep -q "^process $holder on " "$(place f)/conda-meta/.gpkg-lock"
    (sleep 0.5; touch "$SLOW/go") &
    expect 0 install -n f hello
    err_has "waiting for process $holder on " ", since "
    wait $holder
    check [ $? = 0 ]
    has f app-1.0 hello-1.0 lib-1.0 more-1.0 slow-1.0
    expect 0 remove -y -n f slow hello
    rm -f "$SLOW"/*
    "$GPKG" install -n f slow > "$WORK/first" 2>&1 &
    holder=$!
    started
    kill -9 $holder
    wait $holder 2> /dev/null
    check [ -e "$(place f)/conda-meta/.gpkg-lock" ]
    touch "$SLOW/go"
    expect 0 install -n f hello
    err_has 'the interrupted `gpkg install -n f slow` was undone'
    has f app-1.0 hello-1.0 lib-1.0 more-1.0
    expect 0 remove -y -n f hello
    check [ ! -e "$(place f)/conda-meta/.gpkg-lock" ]
    # Of two that make it, one does.
    "$GPKG" create -n both app > "$WORK/first" 2>&1 &
    "$GPKG" create -n both app > "$WORK/second" 2>&1
    wait $!
    has both app-1.0 lib-1.0
    expect 0 env remove -y -n both
done
unset NETWORK_LOCKS
# Whether another machine's process lives nobody here can tell; its claim stands.
printf 'process 4711 on node9\nclaim 0123456789abcdef 4711 5 89abcdef 1790000000\n' > "$(place f)/conda-meta/.gpkg-lock"
timeout -s TERM 1 "$GPKG" install -n f hello > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
check grep -q 'waiting for process 4711 on node9, since 2026-' "$WORK/stderr"
rm "$(place f)/conda-meta/.gpkg-lock"
# A machine that has the disk itself, where others have the network's, keeps to their claims.
printf 'process 4711 on node9\nclaim 0123456789abcdef 4711 5 89abcdef 1790000000\n' > "$(place f)/conda-meta/.gpkg-lock"
local_again
timeout -s TERM 1 "$GPKG" install -n f hello > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
check grep -q 'waiting for process 4711 on node9' "$WORK/stderr"
rm "$(place f)/conda-meta/.gpkg-lock"

# Quotas. Root is not bound by them.
if [ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups "$GPKG" --version > /dev/null 2>&1; then
    echo "LEFT OUT: quotas, for which root becomes another user"
    finish
    exit
fi
chmod 755 "$WORK"
mkdir -p "$WORK/nobody/root" "$WORK/programs"
cp "$GPKG_ROOT_PREFIX/config.yaml" "$WORK/nobody/root/"
chown -R 65534:65534 "$WORK/nobody"
# nobody WORDS...: runs gpkg as a user without rights, on a disk of its own.
nobody() {
    last="gpkg $* as nobody"
    env HOME="$WORK/nobody" GPKG_ROOT_PREFIX="$WORK/nobody/root" PATH="$WORK/programs:$PATH" LD_PRELOAD="$NETWORK_DISK_LIBRARY" \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$GPKG" "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}
nobody_expect() {
    local wanted=$1
    shift
    nobody "$@"
    checks=$((checks + 1))
    [ "$status" = "$wanted" ] || fail "expected exit status $wanted"
}
export NETWORK_DISK=$WORK/elsewhere

# The kernel's: bytes that are too many are not fetched, files that are too many not unpacked; told in the plan too.
export NETWORK_QUOTA='999800000 1000000000 10 100000'
nobody_expect 1 create -n q big
err_has 'needs 30' 'the quota of user nobody on' 'leaves 199 kB (1.0 GB of 1.0 GB used)' 'gpkg clean --all' 'gpkg image build'
check [ -z "$(ls -A "$WORK/nobody/root/pkgs" 2> /dev/null)" ]
nobody_expect 1 create -n q big --dry-run
nobody_expect 0 create -n q hello
err_has 'after this change the quota of user nobody on' 'is 100 % used'
export NETWORK_QUOTA='0 0 100 130'
nobody_expect 1 create -n r many
err_has 'unpacking exceeds the quota on' 'user nobody: 100 of 130 files'
check [ ! -e "$WORK/nobody/root/envs/r" ]
export NETWORK_QUOTA='0 0 100 104'
nobody_expect 1 create -n r many
err_has 'needs 5 files more' 'leaves 4 files (100 files of 104 files used)'
export NETWORK_QUOTA='1000 100000000 100 100000'
nobody_expect 0 create -n r many
err_lacks 'quota'
nobody_expect 0 info --json
json '[(q["whose"], q["bytes"], q["files"]["limit"]) for q in d["file_systems"][0]["quotas"]] == [("user nobody", {"used": 1000, "limit": 99999744, "soft_limit": None}, 100000)]'
nobody_expect 0 info
out_has 'quota of user nobody: 1.0 kB of 100 MB, 100 of 100000 files'
unset NETWORK_QUOTA

# Real ones: 2 MB and 200 files for this user, on file systems of their own.
real_quota() { # TYPE MOUNT-OPTIONS COMMAND...: makes and mounts it at $WORK/real, and has the command set the limits
    local type=$1 options=$2
    shift 2
    truncate -s 400M "$WORK/$type.img" && mkdir -p "$WORK/real" &&
        case $type in
            ext4) mkfs.ext4 -q -O quota -E quotatype=usrquota "$WORK/$type.img" ;;
            xfs) mkfs.xfs -q "$WORK/$type.img" ;;
        esac && mount -o "loop,$options" "$WORK/$type.img" "$WORK/real" && "$@"
}
for type in ext4 xfs; do
    case $type in
        ext4) try=(real_quota ext4 usrquota setquota -u 65534 0 2000 0 200 "$WORK/real") ;;
        xfs) try=(real_quota xfs uquota xfs_quota -x -c 'limit -u bhard=2000k ihard=200 65534' "$WORK/real") ;;
    esac
    if "${try[@]}" > "$WORK/tried" 2>&1; then
        mkdir "$WORK/real/root" && cp "$GPKG_ROOT_PREFIX/config.yaml" "$WORK/real/root/" && chown -R 65534:65534 "$WORK/real"
        mv "$WORK/nobody/root" "$WORK/nobody/other" && ln -s "$WORK/real/root" "$WORK/nobody/root"
        nobody_expect 0 info --json
        json 'd["file_systems"][0]["quotas"][0]["whose"] == "user nobody" and d["file_systems"][0]["quotas"][0]["files"]["limit"] == 200'
        nobody_expect 0 create -n a hello
        head -c 1800000 /dev/zero > "$WORK/real/fill" && chown 65534 "$WORK/real/fill"
        nobody_expect 1 create -n b big
        err_has 'the quota of user nobody on'
        rm "$WORK/nobody/root" && mv "$WORK/nobody/other" "$WORK/nobody/root"
    else
        echo "LEFT OUT: real quotas of $type: $(tail -n 1 "$WORK/tried")"
    fi
    umount "$WORK/real" 2> /dev/null
done

# Lustre's and NFS's, which their programs tell: of real ones this is the text.
export NETWORK_DISK=$WORK/nobody NETWORK_TYPE=lustre
cat > "$WORK/programs/lfs" <<'END'
#!/bin/sh
[ "$3 $4" = "-u 65534" ] && echo "        $5  976562*     976000  976562       -   12345  0 1000000       -" ||
    echo "        $5  [5]       0  0       -   1  0 0       -"
END
cat > "$WORK/programs/quota" <<'END'
#!/bin/sh
printf 'Disk quotas for user nobody (uid 65534): \n     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace\n'
printf 'server:/export    1000       0  100000       0      99*      0     100       0\n'
END
chmod +x "$WORK/programs/"*
nobody_expect 0 info
out_has 'Lustre (network)' 'quota of user nobody: 1.0 GB of 1.0 GB, 12345 of 1000000 files'
nobody_expect 1 create -n s lib
err_has 'the quota of user nobody on Lustre at' 'leaves 0 B'
NETWORK_TYPE=nfs4
nobody_expect 1 create -n s lib
err_has 'needs 5 files more' 'on NFS at' 'leaves 1 file (99 files of 100 files used)'
# A program that waits for a server that does not answer.
printf '#!/bin/sh\nexec sleep 300\n' > "$WORK/programs/quota"
began=$(date +%s)
nobody_expect 0 info
out_has 'quotas unknown: `quota` gave no answer'
check [ $(($(date +%s) - began)) -lt 5 ]
rm "$WORK/programs/quota"

# Temporary files: many small ones of an image do not lie beside it on a shared disk.
if command -v mksquashfs > /dev/null; then
    mkdir -p "$WORK/nobody/out" && chown 65534 "$WORK/nobody/out"
    cat > "$WORK/programs/mksquashfs" <<END
#!/bin/sh
ls -A "$WORK/nobody/out" > "$WORK/nobody/seen"
exec $(command -v mksquashfs) "\$@"
END
    chmod +x "$WORK/programs/mksquashfs"
    unset TMPDIR
    nobody_expect 0 image build -n r -o "$WORK/nobody/out/r.sqfs"
    check grep -qE '^r\.sqfs\.tmp-[0-9a-f]{8}$' "$WORK/nobody/seen"
    if [ "$(stat -f -c %T /tmp)" != tmpfs ]; then check [ "$(wc -l < "$WORK/nobody/seen")" = 1 ]; fi
    check [ "$(ls -A "$WORK/nobody/out")" = r.sqfs ]
fi
finish
