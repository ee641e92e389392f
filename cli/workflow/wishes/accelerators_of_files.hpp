#pragma once

#include "libcore/base/error.hpp"
#include "libcore/hardware/asked_spec.hpp"

#include <map>
#include <string>
#include <utility>

namespace gpkg::cli {

/// What files say of accelerators. None goes before another, so that they must agree; where they do
/// not, the command line can say it.
class AcceleratorsOfFiles {
public:
    /// Of which it keeps a reference.
    explicit AcceleratorsOfFiles(const AcceleratorWishes& on_line) : on_line_(on_line) {}

    Result<void> take(const AcceleratorWishes& said, const std::string& file);
    const AcceleratorWishes& together() const { return together_; }

private:
    Result<void> compare(const std::string& name,
                         const std::string& wish,
                         const std::string& file,
                         bool is_settled);

    const AcceleratorWishes& on_line_;
    AcceleratorWishes together_;
    std::map<std::string, std::pair<std::string, std::string>> said_;  ///< what, and the file
};

}  // namespace gpkg::cli
