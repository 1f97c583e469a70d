#!/usr/bin/env python3
"""Writes tests/golden/assembled/: small tokenizers of many parts, trained on the spot, and what
Hugging Face's package answers. With `--program tokenize --search N` it makes N more at random
instead, and compares their ids with the program's.

    pip install tokenizers==0.23.3 && python3 tests/golden/assembled_tokenizers.py
"""
import argparse
import base64
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

import small_tokenizers as small
from charsmap import charsmap

FOLDER = pathlib.Path(__file__).resolve().parent / "assembled"
RULES = {"ﬁ": "fi", "…": "...", "é": "e", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\u200b": "", "ä\u0301": "Q",
         "\r": "", "ab": "X", "Å": "\u00c5", "½": " 1/2", "日本": "J", "日": "D", "\u0130": "i"}
MAP = charsmap(RULES)
TEXTS = [t for t in small.TEXTS if len(t) < 200] + [
    "a▁b ▁c ▁ d▁", "``quoted'' text", " \u0301x a \u0301b", "日本語 日\u0301", "a\u00a0 b \u00a0", "\u3000", "\u200b", " \u200b ", "x \u200b y",
    "abab ab\u0301 <unk> x<unk>y", "0123 x4", "<a b>  <A B> é<low>", "\u1112\u1161\u11ab각 가\u11a8", "ä\u0301 ä\u0301\u0301", "a\r\nb\rc", "\u0600a\u0301 क्षि©\u200d©"]
SPICE = list(" \t\n'’.-`éaAsStlLdDreRvmM01日語🙂\u0301▁\u00a0\u3000½ﬁ…\u200bä가\u11a8") + ["  ", "ab", "the", " and", "<unk>", " <low> ", "<a b>", "<left>", "<ALO>"]


def precompiled():
    return normalizers.Precompiled(MAP)


NORMALIZERS = {
    "nfc": normalizers.NFC, "nfd": normalizers.NFD, "nfkc": normalizers.NFKC, "nfkd": normalizers.NFKD,
    "lower": normalizers.Lowercase, "accents": normalizers.StripAccents, "strip": normalizers.Strip,
    "strip_right": lambda: normalizers.Strip(left=False), "strip_left": lambda: normalizers.Strip(right=False),
    "quotes": lambda: normalizers.Replace("``", '"'), "spaces": lambda: normalizers.Replace(Regex(" {2,}"), " "),
    "blanks": lambda: normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), "map": precompiled,
    "space_marks": lambda: normalizers.Replace(" ", "▁"), "prepend": lambda: normalizers.Prepend("▁"),
    "bert": normalizers.BertNormalizer,
}
SPLITTERS = {
    "always": pre_tokenizers.Metaspace, "first": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
    "never": lambda: pre_tokenizers.Metaspace(prepend_scheme="never"),
    "unsplit": lambda: pre_tokenizers.Metaspace(split=False), "space": pre_tokenizers.WhitespaceSplit,
    "words": pre_tokenizers.Whitespace, "punctuation": lambda: pre_tokenizers.Punctuation("isolated"),
    "punctuation_next": lambda: pre_tokenizers.Punctuation("merged_with_next"),
    "punctuation_previous": lambda: pre_tokenizers.Punctuation("merged_with_previous"),
    "punctuation_contiguous": lambda: pre_tokenizers.Punctuation("contiguous"),
    "punctuation_removed": lambda: pre_tokenizers.Punctuation("removed"),
    "digits": lambda: pre_tokenizers.Digits(True), "digits_run": lambda: pre_tokenizers.Digits(False),
    "split": lambda: pre_tokenizers.Split("a", "merged_with_previous"),
    "split_spaces": lambda: pre_tokenizers.Split(Regex(" {2,}"), "isolated"),
    "split_invert": lambda: pre_tokenizers.Split(" ", "removed", invert=True),
    "bytes": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "bytes_prefix": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
    "bytes_plain": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    "bert": pre_tokenizers.BertPreTokenizer,
}


def sequence(kind, names, table):
    parts = [table[name]() for name in names]
    return None if not parts else parts[0] if len(parts) == 1 else kind(parts)


