#!/usr/bin/env python3
"""Times other tokenizers at the work of bench/tokenize and bench/encode_file.

    tokenizer_peers.py texts DIR FILE.jsonl   each text on its own, no special tokens, on one core
    tokenizer_peers.py pairs DIR FILE.jsonl   pairs, truncated, with special tokens, on all cores

DIR holds a tokenizer.json. Each peer is given the texts in the form that is fastest for it, and its ids are
compared with those of Hugging Face's `tokenizers`. Prints each row of results on a line, see
report.py.
"""
import base64
import itertools
import json
import os
import pathlib
import sys
import time

MAX_LENGTH = 128
PASSES = 5  # passes after a first, cold one; the best counts
ENOUGH = 3  # seconds, after which there is no further pass
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def read(file):
    """Returns the texts; those of a pair follow each other."""
    fields = ("text", "sentence1", "sentence2", "premise", "hypothesis")
    with open(file, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [record[field] for record in records for field in fields if field in record]


def hugging_face(path):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def use_hugging_face(path, texts):
    tokenizer = hugging_face(path)
    return lambda: [encoding.ids for encoding in
                    tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def use_gigatoken(path, texts):
    import gigatoken
    tokenizer = gigatoken.Tokenizer(hugging_face(path))
    texts = [text.encode() for text in texts]
    return lambda: tokenizer.encode_batch(texts)


def use_tokie(path, texts):
    import tokie
    tokenizer = tokie.Tokenizer.from_json(str(path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda: tokenizer.encode_batch_flat(texts, add_special_tokens=False)  # ids, lengths


def use_flash_tokenizer(path, texts):
    from flash_tokenizer import BertTokenizerFlash
    spec = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    lower = spec["normalizer"]["lowercase"]
    tokenizer = BertTokenizerFlash(str(path / "vocab.txt"), do_lower_case=lower).tokenizer
    return lambda: tokenizer.batch_encode(texts, "do_not_pad", 1 << 20, False)


def byte_symbols():
    """Returns the character that stands for each byte in a vocabulary of bytes."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return {chr(byte if byte in printable else next(others)): bytes([byte]) for byte in range(256)}


def use_tiktoken(path, texts):
    import tiktoken
    spec = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    symbols = byte_symbols()
    tokens = list(symbols.values())
    for merge in spec["model"]["merges"]:
        both = merge.replace(" ", "") if isinstance(merge, str) else "".join(merge)
        tokens.append(b"".join(symbols[character] for character in both))
    ranks = {token: rank for rank, token in enumerate(tokens)}
    encoding = tiktoken.Encoding("gpt2", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
    return lambda: [encoding.encode_ordinary(text) for text in texts]


def character_map(part):
    """Returns the compiled rules of a normalizer, or of one of its parts."""
    if not part or part["type"] == "Precompiled":
        return base64.b64decode(part["precompiled_charsmap"]) if part else b""
    return next(filter(None, map(character_map, part.get("normalizers", []))), b"")


def use_sentence_piece(path, texts):
    """Returns SentencePiece's model of the pieces, scores and rules in the file, with equal ids."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
    spec = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    model = sentencepiece_model_pb2.ModelProto()
    special = {token["content"] for token in spec["added_tokens"]}
    for id, (piece, score) in enumerate(spec["model"]["vocab"]):
        kind = "UNKNOWN" if id == spec["model"]["unk_id"] else "CONTROL" if piece in special else "NORMAL"
        model.pieces.add(piece=piece, score=score, type=getattr(model.SentencePiece, kind))
    model.normalizer_spec.precompiled_charsmap = character_map(spec["normalizer"])
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    return lambda: processor.encode(texts, num_threads=1)


PEERS = {
    "BPE": {"gigatoken": use_gigatoken, "tokie": use_tokie, "tiktoken": use_tiktoken},
    "Unigram": {"SentencePiece": use_sentence_piece},
    "WordPiece": {"tokie": use_tokie, "flash-tokenizer": use_flash_tokenizer},
}


def seconds(run):
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def best_seconds(run):
    """Returns the shortest time of up to PASSES passes. Stops after ENOUGH seconds."""
    taken = [seconds(run)[0]]
    while len(taken) < PASSES and sum(taken) < ENOUGH:
        taken.append(seconds(run)[0])
    return min(taken)


def same(ids, expected, name):
    """Returns the share of the texts with equal ids, or None if a peer numbers tokens otherwise."""
    if name == "tiktoken":
        return None
    if name == "tokie":
        flat, lengths = (array.tolist() for array in ids)
        ends = itertools.accumulate(lengths)
        ids = [flat[end - length:end] for end, length in zip(ends, lengths)]
    rows = [list(map(int, row)) for row in ids]
    if name == "flash-tokenizer":
        rows = [row[1:-1] for row in rows]  # it always adds [CLS] and [SEP]
    return sum(map(list.__eq__, rows, expected)) / len(expected)


def row(what, on, who, value, unit, share=None):
    note = "" if share in (None, 1) else f"{100 * share:.2f} % of the texts equal"
    print(json.dumps({"what": what, "on": on, "who": who, "value": value, "unit": unit,
                      "note": note}), flush=True)


def measure_texts(path, file):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    texts = read(file)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    on = f"{path.name}, {file.stem}"
    spec = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    by_parts = "BPE" if "merges" in spec["model"] else "Unigram" if "unk_id" in spec["model"] else "WordPiece"
    family = spec["model"].get("type", by_parts)
    expected = None
    for name, use in {"Hugging Face": use_hugging_face, **PEERS[family]}.items():
        try:
            run = use(path, texts)
            cold, ids = seconds(run)
            warm = best_seconds(run)
        except Exception as error:  # includes Rust's panics, which have no common type
            print(f"{name}: {error!r}", file=sys.stderr)
            continue
        expected = expected or ids
        share = same(ids, expected, name)
        row("encode/warm", on, name, megabytes / warm, "MB/s", share)
        row("encode/cold", on, name, megabytes / cold, "MB/s", share)


def measure_pairs(path, file):
    tokenizer = hugging_face(path)
    tokenizer.enable_truncation(MAX_LENGTH)
    texts = read(file)
    pairs = list(zip(texts[::2], texts[1::2]))
    best = best_seconds(lambda: tokenizer.encode_batch_fast(pairs))
    row("encode_file", f"{path.name}, {file.stem}", "Hugging Face", len(pairs) / best, "pairs/s")


if __name__ == "__main__":
    kind, path, file = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if kind == "texts":
        os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
        measure_texts(path, file)
    else:
        measure_pairs(path, file)
