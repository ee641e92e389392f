# gpkg init, and its undoing: a startup file is byte for byte what it was.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo hello'
package app 1 0
expect 0 create -y -q -n one app

# same FILE: it is what `remember` saw, with its mode.
remember() { cp -a "$1" "$WORK/remembered"; }
same() { check cmp "$1" "$WORK/remembered"; check [ "$(stat -c %a "$1")" = "$(stat -c %a "$WORK/remembered")" ]; }

rc=$HOME/.bashrc
printf 'alias x=y\r\n# \xff odd\nexport LAST=1' > "$rc"
chmod 640 "$rc"
remember "$rc"
expect 0 init bash --dry-run
out_has "$rc: block would be written:" '  + # >>> gpkg init' "shell-hook -s bash"
same "$rc"
expect 0 init bash
out_has 'block written:' 'to undo: gpkg init --undo'
check [ "$(head -c "$(stat -c %s "$WORK/remembered")" "$rc" | cmp - "$WORK/remembered" && echo same)" = same ]
check [ "$(stat -c %a "$rc")" = 640 ]
cp "$rc" "$WORK/once"
expect 0 init bash
out_is "$rc: already contains the gpkg block"
check cmp "$rc" "$WORK/once"
expect 0 init --undo --dry-run --json
json 'd["dry_run"] and [(f["shell"], f["action"]) for f in d["files"]] == [("bash", "remove")]'
check cmp "$rc" "$WORK/once"
expect 0 init --undo
out_has 'block removed:'
same "$rc"
expect 0 init --reverse
out_is "no startup file contains a gpkg block"
expect 0 init --undo -s bash
expect 0 init --undo bash
out_is "$rc: contains no gpkg block"

# Another root prefix than the default stays the one of new shells; one that is set wins.
expect 0 init bash --dry-run
out_has "GPKG_ROOT_PREFIX='$GPKG_ROOT_PREFIX'"
expect 0 init bash
check [ "$(env -u GPKG_ROOT_PREFIX bash --norc -c ". '$rc'; echo \"\$GPKG_ROOT_PREFIX\"")" = "$GPKG_ROOT_PREFIX" ]
check [ "$(GPKG_ROOT_PREFIX=/other bash --norc -c ". '$rc'; echo \"\$GPKG_ROOT_PREFIX\"")" = /other ]
expect 0 init --undo
same "$rc"
GPKG_ROOT_PREFIX= expect 0 init bash --dry-run
out_lacks GPKG_ROOT_PREFIX
GPKG_ROOT_PREFIX=$HOME/.local/share/gpkg expect 0 init bash --dry-run
out_lacks GPKG_ROOT_PREFIX

# All shells of this machine.
mkdir shells && touch shells/fish shells/zsh && chmod +x shells/fish
last='gpkg init --all'
out=$(PATH=$WORK/here/shells "$GPKG" init --all --dry-run --json 2> "$WORK/stderr")
json '[f["shell"] for f in d["files"]] == ["fish"]'
expect 2 init --all bash

# Every ending that a file can have, and what is written behind the block later.
for text in '' 'x' $'x\n' $'x\n\n' $'\n'; do
    printf %s "$text" > "$rc"
    remember "$rc"
    expect 0 init bash
    cp "$rc" "$WORK/once"
    expect 0 init --undo
    same "$rc"
    cp "$WORK/once" "$rc"
    echo later >> "$rc"
    expect 0 init bash
    expect 0 init --undo
    { printf %s "$text"; [ "$text" = x ] && echo; echo later; } > "$WORK/wanted"
    check cmp "$rc" "$WORK/wanted"
done
# A block that somebody changed is renewed in its place.
printf 'a\n' > "$rc"
expect 0 init bash
sed -i 's/shell-hook/shell-hoook/' "$rc"
echo b >> "$rc"
expect 0 init bash --json
json 'd["files"][0]["action"] == "replace" and "shell-hook -s bash" in d["files"][0]["block"]'
check grep -q 'shell-hook -s bash' "$rc"
check [ "$(tail -n 1 "$rc")" = b ]
check [ "$(grep -c 'gpkg init >>>' "$rc")" = 1 ]
# A file that was not there is gone again, and so is no file of somebody else's.
rm "$rc"
expect 0 init bash zsh fish
check [ -f "$HOME/.config/fish/config.fish" ]
echo mine >> "$HOME/.zshrc"
expect 0 init --undo
check [ ! -e "$rc" ]
check [ ! -e "$HOME/.config/fish" ]
[ -n "$(ls -A "$HOME/.config" 2> /dev/null)" ] || check [ ! -e "$HOME/.config" ]
check [ "$(cat "$HOME/.zshrc")" = mine ]
rm "$HOME/.zshrc"

