#!/usr/bin/env python3
"""Builds random tokenizer folders (class, files, added tokens, settings, vocabulary), asks transformers'
AutoTokenizer for the ids of some texts, and compares them with those of the program `tokenize`.

    pip install transformers==5.24.0 sentencepiece protobuf torch
    python3 tests/golden/tokenizer_folders.py                 # writes tests/golden/tokenizer_folders.json
    python3 tests/golden/tokenizer_folders.py --search 3000   # compares and shows what is different

`--second PYTHON` names a Python with another version of transformers, whose answers are counted too.
`--keep FOLDER` keeps the folders that are different.
"""
import argparse
import base64
import collections
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
ROOT = pathlib.Path(__file__).resolve().parents[2]

WORDS = ["hello", "world", "the", "dog", "caf", "cafe", "e", "a", "b", "w", "o", "r", "l", "d", "h", "s", "1", "2",
         "E1", "e1", "tok", "Hello", "H", "D", "Dog", "é", "中", "国", "[", "]", "<", ">", ".", ",", "'", "`", '"', "x"]
TEXTS = ["hello world the dog", "Hello CAFÉ café cafe\u0301", "hello [E1] the<x>dog", "[E1][E1]tok toks Tok e1 E1",
         "a\t\tdog \n the  world ", "中国 hello中", "``hello'' the.dog, x\u00a0y", " <mask> [MASK] </s> [SEP] <pad>",
         "<s>NOTUSED new word newword ", "héllo Dog ##1 ①ﬁ"]
PAIRS = [("hello world", "the dog"), ("hello world the dog a b", "Hello [E1]"), ("dog", "cafe the world hello b a x")]
LENGTHS = [5, 8]
ADDED = ["[E1]", "<x>", "tok", "E1", "e1", "héllo", "Dog", "\t", "##1", "world", "new word", "中", "[MASK]", "<mask>",
         "[UNK]", "</s>", ".", "X"]
ROLES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
BRACKETS = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]",
            "mask_token": "[MASK]"}
ANGLES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>",
          "cls_token": "<s>", "mask_token": "<mask>"}
CLASSES = {
    "wordpiece": ["BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MPNetTokenizer"],
    "bpe": ["RobertaTokenizer", "LongformerTokenizer", "BartTokenizer"],
    "unigram": ["XLMRobertaTokenizer", "CamembertTokenizer", "AlbertTokenizer", "DebertaV2Tokenizer"]}
OTHER_CLASSES = ["HerbertTokenizer", "PhobertTokenizer", "BertweetTokenizer", "BertJapaneseTokenizer", "GPT2Tokenizer",
                 "DebertaTokenizer", "FunnelTokenizer", "T5Tokenizer", "RoFormerTokenizer", "XLNetTokenizer", "ConvBertTokenizer"]
TYPES = {"wordpiece": ["bert", "distilbert", "electra", "mpnet"], "bpe": ["roberta"],
         "unigram": ["xlm-roberta", "camembert", "albert", "deberta-v2"]}
MODEL_NAMES = {"XLMRobertaTokenizer": "sentencepiece.bpe.model", "CamembertTokenizer": "sentencepiece.bpe.model",
               "AlbertTokenizer": "spiece.model", "DebertaV2Tokenizer": "spm.model"}


