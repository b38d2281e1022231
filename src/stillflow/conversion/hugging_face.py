"""What Hugging Face's Transformers call the variables of GPT-2 and BERT in checkpoints of their authors."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from stillflow.inspection.sources import InputError


class Renaming(NamedTuple):
    """What becomes of a variable: its new name, and whether it is a matrix that is stored transposed there."""

    name: str
    is_transposed: bool = False


# (pattern of a name, new name, whether it is transposed)
_GPT2 = (
    (r"model/(wte|wpe)", r"\1.weight", False),
    (r"model/h(\d+)/(ln_\d)/g", r"h.\1.\2.weight", False),
    (r"model/h(\d+)/(ln_\d)/b", r"h.\1.\2.bias", False),
    # Products are written as x W there, too.
    (r"model/h(\d+)/(attn|mlp)/(c_\w+)/w", r"h.\1.\2.\3.weight", False),
    (r"model/h(\d+)/(attn|mlp)/(c_\w+)/b", r"h.\1.\2.\3.bias", False),
    (r"model/ln_f/g", r"ln_f.weight", False),
    (r"model/ln_f/b", r"ln_f.bias", False),
)
_LAYER = (
    r"bert/encoder/layer_(\d+)/(attention/self/(?:query|key|value)|(?:attention/)?output/dense|intermediate/dense)"
)
_BERT = (
    (r"bert/embeddings/(word|position|token_type)_embeddings", r"bert.embeddings.\1_embeddings.weight", False),
    (r"(.*)/LayerNorm/gamma", r"\1.LayerNorm.weight", False),
    (r"(.*)/LayerNorm/beta", r"\1.LayerNorm.bias", False),
    (_LAYER + "/kernel", r"bert.encoder.layer.\1.\2.weight", True),
    (_LAYER + "/bias", r"bert.encoder.layer.\1.\2.bias", False),
    (r"bert/embeddings/embedding_hidden_mapping_in/kernel", r"bert.embeddings_project.weight", True),
    (r"bert/pooler/dense/kernel", r"bert.pooler.dense.weight", True),
    (r"bert/pooler/dense/bias", r"bert.pooler.dense.bias", False),
    (r"cls/predictions/transform/dense/kernel", r"cls.predictions.transform.dense.weight", True),
    (r"cls/predictions/transform/dense/bias", r"cls.predictions.transform.dense.bias", False),
    (r"cls/predictions/output_bias", r"cls.predictions.bias", False),
    (r"cls/seq_relationship/output_weights", r"cls.seq_relationship.weight", False),
    (r"cls/seq_relationship/output_bias", r"cls.seq_relationship.bias", False),
    (r"cls/squad/output_weights", r"qa_outputs.weight", False),
    (r"cls/squad/output_bias", r"qa_outputs.bias", False),
    (r"output_weights", r"classifier.weight", False),
    (r"output_bias", r"classifier.bias", False),
)
_MAPS = {"gpt2": _GPT2, "bert": _BERT}
MODELS = tuple(_MAPS)

# What optimizers keep for a variable, and counters.
_OF_TRAINING = re.compile(
    r"(.*/)?(Adam(WeightDecayOptimizer)?(_\d+)?|adam_[mv]|Momentum|Adafactor.*|global_step|.*_power)"
)


def renamed(model, name):
    """The Renaming of a variable's name, None for what only training needs.

    Args:
      model: one of MODELS.
      name: the name in the checkpoint.

    Raises InputError for a name that the model does not have.
    """
    if _OF_TRAINING.fullmatch(name):
        return None
    for pattern, replacement, is_transposed in _MAPS[model]:
        match = re.fullmatch(pattern, name)
        if match:
            new_name = re.sub(r"layer_(\d+)", r"layer.\1", match.expand(replacement))
            return Renaming(new_name.replace("/", "."), is_transposed)
    raise InputError(f"{name} is no variable of {model}.")


def converted(model, value, renaming):
    """The value as it is stored there: without GPT-2's leading dimension of 1, transposed if need be."""
    if model == "gpt2" and value.ndim == 3 and value.shape[0] == 1:
        value = value[0]
    return np.ascontiguousarray(value.T if renaming.is_transposed else value)
