#!/bin/bash
# Runs a command of an environment where nothing but the environment can help it, and checks what it opened.
#
#   tests/e2e/sandbox.sh [options] PREFIX COMMAND [ARGUMENT...]
#
# The root of the file system holds glibc's libraries, the loader, /proc, /dev, an empty /tmp and PREFIX (read-only).
# Standard input is passed on. Fails when the command fails, or when a file was opened, a program started or a library
# loaded from elsewhere than PREFIX and glibc; says which.
#
#   --activated        with the variables of PREFIX/etc/conda/env_vars.d
#   --host-libraries   the host's library folder is there too, and LD_LIBRARY_PATH names it, as a module system would
#   --host-root        the whole host is there, read-only (OpenSSL reads the host's openssl.cnf unless --activated)
#   --file FILE        is there as /tmp/NAME
#   --keep FOLDER      leave strace's and LD_DEBUG's logs in FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
activated=no mode=empty keep=
files=()

while [[ ${1-} == --* ]]; do
    case $1 in
        --activated) activated=yes ;;
        --host-libraries) mode=libraries ;;
        --host-root) mode=root ;;
        --file) files+=(--ro-bind "$(realpath "$2")" "/tmp/$(basename "$2")"); shift ;;
        --keep) keep=$2; shift ;;
        *) echo "sandbox.sh: $1: no such option" >&2; exit 2 ;;
    esac
    shift
done
if (($# < 2)); then
    echo "usage: sandbox.sh [--activated] [--host-libraries | --host-root] [--file FILE] [--keep FOLDER] \
                  PREFIX COMMAND..." >&2
    exit 2
fi
for tool in bwrap strace; do
    command -v "$tool" >/dev/null || { echo "sandbox.sh: $tool: not found" >&2; exit 2; }
done
prefix=$(realpath "$1")
shift

logs=$(mktemp -d)
cleanup() { if [[ $keep ]]; then mkdir -p "$keep"; cp -r "$logs/." "$keep/"; fi; rm -rf "$logs"; }
trap cleanup EXIT

loader=/lib64/ld-linux-x86-64.so.2
folder=$(dirname "$(realpath "$loader")")
root=()
if [[ $mode == root ]]; then
    root=(--ro-bind / /)
else
    for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libutil.so.1 libanl.so.1 \
                libmvec.so.1 libnss_files.so.2 libnss_dns.so.2; do
        [[ -e $folder/$name ]] && root+=(--ro-bind "$folder/$name" "$folder/$name")
    done
    root+=(--ro-bind "$(realpath "$loader")" "$loader")
    if [[ $folder == /usr/* ]]; then
        root+=(--symlink "$folder" "${folder#/usr}")  # the loader's own default folders begin with /lib
    fi
fi
[[ $mode == libraries ]] && root=(--ro-bind "$folder" "$folder" --ro-bind "$(realpath "$loader")" "$loader" \
                                  --symlink "$folder" "${folder#/usr}")

variables=(--setenv PATH "$prefix/bin" --setenv HOME /tmp --setenv LANG C.UTF-8)
variables+=(--setenv LD_DEBUG libs --setenv LD_DEBUG_OUTPUT /tmp/logs/ld)
if [[ $mode == libraries ]]; then
    variables+=(--setenv LD_LIBRARY_PATH "/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:$folder")
fi
if [[ $activated == yes ]]; then
    while IFS=$'\t' read -r name value; do
        variables+=(--setenv "$name" "$value")
    done < <("$here/check_opens.py" --variables "$prefix")
fi

status=0
strace -f -y -qq -s 4096 -e trace=open,openat,openat2,execve,execveat -e signal=none -o "$logs/strace" \
    bwrap "${root[@]}" --proc /proc --dev /dev --tmpfs /tmp --dir /tmp/logs --bind "$logs" /tmp/logs "${files[@]}" \
          --ro-bind "$prefix" "$prefix" --chdir / --unshare-user --unshare-ipc --unshare-net --unshare-uts --die-with-parent \
          --clearenv "${variables[@]}" "$@" || status=$?
if ((status != 0)); then
    echo "sandbox.sh: $1: exit status $status" >&2
    exit "$status"
fi
"$here/check_opens.py" --prefix "$prefix" --glibc "$folder" --strace "$logs/strace" --ld-debug "$logs"