# Blocks with earlier begin marks are known; a folder with other files stays.
expect 0 init fish
check grep -q '# >>> gpkg init, in a new file >>>' "$HOME/.config/fish/config.fish"
sed -i 's/in a new file/in a file of its own/' "$HOME/.config/fish/config.fish"
touch "$HOME/.config/fish/mine"
expect 0 init --undo
check [ "$(ls "$HOME/.config/fish")" = mine ]
rm -r "$HOME/.config/fish"

# A link stays one.
mkdir dotfiles
echo 'echo mine' > dotfiles/bashrc
ln -s "$PWD/dotfiles/bashrc" "$rc"
expect 0 init bash
out_has "($PWD/dotfiles/bashrc)"
check [ -L "$rc" ]
check grep -q 'gpkg init' dotfiles/bashrc
expect 0 init --undo
check [ -L "$rc" ]
check [ "$(cat dotfiles/bashrc)" = 'echo mine' ]
rm dotfiles/bashrc
expect 1 init bash
err_has 'broken link'
rm "$rc"
mkdir "$rc"
expect 1 init bash
err_has 'is not a regular file'
rmdir "$rc"

# Read-only: nothing is written, of the other shells neither.
echo mine > "$rc"
chmod 444 "$rc"
expect 1 init fish bash
err_has "error: $rc: is read-only" 'gpkg init --dry-run'
check [ ! -e "$HOME/.config/fish/config.fish" ]
check [ "$(cat "$rc")" = mine ]
chmod 644 "$rc"

# Somebody else's file, as root edits it, stays theirs.
if [ "$(id -u)" = 0 ]; then
    chown 65534:65534 "$rc"
    expect 0 init bash
    check [ "$(stat -c %u:%g "$rc")" = 65534:65534 ]
    expect 0 init --undo
    check [ "$(stat -c %u:%g "$rc")" = 65534:65534 ]
    chown 0:0 "$rc"
fi
expect 0 init powershell
check grep -q 'Invoke-Expression' "$HOME/.config/powershell/profile.ps1"
expect 0 init --undo powershell
check [ ! -e "$HOME/.config/powershell/profile.ps1" ]

# the block of conda is kept, and is told.
printf '# >>> conda initialize >>>\n# <<< conda initialize <<<\n' > "$rc"
remember "$rc"
expect 0 init bash
err_has "the block of conda is kept"
expect 0 init --undo
same "$rc"

# Damaged marks: what is whose cannot be told.
for text in '# >>> gpkg init >>>' $'# <<< gpkg init <<<\n# >>> gpkg init >>>' \
    $'# >>> gpkg init >>>\n# >>> gpkg init >>>\n# <<< gpkg init <<<'; do
    echo "$text" > "$rc"
    remember "$rc"
    expect 1 init bash
    err_has 'the marks of the gpkg block are damaged'
    expect 1 init --undo
    same "$rc"
done
rm "$rc"

# tcsh reads .cshrc only where there is no .tcshrc.
echo 'set x = 1' > "$HOME/.cshrc"
expect 0 init tcsh
check [ ! -e "$HOME/.tcshrc" ]
check grep -q 'gpkg init' "$HOME/.cshrc"
expect 0 init --undo
check [ "$(cat "$HOME/.cshrc")" = 'set x = 1' ]
rm "$HOME/.cshrc"
ZDOTDIR=$WORK/here/z expect 0 init zsh
check [ -f z/.zshrc ]
ZDOTDIR=$WORK/here/z expect 0 init --undo
SHELL=/bin/fish expect 0 init --json
json 'len(d["files"]) == 1'
expect 0 init --undo
expect 2 init elvish

# A shell that a person starts can activate then, by a program at an odd place too.
mkdir "an odd 'place'!"
ln "$GPKG" "an odd 'place'!/gpkg" 2> /dev/null || cp "$GPKG" "an odd 'place'!/gpkg"
cp -n "$(dirname "$GPKG")"/*.so* "an odd 'place'!" 2> /dev/null
GPKG="$WORK/here/an odd 'place'!/gpkg"
for shell in bash zsh fish tcsh; do
    if ! command -v $shell > /dev/null; then
        echo "skipped: no $shell on this machine"
        continue
    fi
    expect 0 init $shell
    last="$shell -i"
    out=$(printf 'gpkg activate one\nhello\necho "at $CONDA_PREFIX"\nexit\n' |
        PATH=/usr/bin:/bin timeout -s KILL 60 setsid $shell -i 2> "$WORK/stderr")
    err=$(cat "$WORK/stderr")
    out_has hello "at $GPKG_ROOT_PREFIX/envs/one"
    expect 0 init --undo
done
check [ -z "$(ls -A "$HOME" | grep -vE '^\.(conda|config|local|cache|zcompdump|history|bash_history|zsh_history)')" ]

finish
