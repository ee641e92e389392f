# allowlist_channels and denylist_channels: every file narrows what may be used, and none widens it.
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"

script bin/app 'echo app'
package app 1.0 0
index
mkdir "$WORK/control"
python3 "$here/http_server.py" "$WORK" "$WORK/control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$WORK/control/port" ] && break; sleep 0.05; done
host=http://127.0.0.1:$(cat "$WORK/control/port")
remote=$host/channel
printf 'channels: [%s]\n' "$remote" > "$GPKG_ROOT_PREFIX/config.yaml"
export GPKG_SYSTEM_CONFIG=$WORK/site.yaml

expect 0 lock app -o "$WORK/app.lock"

# One that is not allowed is refused before anything of it is fetched, and the file is named.
printf 'allowlist_channels: [https://site.example/conda]\n' > "$GPKG_SYSTEM_CONFIG"
expect 1 create -y -n e app
err_has "the channel $remote: not in allowlist_channels ($GPKG_SYSTEM_CONFIG:1:21)" \
    'allowed channels: https://site.example/conda'
absent e
expect 1 search app
expect 1 create -y -n e --offline app
err_has 'allowlist_channels'
expect 0 config append allowlist_channels "$remote"
err_has "only channels that are also in the list in $GPKG_SYSTEM_CONFIG:1:21 are allowed"
expect 0 config list
err_has 'allowed by all 2 lists of allowlist_channels: no channel'
expect 0 config list allowlist_channels --sources
err_has 'allowed by all 2 lists of allowlist_channels: no channel'
expect 0 config remove-key allowlist_channels
err_lacks 'only channels that are also in the list'
expect 0 config list
err_lacks 'allowed by all'
expect 1 mirror app --out "$WORK/mirror"
err_has 'allowlist_channels'
# By an address or a lock as well.
expect 1 mirror --lock "$WORK/app.lock" --out "$WORK/mirror"
err_has 'allowlist_channels'
check [ ! -e "$WORK/mirror" ]
expect 1 create -y -n e --lock "$WORK/app.lock"
err_has 'allowlist_channels'
file=$(basename "$CHANNEL"/linux-64/app-1.0-0.*)
expect 1 create -y -n e "$remote/linux-64/$file"
err_has "the channel of $remote/linux-64/$file: not in allowlist_channels"
printf '@EXPLICIT\n%s\n' "$remote/linux-64/$file" > explicit.txt
expect 1 create -y -n e --file explicit.txt
err_has 'allowlist_channels'
absent e
# A user's own file cannot widen it, nor can the environment.
printf 'channels: [%s]\nallowlist_channels: [%s]\n' "$remote" "$remote" > "$GPKG_ROOT_PREFIX/config.yaml"
expect 1 create -y -n e app
GPKG_ALLOWLIST_CHANNELS=$remote expect 1 create -y -n e app
# Folders of this machine are.
expect 0 create -y -n e -c "$CHANNEL" --override-channels app

# An address allows what is below it, and not what begins alike.
printf 'allowlist_channels: [%s]\n' "$host" > "$GPKG_SYSTEM_CONFIG"
expect 0 create -y -n e2 app
printf 'allowlist_channels: [%s]\n' "$host/chan" > "$GPKG_SYSTEM_CONFIG"
expect 1 create -y -n e3 app

# What one file allows another may deny, folders too; what the store has is not fetched from anywhere.
printf 'allowlist_channels: [%s]\ndenylist_channels: [defaults, %s, %s]\n' "$host" "$remote" "$CHANNEL" > "$GPKG_SYSTEM_CONFIG"
expect 1 create -y -n e3 app
err_has "the channel $remote: denied by denylist_channels ($GPKG_SYSTEM_CONFIG:2:20)"
# An empty list of the user's allows nothing that another file denies.
cp "$GPKG_ROOT_PREFIX/config.yaml" "$WORK/config.yaml"
expect 0 config set denylist_channels '[]'
err_has "denylist_channels: the channels in the list in $GPKG_SYSTEM_CONFIG:2:20 stay denied"
mv "$WORK/config.yaml" "$GPKG_ROOT_PREFIX/config.yaml"
expect 1 create -y -n e3 -c "$CHANNEL" --override-channels app
err_has 'denied by denylist_channels'
expect 1 create -y -n e3 -c https://repo.anaconda.com/pkgs/main --override-channels app
err_has 'the channel https://repo.anaconda.com/pkgs/main: not in allowlist_channels'
expect 0 repair -y -n e2
expect 0 run -n e2 app

