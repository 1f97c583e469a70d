"""peers.py KIND --model DIR --port N: serves a classifier in the usual ways of Python.

bench/serve/run.py starts it. KIND is `transformers` or `openvino`; each runs in a thread of a
FastAPI server, with bf16 if the processor has it. POST /predict takes {"inputs": "text"} or a list
of texts."""

import argparse
import asyncio
import threading

import fastapi
import numpy
import pydantic
import torch
import transformers
import uvicorn


class Body(pydantic.BaseModel):
    inputs: str | list[str]


def torch_model(folder, bf16):
    dtype = torch.bfloat16 if bf16 else torch.float32
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype)
    model.eval()

    def logits(encoded):
        with torch.inference_mode():
            return model(**encoded).logits.float().numpy()

    return logits, model.config


def openvino_model(folder, bf16):
    import openvino

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    model.eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = {name: torch.ones(2, 8, dtype=torch.int64) for name in names}
    converted = openvino.convert_model(model, example_input=example)
    compiled = openvino.Core().compile_model(converted, "CPU", {
        "INFERENCE_PRECISION_HINT": "bf16" if bf16 else "f32", "PERFORMANCE_HINT": "LATENCY"})
    config = model.config
    return lambda encoded: compiled({n: encoded[n].numpy() for n in names})[0], config


def make_app(kind, folder, precision):
    bf16 = precision == "bf16"
    logits, config = (openvino_model if kind == "openvino" else torch_model)(folder, bf16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    lock = threading.Lock()
    app = fastapi.FastAPI()

    def classify(texts):
        encoded = tokenizer(texts, padding=True, truncation=True, max_length=512,
                            return_tensors="pt")
        with lock:
            rows = logits(encoded)
        exponents = numpy.exp(rows - rows.max(-1, keepdims=True))
        scores = exponents / exponents.sum(-1, keepdims=True)
        return [[{"score": float(row[i]), "label": config.id2label[int(i)]}
                 for i in (-row).argsort()] for row in scores]

    @app.post("/predict")
    async def predict(body: Body):
        single = isinstance(body.inputs, str)
        answers = await asyncio.to_thread(classify, [body.inputs] if single else body.inputs)
        return answers[0] if single else answers

    @app.get("/health")
    def health():
        return {}

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["transformers", "openvino"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    app = make_app(arguments.kind, arguments.model, arguments.precision)
    uvicorn.run(app, host="127.0.0.1", port=arguments.port, log_level="warning",
                access_log=False)


main()
