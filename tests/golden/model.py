#!/usr/bin/env python3
"""Makes models, and the results of transformers with them, for the tests of model/.

    model.py [--only NAME …]      writes the small cases that the tree holds, into golden/model/
    model.py --out DIR --random N [--checkpoint HF_DIR]
                                  writes N random configurations of the families in turn, every
                                  second time round with sizes that the hand-written backend have,
                                  in all layouts of files, and one case of a real checkpoint,
                                  for model_test with SEQTRAIN_MODEL_CASES=DIR
    model.py --check DIR          compares what model_test saved there, by from_pretrained and by
                                  torch.load into load_state_dict

A case is a Hugging Face directory with expected.safetensors beside the model: two batches (ids,
types, lengths, labels as floats: [rows], or [rows, labels] of regression and of multi-label
classification), the first one's logits and loss, the gradient of every parameter, and the losses of
50 steps of Adam over the two in turn, dropout 0, with its learning rate.
"""
import argparse
import json
import random
import re
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import load_file, save_file
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForSequenceClassification

STEPS = 50
DECODERS = ("llama", "mistral", "qwen2", "qwen3", "smollm3", "olmo2", "gemma2", "gemma3_text",
            "phi3")
LLAMAS = (*DECODERS, "eurobert")  # families with Llama's layers and keys
UNTYPED = ("distilbert", "mpnet", "modernbert", "bart", "gpt2", "esm", *LLAMAS)  # without token types
RENAMED = ("nomic_bert", "gte")  # files have other names of parameters than models


