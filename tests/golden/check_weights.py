"""Loads files that seqtrain has written and compares them with the original values.

usage: python tests/golden/check_weights.py

The tests compare the bytes that they write with the files in tests/golden/weights/written/.
"""

import pathlib
import warnings
import zipfile

import safetensors.torch
import torch

HERE = pathlib.Path(__file__).parent / "weights"


def compare(written, source):
    assert written.keys() == source.keys()
    for name, tensor in source.items():
        ours = written[name]
        assert ours.dtype == tensor.dtype, name
        assert torch.equal(ours, tensor), name
        assert ours.stride() == tensor.contiguous().stride(), name


def main():
    warnings.simplefilter("error")
    compare(
        safetensors.torch.load_file(HERE / "written" / "dtypes.safetensors"),
        safetensors.torch.load_file(HERE / "dtypes.safetensors"),
    )
    with safetensors.safe_open(HERE / "written" / "dtypes.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}

    source = torch.load(HERE / "views.pth", weights_only=True)
    file = HERE / "written" / "views.pth"
    for mmap in (False, True):
        written = torch.load(file, weights_only=True, mmap=mmap)
        compare(written, source)
        assert list(written) == list(source)
    assert zipfile.ZipFile(file).testzip() is None
    print("equal")


if __name__ == "__main__":
    main()
