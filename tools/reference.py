#!/usr/bin/env python3
"""Writes the API reference, made of the docstrings by Doxygen, into build/reference: a page for each room.

reference.py --check fails in place of that if Doxygen warns about a docstring, or if a public name has no
sentence. Such a name is a class, a struct, a concept, an enum, a function, an alias or a constant. The names in
`detail` and in `src/` are not public. A member needs no sentence if its name and type say all: data, constructors,
operators and functions without arguments; or if the page of a concept says it, as of an observer's `on`."""

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
MISSING = {"checkpoint": 7, "optim": 1}

# Members that the concepts in docs/concepts/ and in the code describe for all types that have them.
OF_CONCEPTS = set("""
    on fresh update step_by_kernels accumulate logits weight_of losses load_state_dict load_state step batches_in
    put put_file list get get_file put_if remove save restore add merge
    encode predict read_config embedding_form head_form max_length embed weights normalize split_piece encode_normalized
""".split())

WARNING = re.compile(r"^(?P<file>.+?):(?P<line>\d+): warning: (?P<text>.*)$")
UNDOCUMENTED = re.compile(r"(?:Compound|Member) (?P<name>.*?)"
                          r"(?: \((?P<kind>[a-z ]+)\) of (?P<scope>\w+) .*)? is not documented\.$")

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
    lines += [f"- @ref room_{room} \"{room}\": {text}" for room, text in described.items()]
    groups = [f"/** @defgroup room_{room} {room}\n{text} */" for room, text in described.items()]
    return "\n".join([*lines, "*/", *groups])


def filters(described):
    """Returns settings that put what a header declares into the group of its room. Lines stay where they are."""
    for room in described:
        group = (f"sed -e '/^namespace seqtrain[^=]*{{$/{{s,$, /** @addtogroup room_{room},;n;s,^,@{{ */,}}'"
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


def needs_sentence(warning):
    """Tells whether a name that Doxygen reports as undocumented is to have a sentence."""
    name, kind, scope = warning.group("name", "kind", "scope")
    if kind is None or scope in ("namespace", "group", "file") or kind == "enumeration":
        return True
    function = re.search(r"(operator|~?\w+).*?\((.*)\)", name)
    if kind != "function" or not function or not function[2]:
        return False
    is_special = function[1] == "operator" or re.match("~?[A-Z]", function[1])  # constructors have names of classes
    return not is_special and function[1] not in OF_CONCEPTS


def check():
    """Prints what is wrong and returns whether anything is."""
    problems = []
    missing = collections.defaultdict(set)
    for file, line, text in run_doxygen(html=False):
        place = f"{file.relative_to(ROOT)}:{line}"
        warning = UNDOCUMENTED.match(text)
        if not warning:
            problems.append(f"{place}: {text}")
        elif needs_sentence(warning):
            missing[file.relative_to(HEADERS).parts[0].removesuffix(".hpp")].add(f"{place}: {warning['name']}")
    for room, places in missing.items():
        if len(places) > MISSING.get(room, 0):
            problems += sorted(places)
            problems.append(f"{room} has {len(places)} public names without a sentence, and may have "
                            f"{MISSING.get(room, 0)}: write one for those that you added")
    count = sum(map(len, missing.values()))
    print("\n".join(problems) or f"{count} public names have no sentence yet, no more than before")
    return bool(problems)


if sys.argv[1:] == ["--check"]:
    sys.exit(check())
run_doxygen(html=True)
print(f"{OUT}/index.html")
