#!/bin/sh
# Runs a script of this folder with rattler from npm and the corpus, or with rattler alone.
# usage: with_rattler.sh [--no-corpus] WORK_FOLDER SCRIPT ARGUMENT...
#   runs node SCRIPT NODE_MODULES [CORPUS] ARGUMENT...
# Says so and ends with 77, which ctest takes for "skipped", where something is missing.
set -eu
corpus=yes
if [ "$1" = --no-corpus ]; then
    corpus=
    shift
fi
work=$1
script=$2
shift 2
rattler=0.3.5

skip() {
    echo "SKIPPED: $1"
    exit 77
}
[ -z "$corpus" ] || [ -n "${GPKG_TEST_CORPUS:-}" ] || skip "GPKG_TEST_CORPUS is not set"
for tool in node npm zstd; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
mkdir -p "$work"
if ! grep -q "\"version\": \"$rattler\"" "$work/node_modules/@conda-org/rattler/package.json" 2>/dev/null; then
    npm install --prefix "$work" --no-audit --no-fund --loglevel=error \
        "@conda-org/rattler@$rattler" || skip "npm cannot install @conda-org/rattler"
fi
exec node "$(dirname "$0")/$script" "$work/node_modules" ${corpus:+"$GPKG_TEST_CORPUS"} "$@"
