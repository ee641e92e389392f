# gpkg activate, deactivate, shell-hook, in every shell that this machine has.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo hello'
mkdir -p "$WORK/payload/etc/conda/activate.d" "$WORK/payload/etc/conda/deactivate.d"
for suffix in sh fish csh; do
    echo 'echo "script on"' > "$WORK/payload/etc/conda/activate.d/x.$suffix"
    echo 'echo "script off"' > "$WORK/payload/etc/conda/deactivate.d/x.$suffix"
done
package app 1 0
package later 1 0
printf 'dependencies: [app]\nvariables:\n  QUOTED: "a '"'"'b'"'"' $c `d`"\n' > one.yml
expect 0 create -y -q -n one -f one.yml
expect 0 create -y -q -n two app

# Without the hook: how to load it, in the syntax of the current shell.
SHELL=/bin/bash expect 2 activate one
err_has 'error: gpkg activate needs the shell hook, which is not loaded'
err_has 'eval "$(gpkg shell-hook -s bash)"'
err_has 'gpkg shell -n one'
expect 1 activate onee
err_has 'did you mean one?'
expect 2 deactivate
err_has 'gpkg deactivate needs the shell hook'
err_lacks 'gpkg shell -n'
expect 0 shell-hook bash
hook=$out
expect 0 shell-hook -s bash
out_is "$hook"
expect 2 activate one --json
json 'd["success"] is False and "shell-hook" in d["hint"]'
expect 2 shell-hook -s elvish
err_has "unknown shell 'elvish'"
expect 2 activate --shell bash
err_has 'gpkg activate: missing argument: ENV' 'name an environment: gpkg activate NAME'
expect 1 activate --shell bash onee
err_has 'did you mean one?'
out_is ''
expect 1 shell-hook -s bash -n onee
expect 0 shell-hook -s zsh --json
json '"gpkg" in d["code"]'

# No PowerShell runs here: what is printed for it is looked at.
expect 0 shell-hook -s pwsh
out_has 'function global:gpkg {' "--shell powershell @rest | Out-String"
echo 'x' > "$GPKG_ROOT_PREFIX/envs/one/etc/conda/activate.d/x.ps1"
expect 0 activate --shell powershell one
out_has "\$Env:CONDA_PREFIX = '$GPKG_ROOT_PREFIX/envs/one'" "\$Env:QUOTED = 'a ''b'' \$c \`d\`'" \
    ". '$GPKG_ROOT_PREFIX/envs/one/etc/conda/activate.d/x.ps1'"
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/one CONDA_SHLVL=1 expect 0 deactivate --shell powershell
out_has 'Remove-Item -LiteralPath Env:CONDA_PREFIX -ErrorAction SilentlyContinue'

