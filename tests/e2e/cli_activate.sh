# gpkg activate, deactivate, shell-hook, in every shell that this machine has.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo hello'
mkdir -p "$WORK/payload/etc/conda/activate.d" "$WORK/payload/etc/conda/deactivate.d"
for suffix in sh fish; do
    echo 'echo "script on"' > "$WORK/payload/etc/conda/activate.d/x.$suffix"
    echo 'echo "script off"' > "$WORK/payload/etc/conda/deactivate.d/x.$suffix"
done
package app 1 0
package later 1 0
printf 'dependencies: [app]\nvariables:\n  QUOTED: "a '"'"'b'"'"' $c `d`"\n' > one.yml
expect 0 create -y -q -n one -f one.yml
expect 0 create -y -q -n two app

# Without the hook: what to do, in the words of the shell that asks.
SHELL=/bin/bash expect 2 activate one
err_has 'error: activate changes the shell, which needs gpkg'"'"'s shell hook'
err_has 'eval "$(gpkg shell-hook -s bash)"'
expect 2 deactivate
err_has 'deactivate changes the shell'
expect 2 activate one --json
json 'd["success"] is False and "shell-hook" in d["hint"]'
expect 2 shell-hook -s tcsh
err_has 'is no shell that gpkg speaks'
expect 1 activate --shell bash onee
err_has 'did you mean one?'
out_is ''
expect 1 shell-hook -s bash -n onee
expect 0 shell-hook -s zsh --json
json '"gpkg" in d["code"]'

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
# Name  Version  Build  Channel
later   1        0      file://$CHANNEL"

export PATH=$(dirname "$GPKG"):$PATH
path_before=$PATH
for shell in bash zsh fish; do
    if ! command -v $shell > /dev/null; then
        echo "skipped: no $shell on this machine"
        continue
    fi
    case $shell in
        bash) hook='eval "$(gpkg shell-hook -s bash)"' options='--norc --noprofile -u' ;;
        zsh) hook='eval "$(gpkg shell-hook -s zsh)"' options='-f -u' ;;
        fish) hook='gpkg shell-hook -s fish | source' options='--no-config' ;;
    esac
    steps=$(cat steps)
    [ $shell = fish ] && steps=${steps//'$?'/'$status'}
    # -u makes bash and zsh stop at variables that are not set; some of ours are gone at the end.
    [ $shell = fish ] || steps=${steps//'$QUOTED'/'${QUOTED-}'}
    [ $shell = fish ] || steps=${steps//'$CONDA_PREFIX'/'${CONDA_PREFIX-}'}
    [ $shell = fish ] || steps=${steps//'$CONDA_SHLVL'/'${CONDA_SHLVL-}'}
    printf '%s\n%s\necho "$PATH"\n' "$hook" "$steps" > "steps.$shell"
    last="$shell steps.$shell"
    out=$($shell $options "steps.$shell" 2> "$WORK/stderr")
    status=$?
    err=$(cat "$WORK/stderr")
    [ $shell = fish ] && out=${out//"$(tail -n 1 <<< "$out")"/$path_before}
    out_is "$steps_expected
$path_before"
    err_has 'onee: is no environment'
    rm -rf "$GPKG_ROOT_PREFIX/envs/two"
    expect 0 create -y -q -n two app
done

# Activation code alone, as scripts and containers want it.
last='eval "$(gpkg shell-hook -s posix -n one)"'
out=$(dash -c 'eval "$(gpkg shell-hook -s posix -n one)"; hello; echo "$CONDA_PREFIX"' 2>&1)
out_is "script on
hello
$GPKG_ROOT_PREFIX/envs/one"

finish
