# Detectors beyond gpkg's own, from their files to a solve
. "$(dirname "$0")/lib.sh"

package app 1.0 plain
package app 2.0 probed '__probe >=1.2'
package ze 1.0 0 '__level_zero >=1.3'
detectors=$GPKG_ROOT_PREFIX/detectors
mkdir -p "$detectors"
probe='{p["name"]: p["version"] for p in d["virtual_packages"]}.get("__probe")'

# A file alone; what it finds is a fact, and a virtual package of every decision.
mkdir -p tool/1.3 tool/1.10
cat > "$detectors/probe.yaml" <<YAML
gpkg_detector: 1
virtual_packages:
  - name: __probe
    version: {path: $PWD/tool/*, matches: '/([0-9.]+)\$'}
YAML
expect 0 hardware
out_has "detected       __probe 1.10"
out_has "$detectors/probe.yaml"
expect 0 hardware --json
json 'd["others"] == [{"name": "__probe", "version": "1.10", "build": "0", "source": work + "/root/detectors/probe.yaml"}]'
json "$probe == '1.10'"
expect 0 solve app --json
json '"__probe=1.10=0" in d["virtual_packages"] and d["packages"][0]["version"] == "2.0"'
expect 0 create -y -n with app
expect 0 hardware -v
err_has "detector $detectors/probe.yaml: found __probe=1.10=0"

# A profile carries it to where it is not.
expect 0 hardware export -o node.yaml
check grep -q 'name: __probe' node.yaml
rm -r tool
expect 0 hardware
out_lacks 'detected'
expect 0 solve app --json
json 'd["packages"][0]["version"] == "1.0"'
expect 0 solve app --for ./node.yaml --json
json 'd["packages"][0]["version"] == "2.0"'
expect 0 hardware export --for ./node.yaml
check [ "$out" = "$(cat node.yaml)" ]
expect 0 hardware --for ./node.yaml
out_has './node.yaml'
printf 'gpkg_profile: 1\nplatform: linux-64\nvirtual_packages: [{name: __cuda, version: "12"}]\n' > bad.yaml
expect 1 hardware --for ./bad.yaml
err_has "bad.yaml:3:27: __cuda is reserved"

# Overrides, those that do nothing included.
CONDA_OVERRIDE_PROBE=1.5 expect 0 solve app --json
json 'd["packages"][0]["version"] == "2.0"'
CONDA_OVERRIDE_PROBE= expect 0 solve app --for ./node.yaml --json
json 'd["packages"][0]["version"] == "1.0"'
CONDA_OVERRIDE_PROBE=new CONDA_OVERRIDE_PROOBE=1 CONDA_OVERRIDE_OSX=14 expect 0 hardware --json
json '{o["variable"][15:]: [o["value"], o["effect"]] for o in d["overrides"]} == {
    "CUDA": ["", "drops"], "GLIBC": ["2.36", "sets"], "LINUX": ["6.1", "sets"],
    "OSX": ["14", "none"], "PROBE": ["new", "none"], "PROOBE": ["1", "none"]}'
CONDA_OVERRIDE_PROBE=1.5 CONDA_OVERRIDE_PROOBE=1 expect 0 hardware
out_has 'CONDA_OVERRIDE_CUDA=       no __cuda'
out_has 'CONDA_OVERRIDE_PROBE=1.5   __probe is 1.5'
out_has 'CONDA_OVERRIDE_PROOBE=1    no effect'
CONDA_OVERRIDE_PROOBE=1 expect 0 info --json
json 'd["env_vars"]["CONDA_OVERRIDE_PROOBE"] == "1"'

# A program: confined, remembered, and not asked by commands that decide nothing.
cat > "$detectors/probe" <<SH
#!/bin/sh
echo run >&2
touch $PWD/written 2>/dev/null
echo '{"gpkg_detected": 1, "virtual_packages": [{"name": "__probe", "version": "3"}]}'
SH
chmod +x "$detectors/probe"
printf 'gpkg_detector: 1\nrun: probe\nyields: [__probe]\n' > "$detectors/probe.yaml"
expect 0 list -n with
expect 0 env list
remembered() { find "$GPKG_ROOT_PREFIX" -name 'detector-*.txt' | wc -l; }
check [ "$(remembered)" = 0 ]
expect 0 hardware --json
json "$probe == '3' and d['warnings'] == []"
check [ "$(remembered)" = 1 ]
expect 0 hardware
out_has "probe.yaml, cached"
case $out in
    *'writing could not be denied to it'*) printf 'note: this kernel has no Landlock\n' ;;
    *) check [ ! -e written ] ;;
esac
expect 0 solve app --json
json 'd["packages"][0]["version"] == "2.0"'

# What goes wrong with a detector is a warning.
printf '#!/bin/sh\necho no such card >&2; exit 3\n' > "$detectors/probe"
expect 0 solve app --json
json 'd["packages"][0]["version"] == "1.0"'
expect 0 solve app
err_has "$detectors/probe.yaml: probe: exited with status 3: no such card; set CONDA_OVERRIDE_PROBE instead"
CONDA_OVERRIDE_PROBE=2 expect 0 solve app
err_lacks probe.yaml
printf '#!/bin/sh\r\necho hello\r\n' > "$detectors/probe"
expect 0 solve app
err_has 'the interpreter in its first line was not found (does the line end in CR LF?)'
printf 'gpkg_detector: 1\nvirtual_packages: [{name: __glibc, version: "9"}]\n' > "$detectors/odd.yaml"
expect 0 solve app
err_has "odd.yaml:2:27: __glibc is reserved; detector ignored"
# What could not be looked at is missing in a profile, and that is told.
expect 1 hardware export -o part.yaml
err_has 'wrote part.yaml, which is incomplete: add the undetected hardware before using --for ./part.yaml'
expect 1 hardware export --json
json 'not d["success"] and any("odd.yaml" in warning for warning in d["warnings"])'
rm "$detectors"/*

# What gpkg brings is found beside it, in the build folder and where it was installed.
brought=$(dirname "$GPKG")/libexec/gpkg/detectors/level-zero.yaml
check [ -x "$(dirname "$brought")/gpkg-detect-level-zero" ]
CONDA_OVERRIDE_LEVEL_ZERO=1.3 expect 0 solve ze
expect 1 solve ze
err_has 'CONDA_OVERRIDE_LEVEL_ZERO=1.3 gpkg solve ze'
expect 0 hardware -v
err_has "detector $brought: "
mkdir -p installed/bin installed/libexec
cp "$GPKG" installed/bin/gpkg
cp -r "$(dirname "$GPKG")/libexec/gpkg" installed/libexec/gpkg
GPKG=$PWD/installed/bin/gpkg expect 0 hardware -v
err_has "detector $PWD/installed/libexec/gpkg/detectors/level-zero.yaml: "

finish
