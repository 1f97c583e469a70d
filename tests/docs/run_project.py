"""run_project.py PAGE SOURCE: follows PAGE in an empty directory, as a reader does who pastes each block.

A block that opens with ```cmake file=NAME or ```cpp file=NAME becomes the file NAME. All ```sh blocks are run, one
after the other, in one shell, in which $seqtrain is SOURCE. The output of the last one has to end with the
```text output block.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(\w+) ?(\S*)\n((?:.*\n)*?)```$", re.MULTILINE)


def blocks(page):
    """Returns the files by name, the shell script and the expected output of a page."""
    files, script, expected = {}, "", ""
    for language, argument, text in BLOCK.findall(Path(page).read_text(encoding="utf-8")):
        if argument.startswith("file="):
            files[argument.removeprefix("file=")] = text
        elif language == "sh":
            script += text
        elif (language, argument) == ("text", "output"):
            expected = text
    return files, script, expected


def main(page, source):
    files, script, expected = blocks(page)
    script, replaced = re.subn(r"^seqtrain=.*$", f"seqtrain='{source}'", script, count=1, flags=re.MULTILINE)
    if replaced != 1 or not files or not expected:
        sys.exit("the page has no line seqtrain=…, no files or no output")
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            Path(directory, name).write_text(text, encoding="utf-8")
        run = subprocess.run(["bash", "-euxo", "pipefail", "-c", script], cwd=directory, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(run.stdout)
    if run.returncode == 0 and not run.stdout.endswith("\n" + expected):
        sys.exit("the program printed something else than the page says")
    sys.exit(run.returncode)


main(*sys.argv[1:])
