"""Fails where a header includes a room that its own room neither links in cmake/rooms.cmake nor names in
the table of docs/design.md, where that table names a room that is not included, where the picture in
docs/design.md is not that of the table, and where folders inside a room include each other in a circle. A header
that is right in its room counts as a folder.

rooms.py INCLUDE_DIRECTORY DESIGN_MD ROOM=LINKED,LINKED..."""

import collections
import graphlib
import pathlib
import re
import sys

include = pathlib.Path(sys.argv[1]) / "seqtrain"
linked = dict(word.split("=") for word in sys.argv[3:])
linked = {room: set(filter(None, names.split(","))) for room, names in linked.items()}


def reached(room):
    """Returns the rooms that a user of the room's target links."""
    return set().union(*({name} | reached(name) for name in linked[room]))


def folder(header):
    """Returns the folder that a header is in, or the header itself if it is right in its room."""
    return str(header.parent if len(header.parts) > 2 else header)


def picture(rows):
    """Returns a Mermaid flowchart of the rooms. It leaves out an arrow if others lead to the same room."""
    below = {}  # the rooms that a room stands on
    for room, names in rows.items():
        below[room] = names.union(*(below.get(name, set()) for name in names))
    lines = ["```mermaid", "flowchart TD"]
    for title, is_torch in ("without torch", False), ("with torch", True):
        lines.append(f'  subgraph {"torch" if is_torch else "host"}["{title}"]')
        lines += [f"    {room}" for room in rows if ("tensor" in below[room] | {room}) == is_torch]
        lines.append("  end")
    for room, names in rows.items():
        nearest = [name for name in rows if name in names
                   and not any(name in below[other] for other in names if other in below)]
        if nearest:
            lines.append(f"  {room} --> {' & '.join(nearest)}")
    return "\n".join([*lines, "```"])


page = pathlib.Path(sys.argv[2]).read_text()
rows = {cells[1]: set(re.findall(r"[a-z0-9]+", cells[2]))
        for cells in re.finditer(r"^\| `([a-z0-9]+)` \|([^|]*)\|", page, re.MULTILINE)}
table = {room: names & set(linked) for room, names in rows.items() if room in linked}

problems = [f"docs/design.md has no row for {room}" for room in linked if room not in table]
if picture(rows) not in page:
    problems.append(f"docs/design.md needs this picture of its table:\n{picture(rows)}")
found = collections.defaultdict(set)
folders = collections.defaultdict(set)
for path in sorted(include.rglob("*.hpp")):
    header = path.relative_to(include)
    room = header.parts[0].removesuffix(".hpp")
    if room not in linked:
        continue  # src.hpp and seqtrain.hpp, which include most rooms
    for name in re.findall(r"^#include <seqtrain/([^>]+)>", path.read_text(), re.MULTILINE):
        other = name.split("/")[0].removesuffix(".hpp")
        if other == room:
            if "src" not in header.parts:  # what is compiled once includes what it defines
                folders[folder(header)].add(folder(pathlib.PurePath(name)))
            continue
        found[room].add(other)
        if other not in reached(room):
            problems.append(f"{header} includes {name}, but {room} does not link {other}")
        if other not in table.get(room, ()):
            problems.append(f"{header} includes {name}, but the row of {room} does not name {other}")
for room, names in table.items():
    for name in sorted(names - found[room]):
        problems.append(f"the row of {room} names {name}, which it does not include")
order = list(table)
for room, names in table.items():
    for name in sorted(names):
        if order.index(name) > order.index(room):
            problems.append(f"the row of {room} names {name}, which is below it")
for name, others in folders.items():
    others.discard(name)
try:
    graphlib.TopologicalSorter(folders).prepare()
except graphlib.CycleError as error:
    problems.append("a circle of folders: " + " includes ".join(reversed(error.args[1])))
print("\n".join(problems) or f"{len(linked)} rooms include what they declare")
sys.exit(bool(problems))
