# arrive AT NAME KIND SHA256 PART SOURCE GPKG: makes what arrived as PART in the folder AT what it is
# to be, and starts it once. With SOURCE it is copied from there first. Tells
#   ready TYPE   the file system that an image is mounted as
#   error WHY
at=$1 name=$2 kind=$3 sum=$4 part=$5 source=$6 gpkg=$7

lose() {
    rm -f -- "$part"
    give_up "$1"
}

unpack() {
    remove_tree "$name"
    remove_tree ".$name.new"
    mkdir ".$name.new"
    said=$(tar -xf "$part" -C ".$name.new" 2>&1) || {
        remove_tree ".$name.new"
        lose "cannot unpack the archive: $(first_line "$said")"
    }
    rm -f -- "$part"
    mv -- ".$name.new" "$name"
    said=$("./$name/bin/gpkg-relocate" 2>&1) || give_up "cannot relocate it to $at/$name: $(last_line "$said")"
    printf '%s' "$sum" > ".$name.whole"
}

take() {
    if [ -n "$source" ]; then
        said=$(cp -- "$source" "$part" 2>&1) || lose "$(last_line "$said")"
    fi
    [ -f "$part" ] || give_up 'the file did not arrive'
    found=$(sum_of "$part")
    [ "$found" = "$sum" ] || lose "the copy has sha256 $found instead of $sum"
    if [ "$kind" = image ]; then
        chmod 400 "$part"
        mv -f -- "$part" "$name"
    else
        unpack
    fi
}

start() {
    if [ "$kind" != image ]; then
        { [ ! -e "$name/bin/python" ] && [ ! -L "$name/bin/python" ]; } || said=$("$name/bin/python" -c '' 2>&1) ||
            give_up "its python does not start: $(last_line "$said")"
        tell ready
        return
    fi
    [ -x "$gpkg" ] || give_up "$gpkg does not exist"
    words=.said.$$
    type=$("$gpkg" image run "$at/$name" -- sh -c 'df --output=fstype -- "$CONDA_PREFIX" | tail -n 1' 2> "$words" 9>&-)
    status=$?
    # "error: REASON", and a hint behind it.
    said=$(sed -n 's/^error: //p' "$words" | head -n 1)
    [ -n "$said" ] || said=$(tail -n 1 "$words")
    rm -f -- "$words"
    [ $status = 0 ] || give_up "cannot use the image: ${said:-status $status}"
    tell ready "$type"
}

cd -- "$at" 2> /dev/null || give_up "$at: no longer exists"
# Another deployment of the same may be at work here.
if command -v flock > /dev/null; then
    exec 9> .lock
    flock 9
fi
if is_whole "$at" "$name" "$kind" "$sum"; then
    rm -f -- "$part"
else
    take
fi
start
