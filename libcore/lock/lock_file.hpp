#pragma once

// What a lock file says, whatever its format: exact packages for one or more classes of machines.
// A class is what one solve decided: the packages of one environment on machines of one kind.
// Reading and writing files is lock_format.hpp; deciding what is locked, or which class fits a
// machine, is not done here.

#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpkg {

/// What a file says that gpkg has no use for: keys, and their values as YAML in one line.
using KeptYaml = std::map<std::string, std::string>;

inline constexpr std::string_view kDefaultEnvironment = "default";

/// Whose lock it is, also once it is written in another format.
enum class LockTool { Gpkg, Pixi, CondaLock };

struct LockedChannel {
    std::string url;  ///< without slash at its end; in files of conda-lock often a name
    std::vector<std::string> used_env_vars;  ///< that stand for secrets in the URL

    friend bool operator==(const LockedChannel&, const LockedChannel&) = default;
};

struct LockedPackage {
    PackageRecord record;
    KeptYaml kept;

    friend bool operator==(const LockedPackage&, const LockedPackage&) = default;
};

/// A package that gpkg keeps and does not install: of PyPI, or one that pixi builds from source.
struct ForeignPackage {
    std::string kind;      ///< "pypi"; sources of pixi: "conda_source", in version 6 "conda"
    std::string location;  ///< a URL, or a path as the file has it
    std::string name;
    std::string version;
    std::string sha256;  ///< lowercase hex; may be empty
    std::string md5;     ///< lowercase hex; may be empty
    KeptYaml kept;
    bool is_editable = false;  ///< of a folder: changes there are changes of what is installed

    friend bool operator==(const ForeignPackage&, const ForeignPackage&) = default;
    friend bool operator<(const ForeignPackage&, const ForeignPackage&);
};

/// "__cuda=12.4=0". Version and build may be empty: not said. Flags are those of its record, as
/// "__cuda_arch=8.6=0[flags=[8.6,9.0]]" has of a machine with two GPUs.
struct LockedVirtualPackage {
    std::string name;
    std::string version;
    std::string build;
    std::vector<std::string> flags{};

    static std::optional<LockedVirtualPackage> parse(std::string_view text);
    std::string to_string() const;
    friend bool operator==(const LockedVirtualPackage&, const LockedVirtualPackage&) = default;
};

/// What a machine is, by its virtual packages.
using LockedMachine = std::vector<LockedVirtualPackage>;

LockedMachine locked_machine(const std::vector<PackageRecord>& virtual_packages);
std::vector<PackageRecord> as_virtual_packages(const LockedMachine& machine);

/// What was asked for, as it may differ from machine to machine: by selectors of an
/// environment.yml.
struct LockWishes {
    std::vector<std::string> specs{};  ///< MatchSpecs, in the order in which they were named
    std::vector<std::string> pip{};    ///< requirements that pip is to read
    std::map<std::string, std::string> variables{};  ///< of the environment
    std::string accelerator{};                       ///< as --accel has it; may be empty

    friend bool operator==(const LockWishes&, const LockWishes&) = default;
};

/// What was asked for.
struct LockRequest {
    std::vector<std::string> channels;  ///< by their URLs; those of the file may be more
    LockWishes wishes;                  ///< of the classes that have none of their own
    std::string channel_priority;       ///< "strict", "flexible", "disabled"; may be empty
    std::string exclude_newer;          ///< a moment as it was said; may be empty
    std::string digest;                 ///< request_digest() when the packages were decided
    std::string name{};                 ///< of the environment, as its file has it; may be empty

    friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

/// All that the environment has on such machines, also where its file lists only what comes on top
/// of another.
struct LockedClass {
    std::string name;  ///< "a100", or the platform where nothing else tells classes apart
    std::string environment{kDefaultEnvironment};
    std::string platform;               ///< the subdir, "linux-64"
    std::optional<LockWishes> wishes;   ///< in place of the request's, where they are others here
    std::vector<std::string> needs;     ///< the least a machine must have: "__cuda >=12"
    LockedMachine made_for;             ///< the machine it was solved for
    std::vector<std::size_t> packages;  ///< places in LockFile::packages
    std::vector<std::size_t> foreign;   ///< places in LockFile::foreign
    /// Others that have the same answer, as far as `made_for` alone does not lead them to it.
    std::vector<LockedMachine> also_made_for{};
    std::string accelerator{};  ///< of several that the request asks for, the one taken

    bool is_empty() const { return packages.empty() && foreign.empty(); }

    friend bool operator==(const LockedClass&, const LockedClass&) = default;
};

/// What an environment says for itself.
struct LockedEnvironment {
    std::optional<std::vector<LockedChannel>> channels;  ///< absent: those of the file
    KeptYaml kept;

    friend bool operator==(const LockedEnvironment&, const LockedEnvironment&) = default;
};

struct LockFile {
    std::vector<LockedChannel> channels;  ///< the most important first
    LockRequest request;
    std::vector<LockedClass> classes;
    /// Only those that say something for themselves, or have no class.
    std::map<std::string, LockedEnvironment> environments;
    /// Each URL once. Some may be in no class: what pixi builds its sources with.
    std::vector<LockedPackage> packages;
    std::vector<ForeignPackage> foreign;
    LockTool tool = LockTool::Gpkg;  ///< what is kept is for its format alone
    KeptYaml kept;                   ///< of the file as a whole

    /// Whether its environments are called categories, and the default one main.
    bool has_categories() const { return tool == LockTool::CondaLock; }
    /// Whether records are no more than names, places, dependencies and checksums.
    bool has_bare_records() const { return tool == LockTool::CondaLock; }

    /// Null when there is none of that name.
    const LockedClass* find_class(std::string_view name,
                                  std::string_view environment = kDefaultEnvironment) const;
    /// Those of the default environment.
    std::vector<const LockedClass*> default_classes() const;
    std::vector<PackageRecord> records_of(const LockedClass& locked) const;
    const LockWishes& wishes_of(const LockedClass& locked) const;
    const std::vector<LockedChannel>& channels_of(const std::string& environment) const;

    /// The lock of some of its classes, with what is in those: as if nothing else had been locked.
    LockFile only(std::vector<LockedClass> some) const;

    /// Brings everything into the one order that files are written in and read as: packages by file
    /// name, classes by environment and name. Places stay right.
    void sort();

    friend bool operator==(const LockFile&, const LockFile&) = default;
};

/// Puts packages into a lock file, each once.
class PackageAdder {
public:
    explicit PackageAdder(LockFile& lock);
    /// Its place. An error when the URL is there with another checksum.
    Result<std::size_t> add(LockedPackage package);
    std::size_t add(ForeignPackage package);

private:
    LockFile& lock_;
    std::unordered_map<std::string, std::size_t> places_;
    std::map<ForeignPackage, std::size_t> foreign_places_;
};

/// The SHA-256 of channels and request in a canonical text: another one means that the packages
/// were decided for another request.
std::string request_digest(const LockFile& lock);

/// Whether the request was changed since the packages were decided for it.
bool is_edited(const LockFile& lock);

}  // namespace gpkg
