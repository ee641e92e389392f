# gpkg config
. "$(dirname "$0")/lib.sh"
file=$GPKG_ROOT_PREFIX/config.yaml

expect 0 config list
out_has 'channel_priority:'
out_has "file://$CHANNEL"
expect 0 config --show
out_has 'channel_priority:'
expect 0 config list --json
json 'd["channels"] == ["file://" + channel] and d["channel_priority"] == "strict"'
expect 0 config list --sources --json
json 'd["channels"]["source"].startswith(work + "/root/config.yaml:")'
json 'd["channel_priority"]["source"] == "default"'

expect 0 config get channel_priority
out_is strict
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
expect 0 config get channel_priority
out_is strict
expect 1 config remove-key channel_priority

# Lists; comments stay.
printf '# mine\nchannels:\n  - a # first\n' > "$file"
expect 0 config append channels b c
expect 0 config --add channels z
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
expect 0 config remove channels z
expect 0 config --remove channels c
expect 1 config remove channels nowhere
expect 0 config append channels ./here
expect 0 config get channels
out_has "$PWD/here"
expect 0 config set channels conda-forge
expect 0 config get channels
out_is conda-forge
expect 2 config append platform linux-64
expect 2 config set
expect 2 config frob
expect 2 config --get channels --set channels x

finish
