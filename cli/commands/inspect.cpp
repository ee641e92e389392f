#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/inspection.hpp"
#include "cli/workflow/installed.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/trust/attestation.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

struct InspectOptions {
    TargetOptions target;
    Texts what;          ///< files, or names of installed packages
    bool files = false;  ///< list the files of the package, and nothing else
    std::string attestation;
    std::string from;
};

std::string machine_text(const ElfFile& elf) {
    switch (elf.machine) {
    case 3: return "x86";
    case 21: return "ppc64";
    case 40: return "arm";
    case 62: return "x86-64";
    case 183: return "aarch64";
    case 190: return "CUDA";
    case 224: return "AMD GPU";
    case 243: return "riscv";
    default: return fmt::format("machine {}", elf.machine);
    }
}

std::string kind_text(const ElfFile& elf) {
    using Kind = ElfFile::Kind;
    constexpr std::uint16_t kCuda = 190, kAmdGpu = 224;
    if (elf.machine == kCuda || elf.machine == kAmdGpu) return "GPU code";
    if (elf.kind == Kind::Relocatable) return "object file";
    if (elf.kind == Kind::Other) return "ELF file";
    if (elf.is_static_pie) return "static-pie program";
    if (!elf.is_dynamic)
        return elf.kind == Kind::Executable ? "static program" : "symbols for a debugger";
    if (elf.kind == Kind::Executable || !elf.interpreter.empty()) return "program";
    return "shared library";
}

Json gpu_json(const GpuCode& code) {
    Texts sass;
    Texts ptx;
    for (const auto one : code.sass) sass.push_back(one.to_string());
    for (const auto one : code.ptx) ptx.push_back(one.to_string());
    return {{"sass", sass}, {"ptx", ptx}, {"gfx", code.gfx}};
}

/// Of a file that is not an ELF file.
std::string kind_text(const std::string& path) {
    return path.ends_with(".a") ? "static library" : "GPU code";
}

Json json_of(const InspectedBinary& binary) {
    if (!binary.elf)
        return {{"path", binary.path},
                {"kind", kind_text(binary.path)},
                {"gpu_code", gpu_json(binary.gpu)}};
    const auto& elf = *binary.elf;
    const auto text_or_null = [](const std::string& text) {
        return text.empty() ? Json() : Json(text);
    };
    auto needs = Json::array();
    for (const auto& need : binary.needs)
        needs.push_back({{"library", need.library}, {"found", text_or_null(need.found)}});
    return {{"path", binary.path},
            {"kind", kind_text(elf)},
            {"machine", machine_text(elf)},
            {"stripped", elf.is_stripped},
            {"static_pie", elf.is_static_pie},
            {"interpreter", text_or_null(elf.interpreter)},
            {"soname", text_or_null(elf.soname)},
            {"glibc", text_or_null(elf.glibc)},
            {"rpath", elf.rpath},
            {"runpath", elf.runpath},
            {"needed", std::move(needs)},
            {"gpu_code", gpu_json(binary.gpu)}};
}

Json json_of(const InspectedPackage& package) {
    const auto& record = package.record;
    auto binaries = Json::array();
    for (const auto& binary : package.binaries) binaries.push_back(json_of(binary));
    Json exports;
    if (package.run_exports) {
        exports = {{"weak", package.run_exports->weak},
                   {"strong", package.run_exports->strong},
                   {"weak_constrains", package.run_exports->weak_constrains},
                   {"strong_constrains", package.run_exports->strong_constrains},
                   {"noarch", package.run_exports->noarch}};
    }
    const auto text_or_null = [](const std::string& text) {
        return text.empty() ? Json() : Json(text);
    };
    return {{"success", true},
            {"kind", "package"},
            {"name", record.name},
            {"version", record.version},
            {"build", record.build},
            {"subdir", record.subdir},
            {"variant", package.inputs ? Json(*package.inputs) : Json()},
            {"depends", record.depends},
            {"constrains", record.constrains},
            {"run_exports", std::move(exports)},
            {"files", package.paths.size()},
            {"matching_files", package.matching_files ? Json(*package.matching_files) : Json()},
            {"link_scripts", package.link_scripts},
            {"summary", text_or_null(package.about.summary)},
            {"license", text_or_null(record.license)},
            {"home", package.about.home},
            {"maintainers", package.about.maintainers},
            {"timestamp", record.timestamp == 0 ? Json() : Json(record.timestamp)},
            {"builder", text_or_null(package.about.builder)},
            {"size", record.size == 0 ? Json() : Json(record.size)},
            {"sha256", text_or_null(record.sha256)},
            {"prefix_placeholders",
             {{"text", package.text_placeholders}, {"binary", package.binary_placeholders}}},
            {"binaries", std::move(binaries)}};
}

