# What is shown on terminals of 80 and 60 columns, with and without colours, and in pipes
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
unset NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM
export TERM=xterm-256color LC_ALL=C.UTF-8

package zlib 1.2 0
package zlib 1.3 0
package python 3.11.9 hb806964_0_cpython zlib
package python 3.12.1 hb806964_0_cpython zlib
package numpy 1.26.4 py312heda63a1_0 python
package numpy 2.1.0 py312h58c1407_0 python
package libblas 3.9.0 25_linux64_openblas
BUILD_NUMBER=26 package libblas 3.9.0 26_linux64_mkl
package old 1.0 0
package toolkit-with-a-name-that-is-long 12.6.3 ha770c72_1
package pytorch 2.5.1 cuda126_py312h1763f6d_306 'numpy >=1.26' libblas __cuda
expect 0 create -q -y -n ml 'python=3.11' zlib=1.3 'libblas=3.9.0=25*' old numpy=1.26
cat > plan.yml << 'Y'
dependencies: [python=3.12, zlib=1.2, 'libblas=3.9.0=26*', numpy>=2, toolkit-with-a-name-that-is-long]
Y
plan="env update -n ml -f plan.yml --prune"

# terminal COLUMNS WORDS...: runs gpkg on a terminal of that width, answers no, sets $status and $out.
terminal() { on_terminal "--columns=$1" '--keys=n\n' -- "${@:2}"; }
# narrow COLUMNS: no line of $out is longer, and none ends with a blank; escape codes take no column.
# Only what can be broken nowhere is longer: a path, a command to type.
narrow() {
    check python3 -c '
import re, sys
for line in sys.argv[2].split("\n"):
    line = re.sub("\x1b\\[[0-9]*[mK]", "", line.rsplit("\r")[-1])
    is_one = re.fullmatch(r" *(\S+|`?gpkg .*)", line)
    if line != line.rstrip() or len(line) > int(sys.argv[1]) and not is_one:
        sys.exit(repr(line))' "$1" "$out"
}
plain() { out_lacks $'\x1b'; }
# has_in_order TEXT...: $out has these, one after the other.
has_in_order() {
    check python3 -c '
import sys
at = 0
for text in sys.argv[2:]:
    at = sys.argv[1].find(text, at)
    if at < 0:
        sys.exit(repr(text))
    at += len(text)' "$out" "$@"
}

# The plan: environment, requested specs, channels; groups with a mark each; the totals below.
terminal 80 $plan
check [ "$status" = 1 ]
narrow 80
has_in_order "Environment  ml (" 'Requested    python=3.12, zlib=1.2' "Channels     $CHANNEL" \
    'Package' 'Version' 'Install' $'\x1b[32m+\x1b[0m' 'Upgrade' $'\x1b[36m^\x1b[0m' '1.26.4 -> 2.1.0' \
    'Downgrade' $'\x1b[33mv\x1b[0m' '1.3 -> 1.2' 'Change build' $'\x1b[36m~\x1b[0m' 'Remove' $'\x1b[31m-\x1b[0m' \
    '1 to install, 2 to upgrade, 1 to downgrade, 1 to change build, 1 to remove' ' to download (' \
    'this removes old, which is not in plan.yml' 'Proceed? [Y/n]'
out_has $'\x1b[1mpython\x1b[0m' $'\x1b[32mInstall\x1b[0m' $'\x1b[36mUpgrade\x1b[0m' $'\x1b[33mDowngrade\x1b[0m' $'\x1b[31mRemove\x1b[0m'
for columns in 80 70 60; do
    NO_COLOR=1 terminal $columns $plan
    narrow $columns
    plain
    has_in_order 'Install' '  + toolkit' 'Upgrade' '  ^ numpy' '  ^ python' 'Downgrade' '  v zlib' 'Change build' '  ~ libblas' 'Remove' '  - old'
    LC_ALL=C terminal $columns --color never $plan
    narrow $columns
    check [ "$(LC_ALL=C grep -c '[^[:print:]]' <<< "$out")" = 0 ]
    TERM=dumb terminal $columns $plan
    plain
done
# Dependencies are not bold.
CONDA_OVERRIDE_CUDA=12.6 terminal 100 create -n new pytorch --dry-run
out_has $'\x1b[1mpytorch\x1b[0m' ' numpy '
out_lacks $'\x1b[1mnumpy'
check [ "$status" = 0 ]

# The requested packages stand next to the question of a long plan.
dependencies=()
for number in {1..25}; do
    package "lib$number" 1.0 0
    dependencies+=("lib$number")
done
package meta 2.0 h1234567_0 "${dependencies[@]}"
NO_COLOR=1 terminal 60 create -n long meta lib7
narrow 60
has_in_order '+ meta' 'Requested: lib7 1.0 0, meta 2.0 h1234567_0' '26 to install' 'Proceed? [Y/n]'

