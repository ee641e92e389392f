#include "libcore/spec/match_spec.hpp"

#include "libcore/spec/package_record.hpp"
#include "libcore/spec/spec_text.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace match_spec_test {
namespace {

MatchSpec spec(std::string_view text) {
    auto parsed = MatchSpec::parse(text);
    if (!parsed) FAIL(parsed.error().message);
    return *parsed;
}

}  // namespace

TEST_CASE("all spellings of CEP 29 have one canonical form", "[spec]") {
    struct Row {
        std::string given, printed;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"pkg",                             "pkg"},
        {"PKG",                             "pkg"},
        {"*",                               "*"},
        {"pkg *",                           "pkg"},
        {"pkg * *",                         "pkg"},
        {"pkg=1.8",                         "pkg=1.8"},
        {"pkg =1.8",                        "pkg=1.8"},
        {"pkg = 1.8",                       "pkg=1.8"},
        {"pkg 1.8.*",                       "pkg=1.8"},
        {"pkg=1.8.*=*",                     "pkg=1.8"},
        {"pkg ==1.8.* *",                   "pkg=1.8"},
        {"pkg 1.8",                         "pkg==1.8"},
        {"pkg==1.8",                        "pkg==1.8"},
        {"pkg ==1.8",                       "pkg==1.8"},
        {"pkg=1.8=*",                       "pkg==1.8"},
        {"pkg 1.8 *",                       "pkg==1.8"},
        {"pkg[version=1.8]",                "pkg==1.8"},
        {"pkg[version==1.8]",               "pkg=1.8"},
        {"pkg=1.8=py_0",                    "pkg==1.8=py_0"},
        {"pkg =1.8=py_0",                   "pkg==1.8=py_0"},
        {"pkg==1.8=py_0",                   "pkg==1.8=py_0"},
        {"pkg ==1.8=*_0",                   "pkg==1.8[build='*_0']"},
        {"pkg 1.8 py_0",                    "pkg==1.8=py_0"},
        {"pkg ==1.8 py_0",                  "pkg==1.8=py_0"},
        {"pkg =1.8 py_0",                   "pkg=1.8[build='py_0']"},
        {"pkg =*=cpu",                      "pkg[build='cpu']"},
        {"pkg >=1.0 , < 2.0 py34_0",        "pkg[version='>=1.0,<2.0',build='py34_0']"},
        {"pkg>=1.0=py34_0",                 "pkg[version='>=1.0',build='py34_0']"},
        {"pkg * *_cpython",                 "pkg[build='*_cpython']"},
        {"pkg 1.8[version=2]",              "pkg==2"},
        {"pkg[name=other]",                 "pkg"},
        {"pkg=1.8,<2",                      "pkg[version='1.8.*,<2']"},
        {"pkg 1.8|1.8.*",                   "pkg[version='==1.8|1.8.*']"},
        {"pkg !=1.8",                       "pkg[version='!=1.8']"},
        {"pkg 1!1.8",                       "pkg==1!1.8"},
        {"pkg>=1!1.8",                      "pkg[version='>=1!1.8']"},
        {"pkg >=1 !164.3095,<1!165",        "pkg[version='>=1!164.3095,<1!165']"},
        {"pkg<3.2.0a0",                     "pkg[version='<3.2.0a0']"},
        {"pkg  >= 11.0",                    "pkg[version='>=11.0']"},
        {"pkg 1.0 # a comment",             "pkg==1.0"},
        {"pkg 1.0 # [x",                    "pkg==1.0"},
        {"pkg[version='>=1'] # a comment",  "pkg[version='>=1']"},
        {"pkg * ^py3[0-9]+_(a|b)$",         "pkg[build='^py3[0-9]+_(a|b)$']"},
        {"pkg ^1\\.[0-9]$ 0",               "pkg[version='^1\\.[0-9]$',build='0']"},
        {"pkg[build='^a[b]::$']",           "pkg[build='^a[b]::$']"},
        {"pkg (1.5|1.6),!=1.6",             "pkg[version='(==1.5|==1.6),!=1.6']"},
        {"py* >=3",                         "py*[version='>=3']"},
        {"^py(thon|py)$ 3.12",              "^py(thon|py)$==3.12"},
        {"conda-forge::pkg",                "conda-forge::pkg"},
        {"conda-forge/linux-64::pkg>=1",    "conda-forge/linux-64::pkg[version='>=1']"},
        {"conda-forge/label/rc::pkg",       "conda-forge/label/rc::pkg"},
        {"conda-*::pkg",                    "pkg[channel='conda-*']"},
        {"c(d)::pkg",                       "pkg[channel='c(d)']"},
        {"conda-forge:ns:pkg",              "conda-forge::pkg"},
        {"::pkg",                           "pkg"},
        {"https://h:8080/c/noarch::pkg",    "https://h:8080/c/noarch::pkg"},
        {"pkg[channel=conda-forge/noarch]", "conda-forge/noarch::pkg"},
        {"pkg[channel=conda-forge, subdir=linux-*]", "conda-forge::pkg[subdir='linux-*']"},
        {"pkg[subdir=linux-64]",            "pkg[subdir='linux-64']"},
        {"pkg[build_number=3]",             "pkg[build_number='==3']"},
        {"pkg[build_number='>=3']",         "pkg[build_number='>=3']"},
        {"pkg[license=MIT build=x]",        "pkg[build='x',license='mit']"},
        {"pkg[track_features='a B']",       "pkg[track_features=['a','b']]"},
        {"pkg[extras=a]",                   "pkg[extras='a']"},
        {"pkg[extras=[a, 'b']]",            "pkg[extras=['a','b']]"},
        // A comma may follow the last.
        {"pkg[extras=[a,]]",                "pkg[extras='a']"},
        {"pkg[extras=['a' , b , ]]",        "pkg[extras=['a','b']]"},
        {"pkg[flags=['cuda',]]",            "pkg[flags='cuda']"},
        {"pkg[track_features=[a,],]",       "pkg[track_features='a']"},
        {"pkg[version='>=2', ]",            "pkg[version='>=2']"},
        {"pkg[flags=[\"cuda\",\"blas:*\"]]", "pkg[flags=['cuda','blas:*']]"},
        {"pkg[when=__unix]",                "pkg[when='__unix']"},
        {"pkg[when=\"python>=3.10\"]",      "pkg[when='python>=3.10']"},
        {"pkg[md5=0123456789abcdef0123456789ABCDEF]", "pkg[md5='0123456789abcdef0123456789abcdef']"},
        {"pkg-1.0-py_0.conda",              "pkg==1.0=py_0[fn='pkg-1.0-py_0.conda']"},
        {"https://h/conda-forge/linux-64/python-3.11.10-h123456_0.conda",
         "https://h/conda-forge/linux-64::python==3.11.10=h123456_0"
         "[url='https://h/conda-forge/linux-64/python-3.11.10-h123456_0.conda']"},
    }));
    // clang-format on
    CAPTURE(row.given);
    const auto parsed = spec(row.given);
    CHECK(parsed.to_string() == row.printed);
    CHECK(spec(parsed.to_string()) == parsed);
}

