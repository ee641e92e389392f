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
        recipe["requirements"] = {"run": depends}
    if tests:
        recipe["tests"] = tests
    recipe["about"] = about
    recipe["extra"] = extra
    return recipe
