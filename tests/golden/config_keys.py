"""Checks config_keys.json: every key of config.json that transformers reads for a classifier has a line there.

The script lists the fields of the configuration classes of the ten families, and the names that the files of their
models and of the shared code read from a configuration. It fails if one of them is not in the table, so run it with
each new release of transformers. Keys of older releases stay in the table. How seqtrain treats a key:

    "used"                        it changes the model, its loss or its fresh parameters; {} is refused
    {"used": "wrong value"}       the same; {} would be a right value
    {"accepted": …, "refused": …} only the accepted value is supported
    "ignored"                     a classifier's results do not depend on it, so any value is accepted
"""

import dataclasses
import inspect
import json
import pathlib
import re
import sys

import transformers
from transformers import CONFIG_MAPPING
from transformers.configuration_utils import PretrainedConfig

HERE = pathlib.Path(__file__).parent
SOURCES = pathlib.Path(transformers.__file__).parent
READS = (r"config\.(\w+)", r"getattr\((?:self\.)?config, \"(\w+)\"", r"kwargs\.(?:get|pop)\(\"(\w+)\"")


def fields(config_class):
    if dataclasses.is_dataclass(config_class):
        return {field.name for field in dataclasses.fields(config_class)}
    classes = (config_class, PretrainedConfig)
    return {name for each in classes for name in inspect.signature(each.__init__).parameters}


def reads(text, patterns):
    return {name for pattern in patterns for name in re.findall(pattern, text)}


def keys(family):
    config_class = CONFIG_MAPPING[family]
    folder = SOURCES / "models" / family.replace("-", "_")
    found = fields(config_class) | set(config_class.attribute_map)
    for path in folder.glob("configuration_*.py"):
        found |= reads(path.read_text(), READS[2:])
    for path in folder.glob("modeling_*.py"):
        if not path.name.startswith(("modeling_tf_", "modeling_flax_")):
            found |= reads(path.read_text(), READS[:2])
    found |= reads((SOURCES / "loss" / "loss_utils.py").read_text(), READS[:2])
    start = getattr(PretrainedConfig, "__post_init__", PretrainedConfig.__init__)
    found |= reads(inspect.getsource(start), READS[2:])
    made = {name for name in dir(PretrainedConfig) if callable(getattr(PretrainedConfig, name, None))}
    return {name for name in found - made if not name.startswith("_")} - {"self", "kwargs"}


def main():
    table = json.loads((HERE / "config_keys.json").read_text())
    missing = 0
    for family in list(table)[1:]:
        if family == "new":  # GTE's own code, which transformers does not have
            continue
        for key in sorted(keys(family) - set(table["all"]) - set(table[family])):
            missing += 1
            print(f"{family}: {key} is not in config_keys.json")
    count = sum(len(keys) for keys in table.values())
    print(f"transformers {transformers.__version__}: {count} lines, {missing} keys without one")
    sys.exit(missing > 0)


if __name__ == "__main__":
    main()