def make_batch(config, rows, width):
    lengths = [width] + [random.randint(1, width) for _ in range(rows - 1)]
    ids = torch.full((rows, width), config.pad_token_id or 0)
    types = torch.zeros((rows, width), dtype=torch.long)
    for row, length in enumerate(lengths):
        least = 0 if config.pad_token_id is None else 2
        ids[row, :length] = torch.randint(least, config.vocab_size, (length,))
        if config.model_type == "bart":  # each text ends with its only end-of-sequence token
            ids[row, :length] = torch.randint(6, config.vocab_size, (length,))
            ids[row, length - 1] = config.eos_token_id
        if config.model_type not in UNTYPED and config.type_vocab_size > 1:
            types[row, length // 2:length] = 1
    labels = torch.randint(config.num_labels, (rows,))
    if config.problem_type == "regression":
        labels = torch.randn(rows, config.num_labels)
    elif config.problem_type == "multi_label_classification":
        labels = torch.randint(2, (rows, config.num_labels)).float()
    return ids, types, torch.tensor(lengths), labels


def run(model, batch):
    ids, types, lengths, labels = batch
    mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
    types = {} if model.config.model_type in UNTYPED else {"token_type_ids": types}
    return model(input_ids=ids, attention_mask=mask, labels=labels, **types)


def save(model, directory, layout):
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(directory, max_shard_size="20KB" if layout == "shards" else "5GB")
    if layout == "bin":
        renamed = model.config.model_type in RENAMED
        state = load_file(directory / "model.safetensors") if renamed else model.state_dict()
        (directory / "model.safetensors").unlink()
        torch.save(state, directory / "pytorch_model.bin")


def gradients(model):
    """Returns the gradients by the names of the parameters, or by those of RENAMED families' files."""
    found = dict(model.named_parameters())
    grads = {name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
             for name, parameter in found.items() if parameter.requires_grad}
    if model.config.model_type not in RENAMED:
        return grads
    copy = deepcopy(model)
    with torch.no_grad():
        for name, parameter in copy.named_parameters():
            parameter.copy_(grads[name])
    with TemporaryDirectory() as directory:
        copy.save_pretrained(directory)
        return load_file(Path(directory) / "model.safetensors")


def write_case(directory, model, batches, lr=1e-3, layout="one file"):
    save(model, directory, layout)
    model.eval()
    expected = {}
    for i, batch in enumerate(batches):
        for key, value in zip(("input_ids", "token_type_ids", "lengths", "labels"), batch):
            expected[f"batch.{i}.{key}"] = value.float()
    output = run(model, batches[0])
    output.loss.backward()
    expected["logits"] = output.logits.detach().clone()
    expected["loss"] = output.loss.detach().clone().view(1)
    for name, gradient in gradients(model).items():
        expected["gradient." + name] = gradient
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = run(model, batches[step % 2]).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    expected["losses"] = torch.tensor(losses)
    expected["lr"] = torch.tensor([lr])
    save_file(expected, directory / "expected.safetensors")
    print(directory.name, output.logits.abs().max().item(), losses[0], losses[-1])


# The names that families give to the sizes that all of them have.
KEYS = {"distilbert": {"hidden_size": "dim", "num_hidden_layers": "n_layers",
                       "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim",
                       "hidden_act": "activation", "hidden_dropout_prob": "dropout",
                       "attention_probs_dropout_prob": "attention_dropout"},
        "modernbert": {"hidden_act": "hidden_activation", "hidden_dropout_prob": "mlp_dropout",
                       "attention_probs_dropout_prob": "attention_dropout"},
        "bart": {"hidden_size": "d_model", "num_hidden_layers": "encoder_layers",
                 "num_attention_heads": "encoder_attention_heads",
                 "intermediate_size": "encoder_ffn_dim", "hidden_act": "activation_function",
                 "hidden_dropout_prob": "dropout",
                 "attention_probs_dropout_prob": "attention_dropout"},
        "gpt2": {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
                 "num_attention_heads": "n_head", "intermediate_size": "n_inner",
                 "hidden_act": "activation_function", "hidden_dropout_prob": "resid_pdrop",
                 "attention_probs_dropout_prob": "attn_pdrop",
                 "max_position_embeddings": "n_positions"},
        "rembert": {"embedding_size": "input_embedding_size"},
        **{family: {"attention_probs_dropout_prob": "attention_dropout",
                    "hidden_act": "hidden_activation" if "gemma" in family else "hidden_act"}
           for family in LLAMAS}}


def is_scale(name):
    return name.lower().endswith(("norm.weight", ".ln.weight", "layernorm_embedding.weight",
                                  "ln_1.weight", "ln_2.weight", "ln_f.weight",
                                  "norm_after.weight"))


def make_model(family, seed, std=0.3, **settings):
    random.seed(seed)
    torch.manual_seed(seed)
    settings = {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, **settings}
    if family in (*LLAMAS, "gpt2"):
        settings = {"pad_token_id": 0, **settings}
    if family in LLAMAS:
        settings.pop("hidden_dropout_prob")  # they have none
    keys = KEYS.get(family, {})
    config = CONFIG_MAPPING[family](**{keys.get(key, key): value for key, value in settings.items()})
    model = AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            if name.endswith("inv_freq") and family == "esm":
                buffer.copy_(buffer.half())  # as in published files
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:  # RoFormer's table of sines stays
                parameter.normal_(1.0 if is_scale(name) else 0.0, std)
        for name, parameter in model.named_parameters():
            words = ("word_embeddings", "tok_embeddings", "embed_tokens", "shared", "wte")
            if config.pad_token_id is not None and any(word in name for word in words):
                parameter[config.pad_token_id] = 0
    return model


SMALL = {
    "bert_gelu": ("bert", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                               hidden_act="gelu")),
    "bert_relu": ("bert", dict(hidden_size=12, num_hidden_layers=1, num_attention_heads=3,
                               hidden_act="relu")),
    "roberta_gelu_new": ("roberta", dict(hidden_size=8, num_hidden_layers=2,
                                         num_attention_heads=4, hidden_act="gelu_new")),
    "bert_regression": ("bert", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                     num_labels=1, problem_type="regression")),
    "bert_regressions": ("bert", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                      num_labels=3, problem_type="regression")),
    "roberta_multi_label": ("roberta", dict(hidden_size=8, num_hidden_layers=1,
                                            num_attention_heads=2, num_labels=4,
                                            problem_type="multi_label_classification")),
    "distilbert_gelu": ("distilbert", dict(hidden_size=8, num_hidden_layers=2,
                                           num_attention_heads=2)),
    "distilbert_relu": ("distilbert", dict(hidden_size=12, num_hidden_layers=1, num_labels=1,
                                           num_attention_heads=3, hidden_act="relu",
                                           problem_type="regression")),
    "xlm_roberta": ("xlm-roberta", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                        pad_token_id=3, type_vocab_size=1)),
    "camembert": ("camembert", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                    num_labels=4, problem_type="multi_label_classification")),
    "electra_small": ("electra", dict(hidden_size=12, embedding_size=5, num_hidden_layers=2,
                                      num_attention_heads=2)),
    "electra_same": ("electra", dict(hidden_size=8, embedding_size=8, num_hidden_layers=1,
                                     num_attention_heads=4, hidden_act="gelu_new")),
    "mpnet": ("mpnet", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2)),
    "mpnet_long": ("mpnet", dict(hidden_size=6, num_hidden_layers=1, num_attention_heads=3,
                                 max_position_embeddings=220, width=210)),
    "albert": ("albert", dict(hidden_size=8, embedding_size=6, num_hidden_layers=3,
                              num_attention_heads=2)),
    "albert_groups": ("albert", dict(hidden_size=8, embedding_size=8, num_hidden_layers=5,
                                     num_hidden_groups=2, inner_group_num=2,
                                     num_attention_heads=4, hidden_act="relu")),
    "modernbert": ("modernbert", dict(hidden_size=8, num_hidden_layers=4, num_attention_heads=2,
                                      pad_token_id=0, local_attention=6, width=12)),
    "modernbert_mean": ("modernbert", dict(
        hidden_size=12, num_hidden_layers=3, num_attention_heads=3, pad_token_id=2,
        local_attention=4, global_attn_every_n_layers=2, classifier_pooling="mean", norm_bias=True,
        attention_bias=True, mlp_bias=True, classifier_bias=True, classifier_activation="relu",
        embedding_dropout=0.1, classifier_dropout=0.2)),
    "modernbert_global": ("modernbert", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=1, pad_token_id=0, num_labels=4,
        global_attn_every_n_layers=1, global_rope_theta=50.0, hidden_act="gelu_new",
        problem_type="multi_label_classification")),
    "deberta_v3": ("deberta-v2", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, relative_attention=True,
        position_buckets=6, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type="p2c|c2p", position_biased_input=False)),
    "deberta_convolution": ("deberta-v2", dict(
        hidden_size=8, embedding_size=6, num_hidden_layers=2, num_attention_heads=2,
        relative_attention=True, max_relative_positions=5, pos_att_type=["c2p"], type_vocab_size=2,
        conv_kernel_size=3, conv_act="gelu", num_labels=4,
        problem_type="multi_label_classification")),
    "deberta_keys": ("deberta-v2", dict(
        hidden_size=12, num_hidden_layers=1, num_attention_heads=3, relative_attention=True,
        position_buckets=4, pos_att_type="p2c", conv_kernel_size=5, conv_groups=2,
        pooler_hidden_act="relu")),
    "deberta_absolute": ("deberta-v2", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=4, num_labels=1,
        problem_type="regression")),
    "bert_without_padding": ("bert", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                          pad_token_id=None)),
    "modernbert_without_padding": ("modernbert", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, pad_token_id=None,
        local_attention=6)),
    "ernie": ("ernie", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2)),
    "ernie_tasks": ("ernie", dict(hidden_size=12, num_hidden_layers=1, num_attention_heads=3,
                                  use_task_id=True, hidden_act="relu")),
    "data2vec_text": ("data2vec-text", dict(hidden_size=8, num_hidden_layers=2,
                                            num_attention_heads=2, type_vocab_size=1)),
    "megatron_bert": ("megatron-bert", dict(hidden_size=8, num_hidden_layers=3,
                                            num_attention_heads=2)),
    "roberta_prelayernorm": ("roberta-prelayernorm", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=4, num_labels=4,
        problem_type="multi_label_classification")),
    "xlm_roberta_xl": ("xlm-roberta-xl", dict(hidden_size=12, num_hidden_layers=2,
                                              num_attention_heads=3, hidden_act="relu")),
    "rembert": ("rembert", dict(hidden_size=12, embedding_size=6, num_hidden_layers=2,
                                num_attention_heads=2, classifier_dropout_prob=0.2)),
    "llama": ("llama", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                            num_key_value_heads=2)),
    "llama_scaled": ("llama", dict(
        hidden_size=12, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=8, attention_bias=True, mlp_bias=True, hidden_act="gelu", pad_token_id=2,
        rope_parameters={"rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0,
                         "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 8})),
    "llama_linear": ("llama", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_labels=1,
        problem_type="regression",
        rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0})),
    "mistral": ("mistral", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                                num_key_value_heads=2, sliding_window=3)),
    "mistral_global": ("mistral", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
        head_dim=6, sliding_window=None, num_labels=4,
        problem_type="multi_label_classification")),
    "qwen2": ("qwen2", dict(hidden_size=8, num_hidden_layers=3, num_attention_heads=4,
                            num_key_value_heads=2, use_sliding_window=True, sliding_window=4,
                            max_window_layers=1)),
    "qwen2_yarn": ("qwen2", dict(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                         "original_max_position_embeddings": 4})),
    "qwen3": ("qwen3", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                            num_key_value_heads=2, head_dim=6)),
    "qwen3_windows": ("qwen3", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        head_dim=4, attention_bias=True, use_sliding_window=True, sliding_window=2,
        layer_types=["sliding_attention", "full_attention"], num_labels=1,
        problem_type="regression")),
    "smollm3": ("smollm3", dict(hidden_size=8, num_hidden_layers=3, num_attention_heads=2,
                                num_key_value_heads=1, no_rope_layer_interval=2,
                                attention_bias=True, mlp_bias=True)),
    "smollm3_windows": ("smollm3", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        no_rope_layers=[1, 0], use_sliding_window=True, sliding_window=3)),
    "olmo2": ("olmo2", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                            num_key_value_heads=2, attention_bias=True)),
    "gemma2": ("gemma2", dict(hidden_size=8, num_hidden_layers=3, num_attention_heads=2,
                              num_key_value_heads=1, head_dim=6, sliding_window=3,
                              query_pre_attn_scalar=9, attn_logit_softcapping=5.0)),
    "gemma2_plain": ("gemma2", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        head_dim=4, attention_bias=True, attn_logit_softcapping=None,
        layer_types=["full_attention", "sliding_attention"], hidden_act="gelu")),
    "gemma3_text": ("gemma3_text", dict(
        hidden_size=8, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1,
        head_dim=6, sliding_window=3, query_pre_attn_scalar=9, sliding_window_pattern=2,
        rope_parameters={"full_attention": {"rope_type": "linear", "rope_theta": 1000.0,
                                            "factor": 2.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}})),
    "phi3": ("phi3", dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
                          num_key_value_heads=2, sliding_window=4)),
    "phi3_partial": ("phi3", dict(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        resid_pdrop=0.1, rope_parameters={"rope_type": "default", "rope_theta": 100.0,
                                          "partial_rotary_factor": 0.5})),
    "gpt2": ("gpt2", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                          hidden_act="gelu_new")),
    "gpt2_scaled": ("gpt2", dict(
        hidden_size=12, num_hidden_layers=3, num_attention_heads=3, hidden_act="relu",
        embd_pdrop=0.2, scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True,
        num_labels=4, problem_type="multi_label_classification")),
    "bart": ("bart", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                          decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=12)),
    "bart_scaled": ("bart", dict(
        hidden_size=12, num_hidden_layers=2, num_attention_heads=3, decoder_layers=1,
        decoder_attention_heads=2, decoder_ffn_dim=20, hidden_act="relu", scale_embedding=True,
        activation_dropout=0.1, classifier_dropout=0.2, decoder_start_token_id=0, eos_token_id=5,
        num_labels=4, problem_type="multi_label_classification")),
    "deberta": ("deberta", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, relative_attention=True,
        max_relative_positions=-1, pos_att_type="c2p|p2c", position_biased_input=False)),
    "deberta_near": ("deberta", dict(
        hidden_size=12, embedding_size=6, num_hidden_layers=1, num_attention_heads=3,
        relative_attention=True, max_relative_positions=5, pos_att_type=["p2c"], type_vocab_size=2,
        pooler_hidden_act="relu", cls_dropout=0.2, num_labels=4,
        problem_type="multi_label_classification")),
    "deberta_plain": ("deberta", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=4, pos_att_type=["c2p"],
        num_labels=1, problem_type="regression")),
    "eurobert": ("eurobert", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                                  num_key_value_heads=2)),
    "eurobert_first": ("eurobert", dict(
        hidden_size=12, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        head_dim=4, attention_bias=True, mlp_bias=True, hidden_act="gelu", num_labels=4,
        classifier_pooling="bos", problem_type="multi_label_classification")),
    "eurobert_mean": ("eurobert", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_labels=1,
        classifier_pooling="mean", problem_type="regression",
        rope_parameters={"rope_type": "linear", "rope_theta": 1000.0, "factor": 3.0})),
    "nomic_bert": ("nomic_bert", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2)),
    "nomic_bert_heads": ("nomic_bert", dict(
        hidden_size=12, num_hidden_layers=1, num_attention_heads=3, head_dim=6, hidden_act="gelu",
        classifier_dropout=0.2, num_labels=4, problem_type="multi_label_classification",
        rope_parameters={"rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0,
                         "original_max_position_embeddings": 4})),
    "gte": ("gte", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2)),
    "gte_untyped": ("gte", dict(
        hidden_size=12, num_hidden_layers=1, num_attention_heads=3, type_vocab_size=0,
        hidden_act="relu", num_labels=1, problem_type="regression",
        rope_parameters={"rope_type": "linear", "rope_theta": 1000.0, "factor": 2.0})),
    "roformer": ("roformer", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2)),
    "roformer_small": ("roformer", dict(
        hidden_size=12, embedding_size=5, num_hidden_layers=1, num_attention_heads=3,
        hidden_act="relu", type_vocab_size=3)),
    "esm": ("esm", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, pad_token_id=1)),
    "esm_rotary": ("esm", dict(
        hidden_size=12, num_hidden_layers=2, num_attention_heads=2, pad_token_id=1,
        mask_token_id=7, position_embedding_type="rotary", token_dropout=True, num_labels=1,
        problem_type="regression")),
    "esm_before": ("esm", dict(
        hidden_size=12, num_hidden_layers=1, num_attention_heads=3, pad_token_id=0,
        mask_token_id=3, emb_layer_norm_before=True, token_dropout=True, num_labels=4,
        layer_norm_eps=1e-5, problem_type="multi_label_classification")),
    "longformer": ("longformer", dict(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=2, attention_window=4)),
    "longformer_windows": ("longformer", dict(
        hidden_size=12, num_hidden_layers=3, num_attention_heads=3, attention_window=[4, 8, 80],
        hidden_act="relu", type_vocab_size=1, max_position_embeddings=160, width=150)),
    "longformer_wide": ("longformer", dict(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, attention_window=16,
        pad_token_id=0, num_labels=4, problem_type="multi_label_classification")),
    "gte_new": ("gte", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                            ntk={"rope_theta": 100.0, "factor": 4.0})),
}


