"""sessions.py --serve PATH DOCS...: runs the curl commands of documentation pages against a model.

Each answer must have the shape of the answer that the page shows after the command: equal members
with values of equal types. Examples from the documentation of the other servers are run too."""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402
from load import Server  # noqa: E402

SKIPPED = 77
RANKED = '[{"score":0.5,"label":"a"}]'
JSON_TYPE = "-H 'Content-Type: application/json'"

# Requests in the documentation of text-embeddings-inference, Vertex AI, TorchServe and KServe, and
# answers of the shape that it promises.
CONTRACTS = [
    (f"curl 127.0.0.1:8080/predict -X POST -d '{{\"inputs\":\"I like you.\"}}' {JSON_TYPE}",
     RANKED),
    ("curl 127.0.0.1:8080/predict -X POST "
     f"-d '{{\"inputs\":[\"I like you.\", \"I like pineapples\"]}}' {JSON_TYPE}", RANKED),
    ("curl 127.0.0.1:8080/predict -X POST "
     "-d '{\"inputs\":[[\"I like you.\"], [\"I hate pineapples\"]],"
     f" \"raw_scores\": true, \"truncation_direction\": \"Right\"}}' {JSON_TYPE}", f"[{RANKED}]"),
    ("curl 127.0.0.1:8080/tokenize -X POST "
     f"-d '{{\"inputs\":[\"a b\"],\"add_special_tokens\":false}}' {JSON_TYPE}",
     '[[{"id":0,"text":"test","special":false,"start":0,"stop":2}]]'),
    ("curl 127.0.0.1:8080/predict -X POST -d '{\"inputs\":\"\"}' " + JSON_TYPE,
     '{"error":"a","error_type":"a"}'),
    ("curl 127.0.0.1:8080/vertex -X POST "
     f"-d '{{\"instances\":[{{\"inputs\":\"I like you.\"}}]}}' {JSON_TYPE}",
     f'{{"predictions":[{RANKED}]}}'),
    ("curl 127.0.0.1:8080/predict -X POST -d '{\"instances\":[\"a\",\"b\"],\"parameters\":{}}' "
     + JSON_TYPE, '{"predictions":[{"label":"a","scores":{"a":0.5}}]}'),
    ("curl 127.0.0.1:8080/ping", '{"status":"Healthy"}'),
    ("curl 127.0.0.1:8080/v2/health/ready", '{"ready":true}'),
    ("curl 127.0.0.1:8080/v2", '{"name":"a","version":"a","extensions":["a"]}'),
    ("curl 127.0.0.1:8080/v2/models/model", '{"name":"a","platform":"a",'
     '"inputs":[{"name":"a","datatype":"a","shape":[1]}],'
     '"outputs":[{"name":"a","datatype":"a","shape":[1]}]}'),
]


def sessions(page):
    """Yields each command and its answer from the blocks that are indented by four spaces."""
    command = None
    for line in page.read_text().splitlines():
        if line.startswith("    curl "):
            command = line.strip()
        elif command and line.startswith("    "):
            yield command, line.strip()
            command = None


def read_elided(text):
    return json.loads(text.replace(", …", ""))


def shape(value):
    """Returns the structure of a value with types in place of values. It ignores the names of
    labels in `scores`, and takes only the first item of a list."""
    if isinstance(value, dict):
        return {name: "labels" if name == "scores" else shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if type(value) in (int, float) else type(value).__name__


def run(command, port, folder):
    words = shlex.split(command.replace("localhost:8080", f"127.0.0.1:{port}")
                        .replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
    return subprocess.run([*words, "--silent", "--show-error"], stdout=subprocess.PIPE, text=True,
                          check=True, cwd=folder).stdout


def server_of(command):
    """Returns the name of the server that answers the command's path."""
    if "/rerank" in command:
        return "reranker"
    return "embedder" if re.search("/embed|/similarity|/v1/embeddings", command) else "classifier"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("curl"):
        print("skipped: there is no curl here")
        return SKIPPED
    commands = CONTRACTS + [session for page in arguments.pages for session in sessions(page)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "review.txt").write_text("A man sleeps.")
        made_model.make(place / "classifier")
        made_model.make(place / "reranker", labels=["relevance"])
        servers = {name: Server(arguments.serve, place / name) for name in ("classifier", "reranker")}
        servers["embedder"] = Server(arguments.serve, place / "classifier", "--embed")
        try:
            ports = {name: server.wait_for("Listening")["port"] for name, server in servers.items()}
            for server in servers.values():
                server.wait_for("Ready")
            for command, documented in commands:
                answer = run(command, ports[server_of(command)], place)
                same = shape(read_elided(documented)) == shape(json.loads(answer))
                failed += not same
                print("ok  " if same else "FAIL", command, "\n    ", answer[:300])
        finally:
            for server in servers.values():
                server.process.kill()
    print(f"{len(commands) - failed} of {len(commands)} answers are as documented")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
