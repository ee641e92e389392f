# gpkg completion, in every shell that this machine has.
. "$(dirname "$0")/lib.sh"

package app-tool 1 0
expect 0 create -y -q -n one app-tool
expect 0 create -y -q -n other

# What the scripts ask.
complete() { expect 0 __complete -- gpkg "$@"; }
complete ''
out_has 'create
'
out_lacks __complete
out_lacks reactivate
complete act
out_is activate
complete install --dry
out_is --dry-run
complete config --remove
out_is '--remove
--remove-key'
complete run -n o
out_is 'one
other'
complete env ''
out_is 'config
create
export
list
remove
update'
complete exp
out_is export
complete env config vars u
out_is unset
complete env export -n one --from
out_is --from-history
complete env remove --name ot
out_is other
complete remove -n one a
out_is app-tool
# Names of the channels, of those that are in the cache; of settings.
complete install -n one app
out_is app-tool
complete create -n new ''
out_is @files
complete search nosuch
out_is @files
complete config set channel_p
out_is channel_priority
complete config set channel_priority ''
out_is 'disabled
flexible
strict'
complete config set always_yes t
out_is true
complete config set cache_dir ''
out_is @files
complete rollback -n one ''
out_is 1
complete config get channels ''
out_is @files
complete activate o
out_is 'one
other'
complete create --platform osx
out_is 'osx-64
osx-arm64'
complete create -f ''
out_is @files
complete build ''
out_is @files
complete build plan
out_is plan-variants
complete build plan-variants --fut
out_is --future
complete closure why -n one app
out_is app-tool
complete shell-hook -s z
out_is zsh
complete init po
out_is 'posix
powershell'
complete shell -n o
out_is 'one
other'
complete shell --shell tc
out_is tcsh
complete exec --ref
out_is --refresh
complete completion b
out_is bash
expect 0 __complete
expect 0 __complete -- gpkg frob --x y

expect 2 completion tcsh
expect 2 completion posix
export PATH=$(dirname "$GPKG"):$PATH
expect 0 completion bash
eval "$out"
COMP_WORDS=(gpkg list -n o) COMP_CWORD=3
COMPREPLY=()
_gpkg_complete
last='completion in bash'
check [ "${COMPREPLY[*]}" = 'one other' ]
if command -v zsh > /dev/null; then
    expect 0 completion zsh
    last='completion in zsh'
    out=$(zsh -f -c 'compadd() { shift; print -l -- "$@"; }; compdef() { :; }
        eval "$(gpkg completion zsh)"; words=(gpkg list -n o); CURRENT=4; _gpkg' 2>&1)
    out_is 'one
other'
fi
if command -v fish > /dev/null; then
    last='completion in fish'
    out=$(fish --no-config -c 'gpkg completion fish | source; complete -C "gpkg list -n o"' 2>&1)
    out_is 'one
other'
fi

# The hook brings the completion, and says nothing once its program is gone.
unset -f _gpkg_complete
cp "$GPKG" "$WORK/gpkg-gone"
last='completion of the hook'
for shell in bash zsh fish; do
    command -v $shell > /dev/null || continue
    "$WORK/gpkg-gone" shell-hook -s $shell > "$WORK/hook.$shell"
done
bash_completes='. "$1"; COMP_WORDS=(gpkg list -n o) COMP_CWORD=3; _gpkg_complete; printf "%s\n" "${COMPREPLY[@]}"'
zsh_completes='compadd() { shift; print -l -- "$@"; }; compdef() { :; }; _files() { :; }
    eval "$(< $1)"; words=(gpkg list -n o); CURRENT=4; _gpkg'
out=$(bash --norc -c "$bash_completes" bash "$WORK/hook.bash" 2>&1)
out_is 'one
other'
if command -v zsh > /dev/null; then
    out=$(zsh -f -c "$zsh_completes" zsh "$WORK/hook.zsh" 2>&1)
    out_is 'one
other'
    out=$(zsh -f -c '. "$1"' zsh "$WORK/hook.zsh" 2>&1)
    out_is ''
fi
if command -v fish > /dev/null; then
    out=$(fish --no-config -c "source '$WORK/hook.fish'; complete -C 'gpkg list -n o'" 2>&1)
    out_is 'one
other'
fi
rm "$WORK/gpkg-gone"
out=$(bash --norc -c "$bash_completes" bash "$WORK/hook.bash" 2>&1)
out_is ''
if command -v fish > /dev/null; then
    out=$(fish --no-config -c "source '$WORK/hook.fish'; complete -C 'gpkg list -n o'" 2>&1)
    out_is ''
fi

finish
