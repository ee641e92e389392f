#include "libcore/redist/staging_script.hpp"

#include "libcore/base/text.hpp"
#include "libcore/redist/compiler_activation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

// What the staging output runs, after lines that set what differs. Where things go is
// RedistLayout's.
constexpr std::string_view kLayOut = R"bash(shopt -s nullglob dotglob extglob
is_folder() { [ -d "$1" ] && ! [ -L "$1" ]; }
# move FROM TO, also into a folder that is there; never over another file.
move() {
  local entry to=$PREFIX/$2
  if is_folder "$1" && is_folder "$to"; then
    for entry in "$1"/*; do move "$entry" "$2/${entry##*/}"; done
    rmdir "$1"
  elif [ -e "$to" ] || [ -L "$to" ]; then
    echo "$1: another file is already installed as $2"
    exit 1
  else
    mkdir -p "${to%/*}"
    mv -T "$1" "$to"
  fi
}

# Links that stand for folders which are moved.
for entry in "${moves[@]}"; do
  set -- $entry
  if [ -L "$1" ] && [ -d "$1" ]; then rm "$1"; fi
done
if is_folder targets; then find targets -type l -xtype d -delete; fi

# nvcc and CMake look in targets/; the loader and other compilers find links in lib/.
for entry in "${moves[@]}"; do
  set -- $entry
  if is_folder "$1"; then move "$1" "$2"; fi
done
for entry in *; do
  case $entry in
    @LICENSE@) ;;  # stays for about.license_file
    @DOCUMENTS@) move "$entry" "$share/$entry" ;;
    *) move "$entry" "$entry" ;;
  esac
done
mkdir -p "$PREFIX/lib/stubs"
for file in "$PREFIX/$target"/lib/*.@(a|so|so.*); do
  ln -s "../$target/lib/${file##*/}" "$PREFIX/lib/"
done
for file in "$PREFIX/$target"/lib/stubs/*; do
  ln -s "../../$target/lib/stubs/${file##*/}" "$PREFIX/lib/stubs/"
done

# The prefix is told by the file's own place, so that it need not be filled in.
for file in "$PREFIX"/lib/pkgconfig/*.pc; do
  [ -L "$file" ] || sed -i -E "$file" \
    -e 's#^(cudaroot|prefix)=.*#\1=${pcfiledir}/../..#' \
    -e "s#^libdir=.*#libdir=\${pcfiledir}/../../$target/lib#" \
    -e "s#^includedir=.*#includedir=\${pcfiledir}/../../$target/include#"
done

@ACTIVATION@# Every file is in exactly one package: none may match no pattern of theirs.
set +x  # the build's log is for what is found
strays=0
while IFS= read -r -d '' file; do
  reason=
  if ! [[ $file =~ $known ]]; then
    reason='no package contains it; add it to build.files of one, and to "known" here'
  elif [[ $file == $target/lib/*.so && ! $file =~ $plain && $file =~ $links && ! -L $PREFIX/$file ]]; then
    reason='a library, not a link; import the component again with its archive (--mirror FOLDER)'
  fi
  [ -n "$reason" ] || continue
  echo "$file: $reason"
  strays=$((strays + 1))
done < <(find "$PREFIX" ! -type d -printf '%P\0' | sort -z)
[ "$strays" = 0 ] || exit 1
find "$PREFIX" -mindepth 1 -type d -empty -delete
)bash";

/// Writes the scripts of the compiler's activation into the prefix.
std::string write_activation(const RedistLayout& layout) {
    std::string text = "mkdir -p \"$PREFIX\"/etc/conda/{de,}activate.d\n";
    // Begun with a '~', so that it runs after the scripts of other compilers, which set $CXX.
    const auto add = [&](std::string_view verb, const std::string& script) {
        text += fmt::format(
            "cat > \"$PREFIX/etc/conda/{0}.d/~cuda-nvcc_{0}.sh\" <<'END'\n{1}END\n", verb, script);
    };
    add("activate", compiler_activation(layout.target));
    add("deactivate", compiler_deactivation());
    return text + "\n";
}

void replace(std::string& text, std::string_view what, std::string_view with) {
    text.replace(text.find(what), what.size(), with);
}

/// For the shell. Without patterns one that nothing matches: there is nothing behind an end.
std::string regex_of_any(const Texts& patterns) {
    const auto all = patterns.empty() ? "$.^" : fmt::format("^({})$", fmt::join(patterns, "|"));
    return shell_word(all);
}

}  // namespace

std::string staging_script(const RedistLayout& layout, const std::set<RedistPart>& parts) {
    Texts known;
    for (const auto part : parts) {
        for (const auto& glob : layout.globs(part)) known.push_back(regex_of_glob(glob));
    }
    Texts plain;
    plain.reserve(layout.plain_libraries.size());
    for (const auto& path : layout.plain_libraries) plain.push_back(regex_of_glob(path));
    std::string moves;
    for (const auto& [from, to] : layout.moves())
        moves += fmt::format("  {}\n", shell_word(fmt::format("{} {}", from, to)));
    auto rest = std::string(kLayOut);
    replace(rest, "@LICENSE@", kRedistLicense);
    replace(rest, "@DOCUMENTS@", fmt::format("{}", fmt::join(document_entries(), "|")));
    replace(rest,
            "@ACTIVATION@",
            parts.contains(RedistPart::Activation) ? write_activation(layout) : std::string());
    return fmt::format(
        "set -euo pipefail\ntarget={}\nshare={}\nmoves=(\n{})\nknown={}\nplain={}\n"
        "links={}\n\n{}",
        layout.target,
        layout.share,
        moves,
        regex_of_any(known),
        regex_of_any(plain),
        regex_of_any({regex_of_glob(layout.target + "/lib/*.so")}),
        rest);
}

}  // namespace gpkg