# Trees have plain lines without UTF-8.
expect 0 tree -n ml numpy
out_has '└─ python'
LC_ALL=C expect 0 tree -n ml numpy
out_has '`- python'
check [ "$(LC_ALL=C grep -c '[^[:print:]]' <<< "$out")" = 0 ]
package gpu-meta 1.0 cuda126_0 "${dependencies[@]}" '__cuda >=12'
CONDA_OVERRIDE_CUDA=12.6 NO_COLOR=1 terminal 80 create -n long gpu-meta lib7
has_in_order 'Requested: gpu-meta 1.0 cuda126_0 (CUDA build), lib7 1.0 0' \
    'CUDA build because this machine has an NVIDIA driver' 'Proceed? [Y/n]'

# Notes about the hardware stand below the table.
CONDA_OVERRIDE_CUDA=12.6 CONDA_OVERRIDE_CUDAA=12 expect 0 create -n new pytorch --dry-run
err_has 'CONDA_OVERRIDE_CUDAA=12'
CONDA_OVERRIDE_CUDA=12.6 CONDA_OVERRIDE_CUDAA=12 terminal 80 create -n new pytorch
has_in_order '+' 'to install' 'CONDA_OVERRIDE_CUDAA=12' 'Proceed? [Y/n]'

# The mark of requested packages without colours is the column that `gpkg list` has.
expect 0 $plan --dry-run
check [ "$(grep -c ' python=3.12$' <<< "$out")" = 1 ]
check [ "$(grep -c 'Download  Requested$' <<< "$out")" = 1 ]
expect 0 create -n new meta lib7 --dry-run
check [ "$(grep -c '^  + .* k*B  [a-z]' <<< "$out")" = 2 ]
# All requested specs are shown.
NO_COLOR=1 terminal 60 create -n new lib{1..25}
narrow 60
check python3 -c '
import re, sys
head = sys.argv[1].partition("Channels")[0].partition("Requested")[2]
sys.exit(set(re.split(r",?\s+", head.strip())) != {f"lib{i}" for i in range(1, 26)})' "$out"

# A pipe gets whole values, no escape codes and no blanks at the end of lines.
expect 0 $plan --dry-run
plain
narrow 1000
out_has "  + toolkit-with-a-name-that-is-long  12.6.3            ha770c72_1                             $CHANNEL" \
    '25_linux64_openblas -> 26_linux64_mkl' 'hb806964_0_cpython'

# When there are colours: --color, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and CLICOLOR.
colored() { expect 0 list -n ml "$@"; out_has $'\x1b[1mpython'; }
colorless() { expect 0 list -n ml "$@"; plain; }
colorless
colored --color always
NO_COLOR=1 colored --color=always
FORCE_COLOR=1 colored
FORCE_COLOR=0 colorless
CLICOLOR_FORCE=1 colored
CLICOLOR_FORCE=0 colorless
CLICOLOR_FORCE=1 NO_COLOR=1 colorless
CLICOLOR_FORCE=1 colorless --color never
TERM=dumb colored --color always
expect 0 --color always list -n ml
out_has $'\x1b[1mpython'
terminal 80 list -n ml
out_has $'\x1b[1mpython'
NO_COLOR= terminal 80 list -n ml  # as if it were not set
out_has $'\x1b[1mpython'
for setting in NO_COLOR=1 CLICOLOR=0 TERM=dumb; do
    export "${setting?}"
    terminal 80 list -n ml
    plain
    unset NO_COLOR CLICOLOR
    export TERM=xterm-256color
done
terminal 80 --color never list -n ml
plain
expect 2 list -n ml --color blue
err_has "'blue' is not one of"
expect 1 list -n nowhere --color always
err_has $'\x1b[31merror:\x1b[0m'
expect 0 list --help --color always
out_has $'\x1b[1m'
expect 0 list --help
plain

# list: requested packages are marked, also without colours; --size.
expect 0 list -n ml
out_has 'Requested' 'python=3.11'
for columns in 80 60; do
    NO_COLOR=1 terminal $columns list -n ml --size
    narrow $columns
    plain
    has_in_order 'Name' 'Version' 'Size' 'Requested' 'numpy=1' '# ' ' in ' ' file'
done
expect 0 list -n ml --size --json
json 'all({"requested", "disk_size", "disk_files"} <= r.keys() for r in d)'
expect 2 list -n ml --size --explicit

# Nothing is wider than the terminal: tables, sentences, notes, errors and help.
package libwith-a-name-that-is-long-as-well 2024.12.31.1 cuda126_py312h1763f6d_306 'numpy >=1.26,<3' \
    'toolkit-with-a-name-that-is-long >=12.6.3,<13.0a0' python zlib
