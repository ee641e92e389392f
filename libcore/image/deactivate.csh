# What `deactivate` does after bin/activate.csh.
# scripts
unsetenv CONDA_PREFIX
if ( $?_GPKG_PACK_OLD_CONDA_PREFIX ) eval 'setenv CONDA_PREFIX "$_GPKG_PACK_OLD_CONDA_PREFIX"; unset _GPKG_PACK_OLD_CONDA_PREFIX'
# variables
setenv PATH "$_GPKG_PACK_PATH"
unset _GPKG_PACK_PATH
unalias deactivate
rehash
