#!/usr/bin/env python3
"""Makes heads as setfit saves them, for tests/weights/setfit_head_test.cpp, and answers of a model of
setfit, for tests/model/any_predictor_test.cpp.

    setfit_heads.py         writes golden/setfit/<head>.pkl, expected.json with scikit-learn's
                            probabilities, and answers.json with those of a model of setfit
    setfit_heads.py --old   adds heads of an older scikit-learn, numpy and joblib

    pip install setfit==1.2.0 sentence-transformers==6.2.0 scikit-learn==1.9.1 joblib==1.6.0 numpy==2.4.6
    pip install scikit-learn==1.2.2 "numpy<2" joblib==1.2.0    # for --old, in another environment
"""
import argparse
import json
import pickle
import warnings
from pathlib import Path

import joblib
import numpy
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import SVC

FOLDER = Path(__file__).resolve().parent / "setfit"
TEXTS = ["The river ran under the bridge.", "the children", "Where did the children run?", "1987"]


def features():
    """Returns embeddings of 8 numbers, their classes 0, 1 and 2, and an indicator of labels."""
    random = numpy.random.default_rng(7)
    classes = numpy.arange(30) % 3
    x = random.normal(size=(3, 8))[classes] + random.normal(size=(30, 8))
    several = numpy.stack([classes == 0, classes > 0, x[:, 0] > 0, classes < 0], 1).astype(int)
    return x.round(3).astype(numpy.float32), classes, several


def new_heads(x, classes, several):
    names = numpy.array(["gut", "schön", "日本 😀"])[classes]
    yield "three", LogisticRegression().fit(x, classes)
    yield "two", LogisticRegression().fit(x[classes < 2], classes[classes < 2])
    yield "names", LogisticRegression().fit(x.astype(float), list(names))
    yield "objects", LogisticRegression().fit(x, names.astype(object))
    yield "truths", LogisticRegression().fit(x, classes > 0)
    yield "crossed", LogisticRegressionCV(Cs=3, cv=2).fit(x, classes)
    yield "multi_label", OneVsRestClassifier(LogisticRegression()).fit(x, several)
    yield "multi_output", MultiOutputClassifier(LogisticRegression()).fit(x, several[:, :3])
    yield "pickle4", LogisticRegression().fit(x, classes)
    yield "pickle5", LogisticRegression().fit(x, classes)
    yield "refused_svc", SVC(probability=True).fit(x, classes)
    yield "refused_rest", OneVsRestClassifier(LogisticRegression()).fit(x, classes)


def old_heads(x, classes, several):
    few = classes < 2
    yield "old_three", LogisticRegression().fit(x, classes)
    yield "old_two", LogisticRegression().fit(x[few], classes[few])
    yield "old_multinomial_two", LogisticRegression(multi_class="multinomial").fit(x[few], classes[few])
    yield "old_liblinear_two", LogisticRegression(solver="liblinear").fit(x[few], classes[few])
    yield "old_multi_label", OneVsRestClassifier(LogisticRegression()).fit(x, several)
    yield "old_pickle4", LogisticRegression().fit(x, classes)
    yield "refused_old_rest", LogisticRegression(solver="liblinear").fit(x, classes)


def write(heads, x, expected):
    for name, head in heads:
        file = FOLDER / f"{name}.pkl"
        if "pickle" in name:
            file.write_bytes(pickle.dumps(head, protocol=int(name[-1])))
        else:
            joblib.dump(head, file)
        if name.startswith("refused"):
            continue
        probabilities = head.predict_proba(x[:5])
        if isinstance(probabilities, list):
            probabilities = numpy.stack([of_label[:, 1] for of_label in probabilities], 1)
        expected["heads"][name] = {"probabilities": probabilities.tolist()}


def answer():
    """Writes the probabilities of a model of setfit whose encoder is that of golden/sentence."""
    from sentence_transformers import SentenceTransformer
    from setfit import SetFitModel

    modules = list(SentenceTransformer(str(FOLDER.parent / "sentence"), device="cpu"))[:2]
    answers = {"texts": TEXTS}
    for normalizes in (False, True):
        body = SentenceTransformer(modules=modules, device="cpu")
        model = SetFitModel(body, LogisticRegression(), labels=["no", "yes", "perhaps"],
                            normalize_embeddings=normalizes)
        model.model_head.fit(model.encode(TEXTS), [0, 1, 2, 1])
        joblib.dump(model.model_head, FOLDER / f"model_{normalizes}.pkl")
        answers[f"probabilities_{normalizes}"] = model.predict_proba(TEXTS).tolist()
        answers[f"labels_{normalizes}"] = model.predict(TEXTS)
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--old", action="store_true")
    old = parser.parse_args().old
    warnings.simplefilter("ignore")
    x, classes, several = features()
    expected = {"features": x[:5].tolist(), "heads": {}}
    if old:
        expected = json.loads((FOLDER / "expected.json").read_text())
    else:
        answer()
    write((old_heads if old else new_heads)(x, classes, several), x, expected)
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
