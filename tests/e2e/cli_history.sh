# gpkg history, diff and rollback: what an environment was, and that it is that again.
. "$(dirname "$0")/lib.sh"

script bin/lib 'echo lib one'
package lib 1.0 0
script bin/lib 'echo lib two'
package lib 2.0 0
script bin/app 'echo app'
package app 1.0 0 'lib'
package extra 1.0 0
package tool 1.0 0
index

at=$GPKG_ROOT_PREFIX/envs
# What an environment is but for what tells of its past: files with their modes and contents, and records without
# the place of the unpacked package.
tree() {
    (cd "$at/$1" && find . -path ./conda-meta/gpkg/generations -prune -o ! -path ./conda-meta/history \
        -printf '%p %y %m %l\n' -type f -exec sha256sum {} + | sort)
}

expect 2 history
expect 1 history -n none
expect 0 create -y -n e app 'lib<2'
first=$(tree e)
expect 0 install -y -n e extra
second=$(tree e)
expect 0 update -y -n e lib
err_has "the bound lib<2 no longer applies; to keep it: gpkg update -n e 'lib<2'"
third=$(tree e)
expect 0 install -y -n e 'lib>=2' tool
fourth=$(tree e)
has e app-1.0 extra-1.0 lib-2.0 tool-1.0

# Only packages and accelerators make a generation, or a block that conda would take for an empty environment.
blocks() { grep -c '^==>' "$at/$1/conda-meta/history"; }
expect 0 create -y -n quiet app=1.0 extra
expect 0 install -y -n quiet lib
out_has 'no packages change; requested specs (new: lib) updated'
expect 0 update -y -n quiet app
expect 0 install -y -n quiet --force-reinstall extra
expect 0 env config vars set A=b -n quiet
expect 0 update -y -n quiet --all
expect 0 history -n quiet --json
json '[(g["number"], g["requested"]) for g in d] == [(1, ["app", "extra", "lib"])]'
check [ "$(blocks quiet)" = 1 ]
expect 0 env export -n quiet --from-history
out_has '- app
  - extra
  - lib'
expect 0 install -y -n quiet tool
expect 0 update -y -n quiet tool=1
expect 0 rollback -y -n quiet
has quiet app-1.0 extra-1.0 lib-2.0
expect 0 install -y -n quiet --accel none lib
out_has 'quiet now uses CPU builds only'
expect 0 history -n quiet
check [ "$(wc -l <<< "$out")" = 5 ]
check [ "$(blocks quiet)" = 3 ]
expect 0 verify -n quiet

expect 0 history -n e
check [ "$(wc -l <<< "$out")" = 5 ]
check grep -qE '^Generation  Time +Packages  Changes +Command$' <<< "$out"
check grep -qE "^ +1  2[-0-9]+ [0-9:]+ +2  \\+2 +gpkg create -y -n e app 'lib<2'$" <<< "$out"
check grep -qE '^ +2  2[-0-9]+ [0-9:]+ +3  \+1 +gpkg install -y -n e extra$' <<< "$out"
check grep -qE '^ +3  2[-0-9]+ [0-9:]+ +3  ~1 +gpkg update -y -n e lib$' <<< "$out"
check grep -qE "^ +4  2[-0-9]+ [0-9:]+ +4  \\+1 +gpkg install -y -n e 'lib>=2' tool$" <<< "$out"
expect 0 history -n e --json
json '[g["number"] for g in d] == [1, 2, 3, 4] and d[2]["added"] == ["lib-2.0-0"] and d[2]["removed"] == ["lib-1.0-0"]'
json 'd[0]["requested"] == ["app", "lib[version=\u0027<2\u0027]"] and d[1]["packages"] == 3 and not any(g["restores"] for g in d)'

json 'all(g["time"].endswith("Z") for g in d)'
expect 0 history -n e --last 2 --json
json '[g["number"] for g in d] == [3, 4] and d[0]["added"] == ["lib-2.0-0"]'
expect 2 history -n e --last 0
expect 0 history -n e -v
out_has '+app, +lib' '+extra' '~lib'

