# A Slurm cluster on this machine, for tests: a real slurmctld, and a slurmd for each node with a mount
# namespace of its own. To be sourced after lib.sh. Sets SLURM_CONF, $SLURM (the cluster's folder) and
# $NODE_DISK, a folder that is another one on each node, as /tmp is in a cluster; seen from outside, that of
# node n1 is $SLURM/disk/n1. Everything is gone when the test ends.
#
#   slurm_node NAME [KEY=VALUE...]   a node, with what slurm.conf may say of it (Feature=..., Gres=gpu:a100:2);
#                                    before it starts, $SLURM/prepare.NAME is run in its namespace, if there
#   slurm_partition NAME NODES [KEY=VALUE...]
#   slurm_setting KEY=VALUE...       further lines of slurm.conf
#   slurm_start                      starts it, and waits until all nodes can be used

# slurmd starts steps as the user that they are of, which takes root.
[ "$(id -u)" = 0 ] || { echo "SKIPPED: only root can start a Slurm cluster"; exit 0; }
unshare -m true 2> /dev/null || { echo "SKIPPED: this machine gives no mount namespaces"; exit 0; }
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun sbcast munged; do
    command -v $program > /dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(SLURM_|SBATCH_|SRUN_|SALLOC_)')

SLURM=$WORK/slurm
NODE_DISK=$SLURM/local
export SLURM_CONF=$SLURM/slurm.conf
mkdir -p "$SLURM/state" "$SLURM/dev" "$NODE_DISK"
slurm_nodes=()
: > "$SLURM/nodes.conf"
: > "$SLURM/gres.conf"

# free_port: one that nobody listens on now.
free_port() {
    python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

slurm_node() {
    local name=$1 word gres count type device
    shift
    slurm_nodes+=("$name")
    printf 'NodeName=%s NodeHostname=localhost NodeAddr=127.0.0.1 Port=%s CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000 %s\n' \
        "$name" "$(free_port)" "$*" >> "$SLURM/nodes.conf"
    for word in "$@"; do
        [[ $word == Gres=* ]] || continue
        # A device file for each, as slurmd wants it.
        for gres in ${word//[=,]/ }; do
            [[ $gres == gpu:*:* ]] || continue
            type=${gres#gpu:} count=${gres##*:}
            for ((device = 0; device < count; device++)); do
                : > "$SLURM/dev/$name-${type%:*}-$device"
            done
            printf 'NodeName=%s Name=gpu Type=%s File=%s\n' "$name" "${type%:*}" \
                "$SLURM/dev/$name-${type%:*}-[0-$((count - 1))]" >> "$SLURM/gres.conf"
        done
    done
}

slurm_partition() {
    printf 'PartitionName=%s Nodes=%s MaxTime=INFINITE State=UP %s\n' "$1" "$2" "${*:3}" >> "$SLURM/nodes.conf"
}

slurm_setting() { printf '%s\n' "$@" >> "$SLURM/nodes.conf"; }

slurm_write_conf() {
    cat > "$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$SLURM/munge.socket
CredType=cred/munge
StateSaveLocation=$SLURM/state
SlurmctldPidFile=$SLURM/slurmctld.pid
SlurmdPidFile=$SLURM/slurmd.%n.pid
SlurmdSpoolDir=$SLURM/spool.%n
SlurmctldLogFile=$SLURM/slurmctld.log
SlurmdLogFile=$SLURM/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
GresTypes=gpu
$(cat "$SLURM/nodes.conf")
CONF
}

slurm_stop() {
    local pid
    for pid in "$SLURM"/*.pid; do
        [ -s "$pid" ] && kill "$(cat "$pid")" 2> /dev/null
    done
    for _ in $(seq 50); do
        pgrep -f "$SLURM/slurm.conf" > /dev/null || break
        sleep 0.1
    done
    pkill -9 -f "$SLURM" 2> /dev/null
}
trap 'slurm_stop; rm -rf "$WORK"' EXIT

slurm_start() {
    local node
    slurm_write_conf
    head -c 1024 /dev/urandom > "$SLURM/munge.key"
    chmod 0400 "$SLURM/munge.key"
    chmod go+rx "$WORK" "$SLURM"
    munged --force --key-file="$SLURM/munge.key" --socket="$SLURM/munge.socket" --pid-file="$SLURM/munged.pid" \
        --log-file="$SLURM/munged.log" --seed-file="$SLURM/munged.seed" 2> "$SLURM/munged.said"
    slurmctld -f "$SLURM_CONF"
    for node in "${slurm_nodes[@]}"; do
        mkdir -p "$SLURM/spool.$node" "$SLURM/disk/$node"
        chmod 1777 "$SLURM/disk/$node"
        unshare -m --propagation private bash -c '
            mount --bind "$1/disk/$2" "$3"
            [ ! -e "$1/prepare.$2" ] || . "$1/prepare.$2"
            exec slurmd -f "$1/slurm.conf" -N "$2"' slurmd "$SLURM" "$node" "$NODE_DISK"
    done
    for _ in $(seq 100); do
        [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = ${#slurm_nodes[@]} ] && return
        sleep 0.1
    done
    echo "FAILED: the Slurm cluster did not start"
    cat "$SLURM"/*.log
    exit 1
}
