#include "libcore/hardware/asked_spec.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Choice = AcceleratorChoice;

TEST_CASE("a spec says which accelerator it is wanted for", "[spec]") {
    struct Row {
        std::string_view text;
        std::string spec;
        std::optional<Choice> accelerator;
    };
    const auto row = GENERATE(values<Row>({
        {"tensorflow", "tensorflow", std::nullopt},
        {"tensorflow[accel=none]", "tensorflow", Choice::None},
        {"tensorflow>=2.16[accel='nvidia']", "tensorflow>=2.16", Choice::Nvidia},
        {"jax[accel=amd, extras=[cli]]", "jax[extras=[cli]]", Choice::Amd},
        {"jax[extras=[cli],accel=conda]", "jax[extras=[cli]]", Choice::Conda},
        {"jax[version='>=0.4', accel=auto, build=\"*cuda*\"]",
         "jax[version='>=0.4', build=\"*cuda*\"]",
         Choice::Auto},
        {"conda-forge::t=2=^py3[0-9]+_.*$", "conda-forge::t=2=^py3[0-9]+_.*$", std::nullopt},
    }));
    INFO(row.text);
    const auto asked = AskedSpec::parse(row.text);
    REQUIRE(asked);
    CHECK(asked->spec == MatchSpec::parse(row.spec).value());
    CHECK(asked->accelerator == row.accelerator);
}

TEST_CASE("what is no accelerator is told with what may be meant", "[spec]") {
    const auto message = [](std::string_view text) {
        const auto asked = AskedSpec::parse(text);
        REQUIRE_FALSE(asked);
        return asked.error().to_string();
    };
    CHECK(message("t[accel=cuda]").find("did you mean nvidia?") != std::string::npos);
    CHECK(message("t[accel=rocm]").find("did you mean amd?") != std::string::npos);
    CHECK(message("t[accel=nvidai]").find("did you mean nvidia?") != std::string::npos);
    CHECK(AskedSpec::parse("t[accel=cpu]")->accelerator == AcceleratorChoice::None);
    CHECK(message("t[accel=tpu]").find("auto, nvidia, amd, none or conda") != std::string::npos);
    CHECK(message("t[acel=none]").find("did you mean accel?") != std::string::npos);
    CHECK(message("t[accel=none, accel=amd]").find("given twice") != std::string::npos);
    CHECK(message("t[accel=[none, amd]]").find("one value") != std::string::npos);
    CHECK(message("t[accel=]").find("t[accel=]") != std::string::npos);
}

TEST_CASE("extras as pip writes them are told with what works", "[spec]") {
    struct Row {
        std::string_view text, hint;
    };
    constexpr std::string_view kOfPip = "list pip extras under 'pip:' in an environment.yml";
    const auto row = GENERATE_COPY(values<Row>({
        {"jax[cuda]", "for that build, use jax[accel=nvidia]"},
        {"jax[cuda12_local]>=0.4", "for that build, use jax[accel=nvidia]"},
        {"tensorflow[and-cuda]", "for that build, use tensorflow[accel=nvidia]"},
        {"torch[rocm6]", "for that build, use torch[accel=amd]"},
        {"t [k8s, cpu]", "for that build, use t[accel=none]"},
        {"dask[complete,test]", "dask[extras=[complete, test]]"},
    }));
    INFO(row.text);
    const auto asked = AskedSpec::parse(row.text);
    REQUIRE_FALSE(asked);
    CHECK(asked.error().message.find("has no value") != std::string::npos);
    CHECK(asked.error().hint.find(row.hint) != std::string::npos);
    CHECK(asked.error().hint.find(kOfPip) != std::string::npos);
}

TEST_CASE("what is no list of extras keeps its own hint", "[spec]") {
    const auto text = GENERATE(as<std::string>{}, "jax[cuda", "t[a=1, b]", "t[]", "t[Ab>1]");
    INFO(text);
    const auto asked = AskedSpec::parse(text);
    REQUIRE_FALSE(asked);
    CHECK(asked.error().hint.find("extras") == std::string::npos);
}

