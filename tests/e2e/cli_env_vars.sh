# gpkg env config vars
. "$(dirname "$0")/lib.sh"

package app 1 0
expect 0 create -y -q -n one app
state=$GPKG_ROOT_PREFIX/envs/one/conda-meta/state

expect 0 env config vars list -n one
out_is ''
expect 0 env config vars set -n one GREETING='hello there' EMPTY= EQUAL=a=b
expect 0 env config vars list -n one
out_is 'EMPTY = 
EQUAL = a=b
GREETING = hello there'
expect 0 env config vars list -n one --json
json 'd == {"EMPTY": "", "EQUAL": "a=b", "GREETING": "hello there"}'
expect 0 run -n one sh -c 'echo "$GREETING, $EQUAL, ${EMPTY-unset}"'
out_is 'hello there, a=b, '
GREETING=mine expect 0 run -n one sh -c 'echo $GREETING'
out_is 'hello there'

# What stands beside the variables stays; the document of a change.
python3 - "$state" << 'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["version"] = 7
json.dump(d, open(sys.argv[1], "w"))
PY
expect 0 env config vars set -n one GREETING=new --json
json 'd == {"success": True, "prefix": work + "/root/envs/one", "env_vars": {"EMPTY": "", "EQUAL": "a=b", "GREETING": "new"}}'
check grep -q '"version": 7' "$state"
expect 0 env config vars unset -n one EMPTY EQUAL
expect 0 env config vars list -n one --json
json 'd == {"GREETING": "new"}'
EQUAL=mine expect 0 run -n one sh -c 'echo $EQUAL'
out_is mine

# The active environment; a shell that is in it is told what to do.
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/one expect 0 env config vars set A=1
err_is 'to apply the change in this shell: gpkg activate one'
expect 0 env config vars unset -n one A

# What is refused changes nothing.
before=$(cat "$state")
expect 2 env config vars set -n one B=1 1A=2
err_is "error: 1A: not a valid variable name
  hint: use letters, digits and '_'; start with a letter or '_'"
expect 2 env config vars set -n one 'A B=2'
expect 2 env config vars set -n one =2
expect 2 env config vars set -n one B=1 PATH=/x
err_is 'error: PATH: reserved: activation sets this variable'
expect 2 env config vars set -n one CONDA_PREFIX=/x --json
json 'd["success"] is False and "CONDA_PREFIX" in d["message"]'
expect 2 env config vars set -n one JUST
err_has 'JUST: expected NAME=VALUE' 'gpkg env config vars set -n one JUST=VALUE'
expect 2 env config vars set -n one JUST value
err_has 'gpkg env config vars set -n one JUST=value'
expect 2 env config vars set one B=1
err_has 'did you mean -n one?'
expect 2 env config vars set -n one 'A=***unset***'
err_has 'gpkg env config vars unset -n one A'
expect 1 env config vars unset -n one GREETING GREETNG
err_has "variable 'GREETNG' is not set in $GPKG_ROOT_PREFIX/envs/one"
err_has 'did you mean GREETING?'
expect 2 env config vars set -n one
expect 2 env config vars unset -n one
expect 2 env config vars -n one
expect 2 env config
expect 1 env config vars list -n onee
err_has 'did you mean one?'
expect 2 env config vars list
check [ "$(cat "$state")" = "$before" ]
echo '{"message": "ask the admins"}' > "$GPKG_ROOT_PREFIX/envs/one/conda-meta/frozen"
expect 1 env config vars set -n one B=1
err_has 'the environment is frozen: ask the admins'
expect 0 env config vars list -n one
expect 0 env config vars set -n one B=1 --override-frozen
rm "$GPKG_ROOT_PREFIX/envs/one/conda-meta/frozen"

# conda marks what it unsets; that is no value.
echo '{"env_vars": {"KEPT": "1", "GONE": "***unset***"}}' > "$state"
expect 0 env config vars list -n one --json
json 'd == {"KEPT": "1"}'
expect 1 env config vars unset -n one GONE
expect 0 env config vars unset -n one KEPT
check grep -q 'unset' "$state"
expect 0 env config vars set -n one GONE=back
expect 0 run -n one sh -c 'echo $GONE'
out_is back

# Values that are not for a terminal's eyes stay out of the history.
check [ "$(grep -c GREETING "$GPKG_ROOT_PREFIX/envs/one/conda-meta/history")" = 0 ]
expect 0 __complete -- gpkg env config vars unset -n one G
out_is GONE

# What another tool wrote there stays as it is; what cannot be set is told, and not exported.
expect 0 create -y -n two
echo '{"env_vars":{"OMP_NUM_THREADS":8,"D-E":"x","PATH":"/evil","T":true,"L":[1]}}' > "$GPKG_ROOT_PREFIX/envs/two/conda-meta/state"
expect 0 env config vars set -n two Q=1
check [ "$(tr -d ' \n' < "$GPKG_ROOT_PREFIX/envs/two/conda-meta/state")" = '{"env_vars":{"OMP_NUM_THREADS":8,"D-E":"x","PATH":"/evil","T":true,"L":[1],"Q":"1"}}' ]
expect 0 env config vars list -n two
out_has 'OMP_NUM_THREADS = 8' 'T = True'
err_has '"PATH" ignored: reserved: activation sets this variable' '"L" ignored: the value is not a string'
expect 0 run -n two sh -c 'echo $OMP_NUM_THREADS $T $Q'
out_is '8 True 1'
expect 0 env export -n two
out_has 'OMP_NUM_THREADS:' 'Q:'
out_lacks 'D-E' 'evil'
err_has 'variable left out: D-E: '
printf '%s\n' "$out" > two.yml
expect 0 env create -y -n again -f two.yml
expect 0 env config vars unset -n two PATH
expect 2 env config vars set -n two F=$'\xff\xfe'
err_has 'F: the value is not UTF-8'

finish