cat > steps <<'END'
gpkg activate one
hello
echo "prefix $CONDA_PREFIX level $CONDA_SHLVL quoted $QUOTED"
gpkg activate two
echo "prefix $CONDA_PREFIX level $CONDA_SHLVL quoted $QUOTED"
gpkg install -y -q later
gpkg deactivate
echo "prefix $CONDA_PREFIX level $CONDA_SHLVL"
gpkg deactivate
echo "prefix $CONDA_PREFIX level $CONDA_SHLVL"
gpkg activate onee
echo "status $?"
gpkg list -n two later
END
steps_expected="script on
hello
prefix $GPKG_ROOT_PREFIX/envs/one level 1 quoted a 'b' \$c \`d\`
script off
script on
prefix $GPKG_ROOT_PREFIX/envs/two level 2 quoted 
script off
script on
script off
script on
prefix $GPKG_ROOT_PREFIX/envs/one level 1
script off
prefix  level 
status 1
# packages in environment at $GPKG_ROOT_PREFIX/envs/two:
#
# Name  Version  Build  $(printf '%-*s' ${#CHANNEL} Channel)  Requested
later   1        0      $CHANNEL  later"

export PATH=$(dirname "$GPKG"):$PATH
path_before=$PATH
for shell in bash zsh fish tcsh; do
    if ! command -v $shell > /dev/null; then
        echo "skipped: no $shell on this machine"
        continue
    fi
    case $shell in
        bash) hook='eval "$(gpkg shell-hook -s bash)"' options='--norc --noprofile -u' ;;
        zsh) hook='eval "$(gpkg shell-hook -s zsh)"' options='-f -u' ;;
        fish) hook='gpkg shell-hook -s fish | source' options='--no-config' ;;
        tcsh) hook='eval "`gpkg shell-hook -s tcsh`"' options=-f ;;
    esac
    steps=$(cat steps)
    [ $shell = fish ] && steps=${steps//'$?'/'$status'}
    if [ $shell = tcsh ]; then
        # It knows no names for what is not there.
        for name in CONDA_PREFIX CONDA_SHLVL QUOTED; do
            steps=${steps//"\$$name"/'`printenv '$name'`'}
        done
        steps=${steps//'$?'/'$status'}
    fi
    # -u makes bash and zsh stop at variables that are not set; some of ours are gone at the end.
    if [[ $shell = bash || $shell = zsh ]]; then
        for name in CONDA_PREFIX CONDA_SHLVL QUOTED; do
            steps=${steps//"\$$name"/"\${$name-}"}
        done
    fi
    printf '%s\n%s\necho "$PATH"\n' "$hook" "$steps" > "steps.$shell"
    last="$shell steps.$shell"
    out=$($shell $options "steps.$shell" 2> "$WORK/stderr")
    status=$?
    err=$(cat "$WORK/stderr")
    [ $shell = fish ] && out=${out//"$(tail -n 1 <<< "$out")"/$path_before}
    out_is "$steps_expected
$path_before"
    err_has "no environment at $GPKG_ROOT_PREFIX/envs/onee"
    rm -rf "$GPKG_ROOT_PREFIX/envs/two"
    expect 0 create -y -q -n two app
done

# fish and its prompt, which is a function of the user's that sees the status of the last command.
if command -v fish > /dev/null; then
    cat > prompt.fish <<'END'
function fish_prompt
    echo "status $status> "
end
gpkg shell-hook -s fish | source
gpkg activate one > /dev/null
gpkg run -n one sh -c 'exit 3'
fish_prompt
gpkg deactivate > /dev/null
gpkg shell-hook -s fish | source
fish_prompt
END
    last='fish prompt.fish'
    out=$(fish --no-config prompt.fish 2>&1)
    out_is '(one) status 3> 
status 0> '
    # A variable for ever is not erased, whatever an environment says of it.
    last='fish with a universal variable'
    expect 0 create -y -q -n three
    mkdir -p "$GPKG_ROOT_PREFIX/envs/three/etc/conda/env_vars.d"
    echo '{"FOREVER": "***unset***", "COVERED": "now"}' \
        > "$GPKG_ROOT_PREFIX/envs/three/etc/conda/env_vars.d/x.json"
    out=$(fish -c 'set -Ux FOREVER mine; set -Ux COVERED mine; gpkg shell-hook -s fish | source
        gpkg activate three; printenv COVERED; gpkg deactivate; printenv COVERED' 2>&1)
    out_is 'now
mine'
    out=$(fish -c 'echo $FOREVER $COVERED' 2>&1)
    out_is 'mine mine'
fi

# Activation code alone, as scripts and containers want it.
last='eval "$(gpkg shell-hook -s posix -n one)"'
out=$(dash -c 'eval "$(gpkg shell-hook -s posix -n one)"; hello; echo "$CONDA_PREFIX"' 2>&1)
out_is "script on
hello
$GPKG_ROOT_PREFIX/envs/one"

# Scripts of packages are read without errexit and nounset, which are on again afterwards. A script that sh
# cannot read does not end it.
mkdir -p "$WORK/payload/etc/conda/activate.d" "$WORK/payload/etc/conda/deactivate.d"
printf 'false\n[ "$NOT_SET" = 1 ]\nexport READ=1\nfalse\n' | tee "$WORK/payload/etc/conda/activate.d/s.sh" > "$WORK/payload/etc/conda/deactivate.d/s.sh"
package strict 1 0
mkdir -p "$WORK/payload/etc/conda/activate.d"
printf 'function f() {\n  :\n}\na=(1)\nexport READ=1\n' > "$WORK/payload/etc/conda/activate.d/b.sh"
package bashy 1 0
expect 0 create -y -q -n strict strict
expect 0 create -y -q -n bashy bashy
for shell in bash zsh dash; do
    program=$(command -v $shell) || continue
    kind=$shell && [ $shell != dash ] || kind=posix
    last="$shell -eu"
    out=$($program -c "set -eu; eval \"\$('$GPKG' shell-hook -s $kind)\"; gpkg activate strict; echo \$READ; unset READ
        gpkg deactivate; case \$- in *e*) echo errexit;; esac; echo \$READ; echo \$NOT_SET" 2> "$WORK/stderr")
    status=$? err=$(cat "$WORK/stderr")
    check [ $status != 0 ]
    out_is '1
errexit
1'
    err_has NOT_SET
    last="$shell, a script in bash"
    out=$($program -c "eval \"\$('$GPKG' shell-hook -s $kind)\"; gpkg activate bashy; echo \$CONDA_PREFIX" 2> "$WORK/stderr")
    status=$? err=$(cat "$WORK/stderr")
    out_is "$GPKG_ROOT_PREFIX/envs/bashy"
    [ $shell != dash ] || err_has bashy/etc/conda/activate.d/b.sh
    # A PATH that the shell does not export stays behind the environment, and is back afterwards.
    last="env -i $shell"
    out=$(env -i HOME="$HOME" GPKG_ROOT_PREFIX="$GPKG_ROOT_PREFIX" $program -f -c "PATH=/usr/bin:/bin; typeset +x PATH 2> /dev/null
        eval \"\$('$GPKG' shell-hook -s $kind)\"; gpkg activate one > /dev/null; echo \$PATH; gpkg deactivate > /dev/null; echo \$PATH" 2>&1)
    out_is "$GPKG_ROOT_PREFIX/envs/one/bin:/usr/bin:/bin
/usr/bin:/bin"
done
# Of the active environment, the programs come first even if something was put before them.
last='activate what is active'
out=$(PATH="/usr/bin:/bin:$GPKG_ROOT_PREFIX/envs/one/bin" CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/one CONDA_SHLVL=1 \
    bash -c "eval \"\$('$GPKG' shell-hook -s bash)\"; gpkg activate one > /dev/null; echo \$PATH; PATH=/first:\$PATH; gpkg reactivate > /dev/null; echo \$PATH")
out_is "$GPKG_ROOT_PREFIX/envs/one/bin:/usr/bin:/bin
/first:$GPKG_ROOT_PREFIX/envs/one/bin:/usr/bin:/bin"
# Without PATH, run finds the programs of the system.
last='env -i gpkg run'
out=$(env -i HOME="$HOME" GPKG_ROOT_PREFIX="$GPKG_ROOT_PREFIX" "$GPKG" run -n two sh -c 'echo $PATH; ls -d /' 2> "$WORK/stderr")
out_has "$GPKG_ROOT_PREFIX/envs/two/bin:"
check [ "$(tail -n 1 <<< "$out")" = / ]

# The prompt stays as it is where the configuration, or conda's, says so.
PS1='$ ' expect 0 activate --shell bash one
out_has "CONDA_PROMPT_MODIFIER='(one) '"
echo 'changeps1: false' > "$HOME/.condarc"
PS1='$ ' expect 0 activate --shell bash one
out_has "CONDA_PROMPT_MODIFIER=''"
rm "$HOME/.condarc"

finish