TEST_CASE("hardware selectors say in which order accelerators are tried", "[spec]") {
    Asked asked;
    for (const auto* text : {"hardware-fallback-cpu-x86_64",
                             "jax",
                             "hardware-select-gpu-nvidia",
                             "hardware-select-gpu-amd",
                             "hardware-fallback-cpu-aarch64"})
        REQUIRE(asked.take(text, "linux-64"));
    CHECK(asked.specs.size() == 1);
    CHECK(asked.accelerators.all == std::vector{Choice::Nvidia, Choice::Amd});
    CHECK(asked.accelerators.fallbacks == std::vector{Choice::None});
    CHECK_FALSE(asked.take("hardware-select-gpu-intel", "linux-64"));
    CHECK_FALSE(asked.take("hardware-fallback-cpu-x86", "linux-64"));

    // On another architecture its own CPU is the fallback.
    Asked arm;
    REQUIRE(arm.take("hardware-fallback-cpu-x86_64", "linux-aarch64"));
    CHECK(arm.accelerators.fallbacks.empty());
    REQUIRE(arm.take("hardware-fallback-cpu-aarch64", "linux-aarch64"));
    CHECK(arm.accelerators.fallbacks == std::vector{Choice::None});
    CHECK(arm.accelerators.unheeded().empty());
}

TEST_CASE("every hardware selector means something or is refused", "[spec]") {
    struct Row {
        std::string_view text;
        std::string said;  ///< of what --accel would be; "elsewhere", or an end of the hint
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"hardware-select-gpu-nvidia",   "nvidia"},
        {"Hardware-Select-GPU-NVIDIA",   "nvidia"},
        {"hardware-select-gpu-amd",      "amd"},
        {"hardware-select-cpu",          "none"},
        {"hardware-select-cpu-x86_64",   "none"},
        {"hardware-select-cpu-aarch64",  "elsewhere"},
        {"hardware-select-cpu-arm64",    "elsewhere"},
        {"hardware-select-cpu-ppc64le",  "elsewhere"},
        {"hardware-fallback-cpu",        "auto,none"},
        {"hardware-fallback-cpu-x86_64", "auto,none"},
        {"hardware-fallback-cpu-aarch64", "elsewhere"},
        {"hardware-fallback-gpu-nvidia", "auto,nvidia"},
        {"hardware-select-gpu-nvida",    "did you mean hardware-select-gpu-nvidia?"},
        {"hardware-select-cpu-arm46",    "did you mean hardware-select-cpu-arm64 or hardware-select-cpu?"},
        {"hardware-select-cpu-x86-64",   "did you mean hardware-select-cpu-x86_64 or hardware-select-cpu?"},
        {"hardware-fallback-cpu-aarch46", "did you mean hardware-fallback-cpu-aarch64 or hardware-fallback-cpu?"},
        {"hardware-fallbck-cpu",         "did you mean hardware-fallback-cpu?"},
        {"hardware-selct-cpu-aarch64",   "did you mean hardware-select-cpu-aarch64?"},
        {"hardware-selct-gpu-nvidia",    "did you mean hardware-select-gpu-nvidia?"},
        {"hardware-select-gpu-nvidia=1", "did you mean hardware-select-gpu-nvidia?"},
        {"hardware-select-gpu-intel",
         "use hardware-select-gpu-nvidia, hardware-select-gpu-amd, hardware-select-cpu, hardware-select-cpu-x86_64, "
         "hardware-select-cpu-aarch64, hardware-select-cpu-arm64 or hardware-select-cpu-ppc64le"},
    }));
    // clang-format on
    INFO(row.text);
    Asked asked;
    const auto taken = asked.take(row.text, "linux-64");
    CHECK(asked.specs.empty());
    if (!taken) {
        CHECK(taken.error().hint == row.said);
        return;
    }
    const auto unheeded = asked.accelerators.unheeded();
    CHECK(to_string(asked.accelerators) == (row.said == "elsewhere" ? "" : row.said));
    CHECK(unheeded == (row.said == "elsewhere" ? std::vector{std::string(row.text)}
                                               : std::vector<std::string>{}));
}
