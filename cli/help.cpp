#include "cli/help.hpp"

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/own_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace gpkg::cli {
namespace {

constexpr std::size_t kLongestLabel = 26;  ///< a longer one has its text on the next line
constexpr std::size_t kNarrowestText = 24;

/// First steps, with the command to type for each.
constexpr std::pair<std::string_view, std::string_view> kFirstSteps[] = {
    {"gpkg create -n ml pytorch", "create environment ml with pytorch"},
    {"gpkg create -n web -f environment.yml", "create one from a file"},
    {"gpkg run -n ml python train.py", "run a command in it"},
    {"gpkg shell -n ml", "start a shell with it activated"},
    {"gpkg install -n ml 'numpy>=1.26'", "add packages"},
    {"gpkg update -n ml numpy", "update packages; --all for all"},
    {"gpkg remove -n ml numpy", "remove packages"},
    {"gpkg rollback -n ml", "undo the last change"},
    {"gpkg list -n ml", "list its packages"},
    {"gpkg env list", "list all environments"},
    {"gpkg search 'pytorch>=2'", "search the channels"},
    {"gpkg hardware", "show this machine, its GPU and driver"},
    {"gpkg lock -f environment.yml", "write a lock file"},
};

std::string styled(const HelpStyle& style, std::string_view text) {
    return style.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

/// What a footer says, and its examples.
struct Description {
    std::vector<std::string> paragraphs;
    std::vector<std::string> examples;
};

Description description_of(const CLI::App& command) {
    Description description;
    std::string paragraph;
    const auto end_paragraph = [&] {
        if (!paragraph.empty()) description.paragraphs.push_back(std::move(paragraph));
        paragraph.clear();
    };
    for (const auto& line : CLI::detail::split(command.get_footer(), '\n')) {
        if (line.starts_with("  ")) {
            description.examples.push_back(line.substr(2));
        } else if (line.empty()) {
            end_paragraph();
        } else {
            paragraph += (paragraph.empty() ? "" : " ") + line;
        }
    }
    end_paragraph();
    return description;
}

/// A name or a flag, and what it is.
struct Row {
    std::string label;
    std::string text;
};
using Section = std::pair<std::string, std::vector<Row>>;

std::string argument_label(const CLI::Option& option) {
    return value_name(option) + (option.get_items_expected_max() > 1 ? "..." : "");
}

/// "-n, --name NAME"
std::string option_label(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_snames()) names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) names.push_back("--" + name);
    const auto value = value_name(option);
    return fmt::format("{}{}{}{}",
                       option.get_snames().empty() ? "    " : "",
                       fmt::join(names, ", "),
                       value.empty() ? "" : " ",
                       value);
}

/// Options that every command has: those of the outermost command.
std::vector<Row> common_options(const CLI::App& command) {
    const auto* top = &command;
    while (top->get_parent()->get_parent() != nullptr) top = top->get_parent();
    std::vector<Row> rows;
    for (const auto* option : top->get_options()) {
        if (option->get_group() == kCommonOptions)
            rows.push_back({option_label(*option), option->get_description()});
    }
    return rows;
}

void collect_options(const CLI::App& command, std::vector<Section>& sections) {
    for (const auto* option : command.get_options()) {
        const auto& group = option->get_group();
        if (group.empty() || group == kCommonOptions || option == command.get_help_ptr()) continue;
        const auto title = option->get_positional() ? "Arguments" : group;
        auto section = std::ranges::find(sections, title, &Section::first);
        if (section == sections.end()) section = sections.insert(sections.end(), {title, {}});
        section->second.push_back(
            {option->get_positional() ? argument_label(*option) : option_label(*option),
             option->get_description()});
    }
    for (const auto* group : option_groups_of(command)) collect_options(*group, sections);
}

/// Subcommands, arguments and options; those of every command last.
std::vector<Section> sections_of(const CLI::App& command) {
    std::vector<Section> sections;
    std::vector<Row> commands;
    for (const auto* sub : subcommands_of(command))
        commands.push_back({sub->get_name(), sub->get_description()});
    if (!commands.empty()) sections.emplace_back("Commands", std::move(commands));
    collect_options(command, sections);
    const auto rank = [](const Section& section) {
        if (section.first == "Commands" || section.first == "Arguments") return 0;
        return section.first == "Options" ? 1 : 2;
    };
    std::ranges::stable_sort(sections, {}, rank);
    sections.emplace_back(kCommonOptions, common_options(command));
    return sections;
}

std::string usage_line(const CLI::App& command) {
    auto line = full_name(command) + " [OPTIONS]";
    const auto subcommands = subcommands_of(command);
    const bool needs_subcommand = command.get_require_subcommand_min() > 0;
    if (!subcommands.empty()) line += needs_subcommand ? " COMMAND" : " [COMMAND]";
    for (const auto* option : command.get_options()) {
        if (!option->get_positional() || option->get_group().empty()) continue;
        const auto label = argument_label(*option);
        line += option->get_required() ? " " + label : fmt::format(" [{}]", label);
    }
    return line;
}

void add_rows(std::string& text, const std::vector<Row>& rows, const HelpStyle& style) {
    std::size_t column = 0;
    for (const auto& row : rows) {
        if (row.label.size() <= kLongestLabel) column = std::max(column, row.label.size());
    }
    const std::size_t indent = column + 4;
    const auto room = style.width > indent + kNarrowestText ? style.width - indent : kNarrowestText;
    for (const auto& row : rows) {
        const auto lines = row.text.empty() ? std::vector<std::string>() : wrapped(row.text, room);
        const bool beside =
            row.label.size() <= column && !lines.empty() && display_width(lines.front()) <= room;
        text += beside ? fmt::format("  {:<{}}  {}\n", row.label, column, lines.front())
                       : fmt::format("  {}\n", row.label);
        for (std::size_t i = beside ? 1 : 0; i < lines.size(); ++i)
            text += fmt::format("{:{}}{}\n", "", indent, lines[i]);
    }
}

void add_heading(std::string& text, std::string_view heading, const HelpStyle& style) {
    if (!text.empty()) text += '\n';
    text += styled(style, fmt::format("{}:", heading)) + '\n';
}

std::string with_capital(std::string text) {
    if (!text.empty())
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

/// Calls `visit` for every command and subcommand that help shows, outermost first.
void visit_all(const CLI::App& command, const std::function<void(const CLI::App&)>& visit) {
    for (const auto* sub : subcommands_of(command)) {
        visit(*sub);
        visit_all(*sub, visit);
    }
}

std::string in_markdown(std::string_view text) {
    std::string escaped;
    bool is_code = false;
    for (const char c : text) {
        if (c == '`') is_code = !is_code;
        if (c == '|' || (!is_code && (c == '<' || c == '*' || c == '_'))) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

/// An option with its value in a table. GitHub ends a cell at a '|' in backticks.
std::string option_in_markdown(std::string_view label) {
    label.remove_prefix(std::min(label.find_first_not_of(' '), label.size()));
    if (label.find('|') == std::string_view::npos) return fmt::format("`{}`", label);
    std::string code;
    for (const char c : label) {
        if (c == '|') {
            code += "&#124;";
        } else if (c == '<') {
            code += "&lt;";
        } else {
            code += c;
        }
    }
    return fmt::format("<code>{}</code>", code);
}

std::string rows_in_markdown(const std::vector<Row>& rows) {
    std::string text;
    for (const auto& row : rows)
        text += fmt::format("| {} | {} |\n", option_in_markdown(row.label), in_markdown(row.text));
    return text;
}

/// The section of a command in the reference page.
std::string command_in_markdown(const CLI::App& command, std::string_view heading_mark) {
    auto text = fmt::format("\n{} {}\n\n{}.\n\n```text\n{}\n```\n",
                            heading_mark,
                            full_name(command),
                            in_markdown(with_capital(command.get_description())),
                            usage_line(command));
    const auto description = description_of(command);
    for (const auto& paragraph : description.paragraphs)
        text += fmt::format("\n{}\n", in_markdown(paragraph));
    if (!description.examples.empty())
        text += fmt::format("\n<!-- not run: placeholder -->\n```console\n$ {}\n```\n",
                            fmt::join(description.examples, "\n$ "));
    for (const auto& [heading, rows] : sections_of(command)) {
        if (heading != kCommonOptions)
            text += fmt::format("\n| {} | |\n|---|---|\n{}", heading, rows_in_markdown(rows));
    }
    return text;
}

std::string in_roff(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n'))
            escaped += fmt::format("\\&{}", c);
        else
            escaped += c;
    }
    return escaped;
}

}  // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
    return command.get_subcommands(
        [](const CLI::App* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); });
}