/// "libm.so.6, libc.so.6 -> glibc": a line for each origin.
Texts needs_lines(const InspectedBinary& binary, std::string_view missing) {
    std::vector<std::pair<std::string, Texts>> origins;
    for (const auto& need : binary.needs) {
        const auto origin = need.found.empty() ? std::string(missing) : need.found;
        auto at = std::ranges::find(origins, origin, &std::pair<std::string, Texts>::first);
        if (at == origins.end()) at = origins.insert(origins.end(), {origin, {}});
        at->second.push_back(need.library);
    }
    Texts lines;
    lines.reserve(origins.size());
    for (const auto& group : origins)
        lines.push_back(fmt::format("{} -> {}", fmt::join(group.second, ", "), group.first));
    return lines;
}

/// `missing` is what is said of a library that was not found.
void add_binary(Context& context, const InspectedBinary& binary, std::string_view missing) {
    if (!binary.elf) {
        context.out.result(fmt::format("{}: {}", binary.path, kind_text(binary.path)));
        context.out.result("  GPU code  " + to_string(binary.gpu));
        return;
    }
    const auto& elf = *binary.elf;
    Texts facts{kind_text(elf), machine_text(elf)};
    if (elf.kind != ElfFile::Kind::Relocatable && elf.is_stripped) facts.emplace_back("stripped");
    context.out.result(fmt::format("{}: {}", binary.path, fmt::join(facts, ", ")));
    Table table;
    table.may_wrap(1);
    const auto add = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) table.add({"  " + key, value});
    };
    add("soname", elf.soname);
    add("glibc", elf.glibc.empty() ? "" : elf.glibc + " or later");
    add("rpath", fmt::format("{}", fmt::join(elf.rpath, ":")));
    add("runpath", fmt::format("{}", fmt::join(elf.runpath, ":")));
    if (!binary.gpu.empty()) add("GPU code", to_string(binary.gpu));
    for (const auto& line : needs_lines(binary, missing)) add("needs", line);
    context.out.result(table);
}

/// "3 files; the prefix is written into 1 text file and 2 binaries", where it is in any.
std::string content_text(const InspectedPackage& package) {
    auto files = count_text(package.paths.size(), "file");
    std::vector<std::string> holders;
    if (package.text_placeholders > 0)
        holders.push_back(count_text(package.text_placeholders, "text file"));
    if (package.binary_placeholders > 0)
        holders.push_back(fmt::format("{} {}",
                                      package.binary_placeholders,
                                      package.binary_placeholders == 1 ? "binary" : "binaries"));
    if (holders.empty()) return files;
    return fmt::format("{}; the prefix is written into {}", files, fmt::join(holders, " and "));
}

/// "2026-11-01T12:00:00Z with gpkg 0.1.0"
std::string built_text(const InspectedPackage& package) {
    Texts facts;
    if (package.record.timestamp != 0) facts.push_back(moment_text(package.record.timestamp));
    if (!package.about.builder.empty()) facts.push_back("with " + package.about.builder);
    return fmt::format("{}", fmt::join(facts, " "));
}

/// Where the package comes from: summary, license, maintainers, checksum.
void add_origin(Table& table, const InspectedPackage& package) {
    const auto row = [&](const std::string& key, std::string value) {
        std::ranges::replace(value, '\n', ' ');
        if (!value.empty()) table.add({"  " + key, std::move(value)});
    };
    const auto& record = package.record;
    const auto& about = package.about;
    row("summary", about.summary);
    row("license", record.license);
    row("home page", fmt::format("{}", fmt::join(about.home, " ")));
    row("maintainers",
        about.maintainers.empty() ? "none named"
                                  : fmt::format("{}", fmt::join(about.maintainers, ", ")));
    row("built", built_text(package));
    row("size", record.size == 0 ? "" : human_size(record.size));
    row("sha256", record.sha256);
    row("signature", "not part of a package; a channel can be signed: gpkg keys --help");
}