expect 0 install -q -n ml libwith-a-name-that-is-long-as-well 'zlib>=1.2'
expect 1 install -n ml "no-package-has-this-name-$(printf 'x%.0s' {1..20})"
cat > "$WORK/commands" << 'C'
search lib*
search libwith-a-name-that-is-long-as-well --info
search no-package-has-this-name
show libwith-a-name-that-is-long-as-well
show python -n ml
solve libwith-a-name-that-is-long-as-well numpy
history -n ml
diff 1 -n ml
list -n ml
list -n ml --size
hardware
hardware list
repoquery depends libwith-a-name-that-is-long-as-well
repoquery depends libwith-a-name-that-is-long-as-well --recursive
repoquery whoneeds zlib
repoquery whoneeds zlib --all
repoquery whoneeds zlib -n ml
repoquery tree libwith-a-name-that-is-long-as-well
closure -n ml
closure libwith-a-name-that-is-long-as-well
closure why zlib -n ml
why zlib -n ml
why-not numpy=1.0 -n ml
variants libblas
log
config list
config list --show-sources
config describe
config describe pinned_packages
info
env list
inspect CHANNEL/linux-64/libwith-a-name-that-is-long-as-well-2024.12.31.1-cuda126_py312h1763f6d_306.tar.bz2
verify -n ml
doctor -n ml
clean --all --dry-run
rollback -n ml
remove -n ml zlib
env remove -n ml
env remove -n nowhere
list --nosuch-option
help
help all
C
mkdir -p "$(place ml)/notes" && touch "$(place ml)"/notes/a-file-of-the-user-with-a-long-name-{1..4}
while read -r words; do
    for columns in 60 70 80; do
        NO_COLOR=1 terminal $columns ${words/CHANNEL/$CHANNEL} < /dev/null
        narrow $columns
        check [ "$status" -le 2 ]
    done
done < "$WORK/commands"
expect 0 hardware
check [ "$(grep -c ' $' <<< "$out")" = 0 ]
# A question stays with its answers, and whole in a pipe.
terminal 60 env remove -n ml
out=$(tr -s '\n ' ' ' <<< "$out")
out_has 'files of yours: ' ')? [y/N] n'
expect 2 env remove -n ml
check [ "$(grep -c 'files of yours.*)$' <<< "$err")" = 1 ]
rm -r "$(place ml)/notes"

# Progress: an estimate of the time left; drawn again without escape codes where colours are off.
mkdir "$WORK/control"
python3 "$here/http_server.py" "$WORK" "$WORK/control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for ((i = 0; i < 500; i++)); do [ -s "$WORK/control/port" ] && break; sleep 0.02; done
mkdir -p "$WORK/payload" && head -c 600 /dev/urandom > "$WORK/payload/heavy"
package heavy 1.0 0
slow() {
    GPKG_ROOT_PREFIX=$WORK/slow$((++runs)) terminal "$1" "${@:2}" create -y -n slow --override-channels \
        -c "http://127.0.0.1:$(cat "$WORK/control/port")/channel" "$wanted"
}
wanted=heavy
runs=0
echo slow > "$WORK/control/mode"
slow 80
check [ "$status" = 0 ]
out_has 'fetching   ' ' s left' 'B/s' '━' $'\x1b[36m'
check python3 -c '
import re, sys
drawn = [re.sub("\x1b\\[[0-9]*m", "", line) for line in re.split("[\r\n]", sys.argv[1])]
sys.exit(max(len(line) for line in drawn if "fetching" in line) > 79)' "$out"
NO_COLOR=1 LC_ALL=C slow 60
plain
out_has 'fetching   ' ' s left' '--'
check [ "$(LC_ALL=C tr -d '\r' <<< "$out" | LC_ALL=C grep -c '[^[:print:]]')" = 0 ]
wanted=old
TERM=dumb slow 80
plain
out_lacks 'fetching'
GPKG_ROOT_PREFIX=$WORK/slowest expect 0 create -y -n slow --override-channels \
    -c "http://127.0.0.1:$(cat "$WORK/control/port")/channel" zlib
err_is ''
plain

# One line about what was done.
expect 0 create -y -n done zlib=1.2
out_has 'created done with 1 package in '
expect 0 install -y -n done zlib=1.3 libblas
out_has 'installed 1 package and upgraded 1 in done'
expect 0 install -y -n done zlib --force-reinstall
out_has 'reinstalled 1 package in done'
expect 0 remove -y -n done libblas
out_has 'removed 1 package from done'
expect 0 rollback -y -n done 1
out_has 'done is back at generation 1'
expect 0 env remove -y -n done
out_has 'removed environment done'

finish
