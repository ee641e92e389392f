#!/usr/bin/env bash
# reference.sh GPKG PAGE: whether the command reference is the one that this program prints.
set -euo pipefail
if ! "$1" __reference markdown | diff -u "$2" - | head -n 40; then
    printf '\n%s differs from the program. To regenerate it:\n  %s __reference markdown > %s\n' "$2" "$1" "$2"
    exit 1
fi
