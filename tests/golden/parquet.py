"""Writes small Parquet files for tests/parquet, by pyarrow."""

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

out = pathlib.Path(__file__).parent / "parquet"
out.mkdir(exist_ok=True)

texts = [f"premise {i} ä" for i in range(10)]
pairs = [f"hypothesis {i}" for i in range(10)]
ids = [i % 3 for i in range(10)]
ids[7] = -1
names = ["entailment", "neutral", "contradiction"]


def features(**columns):
    return {"huggingface": json.dumps({"info": {"features": columns}})}


def class_label(names):
    return {"names": names, "_type": "ClassLabel"}


string = {"dtype": "string", "_type": "Value"}
nli = pa.table(
    {"premise": texts, "hypothesis": pairs, "label": pa.array(ids, pa.int64())}
).replace_schema_metadata(features(premise=string, hypothesis=string, label=class_label(names)))
pq.write_table(nli, out / "nli.parquet", row_group_size=4)
pq.write_table(nli.slice(0, 6), out / "nli-00000-of-00002.parquet", row_group_size=4)
pq.write_table(nli.slice(6), out / "nli-00001-of-00002.parquet", compression="zstd")
other = nli.replace_schema_metadata(features(label=class_label(names[::-1])))
pq.write_table(other, out / "other_names.parquet")

words = [None if i == 8 else ["neg", "pos"][i % 2] for i in range(10)]
kinds = {
    "string": pa.array(words, pa.string()),
    "large_string": pa.array(words, pa.large_string()),
    "dictionary": pa.array(words, pa.string()).dictionary_encode(),
    "int8": pa.array([0, 1, -1, 3, 100], pa.int8()).take(pa.array([0, 1, 2, 3, 4] * 2)),
    "uint64": pa.array([0, 2**64 - 1] * 5, pa.uint64()),
    "double": pa.array([0.0, 2.0, 1e3, -4.0, None] * 2, pa.float64()),
    "half": pa.array([0.0, 2.5] * 5, pa.float32()),
    "bool": pa.array([True, False] * 5, pa.bool_()),
    "null": pa.nulls(10),
    "names": pa.array([["a", "b"], [], None, ["c"], ["d\"e"]] * 2, pa.list_(pa.string())),
    "flags": pa.array([[0, 1, 1], [1, 0, 0]] * 5, pa.list_(pa.float32(), 3)),
    "ids": pa.array([[0, 2], [1], [], [2], [0]] * 2, pa.large_list(pa.int64())),
    "days": pa.array(range(10), pa.date32()),
    "struct": pa.array([{"a": 1}] * 10),
    "text": pa.array([f"text {i}" for i in range(10)]).dictionary_encode(),
    "pair": pa.array([None if i % 3 == 0 else f"pair {i}" for i in range(10)], pa.large_string()),
    "cut": pa.array([b"good", b"\xc3", b"\xa4"] + [b"good"] * 7, pa.binary()),
    "bytes": pa.array([b"good"] * 6 + [b"\xff"] + [b"good"] * 3, pa.binary()),
}
listed = {"feature": class_label(["x", "y", "z"]), "_type": "LargeList"}
table = pa.table(kinds).replace_schema_metadata(features(ids=listed))
pq.write_table(table, out / "kinds.parquet", row_group_size=5)