def make(model, normal, split, tokens=(), **options):
    bpe = dict(unk_token="<unk>", fuse_unk=options.pop("fuse_unk", False), byte_fallback=options.get("byte_fallback", False),
               continuing_subword_prefix=options.pop("prefix", None), end_of_word_suffix=options.pop("suffix", None))
    tokenizer = Tokenizer({"unigram": lambda: models.Unigram(), "bpe": lambda: models.BPE(**{k: v for k, v in bpe.items() if v}),
                           "wordpiece": lambda: models.WordPiece(unk_token="<unk>")}[model]())
    normalizer = sequence(normalizers.Sequence, normal, NORMALIZERS)
    splitter = sequence(pre_tokenizers.Sequence, split, SPLITTERS)
    if normalizer:
        tokenizer.normalizer = normalizer
    if splitter:
        tokenizer.pre_tokenizer = splitter
    special = ["<unk>", "<pad>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if options.get("byte_fallback") else [])
    size = 180 + len(special)
    trainer = {"unigram": lambda: trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=special, show_progress=False),
               "bpe": lambda: trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False,
                                                 **{k: bpe[k] for k in ("continuing_subword_prefix", "end_of_word_suffix") if bpe[k]}),
               "wordpiece": lambda: trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False)}[model]()
    tokenizer.train_from_iterator([t for t in small.CORPUS if "日" not in t] + ["日本"] * 3, trainer)
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = [t for t in spec["added_tokens"] if not t["content"].startswith("<0x")]
    if options.get("byte_fallback"):
        spec["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.add_tokens(list(tokens))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 2), ("</s>", 3)])
    return tokenizer


TOKENS = [AddedToken("<low>", normalized=True), AddedToken("<a b>", normalized=True), AddedToken("<left>", lstrip=True, normalized=False),
          AddedToken("<ALO>", normalized=True, single_word=True), AddedToken("<right>", rstrip=True, normalized=False)]
WORDS = [token for token in TOKENS if " " not in token.content]
CASES = {
    "unigram_nfkc": ("unigram", ("nfkc", "lower"), ("always",), ()),
    "unigram_albert": ("unigram", ("quotes", "nfkd", "accents", "lower", "map"), ("space", "always"), TOKENS),
    "unigram_deberta": ("unigram", ("strip", "map", "spaces"), ("always",), WORDS),
    "unigram_camembert": ("unigram", ("map", "blanks"), ("always",), TOKENS),
    "unigram_plain": ("unigram", ("map",), ("always",), WORDS),
    "unigram_first": ("unigram", ("strip_right",), ("first",), TOKENS),
    "unigram_front": ("unigram", ("nfkc", "accents"), ("bert", "first"), WORDS),
    "unigram_unsplit": ("unigram", ("nfc",), ("unsplit",), ()),
    "unigram_bytes": ("unigram", (), ("never",), (), dict(byte_fallback=True)),
    "unigram_bare": ("unigram", ("prepend", "space_marks"), (), ()),
    "bpe_fallback": ("bpe", ("prepend", "space_marks"), (), (), dict(byte_fallback=True, fuse_unk=True)),
    "bpe_suffix": ("bpe", ("nfd", "lower"), ("words", "digits"), TOKENS, dict(suffix="</w>")),
    "bpe_prefix": ("bpe", ("bert",), ("bert",), (), dict(prefix="##")),
    "bpe_nfc_bytes": ("bpe", ("nfc",), ("bytes",), TOKENS),
    "bpe_digits_bytes": ("bpe", (), ("digits", "bytes_prefix"), ()),
    "wordpiece_words": ("wordpiece", ("nfkd", "accents"), ("space", "punctuation", "digits_run"), TOKENS),
}


def build(case):
    model, normal, split, tokens, *options = case
    return make(model, normal, split, tokens, **(options[0] if options else {}))


def write():
    shutil.rmtree(FOLDER, ignore_errors=True)
    small.FOLDER = FOLDER
    pairs = [(TEXTS[i], TEXTS[i + 5]) for i in range(0, 30, 5)]
    for name, case in CASES.items():
        tokenizer = build(case)
        texts = TEXTS + small.random_texts(60, SPICE, 14, 5)
        answers = [small.case(tokenizer, text, special=i % 3 > 0) for i, text in enumerate(texts)]
        answers += [small.case(tokenizer, a, b, n) for a, b in pairs for n in (None, 7, 16)]
        change = {"unigram_nfkc": old_spelling, "unigram_albert": no_type}.get(name, lambda spec: None)
        small.save(name, tokenizer, answers, change)


def old_spelling(spec):
    spec["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}


def no_type(spec):
    del spec["model"]["type"]


def random_case(source):
    model = source.choice(["unigram", "unigram", "unigram", "bpe", "bpe", "wordpiece"])
    normal = source.sample(sorted(NORMALIZERS), source.choice([0, 1, 1, 2, 3]))
    split = source.sample(sorted(SPLITTERS), source.choice([0, 1, 1, 2, 3]))
    if model == "unigram" and source.random() < 0.5:
        split = source.choice([["always"], ["space", "always"], ["first"]])
    bytes_at = [i for i, name in enumerate(split) if name.startswith("bytes")]
    if bytes_at and (len(bytes_at) > 1 or bytes_at[0] != len(split) - 1):
        split = [name for name in split if not name.startswith("bytes")]
    options = dict(byte_fallback=source.random() < 0.3 and model != "wordpiece", fuse_unk=source.random() < 0.5)
    if bytes_at:
        options["byte_fallback"] = False
    elif model == "bpe" and source.random() < 0.2:
        options["suffix"] = "</w>"
    return model, normal, split, source.choice([(), TOKENS, WORDS]), options


POST_PROCESSORS = {
    "template": lambda: processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1",
                                                      special_tokens=[("<s>", 2), ("</s>", 3)]),
    "template_twice": lambda: processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                            special_tokens=[("<s>", 2), ("</s>", 3)]),
    "roberta": lambda: processors.RobertaProcessing(("</s>", 3), ("<s>", 2)),
    "bert": lambda: processors.BertProcessing(("</s>", 3), ("<s>", 2)),
    "sequence": lambda: processors.Sequence([processors.ByteLevel(trim_offsets=False), POST_PROCESSORS["template"]()]),
}


