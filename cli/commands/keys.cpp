#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/signing.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/fetch_index.hpp"
#include "libcore/channel/trusted_channel.hpp"
#include "libcore/trust/channel_root.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

struct KeysWords {
    std::string file;  ///< of a key, or the folder of a channel
    std::vector<std::string> root_keys;
    std::vector<std::string> index_keys;
    std::size_t threshold = 0;        ///< 0: that of the root before, else 1
    std::size_t index_threshold = 0;  ///< likewise
    std::string expires;
    std::vector<std::string> sign_keys;
    std::vector<std::string> trusted;  ///< keys, or the file of a root; empty: trusted_keys
};

/// The newest root of a channel folder; version 0 where it has none.
Result<ChannelRoot> newest_root(const fs::path& channel) {
    std::uint64_t version = 0;
    std::error_code code;
    while (fs::exists(channel / root_file(version + 1), code)) ++version;
    if (version == 0) return ChannelRoot{};
    const auto file = (channel / root_file(version)).native();
    return trusted_root(std::span(&file, 1), file);
}

fs::path draft_file(const fs::path& channel, std::uint64_t version) {
    return (channel / root_file(version)).native() + ".draft";
}

/// The keys that signed the indexes of the channel; empty if they are not signed.
std::vector<std::string> index_signers(const fs::path& channel) {
    const auto bytes = read_file(channel / kStatementFile, kLargestStatement);
    if (!bytes) return {};
    const auto statement = SignedText::parse(*bytes, (channel / kStatementFile).native());
    return statement ? statement->keys() : std::vector<std::string>();
}

/// What is left to do once the first root of a channel is complete.
void tell_of_first_root(Context& context, const fs::path& channel, const SignedText& root) {
    const auto file = (channel / root_file(1)).native();
    const auto before = index_signers(channel);
    const auto now = root.keys();
    const auto has_signed = [&](const auto& key) {
        return std::find(now.begin(), now.end(), key) != now.end();
    };
    if (!before.empty() && std::none_of(before.begin(), before.end(), has_signed))
        context.out.warn(
            fmt::format("once the channel is indexed, users who trust only {} will refuse it until "
                        "they trust {} instead; to spare them that, delete the file and repeat the "
                        "command with the --sign-key of that key, too",
                        join_some(before, "and", before.size()),
                        file));
    context.out.note(
        fmt::format("for new users: gpkg config append --user trusted_keys.CHANNEL_URL {}",
                    root_file(1).substr(root_file(1).find('/') + 1)));
}

/// As many have signed as it takes: it is put into its place. Else it waits for the others.
Result<int> write_root(Context& context,
                       const fs::path& channel,
                       const ChannelRoot& before,
                       const SignedText& text) {
    const auto version = before.version + 1;
    const auto draft = draft_file(channel, version);
    auto signers = before.version == 0 ? Result<void>() : text.verify(before.root, draft.native());
    GPKG_TRY(const auto root, ChannelRoot::parse(text.text(), draft.native()));
    if (signers) signers = text.verify(root.root, draft.native());
    const auto fault = signers ? std::nullopt : trust_fault(signers.error());
    if (fault && fault != TrustFault::TooFew && fault != TrustFault::WrongKey)
        return pass(std::move(signers).error());
    const auto file = signers ? channel / root_file(version) : draft;
    GPKG_CHECK(write_file_atomically(file, text.to_json()));
    std::error_code ignored;
    if (signers) fs::remove(draft, ignored);
    auto& out = context.out;
    out.print(file.native());
    if (!signers)
        out.note(fmt::format("more signatures are required: gpkg keys sign {} --sign-key FILE",
                             shell_word(channel.native())));
    if (signers && before.version == 0) tell_of_first_root(context, channel, text);
    if (signers)
        out.note(fmt::format("to sign the indexes with it: gpkg index {} --sign-key FILE",
                             shell_word(channel.native())));
    if (out.json_mode())
        out.json({{"success", true}, {"file", file.native()}, {"complete", signers.has_value()}});
    return 0;
}

Result<int> generate(Context& context, const KeysWords& words) {
    GPKG_TRY(const auto key, SigningKey::generate());
    const auto file = absolute_path(words.file, context.home);
    GPKG_CHECK(key.write(file));
    context.out.print(key.public_key());
    context.out.note(
        fmt::format("private key: {} (keep it secret); above: its public key\n"
                    "to sign a channel: gpkg index FOLDER --sign-key {}\n"
                    "for its users: gpkg config append --user trusted_keys.CHANNEL_URL {}",
                    file.native(),
                    shell_word(words.file),
                    key.public_key()));
    if (context.out.json_mode())
        context.out.json(
            {{"success", true}, {"file", file.native()}, {"public_key", key.public_key()}});
    return 0;
}

Result<int> show_key(Context& context, const KeysWords& words) {
    GPKG_TRY(const auto key, SigningKey::read(absolute_path(words.file, context.home)));
    context.out.result(key.public_key());
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"public_key", key.public_key()}});
    return 0;
}

