#!/usr/bin/env python3
"""Writes include/seqtrain/text/unicode/unicode_tables.hpp and tests/golden/unicode.json.

Hugging Face's tokenizers takes its character data from several Rust crates of different Unicode
versions, so no single edition of the standard gives its ids. This asks the package itself about
every scalar value. The tables are for the program; the JSON holds, for each property, a count and
a checksum over all scalar values, from which the test sees that the tables are read as they were
written.

    pip install tokenizers==0.23.3 && python3 tests/golden/unicode_tables.py
"""
import json
import pathlib
import string
import textwrap
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

from charsmap import charsmap

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
GOLDEN = pathlib.Path(__file__).resolve().parent
HEADER = GOLDEN.parent.parent / "include/seqtrain/text/unicode/unicode_tables.hpp"
HANGUL = range(0xAC00, 0xAC00 + 11172)


def bert(**on):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **on}).normalize_str


nfd = normalizers.NFD().normalize_str
nfc = normalizers.NFC().normalize_str
nfkd = normalizers.NFKD().normalize_str


def probe_sets():
    """Probes the sets of characters that share a property, each by its effect on a text."""
    clean, spaced, stripped = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True).pre_tokenize_str
    sets = {name: set() for name in
            ("letters", "numbers", "whitespace", "punctuation", "controls", "ideographs", "nonspacing_marks")}
    regex_whitespace = set()
    for code in SCALARS:
        c = chr(code)
        if len(pieces("a" + c)) == 1:
            sets["letters"].add(code)
        elif len(pieces("1" + c)) == 1:
            sets["numbers"].add(code)
        elif len(pieces("!" + c)) == 2:
            regex_whitespace.add(code)
        parts = len(words("a" + c + "a"))
        if parts > 1:
            sets["punctuation" if parts == 3 else "whitespace"].add(code)
        if clean(c) == "" and code not in (0, 0xFFFD):
            sets["controls"].add(code)
        if spaced(c) != c:
            sets["ideographs"].add(code)
        if nfd(c) == c and stripped(c) == "":
            sets["nonspacing_marks"].add(code)
    assert regex_whitespace == sets["whitespace"], "one table serves both families"
    return sets


def probe_word_characters():
    """\\w of the rule for added tokens that must stand alone (`single_word`)."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.add_tokens([tokenizers.AddedToken("!", single_word=True)])
    return {code for code in SCALARS if len(tokenizer.encode("!" + chr(code)).ids) == 1}


def probe_other_sets(sets):
    """Probes the sets of characters that other normalizers and pre-tokenizers use and BERT's do not."""
    digits = pre_tokenizers.Digits(individual_digits=False).pre_tokenize_str
    words = pre_tokenizers.Whitespace().pre_tokenize_str
    accents = normalizers.StripAccents().normalize_str
    punctuation = pre_tokenizers.Punctuation().pre_tokenize_str
    split = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
    strip = normalizers.Strip().normalize_str
    numeric, marks, no_gap = set(), set(), sets["word_characters"] | sets["whitespace"]
    for code in SCALARS:
        c = chr(code)
        if len(digits("a" + c + "a")) == 3:
            numeric.add(code)
        if accents(c) == "":
            marks.add(code)
        assert (len(punctuation("a" + c)) == 2) == (code in sets["punctuation"])
        assert (len(split("a" + c + "a")) == 2) == (code in sets["whitespace"])
        assert (strip(c) == "") == (code in sets["whitespace"])
        assert (len(words("a" + c)) == 1) == (code in no_gap)
        assert (len(words("!" + c)) == 1) == (code not in sets["word_characters"])
    sets["numeric"], sets["marks"] = numeric, marks


def probe_graphemes():
    """Probes where graphemes begin, by what `Precompiled` does to texts of one and of several. It
    looks up a grapheme of at most five bytes in its map, and takes the result of the shortest prefix
    that the map has for the whole grapheme."""
    def mapped(**entries):
        return normalizers.Precompiled(charsmap({chr(int(k[1:], 16)): v for k, v in entries.items()})).normalize_str

    letter, signs, mark = mapped(u61="b"), mapped(uA9="\u00a9", uAE="\u00ae"), mapped(u301="x")
    joined = {c for c in SCALARS if letter("a" + chr(c)) == "b"}
    sets = {
        "grapheme_prepends": {c for c in SCALARS if c != 0x61
                              and letter(chr(c) + "a\u0301\u0301") != chr(c) + "b"},
        "grapheme_extends": {c for c in joined
                             if signs("\u00a9" + chr(c) + "\u200d\u00ae\u0301").endswith("\u0301")},
        "pictographs": {c for c in SCALARS if c not in joined
                        and signs("\u00a9\u200d" + chr(c)) == "\u00a9\u200d" + chr(c)},
        "grapheme_controls": {c for c in SCALARS if c != 0x301
                              and mark(chr(c) + "\u0301\u0301") == chr(c) + "x"},
    }
    sets["grapheme_spacing"] = joined - sets["grapheme_extends"]
    indic = [c for c in (*range(0x900, 0xE00), *range(0x1000, 0x1100), *range(0x1780, 0x1800),
                         *range(0x1900, 0x1D00), *range(0xA800, 0xAC00)) if c not in joined]
    same = mapped(**{f"u{c:x}": chr(c) for c in indic})
    sets["conjunct_consonants"] = {c for c in indic
                                   if same("\u0915\u094d" + chr(c) + "\u0301").endswith("\u0301")}
    sets["conjunct_linkers"] = {c for c in joined if same("\u0915" + chr(c) + "\u0915\u0301").endswith("\u0301")}
    sets["conjunct_extends"] = {c for c in joined - sets["conjunct_linkers"]
                                if same("\u0915\u094d" + chr(c) + "\u0915\u0301").endswith("\u0301")}
    return sets


