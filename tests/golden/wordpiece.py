#!/usr/bin/env python3
"""Writes tests/golden/wordpiece.json: the results of tokenizers' BERT parts for hostile texts.

The vocabulary is this script's own and small. `sweep` holds a checksum of the ids of a text around
each of many code points.
"""
import itertools
import json
import pathlib
import random
import string

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

FILE = pathlib.Path(__file__).resolve().parent / "wordpiece.json"
OPTIONS = ("clean_text", "handle_chinese_chars", "lowercase", "strip_accents")
TEXTS = [
    "", " ", "Hello, World!", "naïve CAFÉ re\u0301sume\u0301 ÅNGSTRÖM", "don't stop...now", "\tline\r\nbreaks\u2028here\x0b\x0c.",
    "zero\0byte \ufffd\u200dgone\u00ad", "bell\x07 and \x85 next", "no\u00a0break\u3000space", "我爱北京 and 天安门",
    "\uf900\u2f800x\U0002b81f\U0002b820", "한국어 각", "ﬁne ǅ ẞß İI\u0307 ΑΣ Σ", "Ω\u212bK \u2126", "\u1fef\u037e\u0387 x\u226e",
    "a\u0323\u0307b a\u0307\u0323b", "a\u302e\u0300\u302a \U0001d165\U0001d16d\U0001d166", "\u0301\u0301 \u0344\u0345",
    "दिल्ली ภาษาไทย עִבְרִית", "😀👩‍👩‍👧 ✌🏽", "“quotes” – dash… ¿qué? §5 €9 $1+2=3~^`|<>", "\u02c9\u166d\U000111c9\u061d",
    "\ue000\U000f0000 private", "\u0378\U000e0fff unassigned", "Ǆǆ \U00010400\U0001e900 Ꭰꭰ Ა", "ᾂ ΐ ǖ Ǖ", "1²½Ⅻ٣", "e" * 100, "e" * 101,
    "é" * 100, "é" * 101, "中" * 120, "." * 120, "x" * 50 + "\u0301" * 60, "undoing the undone", "unaffable!zzz qqqq",
]
PIECES = """un do ing done the stop now hello world able aff fine ##ing ##one ##do ##able ##aff ##ff ##stop
    cafe café naive ##ve resume é ##é ##e\u0301 ß ##ß 我 爱 北 京 天 门 中 ##中 한 ᄒ ##ᅡ ##ᆫ ##국 ##국어 ω σ ##σ k K å Å ü ##ü
    😀 ##😀 ее ий ##ий ा ##ा ##ि ं “ ” – … ¿ § € ½ ² ##² eee ##eee ##eeeeeeeeeeeeeeeeeeee""".split()


def vocabulary():
    characters = string.ascii_letters + string.digits
    tokens = ["[PAD]", "[UNK]", *string.punctuation, *characters, *("##" + c for c in characters if c != "q")]
    return {token: i for i, token in enumerate(dict.fromkeys([*tokens, *PIECES]))}


def random_texts(count):
    draw = random.Random(11)
    pools = ["abcdefgh XYZ.,#", "".join(map(chr, range(0x21))), "éàüñçøßİıΣσςДж", "中文字\uf900\u3000。、", "\u0301\u0323\u0345\u302e\u200d",
             "한글각\u1100\u1161", "😀\u200d\ufe0f👩", "\u0915\u093f\u094d\u0937\u0902", "“”–—…·¡«»"]
    for _ in range(count):
        mixed = "".join(draw.sample(pools, draw.choice((1, 2, 3))))
        yield "".join(draw.choice(mixed) for _ in range(draw.randint(1, 24)))


def swept():
    """Yields every code point up to U+33FF, then every 37th one."""
    codes = itertools.chain(range(0x3400), range(0x3400, 0x110000, 37))
    return (c for c in codes if not 0xD800 <= c < 0xE000)


def tokenizer_of(normalizer):
    tokenizer = Tokenizer(models.WordPiece(vocabulary(), unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def checksum(rows):
    """Returns FNV-1a over each row's length and numbers."""
    value = 0xCBF29CE484222325
    for row in rows:
        for number in (len(row), *row):
            value = (value ^ number) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def main():
    texts = [*TEXTS, *random_texts(60)]
    cases = []
    for values in itertools.product((True, False), (True, False), (True, False), (None, True, False)):
        options = dict(zip(OPTIONS, values))
        normalizer = normalizers.BertNormalizer(**options)
        cases.append({"options": options, "normal": [normalizer.normalize_str(text) for text in TEXTS]})
        if values[:2] == (True, True) and values[3] is None:
            tokenizer = tokenizer_of(normalizer)
            ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
            cases[-1]["ids"] = [ids(text) for text in texts]
            cases[-1]["sweep"] = checksum(ids("{0} a{0}b {0}{0} .{0}1".format(chr(c))) for c in swept())
    golden = {"vocabulary": list(vocabulary()), "texts": texts, "cases": cases}
    FILE.write_text(json.dumps(golden, separators=(",", ":")).replace('},{', '},\n{') + "\n")


if __name__ == "__main__":
    main()