def check_angles(model, head, ntk):
    """Checks that a model has the angles that GTE's own code computes in its own steps."""
    base = ntk["rope_theta"] * ntk["factor"]
    angles = 1 / base ** (torch.arange(0, head, 2).float() / head)
    torch.testing.assert_close(model.gte.rotary_emb.inv_freq, angles / ntk["factor"] ** (2 / head))


def as_published(directory, ntk):
    """Gives a folder of GTE the names and the settings of its own code, whose model_type is `new`."""
    for name in ("model.safetensors", "expected.safetensors"):
        tensors = load_file(directory / name)
        save_file({re.sub(r"^(gradient\.)?gte\.", r"\1new.", key): value
                   for key, value in tensors.items()}, directory / name, {"format": "pt"})
    file = directory / "config.json"
    config = json.loads(file.read_text())
    del config["rope_parameters"]
    config.update(model_type="new", architectures=["NewForSequenceClassification"], pack_qkv=True,
                  layer_norm_type="layer_norm", position_embedding_type="rope",
                  logn_attention_scale=False, rope_theta=ntk["rope_theta"],
                  rope_scaling={"type": "ntk", "factor": ntk["factor"]})
    file.write_text(json.dumps(config, indent=2) + "\n")


def write_small(directory, only):
    for seed, (name, (family, settings)) in enumerate(SMALL.items()):
        if only and name not in only:
            continue
        width = settings.get("width", 9)
        ntk = settings.get("ntk")
        settings = {key: value for key, value in settings.items() if key not in ("width", "ntk")}
        if ntk:  # the same angles by a scaling that transformers has
            head = settings["hidden_size"] // settings["num_attention_heads"]
            settings["rope_parameters"] = {
                "rope_type": "linear", "rope_theta": ntk["rope_theta"] * ntk["factor"],
                "factor": ntk["factor"] ** (2 / head)}
        model = make_model(family, seed, vocab_size=24, intermediate_size=16,
                           **{"max_position_embeddings": 14 if family == "xlm-roberta" else 12,
                              "num_labels": 3, **settings})
        if ntk:
            check_angles(model, head, ntk)
        batches = [make_batch(model.config, 4, width), make_batch(model.config, 3, 6)]
        write_case(directory / name, model, batches)
        if ntk:
            as_published(directory / name, ntk)


