# What helps when something went wrong: gpkg log, info --report, -v and -vv, show.
. "$(dirname "$0")/lib.sh"

package lib 1.0 0
package lib 1.1 0
package app 1.0 0 'lib >=1.1'

# Commands that changed something or failed are logged, with the error; others are not.
expect 0 create -y -q -n e lib=1.0
expect 0 list -n e
expect 1 install -y -n e nosuch -c https://user:secret@localhost:1/c
expect 0 log
out_has 'gpkg create -y -q -n e lib=1.0' '(exit status 1)' 'error: '
out_lacks 'gpkg list'
out_lacks secret
expect 0 log --failed --json
json 'len(d) == 1 and d[0]["status"] == 1 and d[0]["error"] and d[0]["prefix"] == work + "/root/envs/e"'
json 'd[0]["time"].endswith("Z") and d[0]["seconds"] >= 0'
expect 0 create -y -q -n other lib
expect 0 log -n other
out_has '-n other'
out_lacks '-n e '
expect 0 log --last 1
out_has '-n other'
out_lacks nosuch
expect 2 log --last 0

# A damaged line is left out; a folder that cannot be written stops nothing.
echo '{"time": 3' >> "$GPKG_ROOT_PREFIX/log/commands.jsonl"
echo '{"time": 3}' >> "$GPKG_ROOT_PREFIX/log/commands.jsonl"
expect 0 log
rm -r "$GPKG_ROOT_PREFIX/log"
touch "$GPKG_ROOT_PREFIX/log"
expect 0 remove -y -n other --all
rm "$GPKG_ROOT_PREFIX/log"
expect 0 log
err_is 'no commands are logged'

# The log does not grow for ever.
mkdir "$GPKG_ROOT_PREFIX/log"
head -c 300000 /dev/zero | tr '\0' '\n' > "$GPKG_ROOT_PREFIX/log/commands.jsonl"
expect 0 create -y -q -n other lib
check [ "$(stat -c %s "$GPKG_ROOT_PREFIX/log/commands.jsonl")" -lt 200000 ]
expect 0 log
out_has '-n other'

# A bug report.
expect 0 info --report
out_has 'gpkg commit' distribution 'virtual packages' 'gpkg create -y -q -n other lib'

# -v names phases with times, -vv requests as well.
expect 0 solve -v app
err_has 'solve: ' ' s' 'repodata.json'
expect 1 solve -vv nosuch -c https://localhost:1/c
err_has 'GET https://localhost:1/c/'
expect 0 solve -v app --json
err_is ''
json 'd["success"] is True'

# show: the newest build, or the installed one.
expect 0 show lib
out_has 1.1
out_lacks 1.0
err_has 'gpkg search lib'
expect 0 show lib -n e
out_has 1.0
out_lacks 1.1
expect 0 show app --json
json 'd["name"] == "app" and d["depends"] == ["lib >=1.1"]'
expect 1 show lbi
err_has 'lib'
expect 1 show app -n e
expect 2 show 'l*'
err_has 'does not name one package'

finish
