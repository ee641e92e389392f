#include "libcore/plan/cuda_plan.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/plan/cuda_cover_internal.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>

using namespace gpkg;

namespace cuda_plan_test {
namespace {

std::vector<Version> toolkits(std::string_view text) {
    std::vector<Version> all;
    for (const auto one : split(text, ',')) all.push_back(parse_toolkit(one).value());
    return all;
}

/// "8.0,9.0a@12.4": with the driver's CUDA.
std::vector<CudaDevice> devices(std::string_view text) {
    std::vector<CudaDevice> all;
    for (const auto one : split(text, ',')) {
        const auto parts = split(one, '@');
        CudaDevice device{CudaTarget::parse(parts[0]).value()};
        if (parts.size() > 1) device.driver = Version::parse(parts[1]).value();
        all.push_back(std::move(device));
    }
    return all;
}

std::string planned(const Result<std::vector<CudaBuild>>& plan) {
    if (!plan) return plan.error().message + " | " + plan.error().hint;
    std::string text;
    for (const auto& build : *plan)
        text += fmt::format("{}: {}  ", build.toolkit.to_string(), build.arch_list());
    return text.substr(0, text.size() - std::min<std::size_t>(2, text.size()));
}

}  // namespace

TEST_CASE("the fewest builds and targets for devices", "[plan]") {
    struct Row {
        std::string devices, toolkits;
        PtxUse ptx;
        std::string plan;
    };
    const auto never = PtxUse::Never;
    const auto rest = PtxUse::Rest;
    const auto anywhere = PtxUse::Anywhere;
    const auto row = GENERATE_COPY(values<Row>({
        {"7.5,8.0,8.6,9.0,12.0", "12.9", never, "12.9: 7.5;8.0;9.0;12.0"},
        {"8.6,8.9", "12.9", never, "12.9: 8.6"},
        // 6.0 is gone from 13.0, and 12.0 came with 12.8.
        {"6.0,12.0", "11.8,12.9,13.0", never, "12.9: 6.0;12.0"},
        {"7.5,12.0", "11.8,12.9,13.0", never, "13.0: 7.5;12.0"},
        {"6.0,12.0", "11.8,13.0", never, "11.8: 6.0  13.0: 12.0"},
        // Of two builds each may serve 7.5; together with 7.0 it costs nothing.
        {"7.0,7.5,12.0", "11.8,13.0", never, "11.8: 7.0  13.0: 12.0"},
        {"9.0,9.0a", "12.9", never, "12.9: 9.0a"},
        {"10.0a,10.3", "13.0", never, "13.0: 10.0a;10.3"},
        // Orin is a Tegra.
        {"8.0,8.7,8.9", "12.9", never, "12.9: 8.0;8.7"},
        {"12.0", "12.4", rest, "12.4: 9.0+PTX"},
        {"8.0,12.0", "12.4", rest, "12.4: 8.0+PTX"},
        {"8.0,9.0,12.0", "12.4", rest, "12.4: 8.0;9.0+PTX"},
        {"8.0,9.0,12.0", "12.4", anywhere, "12.4: 8.0+PTX"},
        {"8.8,8.9", "12.9", rest, "12.9: 8.6+PTX"},
        // A driver for CUDA 11 runs no CUDA 12, one for 12.4 all of it, and compiles none of 12.9.
        {"7.0@11.4,8.0", "11.8,12.9", never, "11.8: 7.0;8.0"},
        {"7.0@11.4,12.0", "11.8,12.9", never, "11.8: 7.0  12.9: 12.0"},
        {"8.0@12.4", "12.9", never, "12.9: 8.0"},
        {"8.0,9.0@12.4", "12.9", anywhere, "12.9: 8.0;9.0"},
        {"8.0,9.0@12.9", "12.9", anywhere, "12.9: 8.0+PTX"},
        {"6.0", "13.0", never, "6.0: CUDA 13.0 cannot compile code for it | use --cuda 12.9"},
        {"12.0",
         "12.4",
         never,
         "12.0: CUDA 12.4 cannot compile code for it | use --cuda 13.0, or --ptx-rest to let the "
         "driver compile it"},
        {"7.0@11.4",
         "12.9",
         never,
         "7.0: CUDA 12.9 needs a newer driver (this one supports CUDA 11.4) | use --cuda 11.4, or "
         "a "
         "newer driver"},
        {"12.0@12.8",
         "12.4,13.0",
         never,
         "12.0: CUDA 12.4 cannot compile code for it; CUDA 13.0 needs a newer driver (this one "
         "supports CUDA 12.8) | use --cuda 12.8, or a newer driver"},
    }));
    CAPTURE(row.devices, row.toolkits);
    CudaPlanOptions options;
    options.toolkits = toolkits(row.toolkits);
    options.ptx = row.ptx;
    CHECK(planned(plan_cuda(devices(row.devices), options)) == row.plan);
}

TEST_CASE("more that can be asked of a plan", "[plan]") {
    CudaPlanOptions options;
    options.toolkits = toolkits("13.0,11.8,12.9,12.9");
    const auto wanted = devices("7.0,7.5,8.6,12.0");
    CHECK(planned(plan_cuda(wanted, options)) == "12.9: 7.0;8.6;12.0");
    options.exact = true;
    CHECK(planned(plan_cuda(wanted, options)) == "12.9: 7.0;7.5;8.6;12.0");
    options.exact = false;
    options.every_toolkit = true;
    CHECK(planned(plan_cuda(wanted, options)) ==
          "11.8: 7.0;8.6  12.9: 7.0;8.6;12.0  13.0: 7.5;8.6;12.0");
    options.every_toolkit = false;
    options.future = true;
    const auto plan = plan_cuda(wanted, options).value();
    CHECK(plan[0].arch_list() == "7.0;8.6;12.0+PTX");
    CHECK(plan[0].cmake_list() == "70-real;86-real;120");
    CHECK_FALSE(service_of(plan[0], {{60}}));
    CHECK(service_of(plan[0], {{89}})->by == CudaTarget{86});
    CHECK_FALSE(service_of(plan[0], {{121}}, true)->natively);
    options.toolkits = toolkits("11.8,13.0");
    options.most_builds = 1;
    CHECK(
        planned(plan_cuda(wanted, options)) ==
        "2 builds are needed (CUDA 11.8, 13.0), but --max-builds is 1 | builds with only CUDA 11.8 "
        "do not cover 12.0");
    CHECK(plan_cuda({}, options)->empty());
}

TEST_CASE("no fewer builds or targets would do", "[plan]") {
    using Code = std::pair<Version, CudaTarget>;
    std::mt19937 random(2024);
    const auto known = toolkits("11.1,11.8,12.4,12.9,13.0");
    const auto capabilities =
        devices("6.0,7.0,7.2,7.5,8.0,8.6,8.7,8.8,8.9,9.0,9.0a,10.0,10.3,12.0");
    const auto drivers = toolkits("11.1,12.4,12.9,13.0");
    for (int round = 0; round < 300; ++round) {
        std::vector<CudaDevice> wanted;
        for (auto count = 1 + random() % 5; count > 0; --count) {
            wanted.push_back(capabilities[random() % capabilities.size()]);
            if (random() % 3 == 0) wanted.back().driver = drivers[random() % drivers.size()];
        }
        CudaPlanOptions options;
        for (auto count = 1 + random() % 3; count > 0; --count)
            options.toolkits.push_back(known[random() % known.size()]);
        options.ptx = static_cast<PtxUse>(random() % 3);
        options.exact = random() % 4 == 0;

        const auto is_native = [&](const std::vector<Code>& code, const CudaDevice& device) {
            return std::any_of(code.begin(), code.end(), [&](const Code& one) {
                return serves_natively(one.first, one.second, device, options.exact);
            });
        };
        std::vector<Code> all;
        for (const auto& toolkit : options.toolkits) {
            for (const auto target : targets_of(toolkit)) all.emplace_back(toolkit, target);
        }
        // Whether the code serves all devices, where toolkits in `within` are there.
        const auto serves_all = [&](const std::vector<Code>& code,
                                    const std::vector<Code>& within) {
            return std::all_of(wanted.begin(), wanted.end(), [&](const CudaDevice& device) {
                if (is_native(code, device)) return true;
                if (options.ptx == PtxUse::Never ||
                    (options.ptx == PtxUse::Rest && is_native(within, device)))
                    return false;
                return std::any_of(code.begin(), code.end(), [&](const Code& one) {
                    return serves_as_ptx(one.first, one.second, device);
                });
            });
        };
        const auto plan = plan_cuda(wanted, options);
        CAPTURE(planned(plan), round);
        CHECK(plan.has_value() == serves_all(all, all));
        if (!plan) continue;
        std::vector<Code> code;
        std::vector<Code> within;
        for (const auto& build : *plan) {
            for (const auto target : build.sass) code.emplace_back(build.toolkit, target);
            for (const auto target : targets_of(build.toolkit))
                within.emplace_back(build.toolkit, target);
        }
        for (const auto& device : wanted)
            CHECK(std::any_of(plan->begin(), plan->end(), [&](const CudaBuild& build) {
                return service_of(build, device, options.exact).has_value();
            }));
        // Fewer builds: no single toolkit, where there are two; no two where there are three.
        for (std::size_t mask = 1; mask < (1U << options.toolkits.size()); ++mask) {
            std::set<std::string> names;
            std::vector<Code> some;
            for (std::size_t i = 0; i < options.toolkits.size(); ++i) {
                if ((mask >> i & 1U) == 0) continue;
                names.insert(options.toolkits[i].to_string());
                for (const auto target : targets_of(options.toolkits[i]))
                    some.emplace_back(options.toolkits[i], target);
            }
            if (names.size() < plan->size()) CHECK_FALSE(serves_all(some, some));
        }
        // Fewer targets, with the same toolkits.
        std::vector<std::size_t> chosen;
        const auto try_fewer = [&](const auto& self, std::size_t next) -> bool {
            std::vector<Code> some;
            for (const auto place : chosen) some.push_back(within[place]);
            if (serves_all(some, within)) return true;
            if (chosen.size() + 1 == code.size()) return false;
            for (; next < within.size(); ++next) {
                chosen.push_back(next);
                if (self(self, next + 1)) return true;
                chosen.pop_back();
            }
            return false;
        };
        if (!code.empty() && code.size() <= 4) CHECK_FALSE(try_fewer(try_fewer, 0));
    }
}

}  // namespace cuda_plan_test
