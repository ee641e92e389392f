# Link scripts by policy: run, off, ask, list; what is allowed is remembered by its checksum
. "$(dirname "$0")/lib.sh"

ran=$WORK/ran
export ran
: > "$ran"
did() { checks=$((checks + 1)); [ "$(paste -sd' ' "$ran")" = "$*" ] || fail "ran '$(paste -sd' ' "$ran")', not '$*'"; : > "$ran"; }
# tool VERSION [MARK]: a package with a post-link and a pre-unlink script; MARK changes the first.
tool() {
    script bin/.tool-post-link.sh "echo link${2-} >> $ran"
    script bin/.tool-pre-unlink.sh "echo unlink >> $ran"
    script bin/tool 'echo tool'
    package tool "$1" 0
}
script bin/plain 'echo plain'
package plain 1.0 0
tool 1.0
sum() { tar -xOjf "$CHANNEL/linux-64/tool-$1-0.tar.bz2" ./bin/.tool-post-link.sh | sha256sum | cut -d' ' -f1; }
state() {
    checks=$((checks + 1))
    last="state of x: $1"
    python3 -c 'import json, sys
d = json.load(open(sys.argv[2])) if __import__("os").path.exists(sys.argv[2]) else {}
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" "$(place x)/conda-meta/gpkg/state.json" || fail "false: $1"
}

# All of them run where nobody says otherwise, as with conda.
expect 0 config get link_scripts
out_is run
expect 0 create -n x tool
did link
expect 0 remove -y -n x --all
did unlink
# Sourced in the activated environment, as with conda: a script may return, and use what activation sets.
script bin/.early-post-link.sh "echo \$WANTED >> $ran" 'return 0' "echo late >> $ran"
mkdir -p "$WORK/payload/etc/conda/activate.d"
echo 'export WANTED=activated' > "$WORK/payload/etc/conda/activate.d/early.sh"
package early 1.0 0
index
expect 0 create -n x early
did activated
expect 0 remove -y -n x --all
did

# --no-scripts: the package is there, its scripts are named and did not run.
expect 0 create -n x tool --no-scripts
has x tool-1.0
err_has 'not run: tool-1.0-0: ' '/bin/.tool-post-link.sh ('
did
expect 0 remove -y -n x tool --no-scripts
err_has 'not run: tool-1.0-0: ' '.tool-pre-unlink.sh'
err_lacks 'post-link'
did
expect 0 install -n x tool plain --no-scripts
expect 0 remove -y -n x --all --no-scripts
err_has '.tool-pre-unlink.sh'
did
expect 0 config set link_scripts off
expect 0 create -n x tool plain
has x plain-1.0 tool-1.0
did
expect 0 remove -y -n x --all
did
expect 2 config set link_scripts sometimes
err_has "link_scripts: expected run, off, ask or list, found 'sometimes'"

# ask: without anybody to ask it is an error before the first change, and -y is no answer.
expect 0 config set link_scripts ask
for words in '' --json; do
    expect 2 create -n x tool plain $words
    absent x
    did
done
expect 2 create -n x tool
err_has 'tool-1.0-0: ' '/bin/.tool-post-link.sh (' 'this link script needs permission to run' '--allow-scripts tool' '--no-scripts'
answer '' create -n x tool -y
check [ "$status" = 2 ]
absent x
GPKG_ALWAYS_YES=1 answer '' create -n x tool
check [ "$status" = 2 ]
absent x
# What has no script is not asked about.
expect 0 create -n x plain
expect 2 install -n x tool
has x plain-1.0
check [ ! -e "$(place x)/bin/tool" ]

# On a terminal package, path and size are shown; no is the answer that Enter gives.
answer 'y\n;\n;\n' install -n x tool
check [ "$status" = 0 ]
out_has "tool-1.0-0: $GPKG_ROOT_PREFIX/pkgs/" "bin/.tool-post-link.sh ($(tar -xOjf "$CHANNEL/linux-64/tool-1.0-0.tar.bz2" ./bin/.tool-post-link.sh | wc -c) B)"
out_has 'runs when the package is removed: allow it? [y/N]' 'not run: tool-1.0-0'
has x plain-1.0 tool-1.0
did
state 'not d.get("link_scripts")'
answer 'y\n;y\n;y\n;y\n' install -n x tool --force-reinstall
check [ "$status" = 0 ]
did unlink link
state "d['link_scripts']['tool'] and '$(sum 1.0)' in d['link_scripts']['tool'] and len(d['link_scripts']['tool']) == 2"

# The same script in another version is not asked about again; a changed one is.
tool 1.1
expect 0 update -n x tool
has x plain-1.0 tool-1.1
did unlink link
tool 1.2 -changed
expect 2 update -n x tool
err_has 'tool-1.2-0: ' 'post-link'
has x plain-1.0 tool-1.1
did
expect 0 update -n x tool --allow-scripts tool
did unlink link-changed
state "'$(sum 1.2)' in d['link_scripts']['tool']"

# What leaves is forgotten.
expect 0 remove -y -n x tool
did unlink
state '"tool" not in d.get("link_scripts", {})'

# list: what is not on it does not run, and nobody is asked.
expect 0 config set link_scripts list
expect 0 install -n x tool
err_has 'not run: tool-1.2-0'
did
expect 0 install -n x tool --force-reinstall --allow-scripts tool
did unlink link-changed
expect 0 install -n x tool --force-reinstall
did unlink link-changed
expect 0 rename -n x y -y
did link-changed unlink
expect 2 install -n y plain --allow-scripts tool --no-scripts
expect 0 remove -y -n y --all
did unlink

# A script that another package puts in the place of an allowed one is not run as that one.
script bin/.tool-post-link.sh "echo hijack >> $ran"
package hijack 1.0 0 tool
expect 0 config set link_scripts run
expect 0 create -n x hijack
did

finish
