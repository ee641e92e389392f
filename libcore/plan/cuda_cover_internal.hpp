#pragma once

// The fewest targets of given toolkits that serve given devices.

#include "libcore/plan/cuda_plan.hpp"

#include <map>
#include <vector>

namespace gpkg {

/// Whether code of a toolkit for a target runs on the device as machine code, and as PTX.
bool serves_natively(const Version& toolkit, CudaTarget code, const CudaDevice& device, bool exact);
bool serves_as_ptx(const Version& toolkit, CudaTarget code, const CudaDevice& device);

/// Of one set of toolkits.
struct CudaCover {
    std::vector<std::set<CudaTarget>> targets;  ///< by toolkit
    std::size_t unserved = 0;                   ///< devices
    std::size_t on_ptx = 0;                     ///< devices that nothing serves natively

    std::size_t size() const;
};

CudaCover least_cover(const std::vector<CudaDevice>& devices,
                      const std::vector<Version>& toolkits,
                      PtxUse ptx,
                      bool exact);

}  // namespace gpkg
