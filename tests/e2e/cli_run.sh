# gpkg run
tests=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo "hello from $CONDA_PREFIX"'
script bin/words 'for word; do printf "<%s>" "$word"; done'
script bin/status 'exit "$1"'
package app 1 0
mkdir -p "$WORK/payload/etc/conda/activate.d"
echo 'echo noise; export FROM_SCRIPT=yes' > "$WORK/payload/etc/conda/activate.d/x.sh"
package scripted 1 0
expect 0 create -y -q -n one app
expect 0 create -y -q -n two app scripted

expect 0 run -n one hello
out_is "hello from $GPKG_ROOT_PREFIX/envs/one"
expect 0 run -p "$GPKG_ROOT_PREFIX/envs/one" hello
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/one CONDA_SHLVL=1 expect 0 run hello
out_is "hello from $GPKG_ROOT_PREFIX/envs/one"

# The words of the command are its own, whatever they look like.
for name in one two; do
    expect 0 run -n $name words -n x --json '[a,b]' -- -q '' 'a b' '*'
    out_is '<-n><x><--json><[a,b]><--><-q><><a b><*>'
    expect 0 run -n $name -- words -p 1
    out_is '<-p><1>'
    expect 0 run --name=$name -qv words list env
    out_is '<list><env>'
done

# So are input, exit status and signals.
last='echo in | gpkg run -n one cat'
check [ "$(echo in | "$GPKG" run -n one cat)" = in ]
expect 7 run -n one status 7
expect 3 run -n two sh -c 'exit 3'
"$GPKG" run -n one sh -c 'kill -TERM $$' 2> /dev/null
check [ $? = 143 ]
"$GPKG" run -n one sleep 60 2> /dev/null &
child=$!
for _ in $(seq 100); do
    [ "$(cat /proc/$child/comm)" = sleep ] && break
    sleep 0.1
done
kill -TERM $child
wait $child 2> /dev/null
check [ $? = 143 ]
for name in one two; do
    check timeout -s KILL 100 python3 "$tests/signals.py" "$GPKG" $name
done
# A closed pipe ends the command the way it ends any other.
last='gpkg run -n one yes | head -n 1'
check [ "$("$GPKG" run -n one yes | head -n 1)" = y ]
check [ "$("$GPKG" run -n one sh -c 'trap - PIPE; yes; echo $? >&2' 2>&1 > >(head -n 1 > /dev/null))" = 141 ]

# A program of the system runs where the environment has none of that name; -v says so.
expect 0 run -n one pwd
err_is ''
expect 0 run -v -n one pwd
err_has 'pwd is not in the environment; looking it up in PATH'
expect 0 run -v -n one hello
err_lacks 'looking it up'

# Scripts of activate.d have run, and what they print does not mix with the output.
expect 0 run -n two sh -c 'echo $FROM_SCRIPT'
out_is yes
err_has noise
expect 0 run -n one --cwd / pwd
out_is /

expect 127 run -n one no-such-command
err_has 'error: no-such-command: command not found'
mkdir -p "$GPKG_ROOT_PREFIX/envs/one/bin" && touch "$GPKG_ROOT_PREFIX/envs/one/bin/data"
expect 126 run -n one data
expect 1 run -n onee hello
err_is "error: no environment at $GPKG_ROOT_PREFIX/envs/onee
  hint: did you mean one?"
expect 1 run --json -n onee hello
json 'd["success"] is False'
expect 2 run -n one
err_is 'error: gpkg run: missing argument: COMMAND
  hint: for example: gpkg run -n ml python train.py'