def spelled(tokenizer, source):
    """Returns the file of a tokenizer in the form that other versions and programs write."""
    spec = json.loads(tokenizer.to_str())
    if source.random() < 0.3:
        del spec["model"]["type"]
    merges = spec["model"].get("merges", [])
    if merges and source.random() < 0.5 and not any(" " in part for merge in merges for part in merge):
        spec["model"]["merges"] = [" ".join(merge) for merge in merges]
    if source.random() < 0.3:
        spec["truncation"] = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
        spec["padding"] = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 1,
                           "pad_type_id": 0, "pad_token": "<pad>"}
    return json.dumps(spec)


def answers(program, folder, records, flags):
    lines = "".join(json.dumps(dict(zip(("text", "text_pair"), record))) + "\n" for record in records)
    run = subprocess.run([program, "--tokenizer", folder, *flags], input=lines, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    return [(a["input_ids"], a["token_type_ids"]) for a in map(json.loads, run.stdout.splitlines())], None


def search(program, count, seed):
    source, wrong = random.Random(seed), 0
    for number in range(count):
        case, post = random_case(source), source.choice(sorted(POST_PROCESSORS))
        tokenizer = build(case)
        tokenizer.post_processor = POST_PROCESSORS[post]()
        file = spelled(tokenizer, source)
        texts = TEXTS + small.random_texts(300, SPICE, 20, number)
        pairs = list(zip(texts, texts[7:]))
        length = source.choice([4, 7, 8, 15, 16, 64])
        reference = Tokenizer.from_str(file)
        reference.no_truncation()
        reference.no_padding()
        expected = [reference.encode(text) for text in texts]
        reference.enable_truncation(length)
        expected += [reference.encode(*pair) for pair in pairs]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tokenizer.json").write_text(file)
            ours, error = answers(program, folder, [(text,) for text in texts], [])
            cut, error = answers(program, folder, pairs, ["--max-length", str(length)]) if ours else (None, error)
        name = (*case[:3], len(case[3]), case[4], post, length)
        if not cut:
            print(name, error, flush=True)
            wrong += 1
            continue
        different = [d for d in zip([(text,) for text in texts] + pairs, ours + cut, expected)
                     if d[1] != (d[2].ids, d[2].type_ids)]
        if different:
            wrong += 1
            record, ids, theirs = min(different, key=lambda d: sum(map(len, d[0])))
            print(name, f"{len(different)} of {len(expected)}\n  {record!r}\n    ours   {ids}\n    theirs {theirs.ids, theirs.type_ids}",
                  flush=True)
    print(f"{count} tokenizers, {wrong} with differences or refused")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    sys.exit(1 if search(a.program, a.search, a.seed) else 0) if a.search else write()
