"""Stands for gcloud, docker, make, df and pip in a test: records its call and answers as the test says.

FAKE_CALLS names the file that each call is added to, a JSON list of its words a line. FAKE_ANSWERS is
a JSON object: a key is a part of a command line, its value what is printed; `null` makes the command
fail. The longest key that the line contains counts. `stream-logs` does not end, as gcloud's does not,
unless FAKE_STREAM is set; the job ends when it has printed its line. What pip downloads is a torch that requires the
words of FAKE_REQUIRES.
"""

import json
import os
import sys
import time
import zipfile

words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
line = " ".join(words)
with open(os.environ["FAKE_CALLS"], "a", encoding="utf-8") as calls:
    calls.write(json.dumps(words) + "\n")
answers = json.loads(os.environ["FAKE_ANSWERS"])
answer = answers[max((key for key in answers if key in line), key=len, default="")]
streamed = os.environ["FAKE_CALLS"] + ".streamed"
if "--format=value(state)" in words:
    for _ in range(3000):
        if os.path.exists(streamed):
            break
        time.sleep(0.01)
if answer is None:
    sys.exit(f"ERROR: {line} was refused")
if answer:
    print(answer, flush=True)
if "download" in words and "torch==" in line:
    with zipfile.ZipFile(words[words.index("--dest") + 1] + "/torch-2.13.0-cp311.whl", "w") as wheel:
        requires = os.environ.get("FAKE_REQUIRES", "").split()
        lines = [f"Requires-Dist: {name}; python_version > '3'\n" for name in requires]
        wheel.writestr("torch.dist-info/METADATA", "".join(lines))
if "stream-logs" in words:
    with open(streamed, "w", encoding="utf-8"):
        pass
    if "FAKE_STREAM" not in os.environ:
        time.sleep(600)
