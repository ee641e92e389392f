# Which certificates gpkg trusts, and which it shows.
. "$(dirname "$0")/lib.sh"

command -v openssl > /dev/null || { echo 'skipped: no openssl'; finish; }
script bin/hello 'echo hello'
package app 1 0
mkdir ca && cd ca || exit 1
certificate() {  # certificate NAME SUBJECT OPTION...: NAME.pem and NAME.key
    openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -days 2 -x509 -subj "/CN=$2" \
        -addext subjectAltName=DNS:localhost "${@:3}" 2> /dev/null
}
certificate site localhost
certificate me me
cat me.pem me.key > both.pem
openssl pkcs8 -topk8 -in me.key -out locked.key -passout pass:x
openssl rehash . 2> /dev/null
cat > serve.py << 'END_PYTHON'
import http.server, os, ssl, sys
folder, needs_client = sys.argv[1], len(sys.argv) > 2
class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=folder)
    def log_message(self, *arguments):
        pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("site.pem", "site.key")
if needs_client:
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations("me.pem")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_port, flush=True)
server.serve_forever()
END_PYTHON
serve() {  # serve [client]: sets URL
    rm -f port
    python3 serve.py "$CHANNEL" "$@" > port 2> /dev/null &
    server=$!
    for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
    URL=https://localhost:$(cat port)
}
made=0
create() {  # create STATUS [OPTION...]
    expect "$1" create -y -q -n "e$((++made))" --override-channels -c "$URL" app "${@:2}"
    rm -rf "$GPKG_ROOT_PREFIX/cache"
}
trap 'kill $server; rm -rf "$WORK"' EXIT

serve
create 1
err_has 'TLS error'
SSL_CERT_FILE=$PWD/site.pem create 0
for variable in SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR; do
    export "$variable=$PWD"
    create 0
    unset "$variable"
done
mkdir empty
SSL_CERT_DIR=$PWD/empty:$PWD create 0
REQUESTS_CA_BUNDLE=$PWD/empty create 1
err_has "the certificates are from REQUESTS_CA_BUNDLE=$PWD/empty" "openssl rehash $PWD/empty"
echo "ssl_verify: $PWD" > "$HOME/.condarc"
create 0
echo "ssl_verify: $PWD/empty" > "$HOME/.condarc"
create 1
expect 0 config set ssl_verify "$PWD"
create 0
expect 0 config remove-key ssl_verify
rm "$HOME/.condarc"
# For one command.
create 0 -k
expect 0 search -k --override-channels -c "$URL" app
err_has 'ssl_verify is false (--insecure): TLS certificates are not verified'
rm -rf "$GPKG_ROOT_PREFIX/cache"
create 1
kill "$server"
wait "$server" 2> /dev/null

serve client
export SSL_CERT_FILE=$PWD/site.pem
create 1
printf 'client_ssl_cert: %s\nclient_ssl_cert_key: %s\n' "$PWD/me.pem" "$PWD/me.key" > "$HOME/.condarc"
create 0
echo "client_ssl_cert: $PWD/both.pem" > "$HOME/.condarc"
create 0
# Never a question.
printf 'client_ssl_cert: %s\nclient_ssl_cert_key: %s\n' "$PWD/me.pem" "$PWD/locked.key" > "$HOME/.condarc"
create 1
err_has 'client_ssl_cert_key' 'must have no passphrase'

finish
