#include "libcore/module/modulefile.hpp"

#include "libcore/module/modulefile_internal.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("a modulefile tells whose it is, whatever the names hold", "[module]") {
    const std::vector<ModuleOrigin> origins{
        {"/apps/envs/ml", "ml", "abc", ""},
        {"/a b/\"quoted\"\n\\x", "/a b/\"quoted\"\n\\x", "abc", "ml/1"},
    };
    for (const auto& origin : origins) {
        EnvironmentModule module;
        module.origin = origin;
        module.name = "ml";
        for (const auto format : {ModuleFormat::Lua, ModuleFormat::Tcl})
            CHECK(origin_of_modulefile(modulefile(module, format)) == origin);
    }
}

TEST_CASE("files of others are nobody's modules", "[module]") {
    for (const auto* text : {"",
                             "#%Module\nsetenv A b\n",
                             "-- gpkg module 1: {",
                             "-- gpkg module 1: {}",
                             "help([[gpkg module 1: {\"prefix\": \"/x\"}]])\n                    ",
                             "-- gpkg module 1: [1]",
                             "-- gpkg module 2: {\"prefix\": \"/x\"}"}) {
        CAPTURE(text);
        CHECK_FALSE(origin_of_modulefile(text));
    }
    CHECK_FALSE(
        origin_of_modulefile(entry_modulefile({"/m", "/bin", "/c.yaml"}, ModuleFormat::Lua)));
    CHECK_FALSE(
        origin_of_modulefile(entry_modulefile({"/m", "/bin", "/c.yaml"}, ModuleFormat::Tcl)));
}

TEST_CASE("quoted text is one word", "[module]") {
    CHECK(lua_quoted("a\"b\\c\nd\x7f") == R"("a\"b\\c\010d\127")");
    CHECK(tcl_quoted("a\"b\\c\nd$e[f]{g}") == R"("a\"b\\c\nd\$e\[f\]\{g\}")");
}

TEST_CASE("values that hold the user's home are put together when the module is loaded",
          "[module]") {
    EnvironmentModule module;
    module.origin.prefix = "/p";
    module.name = "ml";
    module.activation.effects = {{"A",
                                  VariableEffect::How::Set,
                                  std::string(kUsersHome) + "/.cache:" + std::string(kUsersHome)}};
    CHECK(modulefile(module, ModuleFormat::Lua)
              .ends_with("set(\"A\", \"\" .. (os.getenv(\"HOME\") or \"\") .. \"/.cache:\" .. "
                         "(os.getenv(\"HOME\") or \"\") .. \"\")\n"));
    CHECK(modulefile(module, ModuleFormat::Tcl)
              .ends_with("gpkg_set A \"[gpkg_value HOME]/.cache:[gpkg_value HOME]\"\n"));
}
