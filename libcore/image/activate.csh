# source bin/activate.csh: as bin/activate, for tcsh. A script that is sourced is not told its name: it is
# the file that this shell has open.
set _gpkg_here = "`readlink /proc/$$/fd/* | grep '/bin/activate.csh"\$"' | tail -n 1`"
set _gpkg_here = "$_gpkg_here:h"
set _gpkg_here = "$_gpkg_here:h"
if ( ! -x "$_gpkg_here/bin/gpkg-relocate" ) then
    echo "bin/activate.csh: cannot find its own folder"
    exit 1
endif
"$_gpkg_here/bin/gpkg-relocate" || exit 1
if ( $?_GPKG_PACK_PATH ) eval deactivate

set __gpkg_nl = '\
'
set _GPKG_PACK_PATH = "$PATH"
setenv PATH "$_gpkg_here/bin:$PATH"
if ( $?CONDA_PREFIX ) eval 'set _GPKG_PACK_OLD_CONDA_PREFIX = "$CONDA_PREFIX"'
setenv CONDA_PREFIX "$_gpkg_here"
unset _gpkg_here
# variables
unset __gpkg_nl
alias deactivate 'source "$CONDA_PREFIX/conda-meta/gpkg/pack/deactivate.csh"'
# scripts
rehash
