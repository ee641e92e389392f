# gpkg config
. "$(dirname "$0")/lib.sh"
file=$GPKG_ROOT_PREFIX/config.yaml

expect 0 config list
out_has 'channel_priority:'
out_has "file://$CHANNEL"
# Settings without a value show the one that counts.
for shown in 'accelerator auto' 'devices all' 'allowlist_channels all' 'pinned_packages none'; do
    check grep -qE "^${shown% *}: +${shown#* }\$" <<< "$out"
done
expect 0 config --show
out_has 'channel_priority:'
expect 0 config list --json
json 'd["channels"] == ["file://" + channel] and d["channel_priority"] == "strict"'
expect 0 config list --sources --json
json 'd["channels"]["source"].startswith(work + "/root/config.yaml:")'
json 'd["channel_priority"]["source"] == "default"'

expect 0 config get channel_priority
out_is strict
expect 0 config describe channels
described=$out
expect 0 config --describe channels
out_is "$described"
expect 0 config --describe
out_has always_yes
expect 2 config set auto_activate_base false
err_has "unknown setting 'auto_activate_base'" 'to list the settings: gpkg config describe'
expect 0 config --get channels --json
json 'd == {"channels": ["file://" + channel]}'
expect 2 config get channel
err_has 'channels'

expect 0 config set channel_priority flexible
expect 0 config get channel_priority
out_is flexible
expect 2 config set channel_priority fast
err_has "channel_priority: expected strict, flexible or disabled, found 'fast'"
expect 0 config get channel_priority
out_is flexible
expect 0 config --set channel_priority disabled --json
json 'd["success"] is True'
expect 0 config remove-key channel_priority
out_is "$file: channel_priority removed; now strict, the default"
expect 0 config get channel_priority
out_is strict
expect 0 config get channel_priority --show-sources
out_is 'strict
# default'
expect 0 config get channel_priority --show-sources --json
json 'd == {"channel_priority": {"value": "strict", "source": "default"}}'
expect 0 config describe channel_priority
out_has 'channel_priority: strict, flexible or disabled' 'set by:   default' 'default:  strict'
expect 0 config describe
out_has 'always_yes' 'offline'
expect 0 config describe always_yes --json
json 'd["always_yes"]["default"] == "false" and d["always_yes"]["source"] == "default"'
expect 2 config set always_yes maybe
err_has "always_yes: expected true or false, found 'maybe'"
expect 2 config set ssl_verify "$WORK/nowhere.pem"
err_has "ssl_verify: no such file: $WORK/nowhere.pem"
expect 1 config remove-key channel_priority
expect 0 config set --user channel_priority flexible
expect 1 config remove-key channel_priority
err_has 'channel_priority is not set' ': add --user'
expect 0 config remove-key --user channel_priority

# Lists; comments stay.
printf '# mine\nchannels:\n  - a # first\n' > "$file"
expect 0 config append channels b c
expect 0 config --add channels z
out_has 'z added to the front of channels'
expect 0 config prepend channels x y --json
json 'd["changed"] is True'
expect 0 config get channels
out_is 'x
y
z
a
b
c'
expect 0 config append channels a --json
json 'd["changed"] is False'
check grep -q '^# mine' "$file"
check grep -q '# first' "$file"
expect 0 config list channels
out_has 'x
y
z'
expect 0 config --show channels
out_has 'x
y
z'
expect 2 config set channels=x
err_has "write a space for '=': gpkg config set channels VALUE"
expect 2 config remove channels
err_has 'to remove the whole setting: gpkg config remove-key channels'
expect 0 config append channels one two
expect 0 config remove channels one two
out_has 'one, two removed from channels'
expect 0 config append channels "$WORK/no/such/folder"
err_has "warning: channels: no folder at $WORK/no/such/folder"
expect 0 config remove channels "$WORK/no/such/folder"
expect 0 config remove channels z
expect 0 config --remove channels c
expect 1 config remove channels nowhere
expect 0 config append channels ./here
expect 0 config get channels
out_has "$PWD/here"
# Values that cannot be meant, and what follows from removing the last one.
expect 2 config set channels a,b
err_has "channels: 'a,b' is not a channel name: it contains ','" 'separate values with spaces: gpkg config set channels a b'
expect 2 config append channels a,b
expect 2 config set channels
err_has 'to see the meaning of the setting: gpkg config describe channels'
mkdir -p afolder
expect 0 config set channels afolder
err_has 'channels: afolder is taken as the name of a channel; for the folder: ./afolder'
expect 0 config remove channels afolder
err_has 'channels is now an empty list; to return to the default: gpkg config remove-key channels'
expect 0 config set override_virtual_packages.__glibc 2.17
expect 0 config set override_virtual_packages.glibc 2.28
expect 0 config get override_virtual_packages
out_is 'glibc: 2.28'
expect 0 config remove-key override_virtual_packages
expect 0 config --sources
out_has '# files; later files override earlier ones'
expect 0 config set channels conda-forge
expect 0 config get channels
out_is conda-forge
printf 'pinned_packages: [python <3.14]\n' > "$WORK/pins.yaml"
GPKG_SYSTEM_CONFIG=$WORK/pins.yaml expect 0 config get pinned_packages
out_is 'python <3.14'
GPKG_SYSTEM_CONFIG=$WORK/pins.yaml expect 0 config set --user pinned_packages '[]'
out_has 'set pinned_packages to []'
GPKG_SYSTEM_CONFIG=$WORK/pins.yaml expect 0 config get pinned_packages
out_is ''
expect 0 config remove-key --user pinned_packages
expect 2 config append platform linux-64
expect 2 config set
expect 2 config frob
expect 2 config --get channels --set channels x

