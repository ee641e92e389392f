# Profiles of hosts that ssh reaches: gpkg hardware --hosts, with a real sshd.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"
PATH=$PATH:/usr/sbin
for program in sshd ssh ssh-keygen; do
    command -v $program > /dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done

keys=$WORK/ssh
mkdir -m 700 "$keys"
ssh-keygen -q -t ed25519 -N '' -f "$keys/host"
ssh-keygen -q -t ed25519 -N '' -f "$keys/user"
cp "$keys/user.pub" "$keys/authorized"
read -r port silent closed < <(python3 -c 'import socket
made = [socket.socket() for _ in range(3)]
for s in made: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in made))')
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
cat > "$keys/sshd_config" <<CONF
ListenAddress 127.0.0.1:$port
HostKey $keys/host
AuthorizedKeysFile $keys/authorized
PidFile $keys/pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
CONF
"$(command -v sshd)" -f "$keys/sshd_config" -E "$keys/log"
# It takes connections and never says a word.
python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); time.sleep(60)' "$silent" &
trap 'kill $(cat "$keys/pid") %1 2> /dev/null; rm -rf "$WORK"' EXIT
cat > "$keys/config" <<CONF
Host node1 node2
  Port $port
Host stranger
  Port $port
  IdentityFile $keys/host
Host silent
  Port $silent
Host closed
  Port $closed
Host * !stranger
  IdentityFile $keys/user
Host *
  HostName 127.0.0.1
  IdentitiesOnly yes
  UserKnownHostsFile $keys/known
  StrictHostKeyChecking accept-new
CONF
for _ in $(seq 50); do [ -s "$keys/pid" ] && break; sleep 0.1; done

# Each host is a machine with a name; what its login says is no part of it.
profiles=$GPKG_ROOT_PREFIX/profiles
script greeting 'echo Welcome; echo "---"; echo busy >&2; exec sh -c "$SSH_ORIGINAL_COMMAND"'
mv "$WORK/payload/greeting" "$WORK/greeting"
echo "ForceCommand $WORK/greeting" >> "$keys/sshd_config"
kill -HUP "$(cat "$keys/pid")"
sleep 0.3
expect 0 hardware --hosts node1,"$(id -un)@node2" --ssh-options "-F $keys/config"
out_has 'host=node1' 'host=node2' "host $(id -un)@node2, "
err_has 'node1: busy'
check grep -q 'gpkg_profile: 1' "$profiles/host=node1.yaml"
package data 1.0 0
expect 0 solve data --for host=node2 --json
err_lacks 'warning'
expect 0 hardware --for host=node1 --json
json 'd["origin"].startswith("host node1, 20") and d["microarchitecture"]'

# Some that do not answer: the others are written, and why not these is said; nothing is asked for.
rm "$profiles"/*
expect 1 hardware --hosts node1,closed,silent,stranger --wait 2 --ssh-options "-F $keys/config" --json
json '[p["name"] for p in d["profiles"]] == ["host=node1"] and not d["success"]'
json '"Connection refused" in {f["host"]: f["error"] for f in d["failures"]}["closed"]'
json '"timed out" in {f["host"]: f["error"] for f in d["failures"]}["silent"]'
json '"Permission denied" in {f["host"]: f["error"] for f in d["failures"]}["stranger"]'
check [ "$(ls "$profiles")" = host=node1.yaml ]
expect 1 hardware --hosts node1 --gpkg /no/gpkg --ssh-options "-F $keys/config"
err_has 'node1: cannot run /no/gpkg' 'with --gpkg PATH'
expect 1 hardware --hosts node1 --gpkg /bin/true --ssh-options "-F $keys/config"
err_has 'reading the profile'
expect 2 hardware --hosts ' -oProxyCommand=x'
expect 2 hardware --hosts -oProxyCommand=x
expect 2 hardware --hosts ../node
expect 2 hardware --hosts node1,me@node1
err_has 'node1 is given twice'
finish