expect 2 run hello
err_has 'no environment is active' 'use -n NAME or -p PATH; environments: '
# The environment's name without -n, and a mistyped program.
expect 2 run one hello
err_has 'no environment is active' 'did you mean -n one?'
expect 2 install one nosuch
err_has 'did you mean -n one?'
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/two expect 127 run one hello
err_has 'error: one: command not found'
expect 0 create -y -q -n empty
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/empty expect 127 run one hello
err_has 'one: command not found' 'did you mean -n one?'
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/two expect 1 remove -y one
err_has "one is not installed in $GPKG_ROOT_PREFIX/envs/two" 'did you mean -n one?'
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/two expect 0 list one
err_has 'did you mean -n one?'
expect 127 run -n one helo
err_has 'helo: command not found' 'did you mean hello?'
# What is meant for a shell or for python.
expect 127 run -n one A=1 hello
err_has 'to set a variable: gpkg run -n one env NAME=VALUE COMMAND'
expect 127 run -n one 'hello x | cat'
err_has "to run a command line: gpkg run -n one sh -c 'COMMANDS'"
touch script.py
expect 127 run -n one script.py
err_has 'to run it: gpkg run -n one python script.py'
expect 2 run script.py
err_has 'no environment is active' 'to run script.py without an environment: gpkg exec script.py'
expect 2 run hello there -n one
err_has 'put -n one before the command: gpkg run -n one COMMAND'
expect 2 run app -n one secret
err_has 'put -n one before the command: gpkg run -n one COMMAND'
err_lacks secret
expect 2 run -n one --clean-env app
err_has 'env -i HOME="$HOME" PATH="$PATH" gpkg run -n'
expect 2 run app secret
err_has 'app is installed in ' ': gpkg run -n one app'
err_lacks secret
printf 'name: one\ndependencies: [app]\n' > environment.yml
expect 2 run app
err_has 'hint: environment.yml in this folder names one: use -n one'
rm environment.yml
expect 2 run --nmae one hello
expect 1 run -n one --cwd /nowhere pwd
err_has '/nowhere: cannot change to this folder: No such file or directory'


# Scripts that set their own arguments do not change the command; one that ends the shell is named.
at=$(place two)/etc/conda/activate.d/z.sh
echo 'set -- a b; shift' > "$at"
expect 0 run -n two sh -c 'echo "$@"' x 1 '2  3'
out_is '1 2  3'
for script in 'exit 3' 'set -e; false'; do
    echo "$script" > "$at"
    "$GPKG" run -n two echo ran > ended.out 2> ended.err && fail 'the command ran'
    check [ ! -s ended.out ]
    check grep -q "$at exited; the command was not run" ended.err
done
rm "$at"
# Scripts that go elsewhere do not take the command along; signals that the caller blocks stay so.
mkdir -p "$WORK/payload/etc/conda/activate.d"
echo 'cd /' > "$WORK/payload/etc/conda/activate.d/away.sh"
package away 1.0 0
expect 0 create -y -n away away
mkdir -p "$WORK/some where"
cd "$WORK/some where"
expect 0 run -n away pwd
out_is "$WORK/some where"
expect 0 run -n away --cwd "$WORK" pwd
out_is "$WORK"
check [ "$(python3 - "$GPKG" <<'EOF'
import signal, subprocess, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
print(subprocess.run([sys.argv[1], "run", "-n", "away", "grep", "SigBlk", "/proc/self/status"], capture_output=True, text=True).stdout.split()[1].lstrip("0"))
EOF
)" = 202 ]
# A program of the environment that cannot be started is not replaced by another one of that name.
mkdir -p "$WORK/elsewhere" && printf '#!/bin/sh\necho another\n' > "$WORK/elsewhere/broken" && chmod 755 "$WORK/elsewhere/broken"
for kind in interpreter mode target; do
    mkdir -p "$WORK/payload/bin"
    case $kind in
        interpreter) printf '#!/no/such\n' > "$WORK/payload/bin/broken" && chmod 755 "$WORK/payload/bin/broken" ;;
        mode) printf '#!/bin/sh\n' > "$WORK/payload/bin/broken" && chmod 644 "$WORK/payload/bin/broken" ;;
        target) ln -s nowhere "$WORK/payload/bin/broken" ;;
    esac
    package "broken-$kind" 1 0
    expect 0 create -y -q -n "broken-$kind" "broken-$kind"
    PATH=$WORK/elsewhere:$PATH gpkg run -n "broken-$kind" broken
    check [ "$status" != 0 ]
    out_is ''
    err_has 'bin/broken'
done

finish