# Layers: system, user, root prefix, environment.
export GPKG_SYSTEM_CONFIG=$WORK/site.yaml
printf 'channels: [site]\ndownload_threads: 3\nproxy_servers:\n  http: http://eve:secret@proxy:1\n' > "$WORK/site.yaml"
expect 0 config set --user download_threads 5
check grep -qx 'download_threads: 5' "$HOME/.config/gpkg/config.yaml"
expect 0 config get download_threads
out_is 5
expect 0 config set --system download_threads 7
err_has "download_threads: overridden by $HOME/.config/gpkg/config.yaml:1:19"
expect 0 config set custom_channels.mine "$WORK/place"
expect 0 config get custom_channels.mine
out_is "$WORK/place"
expect 1 config get custom_channels.yours
expect 0 config list --show-sources
out_has 'custom_channels.mine:' "# $WORK/site.yaml:4:3" 'http://***@proxy:1' '# files; later files override earlier ones' '# user'
out_lacks secret
expect 0 config list --show-sources --json
json 'd["proxy_servers"] == {"value": {"http": "http://***@proxy:1"}, "source": work + "/site.yaml:4:3"}'
json 'd["custom_channels"]["value"] == {"mine": work + "/place"}'
GPKG_DOWNLOAD_THREADS=9 gpkg config list --show-sources
out_has '# GPKG_DOWNLOAD_THREADS'
GPKG_DOWNLOAD_THREADS=lots expect 2 search nothing
err_has 'error: GPKG_DOWNLOAD_THREADS: expected a whole number for download_threads, found lots'
GPKG_DOWNLOAD_THREADS=lots expect 0 config list
err_has 'warning: GPKG_DOWNLOAD_THREADS: expected a whole number for download_threads, found lots'
expect 0 config remove-key custom_channels.mine
check [ -z "$(grep custom_channels "$GPKG_ROOT_PREFIX/config.yaml")" ]
expect 0 config describe override_virtual_packages
out_has 'example:' 'gpkg config set override_virtual_packages.cuda 12.4'

# What conda was told counts below all of it.
printf 'channels: [from-conda]\nalways_copy: true\nauto_activate_base: false\nvirtual_packages: {cuda: "12.4"}\n' > "$HOME/.condarc"
expect 0 config get channels
out_is conda-forge
expect 0 config remove-key channels
printf 'download_threads: 3\n' > "$WORK/site.yaml"
expect 0 config get channels
out_is from-conda
expect 0 config list
err_has "$HOME/.condarc: ignored setting: always_copy" \
    "settings of conda's files are ignored; to list them: gpkg config list --show-sources"
err_lacks auto_activate
expect 0 config list --show-sources
check grep -q "^# auto_activate_base  *$HOME/.condarc:3" <<< "$out"
unset CONDA_OVERRIDE_CUDA
expect 0 hardware
out_has 'override_virtual_packages.cuda: 12.4' "$HOME/.condarc:4:19"
GPKG_USE_CONDARC=no expect 0 config get channels
out_is conda-forge
expect 0 config set channels other
expect 0 config list --show-sources
out_has "$GPKG_ROOT_PREFIX/config.yaml:" "; overrides $HOME/.condarc:1:"
expect 0 config remove-key channels
out_is "$file: channels removed; now from-conda, from $HOME/.condarc:1:11"
expect 0 config append channels more
err_has "$file now has a copy of the values from $HOME/.condarc:1:11; later changes there have no effect"
expect 0 config append channels third
err_lacks 'a copy of the values'
expect 0 config remove-key channels