def random_decoder(family, heads):
    """Returns settings of a decoder that differ from its defaults in every way that it has."""
    more = {"num_key_value_heads": random.choice([n for n in (1, 2, 3, heads) if heads % n == 0]),
            "pad_token_id": random.choice([0, 1])}
    if family not in ("olmo2", "smollm3", "qwen2", "phi3"):
        more["head_dim"] = random.choice([8, 10, 16])
    if family in ("llama", "qwen3", "smollm3", "olmo2", "gemma2", "gemma3_text"):
        more["attention_bias"] = random.random() < 0.5
    if family in ("mistral", "phi3", "gemma2", "gemma3_text"):
        more["sliding_window"] = random.choice([2, 5, 100])
    if family in ("qwen2", "qwen3"):
        more.update(use_sliding_window=random.random() < 0.7, sliding_window=4, max_window_layers=1)
    if family == "smollm3":
        more["no_rope_layer_interval"] = random.randint(1, 3)
    if family not in ("gemma3_text", "phi3"):
        more["rope_parameters"] = random.choice([
            {"rope_type": "default", "rope_theta": 500.0},
            {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0},
            {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
             "original_max_position_embeddings": 10, "beta_fast": 4.0},
            {"rope_type": "llama3", "rope_theta": 1000.0, "factor": 8.0, "low_freq_factor": 1.0,
             "high_freq_factor": 4.0, "original_max_position_embeddings": 16}])
    if family == "phi3":
        more["rope_parameters"] = {"rope_type": "default", "rope_theta": 100.0,
                                   "partial_rotary_factor": random.choice([0.5, 1.0])}
    if "gemma" in family:
        more["query_pre_attn_scalar"] = random.choice([4, 20])
    return more


