"""What a header includes, for the scripts of this folder."""

import functools
import pathlib
import re

DEFINITIONS = "/src/"  # which a header includes after its own declarations


@functools.cache
def direct(root: pathlib.Path, header: str) -> list[str]:
    """Returns what a header of this project includes itself."""
    path = root / header
    return re.findall(r"^#include <(.+)>", path.read_text(), re.MULTILINE) if path.exists() else []


@functools.cache
def included(root: pathlib.Path, header: str) -> frozenset[str]:
    """Returns what a header includes, itself or by others of this project, without definitions."""
    found, left = set(), [header]
    while left:
        new = {name for name in direct(root, left.pop()) if DEFINITIONS not in name} - found
        found |= new
        left += new
    return frozenset(found - {header})
