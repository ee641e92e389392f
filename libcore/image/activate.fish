# source bin/activate.fish: as bin/activate, for fish.
set -l _gpkg_here (realpath -- (dirname -- (status filename))/..)
or return 1
$_gpkg_here/bin/gpkg-relocate
or return 1
if functions -q deactivate; and set -q _GPKG_PACK_PATH
    deactivate
end

function _gpkg_run_scripts
    for _gpkg_script in $CONDA_PREFIX/etc/conda/$argv[1]/*.fish
        source $_gpkg_script
    end
end
function _gpkg_keep
    set -l name $argv[1]
    set -ga _GPKG_PACK_NAMES $name
    set -q $name
    and set -g _GPKG_PACK_OLD_$name $$name
end
function deactivate
    _gpkg_run_scripts deactivate.d
    for name in $_GPKG_PACK_NAMES
        set -l old _GPKG_PACK_OLD_$name
        if set -q $old
            set -gx $name $$old
            set -eg $old
        else
            set -eg $name
        end
    end
    set -gx PATH $_GPKG_PACK_PATH
    set -eg _GPKG_PACK_PATH
    set -eg _GPKG_PACK_NAMES
    functions -e deactivate _gpkg_run_scripts _gpkg_keep
end
set -g _GPKG_PACK_PATH $PATH
set -g _GPKG_PACK_NAMES
set -gx PATH $_gpkg_here/bin $PATH
_gpkg_keep CONDA_PREFIX
set -gx CONDA_PREFIX $_gpkg_here
# variables
_gpkg_run_scripts activate.d
