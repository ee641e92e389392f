#!/usr/bin/env python3
"""messages.py ROOT: the messages that docs/troubleshooting.md names are messages of the program.

The first cell of a row in a table with the heading "Message" holds one or more messages in backquotes. `...` stands for a
part that differs from case to case. Each fragment between these parts must be in a string literal of the sources, or in
one with another literal or a number in place of a {}.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()


def literals():
    for folder in ("libcore", "cli", "solver", "virtual-packages"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            source = re.sub(r"^\s*//.*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            source = re.sub(r'"\s*\n\s*"', "", source)  # one text on several lines
            for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
                yield re.sub(r"\\(.)", r"\1", literal)


def messages(page):
    """Line numbers and messages."""
    in_table = False
    for number, line in enumerate(page.split("\n"), 1):
        if not line.startswith("|"):
            in_table = False
        elif re.match(r"\| *Message *\|", line):
            in_table = True
        elif in_table and not re.match(r"\|[-|: ]+\|$", line):
            found = re.findall(r"`([^`]+)`", line.split("|")[1])
            yield from ((number, message) for message in found or [None])


texts = "\n".join(sorted(set(literals())))
composed = [text.split() for text in texts.split("\n") if re.search(r"\{[^{}]*\}", text) and " " in text]


def is_composed(fragment):
    if len(fragment.split()) < 3:
        return False
    for words in composed:
        for start in range(len(words)):
            for end in range(start + 2, min(len(words), start + len(fragment.split())) + 1):
                window = words[start:end]
                if all("{" in word for word in window) or all("{" not in word for word in window):
                    continue
                pattern = "(.+)".join(map(re.escape, re.split(r"\{[^{}]*\}", " ".join(window))))
                found = re.fullmatch(pattern, fragment)
                if found and all(part.isdigit() or part in texts for part in found.groups()):
                    return True
    return False


count, wrong = 0, []
for number, message in messages((root / "docs/troubleshooting.md").read_text(encoding="utf-8")):
    count += 1
    if message is None:
        wrong.append(f"docs/troubleshooting.md:{number}: no message in backquotes")
        continue
    for fragment in filter(None, (part.strip() for part in message.split("..."))):
        if fragment not in texts and not is_composed(fragment):
            wrong.append(f"docs/troubleshooting.md:{number}: the program has no message with '{fragment}'")
print("\n".join(wrong + [f"{count} messages, {len(wrong)} wrong"]))
sys.exit(1 if wrong else 0)
