"""extract.py OUT PAGE...: writes the C++ blocks of Markdown pages that open with ```cpp rooms=a,b.

OUT/<page>_<n>.cpp is the page's n-th such block, OUT/<page>_<n>.txt the block ```text output that
follows it, if one does. A block that opens with ```cpp example=NAME must be the program NAME in examples/own.
OUT/<page>_<n>.hpp is the block without its includes in a namespace <page>_<n>, where `main` is a function that
other code may call. Prints a line `name rooms has_main has_output` for each.
"""

import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/own"
BLOCK = re.compile(r"^```(?P<info>\S.*)\n(?P<body>(?:.*\n)*?)```$", re.MULTILINE)


def write(path, text):
    """Writes a file only if its text changes, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def check_example(page, marks, code):
    """Ends the script if a block that opens with ```cpp example=NAME is not the program NAME in examples/own."""
    for name in (mark.removeprefix("example=") for mark in marks if mark.startswith("example=")):
        if (EXAMPLES / f"{name}.cpp").read_text() != code:
            sys.exit(f"{page}: the block of {name} differs from that program in examples/own")


def blocks(page):
    """Returns the blocks of a page as (rooms, code, output or None)."""
    found = list(BLOCK.finditer(page.read_text()))
    for block, following in zip(found, found[1:] + [None]):
        language, *marks = block["info"].split()
        check_example(page, marks, block["body"])
        rooms = [mark.removeprefix("rooms=") for mark in marks if mark.startswith("rooms=")]
        if language == "cpp" and rooms:
            shown = following is not None and following["info"] == "text output"
            yield rooms[0], block["body"], following["body"] if shown else None


def in_namespace(name, code):
    """Returns a block as part of a larger file, which has included the block's headers before."""
    if "int main(" in code:
        code = code.rstrip().removesuffix("}") + "  return 0;  // as main does\n}\n"
    lines = [line for line in code.splitlines() if not line.startswith("#include")]
    return f"namespace {name} {{\n" + "\n".join(lines) + f"\n}}  // namespace {name}\n"


def main(out, *pages):
    for page in map(Path, pages):
        for number, (rooms, code, output) in enumerate(blocks(page), start=1):
            name = f"{page.stem.lower()}_{number}".replace("-", "_")
            write(Path(out, f"{name}.cpp"), code)
            write(Path(out, f"{name}.hpp"), in_namespace(name, code))
            if output is not None:
                write(Path(out, f"{name}.txt"), output)
            print(name, rooms, int("int main(" in code), int(output is not None))


main(*sys.argv[1:])