def probe_compositions(decompositions):
    """Returns the composition of each pair (first, second)."""
    found = {}
    for code, parts in decompositions.items():
        if code in HANGUL or nfc(parts) != chr(code):
            continue
        first = nfc(parts[:-1])
        assert len(first) == 1 and nfc(first + parts[-1]) == chr(code), hex(code)
        found[ord(first), ord(parts[-1])] = code
    return found


def probe_lower():
    lower = normalizers.Lowercase().normalize_str
    mapped = {code: lower(chr(code)) for code in SCALARS if lower(chr(code)) != chr(code)}
    assert [code for code in mapped if len(mapped[code]) > 1] == [0x130]
    return mapped


def probe_decompositions():
    return {code: nfd(chr(code)) for code in SCALARS if nfd(chr(code)) != chr(code)}


def probe_combining_classes(decompositions):
    """Canonical ordering swaps two marks only if the first has the greater class, so a mark of each
    class, which no later edition of the standard may change, finds out the others'."""
    def ordered(text):
        return nfd(text) == text

    lowest, highest = "\u0334", "\u0345"  # classes 1 and 240
    marks = [chr(code) for code in SCALARS if code not in decompositions
             and not (ordered(highest + chr(code)) and ordered(chr(code) + lowest))]
    known = {unicodedata.combining(mark): mark for mark in marks}
    return {ord(mark): next(rank for rank, other in known.items()
                            if rank and ordered(mark + other) and ordered(other + mark))
            for mark in marks}


def runs(codes, same=lambda a, b: True):
    """Returns [first, length] for each run of consecutive codes."""
    out = []
    for code in sorted(codes):
        if out and out[-1][0] + out[-1][1] == code and same(code - 1, code):
            out[-1][1] += 1
        else:
            out.append([code, 1])
    return out


def gaps(entries):
    """Replaces each entry's code by its distance from the previous entry's."""
    previous = 0
    for code, *rest in entries:
        yield from (code - previous, *rest)
        previous = code


def case_runs(lower):
    """[first, length, stride, offset]: neighbours lie `stride` apart, 2 where cases alternate."""
    out = []
    for code in sorted(lower):
        offset = ord(lower[code]) - code
        if out and out[-1][3] == offset:
            first, length, stride, _ = out[-1]
            step = code - (first + (length - 1) * stride)
            if step in (1, 2) and (length == 1 or step == stride):
                out[-1] = [first, length + 1, step, offset]
                continue
        out.append([code, 1, 1, offset])
    return out


def part_runs(texts):
    """Returns (first, length, parts per character, parts) for each run of consecutive codes with texts
    of one length. Each part is its distance from the part at its place in the text before."""
    previous = [0] * max(map(len, texts.values()))
    for first, length in runs(texts, lambda a, b: len(texts[a]) == len(texts[b])):
        parts = []
        for text in (texts[first + k] for k in range(length)):
            for place, part in enumerate(map(ord, text)):
                parts.append(part - previous[place])
                previous[place] = part
        yield (first, length, len(texts[first]), *parts)


def base64_vlq(number):
    """Returns a number as source maps write it: the sign is the lowest bit, then 5 bits a character,
    the lowest first, and 32 is added to each character but the last."""
    digits = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    bits, text = (number << 1 if number >= 0 else -number << 1 | 1), ""
    while bits >= 32:
        text += digits[32 | bits & 31]
        bits >>= 5
    return text + digits[bits]


def table(name, comment, numbers):
    rows = textwrap.wrap("".join(map(base64_vlq, numbers)), 98)
    about = textwrap.fill(comment, 100, initial_indent="/// ", subsequent_indent="/// ")
    return f"{about}\ninline constexpr std::string_view {name} =\n" + "\n".join(f'"{row}"' for row in rows) + ";\n"


