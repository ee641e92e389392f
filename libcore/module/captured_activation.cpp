#include "libcore/module/captured_activation.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/module/shell_state_internal.hpp"
#include "libcore/module/user_traces_internal.hpp"
#include "libcore/module/variable_effect_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <unistd.h>

namespace gpkg {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::string_view kSystemPath = "/usr/local/bin:/usr/bin:/bin";
// What is the user's own, and would be taken for the same for everybody.
constexpr std::string_view kUser = "@gpkg.user@";
constexpr std::string_view kUsersPath = "/@gpkg/users-path";
constexpr std::string_view kUsersFolder = "/@gpkg/users-folder";
constexpr std::string_view kUsersShell = "/bin/./bash";  // scripts may run it

/// Sources the scripts that are its arguments and writes down what is then there.
constexpr const char* kProgram = R"(shopt -s expand_aliases
__gpkg_out=$1
__gpkg_write_state=$2
shift 2
\builtin eval "$__gpkg_write_state" > "$__gpkg_out/state_before"
for __gpkg_script in "$@"; do
    printf '%s' "$__gpkg_script" >| "$__gpkg_out/at"
    . "$__gpkg_script"
done
\builtin eval "$__gpkg_write_state" > "$__gpkg_out/state"
/usr/bin/env -0 > "$__gpkg_out/variables"
)";

/// What is left after the scripts were sourced once.
struct Outcome {
    Variables variables;
    std::vector<std::string> changes;  ///< of the shell's state, in words
    std::string complaints;
};

constexpr uid_t kNobody = 65534;
constexpr std::string_view kNotAllowed = "Permission denied";

/// Who sources the scripts: whoever writes the module, or somebody with another name and number.
enum class Who { Writer, Another };

/// What a variable is given to see what becomes of it.
enum class Seed { Path, Number };
std::string path_seed(int round, std::string_view name) {
    return fmt::format("/@gpkg/{}/{}", round, name);
}

constexpr std::size_t kMostComplaints = 1U << 16U;

