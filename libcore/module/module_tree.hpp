#pragma once

// A folder of modulefiles:
//
//     ROOT/Core/               modules that every machine can use; `module use` is told this folder
//     ROOT/Core/gpkg/<version> the entry: loading it shows the rooms that fit the machine
//     ROOT/nvidia/ ROOT/x86_64_v3/ ROOT/nvidia-x86_64_v3/ ...
//                              rooms: modules of environments that ask for that of a machine
//     <room>/NAME/VERSION.lua  for Lmod
//     <room>/NAME/VERSION      for Environment Modules
//     <room>/NAME/.version     says which version is the default; both read it
//
// Files that gpkg did not write are never changed.

#include "libcore/module/modulefile.hpp"
#include "libcore/spec/package_record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The room for an environment of these packages: "Core", or what they ask of a machine.
std::string module_room(const std::vector<PackageRecord>& packages);

/// A template as the key module_name has it: "{name}" and the like stand for what `values` has,
/// "{numpy}" for the version of that package. A Usage error, with the names that there are, for
/// others, and for results that are no name of a module.
Result<std::string> module_name_of(std::string_view name_template,
                                   const std::map<std::string, std::string>& values,
                                   const std::vector<PackageRecord>& packages);
/// The same check for a name that somebody gave. "NAME" or "NAME/VERSION", of several parts too.
Result<void> check_module_name(std::string_view name);

/// A module as it is to lie in the tree.
struct ModuleTexts {
    std::string room;
    std::string name;  ///< with the version: "ml/3"
    ModuleOrigin origin;
    std::map<ModuleFormat, std::string> texts;
    unsigned kept_from = 0;  ///< the bits of a mode of those who may not read them
};

ModuleTexts texts_of(const std::string& room, const EnvironmentModule& module);

struct ModuleFile {
    fs::path path;
    std::string room;
    std::string name;  ///< with the version: "ml/3"
    ModuleFormat format = ModuleFormat::Lua;
    ModuleOrigin origin;
    bool is_gone = false;  ///< what it is of is not there any more: another may take its name
};

/// Modules of environments that gpkg wrote below `root`, sorted by path; those of others are left
/// out. None where there is no such folder.
Result<std::vector<ModuleFile>> module_files(const fs::path& root);

/// Whether just those may read a module from whom it is not kept.
bool has_its_readers(const fs::path& file, unsigned kept_from);

struct ModuleChange {
    std::vector<fs::path> written;  ///< those that were the same already are not
    std::vector<fs::path> removed;  ///< earlier modules of the same environment
};

/// Makes the module of an environment what it is to be, and takes away what else `before` has for
/// the same prefix in these formats. A default that named such a one names the new one. Fails, and
/// changes nothing, where the name belongs to another environment, or to a file that gpkg did not
/// write, or where it would be a folder and a file at once.
Result<ModuleChange> write_module(const fs::path& root,
                                  const ModuleTexts& module,
                                  const std::vector<ModuleFormat>& formats,
                                  const std::vector<ModuleFile>& before);

/// Writes the entry where it is not there as it would be.
Result<ModuleChange> write_module_entry(const ModuleEntry& entry,
                                        std::string_view version,
                                        const std::vector<ModuleFormat>& formats);

/// Makes "ml/3" of a room the default among those of its name there.
Result<void> make_default(const fs::path& root, const std::string& room, const std::string& name);

/// Takes a module away, and folders and defaults that have no use without it.
Result<void> remove_module(const fs::path& root, const ModuleFile& file);

}  // namespace gpkg
