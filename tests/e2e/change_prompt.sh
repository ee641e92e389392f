# The question that create, install and remove ask on a terminal, and only there
. "$(dirname "$0")/lib.sh"

script bin/app 'echo app'
package app 1.0 0

for keys in 'n\n' 'no\n' '\x04' '\x03'; do
    answer "$keys" create -n x app
    check [ "$status" = 1 ]
    out_has 'Proceed? [Y/n]'
    out_has 'nothing was changed'
    absent x
    check [ ! -e "$GPKG_ROOT_PREFIX/pkgs" ]
done
for keys in '\n' 'y\n' 'Yes\n'; do
    answer "$keys" create -n x app
    check [ "$status" = 0 ]
    out_has 'Proceed? [Y/n]'
    answer 'n\n' install -n x app --force-reinstall
    check [ "$status" = 1 ]
    answer 'n\n' remove -n x app
    has x app-1.0
    answer '\x03' remove -n x --all
    check [ "$status" = 1 ]
    has x app-1.0
    answer "$keys" remove -n x --all
    check [ "$status" = 0 ]
    absent x
done

# Told beforehand, or with nobody to read it, nothing is asked.
answer '' create -n x -y app
check [ "$status" = 0 ]
out_lacks 'Proceed?'
answer '' install -n x --json app --force-reinstall
out_lacks 'Proceed?'
answer '' remove -n x -d app
out_lacks 'Proceed?'
expect 0 remove -n x app
out_lacks 'Proceed?'
err_lacks 'Proceed?'
expect 0 remove -n x --all
absent x

finish
