"""The generator of recipes/debian: names, versions, licences, links, edits, ELF facts."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

RECIPES = Path(__file__).resolve().parents[3] / "recipes"
sys.path.insert(0, str(RECIPES / "debian"))

import bytecode  # noqa: E402
import closure  # noqa: E402
import debs  # noqa: E402
import elf  # noqa: E402
import fetch  # noqa: E402
import layout  # noqa: E402
import names  # noqa: E402
import recipe  # noqa: E402
import slim  # noqa: E402

TABLE = tomllib.loads((RECIPES / "debian" / "channel.toml").read_text())


class Names(unittest.TestCase):
    def test_packages(self):
        for debian, modules, expected in [
            ("python3-torch", True, "torch"),
            ("python3-yaml", True, "pyyaml"),
            ("python3-dev", False, "python3-dev"),
            ("libstdc++6", False, "libstdcxx6"),
            ("libgtk2.0-0", False, "libgtk2.0-0"),
        ]:
            self.assertEqual(names.conda_name(debian, TABLE["names"], modules), expected)
        with self.assertRaises(names.BadName):
            names.conda_name("x" * 65, {}, False)

    def test_versions(self):
        for debian, expected in [
            ("1.13.1+dfsg-4", "1.13.1"),
            ("1:1.2.13.dfsg-1", "1.2.13"),
            ("2:0.164.3095+gitbaee400-3", "0.164.3095+1.gitbaee400"),
            ("0.0~git20220617.082deff-1+deb12u1", "0.0.git20220617.082deff"),
            ("3.1-20221030-2", "3.1.20221030"),
            ("20250419~deb12u2", "20250419"),
            ("2.4+20151223.gitfa8646d.1-2+b2", "2.4+20151223.gitfa8646d.1"),
            ("5.3.128~dfsg-2", "5.3.128"),
            ("1.1.1+dfsg.1-16.1+deb12u1", "1.1.1"),
            ("3.11~", "3.11"),
            ("1.0~rc2-1", "1.0.rc2"),
            ("1.0~20230101-1", "1.0.dev20230101"),
            ("2026f-0+deb12u1", "2026f"),
        ]:
            self.assertEqual(names.conda_version(debian), expected, debian)

    def test_order_is_condas(self):
        ascending = ["0.0.git2022", "0.0", "0.0.1", "1.0.dev5", "1.0.rc2", "1.0", "1.0+1.git1", "1.2", "1.10", "2026e", "2026f",
                     "2026"]
        keys = [names.version_key(version) for version in ascending]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(names.version_key("1.0.0"), names.version_key("1"))

    def test_dependencies(self):
        field = "libc6 (>= 2.34), python3:any, libblas3 | libblas.so.3, libfoo (= 1:2.0-3) [amd64]"
        found = [[(one.name, one.relation, one.version) for one in item] for item in names.dependency_field(field)]
        self.assertEqual(found, [[("libc6", ">=", "2.34")], [("python3", "", "")],
                                 [("libblas3", "", ""), ("libblas.so.3", "", "")], [("libfoo", "=", "1:2.0-3")]])

    def test_licenses(self):
        for debian, expected in [
            ("Expat", "MIT"),
            ("LGPL-2.1+", "LGPL-2.1-or-later"),
            ("GPL-2", "GPL-2.0-only"),
            ("LGPLv3+", "LGPL-3.0-or-later"),
            ("BSD-3-clause or GPL-2", "BSD-3-Clause OR GPL-2.0-only"),
            ("public-domain", "LicenseRef-public-domain"),
        ]:
            self.assertEqual(names.spdx(debian), expected)
        text = "Format: x\n\nFiles: *\nCopyright: someone\nLicense: BSD-3-clause\n\nFiles: debian/*\nLicense: GPL-2\n"
        self.assertEqual(names.license_of(text), "BSD-3-Clause")
        self.assertIsNone(names.license_of("This package was debianized by someone.\n"))


class Layout(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.table = {"python": "3.11", "leave_out": {"lib/udev/**": "device rules"}, "concatenate": [], "file": [],
                      "link": [], "edit": [], "env": {}}

    def package(self, name, files=(), links=(), postinst=""):
        root = self.folder / name
        for path, text in dict(files).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for path, target in dict(links).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        deb = fetch.Deb(name, "1-1", "amd64", "0" * 64, 1, self.folder / "x.deb")
        return debs.Package(deb, root, {}, {"postinst": postinst}, {}, {})

    def laid_out(self, *packages, provider={}):
        made = layout.Layout(self.table, layout.Mapper("amd64", "3.11"), provider)
        plans = {package.name: made.plan(package.name, [package]) for package in packages}
        made.resolve_links(plans)
        self.notes = made.notes
        return plans

    def test_where_files_go(self):
        mapper = layout.Mapper("amd64", "3.11")
        for debian, expected in [
            ("usr/lib/x86_64-linux-gnu/libz.so.1", "lib/libz.so.1"),
            ("lib/x86_64-linux-gnu/libz.so.1", "lib/libz.so.1"),
            ("usr/lib/python3/dist-packages/numpy/__init__.py", "lib/python3.11/site-packages/numpy/__init__.py"),
            ("usr/lib/python3.11/os.py", "lib/python3.11/os.py"),
            ("usr/sbin/tool", "bin/tool"),
            ("etc/ssl/openssl.cnf", "etc/ssl/openssl.cnf"),
            ("usr/share/doc/x", "share/doc/x"),
            ("usr/lib/x86_64-linux-gnu", "lib"),
            ("var/lib/x", None),
        ]:
            self.assertEqual(mapper(debian), expected)

    def test_links(self):
        plans = self.laid_out(
            self.package("one", {"usr/lib/x86_64-linux-gnu/libx.so.1.2": "x"},
                         {"usr/lib/x86_64-linux-gnu/libx.so.1": "libx.so.1.2",
                          "usr/lib/python3/dist-packages/m/libx.so": "../../../x86_64-linux-gnu/libx.so.1",
                          "usr/share/one": "/etc/one", "usr/share/gone": "/usr/share/nowhere",
                          "usr/share/local": "/etc/localtime"}),
            self.package("two", {"etc/one/a": "a", "lib/udev/rules": "r"}))
        self.assertEqual({path: entry.target for path, entry in plans["one"].items()}, {
            "lib/libx.so.1.2": None, "lib/libx.so.1": "libx.so.1.2",
            "lib/python3.11/site-packages/m/libx.so": "../../../libx.so.1", "share/one": "../etc/one"})
        self.assertEqual(set(plans["two"]), {"etc/one/a"})
        self.assertEqual({note["path"] for note in self.notes}, {"share/gone", "share/local", "lib/udev/rules"})

    def test_hard_links_and_set_id(self):
        package = self.package("one", {"usr/bin/a": "#!/bin/sh\n", "usr/bin/su": "x"})
        (package.root / "usr/bin/b").hardlink_to(package.root / "usr/bin/a")
        (package.root / "usr/bin/su").chmod(0o4755)
        plan = self.laid_out(package)["one"]
        self.assertEqual({path: entry.target for path, entry in plan.items()}, {"bin/a": None, "bin/b": "a"})

    def test_alternatives(self):
        script = "update-alternatives --install /usr/bin/ed \\\n  ed /usr/bin/ed-one 10 --slave /usr/bin/ex ex /usr/bin/ex-one\n"
        self.assertEqual(list(debs.parse_alternatives(script)),
                         [("usr/bin/ed", "usr/bin/ed-one", 10), ("usr/bin/ex", "usr/bin/ex-one", 10)])
        one = self.package("one", {"usr/bin/ed-one": "1", "usr/bin/ex-one": "1"}, postinst=script)
        two = self.package("two", {"usr/bin/ed-one2": "2"},
                           postinst="update-alternatives --install /usr/bin/ed ed /usr/bin/ed-one2 5")
        plans = self.laid_out(one, two, provider={"usr/bin/ed": "one", "usr/bin/ex": "one"})
        self.assertEqual(plans["one"]["bin/ed"].target, "ed-one")
        self.assertEqual(set(plans["two"]), {"bin/ed-one2"})

    def test_scripts_name_the_python_of_the_prefix(self):
        files = {"usr/bin/a": "#!/usr/bin/python3 -E\nx\n", "usr/bin/b": "#! /usr/bin/env python3\n", "usr/bin/c": "#!/bin/sh\n"}
        plan = self.laid_out(self.package("one", files))["one"]
        self.assertEqual(plan["bin/a"].content(), b"#!@PREFIX@/bin/python3.11 -E\nx\n")
        self.assertEqual(plan["bin/b"].content(), b"#!@PREFIX@/bin/python3.11\n")
        self.assertEqual(plan["bin/c"].content(), b"#!/bin/sh\n")

    def test_an_edit_that_does_not_fit_stops(self):
        self.table["edit"] = [{"package": "one", "path": "etc/a", "old": "x", "new": "y"}]
        self.assertEqual(self.laid_out(self.package("one", {"etc/a": "axa"}))["one"]["etc/a"].content(), b"aya")
        with self.assertRaisesRegex(layout.LayoutError, "one: etc/a: found 2 times, expected once: x"):
            self.laid_out(self.package("one", {"etc/a": "xx"}))

    def test_two_packages_with_one_file(self):
        plans = self.laid_out(self.package("one", {"etc/a": "1"}), self.package("two", {"etc/a": "2"}))
        self.assertEqual(layout.Layout.collisions(plans), ["etc/a: in one and in two"])

    def test_written_tree(self):
        self.table["env"] = {"one": {"DATA": "share/one"}}
        package = self.package("one", {"etc/a": "1"}, {"etc/b": "a"})
        layout.write(self.laid_out(package)["one"], self.folder / "tree")
        self.assertEqual((self.folder / "tree/etc/b").readlink(), Path("a"))
        self.assertEqual(json.loads((self.folder / "tree/etc/conda/env_vars.d/one.json").read_text()),
                         {"DATA": "@PREFIX@/share/one"})

    def test_bytecode_does_not_depend_on_times(self):
        plans = {"one": {"lib/python3.11/m.py": layout.Entry(text="x = 1\n"),
                         "lib/python3.11/bad.py": layout.Entry(text="x = = 1\n")}}
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        if python != "3.11":
            with self.assertRaises(RuntimeError):
                bytecode.add(plans, "3.11", self.folder)
            return
        bytecode.add(plans, "3.11", self.folder)
        self.assertEqual(set(plans["one"]), {"lib/python3.11/m.py", "lib/python3.11/bad.py",
                                             "lib/python3.11/__pycache__/m.cpython-311.pyc"})
        header = plans["one"]["lib/python3.11/__pycache__/m.cpython-311.pyc"].content()[:16]
        self.assertEqual(header[4:8], b"\3\0\0\0")  # by hash, checked


class Closures(unittest.TestCase):
    def test_what_is_kept(self):
        def package(name, depends="", elves={}, modules=(), provides=""):
            deb = fetch.Deb(name, "1.0-1", "amd64", "0" * 64, 1, Path("x"))
            control = {"Depends": depends, "Provides": provides}
            return debs.Package(deb, Path("x"), control, {}, {path: facts for path, facts in elves.items()}, {}, list(modules))

        table = {"roots": ["app"], "host": ["libc6"], "data": {"data": "its data"}, "extra_depends": {"liba": ["certs"]},
                 "missing_libraries": {}, "dropped": {"scripts": "maintainer scripts only"}}
        made = closure.Closure([
            package("app", "liba (>= 1.0), python3-m, data, scripts, libv",
                    {"bin/app": elf.Elf(needed=["liba.so.1", "libc.so.6"], glibc="2.9")}),
            package("liba", "libc6", {"lib/liba.so.1": elf.Elf(soname="liba.so.1", needed=["libb.so"], glibc="2.34")}),
            package("libb", "", {"lib/libb.so": elf.Elf(needed=["libgone.so.1"])}),
            package("libc6", "", {"lib/libc.so.6": elf.Elf(soname="libc.so.6")}),
            package("python3-m", modules=["m"]),
            package("data"), package("scripts"), package("certs"), package("other", provides="libv"),
        ], table)
        self.assertEqual(set(made.kept), {"app", "liba", "libb", "python3-m", "data", "certs"})
        self.assertEqual(set(made.depends("app")), {"liba", "python3-m", "data"})
        self.assertEqual([bound.version for bound in made.depends("app")["liba"]], ["1.0"])
        self.assertEqual(made.glibc("app"), "2.9")
        self.assertEqual(made.why_dropped("scripts"), "maintainer scripts only")
        self.assertEqual(made.unexplained_missing(), ["libgone.so.1"])

    def test_cycles(self):
        graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set()}
        self.assertEqual(closure.cycles(graph), [["a", "b", "c"]])


class ElfFacts(unittest.TestCase):
    def test_not_elf(self):
        self.assertIsNone(elf.read(__file__))

    def test_truncated(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\x7fELF\2\1\1" + bytes(9) + b"\3\0" + bytes(14) + b"\x40" + bytes(21) + b"\x38\0\1\0" + bytes(4))
            file.flush()
            with self.assertRaisesRegex(elf.BadElf, "damaged ELF file"):
                elf.read(file.name)

    @unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
    def test_like_readelf(self):
        files = [Path(sys.executable).resolve(), *sorted(Path("/usr/lib/x86_64-linux-gnu").glob("lib[a-d]*.so.*"))[:40]]
        for file in files:
            text = subprocess.run(["readelf", "-dVW", file], capture_output=True, text=True, check=True).stdout
            facts = elf.read(file)
            if facts is None:
                continue
            self.assertEqual(facts.needed, re.findall(r"\(NEEDED\).*\[(.*)\]", text), file)
            self.assertEqual([facts.soname] if facts.soname else [], re.findall(r"\(SONAME\).*\[(.*)\]", text), file)
            needs = text.partition("Version needs section")[2]
            versions = re.findall(r"Name: GLIBC_([0-9.]+)", needs) + ["2.36"] * ("GLIBC_ABI_DT_RELR" in needs)
            self.assertEqual(facts.glibc, max(versions, key=elf.release, default=None), file)


@unittest.skipUnless(shutil.which("cc"), "no compiler is installed")
class Slim(unittest.TestCase):
    """Three libraries; `user` is linked with `plain` and `other`, and uses the first."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.link("plain", "int plain(void) { return 1; }")
        self.link("other", "int other(void) { return 2; }")
        self.link("user", "int plain(void); int user(void) { return plain(); }", "plain", "other")
        elves = {name: {f"lib/lib{name}.so": elf.read(self.folder / f"lib/lib{name}.so")}
                 for name in ("plain", "other", "user")}
        control = {"user": {"Depends": "plain, other"}}
        self.packages = [debs.Package(fetch.Deb(name, "1", "amd64", "0", 0, Path()), self.folder, control.get(name, {}),
                                      {}, elves[name], {}) for name in elves]
        table = {"host": ["libc6"], "data": {}, "extra_depends": {}, "missing_libraries": {"libc.so.6": ""},
                 "dropped": {}, "roots": ["user"]}
        self.closure = closure.Closure(self.packages, table)

    def link(self, name, code, *libraries):
        (self.folder / "lib").mkdir(exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-xnone", "-Wl,--no-as-needed", f"-Wl,-soname,lib{name}.so",
                        "-L", self.folder / "lib", *[f"-l{one}" for one in libraries],
                        "-o", self.folder / "lib" / f"lib{name}.so"], input=code.encode(), check=True)

    def test_symbols(self):
        wanted, defined = elf.symbols(self.folder / "lib/libuser.so")
        self.assertIn("plain", wanted)
        self.assertIn("user", defined)
        self.assertNotIn("other", wanted | defined)

    def test_what_is_not_used_may_go(self):
        user = self.packages[2:]
        found = slim.find(self.closure, user, ["libother*"])
        self.assertEqual(found, {("user", "lib/libuser.so"): ["libother.so"]})
        slim.check(self.closure, found, user)
        self.assertEqual(slim.only_for(self.closure, user, found), {"other"})

    def test_what_is_used_stays(self):
        user = self.packages[2:]
        found = slim.find(self.closure, user, ["libplain*"])
        with self.assertRaisesRegex(slim.Used, "lib/libuser.so uses libplain.so: plain"):
            slim.check(self.closure, found, user)
        with self.assertRaisesRegex(slim.Used, "no file in user needs libgone"):
            slim.find(self.closure, user, ["libgone*"])


