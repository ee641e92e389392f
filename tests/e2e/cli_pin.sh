# gpkg pin, unpin and pins: later changes keep to them; conda-meta/pinned keeps what people wrote.
. "$(dirname "$0")/lib.sh"

for version in 1.0 1.1 2.0; do package lib $version 0; done
package app 1.0 0 lib
package app 2.0 0 'lib >=2'
pinned=$GPKG_ROOT_PREFIX/envs/e/conda-meta/pinned

expect 0 create -y -q -n e lib=1.0
expect 0 pins -n e
out_is ''
err_is 'no package is pinned'
# Outside an environment: the pins of the setting.
expect 0 pins
err_is 'no environment is active; for the pins of one: gpkg pins -n NAME'
expect 0 pins --json
out_is '[]'

# A version range; what is installed matches, and updates stay below it.
expect 0 pin -n e 'lib<2'
out_is 'pinned lib <2 in e'
err_is ''
check [ "$(cat "$pinned")" = 'lib <2' ]
expect 0 list -n e
out_has ' Requested  Pinned' 'lib=1.0    lib<2'
expect 0 list -n e --json
json '[r.get("pinned_specs") for r in d] == [["lib <2"]]'
expect 0 update -y -n e lib
has e lib-1.1
err_has 'lib 1.1 is selected instead of 2.0 (pinned to lib<2; to unpin it: gpkg unpin -n e lib)' \
    'the bound lib=1.0 no longer applies; to keep it: gpkg update -n e lib=1.0'
err_lacks although
# The command searches the same channels when typed.
expect 0 install -y -n e lib=1.0
expect 0 update -n e lib -c "file://$CHANNEL" --override-channels --for cpu --dry-run
err_has "to keep it: gpkg update -n e lib=1.0 -c file://$CHANNEL --override-channels --for cpu"
expect 0 update -y -n e lib
expect 0 update -y -n e --all
out_is 'nothing to do: lib is pinned'
err_is 'note: lib 1.1 is selected instead of 2.0 (pinned to lib<2; to unpin it: gpkg unpin -n e lib)'
expect 0 update -y -n e --all --no-pin --dry-run
out_has '1.1 -> 2.0'
expect 0 install -y -n e app
has e app-1.0 lib-1.1
expect 0 install --dry-run --no-pin -n e app=2
expect 1 install --dry-run -n e app=2
err_has 'lib <2'

# A name alone pins the installed version, in place of the earlier pin; comments stay.
printf '# kept by hand\nlib <2\n' > "$pinned"
expect 0 pin -n e lib
out_is 'pinned lib ==1.1 in e'
check [ "$(cat "$pinned")" = '# kept by hand
lib ==1.1' ]
expect 0 pins -n e --json
json 'd == [{"spec": "lib ==1.1", "source": work + "/root/envs/e/conda-meta/pinned"}]'

# An installed version that does not match is named with the command that changes it.
expect 0 pin -n e lib=1.0
err_is 'note: lib 1.1 is installed and does not match; to change it: gpkg update -n e lib'
expect 0 update -y -n e lib
has e app-1.0 lib-1.0

# A pin that no channel can meet is told, with the versions that are near; without cached indexes nothing is.
expect 0 pin -n e lib=1.5
out_is 'pinned lib 1.5.* in e'
err_has "warning: no build of lib in $CHANNEL (linux-64) matches the pin; nearest versions: 1.0, 1.1 and 2.0; to remove the pin: gpkg unpin -n e lib"
expect 0 pin -n e 'absent>=3'
err_has "warning: package 'absent' not found in $CHANNEL (linux-64); to remove the pin: gpkg unpin -n e absent"
expect 1 unpin -n e absnt
err_has "absnt is not pinned in $GPKG_ROOT_PREFIX/envs/e" 'did you mean absent?'
expect 0 unpin -n e absent
expect 1 pin -n e libb
err_has 'libb is not installed in' 'hint: did you mean lib?'
mv "$CHANNEL" "$CHANNEL.away"
expect 0 pin -n e lib=1.6
err_lacks warning
mv "$CHANNEL.away" "$CHANNEL"

expect 0 unpin -n e lib --json
json 'd["success"] is True and d["unpinned"] == ["lib"]'
check [ "$(cat "$pinned")" = '# kept by hand' ]
expect 0 pin -n e 'lib<2'
expect 1 unpin -n e lbi
err_has 'lbi is not pinned in' 'did you mean lib?'
expect 2 pin -n e lib 1.0
err_has "'1.0' is a version, not a package" 'did you mean lib=1.0?'
expect 2 pin -n e lib '>=1'
err_has "write the spec without spaces: 'lib>=1'"
expect 0 unpin -n e lib
expect 1 unpin -n e lib
err_has "lib is not pinned in $GPKG_ROOT_PREFIX/envs/e" 'gpkg pins -n e'

# Pins of the configuration are listed with their source.
printf 'pinned_packages: [app 1.*]\n' >> "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 pins -n e
out_has 'app 1.*' "pinned_packages ($GPKG_ROOT_PREFIX/config.yaml"

# What cannot be pinned.
expect 1 pin -n e other
err_has 'other is not installed in' "gpkg pin -n e 'other=VERSION'"
expect 2 pin -n e 'li*=1'
err_has 'not the name of one package'
expect 2 pin -n e 'lib=='
expect 2 pin -n e
err_has 'missing argument: SPEC'
expect 1 pin -n e list
err_has 'hint: use gpkg pins'
expect 1 pin -n nowhere lib
err_has 'no environment at'
echo '{}' > "$GPKG_ROOT_PREFIX/envs/e/conda-meta/frozen"
expect 1 pin -n e lib
err_has frozen
expect 0 pin -n e lib --override-frozen
rm "$GPKG_ROOT_PREFIX/envs/e/conda-meta/frozen"

# All pins at once; comments in the file stay.
expect 0 pin -n e lib 'app<2'
echo '# mine' >> "$GPKG_ROOT_PREFIX/envs/e/conda-meta/pinned"
expect 0 unpin -n e --all
out_has 'unpinned lib and app in e'
expect 0 pins -n e --json
json 'all(p["source"].startswith("pinned_packages") for p in d)'
check grep -q mine "$GPKG_ROOT_PREFIX/envs/e/conda-meta/pinned"
expect 0 unpin -n e --all
out_is 'no package is pinned in e'
expect 2 unpin -n e
err_has 'missing argument: NAME'
expect 2 unpin -n e --all lib

# A misspelled pin of the settings is told by locks too, which heed these pins.
expect 0 config set pinned_packages 'lbi=1'
expect 0 lock lib -o x.lock --for h100 --for cpu
err_has "pin 'lbi=1' in pinned_packages" "no package 'lbi'; did you mean lib?"

finish
