# relay SCRIPT JOB AT PART [NODE]...: writes standard input to PART in the folder AT, then hands it to
# half of the nodes by way of one, and to the others by way of another. Tells
#   got
#   error WHY
#   warning WHY   the first of a half could not be reached
script=$1 job=$2 at=$3 part=$4
shift 4

if ! said=$({ cat > "$at/$part"; } 2>&1); then
    tell error "$(last_line "$said")"
    # Who sends must not be left waiting.
    cat > /dev/null
    exit 0
fi
tell got
[ $# -gt 0 ] || exit 0

# A step of its own, and not one like this.
for variable in $(env | sed -n 's/^\(SLURM_[A-Za-z0-9_]*\)=.*/\1/p'); do
    case $variable in
    SLURM_CONF | SLURM_CLUSTERS) ;;
    *) unset "$variable" ;;
    esac
done
send() {
    first=$1
    shift
    said=$({ srun --jobid="$job" --nodelist="$first" --nodes=1 --ntasks=1 --overlap --mpi=none --chdir=/ --quiet \
        /bin/sh -c "$script" relay "$script" "$job" "$at" "$part" "$@" < "$at/$part" >&3 3>&-; } 2>&1) ||
        tell warning "to $first: $(last_line "$said")"
}
exec 3>&1
near= far= count=$((($# + 1) / 2))
for one in "$@"; do
    if [ $count -gt 0 ]; then near="$near $one"; else far="$far $one"; fi
    count=$((count - 1))
done
# Names of nodes have no blanks in them.
send $near &
[ -z "$far" ] || send $far &
wait
