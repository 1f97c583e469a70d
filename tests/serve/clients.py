"""clients.py --serve PATH --predict PATH [--model DIR]: asks `serve` by the Open Inference Protocol
with Triton's client, tritonclient, and with KServe's.

Each answer must be equal to the output of `predict` for its texts: the labels, and the bits of the
scores in fp32. Without `--model` the models are made: one of each type of problem. Exits with 77 if
the packages are missing."""

import argparse
import asyncio
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402
from load import PAIR, TEXT, Server, expected_answers, make_texts  # noqa: E402

ARGUMENTS = sys.argv[1:]
del sys.argv[1:]  # kserve parses them when it is imported
try:
    import kserve
    from kserve.protocol.infer_type import RequestedOutput
    import numpy
    import tritonclient.http as triton
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

NAME = "model"  # `serve` calls its model so
OUTPUTS = {"label": "BYTES", "score": "FP32", "scores": "FP32"}


class Expected:
    """The outputs that follow from what `predict` wrote."""

    def __init__(self, answers):
        first = answers[0]
        if "value" in first:
            self.scores = [[answer["value"]] for answer in answers]
            self.label = None
        else:
            self.scores = [list(answer["scores"].values()) for answer in answers]
            self.label = [answer["label"] if "label" in answer else ";".join(answer["labels"])
                          for answer in answers]
        self.scores = numpy.array(self.scores, dtype=numpy.float32)
        self.score = self.scores.max(axis=1)

    def names(self):
        return [name for name in OUTPUTS if name != "label" or self.label is not None]

    def check(self, name, array):
        """Compares an output as the client gives it."""
        wanted = getattr(self, name)
        if name == "label":
            got = [text.decode() if isinstance(text, bytes) else str(text) for text in array]
            assert got == wanted, (got[:5], wanted[:5])
        else:
            assert array.dtype == numpy.float32 and array.shape == wanted.shape, array.shape
            assert array.tobytes() == wanted.tobytes(), (array[:5], wanted[:5])


def columns_of(records):
    """Returns the texts, and the second texts if the records are pairs."""
    names = [TEXT, PAIR] if PAIR in records[0] else [TEXT]
    return {name: [record[name] for record in records] for name in names}


def with_triton(port, records, expected):
    """Asks in all combinations of JSON and binary data, of one-dimensional and column inputs."""
    client = triton.InferenceServerClient(f"127.0.0.1:{port}")
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(NAME)
    assert client.get_server_metadata()["extensions"] == ["binary_tensor_data"]
    metadata = client.get_model_metadata(NAME)
    assert [output["name"] for output in metadata["outputs"]] == expected.names(), metadata
    count = 0
    for binary_input in (True, False):
        for binary_output in (None, True, False):
            for shape in ((len(records),), (len(records), 1)):
                inputs = []
                for name, texts in columns_of(records).items():
                    inputs.append(triton.InferInput(name, list(shape), "BYTES"))
                    array = numpy.array(texts, dtype=numpy.object_).reshape(shape)
                    inputs[-1].set_data_from_numpy(array, binary_data=binary_input)
                outputs = None if binary_output is None else [
                    triton.InferRequestedOutput(name, binary_data=binary_output)
                    for name in reversed(expected.names())]
                result = client.infer(NAME, inputs, outputs=outputs, request_id="an id")
                assert result.get_response()["id"] == "an id"
                for name in expected.names():
                    expected.check(name, result.as_numpy(name))
                count += 1
    one = client.infer(NAME, inputs, outputs=[triton.InferRequestedOutput("score")])
    assert one.as_numpy("label") is None and one.as_numpy("scores") is None
    expected.check("score", one.as_numpy("score"))
    for name, wrong, status in ((NAME, "no such output", "400"), ("other", "score", "404")):
        try:
            client.infer(name, inputs, outputs=[triton.InferRequestedOutput(wrong)])
            raise AssertionError("an error was expected")
        except triton.InferenceServerException as error:
            assert status in error.status() and error.message(), error
    client.close()
    return count + 1


async def with_kserve(port, records, expected):
    client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
    url = f"http://127.0.0.1:{port}"
    assert await client.is_server_live(url) and await client.is_server_ready(url)
    assert await client.is_model_ready(url, NAME) and not await client.is_model_ready(url, "other")
    count = 0
    for binary_input in (True, False):
        for binary_output in (None, True, False):
            inputs = []
            for name, texts in columns_of(records).items():
                inputs.append(kserve.InferInput(name, [len(texts)], "BYTES"))
                inputs[-1].set_data_from_numpy(numpy.array(texts, dtype=numpy.object_),
                                               binary_data=binary_input)
            outputs = None if binary_output is None else [
                RequestedOutput(name, {"binary_data": binary_output})
                for name in expected.names()]
            request = kserve.InferRequest(NAME, inputs, request_id="an id", request_outputs=outputs)
            response = await client.infer(url, request, model_name=NAME)
            assert response.id == "an id" and response.model_name == NAME
            assert [output.name for output in response.outputs] == expected.names()
            for output in response.outputs:
                expected.check(output.name, output.as_numpy())
            count += 1
    await client.close()
    return count


def made(folder):
    """Makes a model of each type of problem. Yields their names and places."""
    for name, labels in (("classifier", made_model.LABELS), ("multi-label", made_model.LABELS),
                         ("regression", ["value"])):
        made_model.make(folder / name, labels=labels)
        if name == "multi-label":
            config = json.loads((folder / name / "config.json").read_text())
            config["problem_type"] = "multi_label_classification"
            (folder / name / "config.json").write_text(json.dumps(config))
        yield name, folder / name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--model", type=pathlib.Path)
    arguments = parser.parse_args(ARGUMENTS)
    records = make_texts(200)
    with tempfile.TemporaryDirectory() as folder:
        given = [(arguments.model.name, arguments.model)] if arguments.model else None
        for name, model in given or made(pathlib.Path(folder)):
            server = Server(arguments.serve, model)
            try:
                port = server.wait_for("Listening")["port"]
                server.wait_for("Ready")
                for kind in (False, True):
                    chosen = [record for record in records if (PAIR in record) == kind]
                    expected = Expected(expected_answers(arguments.predict, str(model), chosen))
                    answers = with_triton(port, chosen, expected)
                    others = asyncio.run(with_kserve(port, chosen, expected))
                    what = "pairs" if kind else "texts"
                    print(f"{name}, {len(chosen)} {what}: {answers} answers to tritonclient and "
                          f"{others} to kserve's client are equal to predict's")
            finally:
                server.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
