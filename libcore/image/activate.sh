# . bin/activate (bash, zsh): this environment's programs first, its variables and scripts; `deactivate`
# takes all of that back. After the environment was unpacked or moved, its files are made to name it.
if [ -n "${BASH_SOURCE:-}" ]; then
    _gpkg_here=${BASH_SOURCE[0]}
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_gpkg_here=${(%):-%x}'
else
    echo 'bin/activate: source it from bash or zsh' >&2
    return 1
fi
_gpkg_here=$(CDPATH='' cd -- "$(dirname -- "$_gpkg_here")/.." && pwd -P) || return 1
"$_gpkg_here/bin/gpkg-relocate" || return 1
if command -v deactivate > /dev/null 2>&1 && [ -n "${_GPKG_PACK_PATH:-}" ]; then deactivate; fi

_gpkg_run_scripts() {
    _gpkg_options=$-  # packages write their scripts without errexit and nounset
    set +eu
    for _gpkg_script in $(cd "$CONDA_PREFIX/etc/conda/$1" 2> /dev/null && LC_ALL=C ls); do
        case $_gpkg_script in
        *.sh) . "$CONDA_PREFIX/etc/conda/$1/$_gpkg_script" ;;
        esac
    done
    case $_gpkg_options in *u*) set -u ;; esac
    case $_gpkg_options in *e*) set -e ;; esac
    unset _gpkg_script _gpkg_options
}
_gpkg_keep() {
    eval "[ -z \"\${$1+set}\" ]" && _GPKG_PACK_UNDO="$_GPKG_PACK_UNDO unset $1;" && return
    eval "_GPKG_PACK_OLD_$1=\$$1"
    _GPKG_PACK_UNDO="$_GPKG_PACK_UNDO export $1=\"\$_GPKG_PACK_OLD_$1\"; unset _GPKG_PACK_OLD_$1;"
}
deactivate() {
    _gpkg_run_scripts deactivate.d
    eval "$_GPKG_PACK_UNDO"
    PATH=$_GPKG_PACK_PATH
    unset _GPKG_PACK_PATH _GPKG_PACK_UNDO
    unset -f deactivate _gpkg_run_scripts _gpkg_keep
    hash -r 2> /dev/null || true
}
_GPKG_PACK_PATH=$PATH
_GPKG_PACK_UNDO=
export PATH="$_gpkg_here/bin:$PATH"
_gpkg_keep CONDA_PREFIX
export CONDA_PREFIX="$_gpkg_here"
unset _gpkg_here
# variables
_gpkg_run_scripts activate.d
hash -r 2> /dev/null || true
