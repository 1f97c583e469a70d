#!/usr/bin/env python3
"""Lists transformers' model types that have a class for sequence classification beside those of seqtrain.

A line names the type, the class, and the header that has it here or "-". The last line counts both. A type of seqtrain
that this version of transformers does not have, or has with another class, is an error.
"""

import pathlib
import re
import sys

import transformers
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as THEIRS

INCLUDE = pathlib.Path(__file__).parents[2] / "include"
FAMILY = r'string_view model_type = "([^"]+)";.*?string_view classifier = "([^"]+)";'


def ours():
    found = {}
    for path in sorted((INCLUDE / "seqtrain/model/families").rglob("*.hpp")):
        for model_type, name in re.findall(FAMILY, path.read_text(), re.DOTALL):
            found[model_type] = (name, path.relative_to(INCLUDE))
    return found


def main():
    here = ours()
    for model_type, name in sorted(THEIRS.items()):
        print(f"{model_type:24} {name:48} {here.get(model_type, (None, '-'))[1]}")
    wrong = [model_type for model_type, (name, _) in here.items() if THEIRS.get(model_type) != name]
    print(f"transformers {transformers.__version__}: {len(THEIRS)} types, {len(here)} of them here, "
          f"{len(wrong)} with another class or none there: {', '.join(wrong) or '-'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
