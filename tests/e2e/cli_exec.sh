# gpkg exec, and gpkg clean of what it left.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo "hello 1 from $CONDA_PREFIX: $*"'
mkdir -p "$WORK/payload/etc/conda/activate.d"
echo 'export FROM_SCRIPT=yes; echo noise' > "$WORK/payload/etc/conda/activate.d/x.sh"
package hello 1 0
script bin/tool-a 'echo "$FROM_SCRIPT"; exit "$1"'
script bin/tool-b 'cat'
script bin/tool-c 'kill -TERM $$'
package tools 1 0 hello
package library 1 0
shelf=$GPKG_ROOT_PREFIX/exec
count() { ls "$shelf" 2> /dev/null | wc -l; }

# Stdout is the tool's from the first run on; the words behind it are its own.
expect 0 exec hello -n 'a b' --with x '*'
at=$(ls -d "$shelf"/hello-*)
out_is "hello 1 from $at: -n a b --with x *"
err_is "installed 1 package (temporary environment)
noise"
expect 0 exec hello again
out_is "hello 1 from $at: again"
err_is noise
check [ "$(count)" = 1 ]
# Other requests, other environments; the same one in other words is another too.
expect 0 exec --with library hello
expect 0 exec -c "file://$WORK/channel" hello
expect 0 exec -v hello=1 x
err_has '+ hello' '1 to install'
out_has ': x'
check [ "$(count)" = 3 ]
expect 0 exec -q --with=library hello -q
out_has ': -q'
check [ "$(count)" = 3 ]
# The cache may be shared by machines that differ; a kernel's version is no difference.
CONDA_OVERRIDE_CUDA=12.4 expect 0 exec hello x
check [ "$(count)" = 4 ]
CONDA_OVERRIDE_LINUX=6.99 expect 0 exec hello x
check [ "$(count)" = 4 ]
# They are nobody's environments.
expect 0 env list --json
json 'd["envs"] == []'
check [ ! -e "$HOME/.conda/environments.txt" ]

# A new version is for those who ask, or who say --refresh.
script bin/hello 'echo "hello 2"'
package hello 2 0
expect 0 exec hello x
out_has 'hello 1'
expect 0 exec --refresh hello x
out_is 'hello 2'
err_has 'installed 1 package (temporary environment)'
expect 0 exec hello x
out_is 'hello 2'
expect 0 exec --refresh hello=1 x
out_has 'hello 1'

# Where the tool is not what its package is called; input and status are its own.
expect 7 exec --spec tools tool-a 7
out_is ''
expect 127 exec tools
err_has 'error: package tools has no program '"'"'tools'"'"'' \
    'the package contains tool-a, tool-b, tool-c; to run one: gpkg exec --spec tools PROGRAM'
expect 127 exec library
err_has 'gpkg exec --spec PACKAGE library'
expect 127 exec --spec tools no-such-tool
err_has "package tools has no program 'no-such-tool'" 'the package contains tool-a, tool-b, tool-c'
expect 127 exec --spec tools cat
err_has "package tools has no program 'cat'"
expect 127 exec --spec tools --with library cat
err_has "packages tools and library have no program 'cat'"
# The option takes one package at a time.
expect 2 exec --with library,tools hello
err_has 'hint: repeat the option: --with library --with tools'
expect 127 exec --with tools library python x
err_has 'the packages contain tool-a, tool-b, tool-c; to run one: gpkg exec --spec tools PROGRAM'
# A path is the program that it names.
expect 0 exec --spec tools /bin/echo hi
out_is hi
last='gpkg exec --spec tools tool-b'
check [ "$(echo in | "$GPKG" exec --spec tools tool-b 2> /dev/null)" = in ]
"$GPKG" exec --spec tools tool-c 2> /dev/null
check [ $? = 143 ]
# A program elsewhere on PATH is not the one that was meant.
package cat 1 0
expect 127 exec cat

expect 2 exec
err_is 'error: gpkg exec: missing argument: TOOL
  hint: for example: gpkg exec ruff check'
