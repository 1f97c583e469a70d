"""check_flags.py PROGRAM PAGE: checks that the flags in PAGE's table are those that PROGRAM --help lists."""

import re
import subprocess
import sys

FLAG = re.compile(r"--[a-z][a-z0-9-]+")


def main(program, page):
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^\s*(?:-\w \[ )?(--[a-z][a-z0-9-]+)", said, re.MULTILINE)) - {"--help"}
    with open(page, encoding="utf-8") as lines:
        rows = [line.split("|")[1] for line in lines if line.startswith("| `--")]
    described = set(FLAG.findall(" ".join(rows)))
    for flag in sorted(listed ^ described):
        print(flag, "is not in the table" if flag in listed else "is no flag")
    return 0 if listed and listed == described else 1


sys.exit(main(*sys.argv[1:]))
