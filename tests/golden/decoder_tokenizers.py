#!/usr/bin/env python3
"""Writes tests/golden/decoders/: small tokenizers with the parts of published decoders, trained on the spot, and the
ids that transformers' AutoTokenizer gives. `code_points` are hashes of the ids of all characters, 4,096 at a time.

    pip install transformers==5.24.0 tokenizers==0.23.3 && python3 tests/golden/decoder_tokenizers.py
"""
import json
import os
import pathlib
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
import numpy
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

import small_tokenizers as small

FOLDER = pathlib.Path(__file__).resolve().parent / "decoders"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT2_SHORT = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4_SHORT = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
QWEN2 = GPT4.replace("{1,3}", "")
TEXTS = [t for t in small.TEXTS if len(t) < 250] + [
    "'S 'LL 'Re don'T '\u017f '\u017fa '\u212a '\u017ft x'VE''s'd", "!a !!a  !a\t!a \n!a .\n\nb .\r\n \r\n  c", "1234567 12 1 \u0661\u0662\u0663\u0664 \u00bd\u00b2\u216712345", " \n", "\n \n x",
    "a  \n  \n  b", "   \n\t\t1", "\u3000\u3000x \u00a0y \u2028z\u0085w", "e\u0301a e\u0301 \u1112\u1161\u11ab \u212b", "_a __a \u0301a \u200da", "\r\n\r\n", "a\u2581b \u2581\u2581 c",
    "<s> a</s><pad>b <|end|>c", "x" * 130 + "  " + "\U0001F642" * 3, "12 345  6789\t0"]
SPICE = list(" \t\n\r'!.aAsStLlDdReEvVmM0123\u0663\u00bd\u65e5\u0301\U0001F642\u00a0\u3000\u017f\u2581") + ["  ", "'s", "'LL", "\n\n", " the", "river", "<s>", "<|end|>"]
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<mask>", "<|endoftext|>"]
BYTES = pre_tokenizers.ByteLevel


def split(regex, behavior="isolated", invert=False, prefix=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), behavior, invert), BYTES(add_prefix_space=prefix, use_regex=False)])


def train(splitter, normalizer=None, **model):
    """Trains a BPE of bytes, or of characters with tokens for bytes."""
    pieces = model.get("byte_fallback", False)
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    if splitter:
        tokenizer.pre_tokenizer = splitter
    bytes_of_pieces = [f"<0x{byte:02X}>" for byte in range(256)] if pieces else []
    corpus = [text for text in small.CORPUS if not pieces or "\u65e5" not in text]
    corpus += small.random_texts(400, [part for part in SPICE if "<" not in part and ord(part[-1]) < 0x100], 12, 99)
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL + bytes_of_pieces, show_progress=False,
        initial_alphabet=[] if pieces else BYTES.alphabet()))
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = [token for token in spec["added_tokens"] if not token["content"].startswith("<0x")]
    if model.get("ignore_merges"):
        spec["model"]["merges"] = spec["model"]["merges"][:-40:2] + spec["model"]["merges"][-40:]
        known = set(BYTES.alphabet())
        kept = []
        for a, b in spec["model"]["merges"]:  # leaves words that no merges lead to
            if a in known and b in known:
                kept.append([a, b])
                known.add(a + b)
        spec["model"]["merges"] = kept
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.add_special_tokens([AddedToken("<|end|>", normalized=False)])
    return tokenizer


def begin(token, id):
    return processors.TemplateProcessing(single=f"{token} $A", pair=f"{token} $A {token}:1 $B:1", special_tokens=[(token, id)])


def byte_begin():
    return processors.Sequence([processors.ByteLevel(trim_offsets=True), begin("<s>", 1)])


def digits():
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(True), BYTES(add_prefix_space=False)])


