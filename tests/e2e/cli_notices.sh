# Notices of channels (CEP 6): shown once, in nobody's way
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

web=$WORK/web
control=$WORK/control
mkdir "$control"
CHANNEL=$web/main
package tool 1.0 0
python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server $slow 2> /dev/null; rm -rf "$WORK"' EXIT
slow=
while [ ! -e "$control/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")/main
configure() { printf 'channels: [%s]\n' "${1:-$url}" > "$GPKG_ROOT_PREFIX/config.yaml"; }
configure
asked() { grep -c notices.json "$control/answers"; }
forget() { rm -rf "$GPKG_ROOT_PREFIX/cache"; : > "$control/answers"; }
# Nobody waits for an answer: on a busy machine it may take more than one command until one is in time.
# What those said is $err.
settle() {
    local said=
    for _ in {1..50}; do
        expect 0 search tool
        said+=$err
        grep -qs notices.json "$GPKG_ROOT_PREFIX"/cache/*.state.json && break
    done
    err=$said
}

# A channel has none, which is believed for a day.
settle
err_is ''
: > "$control/answers"
expect 0 search tool
check [ "$(asked)" = 0 ]
expect 0 notices
err_has 'no notices'
check [ "$(asked)" = 1 ]

cat > "$CHANNEL/notices.json" <<'END'
{"notices": [
  {"id": "a", "message": "News.\nerror: \u001b[31mnot of gpkg\u0007\u009b2J", "level": "critical",
   "created_at": "2026-01-02T23:30:00-01:00", "expires_at": "2999-01-01T00:00:00+00:00"},
  {"id": "old", "message": "long ago", "level": "info", "expires_at": "2020-01-01T00:00:00Z"},
  {"id": "old2", "message": "as conda writes it", "level": "info", "expired_at": "2020-01-01T00:00:00.123456+00:00"},
  {"message": "without an id", "level": "shrill"},
  {"id": "empty"}, 7
]}
END
touch -d yesterday "$CHANNEL/notices.json"
forget
settle
out_has 1.0
out_lacks News
err_is "notice from $url, critical (2026-01-03):
  News.
  error: \\x1b[31mnot of gpkg\\x07\\x9b2J
notice from $url, info:
  without an id"
: > "$control/answers"
expect 0 search tool
err_is ''
check [ "$(asked)" = 0 ]
# To ask for them shows them again, and all of them; they are unchanged.
expect 0 notices
out_has critical 'without an id'
out_lacks ago
out_lacks conda
check grep -q '304 .*notices.json' "$control/answers"
expect 0 notices --json
json '[n["id"] for n in d["notices"]] == ["a", "without an id"]'
json 'd["notices"][0]["created_at"] == "2026-01-03T00:30:00Z" and d["notices"][1]["expires_at"] is None'
expect 0 notices -c "$url" --offline
out_has critical
expect 0 notices -c "$CHANNEL"
out_has critical

# Neither with -q, --json, --offline, nor where the user wants none or fewer; what is not shown is not seen.
for words in -q --json; do
    forget
    expect 0 search tool "$words"
    err_is ''
    check [ "$(asked)" = 0 ]
done
expect 0 search tool --offline
err_is ''
check [ "$(asked)" = 0 ]
forget
printf 'channels: [%s]\nnumber_channel_notices: 0\n' "$url" > "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 search tool
err_is ''
check [ "$(asked)" = 0 ]
printf 'channels: [%s]\n' "$url" > "$GPKG_ROOT_PREFIX/config.yaml"
echo 'number_channel_notices: 1' > "$HOME/.condarc"
settle
err_has 'critical'
err_lacks 'without an id'
expect 0 search tool
err_has 'without an id'
err_lacks 'critical'
expect 0 search tool
err_is ''
rm "$HOME/.condarc"

# A channel that has to be signed says nothing unsigned.
expect 0 keys generate "$WORK/key"
expect 0 index "$CHANNEL" --sign-key "$WORK/key"
printf 'channels: [%s]\ntrusted_keys:\n  %s: [%s]\n' "$url" "$url" "$("$GPKG" keys show "$WORK/key")" > "$GPKG_ROOT_PREFIX/config.yaml"
forget
expect 0 search tool
err_is ''
check [ "$(asked)" = 0 ]
configure

# What is none of that is no trouble.
for text in '' '[]' '{"notices": 7}' '<html>' '{"notices": ['; do
    forget
    printf '%s' "$text" > "$CHANNEL/notices.json"
    settle
    err_is ''
    expect 0 notices
    err_has 'has no list of notices'
done

# A server that answers everything but this one file at once: nobody waits for it.
cat > "$WORK/slow.py" <<'PY'
import http.server, os, socketserver, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=sys.argv[1])
    def log_message(self, *arguments):
        pass
    def do_GET(self):
        if self.path.endswith("notices.json"):
            time.sleep(30)
        super().do_GET()
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
with open(sys.argv[2] + ".new", "w") as out:
    out.write(str(server.server_port))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
PY
python3 "$WORK/slow.py" "$web" "$control/slow" &
slow=$!
while [ ! -e "$control/slow" ]; do sleep 0.05; done
configure "http://127.0.0.1:$(cat "$control/slow")/main"
began=$(date +%s)
expect 0 search tool
out_has 1.0
err_is ''
check [ $(($(date +%s) - began)) -lt 5 ]

finish
