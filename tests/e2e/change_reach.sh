# Flags that say which packages a change may touch: --freeze-installed, --update-deps, --update-all,
# --only-deps, --no-deps, --no-pin.
. "$(dirname "$0")/lib.sh"

for version in 1.0 1.1 2.0; do package base $version 0; done
for version in 1.0 1.1; do package lib $version 0 'base >=1.1,<3'; done
package lib 0.9 0 'base'
package lib 2.0 0 'base >=2'
for version in 1.0 1.1; do package app $version 0 'lib >=1' 'tool'; done
package app 0.9 0 'lib' 'tool'
package tool 1.0 0
package tool 1.1 0
package extra 1.0 0 'base >=2'
package old 1.0 0 'lib <1'
package solo 1.0 0
package solo 1.1 0

# --freeze-installed: what is there stays, so an older package may be the best that fits.
expect 0 create -n one base=1.0
expect 0 install -n one lib
has one base-1.0 lib-0.9
expect 0 remove -y -n one lib
expect 0 create -n two lib=1.0 base=1.1 solo=1.0
# Forget what was asked for: only the flag holds base now.
sed -i '/specs:/d' "$(place two)/conda-meta/history"
expect 0 install -n two -d extra --json
json '{r["name"]: r["version"] for r in d["actions"]["LINK"]} == {"base": "2.0", "extra": "1.0"}'
expect 1 install -n two extra --freeze-installed
err_is 'error: the request cannot be solved
extra is requested
└─ extra 1.0 0 needs base >=2
base ==1.1 0 is installed and kept (--freeze-installed)
└─ no base satisfies both >=2 and ==1.1 0
possible fixes:
  gpkg install -n two extra --freeze-installed base  # gives base 2.0 and extra 1.0'
expect 0 install -n two app --freeze-installed
has two app-1.1 base-1.1 lib-1.0 solo-1.0 tool-1.1
expect 0 update -n two solo --no-update-deps
has two app-1.1 base-1.1 lib-1.0 solo-1.1 tool-1.1
expect 2 update -n two --all --freeze-installed
expect 2 install -n two solo --update-all --freeze-installed

# --update-deps: what the named package needs moves, what else is installed does not.
expect 0 create -n three app=1.0 lib=1.0 base=1.1 tool=1.0 solo=1.0
sed -i '/specs:/d' "$(place three)/conda-meta/history"
expect 0 update -n three app
has three app-1.1 base-1.1 lib-1.0 tool-1.0 solo-1.0
expect 0 update -n three app --update-deps
has three app-1.1 base-2.0 lib-2.0 tool-1.1 solo-1.0
expect 0 create -n four lib=1.0 base=1.1 tool=1.0 solo=1.0
sed -i '/specs:/d' "$(place four)/conda-meta/history"
expect 0 install -n four app
has four app-1.1 base-1.1 lib-1.0 tool-1.0 solo-1.0
expect 0 remove -y -n four app
expect 0 create -n five lib=1.0 base=1.1 tool=1.0 solo=1.0
sed -i '/specs:/d' "$(place five)/conda-meta/history"
expect 0 install -n five app --update-deps
has five app-1.1 base-2.0 lib-2.0 tool-1.1 solo-1.0
# ... within what was asked for.
expect 0 create -n six app=1.0 lib=1.0 tool=1.0
expect 0 update -n six app --update-deps
has six app-1.1 lib-1.0 base-2.0 tool-1.0
expect 2 update -n six app --update-deps --freeze-installed
expect 2 update -n six app --update-deps --no-deps

# --update-all beside an installation.
expect 0 create -n seven solo=1.0 base=1.0
sed -i '/specs:/d' "$(place seven)/conda-meta/history"
expect 0 install -n seven tool --update-all
has seven base-2.0 solo-1.1 tool-1.1

# --only-deps: the needs of what is named; they are asked for from then on.
expect 0 create -n eight --only-deps app
has eight base-2.0 lib-2.0 tool-1.1
records eight 'r["lib"]["requested_specs"] == ["lib[version=\x27>=1\x27]"] and r["tool"]["requested_specs"] == ["tool"] and r["base"]["requested_specs"] == []'
records eight '"app" not in history.split("update specs:")[1]'
expect 1 install -n eight old
err_has 'lib>=1 is requested'
# Of two that are named neither is there, be it that one needs the other.
expect 0 create -n nine --only-deps app lib
has nine base-2.0 tool-1.1
expect 0 install -n nine extra lib
expect 0 install -n nine --only-deps app=1.0 --json
json 'd["actions"]["LINK"] == []'
# What is installed already is treated as without the flag.
expect 0 create -n ten app=1.0
expect 0 install -n ten --only-deps app=1.1
has ten app-1.1 base-2.0 lib-2.0 tool-1.1
# An earlier wish stays as it was.
expect 0 create -n eleven lib=1.1
expect 0 install -n eleven --only-deps app
records eleven 'r["lib"]["requested_specs"] == ["lib=1.1"] and r["tool"]["requested_specs"] == ["tool"]'
expect 2 create -n twelve --only-deps --no-deps app
expect 2 update -n eleven --only-deps app

