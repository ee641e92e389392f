#include "libcore/redist/staging_script.hpp"

#include "libcore/base/text.hpp"
#include "libcore/redist/compiler_activation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

// What the staging output runs, after lines that set what differs. Where things go is told once
// more in place_of() of component_layout.cpp.
constexpr std::string_view kLayOut = R"(shopt -s nullglob dotglob
if [ -L lib64 ]; then rm lib64; fi
if [ -d lib64 ]; then mv -T lib64 lib; fi

# The prefix is told by the file's own place, so that it need not be filled in.
for folder in pkg-config lib/pkgconfig; do
  [ -d "$folder" ] || continue
  mkdir -p "$PREFIX/lib/pkgconfig"
  mv "$folder"/* "$PREFIX/lib/pkgconfig/"
  rmdir "$folder"
done
for file in "$PREFIX"/lib/pkgconfig/*.pc; do
  [ -L "$file" ] || sed -i -E "$file" \
    -e 's#^(cudaroot|prefix)=.*#\1=${pcfiledir}/../..#' \
    -e "s#^libdir=.*#libdir=\${pcfiledir}/../../$target/lib#" \
    -e "s#^includedir=.*#includedir=\${pcfiledir}/../../$target/include#"
done

# nvcc and CMake look in targets/; the loader and other compilers find links in lib/.
mkdir -p "$PREFIX/$target" "$PREFIX/$share"
for folder in include lib; do
  if [ -d "$folder" ]; then mv -T "$folder" "$PREFIX/$target/$folder"; fi
done
mkdir -p "$PREFIX/lib/stubs"
for file in "$PREFIX/$target"/lib/*.{a,so,so.*}; do
  ln -s "../$target/lib/${file##*/}" "$PREFIX/lib/"
done
for file in "$PREFIX/$target"/lib/stubs/*; do
  ln -s "../../$target/lib/stubs/${file##*/}" "$PREFIX/lib/stubs/"
done

# The links of targets/ stand for folders that are there now. Licences stay for about.license_file.
if [ -d targets ]; then find targets -type l -delete; fi
for entry in *; do
  case $entry in
    LICENSE*|EULA*) ;;
    @DOCUMENTS@) mv "$entry" "$PREFIX/$share/" ;;
    targets) cp -a targets "$PREFIX/"; rm -r targets ;;
    *) mv "$entry" "$PREFIX/" ;;
  esac
done

@ACTIVATION@# Every file is in exactly one package: none may match no pattern of theirs.
set +x  # the build's log is for what is found
strays=0
while IFS= read -r -d '' file; do
  reason=
  if ! [[ $file =~ $known ]]; then
    reason='none of the packages takes it; put it into build.files of one, and into "known" here'
  elif [[ $file == $target/lib/*.so && ! $file =~ $plain && $file =~ $links && ! -L $PREFIX/$file ]]; then
    reason='a library and no link; import it again with its archive at hand (--mirror FOLDER)'
  fi
  [ -n "$reason" ] || continue
  echo "$file: $reason"
  strays=$((strays + 1))
done < <(find "$PREFIX" ! -type d -printf '%P\0' | sort -z)
[ "$strays" = 0 ] || exit 1
find "$PREFIX" -mindepth 1 -type d -empty -delete
)";

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
    auto rest = std::string(kLayOut);
    replace(rest, "@DOCUMENTS@", fmt::format("{}", fmt::join(document_entries(), "|")));
    replace(rest,
            "@ACTIVATION@",
            parts.contains(RedistPart::Activation) ? write_activation(layout) : std::string());
    return fmt::format("set -euo pipefail\ntarget={}\nshare={}\nknown={}\nplain={}\nlinks={}\n\n{}",
                       layout.target,
                       layout.share,
                       regex_of_any(known),
                       regex_of_any(plain),
                       regex_of_any({regex_of_glob(layout.target + "/lib/*.so")}),
                       rest);
}

}  // namespace gpkg