def write_random(directory, count):
    families = sorted({family for family, settings in SMALL.values()})
    for seed in range(count):
        random.seed(1000 + seed)
        heads = random.choice([1, 2, 4, 6])
        family = families[seed % len(families)]
        by_hand = seed // len(families) % 2 == 1
        hidden = heads * random.choice([8, 16, 20])
        inner = random.randint(16, 160)
        if by_hand:
            hidden = random.choice([64, 128, 192])
            heads = random.choice([1, 2, 4, 8])
            inner = random.choice([64, 128, 192])
        more = {}
        if family in ("electra", "albert"):
            more["embedding_size"] = random.choice([64, 128] if by_hand else [7, 16, 32])
        if family == "modernbert":
            more["pad_token_id"] = 0
            more["local_attention"] = random.choice([4, 10, 128])
            more["global_attn_every_n_layers"] = random.randint(1, 4)
            more["classifier_pooling"] = random.choice(["cls", "mean"])
            for key in ("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"):
                more[key] = random.random() < 0.5
        if family == "deberta":
            more["relative_attention"] = True
            more["max_relative_positions"] = random.choice([-1, 16, 33])
            more["position_biased_input"] = random.random() < 0.5
            more["pos_att_type"] = random.choice([["c2p"], ["p2c"], ["c2p", "p2c"]])
            more["type_vocab_size"] = random.choice([0, 2])
        if family == "deberta-v2":
            more["relative_attention"] = True
            more["position_buckets"] = random.choice([-1, 8, 20])
            more["max_relative_positions"] = random.choice([-1, 16, 33])
            more["norm_rel_ebd"] = random.choice(["none", "layer_norm"])
            more["share_att_key"] = random.random() < 0.5
            more["position_biased_input"] = random.random() < 0.5
            more["pos_att_type"] = random.choice(["c2p", "p2c", "c2p|p2c"])
            more["type_vocab_size"] = random.choice([0, 2])
            more["conv_kernel_size"] = 0 if by_hand else random.choice([0, 3, 5])
            more["conv_act"] = random.choice(["tanh", "gelu"])
        if family == "eurobert":
            more["classifier_pooling"] = random.choice(["bos", "mean", "late"])
        if family in ("nomic_bert", "gte"):
            more["rope_parameters"] = {"rope_type": "default", "rope_theta": 100.0}
        if family == "nomic_bert":
            more["head_dim"] = random.choice([8, 10, 16])
        if family == "gte":
            more["type_vocab_size"] = random.choice([0, 1, 2])
        if family == "roformer":
            more["embedding_size"] = random.choice([64, 128] if by_hand else [7, 16, 32])
        if family == "rembert":
            more["embedding_size"] = random.choice([64, 128] if by_hand else [7, 16, 32])
        if family == "esm":
            more.update(pad_token_id=1, mask_token_id=5, token_dropout=random.random() < 0.5,
                        emb_layer_norm_before=random.random() < 0.5,
                        position_embedding_type=random.choice(["absolute", "rotary"]))
        if family == "longformer":
            more.update(num_hidden_layers=2, attention_window=random.choice([4, 10, [4, 64]]))
        if family == "ernie":
            more["use_task_id"] = not by_hand
        if family == "gpt2":
            more.update(scale_attn_weights=random.random() < 0.5, pad_token_id=random.choice([0, 1]),
                        scale_attn_by_inverse_layer_idx=random.random() < 0.5)
        if family == "bart":
            more.update(num_hidden_layers=2, decoder_layers=random.randint(1, 3),
                        decoder_ffn_dim=random.randint(8, 90),
                        decoder_attention_heads=random.choice([1, 2, 4]),
                        scale_embedding=random.random() < 0.5)
        if family in LLAMAS:
            more.update(random_decoder(family, heads))
        if family == "albert":
            more["num_hidden_groups"] = random.randint(1, 2)
            more["inner_group_num"] = random.randint(1, 2)
        more = {"num_hidden_layers": random.randint(2, 4), **more}
        model = make_model(
            family, seed, std=0.1, vocab_size=random.randint(50, 300), num_attention_heads=heads,
            hidden_size=hidden, intermediate_size=inner,
            hidden_act=random.choice(["gelu", "gelu_new", "silu" if family in LLAMAS else "relu"]),
            max_position_embeddings=random.randint(40, 80),
            # transformers writes no two labels of BART, and then reads three
            num_labels=random.randint(3 if family == "bart" else 2, 5), **more)
        batches = [make_batch(model.config, random.randint(1, 9), random.randint(3, 36))
                   for _ in range(2)]
        write_case(directory / f"random_{seed}_{family.replace('-', '_')}", model, batches,
                   layout=random.choice(["one file", "shards", "bin"]))