std::vector<const CLI::App*> option_groups_of(const CLI::App& command) {
    return command.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); });
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> flags;
    for (const auto* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
        if (option->get_lnames().empty())
            for (const auto& name : option->get_snames()) flags.push_back("-" + name);
    }
    for (const auto* group : option_groups_of(command)) {
        const auto more = option_names(*group);
        flags.insert(flags.end(), more.begin(), more.end());
    }
    return flags;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* sub : subcommands_of(command)) names.push_back(sub->get_name());
    return names;
}

std::string full_name(const CLI::App& command) {
    const auto* parent = command.get_parent();
    return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::string example_of(const CLI::App& command, std::string_view word) {
    for (const auto& example : description_of(command).examples) {
        const auto text = trim(std::string_view(example).substr(0, example.find("  #")));
        const auto words = CLI::detail::split(std::string(text), ' ');
        if (word.empty() || std::ranges::find(words, word) != words.end()) return std::string(text);
    }
    return "";
}

std::string value_name(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return "";
    // CLI11 adds the names of checks: "TEXT:{a,b}".
    auto name = option.get_type_name();
    name = name.substr(0, name.find(':'));
    if (!option.get_positional() || (!name.empty() && name != "TEXT")) return name;
    name = option.get_name(true);
    std::ranges::transform(
        name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
}

HelpStyle help_style(std::optional<std::size_t> columns, bool color) {
    constexpr std::size_t kWidest = 100;
    constexpr std::size_t kNarrowest = 40;
    HelpStyle style;
    if (columns) style.width = std::clamp(*columns, kNarrowest, kWidest);
    style.color = color;
    return style;
}

std::string overview(const HelpStyle& style, const std::string& documentation) {
    std::string text = "gpkg: packages and environments that fit your hardware\n";
    add_heading(text, "Usage", style);
    text += "  gpkg COMMAND [OPTIONS]\n";
    add_heading(text, "First steps", style);
    std::vector<Row> rows;
    std::size_t longest = 0;
    std::size_t widest = 0;
    for (const auto& [command, what] : kFirstSteps) {
        longest = std::max(longest, command.size());
        widest = std::max(widest, what.size());
    }
    for (const auto& [command, what] : kFirstSteps)
        text += 4 + longest + widest <= style.width
                    ? fmt::format("  {:<{}}  {}\n", command, longest, what)
                    : fmt::format("  {}\n      {}\n", command, what);

    add_heading(text, "Commands", style);
    for (const auto& command : commands()) {
        if (command.topic == Topic::Hidden) continue;
        const auto label = std::string(heading(command.topic));
        if (rows.empty() || rows.back().label != label) rows.push_back({label, ""});
        auto& names = rows.back().text;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
    }
    for (const auto& alias : aliases()) {
        const auto* command = find_command(alias.stands_for.substr(0, alias.stands_for.find(' ')));
        const auto row = std::ranges::find(rows, std::string(heading(command->topic)), &Row::label);
        if (alias.is_listed) row->text += fmt::format(", {}", alias.name);
    }
    add_rows(text, rows, style);

    add_heading(text, "More", style);
    rows = {{"gpkg help COMMAND", "options and examples of a command"},
            {"gpkg help all", "every command with a summary"},
            {"gpkg info --report", "what a bug report needs, without secrets"},
            {"documentation", documentation}};
    add_rows(text, rows, style);
    return text;
}

std::string all_commands(const HelpStyle& style) {
    std::string text;
    std::vector<Row> rows;
    auto topic = Topic::Hidden;
    const auto end_topic = [&] {
        if (rows.empty()) return;
        add_heading(text, heading(topic), style);
        add_rows(text, rows, style);
        rows.clear();
    };
    for (const auto& command : commands()) {
        if (command.topic != topic) end_topic();
        topic = command.topic;
        if (topic == Topic::Hidden) continue;
        rows.push_back({std::string(command.name), std::string(command.summary)});
    }
    end_topic();
    for (const auto& alias : aliases()) {
        if (alias.is_listed)
            rows.push_back(
                {std::string(alias.name), fmt::format("same as `gpkg {}`", alias.stands_for)});
    }
    add_heading(text, "Other spellings", style);
    add_rows(text, rows, style);
    return text;
}

std::string help_of(const CLI::App& command, const HelpStyle& style) {
    const auto title = fmt::format("{}: {}", full_name(command), command.get_description());
    auto text = fmt::format("{}\n", fmt::join(wrapped(title, style.width), "\n"));
    add_heading(text, "Usage", style);
    const auto usage = wrapped(usage_line(command), style.width - 2, 2);
    text += fmt::format("  {}\n", fmt::join(usage, "\n  "));
    const auto description = description_of(command);
    for (const auto& paragraph : description.paragraphs)
        text += fmt::format("\n{}\n", fmt::join(wrapped(paragraph, style.width), "\n"));
    if (!description.examples.empty()) {
        add_heading(text, "Examples", style);
        for (const auto& example : description.examples) text += fmt::format("  {}\n", example);
    }
    for (const auto& [heading, rows] : sections_of(command)) {
        add_heading(text, heading, style);
        add_rows(text, rows, style);
    }
    return text;
}

std::string reference_page(const CLI::App& program) {
    std::string text =
        "# Command line\n\n"
        "Every command with its options, as `gpkg COMMAND --help` prints them.\n\n"
        "The options `-n`, `-p`, `--json`, `-q`, `-v`, `-y` and `--offline` may also stand before\n"
        "the command: `gpkg -n ml list`.\n";
    visit_all(program, [&](const CLI::App& command) {
        text += command_in_markdown(command, command.get_parent() == &program ? "##" : "###");
    });
    text += "\n## Options of every command\n\n| option | |\n|---|---|\n";
    text += rows_in_markdown(common_options(*program.get_subcommand("info")));
    return text;
}

namespace {

std::vector<Row> man_files() {
    return {{"~/.local/share/gpkg", "root prefix: envs/, pkgs/ (package store), cache/, log/"},
            {"~/.local/share/gpkg/config.yaml", "settings of the root prefix"},
            {"~/.config/gpkg/config.yaml", "settings of the user"},
            {"/etc/gpkg/config.yaml", "settings of the system"},
            {"~/.config/gpkg/credentials.yaml", "logins of channels; mode 600"},
            {"~/.condarc", "settings of conda, which gpkg reads too"},
            {"~/.conda/environments.txt", "list of environments, shared with conda"}};
}

std::vector<Row> man_variables() {
    return {{"GPKG_ROOT_PREFIX", "root prefix"},
            {"GPKG_CACHE_DIR", "folder of the package store and the index cache"},
            {"GPKG_SYSTEM_CONFIG", "configuration file to read instead of /etc/gpkg/config.yaml"},
            {"GPKG_<SETTING>", "a setting, such as GPKG_CHANNELS or GPKG_OFFLINE"},
            {"CONDA_PREFIX", "the active environment"},
            {"CONDA_OVERRIDE_CUDA, CONDA_OVERRIDE_GLIBC, ...",
             "virtual packages that replace the detected ones"},
            {"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxies"},
            {"SSL_CERT_FILE, REQUESTS_CA_BUNDLE",
             "file or folder of trusted certificates; overrides the setting ssl_verify"},
            {"SSL_CERT_DIR", "more folders of trusted certificates"},
            {"NO_COLOR", "if set, output has no color"}};
}

std::string row_in_roff(std::string_view label, std::string_view text) {
    return fmt::format(".TP\n.B {}\n{}\n", in_roff(label), in_roff(text));
}

/// The section of a command in the man page.
std::string command_in_roff(const CLI::App& command) {
    auto text = fmt::format(".SS {}\n{}.\n.PP\n.B {}\n",
                            in_roff(full_name(command)),
                            in_roff(with_capital(command.get_description())),
                            in_roff(usage_line(command)));
    const auto description = description_of(command);
    for (const auto& paragraph : description.paragraphs)
        text += fmt::format(".PP\n{}\n", in_roff(paragraph));
    if (!description.examples.empty()) {
        text += ".PP\n.nf\n";
        for (const auto& example : description.examples) text += in_roff("  " + example) + '\n';
        text += ".fi\n";
    }
    for (const auto& [heading, rows] : sections_of(command)) {
        for (const auto& row : rows)
            text += row_in_roff(row.label.substr(row.label.find_first_not_of(' ')), row.text);
    }
    return text;
}

}  // namespace

std::string man_page(const CLI::App& program) {
    std::string text =
        ".TH GPKG 1\n.SH NAME\ngpkg \\- packages and environments that fit your hardware\n"
        ".SH SYNOPSIS\n.B gpkg\nCOMMAND [OPTIONS]\n.SH FIRST STEPS\n.nf\n";
    for (const auto& [command, what] : kFirstSteps)
        text += in_roff(fmt::format("{:<40}{}", command, what)) + '\n';
    text += ".fi\n.SH COMMANDS\n";
    visit_all(program, [&](const CLI::App& command) { text += command_in_roff(command); });
    const auto add_section = [&](std::string_view title, std::span<const Row> rows) {
        text += fmt::format(".SH {}\n", title);
        for (const auto& row : rows) text += row_in_roff(row.label, row.text);
    };
    add_section("FILES", man_files());
    add_section("ENVIRONMENT", man_variables());
    text += ".SH SEE ALSO\n" +
            in_roff(
                "gpkg config describe lists all settings. "
                "The documentation is in share/doc/gpkg of the installation, in docs/ of the "
                "sources: index.md, reference/configuration.md, "
                "reference/environment-variables.md, troubleshooting.md.") +
            "\n";
    return text;
}

std::string documentation_page(std::string_view page) {
    const auto program = own_program().value_or(fs::path()).parent_path();
    for (const auto* folder : {"../share/doc/gpkg", "../../docs"}) {
        std::error_code code;
        const auto path = (program / folder / page).lexically_normal();
        if (fs::exists(path, code)) return path.native();
    }
    return page == "index.md" ? "README.md and docs/ in the repository of gpkg"
                              : fmt::format("docs/{} in the repository of gpkg", page);
}

}  // namespace gpkg::cli
