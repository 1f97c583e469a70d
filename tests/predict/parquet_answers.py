"""parquet_answers.py --predict PATH [--site-packages DIR] [--records 20000]: answers in Parquet are those in JSON lines
and CSV, with types that pyarrow, pandas and datasets read. Ends with 77 if Python has no pyarrow."""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

LINES = [{"id": 12, "price": 2, "zip": "012", "paid": True, "text": "bada dada"},
         {"id": None, "price": 2.5, "zip": "7", "paid": None, "text": "kifi"},
         {"id": 14, "price": 3, "zip": "8", "paid": False, "text": 5}]  # a number is no text


def predict(arguments, *flags, code=0, **environment):
    done = subprocess.run([arguments.predict, "--threads", "1", "--device", "cpu", *map(str, flags)],
                          capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == code, (flags, done.returncode, done.stderr)
    return done


def types(table):
    return {field.name: str(field.type).replace("element", "item") for field in table.schema}


def classifier(arguments, read, folder, model):
    """Compares a classifier's answers with those in JSON lines, a wrong record among them."""
    records = folder / "records.jsonl"
    records.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    keep = ["--keep", "id,price,zip,paid"]
    target = folder / "answers.parquet"
    predict(arguments, "--model", model, records, *keep, "--output-file", target, code=2)
    lines = predict(arguments, "--model", model, records, *keep, code=2).stdout.splitlines()
    table = read(target)
    assert types(table) == {"id": "int64", "price": "double", "zip": "string", "paid": "bool", "label": "string",
                            "score": "double", **{"score_" + name: "double" for name in made_model.LABELS},
                            "error": "string"}, types(table)
    rows = table.to_pylist()
    for row, line in zip(rows, map(json.loads, lines), strict=True):
        for name in ("id", "price", "zip", "paid"):
            assert row[name] == line.get(name), (row, line)
        assert row["error"] == line.get("error") and row["label"] == line.get("label")
        for name, score in line.get("scores", {}).items():
            assert row["score_" + name] == score
    assert rows[2]["error"] and rows[2]["score"] is None
    assert [path.name for path in folder.iterdir() if "partial" in path.name] == []
    try:
        frame = table.to_pandas()
        assert frame["id"].dtype == float and frame["price"].dtype == float, frame.dtypes
    except ImportError:
        print("without pandas")


def cells(arguments, read, folder, model):
    """Cells of CSV are numbers if all are; a name with zeros before it is none."""
    table = folder / "records.csv"
    table.write_text("id,zip,price,text\n1,01234,,bada\n2,81234,2.5,kifi\n")
    target = folder / "cells.parquet"
    predict(arguments, "--model", model, table, "--keep", "id,zip,price", "--top-k", 2, "--output-file", target)
    answers = read(target)
    assert types(answers) == {"id": "int64", "zip": "string", "price": "double", "label": "string",
                              "score": "double", "label_2": "string", "score_2": "double",
                              "error": "string"}, types(answers)
    assert answers.column("zip").to_pylist() == ["01234", "81234"]
    assert answers.column("price").to_pylist() == [None, 2.5]
    text = predict(arguments, "--model", model, table, "--keep", "id,zip,price", "--top-k", 2, "--output-format",
                   "csv").stdout
    for row, line in zip(answers.to_pylist(), csv.DictReader(text.splitlines()), strict=True):
        assert row["label_2"] == line["label_2"] and row["score_2"] == float(line["score_2"])


def embeddings(arguments, read, folder, model):
    texts = folder / "texts.csv"
    texts.write_text("text\nbada dada\nkifi\n")
    target = folder / "embeddings.parquet"
    predict(arguments, "--model", model, "--embed", texts, "--output-file", target)
    table = read(target)
    assert types(table)["embedding"] == "fixed_size_list<item: float>[64]", types(table)
    lines = predict(arguments, "--model", model, "--embed", texts).stdout.splitlines()
    for row, line in zip(table.to_pylist(), map(json.loads, lines), strict=True):
        expected = json.loads(json.dumps(line["embedding"]))
        assert len(expected) == 64 and max(abs(a - b) for a, b in zip(row["embedding"], expected)) < 1e-6


def many(arguments, module, folder, model):
    """Many records come in several row groups, in order."""
    lines = folder / "many.jsonl"
    with lines.open("w") as file:
        for number in range(arguments.records):
            file.write(json.dumps({"n": number, "blob": "x" * 3000, "text": "bada"}) + "\n")
    target = folder / "many.parquet"
    predict(arguments, "--model", model, "--keep", "n,blob", lines, "--output-file", target)
    file = module.ParquetFile(target)
    assert file.metadata.num_row_groups > 1 and file.metadata.num_rows == arguments.records
    assert file.read(["n"]).column("n").to_pylist() == list(range(arguments.records))
    print(file.metadata.num_row_groups, "row groups,", target.stat().st_size, "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--site-packages")
    parser.add_argument("--records", type=int, default=20000)
    arguments = parser.parse_args()
    if arguments.site_packages:
        sys.path.append(arguments.site_packages)
    try:
        import pyarrow.parquet
    except ImportError as error:
        print("skipped:", error)
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "model"
        made_model.make(model, layers=1)
        classifier(arguments, pyarrow.parquet.read_table, folder, model)
        cells(arguments, pyarrow.parquet.read_table, folder, model)
        embeddings(arguments, pyarrow.parquet.read_table, folder, model)
        many(arguments, pyarrow.parquet, folder, model)
    return 0


sys.exit(main())