def checksum(pairs):
    """FNV-1a over 32-bit numbers."""
    value = 0xCBF29CE484222325
    for pair in pairs:
        for number in pair:
            value = (value ^ number) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def main():
    sets, lower, decompositions = probe_sets(), probe_lower(), probe_decompositions()
    classes = probe_combining_classes(decompositions)
    sets["word_characters"] = probe_word_characters()
    probe_other_sets(sets)
    sets |= probe_graphemes()
    compositions = probe_compositions(decompositions)
    compatibility = {code: nfkd(chr(code)) for code in SCALARS if nfkd(chr(code)) != nfd(chr(code))}
    tables = {**sets,
              "mark_differences": sets["marks"] ^ sets["nonspacing_marks"],
              "numeric_differences": sets["numeric"] ^ sets["numbers"],
              "word_differences": sets["word_characters"] ^ sets["letters"] ^ sets["marks"] ^ sets["numbers"],
              "conjunct_differences": sets["conjunct_extends"] ^ sets["grapheme_extends"]}
    about = {
        "letters": r"The characters in `\p{L}` of the byte-level splitting rule.",
        "numbers": r"The characters in `\p{N}` of the byte-level splitting rule.",
        "whitespace": r"The characters in `\s` of the byte-level splitting rule, at which BERT splits too.",
        "punctuation": "The characters that BERT isolates: ASCII symbols, and category P.",
        "controls": "The characters that BERT's clean_text drops, except U+0000 and U+FFFD.",
        "ideographs": "The characters that BERT's handle_chinese_chars puts spaces around.",
        "nonspacing_marks": "The characters that BERT's strip_accents drops.",
        "mark_differences": "The characters that are in one of `nonspacing_marks` and category M, which "
                            "StripAccents drops, but not in both.",
        "numeric_differences": "The characters that are in one of `numbers` and those that Digits isolates, "
                               "but not in both.",
        "word_differences": r"The characters that are in one of `\w`, which tells where added tokens stand "
                            "alone, and the letters, marks and numbers, but not in both.",
        "grapheme_prepends": "Grapheme_Cluster_Break=Prepend.",
        "grapheme_extends": "Grapheme_Cluster_Break=Extend and ZWJ.",
        "grapheme_spacing": "Grapheme_Cluster_Break=SpacingMark.",
        "grapheme_controls": "Grapheme_Cluster_Break=Control, CR and LF.",
        "pictographs": "Extended_Pictographic.",
        "conjunct_consonants": "Indic_Conjunct_Break=Consonant.",
        "conjunct_linkers": "Indic_Conjunct_Break=Linker.",
        "conjunct_differences": "The characters that are in one of `grapheme_extends` and "
                                "Indic_Conjunct_Break=Extend, but not in both.",
    }
    parts = [table(name, text, gaps(runs(tables[name])))
             for name, text in about.items()]
    single = {code: text for code, text in lower.items() if len(text) == 1}
    parts.append(table("lower_case", "Lower case, except of U+0130. (Gap from the last start, length, "
                       "stride, offset to add).", gaps(case_runs(single))))
    same_class = runs(classes, lambda a, b: classes[a] == classes[b])
    parts.append(table("combining_classes", "Canonical combining classes above 0. (Gap from the last "
                       "start, length, class).", gaps([*run, classes[run[0]]] for run in same_class)))
    of_parts = ("Runs of characters with equal numbers of parts (gap from the last start, length, parts per "
                "character, parts), each part as its distance from the part at its place before.")
    canonical = {code: text for code, text in decompositions.items() if code not in HANGUL}
    parts.append(table("decompositions", "Full canonical decompositions, except of Hangul. " + of_parts,
                       gaps(part_runs(canonical))))
    parts.append(table("compatibility", "Full compatibility decompositions that differ from the canonical "
                       "ones. " + of_parts, gaps(part_runs(compatibility))))
    composed = set(compositions.values())
    excluded = {code for code, text in canonical.items() if len(text) > 1 and code not in composed}
    parts.append(table("not_composed", "Characters of several canonical parts that NFC does not compose.",
                       gaps(runs(excluded))))
    HEADER.write_text(
        "#pragma once\n\n// Generated by tests/golden/unicode_tables.py from the answers of "
        f"tokenizers {tokenizers.__version__}.\n\n#include <string_view>\n\n"
        "// clang-format off\n// The numbers of a table are written in Base64 VLQ, as in source maps. A set "
        "of characters is pairs\n// (gap from the last start, length).\n"
        "namespace seqtrain::text::unicode_tables {\n\n"
        + "\n".join(parts) + "\n}  // namespace seqtrain::text::unicode_tables\n// clang-format on\n")
    golden = {name: {"count": len(codes), "checksum": checksum((c,) for c in sorted(codes))}
              for name, codes in sets.items()}
    golden["lower"] = {"count": len(lower), "checksum": checksum(
        (code, *map(ord, text)) for code, text in sorted(lower.items()))}
    golden["decompositions"] = {"count": len(decompositions), "checksum": checksum(
        (code, *map(ord, text)) for code, text in sorted(decompositions.items()))}
    golden["compatibility"] = {"count": len(compatibility), "checksum": checksum(
        (code, *map(ord, text)) for code, text in sorted(compatibility.items()))}
    golden["compositions"] = {"count": len(compositions), "checksum": checksum(
        (*pair, code) for pair, code in sorted(compositions.items()))}
    golden["combining_classes"] = {"count": len(classes), "checksum": checksum(sorted(classes.items()))}
    (GOLDEN / "unicode.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
