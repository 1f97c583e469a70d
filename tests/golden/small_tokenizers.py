#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/: small tokenizers of our own, and what Hugging Face's package
answers for texts that touch every rule.

    pip install tokenizers==0.23.3 && python3 tests/golden/small_tokenizers.py
"""
import copy
import json
import pathlib
import random
import shutil

from tokenizers import (AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors,
                        trainers)

FOLDER = pathlib.Path(__file__).resolve().parent / "tokenizers"
CORPUS = [
    "The river ran under the bridge, and the children were running along its bank.",
    "She doesn't think they'll come; they've said so twice, haven't they? I'm sure he'd know.",
    "In 1987 about 12,500 people lived there (now: 48,310) - that's 3.9 times as many!",
    "A café in Zürich serves crème brûlée; naïve visitors order \"Gemütlichkeit\".",
    "日本語の文章と中文句子。 한국어 문장도 있다. Привет, мир! Καλημέρα κόσμε.",
    "the thing, the other thing, and nothing else; another bathing brother in the weather.",
    "    indented\n\tcode = [1, 2, 3];  // a comment 🙂👩‍👧",
] * 4
TEXTS = CORPUS[:7] + [
    "", " ", "  ", "\n", " \n\n x", "a  b   c", "word ", "word  ", "tab\tnew\r\nline\u3000wide\u00a0hard",
    "it's we're I'll they've I'd I'm can't 's'S 'T 're'ALL ''s '' 'x x'r x'v x'l \u2019s",
    "12ab34 a1b2 ½٣Ⅷ x² 3.14e-10", "!?...—«»", "don't!!! stop'", "<s> </s><pad>  <mask>\t<mask>x <mas</s",
    "[CLS] [SEP][MASK]x [sep] [UNK]", "<left>  and  <right>  end <alone> x<alone> <alone>y é<alone>",
    "Loud LOUD loudly lóud", "e\u0301 \u00c5\u212b İIıi ΑΣΣ ﬁ Ǆ 각\u1112\u1161\u11ab", "\u0000a\ufffdb\u200bc\u200dd\u00ade\ufeff",
    "🙂👩‍👧‍👦🏳️‍🌈", "क्षि ไทย עִבְרִית العربية", "\u0300a \u0345 \u0f71\u0f72", "x" * 99 + " " + "y" * 100 + " " + "z" * 101,
    "ab" * 70, "thethethe" * 12, " " * 60 + "x", "\n" * 50, "'" * 55,
]
PAIRS = [(TEXTS[i], TEXTS[j]) for i, j in ((0, 1), (1, 0), (3, 4), (4, 3), (7, 0), (0, 7), (7, 7), (2, 2), (13, 17))]
PAIRS.append(("the thing " * 20, "another " * 20))
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def record_of(ids, text, pair, max_length, special):
    """Returns a record of expected.json, without what the arguments leave at its default."""
    record = dict(text=text, ids=ids)
    if pair is not None:
        record["pair"] = pair
    if max_length is not None:
        record["max_length"] = max_length
    if not special:
        record["special"] = False
    return record


def case(tokenizer, text, pair=None, max_length=None, special=True):
    tokenizer.no_truncation()
    if max_length is not None:
        tokenizer.enable_truncation(max_length)
    encoding = tokenizer.encode(text, pair, add_special_tokens=special)
    record = record_of(encoding.ids, text, pair, max_length, special)
    if any(encoding.type_ids):
        assert encoding.type_ids == sorted(encoding.type_ids)
        record["type_zero"] = encoding.type_ids.index(1)
    return record


def random_texts(count, alphabet, longest, seed):
    source = random.Random(seed)
    return ["".join(source.choices(alphabet, k=source.randint(1, longest))) for _ in range(count)]


def answers(tokenizer, lengths, texts=TEXTS, pairs=PAIRS):
    alphabet = list(" \t\n'’.-éaAsStlLdDreRvmM01日🙂\u0301") + ["the", " and", "<mask>", "[SEP]", "</s>", "<alone>", " <right> "]
    out = [case(tokenizer, text) for text in texts + random_texts(60, alphabet, 16, 3)]
    out += [case(tokenizer, text, special=False) for text in texts[:3]]
    out += [case(tokenizer, a, b) for a, b in pairs] + [case(tokenizer, *pairs[0], special=False)]
    out += [case(tokenizer, a, b, n) for a, b in pairs for n in lengths]
    out += [case(tokenizer, a, b, n, special=False) for a, b in pairs[-2:] for n in (1, 2, 7, 8)]
    return out + [case(tokenizer, text, max_length=n) for text in texts[:6] for n in (2, 3, 9)]


def save(name, tokenizer, cases, change=lambda spec: None, **config):
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.no_truncation()
    spec = json.loads(tokenizer.to_str())
    change(spec)
    (folder / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False, indent=0) + "\n")
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    (folder / "expected.json").write_text(f"[\n{lines}\n]\n")


def train_byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=500, special_tokens=SPECIAL, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens([AddedToken(t, normalized=True) for t in SPECIAL])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    return tokenizer


def roberta(base):
    tokenizer = copy.deepcopy(base)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    plain = answers(tokenizer, (4, 5, 16, 17, 64))
    save("roberta", tokenizer, plain)
    spec = json.loads(tokenizer.to_str())
    folder = FOLDER / "roberta_files"
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: id for token, id in spec["model"]["vocab"].items()} | {"<mask>": tokenizer.token_to_id("<mask>")}
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n")
    merges = "".join(f"{a} {b}\n" for a, b in spec["model"]["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges)
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(
        mask_token=dict(__type="AddedToken", content="<mask>", lstrip=True, normalized=False))) + "\n")


def gpt2(base):
    """Makes a tokenizer with a prefix space, without special tokens, with merges as strings, unknown bytes and added
    tokens that strip."""
    tokenizer = copy.deepcopy(base)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_tokens([AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True),
                          AddedToken("<alone>", single_word=True, normalized=False), AddedToken("<right>!")])
    spec = json.loads(tokenizer.to_str())
    model = spec["model"]
    for byte in "#Z\u0102":
        del model["vocab"][byte]
    model["merges"] = [m for m in model["merges"] if not set("".join(m)) & set("#Z\u0102")]
    model.update(unk_token="<unk>", fuse_unk=True)

    def change(saved):
        saved["model"]["merges"] = [" ".join(pair) for pair in saved["model"]["merges"]]
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    texts = TEXTS + ["##Z#x", "a#b", "<right>!  y", "<right>  y"]
    save("gpt2", tokenizer, answers(tokenizer, (1, 6, 31), texts), change)


def ambiguous():
    """Makes a tokenizer with several merges of equal result, in an order that training would not give."""
    tokens = ["<pad>", "a", "b", "c", "ab", "bc", "abc", "ca", "cab", "bca", "aa", "aaa", "abca", "aaab"]
    merges = [("b", "c"), ("a", "a"), ("a", "bc"), ("c", "a"), ("a", "b"), ("ab", "c"), ("c", "ab"), ("ca", "b"),
              ("aa", "a"), ("a", "aa"), ("bc", "a"), ("abc", "a"), ("ab", "ca"), ("aa", "ab"), ("aaa", "b"), ("b", "ca")]
    for name, ignore in (("ambiguous", False), ("ignore_merges", True)):
        tokenizer = Tokenizer(models.BPE({t: 3 * i for i, t in enumerate(tokens)}, merges, ignore_merges=ignore))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.add_special_tokens([AddedToken("<pad>", normalized=False)])
        texts = random_texts(100, "abc", 12, 5) + random_texts(30, "abc", 200, 6) + ["a" * 120, "abca", "aaab", "xaby"]
        save(name, tokenizer, [case(tokenizer, text) for text in texts])


def bert(name, added=(), processor=None, **normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=420, special_tokens=special, show_progress=False))
    tokenizer.add_tokens(list(added))
    tokenizer.post_processor = processor or processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])

    def change(saved):
        del saved["model"]["type"]
        saved["truncation"] = dict(max_length=8, strategy="LongestFirst", stride=0, direction="Right")
        saved["padding"] = dict(strategy={"Fixed": 128}, direction="Right", pad_to_multiple_of=None, pad_id=0,
                                pad_type_id=0, pad_token="[PAD]")
    save(name, tokenizer, answers(tokenizer, (3, 4, 16, 17, 64)), change)
    return tokenizer


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    base = train_byte_level()
    roberta(base)
    gpt2(base)
    ambiguous()
    uncased = bert("bert", lowercase=True)
    bert("bert_cased", lowercase=False, strip_accents=True, handle_chinese_chars=False, processor=processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)),
         added=[AddedToken("Loud", normalized=True), AddedToken("é<alone>", normalized=True), AddedToken("<alone>", single_word=True, normalized=False),
                AddedToken("<left>", lstrip=True, normalized=False), AddedToken("<right>", rstrip=True)])
    bert("bert_lowered_tokens", lowercase=True, added=[AddedToken("LOÚD", normalized=True, single_word=True), AddedToken("THE", normalized=True)])
    folder = FOLDER / "bert_files"
    folder.mkdir()
    tokens = sorted(uncased.get_vocab().items(), key=lambda entry: entry[1])
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in tokens))
    (folder / "tokenizer_config.json").write_text(json.dumps(dict(
        do_lower_case=True, pad_token=dict(content="[PAD]", lstrip=False, normalized=False), model_max_length=512)) + "\n")


if __name__ == "__main__":
    main()