# offline is the default of every --offline.
for variable in GPKG_OFFLINE CONDA_OFFLINE; do
    export $variable=1
    expect 1 search nothing --override-channels -c https://localhost:1/c
    err_has '--offline: ' 'with GPKG_OFFLINE=0' "offline is set by $variable"
    unset $variable
done
expect 0 config set offline true
expect 1 search nothing --override-channels -c https://localhost:1/c
err_has '--offline: ' 'with GPKG_OFFLINE=0' "offline is set by $file:"
GPKG_OFFLINE=0 expect 1 search nothing --override-channels -c https://localhost:1/c
err_lacks 'not in the cache'
expect 0 config remove-key offline

# Folders of environments: looked through in their order, made in the first that can be written to.
rm -f "$HOME/.condarc"
expect 0 create -q -n here
mkdir -p "$WORK/lab/there/conda-meta" && touch "$WORK/lab/there/conda-meta/history"
printf 'envs_dirs: [%s, %s]\n' "$WORK/site.yaml/envs" "$WORK/lab" > "$HOME/.condarc"
expect 0 list -n there
expect 0 list -n here
expect 0 create -q -n new
check [ -e "$WORK/lab/new/conda-meta/history" ]
expect 0 env list --json
json '[e["name"] for e in d["envs_details"].values()] == ["new", "there", "here"]'
expect 0 activate -n new --shell bash
out_has "CONDA_DEFAULT_ENV='new'"
expect 0 remove -y -n new --all
# Of two with one name, the list says which one -n does not find.
mkdir -p "$GPKG_ROOT_PREFIX/envs/there/conda-meta" && touch "$GPKG_ROOT_PREFIX/envs/there/conda-meta/history"
expect 0 env list
out_has "(hidden by $WORK/lab/there; use -p)"
# $GPKG_ROOT_PREFIX in a setting is the root prefix, so a site can put users' own folders first.
printf 'envs_dirs: [$GPKG_ROOT_PREFIX/envs, %s]\n' "$WORK/lab" > "$HOME/.condarc"
expect 0 env list
out_has "(hidden by $GPKG_ROOT_PREFIX/envs/there; use -p)"
(unset GPKG_ROOT_PREFIX; "$GPKG" config get envs_dirs) > "$WORK/unset_root"
check [ "$(cat "$WORK/unset_root")" = "$HOME/.local/share/gpkg/envs"$'\n'"$WORK/lab" ]
rm -r "$GPKG_ROOT_PREFIX/envs/there"
CONDA_ENVS_PATH=$WORK/other expect 0 create -q -n third
check [ -e "$WORK/other/third/conda-meta/history" ]
printf 'channels: [unclosed\n' > "$HOME/.condarc"
expect 1 env list
err_has "$HOME/.condarc:2:1:" 'use_condarc: false'
# The ways out work: to leave them alone, and to leave an environment.
mkdir -p "$WORK/active/conda-meta" && touch "$WORK/active/conda-meta/history"
CONDA_PREFIX=$WORK/active CONDA_SHLVL=1 expect 0 deactivate --shell bash
out_has 'unset CONDA_PREFIX'
GPKG_LINK=bogus CONDA_PREFIX=$WORK/active CONDA_SHLVL=1 expect 0 deactivate --shell bash
out_has 'unset CONDA_PREFIX'
cp "$file" "$WORK/config.kept"
expect 0 config set use_condarc false
err_has 'unclosed list'
expect 0 env list
cp "$WORK/config.kept" "$file"
# An invalid file of gpkg's own is told once; an invalid setting can be changed and removed.
printf 'channels: [unclosed\n' > "$file"
rm "$HOME/.condarc"
expect 0 config list
check [ "$(grep -c "$file:2:1:" "$WORK/stderr")" = 1 ]
expect 1 config set link copy
check [ "$(grep -c "$file:2:1:" "$WORK/stderr")" = 1 ]
printf 'link: bogus\nchannels: {a: b}\n' > "$file"
expect 1 env list
expect 0 config remove-key link
expect 0 config remove-key channels
expect 0 env list
cp "$WORK/config.kept" "$file"


