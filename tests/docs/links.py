#!/usr/bin/env python3
"""links.py ROOT: links of README.md, docs/ and recipes/ lead to files and to headings in them; mkdocs.yml and an index have
every page."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^\s*(```|~~~).*?^\s*\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(path):
    """As mkdocs and GitHub make them of headings."""
    found = set()
    text = re.sub(r"^\s*(```|~~~).*?^\s*\1\s*$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        heading, own = re.match(r"(.*?)(?:\s*\{#([\w-]+)\})?$", heading).groups()
        name = re.sub(r"[^\w\s-]", "", re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        found |= {own or re.sub(r"[-\s]+", "-", name), re.sub(r"\s", "-", name)}
    return found | set(re.findall(r'(?:id|name)="([^"]+)"', text))


broken = []
linked = {}  # pages by the page that links to them
pages = [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "recipes").rglob("*.md"))]
for page in pages:
    text = without_code(page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", text) + re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.MULTILINE):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        to = (page.parent / file).resolve() if file else page
        linked.setdefault(page, set()).add(to)
        if not to.exists():
            broken.append(f"{page.relative_to(root)}: no file {target}")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            broken.append(f"{page.relative_to(root)}: no heading {target}")
listed = set(re.findall(r"[\w/.-]+\.md", (root / "mkdocs.yml").read_text(encoding="utf-8")))
there = {str(page.relative_to(root / "docs")) for page in (root / "docs").rglob("*.md")}
broken += [f"mkdocs.yml: no page {page}" for page in sorted(listed - there)]
broken += [f"mkdocs.yml: lacks docs/{page}" for page in sorted(there - listed)]
for page in (root / "docs").rglob("*.md"):
    index = page.parent / "index.md"
    if page == index or not index.exists():
        index = root / "docs/index.md"
    if page not in (index, *linked.get(index, ())):
        broken.append(f"{index.relative_to(root)}: no link to {page.relative_to(root)}")
print("\n".join(broken + [f"{len(pages)} pages, {len(broken)} broken links"]))
sys.exit(1 if broken else 0)