TEST_CASE("a spec asks its question of a record", "[spec]") {
    PackageRecord record;
    record.name = "numpy";
    record.version = "1.26.4";
    record.build = "py312_mkl_0";
    record.build_number = 3;
    record.subdir = "linux-64";
    record.channel = "https://conda.anaconda.org/conda-forge";
    record.fn = "numpy-1.26.4-py312_mkl_0.conda";
    record.url = record.channel + "/linux-64/" + record.fn;
    record.license = "BSD-3-Clause";
    record.flags = {"cuda", "release", "blas:mkl"};
    record.track_features = {"mkl"};

    struct Row {
        std::string spec;
        bool expected;
    };
    const auto row = GENERATE(values<Row>({
        {"numpy", true},
        {"NumPy", true},
        {"num*", true},
        {"^num(py|ba)$", true},
        {"numba", false},
        {"* 1.26.*", true},
        {"numpy >=1.26,<2", true},
        {"numpy 1.26", false},
        {"numpy=1.26", true},
        {"numpy 1.26.4 PY312_MKL_0", true},
        {"numpy * *_MKL_*", true},
        {"numpy * *_openblas_*", false},
        {"numpy * ^py31[0-9]_mkl_[0-9]+$", true},
        {"numpy * ^mkl$", false},
        {"numpy[build_number=3]", true},
        {"numpy[build_number='>3']", false},
        {"conda-forge::numpy", true},
        {"Conda-Forge::numpy", true},
        {"forge::numpy", false},
        {"conda-*::numpy", true},
        {"https://conda.anaconda.org/conda-forge::numpy", true},
        {"https://conda.anaconda.org/*::numpy", true},
        {"https://elsewhere.org/conda-forge::numpy", false},
        {"conda.anaconda.org::numpy", false},
        {"conda-forge/linux-64::numpy", true},
        {"conda-forge/noarch::numpy", false},
        {"numpy[subdir=linux-*]", true},
        {"numpy[license=bsd-3-clause]", true},
        {"numpy[license=MIT]", false},
        {"numpy[track_features=mkl]", true},
        {"numpy[track_features=nomkl]", false},
        {"numpy[flags=cuda]", true},
        {"numpy[flags=['cuda','blas:*']]", true},
        {"numpy[flags=*]", true},
        {"numpy[flags=blas]", false},
        {"numpy[flags=rocm]", false},
        {"numpy-1.26.4-py312_mkl_0.conda", true},
        {"https://conda.anaconda.org/conda-forge/linux-64/numpy-1.26.4-py312_mkl_0.conda", true},
        {"https://mirror.org/conda-forge/linux-64/numpy-1.26.4-py312_mkl_0.conda", false},
    }));
    CAPTURE(row.spec);
    CHECK(spec(row.spec).matches(record) == row.expected);
}

