"""check_links.py ROOT PAGE...: checks that the files and headings to which pages link exist, and so do the files that
pages name in code, such as `include/seqtrain/trainer.hpp`. A name with a placeholder, such as `tests/<room>`, is not
checked."""

import functools
import re
import sys
from pathlib import Path

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:include|tests|tools|bench|examples|docs|cmake)/[\w./-]+)`")


@functools.cache
def headings(page):
    """Returns the anchors that GitHub gives to a page's headings."""
    anchors = set()
    for title in re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = 1
        while anchor in anchors:
            anchor = re.sub(r"-\d+$", "", anchor) + f"-{number}"
            number += 1
        anchors.add(anchor)
    return anchors


def problems(root, page):
    text = FENCED.sub("", page.read_text())
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue  # on the network
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            yield f"links to {target}, which does not exist"
        elif anchor and file.suffix == ".md" and anchor not in headings(file):
            yield f"links to {target}, but no heading of {file.name} has this name"
    for name in NAMED.findall(text):
        if not (root / name).exists():
            yield f"names {name}, which does not exist"


def main(root, *pages):
    found = [f"{page}: {problem}" for page in map(Path, pages) for problem in problems(Path(root), page.resolve())]
    print("\n".join(found) or f"{len(pages)} pages link to what exists")
    return bool(found)


sys.exit(main(*sys.argv[1:]))
