// Lock files of all formats. What is accepted must be written and mean the same when it is read
// again, in its own format and in gpkg's; no file name leads out of a folder; every refusal names
// the file in few words that are fit for a terminal.

#include "libcore/lock/lock_format.hpp"
#include "tests/fuzz/engine.hpp"

using namespace gpkg;

namespace {

void check_text(std::string_view text, std::string_view input) {
    if (!text.starts_with("f:")) fuzz_stop("does not name the file", input);
    for (const char c : text) {
        if ((c >= '\0' && c < ' ' && c != '\n') || c == '\x7f')
            fuzz_stop(("not fit for a terminal: " + std::string(text)).c_str(), input);
    }
}

void check_lock(const LockFile& lock, std::string_view input) {
    for (const auto& package : lock.packages) {
        const auto& record = package.record;
        if (!is_safe_relative(record.fn) || record.fn.find('/') != std::string::npos ||
            !is_safe_relative(record.distribution()) || !is_safe_relative(record.subdir))
            fuzz_stop("leads astray", input);
    }
    for (const auto& locked : lock.classes) {
        if (lock.find_class(locked.name, locked.environment) != &locked)
            fuzz_stop("two classes of one name", input);
        if (lock.records_of(locked).size() != locked.packages.size())
            fuzz_stop("packages are missing", input);
        for (const auto place : locked.foreign)
            if (place >= lock.foreign.size()) fuzz_stop("a place outside", input);
    }
}

/// True when the format could hold it.
bool check_round_trip(const LockFile& lock, LockFormat format, std::string_view input) {
    const auto text = format_lock(lock, format);
    if (!text) return false;
    const auto again = parse_lock(*text, "f");
    if (!again) fuzz_stop(again.error().message.c_str(), input);
    if (!(again->lock == lock)) fuzz_stop("written, it says something else", input);
    if (format_lock(again->lock, format) != *text) fuzz_stop("not written the same twice", input);
    return true;
}

}  // namespace

void fuzz_one(std::string_view input) {
    const auto read = parse_lock(input, "f");
    if (!read) return check_text(read.error().message, input);
    for (const auto& warning : read->warnings) check_text(warning, input);
    check_lock(read->lock, input);
    if (!check_round_trip(read->lock, read->format, input))
        fuzz_stop("read, but cannot be written", input);
    (void)check_round_trip(read->lock, LockFormat::Gpkg, input);
}

std::vector<std::string> fuzz_seeds() {
    const std::string md5 = "0123456789abcdef0123456789abcdef";
    const std::string sha256 = md5 + md5;
    return {
        "gpkg_lock: 1\nchannels:\n- url: https://h/c\nrequest: {specs: [x], pip: [y], digest: " +
            sha256 +
            "}\nclasses:\n  a:\n    platform: linux-64\n    needs: [__cuda >=12]\n"
            "    made_for: [__cuda=12.4=0]\n    packages:\n    - x-1-0.conda\n    foreign: [p]\n"
            "  test/b: {platform: osx-64, packages: [noarch/y-1-py_0.tar.bz2]}\n"
            "packages:\n  x-1-0.conda:\n    url: https://h/c/linux-64/x-1-0.conda\n    md5: " +
            md5 + "\n    depends: [y, __glibc >=2.17]\n    kept: {purls: [a, '1']}\n" +
            "  noarch/y-1-py_0.tar.bz2:\n    url: ./y-1-py_0.tar.bz2\n    subdir: noarch\n    "
            "noarch: false\n" +
            "    channel: null\n    sha256: " + sha256 + "\n" +
            "foreign:\n  p: {kind: pypi, location: https://h/p.whl, name: p, version: '1', kept: "
            "{a: b}}\n"
            "environments: {test: {channels: [c], kept: {o: 1}}}\nkept_for: pixi\nkept: {k: v}\n",
        "version: 7\nplatforms:\n- name: a\n  subdir: linux-64\n  virtual-packages: [__cuda=12]\n"
        "environments:\n  default:\n    channels:\n    - url: https://h/c/\n    options: {o: p}\n"
        "    packages:\n      a:\n      - conda: https://h/c/noarch/x-1-py_0.conda\n      - pypi: "
        "./p\n"
        "      - conda_source: s[1] @ .\npackages:\n- conda: https://h/c/noarch/x-1-py_0.conda\n  "
        "md5: " +
            md5 +
            "\n  timestamp: 1604417213\n  run_exports: {weak: [a >=1]}\n- pypi: ./p\n  name: p\n"
            "- conda_source: s[1] @ .\n  depends: [d]\n",
        "version: 6\nenvironments:\n  default:\n    channels: []\n    packages:\n      osx-64:\n"
        "      - conda: .\n        build: h1\n      - conda: https://h/c/osx-64/x-1-0.conda\n"
        "packages:\n- conda: .\n  name: a\n  build: h1\n- conda: .\n  name: a\n  build: h2\n"
        "- conda: https://h/c/osx-64/x-1-0.conda\n  sha256: " +
            sha256 + "\n",
        "version: 1\nmetadata:\n  content_hash: {linux-64: " + sha256 +
            "}\n  channels: [{url: c, used_env_vars: [T]}]\n  platforms: [linux-64]\n  sources: "
            "[e.yml]\n"
            "package:\n- name: x\n  version: 1.10\n  manager: conda\n  platform: linux-64\n"
            "  dependencies: {y: '>=1', __unix: ''}\n  url: https://h/c/linux-64/x-1.10-0.conda\n"
            "  hash: {md5: " +
            md5 +
            "}\n  category: dev\n  optional: true\n"
            "- name: p\n  version: '2'\n  manager: pip\n  platform: linux-64\n  dependencies: {}\n"
            "  url: https://h/p.whl\n  hash: {sha256: " +
            sha256 + "}\n  optional: false\n",
    };
}

std::string_view fuzz_alphabet() { return "-:{}[],'\"#&*!|>~ \n\t0123456789abcdef_/.\\=<"; }