/// "1,363 files intact (as listed in the package); 1 not compared (links, or no checksum)"
std::string checked_text(std::size_t matching, std::size_t all) {
    auto text = count_text(matching, "file") + " intact (as listed in the package)";
    if (matching < all)
        text += fmt::format("; {} not compared (links, or no checksum)", all - matching);
    return text;
}

void print(Context& context, const InspectedPackage& package, std::string_view missing) {
    const auto& record = package.record;
    context.out.result(fmt::format("{} {} {} ({})",
                                   context.out.bold(record.name),
                                   record.version,
                                   record.build,
                                   record.subdir.empty() ? "no subdir" : record.subdir));
    Table table;
    table.may_wrap(1);
    const auto add = [&](const std::string& key, const Texts& values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            table.add({i == 0 ? "  " + key : std::string(), values[i]});
    };
    add_origin(table, package);
    Texts inputs;
    if (package.inputs) {
        for (const auto& [key, value] : *package.inputs)
            inputs.push_back(fmt::format("{}: {}", key, value));
    }
    add("built with", package.inputs ? inputs : Texts{"unknown"});
    add("depends", record.depends.empty() ? Texts{"nothing"} : record.depends);
    add("constrains", record.constrains);
    if (package.run_exports) {
        add("weak exports", package.run_exports->weak);
        add("strong exports", package.run_exports->strong);
        add("noarch exports", package.run_exports->noarch);
    }
    add("contains", {content_text(package)});
    if (package.matching_files)
        add("checked", {checked_text(*package.matching_files, package.paths.size())});
    add("link scripts", package.link_scripts.empty() ? Texts{"none"} : package.link_scripts);
    context.out.result(table);
    for (const auto& binary : package.binaries) add_binary(context, binary, missing);
}

/// Prints the package unless the output is JSON; returns its document.
Json show(Context& context,
          const InspectedPackage& package,
          std::string_view missing,
          bool only_files) {
    auto document = json_of(package);
    if (only_files) document["paths"] = package.paths;
    if (context.out.json_mode()) return document;
    if (only_files) {
        for (const auto& path : package.paths) context.out.result(path);
    } else {
        print(context, package, missing);
    }
    return document;
}

Result<Json> show_installed(Context& context,
                            const InspectOptions& options,
                            const std::string& name) {
    GPKG_TRY(const auto installed, read_installed(context, options.target));
    const auto* record = find_record(installed.records, name);
    if (record == nullptr)
        return pass(not_installed(name, name, installed.records, installed.prefix.path()));
    GPKG_TRY(const auto package, inspect_installed(installed.prefix.path(), *record));
    return show(context, package, "not found", options.files);
}

Result<Json> show_path(Context& context, const InspectOptions& options, const std::string& what) {
    const auto path = absolute_path(what, context.home);
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no such file", path.native()),
                    what.find('/') == std::string::npos && package_extension(what).empty()
                        ? fmt::format("for an installed package: gpkg inspect -n NAME {}", what)
                        : "");
    if (what.ends_with(".conda") || what.ends_with(".tar.bz2")) {
        GPKG_TRY(const auto package, inspect_archive(path));
        return show(context, package, "from a dependency", options.files);
    }
    if (!fs::is_regular_file(path, ignored))
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: not a regular file", path.native()),
                    fs::exists(path / "recipe.yaml", ignored)
                        ? fmt::format("for a recipe: gpkg build {} --render", shell_word(what))
                        : "give a program, a library, or a package (.conda, .tar.bz2)");
    if (options.files)
        return fail(ErrorKind::Usage,
                    fmt::format("--files: {} is not a package (.conda, .tar.bz2)", path.native()));
    GPKG_TRY(const auto found, inspect_file(path));
    if (!found)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: not an ELF file, GPU code or a package (.conda, .tar.bz2)",
                                path.native()),
                    path.extension() == ".yaml"
                        ? fmt::format("for a recipe: gpkg build {} --render", shell_word(what))
                        : "");
    Json document{{"success", true}};
    document.update(json_of(*found));
    if (!context.out.json_mode()) add_binary(context, *found, "not found");
    return document;
}

