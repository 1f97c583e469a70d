#!/usr/bin/env python3
"""Writes golden/embeddings.json: what sentence-transformers' `encode` gives with the encoder of
golden/zero_shot/, for the tests of model/.

    pip install torch==2.13.0 transformers==5.24.0 sentence-transformers==6.2.0
"""
import json
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer

FOLDER = Path(__file__).resolve().parent
TEXTS = ["The river ran under the bridge.", "the children", "Where did the children run?", "1987",
         "The river ran under the bridge, and the children were running along its bank for a long, long time."]


def main():
    encoder = Transformer(str(FOLDER / "zero_shot"))
    cases = []
    for pooling, normalizes in (("mean", False), ("mean", True), ("cls", True)):
        modules = [encoder, Pooling(32, pooling), *([Normalize()] if normalizes else [])]
        model = SentenceTransformer(modules=modules, device="cpu")
        for size, normalize in ((None, False), (None, True), (8, False), (8, True)):
            rows = model.encode(TEXTS, truncate_dim=size, normalize_embeddings=normalize)
            cases.append({"pooling": pooling, "normalizes": normalizes, "size": size or 0, "normalize": normalize,
                          "embeddings": rows.tolist()})
    (FOLDER / "embeddings.json").write_text(json.dumps({"texts": TEXTS, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
