"""Makes the model files of tests/golden/weights/ and, beside each, its tensors as JSON.

usage: python tests/golden/weights.py
"""

import collections
import json
import pathlib

import safetensors.torch
import torch

HERE = pathlib.Path(__file__).parent / "weights"


def describe(tensors):
    """Returns {name: dtype, shape, values in row-major order}, which the tests read."""
    return {
        name: {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "values": tensor.detach().reshape(-1).tolist(),
        }
        for name, tensor in tensors.items()
    }


def write_json(name, tensors):
    (HERE / name).write_text(json.dumps(describe(tensors), indent=1) + "\n")


def every_dtype():
    numbers = torch.tensor([0.0, -0.0, 1.0, -1.5, 0.1, 65504.0, 6e-8, 3.14159])
    tensors = {
        str(dtype).removeprefix("torch."): numbers.to(dtype)
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    }
    integers = torch.tensor([[0, 1, -1], [127, -128, 42]])
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
        tensors[str(dtype).removeprefix("torch.")] = integers.to(dtype)
    tensors["uint8"] = torch.tensor([[[0, 255]]], dtype=torch.uint8)
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["scalar"] = torch.tensor(2.5)
    tensors["empty"] = torch.zeros(0, 3)
    return tensors


def views():
    """Makes a state_dict with shared storages, strides, offsets and parameters."""
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    state = collections.OrderedDict(every_dtype())
    state["base"] = base
    state["row"] = base[2]
    state["transposed"] = base.t()
    state["strided"] = base[1:, ::2]
    state["expanded"] = base[:, :1].expand(4, 3)
    state["parameter"] = torch.nn.Parameter(torch.full((2, 2), 0.25))
    return state


def lightning(state):
    """Makes what Lightning's Trainer saves: a state_dict beside other things."""
    return {
        "epoch": 2, "global_step": 30, "pytorch-lightning_version": "2.5.0",
        "state_dict": collections.OrderedDict(state), "loops": {"fit_loop": {"state_dict": {}, "done": False}},
        "callbacks": {}, "lr_schedulers": [{"base_lrs": [1e-3], "last_epoch": 2, "verbose": None}],
        "optimizer_states": [{"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.ones(2)}},
                              "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "params": [0]}]}],
        "hparams_name": "kwargs", "hyper_parameters": {"lr": 1e-3},
    }


def sharded(directory):
    directory.mkdir(exist_ok=True)
    shards = [
        {"embeddings.weight": torch.arange(6.0).reshape(3, 2)},
        {"layer.weight": torch.eye(2), "layer.bias": torch.tensor([0.5, -0.5])},
    ]
    weight_map = {}
    for i, shard in enumerate(shards, 1):
        file = f"model-{i:05}-of-{len(shards):05}.safetensors"
        safetensors.torch.save_file(shard, directory / file, {"format": "pt"})
        weight_map |= dict.fromkeys(shard, file)
    index = {"metadata": {"total_size": 48}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    write_json("sharded.json", {name: t for shard in shards for name, t in shard.items()})


def main():
    torch.manual_seed(0)
    HERE.mkdir(exist_ok=True)
    safetensors.torch.save_file(every_dtype(), HERE / "dtypes.safetensors", {"format": "pt"})
    write_json("dtypes.json", every_dtype())
    sharded(HERE / "sharded")

    state = views()
    torch.save(state, HERE / "views.pth")
    torch.save(state, HERE / "views_protocol4.pth", pickle_protocol=4)
    write_json("views.json", state)

    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(module.state_dict(), HERE / "module.pth")  # with its _metadata
    write_json("module.json", module.state_dict())
    torch.save(lightning(module.state_dict()), HERE / "lightning.pth")

    nested = {
        "model": {"weight": torch.ones(2), "names": ["a", "\u00e9", "a"]},
        "step": 70000, "large": 2**40, "negative": -3, "rate": 0.5, "done": True, "none": None,
        "pair": (1, "x"), "empty": [], "no_text": "",
    }
    torch.save(nested, HERE / "nested.pth")
    torch.save({"w": torch.ones(2)}, HERE / "old.pth", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
