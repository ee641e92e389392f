# The question that create, install and remove ask on a terminal, and only there
. "$(dirname "$0")/lib.sh"

script bin/app 'echo app'
package app 1.0 0

# answer KEYS WORDS...: runs gpkg on a terminal of its own and types KEYS once it has asked; sets
# $status and $out. It may take ten seconds.
answer() {
    last="gpkg ${*:2} on a terminal, answered $1"
    out=$(python3 -c '
import os, pty, select, sys, time
keys = sys.argv[1].encode().decode("unicode_escape").encode()
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said, until = b"", time.time() + 10
while time.time() < until:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
    if keys and b"[Y/n]" in said:
        os.write(terminal, keys)
        keys = b""
else:
    os.kill(pid, 9)
sys.stdout.write(said.decode())
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 99)' "$1" "$GPKG" "${@:2}")
    status=$? err=
}

for keys in 'n\n' 'no\n' '\x04' '\x03'; do
    answer "$keys" create -n x app
    check [ "$status" = 1 ]
    out_has 'Proceed? [Y/n]'
    out_has 'nothing was changed'
    absent x
    check [ ! -e "$GPKG_ROOT_PREFIX/pkgs" ]
done
for keys in '\n' 'y\n' 'Yes\n'; do
    answer "$keys" create -n x app
    check [ "$status" = 0 ]
    out_has 'Proceed? [Y/n]'
    answer 'n\n' install -n x app --force-reinstall
    check [ "$status" = 1 ]
    answer 'n\n' remove -n x app
    has x app-1.0
    answer '\x03' remove -n x --all
    check [ "$status" = 1 ]
    has x app-1.0
    answer "$keys" remove -n x --all
    check [ "$status" = 0 ]
    absent x
done

# Told beforehand, or with nobody to read it, nothing is asked.
answer '' create -n x -y app
check [ "$status" = 0 ]
out_lacks 'Proceed?'
answer '' install -n x --json app --force-reinstall
out_lacks 'Proceed?'
answer '' remove -n x -d app
out_lacks 'Proceed?'
expect 0 remove -n x app
out_lacks 'Proceed?'
err_lacks 'Proceed?'
expect 0 remove -n x --all
absent x

finish
