"""run_tutorial.py PAGE SOURCE PROGRAMS: runs the ```sh blocks of PAGE, one after the other, in one shell.

`make mnli ARGS="…"` runs PROGRAMS/mnli, build/release/examples is PROGRAMS, and port 8080 is a free one. The
directory is a temporary one with the bundled data and the checkpoints of SOURCE. Ends with 77 if something is
missing that the page needs.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path


def script(page, programs, port):
    blocks = re.findall(r"^```sh\n((?:.*\n)*?)```$", Path(page).read_text(), re.MULTILINE)
    text = "".join(blocks)
    text = re.sub(r'make mnli ARGS="([^"]*)"', r"build/release/examples/mnli \1", text)
    return text.replace("build/release/examples", programs).replace("8080", str(port))


def main(page, source, programs):
    if not shutil.which("curl") or not Path(source, "checkpoints/all-MiniLM-L6-v2").exists():
        print("needs curl and the default checkpoint")
        return 77
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "examples").mkdir()
        Path(directory, "examples/data").symlink_to(Path(source, "examples/data"))
        Path(directory, "checkpoints").symlink_to(Path(source, "checkpoints"))
        text = script(page, programs, port)
        # No process that the script leaves may keep the test waiting.
        shell = subprocess.Popen(["bash", "-euxo", "pipefail", "-c", text], cwd=directory,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        code = shell.wait()
        if code != 0:
            os.killpg(shell.pid, 9)
        answered = Path(directory, "runs/opinions/model/config.json").exists()
        return code if answered or code else 1


sys.exit(main(*sys.argv[1:]))
