# cmake --install: the program, its helpers, completions, the man page and the documentation.
. "$(dirname "$0")/lib.sh"

there=$WORK/installed
cmake --install "$(dirname "$GPKG")" --prefix "$there" > "$WORK/install.log" || { cat "$WORK/install.log"; exit 1; }
GPKG=$there/bin/gpkg
expect 0 --version
expect 0 hardware --json
json 'd["platform"].startswith("linux-")'
for file in share/bash-completion/completions/gpkg share/zsh/site-functions/_gpkg share/fish/vendor_completions.d/gpkg.fish; do
    checks=$((checks + 1))
    [ -s "$there/$file" ] || fail "$file is missing"
done
check bash -n "$there/share/bash-completion/completions/gpkg"
check zsh -n "$there/share/zsh/site-functions/_gpkg"
check fish -n "$there/share/fish/vendor_completions.d/gpkg.fish"
man=$there/share/man/man1/gpkg.1
check grep -q '^\.TH GPKG 1' "$man"
check grep -q '^\.SH COMMANDS' "$man"
check [ -z "$(groff -man -Tutf8 -ww "$man" 2>&1 > /dev/null)" ]

# Help names the installed documentation.
expect 0 --help
out_has "$there/share/doc/gpkg/index.md"
check [ -f "$there/share/doc/gpkg/index.md" ]

finish
