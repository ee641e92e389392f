#!/bin/bash
# __cuda with NVIDIA's own library: Debian's non-free libcuda1 answers its version without a GPU.
#   tests/e2e/libcuda.sh PROGRAM [ARGUMENT...]
# PROGRAM prints the virtual packages of this machine. The package is fetched with lists and a cache
# of this test's own, from the mirror that the machine's apt uses; the machine's apt is not touched.
# Ends with 77, and says why, when the package cannot be had here.
set -euo pipefail

(($# > 0)) || { echo "usage: $0 PROGRAM [ARGUMENT...]" >&2; exit 2; }

skip() { echo "SKIPPED: $*" >&2; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

for tool in apt-get apt-config dpkg dpkg-deb; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
[[ $(dpkg --print-architecture) == amd64 ]] || skip "libcuda1 of this test is amd64's"

work=$(mktemp -d)
# Run by root, NVIDIA's library makes device nodes, which would look like a driver ever after.
nodes_before=$(compgen -G '/dev/nvidia*' || true)
clean_up() {
    rm -rf "$work"
    for node in /dev/nvidia*; do
        [[ ! -c $node || $'\n'$nodes_before$'\n' == *$'\n'$node$'\n'* ]] || rm -f "$node"
    done
}
trap clean_up EXIT

# Name, size, time and content of everything apt keeps; not all of it is for every user to see.
apt_state() {
    { find /var/lib/apt /var/cache/apt -type f -printf '%p %s %T@\n' 2>/dev/null || true; } | sort
    { find /var/lib/apt/lists -type f -readable -exec sha256sum {} + 2>/dev/null || true; } | sort
}

# "KEYRING URI SUITE" of each enabled binary source, from both formats; KEYRING is - where none is named.
machine_sources() {
    shopt -s nullglob
    local files=(/etc/apt/sources.list.d/*.sources)
    ((${#files[@]} == 0)) || awk '
        function flush(  i, j, n, m, u, s) {
            if (types ~ /(^| )deb( |$)/ && enabled != "no") {
                n = split(uris, u, " "); m = split(suites, s, " ")
                for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
                    print (signed == "" ? "-" : signed), u[i], s[j]
            }
            types = uris = suites = signed = enabled = ""
        }
        FNR == 1 || /^[ \t]*$/ { flush() }
        /^Types:/ { types = substr($0, 7); sub(/^ +/, "", types) }
        /^URIs:/ { uris = substr($0, 6) }
        /^Suites:/ { suites = substr($0, 8) }
        /^Signed-By:/ { signed = $2 }
        /^Enabled:/ { enabled = $2 }
        END { flush() }' "${files[@]}"
    files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
    for file in "${files[@]}"; do
        [[ -r $file ]] || continue
        sed -nE 's/^deb +(\[([^]]*)\] +)?([^ ]+) +([^ ]+) .*/\2|\3|\4/p' "$file" |
            while IFS='|' read -r options uri suite; do
                key=$(sed -nE 's/.*signed-by=([^ ]+).*/\1/p' <<<"$options")
                echo "${key:--} $uri $suite"
            done
    done
}

suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
source=$(machine_sources | awk -v suite="$suite" '$3 == suite { print; exit }')
[[ -n $source ]] || skip "apt has no source for ${suite:-this system}"
read -r key uri suite <<<"$source"
options=
[[ $key == - ]] || options="[signed-by=$key]"
echo "deb $options $uri $suite main non-free" >"$work/sources.list"

# The machine's way to its mirror (proxies, certificates), without its hooks.
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
{
    apt-config dump Acquire
    echo "Dir::Etc::parts \"/dev/null\";"
    echo "Dir::Etc::main \"/dev/null\";"
    echo "Dir::Etc::sourcelist \"$work/sources.list\";"
    echo "Dir::Etc::sourceparts \"/dev/null\";"
    echo "Dir::State::lists \"$work/lists\";"
    echo "Dir::Cache \"$work/cache\";"
    echo "APT::Sandbox::User \"$(id -un)\";"
} >"$work/apt.conf"
export APT_CONFIG=$work/apt.conf

before=$(apt_state)
apt-get -qq update >"$work/log" 2>&1 || { cat "$work/log" >&2; skip "the mirror does not answer"; }
(cd "$work/debs" && apt-get -qq download libcuda1) >>"$work/log" 2>&1 ||
    { cat "$work/log" >&2; skip "the mirror has no non-free libcuda1"; }
unset APT_CONFIG
[[ $(apt_state) == "$before" ]] || fail "the machine's apt was touched"

dpkg -x "$work"/debs/libcuda1_*.deb "$work/root"
library=$(find "$work/root" -name 'libcuda.so.1' -print -quit)
[[ -n $library ]] || fail "libcuda1 has no libcuda.so.1"
version=$(dpkg-deb -f "$work"/debs/libcuda1_*.deb Version)

shown=$(env -u CONDA_OVERRIDE_CUDA -u CONDA_OVERRIDE_CUDA_ARCH \
    LD_LIBRARY_PATH="${library%/*}" "$@")
echo "$shown"
# The driver series tells its CUDA: 525 is 12.0, 535 is 12.2, 550 is 12.4, 570 is 12.8.
case $version in
525.*) cuda=12.0 ;;
535.*) cuda=12.2 ;;
550.*) cuda=12.4 ;;
570.*) cuda=12.8 ;;
*) skip "no expectation for libcuda1 $version" ;;
esac
# "__cuda=12.2=0" of a table, or a JSON object's name and version.
tr '\n' ' ' <<<"$shown" | grep -qE "__cuda[^_0-9][^0-9]*${cuda/./\\.}[^0-9]" || fail "libcuda1 $version should give __cuda $cuda"
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && grep -q __cuda_arch <<<"$shown"; then
    fail "there is no device, and yet a __cuda_arch"
fi
echo "PASSED: libcuda1 $version gives __cuda $cuda"