# Everybody sees the rules.
expect 0 info
out_has "channels allowed  : $host ($GPKG_SYSTEM_CONFIG:1:21)" \
    "channels denied  : defaults, $remote, $CHANNEL ($GPKG_SYSTEM_CONFIG:2:20)"
expect 0 info --json
json '[rule["allows"] for rule in d["channel_rules"]] == [True, False, True]'
# Secrets in them are nobody's business.
printf 'allowlist_channels: [https://site.example/t/tk-secret/conda]\n' > "$GPKG_SYSTEM_CONFIG"
expect 1 create -y -n e3 app
err_has 'https://site.example/conda' && err_lacks tk-secret
expect 0 info
out_lacks tk-secret
expect 0 info --json
out_lacks tk-secret
# conda's words for it count.
: > "$GPKG_SYSTEM_CONFIG"
printf 'channels: [%s]\n' "$remote" > "$GPKG_ROOT_PREFIX/config.yaml"
printf 'denylist_channels: [%s, defaults]\n' "$host" > "$HOME/.condarc"
expect 1 create -y -n e3 app
err_has ".condarc:1:20"
expect 1 create -y -n e3 -c defaults --override-channels app
err_has 'the channel https://repo.anaconda.com/pkgs/main: denied by denylist_channels'
printf 'whitelist_channels: [conda-forge]\n' > "$HOME/.condarc"
expect 1 create -y -n e3 app
err_has 'not in allowlist_channels' 'allowed channels: conda-forge'

# What a site's rules name means what it means to the site, whatever a user's own files make of the name.
cp -r "$WORK/channel" "$WORK/conda-forge"
printf 'allowlist_channels: [conda-forge]\n' > "$GPKG_SYSTEM_CONFIG"
printf 'channels: [conda-forge]\n' > "$GPKG_ROOT_PREFIX/config.yaml"
for line in "channel_alias: $host" "custom_channels: {conda-forge: $host}"; do
    echo "$line" > "$HOME/.condarc"
    expect 1 create -y -n widened app
    err_has "the channel $host/conda-forge: not in allowlist_channels" \
        'allowed channels: conda-forge (https://conda.anaconda.org/conda-forge)'
done
echo "mirrored_channels: {conda-forge: [\"$remote\"]}" > "$HOME/.condarc"
expect 1 create -y -n widened app
err_has "mirror $remote of conda-forge ($HOME/.condarc:1:20): not in allowlist_channels"
# The site's own mirrors are its business, and so is what it calls by that name.
printf 'allowlist_channels: [conda-forge]\nmirrored_channels: {conda-forge: ["%s"]}\n' "$remote" > "$GPKG_SYSTEM_CONFIG"
rm "$HOME/.condarc"
expect 0 create -y -n mirrored app
printf 'allowlist_channels: [conda-forge]\nchannel_alias: %s\n' "$host" > "$GPKG_SYSTEM_CONFIG"
expect 0 create -y -n aliased app
# A user's own rule goes by the user's own names.
printf 'allowlist_channels: [conda-forge]\nchannel_alias: %s\n' "$host" > "$HOME/.condarc"
: > "$GPKG_SYSTEM_CONFIG"
expect 0 create -y -n own app

# A channel of the settings that cannot be read beside one that is given: how to leave it out.
rm "$HOME/.condarc"
away=http://127.0.0.1:1/away
GPKG_CHANNELS=$away expect 1 create -y -n left app -c "$CHANNEL"
err_has "$away is searched because it is set in GPKG_CHANNELS; to search only the given ones: --override-channels"
GPKG_CHANNELS=$away expect 1 create -y -n left app -c "$CHANNEL" --offline
err_has '; otherwise: run the command once with a network, without --offline'
GPKG_CHANNELS=$away expect 1 create -y -n left app
err_lacks '--override-channels'
GPKG_CHANNELS=$away expect 0 create -y -n left app -c "$CHANNEL" --override-channels
finish