Result<void> set_role(SigningRole& role,
                      const std::vector<std::string>& keys,
                      std::size_t threshold) {
    if (!keys.empty()) role = {{}, threshold == 0 ? 1 : role.threshold};
    for (const auto& key : keys) {
        if (!is_public_key(key))
            return fail(ErrorKind::Usage,
                        fmt::format("{}: not a public key (64 hex digits)", key),
                        "gpkg keys show FILE prints the public key of a private key");
        role.keys.push_back(to_lower(key));
    }
    if (threshold != 0) role.threshold = threshold;
    return {};
}

Result<int> make_root(Context& context, const KeysWords& words) {
    const auto channel = absolute_path(words.file, context.home);
    GPKG_TRY(const auto before, newest_root(channel));
    auto root = before;
    ++root.version;
    root.expires = 0;
    GPKG_CHECK(set_role(root.root, words.root_keys, words.threshold));
    GPKG_CHECK(set_role(root.index, words.index_keys, words.index_threshold));
    if (root.index.keys.empty()) root.index = root.root;
    if (root.root.keys.empty())
        return fail(ErrorKind::Usage, "no root key: the first root of a channel needs --root-key");
    if (!words.expires.empty()) {
        GPKG_TRY(const auto lifetime, parse_lifetime(words.expires));
        root.expires = std::int64_t{std::time(nullptr)} + lifetime.count();
    }
    GPKG_TRY(const auto keys, read_sign_keys(context, words.sign_keys));
    SignedText text(root.to_text());
    for (const auto& key : keys) text.sign(*key);
    return write_root(context, channel, before, text);
}

Result<int> add_signature(Context& context, const KeysWords& words) {
    const auto channel = absolute_path(words.file, context.home);
    GPKG_TRY(const auto before, newest_root(channel));
    const auto draft = draft_file(channel, before.version + 1);
    std::error_code code;
    if (!fs::exists(draft, code))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no root waits for a signature", channel.native()),
                    fmt::format("to make a root: gpkg keys root {0}; to sign the index: gpkg index "
                                "{0} --sign-key FILE",
                                shell_word(words.file)));
    GPKG_TRY(const auto bytes, read_file(draft, kLargestRoot));
    GPKG_TRY(auto text, SignedText::parse(bytes, draft.native()));
    GPKG_TRY(const auto keys, read_sign_keys(context, words.sign_keys));
    for (const auto& key : keys) text.sign(*key);
    return write_root(context, channel, before, text);
}

Error no_trusted_key(const Channel& channel, const std::string& given) {
    // A key for "./channel" would count in this working folder only.
    const auto name = given.starts_with('.') ? channel.base_url() : given;
    auto hint = hint_at_folder(channel, "gpkg keys verify");
    if (hint.empty())
        hint =
            fmt::format("to trust a public key of its operator: gpkg config append --user {} KEY",
                        shell_word("trusted_keys." + name));
    return {ErrorKind::NotFound,
            fmt::format("no trusted key for {}: its signature is not verified", channel.name()),
            std::move(hint),
            {}};
}

/// Whether a channel is signed as trusted_keys demands; its indexes are fetched and verified too.
Result<int> verify(Context& outer, const KeysWords& words) {
    constexpr std::size_t kDate = 10;  // "2026-12-28"
    SourceOptions sources;
    sources.channels = {words.file};
    sources.override_channels = true;
    auto config = outer.config;
    if (!words.trusted.empty()) {
        // By its URL: the hint of a wrong key names the setting, which has to hold in any folder.
        const bool is_path = words.file.starts_with('.');
        const auto name =
            is_path ? "file://" + absolute_path(words.file, outer.home).native() : words.file;
        config.trusted_keys.value = {{name, words.trusted}};
        config.trusted_keys.source = "--key";
    }
    Context context{outer.out,
                    config,
                    outer.env,
                    outer.home,
                    outer.stop,
                    outer.command_line,
                    outer.arguments,
                    outer.positionals};
    context.failure_status = outer.failure_status;
    GPKG_TRY(const auto channels, wanted_channels(context, sources));
    GPKG_TRY(const auto trust, trust_options(context));
    for (const auto& channel : channels) {
        std::error_code code;
        const bool has_setting = words.trusted.empty() && trust.roots.contains(channel.base_url());
        if (!has_setting && channel.is_local() && fs::is_directory(channel.folder(), code) &&
            !fs::exists(channel.folder() / kStatementFile, code))
            return fail(
                ErrorKind::NotFound,
                fmt::format("{} is not signed (no {})", channel.folder().native(), kStatementFile),
                fmt::format("to sign it: gpkg index {} --sign-key FILE",
                            shell_word(channel.folder().native())));
        if (!trust.roots.contains(channel.base_url()))
            return pass(no_trusted_key(channel, words.file));
    }
    GPKG_TRY(const auto fetched, fetch_channels(context, sources, Extent::Named));
    static_cast<void>(fetched);
    GPKG_TRY(const auto transport, open_transport(context));
    TransferOptions transfer;
    transfer.stop = context.stop;
    auto document = nlohmann::ordered_json::array();
    for (const auto& channel : channels) {
        const auto trusted = TrustedChannel::of(channel, &trust, std::time(nullptr));
        GPKG_TRY(const auto indexes, trusted->fetch(*transport, transfer));
        GPKG_TRY(const auto text, SignedText::parse(indexes->bytes, channel.base_url()));
        auto keys = text.keys();
        std::erase_if(keys, [&](const auto& key) { return !trusted->root().index.has(key); });
        const auto& statement = indexes->statement;
        const auto expires = moment_text(statement.expires * 1000).substr(0, kDate);
        context.out.print(
            fmt::format("{}: index signature verified (package files are checked at "
                        "installation): signed with {}, expires {}",
                        channel.name(),
                        join_some(keys, "and", keys.size()),
                        expires));
        document.push_back({{"channel", channel.base_url()},
                            {"keys", keys},
                            {"version", statement.version},
                            {"root", statement.root},
                            {"expires", expires}});
    }
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"verified", std::move(document)}});
    return 0;
}

