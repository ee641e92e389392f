"""Hooks of mkdocs: the search also works where pages are opened as files, without a server."""

import pathlib
import re

from mkdocs.structure.files import Files


def on_files(files, config):
    return Files([file for file in files if not file.src_path.startswith("site/")])


def on_page_read_source(page, config):
    """Titles are read from the first line: comments for the tests go, and those before blocks of code."""
    source = pathlib.Path(page.file.abs_src_path).read_text(encoding="utf-8")
    source = re.sub(r"^ *<!-- not run: \w+ -->\n", "", source, flags=re.MULTILINE)
    return re.sub(r"^(?:<!--.*?-->\s*)+", "", source, flags=re.DOTALL)


def on_post_build(config):
    search = pathlib.Path(config["site_dir"]) / "search"
    index = (search / "search_index.json").read_text(encoding="utf-8")
    text = f"var __search = {{ index: Promise.resolve({index}) }}\n"
    (search / "search_index.js").write_text(text, encoding="utf-8")
