# Channels that offer shards (CEP 16), and channels that bring others along (CEP 42).
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

web=$WORK/web
control=$WORK/control
mkdir "$control"

# in_channel NAME: what follows is about this channel, which is empty.
in_channel() {
    CHANNEL=$web/$1
    rm -f "$WORK"/records.* "$WORK"/v3.*
}
# Names with a record and no package.
names() {
    local name
    for name in "$@"; do
        printf '"%s-1-0.tar.bz2":{"name":"%s","version":"1","build":"0","build_number":0,"depends":[]}\n' \
            "$name" "$name" >> "$WORK/records.linux-64"
    done
    index
}
# answers: what the server was asked since the last call, sorted, without packages and notices (which
# are asked for beside all that, at a moment of their own).
answers() {
    touch "$control/answers"
    grep -Ev '(tar.bz2|notices.json)$' "$control/answers" | sort
    rm "$control/answers"
}
# asked_is LINES: the same must be these.
asked_is() {
    local asked
    checks=$((checks + 1))
    asked=$(answers)
    [ "$asked" = "$(sort <<< "$1")" ] || fail "the server was asked: $asked"
}
# shard SUBDIR NAME: the path of a shard of main.
shard() { echo "/main/$1/shards/$(cat "$web/main/$1/shards/$2.sha256").msgpack.zst"; }

in_channel main
package lib 1.0 0
package lib 2.0 0
package app 1.0 0 'lib >=1' 'tool'
package other 1.0 0 'app'
package lonely 1.0 0
SUBDIR=noarch package tool 1.0 0
names $(printf 'many%03d\n' {1..120})
python3 "$here/shards.py" "$CHANNEL"
# A file of this very second may change once more: its date does not say that it is the same.
find "$web" -type f -exec touch -d '1 minute ago' {} +

python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$control/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")
from="-c $url/main --override-channels"
indexes='304 /main/linux-64/repodata_shards.msgpack.zst
304 /main/noarch/repodata_shards.msgpack.zst'

# Only what the request can reach is asked for, and once.
expect 0 create -y -n a $from app
has a app-1.0 lib-2.0 tool-1.0
err_is ''
asked_is "404 /main/linux-64/repodata.json.zst
404 /main/noarch/repodata.json.zst
200 /main/linux-64/repodata_shards.msgpack.zst
200 /main/noarch/repodata_shards.msgpack.zst
200 $(shard linux-64 app)
200 $(shard linux-64 lib)
200 $(shard noarch tool)"
expect 0 create -y -n b $from app 'lib<2'
has b app-1.0 lib-1.0 tool-1.0
asked_is "$indexes"

# What is installed counts as asked for.
expect 0 install -y -n b $from lonely
has b app-1.0 lib-1.0 lonely-1.0 tool-1.0
asked_is "$indexes
200 $(shard linux-64 lonely)"
expect 0 update -y -n b $from lib
asked_is "$indexes"

# The answer is that of the whole.
expect 0 create --dry-run --json -n x $from other
shards=$out
cp -r "$web/main" "$web/whole"
rm "$web"/whole/*/repodata_shards.msgpack.zst
expect 0 create --dry-run --json -n x -c "$url/whole" --override-channels other
check [ "${out//whole/main}" = "$shards" ]
answers > "$WORK/ignored"

# Offline.
expect 0 create -y -n c --offline $from app
expect 1 create -y -n d --offline $from many001
err_has "error: --offline: $url/main/linux-64: the repodata of many001 is not in the cache"
absent d
asked_is ''

# A name that nobody has: near ones are found among all.
expect 1 create -y -n d $from lonly
err_has 'did you mean lonely?'
expect 2 create -y -n d $from 'lonel*'
err_has 'it matches lonely'
answers > "$WORK/ignored"

# search: a name, a pattern, a pattern of many.
expect 0 search $from many002
check [ "$(grep -c '^many002 ' <<< "$out")" = 1 ]
asked_is "$indexes
200 $(shard linux-64 many002)"
expect 0 search $from other --json
json 'list(d) == ["other"] and d["other"][0]["depends"] == ["app"]'
asked_is "$indexes"
expect 0 search $from 'many00*' --json
json 'list(d) == [f"many00{i}" for i in range(1, 10)] and all(len(b) == 1 for b in d.values())'
expect 0 search $from
check [ "$(head -n 2 <<< "$out")" = 'app
lib' ]
check [ "$(wc -l <<< "$out")" = 125 ]
err_is "'*' matches 125 names; builds are listed for at most 100"
answers > "$WORK/ignored"
expect 0 search $from 'many*' --json
json 'list(d) == [f"many{i:03}" for i in range(1, 121)] and not any(d.values())'
err_is ''
expect 2 search $from 'many*>=2'
err_has "matches 120 packages"
asked_is "$indexes
$indexes"
expect 1 search $from lonly
err_has 'did you mean lonely?'
expect 1 search $from 'nothing*'
err_has 'no package name matches'
# The same of a channel that is whole.
expect 0 search -c "$url/whole" --override-channels 'many*' --json
json 'len(d) == 120 and not any(d.values())'
expect 0 search -c "$url/whole" --override-channels 'many*[build=0]' --json
json 'len(d) == 120 and all(d.values())'
answers > "$WORK/ignored"

# A shard that is gone, or damaged, does not make the channel unusable.
rm "$web$(shard linux-64 many103)"
expect 0 create --dry-run -n x $from many103
err_has "warning: $url$(shard linux-64 many103): not found (HTTP 404); using the full repodata instead"
echo x > "$web$(shard linux-64 many104)"
expect 0 create --dry-run -n x $from many104
err_has 'using the full repodata instead'
expect 0 search $from many104
expect 0 create --dry-run --offline -n x $from many103
err_has 'using the full repodata instead'
answers > "$WORK/ignored"

# The cache: damage in it is mended, and it can be removed.
for index in "$GPKG_ROOT_PREFIX"/cache/shards/*.index; do echo x > "$index"; done
for shard in "$GPKG_ROOT_PREFIX"/cache/shards/*.zst; do echo x > "$shard"; done
expect 0 create --dry-run -n x $from app
err_is ''
expect 0 clean --index-cache --yes --json
json 'any("/cache/shards/" in path for path in d["index_cache"]["files"])'
check [ -z "$(find "$GPKG_ROOT_PREFIX/cache" -type f)" ]

# Relations: bio builds upon main, site overrides bio. One of them has no shards.
in_channel bio
package genome 1.0 0 'lib'
package lib 9.0 0
python3 "$here/shards.py" "$CHANNEL" base=../main
in_channel site
package genome 1.0 site 'lib'
python3 "$here/shards.py" "$CHANNEL" overrides=../bio
rm "$CHANNEL"/*/repodata_shards.msgpack.zst
answers > "$WORK/ignored"
expect 0 create -y -n g -c "$url/bio" --override-channels genome
has g genome-1.0 lib-2.0
err_is "also using $url/main: $url/bio declares $url/main as its base"
expect 0 create --dry-run --json -n x -c "$url/site" --override-channels genome
err_is ''
json '{r["name"]: (r["version"], r["build"]) for r in d["actions"]["LINK"]} ==
    {"genome": ("1.0", "site"), "lib": ("2.0", "0")}'