def byte_symbols():
    """Returns the characters that stand for bytes in byte-level vocabularies."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def wordpiece(special, words):
    return {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(special + words + ["##" + word for word in words])}}


def byte_level(special):
    merges = ["h e", "l l", "he ll", "hell o", "Ġ w", "Ġ d", "Ġd o", "Ġdo g", "t h", "th e", "Ġ t", "o k", "c a"]
    tokens = special + byte_symbols() + [merge.replace(" ", "") for merge in merges]
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
            "end_of_word_suffix": "", "fuse_unk": False,
            "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges}


def sentence_piece(**options):
    """Trains a small unigram model."""
    import sentencepiece
    rules = "FB01\t66 69\n2460\t31\nA0\t20\n"
    lines = [text for text in TEXTS[:6] if "[" not in text] * 4 + ["hello world", "the dog", "cafe a b"] * 9
    out = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.write(rules)
        file.flush()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=out, vocab_size=56, model_type="unigram",
            character_coverage=1.0, hard_vocab_limit=False, minloglevel=2, normalization_rule_tsv=file.name, **options)
    return out.getvalue()


def pieces_of(model):
    import sentencepiece
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [[processor.id_to_piece(i), processor.get_score(i)] for i in range(processor.get_piece_size())]


def character_map(model):
    from transformers.convert_slow_tokenizer import import_protobuf
    proto = import_protobuf().ModelProto()
    proto.ParseFromString(model)
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


class Vocabularies:
    """The eight vocabularies. Each has the kind of its model, `model` for tokenizer.json and perhaps `.model` bytes."""

    def __init__(self):
        angles = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        cased = [word for word in WORDS if word != "é"] + ["É", "C", "A", "F"]
        plain = sentence_piece(pad_id=-1, unk_id=0, bos_id=1, eos_id=2)
        albert = sentence_piece(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, pad_piece="<pad>",
                                control_symbols=["[CLS]", "[SEP]", "[MASK]"], user_defined_symbols=["(", "tok"])
        deberta = sentence_piece(pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]",
                                 eos_piece="[SEP]", unk_piece="[UNK]")
        xlm = [["<s>", 0], ["<pad>", 0], ["</s>", 0], ["<unk>", 0], *pieces_of(plain)[3:], ["<mask>", 0]]
        self.maps = {name: character_map(model) for name, model in
                     {"xlm": plain, "albert": albert, "deberta": deberta}.items()}
        self.all = {
            "uncased": ("wordpiece", wordpiece([*BRACKETS.values()], [w for w in WORDS if w == w.lower()]), None),
            "cased": ("wordpiece", wordpiece(["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], cased), None),
            "mpnet": ("wordpiece", wordpiece(["<s>", "<pad>", "</s>", "[UNK]"], WORDS[:30] + ["<mask>"]), None),
            "roberta": ("bpe", byte_level(angles[:4]), None),
            "brackets": ("bpe", byte_level(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *angles]), None),
            "xlm": ("unigram", {"type": "Unigram", "unk_id": 3, "vocab": xlm, "byte_fallback": False}, plain),
            "albert": ("unigram", {"type": "Unigram", "unk_id": 1, "vocab": pieces_of(albert),
                                   "byte_fallback": False}, albert),
            "deberta": ("unigram", {"type": "Unigram", "unk_id": 3, "vocab": pieces_of(deberta),
                                    "byte_fallback": False}, deberta)}


class Folder:
    """A random folder. `files` maps names to texts, in which `@name@` stands for a model of a vocabulary."""

    def __init__(self, vocabularies, rng):
        self.rng = rng
        self.vocabularies = vocabularies
        self.name = rng.choice([*vocabularies.all])
        self.kind, self.model, self.bytes = vocabularies.all[self.name]
        self.special = self.roles()
        self.files = {}
        self.choose_class()
        if self.with_json:
            self.files["tokenizer.json"] = self.tokenizer_json()
        if self.with_vocabulary:
            self.add_vocabulary()
        self.add_settings()

    def maybe(self, chance):
        return self.rng.random() < chance

    def roles(self):
        if self.name in ("uncased", "cased", "deberta"):
            return dict(BRACKETS)
        if self.name == "albert":
            return {**BRACKETS, "unk_token": "<unk>", "pad_token": "<pad>"}
        return {**ANGLES, "unk_token": "[UNK]"} if self.name == "mpnet" else dict(ANGLES)

    def choose_class(self):
        """Chooses the class and where it is named. Usual classes are those that fit the vocabulary."""
        rng = self.rng
        fitting = {"mpnet": ["MPNetTokenizer"], "xlm": ["XLMRobertaTokenizer", "CamembertTokenizer"],
                   "albert": ["AlbertTokenizer"], "deberta": ["DebertaV2Tokenizer"]}.get(self.name)
        self.cls = rng.choice(fitting if fitting and self.maybe(.8) else CLASSES[self.kind])
        if self.maybe(.2):
            self.cls = rng.choice(["PreTrainedTokenizerFast", "TokenizersBackend"])
        elif self.maybe(.05):
            self.cls = rng.choice(OTHER_CLASSES + CLASSES["wordpiece"] + CLASSES["bpe"])
        if self.cls.endswith("Tokenizer") and self.maybe(.3):
            self.cls += "Fast"
        types = {"mpnet": ["mpnet"], "xlm": ["xlm-roberta", "camembert"], "albert": ["albert"],
                 "deberta": ["deberta-v2"]}.get(self.name, TYPES[self.kind])
        self.model_type = rng.choice(types) if self.maybe(.85) else rng.choice([*sum(TYPES.values(), []), "modernbert"])
        self.with_json = self.maybe(.55)
        self.with_vocabulary = not self.with_json or self.maybe(.4)

    def added_token(self, content, wrapped=False):
        rng = self.rng
        token = {"content": content, "single_word": self.maybe(.2), "lstrip": self.maybe(.3), "rstrip": self.maybe(.2),
                 "normalized": self.maybe(.4)}
        if wrapped:
            return {"__type": "AddedToken", **token, **({"special": self.maybe(.5)} if self.maybe(.6) else {})}
        return {**token, "special": rng.choice([True, False])}

    def some_tokens(self, most=3):
        return self.rng.sample(ADDED, self.rng.randint(1, most))

    def tokenizer_json(self):
        rng = self.rng
        size = len(self.model["vocab"])
        known = {token if isinstance(token, str) else token[0]: i for i, token in enumerate(self.model["vocab"])}
        added = []
        for token in dict.fromkeys(self.special.values()):
            if self.maybe(.9) and token in known:
                added.append({"id": known[token], "content": token, "single_word": False,
                              "lstrip": token == "<mask>", "rstrip": False, "normalized": False, "special": True})
        for token in self.some_tokens() if self.maybe(.6) else []:
            if token not in [one["content"] for one in added]:
                added.append({"id": known.get(token, size), **self.added_token(token)})
                size += token not in known
        added.sort(key=lambda token: token["id"])
        truncation = {"direction": rng.choice(["Left", "Right"]), "max_length": 64, "strategy": "LongestFirst",
                      "stride": 0} if self.maybe(.15) else None
        padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None,
                   "pad_id": known.get(self.special["pad_token"], 0), "pad_type_id": 0,
                   "pad_token": self.special["pad_token"]} if self.maybe(.15) else None
        parts = {"version": "1.0", "truncation": truncation, "padding": padding, "added_tokens": added,
                 "normalizer": self.normalizer(), "pre_tokenizer": self.pre_tokenizer(),
                 "post_processor": self.post_processor(known), "decoder": None, "model": "@"}
        return json.dumps(parts, ensure_ascii=False).replace('"@"', f"@{self.name}@")

    def normalizer(self):
        rng = self.rng
        if self.kind == "wordpiece":
            return rng.choice([None] + [{"type": "BertNormalizer", "clean_text": True,
                                         "handle_chinese_chars": self.maybe(.7),
                                         "strip_accents": rng.choice([None, None, True, False]),
                                         "lowercase": self.maybe(.5)}] * 5)
        if self.kind == "bpe":
            return rng.choice([None, None, {"type": "NFC"}])
        parts = [{"type": "Precompiled", "precompiled_charsmap": self.vocabularies.maps[self.name]},
                 {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
        if self.maybe(.3):
            parts.insert(0, {"type": "Lowercase"})
        return rng.choice([None, parts[0], {"type": "Sequence", "normalizers": parts}])

    def pre_tokenizer(self):
        rng = self.rng
        if self.kind == "wordpiece":
            return rng.choice([{"type": "BertPreTokenizer"}] * 3 + [{"type": "Whitespace"}])
        if self.kind == "bpe":
            return {"type": "ByteLevel", "add_prefix_space": self.maybe(.5), "trim_offsets": True, "use_regex": True}
        space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": rng.choice(["always", "first", "never"]),
                 "split": True}
        return rng.choice([space, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]}])

    def post_processor(self, known):
        rng = self.rng
        cls, sep = self.special["cls_token"], self.special["sep_token"]
        if cls not in known or sep not in known or self.maybe(.1):
            return None
        places = {"sep": [sep, known[sep]], "cls": [cls, known[cls]]}
        template = [{"SpecialToken": {"id": cls, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": sep, "type_id": 0}}]
        second = [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": sep, "type_id": 1}}]
        return rng.choice([
            {"type": "BertProcessing", **places},
            {"type": "RobertaProcessing", **places, "trim_offsets": True, "add_prefix_space": False},
            {"type": "TemplateProcessing", "single": template, "pair": template + second,
             "special_tokens": {token: {"id": token, "ids": [known[token]], "tokens": [token]} for token in (cls, sep)}}])

    def add_vocabulary(self):
        if self.kind == "wordpiece":
            self.files["vocab.txt"] = f"@lines:{self.name}@"
        elif self.kind == "bpe":
            self.files["vocab.json"] = f"@vocab:{self.name}@"
            self.files["merges.txt"] = "#version: 0.2\n" + "\n".join(self.model["merges"]) + "\n"
        else:
            name = MODEL_NAMES.get(self.cls.removesuffix("Fast"), "tokenizer.model")
            self.files["tokenizer.model" if self.maybe(.05) else name] = f"@bytes:{self.name}@"

    def add_settings(self):
        rng = self.rng
        config, settings, where = {}, {}, rng.random()
        if self.maybe(.95):
            config["model_type"] = self.model_type
        if where < .65:
            settings["tokenizer_class"] = self.cls
        elif where < .8:
            config["tokenizer_class"] = self.cls
        for role, token in self.special.items():
            if self.maybe(.4):
                settings[role] = token if self.maybe(.7) else self.added_token(token, True)
            elif self.maybe(.03):
                settings[role] = rng.choice(["[NEW]", "[E1]"])
        for key, chance, values in [
                ("do_lower_case", .35, [True, False]), ("strip_accents", .2, [True, False, None]),
                ("tokenize_chinese_chars", .2, [True, False]), ("add_prefix_space", .25, [True, False]),
                ("split_special_tokens", .12, [True, False]), ("truncation_side", .2, ["left", "right"]),
                ("model_max_length", .3, [6, 512]), ("add_bos_token", .1, [True, False]),
                ("add_eos_token", .1, [True, False]), ("keep_accents", .2, [True, False]),
                ("split_by_punct", .15, [True, False]), ("image_token", .05, ["<x>", "<img>"]),
                ("clean_up_tokenization_spaces", .2, [True])]:
            if self.maybe(chance):
                settings[key] = rng.choice(values)
        if self.maybe(.2):
            settings["additional_special_tokens"] = self.tokens_without_role()
        if self.maybe(.1):
            settings["extra_special_tokens"] = rng.choice(
                [self.tokens_without_role(), {"image_token": "<x>", "other_token": "[E1]"}])
        if self.maybe(.3):
            size = len(self.model["vocab"])
            tokens = [*dict.fromkeys(self.special.values()), *self.some_tokens()]
            settings["added_tokens_decoder"] = {str(size + i): self.added_token(token)
                                                for i, token in enumerate(tokens) if self.maybe(.6)}
        self.put("config.json", config, .97)
        self.put("tokenizer_config.json", settings, .9 if where >= .65 else 1)
        self.put("special_tokens_map.json", self.special_tokens_map(), .35)
        self.put("added_tokens.json", {token: len(self.model["vocab"]) + i
                                       for i, token in enumerate(self.some_tokens())}, .25)

    def tokens_without_role(self):
        return [token if self.maybe(.7) else self.added_token(token, True)
                for token in self.some_tokens() if self.maybe(.8)]

    def special_tokens_map(self):
        tokens = {}
        for role, token in self.special.items():
            if self.maybe(.6):
                flags = self.added_token(token)
                del flags["special"]
                tokens[role] = token if self.maybe(.6) else flags
        if self.maybe(.4):
            tokens["additional_special_tokens"] = self.some_tokens()
        if self.maybe(.1):
            tokens["extra_special_tokens"] = self.some_tokens()
        return tokens

    def put(self, name, value, chance):
        if self.maybe(chance):
            self.files[name] = json.dumps(value, ensure_ascii=False)


def shared(vocabularies):
    """Returns the contents that stand behind `@name@`."""
    contents = {}
    for name, (kind, model, model_bytes) in vocabularies.all.items():
        contents[name] = json.dumps(model, ensure_ascii=False)
        if kind == "wordpiece":
            contents["lines:" + name] = "".join(token + "\n" for token in model["vocab"])
        if kind == "bpe":
            contents["vocab:" + name] = json.dumps(model["vocab"], ensure_ascii=False)
        if model_bytes:
            contents["bytes:" + name] = base64.b64encode(model_bytes).decode()
    return contents


def write(files, contents, folder):
    folder.mkdir(parents=True)
    for name, text in files.items():
        found = re.search("@([a-z:]+)@", text)
        if found and found[1].startswith("bytes:"):
            (folder / name).write_bytes(base64.b64decode(contents[found[1]]))
            continue
        if found:
            text = text.replace(found[0], contents[found[1]])
        (folder / name).write_text(text, encoding="utf-8", newline="")


def cases():
    """Returns (text, pair, max_length) of all questions."""
    questions = [(text, None, None) for text in TEXTS] + [(*pair, None) for pair in PAIRS]
    return questions + [(text, pair, length) for length in LENGTHS for text, pair in [(TEXTS[0], None), *PAIRS]]


def answers_of_transformers(folders):
    """Returns a list of ids for each folder, or the error as a string."""
    from transformers import AutoTokenizer
    answers = []
    for folder in folders:
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder))
            answers.append([tokenizer(text, pair, truncation=length is not None, max_length=length)["input_ids"]
                            for text, pair, length in cases()])
        except BaseException as error:  # tokenizers' panics are no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            answers.append(f"{type(error).__name__}: {error}"[:200])
    return answers


def answers_of_second(python, folders):
    code = ("import json, sys, pathlib; sys.path.insert(0, sys.argv[1]); import tokenizer_folders as t; "
            "print('\\n' + json.dumps(t.answers_of_transformers(json.load(sys.stdin))))")
    done = subprocess.run([python, "-c", code, str(pathlib.Path(__file__).parent)], capture_output=True, text=True,
                          input=json.dumps([str(folder) for folder in folders]), check=True)
    return json.loads(done.stdout.splitlines()[-1])


def answer_of_program(program, folder):
    """Returns the list of ids, or the error as a string."""
    ids = []
    for length in [None, *LENGTHS]:
        asked = [(text, pair) for text, pair, wanted in cases() if wanted == length]
        lines = "".join(json.dumps({"text": text, **({"text_pair": pair} if pair else {})}) + "\n"
                        for text, pair in asked)
        done = subprocess.run([program, "--tokenizer", str(folder), "--max-length", str(length or 0)], input=lines,
                              capture_output=True, text=True)
        if done.returncode:
            return f"{done.returncode}: {done.stderr.strip().replace(str(folder), '')}"
        ids += [json.loads(line)["input_ids"] for line in done.stdout.splitlines()]
    return ids


def search(options):
    """Compares random folders and counts what is equal, refused and different."""
    vocabularies = Vocabularies()
    contents = shared(vocabularies)
    counts, reasons, second_reasons = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        made = [Folder(vocabularies, random.Random(f"{options.seed}/{i}")) for i in range(options.search)]
        folders = [pathlib.Path(place) / str(i) for i in range(options.search)]
        for one, folder in zip(made, folders):
            write(one.files, contents, folder)
        expected = answers_of_transformers(folders)
        second = answers_of_second(options.second, folders) if options.second else [None] * len(folders)
        for one, folder, right, other in zip(made, folders, expected, second):
            got = answer_of_program(options.program, folder)
            if isinstance(right, list) and isinstance(got, list) and got != right and is_random(folder, got):
                right, got = got, got
                counts["random in transformers"] += 1
            kind = ("refused by transformers" + (" only" if isinstance(got, list) else "") if isinstance(right, str) else
                    "refused" if isinstance(got, str) else "equal" if got == right else "different")
            counts[kind] += 1
            if kind == "refused":
                reasons[re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", got)[:150]] += 1
                if got[0] != "2":
                    print("crashed", folder.name, got)
            if kind == "different":
                show_difference(folder, right, got)
                if options.keep:
                    write(one.files, contents, pathlib.Path(options.keep) / folder.name)
            if isinstance(right, list) and other is not None:
                counts["other version: " + ("error" if isinstance(other, str) else
                                            "equal" if other == right else "different")] += 1
    print(*(f"{count:6} {reason}" for reason, count in reasons.most_common()), sep="\n")
    print(dict(counts))


def is_random(folder, got):
    """Returns whether transformers also gives these ids: two tokens with one normal form take turns there."""
    answers = [answers_of_transformers([folder])[0] for _ in range(12)]
    return all(any(ids == answer[i] for answer in answers) for i, ids in enumerate(got))


def show_difference(folder, right, got):
    for case, ids, other in zip(cases(), right, got):
        if ids != other:
            print(f"different {folder.name} {case}\n  {ids}\n  {other}")
            return


def write_goldens(options):
    """Writes the folders whose features no earlier folder has, with the answers of transformers."""
    vocabularies = Vocabularies()
    contents, records, seen = shared(vocabularies), [], collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        for i in range(options.goldens * 12):
            one = Folder(vocabularies, random.Random(f"golden/{i}"))
            new = [feature for feature in features(one) if seen[feature] < 3]
            if len(new) < 2 or len(records) >= options.goldens:
                continue
            folder = pathlib.Path(place) / str(i)
            write(one.files, contents, folder)
            answer = answers_of_transformers([folder])[0]
            if isinstance(answer, str):
                continue
            seen.update(features(one))
            got = answer_of_program(options.program, folder)
            if isinstance(got, list) and got != answer and is_random(folder, got):
                answer = got
            records.append({"files": one.files, "ids": None if isinstance(got, str) else answer})
    questions = [[text, pair, length] for text, pair, length in cases()]
    lines = ",\n".join(json.dumps(record, ensure_ascii=True, separators=(",", ":")) for record in records)
    head = json.dumps({"questions": questions, "contents": contents}, ensure_ascii=True, separators=(",", ":"))
    (ROOT / "tests/golden/tokenizer_folders.json").write_text(head[:-1] + f',"folders":[\n{lines}\n]}}\n')
    print(len(records), "folders,", sum(record["ids"] is None for record in records), "refused")


def features(folder):
    """Returns pairs of facts about a folder."""
    settings = json.loads(folder.files.get("tokenizer_config.json", "{}"))
    facts = [folder.cls.removesuffix("Fast"), folder.name, *sorted(name for name in folder.files if name != "config.json")]
    facts += [f"{key}={value}" if isinstance(value, (bool, str)) and not key.endswith("_token") else key
              for key, value in settings.items() if key != "tokenizer_class"]
    return [(facts[0], fact) for fact in facts[1:]] + [(facts[1], fact) for fact in facts[2:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--goldens", type=int, default=250)
    parser.add_argument("--program", default=str(ROOT / "build/dev/examples/tokenize"))
    parser.add_argument("--second")
    parser.add_argument("--keep")
    options = parser.parse_args()
    search(options) if options.search else write_goldens(options)


if __name__ == "__main__":
    main()
