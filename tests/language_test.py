#!/usr/bin/env python3
"""How plain the words of gpkg are: texts of the program, documentation and comments.

usage: language_test.py [--list texts|docs|comments]

Counts turns of phrase that stand in the way of a reader ("what is ...", "of which", "is told", "is no ...") per 1,000
words, and the sentences of the documentation that are longer than 35 words. Well-edited projects have 0.1 to 0.7. A text
without these phrases can still be bad: the test is a guard, not a goal.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("libcore", "cli", "solver", "virtual-packages")

MOST_PHRASES = {"texts": 0.3, "docs": 0.3}  # per 1,000 words
MOST_LONG_SENTENCES = 0.03
LONG_SENTENCE = 35
# Comments may only become plainer: lower this number when they do.
MOST_PHRASES["comments"] = 20.3

PHRASES = re.compile(
    r"""\b(?:
    what\ (?:is|was|are|were|it|they|has|have|had|nobody|none|no|comes|goes|stays|others|else)
    |of\ (?:what|which|those|several|so\ many)|in\ (?:place\ of|its\ place)
    |where\ (?:it|that|there|none|no|such|nothing|nobody)
    |(?:is|are|was|were|be)\ (?:told|no|none|said)|not\ said|nothing\ (?:is|was)\ (?:said|told)
    |heed\w*|unheeded|has\ (?:a|no)\ say|as\ far\ as|(?:is|are)\ (?:for|to)\ (?:none|nobody)|goes\ not
    |a\ word\ of|of\ its\ own|be\ it|by\ way\ of|anew|at\ hand|what's\ needed|the\ one\ (?:that|before)
    |such\ (?:a|an)\ one|wants\ it|come\ to\ be
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def texts_of(source):
    """String literals with at least three words."""
    source = re.sub(r"//.*", "", source)
    source = re.sub(r'"\s*\n\s*"', "", source)  # one text on several lines
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
        if " " in literal and len(re.findall(r"[A-Za-z]{2,}", literal)) > 2:
            yield literal


def comments_of(source):
    """Comments, those on consecutive lines as one."""
    block = []
    for line in source.split("\n") + [""]:
        if whole := re.match(r"\s*//[/!]?<?\s?(.*)", line):
            block.append(whole.group(1))
            continue
        if trailing := re.search(r"\s//[/!]?<?\s(.*)", line):
            yield trailing.group(1)
        if block:
            yield " ".join(block)
            block = []


def paragraphs_of(page):
    """Prose of a Markdown page: paragraphs, list items, headings and table cells, also indented; no code."""
    page = re.sub(r"^( *)(```|~~~).*?^ *\2$|<!--.*?-->|<a id=.*?</a>", "", page, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    prose = re.sub(r"`[^`]*`", "X", prose)
    prose = re.sub(r"^ *\|[-:| ]+\|$", "", prose, flags=re.MULTILINE)
    prose = re.sub(r"^ *(?:[-*]|\d+\.|:|#+) +", "\n\n", prose, flags=re.MULTILINE)
    prose = re.sub(r"^ *\|.*\|$", lambda row: row[0].replace("|", "\n\n") + "\n\n", prose, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", prose):
        if joined := " ".join(paragraph.split()):
            yield joined


def long_sentences(paragraph):
    sentences = re.split(r"(?<=[.!?:;])\s+(?=[A-Z`\"X])", paragraph)
    lengths = [len(re.findall(r"[A-Za-z][A-Za-z'-]*", sentence)) for sentence in sentences]
    real = [(length, sentence) for length, sentence in zip(lengths, sentences) if length > 3]
    return len(real), [sentence for length, sentence in real if length > LONG_SENTENCE]


def files_of(kind):
    if kind == "docs":
        return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.[ch]pp"))]


def pieces_of(kind):
    split = {"texts": texts_of, "comments": comments_of, "docs": paragraphs_of}[kind]
    for path in files_of(kind):
        for piece in split(path.read_text(encoding="utf-8")):
            yield path.relative_to(ROOT), piece


def measure(kind, listed):
    """Whether the phrases of a kind are few enough."""
    words = hits = 0
    for path, piece in pieces_of(kind):
        found = PHRASES.findall(piece)
        words += len(piece.split())
        hits += len(found)
        if found and listed == kind:
            print(f"{path}: {', '.join(found)}: {piece[:160]}")
    rate = 1000 * hits / max(words, 1)
    print(f"{kind:9}{words:8} words, {rate:5.1f} such phrases per 1,000 (at most {MOST_PHRASES[kind]})")
    return rate <= MOST_PHRASES[kind]


def measure_sentences(listed):
    count, long = 0, []
    for path, paragraph in pieces_of("docs"):
        number, found = long_sentences(paragraph)
        count += number
        long += [(path, sentence) for sentence in found]
    share = len(long) / max(count, 1)
    print(f"docs     {count:8} sentences, {100 * share:4.1f} % over {LONG_SENTENCE} words (at most {100 * MOST_LONG_SENTENCES:.0f} %)")
    if listed == "docs":
        for path, sentence in long:
            print(f"{path}: long: {sentence[:160]}")
    return share <= MOST_LONG_SENTENCES


def main():
    listed = sys.argv[2] if sys.argv[1:2] == ["--list"] else ""
    well = [measure(kind, listed) for kind in ("texts", "docs", "comments")]
    well.append(measure_sentences(listed))
    if not all(well):
        sys.exit("the words are not plain enough: tests/language_test.py --list texts|docs|comments shows the places")


main()
