#!/usr/bin/env python3
"""Times other tokenizers at the work of bench/tokenize and bench/encode_file.

    tokenizer_peers.py texts DIR FILE.jsonl   each text on its own, no special tokens, on one core
    tokenizer_peers.py pairs DIR FILE.jsonl   pairs, truncated, with special tokens, on all cores

DIR holds a tokenizer.json. Each peer is given the texts in the form that is fastest for it. `cold` is
the best first pass of a few new tokenizers; their ids are compared with those of Hugging Face's `tokenizers`
before the passes for `warm`.
A row of a peer with other ids says how many texts differ, and a peer that cannot be used has a row that says
so. Prints each row of results on a line, see report.py.
"""
import base64
import importlib.metadata
import itertools
import json
import os
import pathlib
import sys
import time

MAX_LENGTH = 128
PASSES = 5  # of which the best counts
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


def use_nanotoken(path, texts):
    import nanotoken
    tokenizer = nanotoken.Tokenizer.from_json(hugging_face(path).to_str())
    return lambda: tokenizer.encode_batch(texts, add_special_tokens=False, parallel=False)


def use_morpheme(path, texts):
    import morpheme
    tokenizer = morpheme.Tokenizer.from_str(hugging_face(path).to_str())
    return lambda: [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def use_kitoken(path, texts):
    import kitoken
    tokenizer = kitoken.Kitoken.from_tokenizers(hugging_face(path).to_str().encode())
    return lambda: tokenizer.encode_all(texts, True)


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
    "BPE": {"gigatoken": use_gigatoken, "tokie": use_tokie, "tiktoken": use_tiktoken,
            "kitoken": use_kitoken, "morpheme": use_morpheme},
    "Unigram": {"sentencepiece": use_sentence_piece, "kitoken": use_kitoken, "morpheme": use_morpheme},
    "WordPiece": {"nanotoken": use_nanotoken, "tokie": use_tokie, "flash-tokenizer": use_flash_tokenizer,
                  "kitoken": use_kitoken, "morpheme": use_morpheme},
}


def seconds(run, *arguments):
    begin = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - begin


def best_seconds(run, make=None):
    """Returns the shortest time of up to PASSES passes, each with what `make` makes. Stops after ENOUGH seconds."""
    taken, begin = [], time.perf_counter()
    while not taken or len(taken) < PASSES and time.perf_counter() - begin < ENOUGH:
        taken.append(seconds(run, *([make()] if make else [])))
    return min(taken)


def rows_of(ids, name):
    """Returns a list of ids for each text."""
    if name == "tokie":
        flat, lengths = (array.tolist() for array in ids)
        ends = itertools.accumulate(lengths)
        return [flat[end - length:end] for end, length in zip(ends, lengths)]
    if name == "nanotoken":
        return ids.to_list()
    rows = [list(map(int, row)) for row in ids]
    return [row[1:-1] for row in rows] if name == "flash-tokenizer" else rows  # it adds [CLS] and [SEP]


def note(ids, expected, name):
    """Returns how many texts have other ids than expected, or nothing if none has."""
    if name == "tiktoken":
        return "numbers tokens otherwise"
    different = sum(map(list.__ne__, rows_of(ids, name), expected))
    return f"{different:,} of {len(expected):,} texts differ" if different else ""


def version(name):
    return importlib.metadata.version("tokenizers" if name == "Hugging Face" else name)


def row(what, on, who, value, unit, note=""):
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
            who = f"{name} {version(name)}"
            cold = best_seconds(lambda run: run(), lambda: use(path, texts))
            run = use(path, texts)
            ids = run()
        except Exception as error:  # includes Rust's panics, which have no common type
            if name == "Hugging Face":
                raise
            row("encode/warm", on, name, None, "MB/s", f"missing: {error!r}"[:100])
            continue
        if name == "Hugging Face":
            expected = ids
        difference = note(ids, expected, name)
        row("encode/cold", on, who, megabytes / cold, "MB/s", difference)
        row("encode/warm", on, who, megabytes / best_seconds(run), "MB/s", difference)

    if family == "WordPiece":
        measure_encoded_pairs(path, texts, megabytes, on)