expect 0 diff 1 3 -n e
check [ "$(sed "s|$WORK/||g; s/  */ /g" <<< "$out")" = '+ extra 1.0 0 channel
~ lib 1.0 -> 2.0 0 channel' ]
err_is '1 package added, 1 changed from generation 1 to generation 3'
expect 0 diff 3 1 -n e --json
json '[(c["name"], c["before"] and c["before"]["version"], c["after"] and c["after"]["version"]) for c in d] ==
    [("extra", "1.0", None), ("lib", "2.0", "1.0")]'
expect 0 diff 4 -n e
out_is ''
err_is 'no packages differ since generation 4'
expect 0 diff 4 4 -n e
err_is 'no packages differ between generation 4 and generation 4; gpkg history lists changes of requested specs and settings'
expect 0 diff 1 -n e
err_is '2 packages added, 1 changed since generation 1'
expect 0 diff -n e
err_is '1 package added since generation 3'
expect 1 diff 9 -n e
err_has 'has no generation 9' 'to list generations 1 to 4: gpkg history -n e'
expect 2 rollback 0 -n e
err_has "generation: '0' does not exist; generations start at 1"
for bad in 0 -1 x; do expect 2 diff "$bad" -n e; done
err_has "'x' is not a generation, date, environment or lock file" "'2026-11-28 13:45', today, yesterday, 30m"

# Without FROM it is about the last change.
expect 0 create -y -n f 'lib<2'
expect 0 diff -n f
err_is '1 package added since the start'
expect 0 install -y -n f extra
expect 0 diff -n f
check [ "$(sed "s|$WORK/||g; s/  */ /g" <<< "$out")" = '+ extra 1.0 0 channel' ]
err_is '1 package added since generation 1'
# Dates and ages: the generation of that time.
for when in "$(date -u +%FT%TZ)" 2100-01-01; do
    expect 0 diff "$when" -n f
    err_is 'no packages differ since generation 2'
done
expect 1 diff 7d -n f
err_has 'has no generation as old as 7d: the oldest is 1 of 2' 'to compare with the oldest: gpkg diff 1 -n f'
# Times are local, as in conda-meta/history.
export TZ=TEST-5:45
expect 0 create -y -n zoned lib
expect 0 history -n zoned
out_has "$(sed -n 's/==> \(.*\) <==/\1/p' "$at/zoned/conda-meta/history")"
expect 0 diff "$(date -u +%FT%TZ)" -n zoned
# Times as history shows them.
for when in "$(date '+%F %T')" "$(date +%FT%H:%M)"; do
    expect 0 diff "$when" -n zoned
    err_is 'no packages differ since generation 1'
done
expect 1 diff 30m -n zoned
expect 1 diff yesterday -n zoned
unset TZ
# Environments and lock files.
expect 0 diff e f
check [ "$(sed "s|$WORK/||g; s/  */ /g" <<< "$out")" = '- app 1.0 0 channel
~ lib 2.0 -> 1.0 0 channel
- tool 1.0 0 channel' ]
err_is '2 packages removed, 1 changed from e to f'
# FROM alone: to the environment of -n.
expect 0 diff f -n e
err_is '2 packages added, 1 changed from f to e'
expect 0 diff e -n f --json
json '[(c["name"], c["after"] and c["after"]["version"]) for c in d] == [("app", None), ("lib", "1.0"), ("tool", None)]'
expect 2 diff -n e -n f
err_has 'to compare two environments: gpkg diff A B'
expect 2 diff e 'last week'
err_has "'last week' is not a generation, date, environment or lock file"
expect 0 lock 'lib<2' --for cpu -o old.lock
expect 0 lock lib extra --for cpu -o new.lock
expect 0 diff old.lock new.lock
check [ "$(sed "s|$WORK/||g; s/  */ /g" <<< "$out")" = '+ extra 1.0 0 channel
~ lib 1.0 -> 2.0 0 channel' ]
err_is '1 package added, 1 changed from old.lock to new.lock'
expect 0 diff -n f new.lock
err_is '1 package changed from new.lock to f'
expect 0 diff new.lock f
err_is '1 package changed from new.lock to f'
expect 0 diff f new.lock
err_is '1 package changed from f to new.lock'
expect 0 lock lib extra --for cpu --for a100 -o two.lock
expect 0 diff old.lock two.lock
out_has 'class cpu:'
err_has 'class cpu: 1 package added, 1 changed from old.lock to two.lock' 'class a100 is only in two.lock'
expect 0 diff old.lock two.lock --class cpu --json
json '[c["name"] for c in d] == ["extra", "lib"]'
expect 1 diff old.lock two.lock --class a100
err_has "old.lock: no class 'a100'" 'classes in it: cpu'
expect 0 diff -n f two.lock --class a100
err_is '1 package changed from two.lock, class a100 to f'
expect 2 diff e f --class cpu
err_has '--class needs a lock file to compare'
expect 2 diff -n e f old.lock
err_has "-n and -p cannot be used with both 'f' and 'old.lock'"
expect 2 diff f
err_has 'to see the last change: gpkg diff -n f; to compare with another: gpkg diff f OTHER'

# Back, one by one: files, records and what was asked for.
expect 0 rollback -n e --dry-run
out_has 'lib>=2 -> lib' '- tool'
check [ "$(tree e)" = "$fourth" ]
expect 0 rollback -y -n e
check [ "$(tree e)" = "$third" ]
expect 0 rollback -y -n e
check [ "$(tree e)" = "$second" ]
expect 0 rollback -n e --dry-run
out_has 'Requested    removed: extra' '- extra'
expect 0 rollback -y -n e --json
json 'd["success"] and [r["name"] for r in d["actions"]["UNLINK"]] == ["extra"]'
check [ "$(tree e)" = "$first" ]
expect 1 rollback -y -n e
err_has 'has no generation before 1' 'to undo the last rollback: gpkg rollback 6 -n e'
expect 0 history -n e
out_has 'gpkg rollback -y -n e  # to 3' 'gpkg rollback -y -n e  # to 2'
expect 0 diff -n e
err_is '1 package removed since generation 6'
expect 0 history -n e --json
json '[g["restores"] for g in d] == [None] * 4 + [3, 2, 1]'
# It can be undone, and it is the same to the solver.
expect 0 rollback -y -n e 4
out_has 'e is back at generation 4'
check [ "$(tree e)" = "$fourth" ]
expect 0 rollback -y -n e 8
out_is 'nothing to do: e is already the same as generation 8'
expect 0 rollback -y -n e 1
expect 0 update --dry-run -n e --all
out_is 'nothing to do: no newer version in the searched channels fits'
err_is 'note: lib 1.0 is selected instead of 2.0 (requested as lib<2)'
expect 0 env export -n e --from-history
out_has "lib<2"

# Offline, as long as the store has the packages; then what is missing is told and nothing changes.
mv "$CHANNEL" "$WORK/away"
expect 0 rollback -y -n e 4 --offline
check [ "$(tree e)" = "$fourth" ]
expect 0 env remove -y -n e --dry-run
before=$(tree e)
rm -r "$GPKG_ROOT_PREFIX"/pkgs/lib-1.0-*
expect 1 rollback -y -n e 1 --offline
err_has lib-1.0-0
check [ "$(tree e)" = "$before" ]
mv "$WORK/away" "$CHANNEL"
expect 0 rollback -y -n e 1
check [ "$(tree e)" = "$first" ]

# Another tool took a package away: that is no generation of ours, until we change something.
rm "$at/e/conda-meta/lib-1.0-0.json" "$at/e/bin/lib"
expect 0 history -n e
err_has 'another tool has changed packages since then: -1'
expect 0 rollback -y -n e
check [ "$(tree e)" = "$first" ]
expect 0 history -n e
out_has '(by another tool)'

# An environment that gpkg has not changed.
mkdir -p "$at/other/conda-meta" && touch "$at/other/conda-meta/history"
expect 0 history -n other
out_is ''
expect 0 history -n other --json
json 'd == []'
expect 1 rollback -n other
err_has 'gpkg has not changed this environment'

# A generation that is damaged is told, the others serve.
echo x > "$at/e/conda-meta/gpkg/generations/2.json.zst"
expect 0 history -n e
err_has 'generations/2.json.zst'
expect 1 rollback -y -n e 2
err_has 'generations/2.json.zst'
check [ "$(tree e)" = "$first" ]

# Frozen.
touch "$at/e/conda-meta/frozen"
expect 1 rollback -y -n e 3
err_has 'is frozen'
expect 0 rollback -y -n e 3 --override-frozen
rm "$at/e/conda-meta/frozen"
check [ "$(tree e)" = "$third" ]

# A command that had nothing to do does not stop a rollback; a rollback says how to undo it.
expect 0 create -y -n same app
expect 0 install -y -n same extra
expect 0 install -y -n same extra
expect 0 rollback -y -n same
out_has 'same is back at generation 1; to return to 2: gpkg rollback 2 -n same'
has same app-1.0 lib-2.0
expect 0 rollback -y -n same 2
has same app-1.0 extra-1.0 lib-2.0

# An environment that was removed cannot be restored, and rollback says since when.
expect 0 create -q -y -n shortlived app
expect 0 env remove -y -n shortlived
expect 1 rollback -y -n shortlived
err_has 'no environment at' 'it was removed on' 'env remove -y -n shortlived' 'and cannot be restored; to create it again: gpkg create'
expect 1 rollback -y -n neverthere
err_lacks 'it was removed'

finish