answers > "$WORK/ignored"
expect 0 create --dry-run -q -n x -c "$url/site" --override-channels genome
err_is ''
check [ "$(answers | grep -c repodata)" = 6 ]
# The user's order counts for more.
expect 0 create --dry-run --json -n x -c "$url/bio" -c "$url/main" --override-channels genome
json '[r["version"] for r in d["actions"]["LINK"] if r["name"] == "lib"] == ["9.0"]'
expect 0 create --dry-run -n x -c "$url/bio" -c "$url/main" --override-channels genome
err_is "$url/bio declares $url/main as its base; using your order"
# It can be switched off.
expect 0 config set channel_relations_max_depth 0
expect 0 create --dry-run --json -n x -c "$url/bio" --override-channels genome
err_is ''
json '[r["version"] for r in d["actions"]["LINK"] if r["name"] == "lib"] == ["9.0"]'
expect 0 config set channel_relations_max_depth 1
expect 1 create --dry-run -n x -c "$url/site" --override-channels genome
err_has 'exceed channel_relations_max_depth (1)'
expect 2 config set channel_relations_max_depth -- -1
expect 0 config set channel_relations_max_depth 10
# A channel that does not exist is declared.
python3 "$here/shards.py" "$web/site" overrides=../nowhere
expect 1 create --dry-run -n x -c "$url/site" --override-channels genome
err_has "$url/nowhere: not a channel"
err_has 'gpkg config set channel_relations_max_depth 0'

# Who needs whom: shards of what is asked about and of what it names, or of all that it leads to; of
# who needs it, all of the channel. The answers are those of the whole.
answers > "$WORK/ignored"
rm -r "$GPKG_ROOT_PREFIX/cache"
expect 0 repoquery depends $from other
out_has '  app  app 1.0 0'
check [ "$(answers | grep -c 'shards/')" = 2 ]
expect 0 repoquery depends -r $from other
check [ "$(answers | grep -c 'shards/')" = 2 ]
for words in 'depends other' 'depends -r other' 'tree other' 'whoneeds lib' 'whoneeds lib=1.0'; do
    expect 0 repoquery $words $from --json
    shards=$out
    check [ "$(grep -c '"fn"' <<< "$out")" -gt 0 ]
    expect 0 repoquery $words -c "$url/whole" --override-channels --json
    check [ "${out//whole/main}" = "$shards" ]
done
expect 1 repoquery depends $from lonly
err_has 'did you mean lonely?'
answers > "$WORK/ignored"

# A server that is down: what is here is used, and what is not is missed.
expect 0 create --dry-run -n h $from app
kill $server
wait $server 2> "$WORK/kill"
expect 0 create -y -n h $from app
err_has "$url/main/linux-64/repodata_shards.msgpack.zst: cannot connect"
err_has 'using the cached copy, 0 minutes old'
has h app-1.0 lib-2.0 tool-1.0
expect 1 create -y -n i $from many005
err_has "$url$(shard linux-64 many005): cannot connect"
absent i

finish