TEST_CASE("the name in a spec is what the parser says", "[spec]") {
    struct Row {
        std::string spec, name;
    };
    const auto row = GENERATE(values<Row>({
        {"numpy", "numpy"},
        {"numpy >=1.2,<2", "numpy"},
        {"numpy<2", "numpy"},
        {"numpy=1.2=py_0", "numpy"},
        {"numpy~=1.2", "numpy"},
        {"numpy[version='>=1']", "numpy"},
        {" numpy", "numpy"},
        {"NumPy 1.*", "numpy"},
        {"a/b::numpy", "numpy"},
        {"r-base.x_1-y", "r-base.x_1-y"},
        {"__glibc >=2.17", "__glibc"},
        {"py*", ""},
        {"*", ""},
        {"^py.*$", ""},
        {"]]", ""},
        {"", ""},
    }));
    CAPTURE(row.spec);
    CHECK(name_in_spec(row.spec) == row.name);
    const auto parsed = MatchSpec::parse(row.spec);
    CHECK((parsed && parsed->has_one_name() ? parsed->name : "") == row.name);
}

TEST_CASE("a spec that names one channel can have it asked", "[spec]") {
    const auto [text, names_one] = GENERATE(table<std::string, bool>({
        {"numpy", false},
        {"conda-forge::numpy", true},
        {"conda-forge/linux-64::numpy", true},
        {"numpy[channel=nvidia/label/cuda-12.4.0]", true},
        {"https://host/t/tok/mine::numpy", true},
        {"*::numpy", false},
        {"conda-*::numpy", false},
        {"numpy[channel='^conda.*$']", false},
    }));
    CAPTURE(text);
    CHECK(MatchSpec::parse(text).value().has_one_channel() == names_one);
}

