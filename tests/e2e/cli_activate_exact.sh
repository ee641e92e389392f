# What a shell has in its environment after it has left an environment is what it had before, byte
# for byte, whatever happened in between; in every shell that this machine has.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo hello'
package app 1 0
# Variables that the environments set: over one that exists, an empty one, one that is not there.
printf 'dependencies: [app]\nvariables:\n  OVER: one\n  EMPTY: one\n  FRESH: "a '"'"'b'"'"' $c `d` ! \\\\ é\\nline\\n"\n' > one.yml
printf 'dependencies: [app]\nvariables:\n  OVER: two\n  ODD: two\n' > two.yml
expect 0 create -y -q -n one -f one.yml
expect 0 create -y -q -n two -f two.yml
expect 0 create -y -q -p "$WORK/here/it's a \"new\" \$place" -f one.yml
ln -s "$WORK/here/it's a \"new\" \$place" "$WORK/odd"

# Scripts that undo what they did, in the words of each shell.
for env in one two; do
    folder=$GPKG_ROOT_PREFIX/envs/$env/etc/conda
    mkdir -p "$folder/activate.d" "$folder/deactivate.d"
    echo "export SCRIPT_$env=1" > "$folder/activate.d/x y.sh"
    echo "unset SCRIPT_$env" > "$folder/deactivate.d/x y.sh"
    echo "set -gx SCRIPT_$env 1" > "$folder/activate.d/x y.fish"
    echo "set -e SCRIPT_$env" > "$folder/deactivate.d/x y.fish"
    echo "setenv SCRIPT_$env 1" > "$folder/activate.d/x y.csh"
    echo "unsetenv SCRIPT_$env" > "$folder/deactivate.d/x y.csh"
done

dir=$(dirname "$GPKG")
# A value with every byte but NUL.
every=$(python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(1, 256)) + b"x")'; echo x)
every=${every%x}

# hook_of SHELL, flags_of SHELL: how it learns of gpkg, and starts without anybody's files.
hook_of() {
    case $1 in
        fish) echo 'gpkg shell-hook -s fish | source' ;;
        tcsh) echo 'eval "`gpkg shell-hook -s tcsh`"' ;;
        dash) echo 'eval "$(gpkg shell-hook -s posix)"' ;;
        *) echo "eval \"\$(gpkg shell-hook -s $1)\"" ;;
    esac
}
flags_of() {
    case $1 in
        bash) echo '--norc --noprofile' ;;
        zsh | tcsh) echo -f ;;
        fish) echo --no-config ;;
    esac
}
# In the shell's own words.
words() {
    case $1:$2 in
        fish:prepend) echo 'set -gx PATH "/my own" $PATH' ;;
        tcsh:prepend) echo 'setenv PATH "/my own:$PATH"' ;;
        *:prepend) echo 'PATH="/my own:$PATH"' ;;
        fish:append) echo 'set -gx PATH $PATH /last' ;;
        tcsh:append) echo 'setenv PATH "${PATH}:/last"' ;;
        *:append) echo 'PATH=$PATH:/last' ;;
    esac
}

# sorted FILE [NAME...]: an environment without what shells keep in it themselves, and without NAMEs.
sorted() {
    local file=$1 names='_|SHLVL|PWD|OLDPWD|LOGNAME|HOST|HOSTTYPE|MACHTYPE|OSTYPE|VENDOR|GROUP|USER'
    shift
    for name; do names+="|$name"; done
    grep -zavE "^($names)=" "$file" | sort -z
}

# steps SHELL NAME [LINE...]: the lines between two pictures of the environment, which must be equal.
# LESS: variables that the steps change on purpose.
steps() {
    local shell=$1 name=$2
    shift 2
    {
        hook_of "$shell"
        echo '/usr/bin/env -0 > before'
        printf '%s\n' "$@"
        echo '/usr/bin/env -0 > after'
    } > steps
    rm -f before after
    env -i PATH="$dir:/usr/bin:/bin" HOME="$HOME" GPKG_ROOT_PREFIX="$GPKG_ROOT_PREFIX" "${START[@]}" \
        timeout -s KILL 60 "$shell" $(flags_of "$shell") steps > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    status=$?
    out=$(tr '\0' '\n' < "$WORK/stdout") err=$(cat "$WORK/stderr") last="$shell: $name"
    checks=$((checks + 1))
    sorted before $LESS > before.sorted
    sorted after $LESS > after.sorted
    if [ ! -s before.sorted ] || ! cmp -s before.sorted after.sorted; then
        out=$(diff -a <(tr '\0' '\n' < before.sorted) <(tr '\0' '\n' < after.sorted))
        fail 'the environment is not what it was'
    fi
}

