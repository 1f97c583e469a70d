#!/usr/bin/env python3
"""Writes golden/last_token/ and golden/reranker/: small decoders of random weights as Qwen3-Embedding and a reranker of
Qwen3's family are published, and what sentence-transformers computes with them. The tokenizer ends texts with the token
of padding, so the last token is one that a classifier's head passes over.

    pip install torch==2.13.0 transformers==5.24.0 sentence-transformers==6.2.0 && python3 tests/golden/last_token.py
"""
import json
import os
import shutil
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from tokenizers import normalizers, processors
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForSequenceClassification, Qwen3Model

import decoder_tokenizers as made

FOLDER = Path(__file__).resolve().parent
END = "<|endoftext|>"
TEXTS = ["The river ran under the bridge.", "the children", "Where did the children run?", "1987", "<|endoftext|>", "",
         "The river ran under the bridge, and the children were running along its bank for a long, long time."]
DOCUMENTS = TEXTS[:4] + ["a bank of the river"]
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             intermediate_size=48, max_position_embeddings=64)


def save_tokenizer(folder):
    tokenizer = made.train(made.split(made.QWEN2), normalizers.NFC())
    end = tokenizer.token_to_id(END)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single=f"$A:0 {END}:0", pair=f"$A:0 {END}:0 $B:1 {END}:1", special_tokens=[(END, end)])])
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(
        tokenizer_class="Qwen2Tokenizer", eos_token=END, pad_token=END, padding_side="left", model_max_length=64)) + "\n")
    return tokenizer.get_vocab_size(), end


def save_model(folder, model_class, **settings):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    size, end = save_tokenizer(folder)
    torch.manual_seed(7)
    model = model_class(Qwen3Config(vocab_size=size, pad_token_id=end, eos_token_id=end, **SIZES, **settings))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "norm" in name else 0.0, 0.2)
    model.save_pretrained(folder)


def write_embeddings():
    folder = FOLDER / "last_token"
    save_model(folder, Qwen3Model)
    encoder = Transformer(str(folder))
    model = SentenceTransformer(modules=[encoder, Pooling(SIZES["hidden_size"], "lasttoken"), Normalize()], device="cpu",
                                prompts={"query": "Query: ", "document": ""})
    saved = FOLDER / "last_token_saved"
    model.save(str(saved))
    for name in ("modules.json", "1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(saved / name, folder / name)
    (folder / "2_Normalize").mkdir(exist_ok=True)
    shutil.rmtree(saved)
    again = SentenceTransformer(str(folder), device="cpu")
    rows = again.encode(TEXTS, batch_size=len(TEXTS))
    alone = [again.encode(text) for text in TEXTS]
    print("ids", AutoTokenizer.from_pretrained(folder)(TEXTS[1])["input_ids"], "gap of padding",
          abs(rows - torch.tensor(alone).numpy()).max())
    (folder / "expected.json").write_text(json.dumps({"texts": TEXTS, "embeddings": rows.tolist()}) + "\n")


def write_reranker():
    folder = FOLDER / "reranker"
    save_model(folder, Qwen3ForSequenceClassification, num_labels=1)
    encoder = CrossEncoder(str(folder), device="cpu")
    pairs = [(TEXTS[2], document) for document in DOCUMENTS]
    scores = [encoder.predict([pair]).item() for pair in pairs]
    logits = [encoder.predict([pair], activation_fn=torch.nn.Identity()).item() for pair in pairs]
    print("scores", scores)
    (folder / "expected.json").write_text(json.dumps(
        {"query": TEXTS[2], "documents": DOCUMENTS, "scores": scores, "logits": logits}) + "\n")


if __name__ == "__main__":
    write_embeddings()
    write_reranker()