class Recipes(unittest.TestCase):
    def test_two_variants(self):
        made = recipe.recipe_of("lib", "1", [], ["libbig >=2", "libz >=1"], ["lib/"], [], [], {}, {})
        recipe.add_slim_package(made, "media", {"lib/a.so": ["libbig.so.2"]}, {"libbig"})
        text = recipe.text_of(made)
        self.assertIn(r'''- "patchelf --remove-needed libbig.so.2 \"$PREFIX/lib/a.so\""''', text)
        self.assertIn('    - "libz >=1"\n    - if: "media == \\"full\\""\n      then:\n        - "libbig >=2"\n', text)
        user = recipe.recipe_of("user", "1", [], ["lib ==1"], ["lib/"], [], [], {}, {})
        recipe.add_slim_user(user, "media", "lib")
        self.assertIn('then: "lib ==1 no_media_*"\n      else: "lib ==1"\n', recipe.text_of(user))

    def test_text(self):
        made = recipe.recipe_of("one", "1.10", ["bin/a"], ["libz >=1"], ["lib/"], ["libgone.so"], [], {"summary": "x: y"}, {"n": "0x1"})
        text = recipe.text_of(made)
        self.assertIn('  version: "1.10"\n', text)
        self.assertIn('  run:\n    - "libz >=1"\n', text)
        self.assertIn('  summary: "x: y"\n', text)
        self.assertIn("    use_gitignore: false\n", text)
        self.assertIn("    missing_dso_allowlist:\n      - libgone.so\n", text)
        self.assertIn(r'''    - "sed -i \"s|@PREFIX@|$PREFIX|g\" \"$PREFIX/bin/a\""''', text)

    def test_words_that_yaml_reads_as_something_else_are_quoted(self):
        for word in ["yes", "No", "null", "1.0", "0x1", "1e5", "", "- a", "a: b", "a #b", "~", "*x", "true"]:
            self.assertTrue(recipe._scalar(word).startswith('"'), word)
        for word in ["torch", "lib/", "BSD-3-Clause AND MIT", "python3.11"]:
            self.assertEqual(recipe._scalar(word), word)


if __name__ == "__main__":
    unittest.main()
