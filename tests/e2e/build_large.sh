# A payload of 2 GB is built, packed and installed in the memory that one of 200 MB takes. LARGE and SMALL
# (MB) ask for other sizes. It is installed from a web server; on disk is never more than the archive and
# what was unpacked of it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
large=${LARGE:-2100} small=${SMALL:-200}
free=$(df -Pk "$WORK" | awk 'NR == 2 { print int($4 / 1024) }')
[ "$free" -gt $((large * 5)) ] || { echo "skipped: $WORK has $free MB left, and this wants $((large * 5))"; finish; exit; }

# An eighth does not compress. The prefix stands behind that, and is replaced in both directions.
mkdir -p r/payload
cat > r/payload/recipe.yaml <<'END'
package: {name: payload, version: "${{ size }}"}
source: {path: notes}
build:
  script:
    - mkdir -p $PREFIX/share
    - head -c $((size * 125000)) /dev/urandom > $PREFIX/share/payload
    - printf '%s/lib' $PREFIX >> $PREFIX/share/payload
    - head -c $((size * 875000 - 259)) /dev/zero >> $PREFIX/share/payload
END
mkdir r/payload/notes
echo 'nothing' > r/payload/notes/readme

# peak WORDS...: runs gpkg; $kb is the most memory that one of the processes held, $disk (kB) the most
# that was in the root prefix.
peak() {
    last="gpkg $*"
    kb=$(python3 -c '
import os, resource, subprocess, sys, time
def disk():
    files = {}
    for folder, _, names in os.walk(os.environ["GPKG_ROOT_PREFIX"]):
        for name in names:
            try:
                info = os.lstat(os.path.join(folder, name))
            except FileNotFoundError:
                continue
            files[info.st_dev, info.st_ino] = info.st_blocks // 2
    return sum(files.values())
out, err = open(sys.argv[1], "w"), open(sys.argv[2], "w")
running = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
most = 0
while running.poll() is None:
    most = max(most, disk())
    time.sleep(0.02)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, most)
sys.exit(running.returncode)' "$WORK/stdout" "$WORK/stderr" "$GPKG" "$@")
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
    disk=${kb#* } kb=${kb% *}
    checks=$((checks + 1))
    [ "$status" = 0 ] || fail "expected exit status 0"
}
# Twice: for one size and for the other. What is compared is the growth; the buffers of compressing threads are
# full from the first gigabyte on.
declare -A build install
mkdir "$WORK/control"
python3 "$here/http_server.py" "$WORK" "$WORK/control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$WORK/control/port" ] && break; sleep 0.05; done
for size in "$small" "$large"; do
    peak build r --output-dir "$CHANNEL" --variant "size=$size" --zstd-level 3 -j 2
    build[$size]=$kb
    peak create -y -p "$WORK/env$size" "payload=$size" -c "http://127.0.0.1:$(cat "$WORK/control/port")/channel" \
        --override-channels
    install[$size]=$kb
    archive=$(stat -c %s "$CHANNEL"/*/payload-"$size"-*.conda)
    printf '%s MB: at most %s kB on disk, the archive being %s kB\n' "$size" "$disk" $((archive / 1000))
    check [ "$disk" -lt $(((archive + size * 1000000) / 1024 + 20000)) ]
    check [ "$(stat -c %s "$WORK/env$size/share/payload")" = $((size * 1000000)) ]
    last="the prefix in the payload of $size MB"
    [ "$(tail -c +$((size * 125000 + 1)) "$WORK/env$size/share/payload" | head -c 300 | tr -d '\0')" = "$WORK/env$size/lib" ] ||
        fail 'the prefix is not where it was'
    rm -rf "$WORK/env$size" "$GPKG_ROOT_PREFIX/pkgs"
done
printf '%s MB and %s MB: build %s and %s kB, install %s and %s kB\n' "$small" "$large" \
    "${build[$small]}" "${build[$large]}" "${install[$small]}" "${install[$large]}"
for what in build install; do
    declare -n of=$what
    check [ $((of[$large] - of[$small])) -lt 65536 ]
    check [ "${of[$large]}" -lt 262144 ]
done
finish