def pairs_by_nanotoken(path, texts):
    """Returns a function that encodes pairs into their ids, their lengths and those of their first segments.

    nanotoken encodes no pairs, so that numpy cuts its ids and puts them together.
    """
    import nanotoken
    import numpy
    tokenizer = nanotoken.Tokenizer.from_json(hugging_face(path).to_str())
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    room = MAX_LENGTH - 3

    def encode():
        batch = tokenizer.encode_batch(texts, add_special_tokens=False, parallel=False)
        all_lengths = batch.lengths[:len(texts) // 2 * 2].reshape(-1, 2).astype(numpy.int64)
        short, long = all_lengths.min(1), all_lengths.max(1)
        kept = numpy.where(short + long <= room, long, numpy.maximum(short, room - short))
        both = short + kept > room
        short, kept = numpy.where(both, room // 2, short), numpy.where(both, room - room // 2, kept)
        swapped = all_lengths[:, 0] > all_lengths[:, 1]
        lengths = numpy.stack([numpy.where(swapped, kept, short), numpy.where(swapped, short, kept)], 1)
        totals = lengths.sum(1) + 3
        starts = numpy.cumsum(totals) - totals
        ids = numpy.full(totals.sum(), sep, batch.ids.dtype)
        ids[starts] = cls
        flat = lengths.ravel()
        to = numpy.stack([starts + 1, starts + 2 + lengths[:, 0]], 1).ravel()
        within = numpy.arange(flat.sum()) - numpy.repeat(numpy.cumsum(flat) - flat, flat)
        ids[numpy.repeat(to, flat) + within] = batch.ids[
            numpy.repeat(batch.offsets[:len(flat)], flat) + within]
        return ids, totals, lengths[:, 0] + 2
    return encode


def measure_encoded_pairs(path, texts, megabytes, on):
    """Compares encoded pairs of neighbouring texts, as encode_pairs/warm of bench/tokenize makes them."""
    tokenizer = hugging_face(path)
    tokenizer.enable_truncation(MAX_LENGTH)
    pairs = list(zip(texts[::2], texts[1::2]))
    expected = [(encoding.ids, encoding.type_ids.count(0)) for encoding in tokenizer.encode_batch_fast(pairs)]
    best = best_seconds(lambda: tokenizer.encode_batch_fast(pairs))
    row("encode_pairs/warm", on, f"Hugging Face {version('Hugging Face')}", megabytes / best, "MB/s")
    try:
        encode = pairs_by_nanotoken(path, texts)
        ids, totals, firsts = (array.tolist() for array in encode())
    except Exception as error:
        return row("encode_pairs/warm", on, "nanotoken", None, "MB/s", f"missing: {error!r}"[:100])
    ends = itertools.accumulate(totals)
    made = [(ids[end - total:end], first) for end, total, first in zip(ends, totals, firsts)]
    different = sum(map(tuple.__ne__, made, expected))
    row("encode_pairs/warm", on, f"nanotoken {version('nanotoken')} and numpy", megabytes / best_seconds(encode),
        "MB/s", f"{different:,} of {len(expected):,} pairs differ" if different else "")


def measure_pairs(path, file):
    tokenizer = hugging_face(path)
    tokenizer.enable_truncation(MAX_LENGTH)
    texts = read(file)
    pairs = list(zip(texts[::2], texts[1::2]))
    best = best_seconds(lambda: tokenizer.encode_batch_fast(pairs))
    row("encode_file", f"{path.name}, {file.stem}", f"Hugging Face {version('Hugging Face')}", len(pairs) / best, "pairs/s")


if __name__ == "__main__":
    kind, path, file = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if kind == "texts":
        os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
        measure_texts(path, file)
    else:
        measure_pairs(path, file)
