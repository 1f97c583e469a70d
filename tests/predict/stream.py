"""stream.py --predict PATH [--megabytes 60]: `predict` takes as much memory for much input as for
little, and ends when nobody reads its answers any more. The model has one layer."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

# Words of over 100 letters are one id each, so that the model does not take the time.
RECORD = (json.dumps({"text": "bada " + " ".join(["x" * 120] * 16)}) + "\n").encode()
PART = RECORD * 500


def start(arguments, model):
    return subprocess.Popen([arguments.predict, "--model", model, "--threads", "1", "--device", "cpu"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def write(process, parts):
    try:
        for _ in range(parts):
            process.stdin.write(PART)
        process.stdin.flush()
    except BrokenPipeError:
        pass


def peak_mebibytes(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024


def memory(arguments, model):
    """Returns the peaks of memory after a tenth of the input and after all of it."""
    parts = max(10, arguments.megabytes * 1_000_000 // len(PART))
    process = start(arguments, model)
    peaks = []
    answers = 0
    for count in (parts // 10, parts - parts // 10):
        writer = threading.Thread(target=write, args=(process, count))
        writer.start()
        for _ in range(count * 500):  # with a pause in the input all answers come
            answers += "label" in json.loads(process.stdout.readline())
        writer.join()
        peaks.append(peak_mebibytes(process))
    process.stdin.close()
    assert process.stdout.read() == b"" and process.wait() == 0
    assert answers == parts * 500
    print(f"{parts * len(PART) / 1e6:.0f} MB, {answers} texts: {peaks[0]:.0f} MiB after a tenth, "
          f"{peaks[1]:.0f} MiB after all")
    assert peaks[1] < peaks[0] + 16


def head(arguments, model):
    """Tests an endless input with a reader that ends after three lines."""
    process = start(arguments, model)
    writer = threading.Thread(target=write, args=(process, 10**9))
    writer.start()
    lines = [process.stdout.readline() for _ in range(3)]
    assert all(b"label" in line for line in lines)
    process.stdout.close()
    try:
        print("without a reader it ends with", process.wait(timeout=120))
    finally:
        process.kill()
        writer.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--megabytes", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as model:
        made_model.make(model, layers=1)
        head(arguments, model)
        memory(arguments, model)


main()
