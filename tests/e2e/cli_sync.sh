# gpkg sync: an environment with exactly what a file or a lock says; gpkg tree of an environment.
. "$(dirname "$0")/lib.sh"

package lib 1.0 0
package lib 1.1 0
package app 1.0 0 'lib >=1.0'
package tool 1.0 0
package extra 1.0 0

cat > environment.yml << 'END'
name: e
dependencies:
  - app
  - lib=1.0
variables:
  MODE: fast
END

# Without an active environment, hints name that of environment.yml.
expect 2 install
err_has 'to create e from environment.yml in this folder: gpkg sync; else use -n NAME or -p PATH'
expect 2 create
err_has 'to use environment.yml of this folder: gpkg create -f environment.yml'
# A missing environment is created; a second time nothing changes.
expect 0 sync -y
expect 0 list -n e --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.0")]'
expect 0 sync -y --json
json 'd["success"] is True and not d.get("actions", {}).get("LINK")'
expect 0 history -n e --json
json 'len(d) == 1'
expect 0 sync -y
out_has 'e matches environment.yml'

expect 2 install tool
err_has 'hint: environment.yml in this folder names e: use -n e; to apply the file: gpkg sync; else use -n NAME'

# Text and JSON agree where only variables differ.
expect 0 env config vars set -n e MODE=slow OTHER=1
expect 0 sync --dry-run
out_has 'no packages change; this would set variable MODE and unset variable OTHER'
expect 1 sync --check
out_is 'e does not match environment.yml: no packages change; this would set variable MODE and unset variable OTHER; to change it: gpkg sync'
expect 0 sync --dry-run --json
json 'd["message"] == "no packages change; this would set variable MODE and unset variable OTHER"'
json 'd["variables"] == {"set": ["MODE"], "unset": ["OTHER"]}'
expect 0 sync -y --json
json 'd["message"] == "no packages change; variable MODE set; variable OTHER unset"'
expect 0 sync -y --json
json 'd["message"] == "e matches environment.yml" and "in_sync" not in d and "variables" not in d'

# Packages, requests and variables that the file does not have are removed. Versions that fit stay.
expect 0 install -y -q -n e tool
expect 0 env config vars set -n e OTHER=1
expect 0 sync -n e -f environment.yml --dry-run --json
json '[p["name"] for p in d["actions"]["UNLINK"]] == ["tool"] and d["dry_run"] is True'
expect 1 sync -n e -f environment.yml --check
out_has '- tool' 'e does not match environment.yml: 1 to remove; to change it: gpkg sync -n e -f environment.yml'
err_has 'this removes tool, which is not in environment.yml'
expect 0 sync -y -n e -f environment.yml
err_lacks overrides
expect 0 sync -n e -f environment.yml --check
out_is 'e matches environment.yml'
expect 0 sync -n e -f environment.yml --check --json
json 'd["success"] and d["in_sync"] is True'
expect 1 sync -n other -f environment.yml --check --json
json 'd["success"] and d["in_sync"] is False'
expect 1 sync -n other -f environment.yml --check
err_has "note: -n other overrides the name 'e' in environment.yml"
absent other
expect 0 list -n e --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.0")]'
expect 0 env config vars list -n e --json
json 'd == {"MODE": "fast"}'
sed -i 's/lib=1.0/tool/' environment.yml
expect 0 sync -y -n e
expect 0 list -n e --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.0"), ("tool", "1.0")]'

# A lock: gpkg.lock comes before environment.yml, and a difference between them is told.
expect 0 lock -f environment.yml
expect 0 sync -y -n e
err_lacks 'out of date'
sed -i 's/- tool/- tool\n  - extra/' environment.yml
expect 0 sync -y
err_has 'gpkg.lock is out of date: environment.yml also requests extra' \
    'to update both: gpkg lock update -f environment.yml && gpkg sync' 'gpkg sync -f environment.yml'