/// Several files or packages: each below its name, or as a list of documents.
Result<int> show_all(Context& context, const InspectOptions& options) {
    const bool is_installed = !options.target.name.empty() || !options.target.prefix.empty();
    auto documents = Json::array();
    for (const auto& what : options.what) {
        if (options.what.size() > 1 && !context.out.json_mode())
            context.out.result(fmt::format("{}{}:", documents.empty() ? "" : "\n", what));
        auto document = is_installed ? show_installed(context, options, what)
                                     : show_path(context, options, what);
        if (!document) return pass(std::move(document).error());
        documents.push_back(*std::move(document));
    }
    if (context.out.json_mode())
        context.out.json(documents.size() == 1
                             ? documents.front()
                             : Json{{"success", true}, {"inspected", std::move(documents)}});
    return 0;
}

/// What the attestation says of the package file. The exit status is that of a check.
Result<int> show_attestation(Context& context, const InspectOptions& options) {
    if (options.what.size() > 1)
        return fail(
            ErrorKind::Usage, "--attestation is for one package file", "name one package file");
    const auto package = absolute_path(options.what.front(), context.home);
    const auto file = absolute_path(options.attestation, context.home);
    GPKG_TRY(const auto bytes, read_file(file, kLargestAttestation));
    GPKG_TRY(const auto said, Attestation::parse(bytes, file.native()));
    GPKG_TRY(const auto sha256, sha256_of_file(package));
    auto from = options.from;
    while (from.ends_with('/')) from.pop_back();
    GPKG_CHECK(said.check(package.filename().native(), sha256, from, file.native()));
    if (context.out.json_mode()) {
        context.out.json(
            {{"success", true},
             {"kind", "attestation"},
             {"file", said.file_name},
             {"sha256", said.sha256},
             {"target_channel", said.target_channel.empty() ? Json() : Json(said.target_channel)},
             {"form", to_string(said.form)},
             {"signer_verified", false}});
        return 0;
    }
    Table table;
    table.may_wrap(1);
    table.add({"  sha256", said.sha256});
    table.add({"  for", said.target_channel.empty() ? "any channel" : said.target_channel});
    context.out.result(
        fmt::format("{}: matches the attestation {}", said.file_name, file.native()));
    context.out.result(table);
    context.out.warn(
        "the signature of the attestation was not verified; anyone could have written it");
    return 0;
}

}  // namespace

Action bind_inspect(CLI::App& app) {
    const auto options = std::make_shared<InspectOptions>();
    app.add_option("what",
                   options->what,
                   "programs, libraries or package files; with -n or -p, installed packages")
        ->type_name("FILE|PACKAGE")
        ->required();
    add_target_options(app, options->target);
    app.add_flag("--files", options->files, "list the files of the package, one per line");
    app.add_option("--attestation",
                   options->attestation,
                   "check the package file against this publish attestation (CEP 27), without its "
                   "signature")
        ->type_name("FILE");
    app.add_option("--from", options->from, "channel that the attestation must be for")
        ->type_name("URL")
        ->needs("--attestation");
    app.footer(
        "For an ELF file: its soname, the libraries it needs and where the loader finds them, its "
        "library path, the oldest glibc it runs on, and its GPU code. For a package: its license, "
        "maintainers and checksum, its variant, dependencies and run exports, and the same facts "
        "for each of its binaries. A file that differs from the package's info/paths.json is an "
        "error.\n"
        "\n"
        "  gpkg inspect ./libfoo.so\n"
        "  gpkg inspect channel/linux-64/numpy-1.24.2-h1234567_0.conda --json\n"
        "  gpkg inspect -n ml numpy\n"
        "  gpkg inspect --files numpy-1.24.2-h1234567_0.conda\n"
        "  gpkg inspect numpy-1.24.2-h1234567_0.conda --attestation numpy.sigstore.json");
    return [options](Context& context) -> Result<int> {
        if (!options->attestation.empty()) return show_attestation(context, *options);
        return show_all(context, *options);
    };
}

}  // namespace gpkg::cli