void add_list(CLI::App& app,
              const std::string& flag,
              std::vector<std::string>& to,
              const std::string& type,
              const std::string& help) {
    app.add_option(flag, to, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
}

void add_root_options(CLI::App& app, KeysWords& words) {
    add_list(app,
             "--root-key",
             words.root_keys,
             "KEY",
             "public key that signs the next root; may be repeated; default: the current keys");
    add_list(app,
             "--index-key",
             words.index_keys,
             "KEY",
             "public key that signs indexes; may be repeated; default: the current keys, or the "
             "root keys");
    app.add_option("--threshold", words.threshold, "number of root keys that must sign")
        ->type_name("N");
    app.add_option(
           "--index-threshold", words.index_threshold, "number of index keys that must sign")
        ->type_name("N");
    app.add_option("--expires", words.expires, "time until the root expires: 365d; default: never")
        ->type_name("TIME");
}

}  // namespace

Action bind_keys(CLI::App& app) {
    struct Verb {
        const char* name;
        const char* help;
        const char* argument;
        const char* argument_help;
        const char* example;
        Result<int> (*action)(Context&, const KeysWords&);
    };
    static constexpr auto kVerbs = std::to_array<Verb>({
        {"generate",
         "create a private key and print its public key",
         "file",
         "new file for the private key",
         "  gpkg keys generate ~/channel.key",
         generate},
        {"show",
         "print the public key of a private key",
         "file",
         "file of the private key",
         "  gpkg keys show ~/channel.key",
         show_key},
        {"root",
         "create the next root of a channel, which lists its keys",
         "channel",
         "channel folder",
         "  gpkg keys root ./channel --root-key KEY --sign-key ~/root.key\n  gpkg keys root "
         "./channel --index-key KEY --sign-key ~/root.key",
         make_root},
        {"sign",
         "sign a root that needs more signatures",
         "channel",
         "channel folder",
         "  gpkg keys sign ./channel --sign-key ~/other.key",
         add_signature},
        {"verify",
         "verify the signature and the indexes of a channel",
         "channel",
         "channel to verify",
         "  gpkg keys verify https://web.example.com/conda/mine\n"
         "  gpkg keys verify ./channel --key \"$(gpkg keys show ~/channel.key)\"",
         verify},
    });
    const auto words = std::make_shared<KeysWords>();
    std::vector<std::pair<const CLI::App*, Result<int> (*)(Context&, const KeysWords&)>> actions;
    for (const auto& verb : kVerbs) {
        auto* sub = app.add_subcommand(verb.name, verb.help);
        sub->fallthrough();
        if (verb.action == show_key || verb.action == verify) set_effect(*sub, Effect::Reads);
        sub->add_option(verb.argument, words->file, verb.argument_help)->required();
        sub->footer(verb.example);
        if (verb.action == make_root) add_root_options(*sub, *words);
        if (verb.action == make_root || verb.action == add_signature)
            add_list(*sub,
                     "--sign-key",
                     words->sign_keys,
                     "FILE",
                     "private key to sign with; may be repeated");
        if (verb.action == verify)
            add_list(*sub,
                     "--key",
                     words->trusted,
                     "KEY",
                     "public key or root file to trust instead of trusted_keys; may be repeated");
        actions.emplace_back(sub, verb.action);
    }
    app.require_subcommand(1);
    app.footer(
        "Creates keys, and the root file in which a channel lists the keys that may sign it. Users "
        "trust a channel with the setting trusted_keys.\n\n"
        "  gpkg keys generate ~/channel.key\n"
        "  gpkg index ./channel --sign-key ~/channel.key\n"
        "  gpkg keys root ./channel --root-key KEY --sign-key ~/root.key\n"
        "  gpkg keys verify https://web.example.com/conda/mine");

    return [words, actions](Context& context) -> Result<int> {
        for (const auto& [sub, action] : actions) {
            if (sub->parsed()) return action(context, *words);
        }
        return 0;
    };
}

}  // namespace gpkg::cli
