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
out_has 'gpkg create -y -q -n e lib=1.0' '(exit status 1)' 'error: ' 'https://***@localhost:1/c'
out_lacks 'gpkg list'
out_lacks secret
expect 0 log --failed --json
json 'len(d) == 1 and d[0]["status"] == 1 and d[0]["error"] and d[0]["prefix"] == work + "/root/envs/e"'
json 'd[0]["time"].endswith("Z") and d[0]["seconds"] >= 0 and d[0]["outcome"] == "exit status 1"'
expect 0 history -n e
err_has 'not listed: 1 failed command; to see the errors: gpkg log --failed -n e'
expect 0 create -y -q -n other lib
expect 0 log -n other
out_has '-n other'
err_is 'to see the changes: gpkg history -n other'
expect 0 history -n other
err_is ''
out_lacks '-n e '
expect 0 log --last 1
out_has '-n other'
out_lacks nosuch
expect 2 log --last 0

# Reading and dry runs are not logged; a check that says no is.
expect 0 env list
expect 0 module write -n e --root "$WORK/modules"
expect 0 module check --root "$WORK/modules"
expect 0 clean --all --dry-run
expect 0 config list
expect 0 config --show
expect 0 config describe module_root
expect 0 config --get channels
expect 0 env config vars list -n e
expect 0 env export -n e
expect 0 export -n e
expect 0 info
expect 0 history -n e
expect 0 solve lib
expect 0 search lib
expect 0 why -n e lib
expect 0 repoquery depends lib
expect 0 closure -n e
expect 0 hardware list
expect 0 pins -n e
expect 0 keys generate "$WORK/key"
expect 0 keys show "$WORK/key"
expect 0 run -n e true
expect 1 run -n e false
echo "{" > "$GPKG_ROOT_PREFIX/envs/e/conda-meta/lib-1.0-0.json"
expect 1 verify -n e
expect 0 log
out_has 'gpkg module write' 'gpkg keys generate' 'gpkg verify -n e  (exit status 1)' \
    'error: 1 of 1 package is damaged; to restore it: gpkg repair -n e'
for words in 'gpkg env' 'gpkg export' 'module check' 'gpkg clean' 'gpkg config' 'gpkg run' 'gpkg info' 'gpkg history' \
    'gpkg solve' 'gpkg search' 'gpkg why' 'gpkg repoquery' 'gpkg closure' 'gpkg hardware' 'gpkg pins' 'keys show'; do
    out_lacks "$words"
done
# conda's spelling of a change is one.
expect 0 config --set changeps1 false
expect 0 config --remove-key changeps1
expect 0 log --last 2
out_has 'gpkg config --set changeps1 false' 'gpkg config --remove-key changeps1'
expect 0 repair -y -n e

# A question that was answered no is no failure.
answer 'n\n' install -n e lib=1.1
check [ "$status" = 1 ]
expect 0 log --last 1
out_has 'gpkg install -n e lib=1.1  (cancelled)'
out_lacks 'error: '
expect 0 log --last 1 --json
json 'd[0]["outcome"] == "cancelled" and d[0]["error"] is None and d[0]["status"] == 1'
expect 0 log --failed
out_lacks 'lib=1.1'

# Wrong usage, such as a typo, is not logged.
expect 2 install -y -n e 'lib=='
expect 2 create -y
expect 0 log --failed
out_lacks 'lib=='
out_lacks 'gpkg create -y'$'\n'

# A killed command is logged, under its environment, as long as its process is gone.
script bin/.wait-post-link.sh 'echo x > "$STARTED"; sleep 5'
package wait 1.0 0
export STARTED=$WORK/started
"$GPKG" create -n killed wait > "$WORK/out" 2>&1 &
child=$!
for _ in $(seq 200); do [ -e "$STARTED" ] && break; sleep 0.05; done
expect 0 log -n killed
out_has 'gpkg create -n killed wait  (running)'
kill -KILL "$child"
wait "$child" 2> "$WORK/wait"
expect 0 log -n killed --failed
out_has 'gpkg create -n killed wait  (did not finish)'
check [ "$(wc -l <<< "$out")" = 1 ]
expect 0 log -n killed --json
json 'd[0]["status"] is None and d[0]["outcome"] == "did not finish"'
expect 0 repair -n killed

# Many at a time: each has one entry.
for i in 1 2 3 4 5 6; do "$GPKG" create -q -n "many$i" & done > "$WORK/out" 2>&1
wait
for i in 1 2 3 4 5 6; do
    expect 0 log -n "many$i"
    check [ "$(grep -c 'gpkg create' <<< "$out")" = 1 ]
    out_lacks 'did not finish'
done

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

# A build that fails has its error there.
mkdir -p broken
printf 'package: {name: broken, version: 1}\nbuild: {script: ["exit 3"]}\n' > broken/recipe.yaml
expect 1 build broken --output-dir "$WORK/built"
expect 0 log --failed --last 1
out_has 'build broken' 'error: ' 'the build script failed'

# A bug report.
expect 0 info --report
err_has 'passwords and tokens are hidden; read the report before you share it'
out_has 'gpkg commit' distribution 'virtual packages' 'gpkg create -y -q -n other lib'

# -v names phases with times, -vv requests as well.
expect 0 solve -v app
err_has 'repodata.json'
check grep -qx 'solve: [0-9.]* s (collect candidates [0-9.]* s, search [0-9.]* s, notes [0-9.]* s)' <<< "$err"
expect 1 solve -v app=99
check grep -qx 'solve: [0-9.]* s (collect candidates [0-9.]* s, search [0-9.]* s, explain [0-9.]* s)' <<< "$err"
expect 0 create -v -n traced app
err_has '/repodata.json: read'
check grep -qx 'fetch: [0-9.]* s (in the package store: [0-9]* of [0-9]*.*)' <<< "$err"
check grep -q '^link: [0-9.]* s (2 packages linked' <<< "$err"
rm -r "$GPKG_ROOT_PREFIX"/pkgs/app-*
expect 0 install -vv -y -n traced app --force-reinstall
err_has '1 read from local channels, 1 unpacked' 'read file://'
err_lacks 'GET file:'
expect 1 solve -vv nosuch -c https://localhost:1/c
err_has 'GET https://localhost:1/c/'
expect 0 solve -v app --json
err_is ''
json 'd["success"] is True'

# show: the newest build, or the installed one.
expect 0 show lib
out_has 1.1
out_lacks 1.0
err_has 'newest of 2 builds; to list all: gpkg search lib'
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


# For history, what failed before the environment was created does not count, nor does reading.
expect 1 create -y -q -n late nosuch
expect 0 create -y -q -n late lib
expect 1 why -n late nosuch
expect 0 history -n late
err_lacks 'not listed'
finish
