"""explain.py --predict PATH --model DIR --file dev.tsv [--texts 50] [--passes 200 1000]: sets `predict --explain` beside
occlusion, which leaves out one word at a time, and integrated gradients (captum), on texts that a model of Hugging
Face's layout labels. Prints how the shares of words correlate, how far they are from their sum, and by how much the
probability of the label falls when a fifth of the words, those with the greatest shares, is left out."""

import argparse
import csv
import json
import math
import random
import subprocess
import tempfile

import numpy
import torch
import transformers


def explained(arguments, texts, passes):
    """Returns the answers of `predict --explain`."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        file.flush()
        output = subprocess.run([arguments.predict, "--model", arguments.model, "--explain", "--explain-passes",
                                 str(passes), "--threads", "1", file.name], capture_output=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


class Peer:
    """The model in transformers."""

    def __init__(self, folder):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()

    @torch.no_grad()
    def logits(self, texts):
        batch = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        return self.model(**batch).logits.double().numpy()

    def integrated_gradients(self, text, words, label, steps=50):
        """Returns the share of each word, and how far their sum is from the difference of the logits. The baseline is
        a text of [PAD]."""
        import captum.attr
        batch = self.tokenizer(text, return_tensors="pt", return_offsets_mapping=True, truncation=True)
        offsets = batch.pop("offset_mapping")[0].tolist()
        ids, rest = batch.pop("input_ids"), dict(batch)
        baseline = torch.where(torch.tensor([[end > begin for begin, end in offsets]]), self.tokenizer.pad_token_id, ids)

        def forward(given):
            return self.model(input_ids=given,
                              **{name: value.expand(len(given), -1) for name, value in rest.items()}).logits[:, label]

        layer = captum.attr.LayerIntegratedGradients(forward, self.model.get_input_embeddings())
        given, gap = layer.attribute(ids, baseline, n_steps=steps, internal_batch_size=16, return_convergence_delta=True)
        shares = numpy.zeros(len(words))
        for (begin, end), share in zip(offsets, given.sum(-1)[0].tolist(), strict=True):
            for i, word in enumerate(words):
                if begin < word["end"] and word["start"] < end:
                    shares[i] += share
        return shares, abs(gap.item())


def without(text, words, left_out):
    """Returns the text without the words with these indices."""
    parts, end = [], 0
    for i, word in enumerate(words):
        parts.append(text[end:word["start"]] + ("" if i in left_out else text[word["start"]:word["end"]]))
        end = word["end"]
    return " ".join(("".join(parts) + text[end:]).split())


def probability(logits, label):
    shifted = numpy.exp(logits - logits.max(-1, keepdims=True))
    return (shifted / shifted.sum(-1, keepdims=True))[..., label]


def drop(peer, text, words, shares, label):
    """Returns the fall of the label's probability without a fifth of the words, those with the greatest shares."""
    count = math.ceil(len(words) / 5)
    left_out = set(numpy.argsort(-shares, kind="stable")[:count].tolist())
    whole, less = peer.logits([text, without(text, words, left_out)])
    return probability(whole, label) - probability(less, label)


def chosen_texts(arguments):
    with open(arguments.file, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    field = next(name for name in rows[0] if name in ("text", "sentence"))
    texts = [row[field].strip() for row in rows if 8 <= len(row[field].split()) <= 40]
    return random.Random(1).sample(texts, arguments.texts)


def measure(arguments, peer, texts):
    answers = {f"predict --explain, {passes} passes": explained(arguments, texts, passes) for passes in arguments.passes}
    first = next(iter(answers.values()))
    names = [*answers, "occlusion", "integrated gradients", "random"]
    shares = {name: [] for name in names}
    gaps = {name: [] for name in names}
    drops = {name: [] for name in names}
    source = numpy.random.default_rng(5)
    for i, text in enumerate(texts):
        (one,) = first[i]["explanations"]
        words, label = one["words"], list(first[i]["scores"]).index(one["label"])
        logits = peer.logits([text])[0]
        assert numpy.abs(logits - first[i]["logits"]).max() < 1e-3, (logits, first[i]["logits"])
        for name, all_answers in answers.items():
            (each,) = all_answers[i]["explanations"]
            assert len(each["words"]) == len(words), "so few passes join words"
            shares[name].append(numpy.array([word["share"] for word in each["words"]]))
            gaps[name].append(abs(shares[name][-1].sum() - (each["logit"] - each["baseline"])))
        rest = peer.logits([without(text, words, {k}) for k in range(len(words))])[:, label]
        shares["occlusion"].append(logits[label] - rest)
        gaps["occlusion"].append(abs(shares["occlusion"][-1].sum() - (one["logit"] - one["baseline"])))
        by_gradients, gap = peer.integrated_gradients(text, words, label)
        shares["integrated gradients"].append(by_gradients)
        gaps["integrated gradients"].append(gap)
        shares["random"].append(source.normal(size=len(words)))
        for name in names:
            drops[name].append(drop(peer, text, words, shares[name][-1], label))
    return names, shares, gaps, drops


def correlation(some, others):
    return numpy.mean([numpy.corrcoef(a, b)[0, 1] for a, b in zip(some, others, strict=True)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--texts", type=int, default=50)
    parser.add_argument("--passes", type=int, nargs="+", default=[200, 1000])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    peer = Peer(arguments.model)
    texts = chosen_texts(arguments)
    names, shares, gaps, drops = measure(arguments, peer, texts)
    most = names[len(arguments.passes) - 1]
    print(f"{len(texts)} texts of {numpy.mean([len(text.split()) for text in texts]):.1f} words\n")
    print(f"| | correlation with {arguments.passes[-1]} passes | with integrated gradients | sum against the logit "
          "| drop of the probability |")
    print("|---|--:|--:|--:|--:|")
    for name in names:
        gap = f"{numpy.mean(gaps[name]):.1g}" if gaps[name] else ""
        print(f"| {name} | {correlation(shares[name], shares[most]):.2f} "
              f"| {correlation(shares[name], shares['integrated gradients']):.2f} | {gap} "
              f"| {numpy.mean(drops[name]):.3f} ± {numpy.std(drops[name]) / math.sqrt(len(texts)):.3f} |")


main()