LESS=
for shell in bash zsh fish tcsh dash; do
    if ! command -v $shell > /dev/null; then
        echo "skipped: no $shell on this machine"
        continue
    fi
    for locale in C C.UTF-8; do
        START=(LC_ALL=$locale OVER="$every" EMPTY= ODD=$'quo"te\'s\n$HOME `x`\n\n' UTF8='é ☃')
        steps $shell "one" 'gpkg activate one' '/usr/bin/env -0 > inside' 'gpkg deactivate'
        check grep -zqxF "$(printf 'OVER=one')" inside
        check grep -zqx 'SCRIPT_one=1' inside
        check [ "$(grep -zac '^FRESH=a '"'b'"' \$c `d` ! \\ é' inside)" = 1 ]
        steps $shell "nested" 'gpkg activate one' 'gpkg activate two' 'gpkg deactivate' 'gpkg deactivate'
    done
    check [ "$err" = '' ]
    steps $shell "stacked" 'gpkg activate one' 'gpkg activate --stack two' \
        '/usr/bin/env -0 > inside' 'gpkg deactivate' 'gpkg deactivate'
    check grep -zqx "PATH=$GPKG_ROOT_PREFIX/envs/two/bin:$GPKG_ROOT_PREFIX/envs/one/bin:$dir:/usr/bin:/bin" inside
    steps $shell "stacked in nested" 'gpkg activate one' 'gpkg activate two' 'gpkg activate --stack one' \
        'gpkg activate base' 'gpkg deactivate' 'gpkg deactivate' 'gpkg deactivate' 'gpkg deactivate'
    steps $shell "reactivated" 'gpkg activate one' 'gpkg activate one' 'gpkg reactivate' 'gpkg activate two' \
        'gpkg reactivate' 'gpkg activate one' 'gpkg deactivate'
    steps $shell "an odd place" "gpkg activate $WORK/odd/" 'gpkg deactivate'
    steps $shell "left once too often" 'gpkg activate one' 'gpkg deactivate' 'gpkg deactivate'
    # Through a command that refreshes the active environment, with variables that changed meanwhile.
    steps $shell "changed inside" 'gpkg activate one' \
        'gpkg env config vars set -q -n one ODD=now LATER=now' 'gpkg env config vars unset -q -n one EMPTY' \
        'gpkg install -y -q app' 'gpkg deactivate'
    expect 0 env config vars set -n one EMPTY=one
    expect 0 env config vars unset -n one ODD LATER
    steps $shell "changed while another was active" 'gpkg activate one' 'gpkg activate two' \
        'gpkg env config vars set -q -n one ODD=now' 'gpkg env config vars unset -q -n one EMPTY' \
        'gpkg deactivate' 'gpkg deactivate'
    expect 0 env config vars set -n one EMPTY=one
    expect 0 env config vars unset -n one ODD
    # Gone while they were active: the variables are given back all the same.
    # What their scripts did is their scripts' to undo, and these are gone too.
    for gone in one two; do
        LESS=SCRIPT_two steps $shell "$gone removed meanwhile" 'gpkg activate one' 'gpkg activate two' \
            "mv $GPKG_ROOT_PREFIX/envs/$gone $WORK/kept" 'gpkg deactivate' 'gpkg deactivate'
        check mv "$WORK/kept" "$GPKG_ROOT_PREFIX/envs/$gone"
    done

    # What was there of conda's own variables before anything was active; and stale ones.
    START=(CONDA_SHLVL=0 CONDA_DEFAULT_ENV=mine CONDA_PROMPT_MODIFIER= OVER=before)
    steps $shell "conda was there" 'gpkg activate one' 'gpkg activate two' 'gpkg deactivate' 'gpkg deactivate'
    START=(__CONDA_SHLVL_0_FRESH=stale CONDA_STACKED_2=true OVER=before)
    LESS='__CONDA_SHLVL_0_FRESH CONDA_STACKED_2' steps $shell "stale variables" 'gpkg activate one' \
        'gpkg activate two' 'gpkg deactivate' 'gpkg deactivate'

    # PATH belongs to the user: what was put before and behind stays where it is.
    START=(OVER=before)
    LESS=PATH steps $shell "PATH changed inside" 'gpkg activate one' "$(words $shell prepend)" \
        'gpkg activate two' "$(words $shell append)" '/usr/bin/env -0 > inside' 'gpkg deactivate' 'gpkg deactivate'
    check grep -zqx "PATH=/my own:$GPKG_ROOT_PREFIX/envs/two/bin:$dir:/usr/bin:/bin:/last" inside
    check grep -zqx "PATH=/my own:$dir:/usr/bin:/bin:/last" after
done

finish