out_is 'e matches gpkg.lock, which is out of date'
# A check fails then: the environment is not what environment.yml requests.
expect 1 sync --check
out_is 'e matches gpkg.lock, which is out of date'
expect 1 sync --check --json
json 'd["success"] and d["in_sync"] is False'
expect 1 sync -n e --check
err_has 'gpkg lock update -f environment.yml && gpkg sync -n e; to ignore the lock: gpkg sync -n e -f environment.yml'
expect 0 sync -n e --lock gpkg.lock --check
expect 0 sync -y -n e --lock gpkg.lock
err_lacks 'out of date'
sed -i '/- extra/d; s/fast/slow/' environment.yml
expect 0 sync -y
err_has 'gpkg.lock is out of date: environment.yml has other variables'
expect 0 lock app lib=1.1
expect 0 install -y -q -n e extra
expect 0 sync -y
err_has 'gpkg.lock is out of date: environment.yml also requests tool; does not request lib=1.1; has other variables'
expect 0 list -n e --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.1")]'
expect 0 sync -y -n e --lock gpkg.lock --json
json 'd["success"] is True and not d.get("actions", {}).get("LINK")'
expect 0 verify -n e
expect 0 sync -y -n new --lock gpkg.lock
expect 0 sync -y -n new --lock gpkg.lock
out_has 'new matches gpkg.lock'
expect 0 list -n new --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.1")]'

# The lock names the environment, and install --lock does the same to an existing one.
printf 'name: named\ndependencies: [app, lib=1.1]\n' > named.yml
mkdir elsewhere
expect 0 lock -f named.yml -o elsewhere/gpkg.lock
check grep -q '^  name: named$' elsewhere/gpkg.lock
expect 1 install -y --lock elsewhere/gpkg.lock
err_has named
absent named
expect 0 create -y --lock elsewhere/gpkg.lock
expect 0 list -n named --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.1")]'
expect 0 install -y -q -n named tool lib=1.0
expect 0 install --lock elsewhere/gpkg.lock --dry-run --json
json 'sorted(p["name"] for p in d["actions"]["UNLINK"]) == ["lib", "tool"]'
json '[p["name"] for p in d["actions"]["LINK"]] == ["lib"]'
expect 0 install -y --lock elsewhere/gpkg.lock
expect 0 list -n named --json
json '[(p["name"], p["version"]) for p in d] == [("app", "1.0"), ("lib", "1.1")]'
expect 0 history -n named --json
json 'len(d) == 3'
expect 0 sync -y --lock elsewhere/gpkg.lock
out_is 'named matches elsewhere/gpkg.lock'
expect 2 install -y --lock elsewhere/gpkg.lock tool
expect 2 install -y --lock elsewhere/gpkg.lock --update-all
# -n wins; a lock without a name has that of the environment.yml beside it.
expect 0 create -y -n another --lock elsewhere/gpkg.lock
sed -i '/^  name: named$/d' elsewhere/gpkg.lock
sed 's/named/beside/' named.yml > elsewhere/environment.yml
expect 0 create -y --lock elsewhere/gpkg.lock
expect 0 verify -n beside
rm elsewhere/environment.yml
expect 2 create -y --lock elsewhere/gpkg.lock
err_has 'the new environment needs a name or a path'

# Undone like every other change.
expect 0 rollback -y -n e
expect 0 list -n e --json
json '"extra" in [p["name"] for p in d]'

# Of a check, 1 means "differs"; errors have 2.
expect 2 sync -n e --lock nosuch.lock --check
expect 2 sync -n e --lock nosuch.lock --check --json
json 'd["success"] is False and "in_sync" not in d'
expect 1 sync -n e --lock nosuch.lock --dry-run
printf 'dependencies: [nosuch]\n' > nosuch.yml
expect 2 sync -n e -f nosuch.yml --check
err_has "package 'nosuch' not found"

# What cannot be done changes nothing.
expect 2 sync -y -n e --lock gpkg.lock -f environment.yml
err_has '--lock' '--file'
rm gpkg.lock environment.yml
expect 1 sync -y -n e
err_has 'no gpkg.lock or environment.yml in this folder' '--lock or -f'
mkdir other && touch other/file
expect 1 sync -y -p other -f environment.yml

# tree without a spec draws the environment: requested packages first.
expect 0 tree -n new
out_has 'app 1.0' '└─ lib 1.1'
expect 0 tree -n new lib
out_lacks app
expect 0 tree -n new --invert lib
out_has 'app 1.0'
expect 2 tree -n new --invert
err_has 'missing argument: SPEC'

finish