def write_checkpoint(directory, checkpoint):
    random.seed(7)
    torch.manual_seed(7)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
    batches = [make_batch(model.config, 8, 64), make_batch(model.config, 8, 40)]
    write_case(directory / "checkpoint", model, batches, lr=5e-5)


def check(directory):
    for saved in sorted(directory.glob("*/saved")):
        expected = load_file(saved.parent / "expected.safetensors")
        batch = [expected[f"batch.0.{key}"].long()
                 for key in ("input_ids", "token_type_ids", "lengths")] + [None]
        model, info = AutoModelForSequenceClassification.from_pretrained(
            saved, output_loading_info=True)
        left = [info[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")]
        assert not any(left), left
        with torch.no_grad():
            gap = (run(model.eval(), batch).logits - expected["logits"]).abs().max().item()
        if model.config.model_type in RENAMED:
            print(f"{saved.parent.name}: logits differ by {gap:.2e}")
            assert gap < 1e-5
            continue
        state = torch.load(saved / "model.pth", weights_only=True)
        fresh = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
        tied = fresh.all_tied_weights_keys  # other names of one tensor: model.pth has the first
        state.update({name: state[source] for name, source in tied.items()})
        fresh.load_state_dict(state)
        assert set(state) == set(fresh.state_dict()), "other keys"
        with torch.no_grad():
            gap_pth = (run(fresh.eval(), batch).logits - expected["logits"]).abs().max().item()
        print(f"{saved.parent.name}: logits differ by {gap:.2e}, by model.pth {gap_pth:.2e}")
        assert max(gap, gap_pth) < 1e-5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--checkpoint")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the models are tiny
    if options.check:
        check(options.check)
    elif options.out:
        write_random(options.out, options.random)
        if options.checkpoint:
            write_checkpoint(options.out, options.checkpoint)
    else:
        write_small(Path(__file__).with_name("model"), options.only)
