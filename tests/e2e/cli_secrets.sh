# No secret of a setting, a variable, an option or a program's arguments is shown or logged.
. "$(dirname "$0")/lib.sh"

package app 1.0 0
expect 0 create -q -n e app

cat > "$GPKG_ROOT_PREFIX/config.yaml" <<END
channels:
  - file://$CHANNEL
  - https://u:SECRET@h.invalid/login
  - https://h.invalid/t/SECRET/token
  - https://h.invalid/fragment#access_token=SECRET
  - https://h.invalid/query?key=SECRET
  - u:SECRET@h.invalid/bare
channel_alias: https://u:SECRET@h.invalid/alias
default_channels: ["https://u:SECRET@h.invalid/default"]
custom_channels: {mine: "https://u:SECRET@h.invalid/mine"}
custom_multichannels: {several: ["u:SECRET@h.invalid/a", "https://h.invalid/t/SECRET/b"]}
mirrored_channels: {conda-forge: ["https://u:SECRET@h.invalid/mirror"]}
denylist_channels: ["https://u:SECRET@h.invalid/denied"]
proxy_servers:
  http: SECRET@127.0.0.1:9
  https: pu:SECRET@127.0.0.1:9
END
export GPKG_PASSWORD=SECRET GPKG_HTTP_HEADERS='Authorization: Bearer SECRET'
export GPKG_PROXY_SERVERS='https: pu:SECRET@h' GPKG_CREDENTIALS=$WORK/credentials.yaml

# hides STATUS WORDS...: gpkg ends with that status and prints no secret.
hides() {
    expect "$@"
    out_lacks SECRET
    err_lacks SECRET
}

# What is logged: values of variables, arguments of programs, options and settings that are set.
hides 0 env config vars set -n e WANDB_API_KEY=SECRET 'OTHER=a SECRET'
hides 1 run -n nosuch env TOKEN=SECRET true
expect 1 exec --override-channels -c "file://$CHANNEL" app=2 TOKEN=SECRET
err_has 'app=1.0 TOKEN=SECRET'
local_only=(--override-channels -c)
hides 1 install -y -n e nosuch "${local_only[@]}" https://u:SECRET@h.invalid/x
hides 1 install -y -n e nosuch "${local_only[@]}" u:SECRET@h.invalid/x
hides 1 install -y -n e nosuch "${local_only[@]}" https://h.invalid/x -vv
hides 1 install -y -n e nosuch "${local_only[@]}" https://h.invalid/t/SECRET/x --json
hides 0 config set proxy_servers.https pu:SECRET@127.0.0.1:9
hides 0 config set channel_alias https://u:SECRET@h.invalid/alias
hides 0 config append channels u:SECRET@h.invalid/more
hides 2 config set platform u:SECRET@h
expect 2 config set token SECRET
expect 2 config set api_key=SECRET

for key in channels channel_alias default_channels custom_channels custom_multichannels mirrored_channels \
    denylist_channels proxy_servers; do
    hides 0 config get "$key"
    hides 0 config get "$key" --json
    hides 0 config describe "$key"
done
hides 0 config get proxy_servers.https
out_is '***@127.0.0.1:9'
hides 0 config get proxy_servers.http
out_is '***@127.0.0.1:9'
hides 0 config list
hides 0 config list --show-sources --json
hides 0 config describe --json
hides 0 info
out_has 'GPKG_PASSWORD=<set>' 'GPKG_HTTP_HEADERS=<set>' "GPKG_CREDENTIALS=$WORK/credentials.yaml"
hides 0 info --json
hides 0 info --report
out_has 'env config vars set -n e WANDB_API_KEY=... OTHER=...' 'gpkg run -n nosuch env ...'
# A value in the wrong command; package names are lower-case, and their versions are kept.
expect 1 install -n e "${local_only[@]}" "file://$CHANNEL" API_TOKEN=SECRET
expect 1 install -n e "${local_only[@]}" "file://$CHANNEL" libsecret=0.20
hides 0 info --report
out_has 'API_TOKEN=...' libsecret=0.20
hides 0 log
out_has 'env config vars set -n e WANDB_API_KEY=... OTHER=...' 'gpkg run -n nosuch env ...' 'app=2 ...' 'app=1.0 ...'
hides 0 log --json
check [ -z "$(grep -rl SECRET "$GPKG_ROOT_PREFIX/log")" ]

# Variables that stand for a setting are shown as the setting is.
GPKG_CHANNELS=u:SECRET@h.invalid/c,https://h.invalid/t/SECRET/d hides 0 info --report
out_has 'GPKG_CHANNELS='
GPKG_CHANNELS=u:SECRET@h.invalid/c hides 0 config list

# The variables themselves are kept, and set in the environment.
expect 0 env config vars list -n e
out_has 'WANDB_API_KEY = SECRET'

finish