expect 2 exec 'hello=[['
expect 1 exec nowhere
err_has "package 'nowhere' not found in"
# A package with a similar name need not have the program.
expect 1 exec helo x
err_has 'hint: did you mean hello? Or, if a package of another name contains it: gpkg exec --spec PACKAGE helo'
err_lacks 'possible fixes'
expect 1 exec --json nowhere
json 'd["success"] is False'
# What would help is this command with another spec; the tool's words are nobody's.
package needy 1 0
package needy 2 0 'nowhere>=2'
expect 1 exec needy=2 needy=2 'a b'
err_has "  gpkg exec needy==1 needy=2 'a b'"
before=$(count)
expect 1 exec --offline nowhere
check [ "$(count)" = "$before" ]
expect 0 exec --offline hello
rm -rf "$GPKG_ROOT_PREFIX/pkgs"

# Of several at once one makes it, and all run it.
for n in $(seq 12); do
    "$GPKG" exec --with tools hello "$n" > "$WORK/run$n" 2> "$WORK/err$n" &
done
wait
for n in $(seq 12); do
    [ -s "$WORK/run$n" ] || cat "$WORK/err$n"
    check [ "$(cat "$WORK/run$n")" = 'hello 2' ]
done
clean "$shelf"

# clean takes what is damaged too, and nobody's own environments.
rm "$at/conda-meta/history"
expect 1 exec -q hello
err_has 'hello is already installed' 'to remove it: gpkg clean --exec'
expect 0 create -y -q -n mine library
expect 0 exec -q --with library hello
expect 0 clean --exec --dry-run --json
json 'd["dry_run"] is True and len(d["exec"]["files"]) > 1 and "packages" not in d'
check [ "$(count)" -gt 1 ]
expect 0 clean --exec --yes
out_has 'temporary environments of gpkg exec' freed
expect 0 clean --exec --yes
out_is 'nothing to remove'
check [ "$(count)" = 0 ]
check [ -e "$GPKG_ROOT_PREFIX/envs/mine/conda-meta/history" ]
expect 0 exec hello
out_is 'hello 2'
# A script runs in python, with the packages that it names.
script bin/python 'echo "python $*"'
package python 3.12 0
package needed 1 0 python
printf '%s\n' '# /// script' '# requires-python = ">=3.11"' '# dependencies = ["needed"]' '# ///' > analyze.py
expect 0 exec analyze.py -n x
out_is 'python analyze.py -n x'
err_has 'installed 2 packages'
err_lacks 'names no packages'
expect 0 exec --with library ./analyze.py
out_is 'python ./analyze.py'
err_has 'installed 3 packages'
sed -i 's/needed/nowhere/' analyze.py
expect 1 exec analyze.py
err_has "package 'nowhere' not found" 'gpkg exec --with PACKAGE python analyze.py'
sed -i 's/nowhere/needed[more]/' analyze.py
expect 1 exec analyze.py
err_has "analyze.py: 'needed[more]' in the script block is not a package with versions"
echo 'import needed' > bare.py
expect 0 exec bare.py
out_is 'python bare.py'
err_has 'note: bare.py names no packages; to add them: gpkg exec --with PACKAGE bare.py'
expect 0 exec -q bare.py
err_is ''
expect 0 exec --with needed bare.py
err_lacks 'names no packages'
# Libraries with the command that was meant.
expect 127 exec --with library needed python x.py
err_has 'hint: to use it in Python: gpkg exec --with needed --with library python x.py'
expect 127 exec needed
err_has 'to use it in Python: gpkg exec --with needed python'
# A tool that runs keeps its environment; those that wait for one that is being made interrupt nobody.
expect 0 clean -y -q --exec
script bin/slow 'sleep 3; cat "$CONDA_PREFIX/bin/slow" | wc -l'
package slow 1.0 0
for n in 1 2 3 4 5 6; do "$GPKG" exec slow > "$WORK/slow$n" 2> "$WORK/slow.err$n" & done
sleep 2
expect 0 clean -y -a
err_has 'kept: a tool is running in it'
wait
for n in 1 2 3 4 5 6; do
    check [ "$(cat "$WORK/slow$n")" -gt 0 ]
    check [ "$(grep -c interrupted "$WORK/slow.err$n")" = 0 ]
done
expect 0 clean -y -a
check [ "$(count)" = 0 ]

finish
