# A payload of 2 GB is built, packed and installed in the memory that one of 200 MB takes. LARGE and SMALL
# (MB) ask for other sizes.
. "$(dirname "$0")/lib.sh"
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

# peak WORDS...: runs gpkg; $kb is the most memory that one of the processes held.
peak() {
    last="gpkg $*"
    kb=$(python3 -c '
import resource, subprocess, sys
out, err = open(sys.argv[1], "w"), open(sys.argv[2], "w")
done = subprocess.run(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)' "$WORK/stdout" "$WORK/stderr" "$GPKG" "$@")
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
    checks=$((checks + 1))
    [ "$status" = 0 ] || fail "expected exit status 0"
}
# Twice: for one size and for the other. What is compared is the growth; the buffers of compressing threads are
# full from the first gigabyte on.
declare -A build install
for size in "$small" "$large"; do
    peak build r --output-dir "$CHANNEL" --variant "size=$size" --zstd-level 3 -j 2
    build[$size]=$kb
    peak create -y -p "$WORK/env$size" "payload=$size"
    install[$size]=$kb
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