TEST_CASE("a CPU meets what asks for one that it descends from", "[spec]") {
    struct Row {
        std::string text, cpu;
        bool expected;
    };
    const auto row = GENERATE(values<Row>({
        {"__archspec 1.* zen5", "zen5", true},
        {"__archspec 1.* zen4", "zen5", true},
        {"__archspec 1.* x86_64_v4", "zen5", true},
        {"__archspec 1.* zen5", "zen4", false},
        {"__archspec 1.* skylake", "zen5", false},
        {"__archspec 1.* ^(x86_64_v3|haswell|skylake)$", "arrowlake", true},
        {"__archspec 1.* ^(x86_64_v4|icelake)$", "arrowlake", false},
        {"__archspec 1.* ^(x86_64_v4|zen5)$", "zen9", false},
        {"__archspec 1.* zen9", "zen9", true},
        {"__archspec 2.* zen4", "zen5", false},
    }));
    PackageRecord machine;
    machine.name = "__archspec";
    machine.version = "1";
    machine.build = row.cpu;
    CAPTURE(row.text, row.cpu);
    CHECK(spec(row.text).matches(machine) == row.expected);
    // Builds of packages are texts.
    machine.name = "archspec";
    CHECK_FALSE(spec("archspec 1.* x86_64").matches(machine));
}

TEST_CASE("a machine that has any version meets every lower bound", "[spec]") {
    struct Row {
        std::string text;
        bool expected;
    };
    const auto row = GENERATE(values<Row>({
        {"__cuda", true},
        {"__cuda >=12.4", true},
        {"__cuda >=999.9", true},
        {"__cuda >2!12", true},
        {"__cuda >=11,!=12.1", true},
        {"__cuda <13", false},
        {"__cuda 12.*", false},
        {"__cuda ==12.4", false},
    }));
    PackageRecord machine;
    machine.name = "__cuda";
    machine.version = "any";
    machine.build = "0";
    CAPTURE(row.text);
    CHECK(spec(row.text).matches(machine) == row.expected);
    // Elsewhere it is a version like others, below every number.
    machine.name = "cuda";
    CHECK_FALSE(spec("cuda >=0").matches(machine));
}

TEST_CASE("a spec as it is typed is read as the same spec", "[spec]") {
    for (const auto* text : {"a",
                             "a=1.2",
                             "a==1.2",
                             "a>=1.2,<2",
                             "a=1,>=1.1",
                             "a 1.*,!=1.5",
                             "a 1.2|1.3",
                             "a (1.2|>=2),<3",
                             "a ^1[.].*$",
                             "a=1.2=b*",
                             "a==1.2=b_0",
                             "a * b*",
                             "a >=1 b*",
                             "conda-forge::a=1,>=1.1",
                             "a[channel='^file.*ch$']",
                             "a[channel='conda-*',version='1.*']",
                             "a[build_number='>=2']",
                             "a[extras=[x,y]]"}) {
        const auto spec = MatchSpec::parse(text).value();
        const auto typed = as_typed(spec);
        INFO(text << " -> " << typed);
        const auto back = MatchSpec::parse(typed);
        REQUIRE(back);
        CHECK(back->to_string() == spec.to_string());
    }
    CHECK(as_typed(MatchSpec::parse("a=1,>=1.1").value()) == "a 1.*,>=1.1");
}

TEST_CASE("specs are written without brackets where they need none", "[spec]") {
    CHECK(written("__cuda_arch[version=\">=7.0,<8|>=8.0,<9\"]") == "__cuda_arch >=7.0,<8|>=8.0,<9");
    CHECK(written("numpy >=1.2") == "numpy >=1.2");
    CHECK(written("a[md5=0123456789abcdef0123456789abcdef]") ==
          "a[md5=0123456789abcdef0123456789abcdef]");
    CHECK(written("a[version=") == "a[version=");
}

}  // namespace match_spec_test
