#!/usr/bin/env python3
"""Writes tests/golden/sentence_pieces/: small SentencePiece models, trained on the spot, and the ids that
the package gives. With `--program tokenize --search N` it makes N more at random instead, and compares
their ids with the program's; `--texts FILE.txt ...` adds the lines of files to the texts.

    pip install sentencepiece==0.2.3 protobuf && python3 tests/golden/sentence_pieces.py
"""
import argparse
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

import small_tokenizers as small

FOLDER = pathlib.Path(__file__).resolve().parent / "sentence_pieces"
RULES = {"ﬁ": "fi", "…": "...", "e\u0301": "é", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "½": " 1/2", "\u200b": "", "日": "D", "xyz": "x"}
SPICE = list(" \t\n\r'’.-`éaAsStlLdDreRvmM01日語🙂\u0301▁\u00a0\u3000½ﬁ…\u200bäé가\u11a8\u0000\ufffd") + [
    "  ", "   ", "ab", "the", " and", "<unk>", "<s>", "<0x41>", "<sym>", "[A B]", "▁▁", "x" * 40, "low", "est", "<ctl>"]
TYPE = proto.ModelProto.SentencePiece


def random_texts(source, count):
    for _ in range(count):
        parts = source.choices(SPICE, k=source.randint(0, 30))
        if source.random() < 0.2:
            parts += [chr(c) for c in (source.randrange(0x110000) for _ in range(6)) if not 0xD800 <= c < 0xE000]
            source.shuffle(parts)
        yield "".join(parts)


def random_options(source):
    chance = lambda p=0.5: source.random() < p
    return dict(
        model_type=source.choice(["unigram", "bpe"]), vocab_size=source.choice([450, 600, 900]), hard_vocab_limit=False,
        normalization_rule_name=source.choice(["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]),
        add_dummy_prefix=chance(0.7), remove_extra_whitespaces=chance(0.6), byte_fallback=chance(0.3),
        treat_whitespace_as_suffix=chance(0.3), allow_whitespace_only_pieces=chance(0.3), split_by_whitespace=chance(0.8),
        split_digits=chance(), split_by_number=chance(), split_by_unicode_script=chance(), character_coverage=source.choice([0.98, 0.995, 1.0]),
        user_defined_symbols=source.sample(["<sym>", "[A B]", "ab", "▁low", "日", "<sym", "…", "  ", "xxx"], source.choice([0, 0, 2, 4])),
        control_symbols=source.sample(["<ctl>", "<2de>", "est"], source.choice([0, 1, 2])),
        unk_surface=source.choice([" ⁇ ", "<unk>"]),
        eos_id=source.choice([2, -1]), pad_id=-1,
    )


def change(source, bytes_):
    """Sets options that the trainer does not have, and marks pieces as unused."""
    model = proto.ModelProto()
    model.ParseFromString(bytes_)
    if source.random() < 0.2:
        model.normalizer_spec.escape_whitespaces = False
    normal = [p for p in model.pieces if p.type == TYPE.NORMAL and len(p.piece) > 1]
    if source.random() < 0.4:
        for piece in source.sample(normal, len(normal) // 6):
            piece.type = TYPE.UNUSED
    if source.random() < 0.2:
        for piece in source.sample(normal, 5):
            piece.score = source.choice([0.0, -1.0, 2.5, -100000.0, -0.0])
    return model.SerializeToString()


def train(source):
    options = random_options(source)
    file = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text_lines()), model_writer=file, minloglevel=2, num_threads=1, **options)
    except RuntimeError as error:
        return options, None, str(error)
    return options, change(source, file.getvalue()), ""


def text_lines():
    return [line for text in small.CORPUS for line in text.splitlines() if line.strip()]


def compare(program, model, texts):
    """Returns the texts whose ids differ with both answers, or the program's message."""
    with tempfile.NamedTemporaryFile(suffix=".model") as file:
        file.write(model)
        file.flush()
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        run = subprocess.run([program, "--tokenizer", file.name, "--no-special-tokens"], input=lines, capture_output=True, text=True)
    if run.returncode:
        return [("", run.stderr.strip(), None)]
    ours = [json.loads(line)["input_ids"] for line in run.stdout.splitlines()]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model).encode(texts)
    return [(t, o, r) for t, o, r in zip(texts, ours, theirs, strict=True) if o != r]


def search(a):
    shared = [line for name in a.texts for line in pathlib.Path(name).read_text(encoding="utf-8", errors="replace").splitlines()]
    wrong = trained = compared = 0
    for number in range(a.search):
        source = random.Random(a.seed * 1000 + number)
        options, model, problem = train(source)
        try:
            if model is None:
                raise RuntimeError(problem)
            sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            print("not trained:", str(error).splitlines()[-1][:150])
            continue
        texts = small.TEXTS + list(random_texts(source, a.random)) + shared
        trained, compared = trained + 1, compared + len(texts)
        different = compare(a.program, model, texts)
        if different:
            wrong += 1
            text, ours, theirs = min(different, key=lambda d: len(d[0]))
            print(options, f"{len(different)} of {len(texts)}\n  {text!r}\n    ours   {ours}\n    theirs {theirs}", flush=True)
    print(f"{trained} models, {compared:,} texts, {wrong} models with differences")
    return wrong


CASES = {
    "unigram_bytes": dict(model_type="unigram", vocab_size=500, byte_fallback=True, user_defined_symbols=["<sym>", "ab", "[A B]"]),
    "unigram_suffix": dict(model_type="unigram", vocab_size=220, treat_whitespace_as_suffix=True, remove_extra_whitespaces=False, control_symbols=["<ctl>", "est"]),
    "unigram_unused": dict(model_type="unigram", vocab_size=220, add_dummy_prefix=False, pad_id=3),
    "bpe_bytes": dict(model_type="bpe", vocab_size=550, byte_fallback=True, user_defined_symbols=["<sym>", "▁the"], allow_whitespace_only_pieces=True, remove_extra_whitespaces=False),
    "bpe_unused": dict(model_type="bpe", vocab_size=300, split_by_whitespace=False),
}


def write():
    FOLDER.mkdir(exist_ok=True)
    answers = {}
    source = random.Random(5)
    texts = [t for t in small.TEXTS if len(t) < 200] + list(random_texts(source, 150))
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        points = lambda text: " ".join(f"{ord(c):X}" for c in text)
        rules.write("".join(f"{points(a)}\t{points(b)}\n" for a, b in RULES.items()))
        rules.flush()
        for name, options in CASES.items():
            file = io.BytesIO()
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(text_lines()), model_writer=file, minloglevel=2, num_threads=1, hard_vocab_limit=False,
                normalization_rule_tsv=rules.name, character_coverage=1.0, **options)
            model = proto.ModelProto()
            model.ParseFromString(file.getvalue())
            normal = [p for p in model.pieces if p.type == TYPE.NORMAL and len(p.piece) > 1]
            for piece in source.sample(normal, len(normal) // 5) if name.endswith("unused") else ():
                piece.type = TYPE.UNUSED
            model.normalizer_spec.ClearField("normalization_rule_tsv")
            (FOLDER / f"{name}.model").write_bytes(model.SerializeToString())
            answers[name] = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString()).encode(texts)
    (FOLDER / "expected.json").write_text(json.dumps({"texts": texts, **answers}, ensure_ascii=False).replace("], ", "],\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--texts", nargs="*", default=[])
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    sys.exit(1 if search(arguments) else 0) if arguments.search else write()