# --no-deps: the named packages alone, in the build that fits what is there.
expect 0 create -n twelve --no-deps app
has twelve app-1.1
expect 0 create -n thirteen base=1.0
expect 0 install -n thirteen --no-deps lib
has thirteen base-1.0 lib-0.9
expect 1 install -n thirteen --no-deps lib=2.0
err_has 'base ==1.0 0 is installed and kept (--no-deps)'
has thirteen base-1.0 lib-0.9
# What was left incomplete can be worked with as it is.
expect 0 install -n twelve --no-deps solo
has twelve app-1.1 solo-1.1
expect 0 update -n twelve --no-deps solo
expect 0 install -n twelve tool --freeze-installed
has twelve app-1.1 base-2.0 lib-2.0 solo-1.1 tool-1.1
# Nobody asked for what is only kept as it is.
package picky 1.0 0 'base <2'
expect 0 create -n kept base=2.0 solo=1.0
sed -i '/specs:/d' "$(place kept)/conda-meta/history"
expect 1 install -n kept picky --no-deps
err_has 'base ==2.0 0 is installed and kept (--no-deps)'
err_lacks 'base is requested'
# The machine is there in any case.
package gpu 1.0 0 __cuda base
expect 1 create -n fourteen --no-deps gpu
err_has '__cuda'
CONDA_OVERRIDE_CUDA=12.4 expect 0 create -n fourteen --no-deps gpu
has fourteen gpu-1.0

# --no-pin
expect 0 create -n pinned base=1.1 solo=1.0
sed -i '/specs:/d' "$(place pinned)/conda-meta/history"
echo 'base <2' > "$(place pinned)/conda-meta/pinned"
expect 1 install -n pinned extra
err_has 'base <2 is pinned'
expect 0 install -n pinned extra --no-pin
has pinned base-2.0 extra-1.0 solo-1.0
# The configuration's pins hold in every environment, and are told by the place that has them.
echo "pinned_packages: ['base <2']" > "$HOME/.condarc"
expect 0 create -n everywhere base
has everywhere base-1.1
expect 1 create -n nowhere base=2
err_has 'base <2 is pinned'
expect 0 create -n lifted base=2 --no-pin
rm "$HOME/.condarc"
# A channel by a name of one's own, and a name for several.
ln -s "$CHANNEL" "$WORK/mine"
mkdir -p "$HOME/.config/gpkg"
printf 'custom_channels:\n  mine: %s\ncustom_multichannels:\n  ours: [mine]\n' "$WORK" > "$HOME/.config/gpkg/config.yaml"
expect 0 create -n custom --override-channels -c ours base=1.1
records custom 'r["base"]["channel"].rstrip("/").endswith("/mine") or r["base"]["channel"] == "file://" + work + "/mine"'
expect 0 list -n custom
out_has ' mine'
rm "$HOME/.config/gpkg/config.yaml"
echo 'base ==' > "$(place pinned)/conda-meta/pinned"
expect 1 update -n pinned --all
expect 0 update -n pinned --all --no-pin
has pinned base-2.0 extra-1.0 solo-1.1

# What is newer may need more: that moves, too.
package leaf 1.0 0
package leaf 2.0 0
package stem 1.0 0
package stem 2.0 0 leaf
package tree 1.0 0 stem
expect 0 create -n grown stem=1.0 leaf=1.0
sed -i '/specs:/d' "$(place grown)/conda-meta/history"
expect 0 install -n grown tree --update-deps
has grown leaf-2.0 stem-2.0 tree-1.0

# What stays is that very record: another channel has one of the same name that needs less.
(
    mkdir -p "$WORK/second"
    CHANNEL=$WORK/channel2 WORK=$WORK/second
    echo other > "$WORK/file"
    mkdir "$WORK/payload" && mv "$WORK/file" "$WORK/payload/"
    package lib 1.0 0
)
expect 0 create -n both lib=1.0 base=1.1
expect 1 install -n both 'base=1.0' --no-deps -c "file://$WORK/channel2" --channel-priority flexible
err_has 'lib ==1.0 0 is installed and kept (--no-deps)'
expect 1 install -n both solo --freeze-installed base=1.0 -c "file://$WORK/channel2" \
    --channel-priority disabled
err_has 'lib ==1.0 0 is installed and kept (--freeze-installed)'

# A pin may name the channel, and then strict priority does not hide what it means.
echo "file://$CHANNEL::lib" > "$(place grown)/conda-meta/pinned"
expect 0 install -n grown lib -c "file://$WORK/channel2" --json
json '[r["channel"] for r in d["actions"]["LINK"] if r["name"] == "lib"] == ["file://" + channel]'

finish