# Edits at the same time: none is lost.
rm -f "$HOME/.condarc"
printf 'channels: [a]\n' > "$file"
for i in 1 2 3 4 5 6 7 8; do "$GPKG" config append channels "c$i" > /dev/null & done
wait
expect 0 config get channels
check [ "$(wc -l <<< "$out")" = 9 ]
# What cannot be edited is said to be so, with the file; a link stays one, also to what is still to be made.
printf 'proxy_servers: {http: http://p:1}\n' > "$file"
expect 1 config set proxy_servers.https http://p:2
err_has "$file: cannot edit 'proxy_servers' automatically" 'with a text editor'
rm "$file" && ln -s "$WORK/kept.yaml" "$file"
expect 0 config set changeps1 false
check [ -L "$file" ]
check [ "$(cat "$WORK/kept.yaml")" = 'changeps1: false' ]
rm "$file"
# A login in a file that others can read is told, without the login. A file of the user's becomes private.
umask 022
expect 0 config append channels https://me:hidden@host/mine
err_has "warning: $file: contains a token or password, and other users can read it; run chmod 600 $file"
err_lacks hidden
for command in 'config list' info; do
    expect 0 $command
    err_has "$file: contains a token or password, and other users can read it; run chmod 600 $file"
done
expect 0 config list
out_has 'https://***@host/mine'
out_lacks hidden
expect 1 config remove channels https://host/mine
err_has "did you mean 'https://***@host/mine'?"
expect 0 config remove channels 'https://***@host/mine'
out_is "$file: https://***@host/mine removed from channels"
check [ "$(grep -c host/mine "$file")" = 0 ]
expect 0 config append --user channels https://me:hidden@host/mine
err_has "$HOME/.config/gpkg/config.yaml: contains a password; other users cannot read it any more (mode 600)"
err_lacks hidden
check [ "$(stat -c %a "$HOME/.config/gpkg/config.yaml")" = 600 ]
rm "$HOME/.config/gpkg/config.yaml"
# A file keeps its mode.
chmod 600 "$file"
expect 0 config append channels https://me:hidden@host/yours
err_lacks warning
check [ "$(stat -c %a "$file")" = 600 ]
rm "$file"
# conda's words are understood by get as well; null says nothing.
expect 0 config get pkgs_dirs
expect 2 config get pkgs_dir
printf 'ssl_verify:\nchannel_alias: null\nenv_prompt: "({name})"\n' > "$HOME/.condarc"
expect 0 config get ssl_verify
out_is true
expect 1 search nothing -c "$CHANNEL"
err_has 'ignored setting: env_prompt'
printf 'chanels: [a]\n' > "$HOME/.condarc"
expect 0 config list
err_has 'ignored setting: chanels (did you mean channels?)'
rm "$HOME/.condarc"
# Comments and line ends stay; what a killed edit left goes with the next.
printf 'channels: [a, b] # mine\r\nssl_verify: true\r\n' > "$file"
: > "$file.tmp-0123abcd"
expect 0 config append channels c
check [ "$(cat "$file")" = "$(printf 'channels: # mine\r\n  - a\r\n  - b\r\n  - c\r\nssl_verify: true\r')" ]
check [ ! -e "$file.tmp-0123abcd" ]
rm "$file"
printf 'channels: conda-forge,bioconda\n' > "$HOME/.condarc"
expect 0 config get channels
err_has "$HOME/.condarc:1" 'found a string with a comma' '[a, b]'
rm "$HOME/.condarc"
# A variable's value stays out of the file.
GPKG_CHANNELS=/only/this/shell expect 0 config append channels bioconda
err_has 'channels: overridden by GPKG_CHANNELS'
expect 0 config get channels
out_is 'conda-forge
bioconda'
# Without channels there is nothing to search.
printf 'channels: []\n' > "$file"
expect 2 search nothing
err_has 'no channels to search' '-c CHANNEL'
expect 2 solve nothing
err_has 'no channels to search' '-c CHANNEL'
rm "$file"
# Without HOME the system knows it.
(unset HOME GPKG_ROOT_PREFIX; expect 0 config get cache_dir; out_lacks '"/.local' ; [ "${out:0:8}" != /.local/ ]) || fail 'no home'
finish
