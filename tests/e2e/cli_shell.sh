# gpkg shell, in every shell that this machine has.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo "hello from $CONDA_PREFIX"'
mkdir -p "$WORK/payload/etc/conda/activate.d"
for suffix in sh fish csh; do echo 'echo script on' > "$WORK/payload/etc/conda/activate.d/x.$suffix"; done
package app 1 0
expect 0 create -y -q -n one app
expect 0 create -y -q -n two app
envs=$GPKG_ROOT_PREFIX/envs
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR" "$WORK/z"

# Startup files that change PATH, as people's do: the environment still comes first.
echo 'export RC="$RC bash"; PATH=/from-rc:$PATH' > "$HOME/.bashrc"
echo 'export RC="$RC zsh"; PATH=/from-rc:$PATH' > "$HOME/.zshrc"
echo 'export RC="$RC zshenv"' > "$HOME/.zshenv"
mkdir -p "$HOME/.config/fish"
echo 'set -gx RC "$RC fish"; set -gx PATH /from-rc $PATH' > "$HOME/.config/fish/config.fish"
echo 'setenv RC "$RC tcsh"' > "$HOME/.tcshrc"
echo 'export RC="$RC dash"' > "$HOME/.dashrc"
export RC=rc

# typed SHELL LINE...: into `gpkg shell`, as a person would.
typed() {
    local shell=$1
    shift
    last="gpkg shell --shell $shell < $*"
    out=$(printf '%s\n' "$@" | timeout -s KILL 60 setsid "$GPKG" shell -n one --shell "$shell" 2> "$WORK/stderr")
    status=$?
    err=$(cat "$WORK/stderr")
}

for shell in bash zsh fish tcsh dash; do
    if ! command -v $shell > /dev/null; then
        echo "skipped: no $shell on this machine"
        continue
    fi
    [ $shell = dash ] && export ENV=$HOME/.dashrc
    typed $shell 'hello' 'echo "level $CONDA_SHLVL $RC end"' 'exit 7'
    check [ "$status" = 7 ]
    out_has 'script on' "hello from $envs/one" 'level 1 rc'
    case $shell in
        zsh) out_has 'rc zshenv zsh end' ;;
        tcsh) out_has 'rc tcsh end' ;;
        *) out_has "rc $shell end" ;;
    esac
    if [ $shell != tcsh ]; then
        # The hook is there: to enter another one, and to leave.
        typed $shell 'gpkg activate two' hello 'gpkg deactivate' hello 'gpkg deactivate' \
            'echo "left $CONDA_PREFIX end"' 'exit'
        out_has "hello from $envs/two" "hello from $envs/one" 'left  end'
    fi
    # Nested: the inner one stands over the outer one, and leaves it as it was.
    printf '%s\n' hello 'echo "level $CONDA_SHLVL end"' 'exit 3' > inner
    typed $shell "'$GPKG' shell -n two --shell $shell < inner" hello 'echo "level $CONDA_SHLVL end"' 'exit'
    out_has "hello from $envs/two" 'level 2 end' "hello from $envs/one" 'level 1 end'
    unset ENV
    last="left behind by $shell"
    check [ -z "$(ls -A "$TMPDIR")" ]
done

# What a startup file of zsh finds, and leaves, is the user's.
if command -v zsh > /dev/null; then
    echo 'echo "zshrc of z"' > "$WORK/z/.zshrc"
    ZDOTDIR=$WORK/z typed zsh 'echo "dir $ZDOTDIR end"' 'exit'
    out_has 'zshrc of z' "dir $WORK/z end"
    typed zsh 'echo "dir ${ZDOTDIR-none} end"' 'exit'
    out_has 'dir none end'
    echo "ZDOTDIR=$WORK/z" > "$HOME/.zshenv"
    typed zsh 'echo "dir $ZDOTDIR end"' 'exit'
    out_has 'zshrc of z' "dir $WORK/z end"
fi
typed dash 'echo "env ${ENV-none} end"' 'exit'
out_has 'env none end'

# A prompt, where there is a terminal.
cat > terminal.py <<'END'
import os, pty, sys
sent = False
def read(fd):
    global sent
    data = os.read(fd, 4096)
    if not sent and b"(one)" in data:
        sent = True
        os.write(fd, b"exit 5\r")
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))
END
echo "PS1='mine> '" > "$HOME/.bashrc"
last='gpkg shell in a terminal'
out=$(timeout -s KILL 60 python3 terminal.py "$GPKG" shell -n one --shell bash < /dev/null 2>&1)
status=$?
check [ "$status" = 5 ]
out_has '(one) mine> '

expect 1 shell -n onee
err_has 'did you mean one?'
expect 2 shell
err_has 'no environment is active'
expect 2 shell -n one --shell elvish
if ! command -v pwsh > /dev/null; then
    expect 1 shell -n one --shell powershell
    err_has 'cannot start pwsh: No such file or directory'
fi

finish