bool is_word(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Variables that bash keeps itself, which tell nothing of what scripts do, and those that shells
/// heed, whose changes are among those of the shell's state.
bool is_of_the_shell(std::string_view name) {
    static constexpr auto kNames = std::to_array<std::string_view>({
        // Kept.
        "_",
        "EUID",
        "GROUPS",
        "HISTCMD",
        "LINENO",
        "OLDPWD",
        "OPTARG",
        "OPTERR",
        "OPTIND",
        "PPID",
        "PWD",
        "RANDOM",
        "SECONDS",
        "SHELLOPTS",
        "SHLVL",
        "SRANDOM",
        "UID",
        // Heeded.
        "ENV",
        "HOME",
        "IFS",
        "PATH",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS2",
        "PS4",
        "SHELL",
        "USER",
    });
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           name.starts_with("BASH") || name.starts_with("EPOCH") || name.starts_with("LD_") ||
           name.starts_with("__gpkg_");
}

/// Programs complain where these name a locale that the machine has not.
bool is_of_locale(std::string_view name) { return name == "LANG" || name.starts_with("LC_"); }

/// Names that the scripts may look at or unset: words in capitals, and what follows "unset".
std::set<std::string> mentioned(const std::vector<fs::path>& scripts) {
    std::set<std::string> names;
    for (const auto& script : scripts) {
        const auto text = read_file(script);
        if (!text) continue;
        bool after_unset = false;
        for (std::size_t i = 0; i < text->size();) {
            const auto c = (*text)[i];
            if (!is_word(c)) {
                if (c == '\n' || c == ';') after_unset = false;
                ++i;
                continue;
            }
            const auto from = i;
            while (i < text->size() && is_word((*text)[i])) ++i;
            const auto word = text->substr(from, i - from);
            const bool capitals = word.size() > 2 && to_lower(word) != word &&
                                  std::none_of(word.begin(), word.end(), [](char letter) {
                                      return letter >= 'a' && letter <= 'z';
                                  });
            const bool is_number = word.front() >= '0' && word.front() <= '9';
            if (!is_number && (capitals || after_unset)) names.insert(word);
            after_unset = after_unset || word == "unset";
        }
    }
    return names;
}

/// What tells this user from others in a value that a script got from the system.
std::vector<std::string> names_of_user() {
    std::vector<std::string> names{std::to_string(::getuid()), std::to_string(::getgid())};
    if (auto user = system_user(::getuid())) names.push_back(std::move(user->name));
    return names;
}

std::optional<std::string> value_in(const Variables& variables, const std::string& name) {
    const auto place = variables.find(name);
    return place == variables.end() ? std::nullopt : std::optional(place->second);
}

class Capture {
public:
    Capture(const fs::path& prefix, const CaptureOptions& options)
        : prefix_(prefix), options_(options) {}

    Result<CapturedActivation> run();

private:
    Result<void> enter();
    Result<Outcome> source(const Variables& beforehand, Who who = Who::Writer) const;
    ProcessCommand shell(const Variables& beforehand, const fs::path& out, Who who) const;
    std::string path() const;
    Variables seeds(Seed seed, int round) const;
    Result<void> source_with(Seed seed, Outcome& second, Outcome& third);
    Result<void> source_as_another();
    void tell_changes(const Outcome& outcome);
    void tell_variable(const std::string& name, const SeenVariable& seen);
    bool is_copy(const std::string& name, const SeenVariable& seen) const;

    const fs::path& prefix_;
    const CaptureOptions& options_;
    Variables before_scripts_;  ///< what activation itself sets
    std::set<std::string> unset_before_scripts_;
    std::vector<fs::path> scripts_;
    std::set<std::string> names_;  ///< of variables that have a value in the second and third round
    Variables second_;             ///< those values
    Variables third_;
    /// What comes of the first round for another user. Nothing where the system does not let anyone
    /// be another: then `names_of_user_` has what to look for, where scripts ask for it.
    std::optional<Outcome> as_another_;
    std::vector<std::string> names_of_user_;
    CapturedActivation captured_;
};

/// What activation does without scripts, to a shell in which nothing is active.
Result<void> Capture::enter() {
    const auto no_variables = [](std::string_view) { return std::optional<std::string>(); };
    GPKG_TRY(auto activation, activate(prefix_, no_variables, Shell::Bash, {}));
    for (auto& [name, value] : activation.variables) {
        if (name == "PATH" || name.starts_with("__GPKG_VARS_")) continue;
        if (value) before_scripts_[name] = *std::move(value);
    }
    captured_.left_out = std::move(activation.warnings);
    // Nobody has to unset what no shell has.
    GPKG_TRY(const auto own, environment_variables(prefix_));
    for (const auto& [name, value] : own.values) {
        if (is_of_the_shell(name) && !name.starts_with("LD_"))
            captured_.left_out.push_back(
                fmt::format("the variable {}: {}", printable(name), kHeeded));
        if (!value) unset_before_scripts_.insert(name);
    }
    before_scripts_["CONDA_DEFAULT_ENV"] = options_.name;
    before_scripts_["CONDA_PROMPT_MODIFIER"] = fmt::format("({}) ", options_.name);
    scripts_ = std::move(activation.activate_scripts);
    return {};
}

std::string Capture::path() const {
    return fmt::format("{}/bin:{}:{}", prefix_.native(), kSystemPath, kUsersPath);
}

ProcessCommand Capture::shell(const Variables& beforehand, const fs::path& out, Who who) const {
    ProcessCommand command;
    // In a new user namespace everybody is "nobody", who may do with files what he could before.
    if (who == Who::Another) command.arguments = {"unshare", "--user", "--"};
    const auto program = {std::string("bash"),
                          std::string("--noprofile"),
                          std::string("--norc"),
                          std::string("-c"),
                          std::string(kProgram),
                          std::string("bash"),
                          out.native(),
                          std::string(kWriteState)};
    command.arguments.insert(command.arguments.end(), program);
    for (const auto& script : scripts_) command.arguments.push_back(script.native());
    command.folder = out;
    command.environment = beforehand;
    for (const auto& name : unset_before_scripts_) command.environment.erase(name);
    for (const auto& [name, value] : before_scripts_) command.environment[name] = value;
    command.environment["PATH"] = path();
    command.environment["HOME"] = kUsersHome;
    command.environment["USER"] = kUser;
    command.environment["SHELL"] = kUsersShell;
    return command;
}

Result<Outcome> Capture::source(const Variables& beforehand, Who who) const {
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-capture"));
    std::error_code ignored;
    auto out = fs::canonical(folder.path(), ignored);  // as the shell says it
    if (out.empty()) out = folder.path();
    auto command = shell(beforehand, out, who);
    const auto deadline = std::chrono::steady_clock::now() + options_.time_limit;
    bool too_long = false;
    command.cancelled = [&] {
        too_long = std::chrono::steady_clock::now() > deadline;
        return too_long || (options_.cancelled && options_.cancelled());
    };
    Outcome outcome;
    command.errors = [&](std::string_view text) {
        if (outcome.complaints.size() < kMostComplaints) outcome.complaints += text;
    };
    const auto status = run_command(command);
    const auto script = read_file(out / "at").value_or(prefix_.native());
    if (too_long)
        return fail(ErrorKind::Io,
                    fmt::format("{}: the activation script did not finish within {} s",
                                script,
                                options_.time_limit.count()));
    if (!status) return pass(status.error());
    const auto text = read_file(out / "variables");
    if (!text || text->empty())
        return fail(
            ErrorKind::Io,
            fmt::format(
                "{}: the activation script exits the shell with status {}", script, *status));
    for (const auto item : split(*text, '\0')) {
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) continue;
        auto value = std::string(item.substr(equals + 1));
        value = replace_all(value, out.native(), kUsersFolder);
        outcome.variables.emplace(item.substr(0, equals), std::move(value));
    }
    outcome.changes = changes_of_state(read_file(out / "state_before").value_or(""),
                                       read_file(out / "state").value_or(""));
    return outcome;
}

