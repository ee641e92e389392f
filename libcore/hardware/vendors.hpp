#pragma once

// The vendors of GPUs: what gpkg knows of each, as data. A vendor is a row of one table; code loops
// over the rows. What only one vendor has (PTX, Tegra, compute capabilities) is in cuda*.hpp and
// gpu_targets.hpp.

#include <span>
#include <string_view>

namespace gpkg {

enum class Accelerator { None, Nvidia, Amd };

/// Which builds to take where those of one version are for different accelerators.
enum class AcceleratorChoice {
    Auto,    ///< first those for the GPUs that the machine has, else those for none
    Nvidia,  ///< only those for NVIDIA's, where there are any
    Amd,
    None,   ///< none that is for a GPU
    Conda,  ///< whatever the build numbers say
};

/// A package whose version is that of the toolkit.
struct ToolkitPackage {
    enum class Says {
        Release,  ///< the very release: cuda-version 12.9
        Major,    ///< its major version: pytorch-cuda 12.1 is used with parts of 12.5
        AtLeast,  ///< that release or a newer one of its major version, as parts do
    };
    std::string_view name;
    Says says = Says::AtLeast;
};

/// A part with versions of its own: from a version on, of this major version of the toolkit.
struct PartNumbering {
    std::string_view name;
    std::string_view from;
    int major;
};

struct Vendor {
    using Names = std::span<const std::string_view>;

    Accelerator accelerator = Accelerator::None;
    AcceleratorChoice choice = AcceleratorChoice::None;
    std::string_view name;     ///< "nvidia"
    std::string_view title;    ///< "NVIDIA"
    std::string_view toolkit;  ///< "CUDA": as in "a CUDA build"
    std::string_view word;     ///< "cuda": of flags (CEP 45), values of `accel`, names of classes

    // Virtual packages.
    std::string_view driver{};    ///< "__cuda": its driver is there
    std::string_view device{};    ///< "__cuda_arch": a GPU, with what it runs
    std::string_view software{};  ///< "__rocm": a folder, which may be anywhere without a GPU
    /// The version of `driver` is the newest release of the toolkit that the driver runs.
    bool driver_tells_release = false;

    // Words of flags and of build strings.
    Names words{};            ///< "gpu"
    Names word_beginnings{};  ///< "cuda"
    Names release_words{};    ///< before a release: "cu" of "cu126"
    Names code_flags{};       ///< of flags for GPU code: "sm" of "sm:90a"

    // Packages.
    Names packages{};         ///< parts of its toolkit and libraries
    Names beginnings{};       ///< of the names of more of these
    Names without_gpu{};      ///< parts that need no GPU: what looks for CUDA and does without
    Names build_selectors{};  ///< not parts; they select builds of others: "pytorch-gpu"
    std::span<const ToolkitPackage> toolkit_packages{};
    /// Parts whose names begin so are numbered as the toolkit is, but for these.
    std::string_view numbered_beginning{};
    Names numbered_otherwise{};
    std::span<const PartNumbering> numberings{};  ///< by part, the oldest version first

    // The toolkit.
    int first_major = 0;  ///< that builds are for
    int last_major = 0;   ///< that is known or comes next
    /// From this major version on what is built with a release runs with newer ones of its major
    /// version; before, with that release alone.
    int first_compatible_major = 0;

    bool has_virtual_package(std::string_view package) const {
        return !package.empty() && (package == driver || package == device || package == software);
    }
    /// Whether a package is a part of its toolkit or one of its libraries: "libcublas", "nccl".
    bool has_part(std::string_view package) const;
    const ToolkitPackage* find_toolkit_package(std::string_view package) const;
};

/// All vendors of GPUs, in the order in which messages name them.
std::span<const Vendor> vendors();
/// The same behind a row for CPUs, of which only names and words are set.
std::span<const Vendor> accelerator_rows();
const Vendor& row_of(Accelerator accelerator);

bool is_one_of(std::string_view name, Vendor::Names names);
bool begins_with_one_of(std::string_view name, Vendor::Names beginnings);

}  // namespace gpkg
