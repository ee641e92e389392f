#include "libcore/spec/version_spec.hpp"

#include "libcore/spec/version_spec_internal.hpp"

#include <algorithm>

namespace gpkg {
namespace {

using Op = VersionSpec::Node::Op;

/// What stands before and after the literal in canonical text.
struct Spelling {
    std::string_view before, after;
};

Spelling spelling(Op op) {
    switch (op) {
    case Op::Equal: return {"==", ""};
    case Op::NotEqual: return {"!=", ""};
    case Op::Less: return {"<", ""};
    case Op::LessEqual: return {"<=", ""};
    case Op::Greater: return {">", ""};
    case Op::GreaterEqual: return {">=", ""};
    case Op::StartsWith: return {"", ".*"};
    case Op::NotStartsWith: return {"!=", ".*"};
    case Op::Compatible: return {"~=", ""};
    case Op::NotText: return {"!=", ""};
    case Op::Any:
    case Op::Text:
    case Op::All:
    case Op::Either: break;
    }
    return {"", ""};
}

bool same_text(const std::optional<Version>& a, const std::optional<Version>& b) {
    return a.has_value() == b.has_value() && (!a || a->to_string() == b->to_string());
}

}  // namespace

bool VersionSpec::Node::matches(const Version& asked) const {
    const auto fits = [&](const Node& part) { return part.matches(asked); };
    switch (op) {
    case Op::Any: return true;
    case Op::Equal: return asked == *version;
    case Op::NotEqual: return asked != *version;
    case Op::Less: return asked < *version;
    case Op::LessEqual: return asked <= *version;
    case Op::Greater: return asked > *version;
    case Op::GreaterEqual: return asked >= *version;
    case Op::StartsWith: return asked.starts_with(*version);
    case Op::NotStartsWith: return !asked.starts_with(*version);
    case Op::Compatible: return asked >= *version && asked.starts_with(*stem);
    case Op::Text: return text->matches(asked.to_string());
    case Op::NotText: return !text->matches(asked.to_string());
    case Op::All: return std::all_of(parts.begin(), parts.end(), fits);
    case Op::Either: return std::any_of(parts.begin(), parts.end(), fits);
    }
    return false;
}

void VersionSpec::Node::print(std::string& out) const {
    if (op == Op::Any) {
        out += '*';
    } else if (op == Op::All || op == Op::Either) {
        for (const auto& part : parts) {
            if (&part != &parts.front()) out += op == Op::All ? ',' : '|';
            const bool grouped = part.op == Op::All || part.op == Op::Either;
            const bool needed = grouped && !(op == Op::Either && part.op == Op::All);
            if (needed) out += '(';
            part.print(out);
            if (needed) out += ')';
        }
    } else {
        const auto [before, after] = spelling(op);
        out += before;
        out += version ? version->to_string() : text->text();
        out += after;
    }
}

bool operator==(const VersionSpec::Node& a, const VersionSpec::Node& b) {
    return a.op == b.op && same_text(a.version, b.version) && a.text == b.text &&
           a.parts == b.parts;
}

VersionSpec::VersionSpec() {
    static const auto any = std::make_shared<const Node>();
    root_ = any;
}

VersionSpec::VersionSpec(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

VersionSpec VersionSpec::equal_to(Version version) {
    return VersionSpec(std::make_shared<const Node>(
        Node{Node::Op::Equal, std::move(version), std::nullopt, std::nullopt}));
}

Result<VersionSpec> VersionSpec::parse(std::string_view text) {
    auto read = grammar::read_version_spec(text);
    if (!read) return grammar::refuse(text, read.error(), "InvalidVersionSpec");
    return *std::move(read);
}

bool VersionSpec::matches(const Version& version) const { return root_->matches(version); }

std::string VersionSpec::to_string() const {
    std::string text;
    root_->print(text);
    return text;
}

bool VersionSpec::is_any() const { return root_->op == Op::Any; }

const Version* VersionSpec::exact() const {
    return root_->op == Op::Equal ? &*root_->version : nullptr;
}

const Version* VersionSpec::fuzzy() const {
    return root_->op == Op::StartsWith ? &*root_->version : nullptr;
}

bool operator==(const VersionSpec& a, const VersionSpec& b) {
    return a.root_ == b.root_ || *a.root_ == *b.root_;
}

std::vector<Version> VersionSpec::literals() const {
    std::vector<Version> found;
    const auto text = to_string();
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] < '0' || text[at] > '9') {
            ++at;
            continue;
        }
        const auto end = std::min(text.find_first_of(",|()*<>=!~ ", at), text.size());
        auto piece = text.substr(at, end - at);
        while (piece.ends_with('.')) piece.pop_back();
        if (auto version = Version::parse(piece)) found.push_back(*std::move(version));
        at = end;
    }
    return found;
}

std::vector<Version> VersionSpec::own_literals() const {
    auto found = literals();
    std::erase_if(found, [&](const Version& version) { return !matches(version); });
    return found;
}

}  // namespace gpkg