/// Each variable has another in each round.
Variables Capture::seeds(Seed seed, int round) const {
    Variables values;
    for (const auto& name : names_) {
        const auto number = values.size() + 1 + (round == 2 ? 0U : 700'000U);
        if (is_of_locale(name))
            values[name] = round == 2 ? "C" : "POSIX";
        else
            values[name] = seed == Seed::Path ? path_seed(round, name) : std::to_string(number);
    }
    return values;
}

Result<void> Capture::source_with(Seed seed, Outcome& second, Outcome& third) {
    second_ = seeds(seed, 2);
    third_ = seeds(seed, 3);
    GPKG_TRY(second, source(second_));
    GPKG_TRY(third, source(third_));
    return {};
}

/// Bash has the user's number from the system, and scripts ask programs for it.
Result<void> Capture::source_as_another() {
    auto outcome = source({}, Who::Another);
    // Root may not read there what is another's alone, which says nothing of that other.
    const bool may_read = outcome && outcome->complaints.find(kNotAllowed) == std::string::npos;
    if (may_read && ::getuid() != kNobody) {
        as_another_ = *std::move(outcome);
        return {};
    }
    if (!outcome && outcome.error().kind == ErrorKind::Interrupted) return pass(outcome.error());
    const bool is_asked_for = std::any_of(scripts_.begin(), scripts_.end(), [](const auto& script) {
        const auto text = read_file(script);
        return text && asks_for_user(*text);
    });
    if (is_asked_for) names_of_user_ = names_of_user();
    return {};
}

void Capture::tell_changes(const Outcome& outcome) {
    auto& left_out = captured_.left_out;
    for (const auto& change : outcome.changes) {
        if (std::find(left_out.begin(), left_out.end(), change) == left_out.end())
            left_out.push_back(change);
    }
}

/// Scripts keep what was there before for those that leave the environment.
bool Capture::is_copy(const std::string& name, const SeenVariable& seen) const {
    if (!seen.second || !seen.third) return false;
    return std::any_of(names_.begin(), names_.end(), [&](const auto& other) {
        return other != name && *seen.second == second_.at(other) &&
               *seen.third == third_.at(other) && name.find(other) != std::string::npos;
    });
}

void Capture::tell_variable(const std::string& name, const SeenVariable& seen) {
    if (is_copy(name, seen)) return;
    const bool is_others = as_another_ && seen.first != value_in(as_another_->variables, name);
    auto effect = effect_of(name, seen);
    if (!effect && !is_others) return;
    const auto leave_out = [&](std::string_view why) {
        captured_.left_out.push_back(fmt::format("the variable {}: {}", printable(name), why));
    };
    if (name.starts_with("LD_"))
        return leave_out("it also affects programs outside the environment");
    // Lmod gives it to itself, and no module sees what the user had.
    if (name == "LC_ALL") return leave_out("module systems set it themselves");
    if (!is_variable_of_shells(name)) return leave_out("other shells cannot represent it");
    if (effect && !effect->is_regular)
        return leave_out("its new value cannot be derived from the old one");
    if (is_others || has_one_of(effect->effect.value, names_of_user_))
        return leave_out("its value differs between users");
    const auto has = [&](std::string_view part) {
        return effect->effect.value.find(part) != std::string::npos;
    };
    if (has(kUser)) return leave_out("its value contains the user's name");
    if (has(kUsersPath)) return leave_out("its value contains the user's PATH");
    if (has(kUsersFolder)) return leave_out("its value contains the user's current folder");
    if (has(kUsersShell)) return leave_out("its value contains the user's shell");
    captured_.effects.push_back(std::move(effect->effect));
}

Result<CapturedActivation> Capture::run() {
    GPKG_CHECK(enter());
    std::vector<Outcome> rounds(3);
    if (!scripts_.empty()) {
        GPKG_TRY(rounds[0], source({}));
        names_ = mentioned(scripts_);
        for (const auto& [name, value] : rounds[0].variables) names_.insert(name);
        for (const auto& [name, value] : before_scripts_) names_.erase(name);
        for (const auto& name : unset_before_scripts_) names_.erase(name);
        std::erase_if(names_, is_of_the_shell);
        GPKG_CHECK(source_with(Seed::Path, rounds[1], rounds[2]));
        // Nothing can be counted with paths, and what bash says against one names it.
        const bool wants_numbers =
            rounds[1].complaints.find(path_seed(2, "")) != std::string::npos ||
            rounds[2].complaints.find(path_seed(3, "")) != std::string::npos;
        if (wants_numbers) GPKG_CHECK(source_with(Seed::Number, rounds[1], rounds[2]));
        GPKG_CHECK(source_as_another());
        tell_changes(rounds[0]);
        if (as_another_) tell_changes(*as_another_);
    } else {
        for (auto& round : rounds) round.variables = before_scripts_;
    }
    std::set<std::string> all = names_;
    all.insert(unset_before_scripts_.begin(), unset_before_scripts_.end());
    for (const auto& round : rounds)
        for (const auto& [name, value] : round.variables) all.insert(name);
    if (as_another_)
        for (const auto& [name, value] : as_another_->variables) all.insert(name);
    for (const auto& name : all) {
        if (is_of_the_shell(name) && name != "PATH" && !name.starts_with("LD_")) continue;
        SeenVariable seen;
        seen.second_before = value_in(second_, name);
        seen.third_before = value_in(third_, name);
        if (unset_before_scripts_.contains(name)) seen.second_before = seen.third_before = "x";
        if (name == "PATH") {
            // There is always one; what was in it before cannot be but this.
            seen.second_before = seen.third_before = path();
        }
        seen.first = value_in(rounds[0].variables, name);
        seen.second = value_in(rounds[1].variables, name);
        seen.third = value_in(rounds[2].variables, name);
        tell_variable(name, seen);
    }
    return std::move(captured_);
}

}  // namespace

Result<CapturedActivation> capture_activation(const fs::path& prefix,
                                              const CaptureOptions& options) {
    return Capture(prefix, options).run();
}

}  // namespace gpkg