MARKS = normalizers.Replace(" ", "\u2581")
PIECES = dict(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
FILE = dict(tokenizer_class="PreTrainedTokenizerFast")
CASES = {  # model_type, settings, tokenizer, post-processor
    "llama3": ("llama", FILE, lambda: train(split(GPT4), ignore_merges=True), byte_begin),
    "gpt4": (None, FILE, lambda: train(split(GPT4_SHORT, "removed", True)), None),
    "olmo2": ("olmo2", dict(tokenizer_class="GPT2Tokenizer", eos_token="<|endoftext|>"), lambda: train(split(GPT4, "removed", True)), None),
    "qwen2": (None, FILE, lambda: train(split(QWEN2), normalizers.NFC()), processors.ByteLevel),
    "qwen2_prefix": (None, FILE, lambda: train(split(QWEN2, prefix=True), normalizers.NFC()), None),
    "gpt2_regex": (None, FILE, lambda: train(split(GPT2)), None),
    "gpt2_short": (None, FILE, lambda: train(split(GPT2_SHORT)), None),
    "gpt2_prefix": (None, FILE, lambda: train(BYTES(add_prefix_space=True)), None),
    "smollm2": (None, FILE, lambda: train(digits()), None),
    "llama2": ("llama", FILE, lambda: train(None, normalizers.Sequence([normalizers.Prepend("\u2581"), MARKS]), **PIECES), lambda: begin("<s>", 1)),
    "mistral": ("mistral", dict(tokenizer_class="LlamaTokenizer", add_bos_token=True),
                lambda: train(pre_tokenizers.Metaspace(prepend_scheme="first", split=False), **PIECES), lambda: begin("<s>", 1)),
    "gemma": (None, FILE, lambda: train(pre_tokenizers.Split(" ", "merged_with_previous"), MARKS, **PIECES), lambda: begin("<bos>", 4)),
    "class_llama": ("llama", dict(tokenizer_class="LlamaTokenizer"),
                    lambda: train(None, normalizers.Sequence([normalizers.Prepend("\u2581"), MARKS]), **PIECES), lambda: begin("<s>", 1)),
    "class_llama_legacy": ("llama", dict(tokenizer_class="LlamaTokenizerFast", legacy=True),
                           lambda: train(pre_tokenizers.Metaspace(split=False), **PIECES), lambda: begin("<s>", 1)),
    "class_llama_bytes": ("llama", dict(tokenizer_class="LlamaTokenizer"), lambda: train(split(GPT4)), byte_begin),
    "class_gemma": ("gemma2", dict(tokenizer_class="GemmaTokenizer"),
                    lambda: train(pre_tokenizers.Split(" ", "merged_with_previous"), MARKS, **PIECES), lambda: begin("<bos>", 4)),
    "class_qwen2": ("qwen2", FILE, lambda: train(digits()), processors.ByteLevel),
    "class_qwen3": ("qwen3", dict(tokenizer_class="Qwen2Tokenizer", add_prefix_space=True), lambda: train(split(QWEN2), normalizers.NFC()), None),
    "class_gpt2": ("llama", dict(tokenizer_class="GPT2Tokenizer"), lambda: train(digits()), None),
}


ALL_CODES = ["llama3", "qwen2", "gpt2_short", "smollm2", "gpt4", "llama2", "gemma"]


def code_points(tokenizer):
    """Returns a hash for each 4,096 code points, of the ids of texts with each one at different places."""
    hashes = []
    for first in range(0, 0x110000, 4096):
        texts = ["".join(f"a{c}b {c}1{c}{c} \n{c}'{c}'s{c}" for c in map(chr, range(start, start + 64)) if not "\ud800" <= c < "\ue000")
                 for start in range(first, first + 4096, 64)]
        ids = [id + 1 for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False) for id in encoding.ids]
        places = numpy.arange(len(ids), dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(1)
        hashes.append(str(int((numpy.array(ids, dtype=numpy.uint64) * places).sum(dtype=numpy.uint64))))
    return hashes


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    small.FOLDER = FOLDER
    for number, (name, (model_type, settings, make, post)) in enumerate(CASES.items()):
        made = make()
        if post:
            made.post_processor = post()
        small.save(name, made, [], **settings)
        folder = FOLDER / name
        spec = json.loads((folder / "tokenizer.json").read_text())
        (folder / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False) + "\n")
        if model_type:
            (folder / "config.json").write_text(json.dumps(dict(model_type=model_type)) + "\n")
        tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
        texts = TEXTS + small.random_texts(50, SPICE, 16, number)
        cases = [small.case(tokenizer, text, special=i % 3 > 0) for i, text in enumerate(texts)]
        cases += [small.case(tokenizer, a, b, n) for a, b in zip(TEXTS[:20:3], TEXTS[5:25:3]) for n in (None, 7, 16)]
        tokenizer.enable_truncation(6, direction="left")
        left = [dict(text=text, ids=tokenizer.encode(text).ids) for text in TEXTS[:12]]
        tokenizer.no_truncation()
        record = dict(cases=cases, left=left)
        if name in ALL_CODES:
            record["code_points"] = code_points(tokenizer)
        (folder / "expected.json").write_text(json.dumps(record, ensure_ascii=False) + "\n")
        print(name, type(tokenizer).__name__, tokenizer.get_vocab_size(), flush=True)


if __name__ == "__main__":
    main()
