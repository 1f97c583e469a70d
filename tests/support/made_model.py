"""made_model.py DIR [--layers N]: writes a small classifier in Hugging Face's layout, with numbers
from a fixed stream: BERT with a head for three labels. `serve` and `predict` take it."""

import argparse
import array
import json
import pathlib
import random
import string
import struct
import sys

HIDDEN, INNER, HEADS, POSITIONS = 64, 128, 4, 128
LABELS = ["entailment", "neutral", "contradiction"]


def vocabulary():
    """Returns special tokens, letters, digits, punctuation, and words of two syllables."""
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = [a + b for a in syllables[::3] for b in syllables]
    characters = string.ascii_lowercase + string.digits
    return (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(characters + string.punctuation)
            + ["##" + c for c in characters] + words)


def shapes(words, layers, outputs):
    """Returns the names and shapes of the tensors."""
    def linear(name, to, of):
        return [(name + ".weight", [to, of]), (name + ".bias", [to])]

    def norm(name):
        return [(name + ".LayerNorm.weight", [HIDDEN]), (name + ".LayerNorm.bias", [HIDDEN])]

    embeddings = "bert.embeddings"
    for name, count in (("word", words), ("position", POSITIONS), ("token_type", 2)):
        yield f"{embeddings}.{name}_embeddings.weight", [count, HIDDEN]
    yield from norm(embeddings)
    for layer in range(layers):
        prefix = f"bert.encoder.layer.{layer}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            yield from linear(prefix + "attention." + part, HIDDEN, HIDDEN)
        yield from norm(prefix + "attention.output")
        yield from linear(prefix + "intermediate.dense", INNER, HIDDEN)
        yield from linear(prefix + "output.dense", HIDDEN, INNER)
        yield from norm(prefix + "output")
    yield from linear("bert.pooler.dense", HIDDEN, HIDDEN)
    yield from linear("classifier", outputs, HIDDEN)


def numbers(name, shape, source):
    count = shape[0] * (shape[1] if len(shape) == 2 else 1)
    if name.endswith("LayerNorm.weight"):
        return array.array("f", [1.0] * count)
    if name.endswith("bias"):
        return array.array("f", bytes(4 * count))
    scale = 0.5 if name.startswith("classifier") else 0.15
    return array.array("f", (source.gauss(0, scale) for _ in range(count)))


def make(folder, layers=2, seed=1, labels=LABELS):
    """Writes the model into `folder`, which need not exist yet. With one label it is a reranker."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary()
    source = random.Random(seed)
    header, parts, end = {}, [], 0
    for name, shape in shapes(len(words), layers, len(labels)):
        values = numbers(name, shape, source)
        begin, end = end, end + 4 * len(values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
        if sys.byteorder == "big":
            values.byteswap()
        parts.append(values.tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    (folder / "vocab.txt").write_text("".join(word + "\n" for word in words))
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["BertForSequenceClassification"], "model_type": "bert",
        "hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": layers,
        "num_attention_heads": HEADS, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "vocab_size": len(words),
        "pad_token_id": 0, **({"problem_type": "single_label_classification"} if len(labels) > 1 else {}),
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)}}, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--layers", type=int, default=2)
    arguments = parser.parse_args()
    make(arguments.folder, arguments.layers)


if __name__ == "__main__":
    main()
