// The oldest glibc that a package says it runs with, beside what its files need.

#include "libcore/base/text.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kGlibc = "__glibc";

/// glibc's releases are 2.0, 2.1, ... 2.41 so far. Those before this one are on no machine that a
/// conda client runs on.
constexpr int kOldestMinor = 17;

/// 34 of "2.34"; no value for what is no release.
std::optional<int> minor_of(std::string_view release) {
    if (!release.starts_with("2.")) return std::nullopt;
    release.remove_prefix(2);
    int minor = 0;
    const auto [end, code] =
        std::from_chars(release.data(), release.data() + release.size(), minor);
    return code == std::errc() ? std::optional(minor) : std::nullopt;
}

/// The oldest release before 2.`minor` that the spec admits.
std::optional<std::string> admitted_before(const MatchSpec& spec, int minor) {
    for (int older = kOldestMinor; older < minor; ++older) {
        PackageRecord glibc;
        glibc.name = kGlibc;
        glibc.version = fmt::format("2.{}", older);
        glibc.build = "0";
        if (spec.matches(glibc)) return glibc.version;
    }
    return std::nullopt;
}

bool is_of_glibc(const std::string& spec) { return dependency_name(spec) == kGlibc; }

}  // namespace

Result<std::vector<BinaryFinding>> glibc_findings(const std::vector<std::string>& depends,
                                                  const std::vector<std::string>& files,
                                                  const std::string& release) {
    std::vector<BinaryFinding> findings;
    const auto minor = minor_of(release);
    const auto named = std::find_if(depends.begin(), depends.end(), is_of_glibc);
    if (!minor || named == depends.end()) return findings;
    GPKG_TRY(const auto spec, MatchSpec::parse(*named));
    const auto older = admitted_before(spec, *minor);
    if (!older) return findings;
    BinaryFinding finding;
    finding.kind = BinaryFinding::Kind::Glibc;
    finding.file = join_some(files, "and");
    finding.subject = release;
    finding.message = fmt::format("{}: needs glibc {}, but the package allows {} ({})",
                                  finding.file,
                                  release,
                                  *older,
                                  *named);
    finding.hint = fmt::format(
        "build with a sysroot of glibc {}, or depend on __glibc >={}; if the file is optional on "
        "older machines, add it to build.dynamic_linking.missing_dso_allowlist",
        *older,
        release);
    findings.push_back(std::move(finding));
    return findings;
}

void add_glibc_floor(std::vector<std::string>& depends, const std::string& release) {
    const auto minor = minor_of(release);
    if (!minor || *minor <= kOldestMinor) return;
    if (std::any_of(depends.begin(), depends.end(), is_of_glibc)) return;
    depends.push_back(fmt::format("{} >={}", kGlibc, release));
}

}  // namespace gpkg
