"""The names under which Hugging Face's transformers keep what TensorFlow checkpoints of GPT-2 and BERT have.

GPT-2's are those of openai/gpt-2, without a prefix as in the files of `gpt2`; BERT's those of google-research/bert,
as in `BertForPreTraining`. Weights of dense layers, which TensorFlow keeps as [in, out], are [out, in] in BERT there;
GPT-2's have lost a first dimension of 1.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MODELS = ("gpt2", "bert")


class Place(NamedTuple):
    """Where a tensor goes: its name, and whether it is transposed or loses its first dimension of 1."""

    name: str
    is_transposed: bool = False
    is_squeezed: bool = False


_GPT2_WORDS = {"g": "weight", "b": "bias", "w": "weight"}
_BERT_WORDS = {
    "gamma": "weight",
    "beta": "bias",
    "kernel": "weight",
    "output_bias": "bias",
    "output_weights": "weight",
}


def place_of(model, name):
    """The Place of the tensor `name` of a checkpoint of `model`; None for what is no part of it: slots, counters."""
    return _gpt2(name) if model == "gpt2" else _bert(name)


def _gpt2(name):
    parts = name.split("/")
    if parts[0] != "model":
        return None
    if parts[1:] in (["wte"], ["wpe"]):
        return Place(f"{parts[1]}.weight")
    word = _GPT2_WORDS.get(parts[-1])
    if word is None or len(parts) < 3:
        return None
    block = re.fullmatch(r"h(\d+)", parts[1])
    path = ["h", block[1], *parts[2:-1]] if block else parts[1:-1]
    return Place(".".join([*path, word]), is_squeezed=parts[-1] == "w")


def _bert(name):
    *path, last = name.split("/")
    if not path or path[0] not in ("bert", "cls") or last.startswith(("adam_", "Adam", "lamb_")):
        return None
    path = [part for item in path for part in (item.split("_") if re.fullmatch(r"layer_\d+", item) else [item])]
    words = [_BERT_WORDS.get(last, last)]
    if last.endswith("_embeddings"):
        words.append("weight")
    return Place(".".join([*path, *words]), is_transposed=last == "kernel")
