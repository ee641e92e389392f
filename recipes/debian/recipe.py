"""A recipe.yaml (CEP 13, CEP 14) from what is known of a package."""

import json
import re

from layout import PREFIX_MARK


def text_of(recipe: dict) -> str:
    """YAML with each scalar in double quotes where plain text could be read as something else."""
    lines = ["# Made by recipes/debian/generate; changes here are lost.", "schema_version: 1"]
    for key, value in recipe.items():
        lines.append("")
        lines += _lines(key, value, "")
    return "\n".join(lines) + "\n"


def _lines(key, value, indent):
    if isinstance(value, dict):
        return [f"{indent}{key}:"] + [line for item in value.items() for line in _lines(*item, indent + "  ")]
    if isinstance(value, list):
        return [f"{indent}{key}:"] + [line for item in value for line in _item(item, indent + "  ")]
    return [f"{indent}{key}: {_scalar(value)}"]


def _item(value, indent):
    if not isinstance(value, dict):
        return [f"{indent}- {_scalar(value)}"]
    lines = [line for item in value.items() for line in _lines(*item, indent + "  ")]
    return [f"{indent}- {lines[0].lstrip()}"] + lines[1:]


def _scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    words = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", ""}
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*/?", value) and value.lower() not in words:
        return value
    return json.dumps(value, ensure_ascii=False)


def recipe_of(name, version, marked: list[str], depends, rpaths, missing, tests, about, extra) -> dict:
    """`marked`: files of the tree that hold PREFIX_MARK. The tree is copied as it is; the rest is the builder's.
    `missing`: libraries that it needs and nothing has."""
    script = ['cp -a tree/. "$PREFIX"/']
    if marked:
        files = " ".join(f'"$PREFIX/{path}"' for path in marked)
        script.append(f'sed -i "s|{PREFIX_MARK}|$PREFIX|g" {files}')
    recipe = {
        "package": {"name": name, "version": version},
        "source": [{"path": "tree", "target_directory": "tree", "use_gitignore": False}],
        "build": {
            "number": 0,
            "script": script,
            "dynamic_linking": {"rpaths": rpaths} | ({"missing_dso_allowlist": missing} if missing else {}),
        },
    }
    if depends:
        recipe["requirements"] = {"run": list(depends)}
    if tests:
        recipe["tests"] = tests
    recipe["about"] = about
    recipe["extra"] = extra
    return recipe


def add_slim_package(recipe, key, files: dict[str, list[str]], gone: set[str]):
    """A second variant, `none`, whose `files` do not name these libraries, and which does not depend on `gone`."""
    commands = ["patchelf " + " ".join(f"--remove-needed {soname}" for soname in sonames) + f' "$PREFIX/{path}"'
                for path, sonames in sorted(files.items())]
    recipe["build"]["script"].append({"if": f'{key} == "none"', "then": commands})
    run = recipe["requirements"]["run"]
    only_full = [spec for spec in run if spec.split()[0] in gone]
    recipe["requirements"]["run"] = [spec for spec in run if spec not in only_full]
    recipe["requirements"]["run"].append({"if": f'{key} == "full"', "then": only_full})
    _mark_slim(recipe, key)


def add_slim_user(recipe, key, package):
    """A second variant, `none`, that needs that of `package`."""
    run = recipe["requirements"]["run"]
    spec = next(spec for spec in run if spec.split()[0] == package)
    _, _, version = spec.partition(" ")
    slim = f"{package} {version or '*'} no_{key}_*"
    run[run.index(spec)] = {"if": f'{key} == "none"', "then": slim, "else": spec}
    _mark_slim(recipe, key)


def _mark_slim(recipe, key):
    # Dependencies tell builds apart by their strings, requests by flags too.
    recipe["build"]["string"] = f'${{{{ "no_{key}_" if {key} == "none" else "" }}}}h${{{{ hash }}}}_{recipe["build"]["number"]}'
    recipe["build"]["flags"] = [{"if": f'{key} == "none"', "then": f"{key}:none"}]
    recipe["build"]["variant"] = {"use_keys": [key],
                                  "down_prioritize_variant": f'${{{{ 1 if {key} == "none" else 0 }}}}'}


def slim_variants(key) -> str:
    """The variants.yaml beside such a recipe."""
    return f"# Made by recipes/debian/generate; changes here are lost.\n{key}: [full, none]\n"
