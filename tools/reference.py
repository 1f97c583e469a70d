#!/usr/bin/env python3
"""Writes the API reference, made of the docstrings by Doxygen, into build/reference: a page for each room.

reference.py --check fails in place of that if Doxygen warns about a docstring, or if a public name has no
sentence. Such a name is a class, a struct, a concept, an enum, a function, an alias or a constant. The names in
`detail` and in `src/` are not public. A member needs no sentence if its name and type say all: data, constructors,
operators, observers' `on`, and functions without arguments. Other member functions should have one; no room may get
more that have none than it had."""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/seqtrain"
OUT = ROOT / "build/reference"

# The names without a sentence that a room may still have. Lower a number when you have written some.
NAMES = {"checkpoint": 4, "serve": 15}
# The member functions with arguments and without a sentence that a room may still have.
MEMBERS = {
    "checkpoint": 4, "cli": 4, "core": 18, "data": 9, "dist": 7, "gcs": 10, "http": 2, "hub": 6, "kernels": 16,
    "log": 4, "metrics": 5, "model": 53, "optim": 2, "page": 2, "report": 5, "run": 2, "serve": 8, "sink": 30,
    "tensor": 5, "text": 36, "train": 7, "weights": 9}

WARNING = re.compile(r"^(?P<file>.+?):(?P<line>\d+): warning: (?P<text>.*)$")
UNDOCUMENTED = re.compile(r"(?:Compound|Member) (?P<name>.*?)"
                          r"(?: \((?P<kind>[a-z ]+)\) of (?P<scope>\w+) (?P<owner>.*))? is not documented\.$")

SETTINGS = """
PROJECT_NAME = seqtrain
OUTPUT_DIRECTORY = {out}
HTML_OUTPUT = .
INPUT = {out}/rooms.dox {headers}
FILE_PATTERNS = *.hpp
RECURSIVE = YES
EXCLUDE_PATTERNS = */src/* */src.hpp
EXCLUDE_SYMBOLS = *detail*
STRIP_FROM_PATH = {include}
STRIP_FROM_INC_PATH = {include}
JAVADOC_AUTOBRIEF = YES
BUILTIN_STL_SUPPORT = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = SEQTRAIN_SEPARATE_COMPILATION
SORT_MEMBER_DOCS = NO
SHOW_USED_FILES = NO
VERBATIM_HEADERS = NO
HAVE_DOT = NO
GENERATE_LATEX = NO
GENERATE_HTML = {html}
GENERATE_XML = NO
QUIET = YES
"""


def rooms():
    """Returns the rooms of docs/design.md, each with what it does."""
    page = (ROOT / "docs/design.md").read_text()
    return dict(re.findall(r"^\| `([a-z]+)` \|[^|]*\| (.*) \|$", page, re.MULTILINE))


def front_page(described):
    """Returns a page that lists the rooms, and a group for each."""
    lines = ["/** @mainpage seqtrain", "The public names of the headers, room by room:", ""]
    lines += [f"- @ref {room}: {text}" for room, text in described.items()]
    return "\n".join([*lines, "*/", *(f"/** @defgroup {room} {room}\n{text} */" for room, text in described.items())])


def filters(described):
    """Returns settings that put what a header declares into the group of its room. Lines stay where they are."""
    for room in described:
        group = (f"sed -e '/^namespace seqtrain[^=]*{{$/{{s,$, /** @addtogroup {room},;n;s,^,@{{ */,}}'"
                 " -e 's,^}  // namespace seqtrain,/** @} */ &,'")
        for pattern in (f"*/seqtrain/{room}/*", f"*/seqtrain/{room}.hpp"):
            yield f'FILTER_PATTERNS += "{pattern}={group}"'


def run_doxygen(html):
    """Runs Doxygen and returns its warnings as (file, line, text)."""
    OUT.mkdir(parents=True, exist_ok=True)
    described = rooms()
    (OUT / "rooms.dox").write_text(front_page(described))
    settings = SETTINGS.format(out=OUT, headers=HEADERS, include=ROOT / "include", html="YES" if html else "NO")
    if shutil.which("doxygen") is None:
        print("doxygen is missing: tools/install_packages.sh develop")
        sys.exit(77)
    done = subprocess.run(["doxygen", "-"], input="\n".join([settings, *filters(described)]), text=True,
                          stderr=subprocess.PIPE, cwd=ROOT, check=True)
    found = (WARNING.match(line) for line in done.stderr.splitlines())
    return [(pathlib.Path(line["file"]), int(line["line"]), line["text"]) for line in found if line]


def lacks(warning):
    """Returns 'name' or 'member' if a public name that needs a sentence has none, '' if it needs none."""
    name, kind, scope, owner = warning.group("name", "kind", "scope", "owner")
    if kind is None or scope in ("namespace", "group", "file") or kind == "enumeration":
        return "name"
    called = re.search(r"(operator.*|~?\w+)\(", name)
    arguments = re.search(r"\((.*)\)", name)
    if kind != "function" or not called or not arguments or not arguments[1]:
        return ""
    own_class = re.sub(r"<.*", "", owner).split("::")[-1].strip()
    spared = {own_class, "on", "Error"}
    return "" if called[1].startswith(("operator", "~")) or called[1] in spared else "member"


def check():
    """Prints what is wrong and returns whether anything is."""
    lacking = {"name": collections.defaultdict(set), "member": collections.defaultdict(set)}
    problems = []
    for file, line, text in run_doxygen(html=False):
        place = f"{file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}:{line}"
        warning = UNDOCUMENTED.match(text)
        if not warning:
            problems.append(f"{place}: {text}")
        elif kind := lacks(warning):
            lacking[kind][file.relative_to(HEADERS).parts[0].removesuffix(".hpp")].add(f"{place}: {warning['name']}")
    for kind, allowed in ("name", NAMES), ("member", MEMBERS):
        for room, places in lacking[kind].items():
            if len(places) > allowed.get(room, 0):
                problems += sorted(places)
                problems.append(f"{room} has {len(places)} public {kind}s without a sentence; tools/reference.py allows "
                                f"{allowed.get(room, 0)}. Write one for those that you added.")
    counts = [sum(map(len, lacking[kind].values())) for kind in lacking]
    print("\n".join(problems) or f"{counts[0]} names and {counts[1]} members without a sentence, no more than before")
    return bool(problems)


if sys.argv[1:] == ["--check"]:
    sys.exit(check())
run_doxygen(html=True)
print(f"{OUT}/index.html")
