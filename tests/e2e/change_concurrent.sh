# Many processes, and two users, on one store.
. "$(dirname "$0")/lib.sh"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
for name in a b c d; do
    script bin/$name "echo $name"
    mkdir -p "$WORK/payload/share/$name"
    for i in 1 2 3 4 5; do head -c 200000 /dev/zero | tr '\0' "$i" > "$WORK/payload/share/$name/$i"; done
    echo "prefix=$old" > "$WORK/payload/share/$name/prefix"
    PLACEHOLDER=$old package $name 1.0 0
done
index

# 64 at once, from an empty store; ten of them want the same environment, each another package in it, and one
# gets it.
for i in $(seq 54); do
    "$GPKG" create -y -n e$i a b c d > "$WORK/said.$i" 2>&1 &
    pids[i]=$!
done
for i in $(seq 55 64); do
    names=(a b c d)
    "$GPKG" create -y -n same "${names[i % 4]}" > "$WORK/said.$i" 2>&1 &
    pids[i]=$!
done
made=0
for i in $(seq 64); do
    wait "${pids[i]}"
    status=$? out=$(cat "$WORK/said.$i") err=
    if [ "$i" -le 54 ]; then
        check [ "$status" = 0 ]
    elif [ "$status" = 0 ]; then
        made=$((made + 1))
    else
        check grep -qE 'exists already|created (or removed )?by another process|is not an empty folder' "$WORK/said.$i"
    fi
done
check [ "$made" = 1 ]
for i in $(seq 54); do
    expect 0 verify -n e$i
    out_is '4 packages verified: no damage'
done
expect 0 verify -n same
out_is '1 package verified: no damage'
expect 0 verify --store
out_is '4 packages verified: no damage'
clean
# What they share is there once.
check [ "$(stat -c %h "$GPKG_ROOT_PREFIX"/pkgs/a-1.0-0-*/share/a/1)" -ge 55 ]

# Writers of one environment come one after the other. One that finds the environment changed since it planned
# (all need common) plans again.
for i in $(seq 30); do
    script bin/t$i "echo $i"
    package t$i 1.0 0 common
done
script bin/common 'echo common'
package common 1.0 0
index
expect 0 create -y -n one
for i in $(seq 30); do
    "$GPKG" install -y -n one t$i > "$WORK/said.$i" 2>&1 &
    pids[i]=$!
done
for i in $(seq 30); do
    wait "${pids[i]}"
    status=$? out=$(cat "$WORK/said.$i") err= last="install t$i"
    check [ "$status" = 0 ]
done
expect 0 verify -n one
out_is '31 packages verified: no damage'
expect 0 history -n one --json
json "len(d) == 31"

finish
