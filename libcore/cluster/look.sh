# look JOB NAME KIND SHA256 BYTES SHARED LOCAL-FUSE FOLDER...: takes the first of the folders that is a disk of this
# node's with so much room, and makes the job's folder in it. Tells
#   leftover FOLDER JOB   of another job of this user
#   refused FOLDER WHY    room FOLDER FREE TYPE, where it is no more than that
#   at FOLDER TYPE        taken
#   whole                 what is to come is there already
job=$1 name=$2 kind=$3 sum=$4 bytes=$5 shared=$6 local_fuse=$7
shift 7

refuse() {
    tell refused "$folder" "$1"
    return 1
}

# The one who makes the folder writes its name into it. Where somebody else did, the folder is one
# of several nodes, whatever kind of file system that is.
claim() {
    at=$folder/gpkg-job-$job
    if mkdir -m 700 -- "$at" 2> /dev/null; then
        is_new=yes
        printf '%s' "$node" > "$at/.node" || {
            rmdir -- "$at"
            refuse 'is not writable'
            return
        }
        return 0
    fi
    is_new=
    [ -e "$at" ] || [ -L "$at" ] || {
        refuse 'is not writable'
        return
    }
    [ -d "$at" ] && [ ! -L "$at" ] && [ -O "$at" ] || {
        refuse "gpkg-job-$job in it belongs to another user"
        return
    }
    tries=0
    until [ -s "$at/.node" ] || [ $tries = 20 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -s "$at/.node" ] || printf '%s' "$node" > "$at/.node"
    maker=$(cat "$at/.node")
    [ "$maker" = "$node" ] || refuse "is shared by several nodes, such as $maker"
}

consider() {
    [ -d "$folder" ] || {
        refuse 'does not exist'
        return
    }
    type=unknown free= is_shared=
    if shown=$(df --output=fstype,avail -B1 -- "$folder" 2> /dev/null); then
        shown=$(last_line "$shown")
        type=${shown%% *} free=${shown##* }
    fi
    case $type in
    fuse | fuse.*) case " $local_fuse " in *" ${type#fuse.} "*) ;; *) is_shared=yes ;; esac ;;
    *) case " $shared " in *" $type "*) is_shared=yes ;; esac ;;
    esac
    [ -z "$is_shared" ] || {
        refuse "is on a network file system ($type)"
        return
    }
    claim || return
    if is_whole "$at" "$name" "$kind" "$sum"; then
        tell whole
        return 0
    fi
    # Of deployments that were killed.
    find "$at" -maxdepth 1 -name '.*.part' -mmin +10 -exec rm -f -- {} + 2> /dev/null
    case $free in
    '' | *[!0-9]*) ;;
    *)
        [ "$free" -ge "$bytes" ] || {
            tell room "$folder" "$free" "$type"
            [ -z "$is_new" ] || rm -rf -- "$at"
            return 1
        }
        ;;
    esac
}

command -v sha256sum > /dev/null || give_up 'sha256sum is not on PATH'
for folder in "$@"; do
    for old in "$folder"/gpkg-job-*; do
        number=${old##*/gpkg-job-}
        case $number in
        *[!0-9]* | '' | "$job") continue ;;
        esac
        is_ours "$old" && tell leftover "$folder" "$number"
    done
done
for folder in "$@"; do
    if consider; then
        tell at "$folder" "$type"
        exit 0
    fi
done
