# Packages that are made to do harm: refused by name, with nothing left and nothing written elsewhere
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

canary=$WORK/canary
mkdir -p "$canary"
echo secret > "$canary/secret"
echo 'x = 1' > "$canary/victim.py"
python3 "$here/hostile.py" "$CHANNEL" "$canary" > "$WORK/cases" || fail hostile.py

# What is there of files that no package may touch.
outside() { find "$WORK" -not -path "$HOME/.conda*" \( -path "$WORK/canary*" -o -path "$HOME/*" -o -name '*evil*' \) -printf '%p %y %s %m %n %T@\n' | sort; }
before=$(outside)
untouched() { checks=$((checks + 1)); [ "$(outside)" = "$before" ] || fail "$1: written outside: $(diff <(echo "$before") <(outside))"; }
# No control character but line ends gets to the terminal.
plain() { checks=$((checks + 1)); ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$WORK/stdout" "$WORK/stderr" || fail "$1: raw control characters"; }
unharmed() { untouched "$1"; plain "$1"; }

while IFS=$'\t' read -r name texts; do
    [ -n "$texts" ] || continue
    expect 1 create -n x "$name"
    IFS=$'\t' read -ra expected <<< "$texts"
    err_has "$name" "${expected[@]}"
    absent x
    check [ -z "$(find "$GPKG_ROOT_PREFIX/pkgs" -maxdepth 1 -name "$name-*" 2> "$WORK/find")" ]
    unharmed "$name"
done < "$WORK/cases"

# The same of what is wanted from an environment that exists: it stays as it was.
expect 0 create -n stays menu
tree() { (cd "$(place stays)" && find . -type f -exec sha256sum {} + | sort -k 2); }
was=$(tree)
for name in up meta0 linkhard entry0 wrongname sumsha256; do
    expect 1 install -n stays "$name"
    check [ "$(tree)" = "$was" ]
    unharmed "$name"
done

# Bombs take neither time nor memory.
for name in hole hole-v1 longname longname-v1 window; do
    check python3 - "$GPKG" "$name" <<'PY'
import resource, subprocess, sys, time
began = time.monotonic()
done = subprocess.run([sys.argv[1], "create", "-q", "-n", "x", sys.argv[2]], capture_output=True)
assert done.returncode == 1, done
assert time.monotonic() - began < 10
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300_000
PY
done
absent x

expect 1 create -n x grows
err_has 'a text of 400000 bytes would grow to' 'its prefix placeholder "a" occurs 400000 times'
absent x

# Set-id bits go, with a word; names that differ by case are two files where the disk has both.
expect 0 create -n x setuid
err_has 'set-id bits removed from bin/su'
check [ "$(stat -c %a "$(place x)/bin/su")" = 755 ]
expect 0 create -n v setuid-v1
check [ "$(stat -c %a "$(place v)/bin/su")" = 755 ]
expect 0 create -n y case
check [ "$(cat "$(place y)/share/Case" "$(place y)/share/case")" = 12 ]

# Names that would command the terminal are written out; a link that leads out is not followed, not
# when the package goes either; what describes menus is a file like any other.
expect 0 create -n z controls controls2
err_has 'share/a\x1b[31m' 'is in both'
plain z
expect 0 create -n zz --dry-run controls controls2  # they are in the store: what they would meet is known
err_has 'share/a\x1b[31m' 'is in both'
absent zz
expect 0 create -n t turned turned2
err_has 'share/x\u202ename\x9b31m' 'is in both'
rm "$(place t)"/share/*
expect 1 verify -n t
expect 0 repair -y -n t
err_has 'share/x\u202ename\x9b31m is missing'
plain t

# Names are bytes, in any locale.
for name in names names-v1; do
    for locale in C C.UTF-8; do
        LC_ALL=$locale expect 0 create -n n "$name"
        check [ "$(cat "$(place n)/share/cafe"$'\xcc\x81' "$(place n)/share/caf"$'\xc3\xa9' "$(place n)/a\\..\\b")" = decomposedcomposedback ]
        expect 0 verify -n n
        expect 0 remove -y -n n "$name"
        check [ ! -e "$(place n)/share" ]
        expect 0 env remove -y -n n
        expect 0 clean -y --packages
    done
done
expect 0 create -n w outward menu
check [ -L "$(place w)/share/out" ]
expect 0 install -n w outward-v1
expect 0 remove -y -n w outward-v1 outward menu
unharmed w

# Links of which each seems harmless.
expect 1 create -n x2 way way2 follower
err_has 'share: a link of way2-1.0-0 leads out of the environment, but follower-1.0-0 has files in it'
absent x2
expect 1 create -n x2 metaway forger
err_has 'a link to the reserved folder conda-meta' forger-1.0-0
absent x2
unharmed links

# Where python keeps its packages is not for python alone to say.
for path in ../../canary "$canary" conda-meta; do
    python3 - "$CHANNEL/linux-64/repodata.json" "$path" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["packages.conda"]["python-3.12.0-0.conda"]["python_site_packages_path"] = sys.argv[2]
json.dump(d, open(sys.argv[1], "w"))
PY
    expect 1 create -n x2 pure
    case $path in
        conda-meta) err_has 'pure-1.0-0: path "conda-meta/history" is reserved for package managers' ;;
        *) err_has "python-3.12.0-0: the site-packages path '$path' leads out of the environment" ;;
    esac
    absent x2
    unharmed "$path"
done
# A file name with a line end is no second file for python to compile.
sed -i 's/"python_site_packages_path": "conda-meta"/"a": 1/' "$CHANNEL/linux-64/repodata.json"
expect 0 create -n x2 lines
check [ -d "$(place x2)/lib/python3.12/site-packages/b/__pycache__" ]
check [ ! -e "$canary/__pycache__" ]
unharmed lines

# A record whose file name is a path is left out, and costs nobody else the channel.
sed -i 's,"up-1.0-0.conda":,"../noarch/up-1.0-0.conda":,' "$CHANNEL/linux-64/repodata.json"
expect 0 create -n x3 way
err_has 'skipped a record: ../noarch/up-1.0-0.conda: the record belongs to up-1.0-0.conda'
expect 1 create -n x4 up
absent x4
unharmed path

finish
